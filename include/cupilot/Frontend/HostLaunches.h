//===- HostLaunches.h - The launches in a unit's source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_HOSTLAUNCHES_H
#define CUPILOT_FRONTEND_HOSTLAUNCHES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// One launch as the source has it; in a template, one for each instantiation.
struct HostLaunch {
  std::string File;
  unsigned Line = 0;
  std::string Form;     ///< "<<<>>>", or the run time's function.
  std::string Function; ///< Mangled name of the function that it is in.
  std::string Kernel;   ///< Mangled; "" when only the running program knows.
  /// The unit's kernels that have the type of the pointer through which <<<>>>
  /// launches, mangled.
  std::vector<std::string> MayBe;
  /// In a function that is internal and never used, or in a branch that a
  /// constant condition never takes.
  bool Dead = false;
};

/// A kernel that a unit defines; each instantiation of a template.
struct HostKernel {
  std::string Symbol; ///< Mangled.
  std::string File;
  unsigned Line = 0;
};

struct HostLaunches {
  std::vector<HostLaunch> Launches;
  std::vector<HostKernel> Kernels;
};

/// The launches of \p File, compiled by clang with \p Flags for the host, but
/// for those in system headers, and its kernels. Text that does not parse is a
/// usage error with the diagnostics.
llvm::Expected<HostLaunches> hostLaunches(llvm::StringRef File,
                                          llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_HOSTLAUNCHES_H
