//===- Independent.h - A second opinion on survivors -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_INDEPENDENT_H
#define CUPILOT_MUTATION_INDEPENDENT_H

#include "cupilot/Evaluation/Gate.h"

namespace cupilot {

struct IndependentOptions {
  unsigned Inputs = 1000; ///< That the original bears.
  uint64_t Seed = 1;
  std::string Arch = "sm_90";
  /// Only launches in this domain are drawn, from end to end of it; nothing:
  /// launches around the given ones.
  const Domain *Inside = nullptr;
  /// Only launches that are not in this one are compared.
  const Domain *Outside = nullptr;
  /// compareBeyond() lets sizes pass 2^Bits; 0: one of several bounds.
  unsigned Bits = 0;
  /// What the variant squeezes into fewer bits: compareBeyond() begins with
  /// launches in which that does not fit.
  llvm::ArrayRef<RangeClause> Narrowed = {};
  /// What the codes compare with constants: compareBeyond() tries these, too.
  llvm::ArrayRef<RangeClause> Constants = {};
};

/// A variant's code, how it is launched, and where its author allows that.
struct SideVariant {
  GateCode Code; ///< What is built of it runs.
  LaunchPlan Plan;
  Guard When;
};

struct IndependentResult {
  unsigned Inputs = 0;  ///< Compared.
  unsigned Refused = 0; ///< That the original does not bear.
  bool Differs = false;
  std::string Evidence; ///< The input and the difference.
};

/// Runs \p V beside \p Original on random inputs around the launches
/// \p Around: sizes, values, launch dimensions. Its inputs and its comparison
/// are its own, not the gate's. Errors: code that the cpu device refuses.
llvm::Expected<IndependentResult>
compareIndependently(const Kernel &K, const GateCode &Original,
                     const SideVariant &V, llvm::ArrayRef<Workload> Around,
                     const IndependentOptions &Options);

/// The same on the one launch \p W, described in words. Inputs is 0 where the
/// original does not bear it, or the variant does not run there.
/// Compares on launches that one of the clauses of \p Where leaves out: just
/// beyond the end of a range, and beyond 2^10, 2^16 and 2^24, where integers no
/// longer fit into short ones and floats. Of large launches only some blocks
/// run. Domains do not bound what is drawn, only what the original bears.
llvm::Expected<IndependentResult>
compareBeyond(const Kernel &K, const GateCode &Original, const SideVariant &V,
              llvm::ArrayRef<Workload> Around, const Domain &Where,
              const IndependentOptions &Options);

llvm::Expected<IndependentResult>
compareLaunch(const Kernel &K, const GateCode &Original, const SideVariant &V,
              const Workload &W, llvm::StringRef Arch);

/// Why \p W lies outside of \p D, with buffers far apart; nothing inside.
/// Arguments that are too short are a usage error.
llvm::Expected<std::optional<ClauseRef>>
clauseOutside(const Domain &D, const Kernel &K, const Workload &W);

} // namespace cupilot

#endif // CUPILOT_MUTATION_INDEPENDENT_H
