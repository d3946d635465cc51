//===- Inputs.h - The files that requests need -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_INPUTS_H
#define CUPILOT_LIB_RUNNER_INPUTS_H

#include "cupilot/Runner/Batch.h"
#include "cupilot/Runner/Files.h"
#include <map>
#include <mutex>

namespace cupilot::runner {

/// Images and contents of a batch as files that workers can read: what lies in
/// the batch is checked against its digest once, what is generated or packed is
/// made once. Shared by the threads of all GPUs.
class Inputs {
public:
  Inputs(std::string Folder, const Batch &B, ScratchFolder &Scratch)
      : Folder(std::move(Folder)), B(B), Scratch(Scratch) {}
  /// Failures: missing-file, data-damaged.
  std::map<std::string, std::string> images(const Program &P);
  /// "" for poison. \p Variation: other values of the same kind, where they
  /// are generated.
  std::string file(const Content &C, uint64_t Size, uint64_t Variation = 0);
  std::vector<std::string> buffers(const Case &C, uint64_t Variation = 0);
  std::vector<std::string> variables(const Case &C);

private:
  std::string imageFile(const std::string &Digest);
  std::string dataFile(const std::string &Digest, uint64_t Size);
  std::string keep(const std::string &Key, std::string_view Bytes);

  std::string Folder;
  const Batch &B;
  ScratchFolder &Scratch;
  std::mutex Lock;
  std::map<std::string, std::string> Known; ///< Key: path.
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_INPUTS_H
