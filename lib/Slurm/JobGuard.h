//===- JobGuard.h - Jobs that end with this process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SLURM_JOBGUARD_H
#define CUPILOT_LIB_SLURM_JOBGUARD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// Cancels jobs when it is destroyed, or when this process ends in any way: a
/// process of its own waits for that, which Ctrl-C does not reach.
class JobGuard {
public:
  static llvm::Expected<JobGuard> create();
  JobGuard(JobGuard &&Other) noexcept : FD(Other.FD) { Other.FD = -1; }
  JobGuard &operator=(JobGuard &&) = delete;
  ~JobGuard();
  /// The jobs of this name, too. To be called before they are sent.
  void add(llvm::StringRef Job);
  /// All jobs have ended: there is nothing to cancel.
  void release();

private:
  explicit JobGuard(int FD) : FD(FD) {}
  void write(llvm::StringRef Line);
  int FD;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SLURM_JOBGUARD_H
