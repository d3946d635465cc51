//===- Journal.h - What the recorded process writes down -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_JOURNAL_H
#define CUPILOT_TOOLS_CAPTURE_JOURNAL_H

#include "cupilot/Capture/Record.h"
#include <mutex>

namespace cupilot::capture {

/// The file journal.PID: one JSON object a line, each written by one call, so
/// that what was recorded is on disk however the process ends.
class Journal {
public:
  std::optional<Failure> open(const std::string &Path);
  void launch(uint32_t Class, const Launch &L);
  void device(const DeviceFacts &D);
  void note(const std::string &Text);
  /// Also says it on stderr, once for each text.
  void failure(const std::string &Text);
  bool failed() const { return Failed; }

private:
  void line(const std::string &Text);
  std::mutex Lock;
  int File = -1;
  bool Failed = false;
  std::vector<std::string> Said;
};

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_JOURNAL_H
