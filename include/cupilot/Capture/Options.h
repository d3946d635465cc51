//===- Options.h - How to record -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_OPTIONS_H
#define CUPILOT_CAPTURE_OPTIONS_H

#include "cupilot/Capture/Content.h"

namespace cupilot::capture {

/// What happens to launches of a kernel beyond Options::Launches.
enum class Then {
  Stop, ///< They run, until the program ends for lack of new ones.
  Skip, ///< They do not run, and succeed.
  Run
};

/// "stop", "skip", "run", and back.
const char *wordOf(Then T);
std::optional<Then> thenOf(std::string_view Word);

/// What the tools hand to the process that is recorded, in the environment.
struct Options {
  bool Timing = false;                  ///< No arguments, no contents.
  uint64_t PerKernel = 8;               ///< Launches of a kernel with data.
  uint64_t MaxBytes = 4ull << 30;       ///< Of all contents on disk.
  uint64_t MaxLaunchBytes = 1ull << 30; ///< Of one launch's buffers.
  uint64_t WholeBytes = 64ull << 20; ///< Launches whose allocations hold more
                                     ///< keep what they touch alone.
  bool Libraries = false;            ///< Keep launches of libraries, too.
  uint64_t WaitMs = 10000;           ///< For a stream to become idle.
  uint64_t MaxSeconds = 60;          ///< That keeping launches takes; 0: no
                                     ///< limit. Then launches are counted.
  bool Graphs = false;     ///< Run graphs' kernels on copies, to keep them.
  bool Contents = false;   ///< Keep launches that differ in their buffers'
                           ///< contents alone, too. On the cpu device.
  uint64_t Launches = 0;   ///< Of a kernel that run; 0: all. On the cpu device.
  Then After = Then::Stop; ///< What happens then.
  uint64_t LaunchSteps = 0; ///< Instructions of a launch's threads together at
                            ///< most; 0: no limit. On the cpu device.
  uint64_t ProgressMs = 10000; ///< Between lines that say how far a program
                               ///< is; 0: none.
  std::string Cupti;           ///< libcupti.so; empty: looked for.

  std::string print() const;
  /// Names the first word of \p Text that is no option.
  static std::optional<Failure> parse(std::string_view Text, Options &Result);
};

/// Environment variables that the recording library reads.
constexpr const char *FolderVariable = "CUPILOT_CAPTURE";
constexpr const char *OptionsVariable = "CUPILOT_CAPTURE_OPTIONS";

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_OPTIONS_H
