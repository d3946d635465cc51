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
//   // bounded: rows16 | | cols <= 4096     must be rejected, or pass with a
//                                           domain in which it is right
//   // outside: grid=4, block=128, ...      a launch on which the bounded
//                                           variant above is wrong
//   // narrower: n, bx * by | why           extents of which the domain of the
//                                           honest variant above has less than
//                                           its original's, and why
//   // inside: grid=9, block=96, ...        a launch that must lie in the
//                                           domains of all honest variants
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_SUITE_H
#define CUPILOT_MUTATION_SUITE_H

#include "cupilot/Model/Kernel.h"

namespace cupilot {

/// Another kernel of the file, and the verdict that is due.
struct SuiteVariant {
  enum class Due {
    Pass,     ///< And its domain holds the recorded launches, and Inside, and
              ///< has all of the original's but for Narrower.
    Rejected, ///< For one of Reasons.
    Bounded   ///< Rejected, or right all over a domain without Outside.
  };
  Due Verdict = Due::Pass;
  std::string Name;
  unsigned Line = 0;
  std::vector<std::string> Reasons;
  std::string Plan, Guard;           ///< As text; empty: as the original.
  std::vector<std::string> Outside;  ///< Launches in words.
  std::vector<std::string> Narrower; ///< DomainLoss::Extent of each.
};

/// An original and what is judged against it.
struct SuiteEntry {
  std::string Kernel; ///< Name of the original, up to its parameters.
  unsigned Line = 0;
  PrecisionContract Contract;
  std::vector<std::string> Workloads;
  std::vector<std::string> Inside; ///< Launches that honest ones are right on.
  std::vector<SuiteVariant> Variants;
};

/// The entries of a source's comments. Broken or missing ones are usage errors
/// that name the line of \p File.
llvm::Expected<std::vector<SuiteEntry>> parseSuite(llvm::StringRef Text,
                                                   llvm::StringRef File);

} // namespace cupilot

#endif // CUPILOT_MUTATION_SUITE_H
