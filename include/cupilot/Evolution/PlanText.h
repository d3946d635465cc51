//===- PlanText.h - Plans and guards in short forms -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_PLANTEXT_H
#define CUPILOT_EVOLUTION_PLANTEXT_H

#include "cupilot/Model/Kernel.h"

namespace cupilot {

/// What plans and guards call \p K's integers, in the order of K.Scalars: an
/// argument's own name, or s0, s1, ...
std::vector<std::string> scalarNames(const Kernel &K);

/// The plan that \p Text stands for: a #cupilot.plan, or one launch as
/// "grid=(n ceildiv 1024, gy, gz); block=(128, 1, 1); shared=0", over the
/// original launch (gx to bz, shared) and \p K's integer arguments by name
/// (s0, s1, ... for the fields of structs). Empty text is the original launch.
/// Usage errors.
llvm::Expected<LaunchPlan> parsePlan(llvm::StringRef Text, const Kernel &K);

/// The guard that \p Text stands for: a #cupilot.guard, or clauses such as
/// "n mod 4 == 0; n >= 1024; align in 16; disjoint in (n * 4), out (n * 4)".
llvm::Expected<Guard> parseGuard(llvm::StringRef Text, const Kernel &K,
                                 llvm::StringRef Arch);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_PLANTEXT_H
