//===- Process.h - Running other programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_PROCESS_H
#define CUPILOT_SUPPORT_PROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <csignal>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

struct ProcessResult {
  int Status = 0;  ///< Exit status; -1 could not start, -2 killed or timed out.
  std::string Out; ///< Standard output.
  std::string Err; ///< Standard error.
  bool TimedOut = false;
};

/// Runs \p Args (the first is a program's name or path) without a shell, waits
/// for it, and returns its output. Exit statuses other than 0 are no error
/// here; a program that does not exist is a resource error.
/// \p Environment, if given, holds NAME=VALUE pairs added to the present one.
/// \p MemoryMiB, if not 0, is what the process, and each that it starts, may
/// allocate (RLIMIT_DATA).
llvm::Expected<ProcessResult>
runProcess(llvm::ArrayRef<std::string> Args, unsigned TimeoutSeconds = 0,
           llvm::ArrayRef<std::string> Environment = {},
           unsigned MemoryMiB = 0);

/// Ends this process by Signal when \p Seconds are over, unless it is gone by
/// then; 0: never. It lasts while other programs are run: LLVM limits these by
/// alarm(), of which a process has one.
class ProcessDeadline {
public:
  static constexpr int Signal = SIGVTALRM;
  explicit ProcessDeadline(unsigned Seconds);
  ~ProcessDeadline();
  ProcessDeadline(const ProcessDeadline &) = delete;

private:
  std::optional<timer_t> Timer;
};

/// \p Args as one line that can be pasted into a POSIX shell.
std::string shellQuoted(llvm::ArrayRef<std::string> Args);

/// Where this installation has \p Name, such as "lib/cupilot.so", if it is
/// there: beside the folder of the running program.
std::string installedPath(llvm::StringRef Name);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_PROCESS_H
