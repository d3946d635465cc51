//===- Suite.h - Files of kernels with known verdicts -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CUDA source may say in comments how its kernels relate:
//
//   // kernel: rows                         the original; begins an entry
//   // contract: exact                      same (default) or relaxed(1e-3)
//   // workload: grid=4, block=128,         a launch in words (docs/Gate.md);
//   //+ args=[...]                          "//+" continues the line above
//   // honest: rowsTiled | grid=(8, 1, 1)   must pass; plan and guard follow
//   // cheat: rowsHalf | mismatch           must be rejected for one of the
//                                           reasons; plan and guard follow
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_SUITE_H
#define CUPILOT_MUTATION_SUITE_H

#include "cupilot/Model/Kernel.h"

namespace cupilot {

/// Another kernel of the file, and the verdict that is due.
struct SuiteVariant {
  std::string Name;
  unsigned Line = 0;
  std::vector<std::string> Reasons; ///< One of them; empty: must pass.
  std::string Plan, Guard;          ///< As text; empty: as the original.
};

/// An original and what is judged against it.
struct SuiteEntry {
  std::string Kernel; ///< Name of the original, up to its parameters.
  unsigned Line = 0;
  PrecisionContract Contract;
  std::vector<std::string> Workloads;
  std::vector<SuiteVariant> Variants;
};

/// The entries of a source's comments. Broken or missing ones are usage errors
/// that name the line of \p File.
llvm::Expected<std::vector<SuiteEntry>> parseSuite(llvm::StringRef Text,
                                                   llvm::StringRef File);

} // namespace cupilot

#endif // CUPILOT_MUTATION_SUITE_H
