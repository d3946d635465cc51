//===- LaunchSites.h - The launches in a unit's source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_BENCHMARKS_LAUNCHSITES_H
#define CUPILOT_BENCHMARKS_LAUNCHSITES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// One launch as the source has it; in a template, one for each instantiation.
struct SourceLaunch {
  std::string File;
  unsigned Line = 0;
  std::string Form;     ///< "<<<>>>", or the run time's function.
  std::string Function; ///< Mangled name of the function that it is in.
  std::string Kernel;   ///< Mangled; "" when only the running program knows.
  /// In a function that is internal and never used, or in a branch that a
  /// constant condition never takes.
  bool Dead = false;
};

/// The launches of \p File, compiled by clang with \p Flags for the host, but
/// for those in system headers.
llvm::Expected<std::vector<SourceLaunch>>
sourceLaunches(llvm::StringRef File, llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_BENCHMARKS_LAUNCHSITES_H
