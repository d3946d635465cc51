//===- Child.h - A process that answers in lines -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_CHILD_H
#define CUPILOT_TOOLS_CAPTURE_CHILD_H

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cupilot::capture {

/// A process that reads lines and answers in lines. It is not recorded, and
/// ends with this.
class Child {
public:
  Child() = default;
  ~Child() { end(); }
  Child(const Child &) = delete;

  bool start(const std::vector<std::string> &Command);
  bool running() const { return Pid > 0; }
  bool say(const std::string &Line);
  /// The next line; nothing where none came within \p Milliseconds, or where
  /// the process has ended.
  std::optional<std::string> hear(uint64_t Milliseconds);
  void end();

private:
  pid_t Pid = -1;
  int To = -1, From = -1;
  std::string Heard;
};

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_CHILD_H
