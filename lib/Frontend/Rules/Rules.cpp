//===- Rules.cpp - The rules translator -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RewriteState.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

using RuleFunction = Error (*)(RewriteState &, const Gene &);

/// In the order of application: accesses first, then who does how much.
static const struct {
  StringRef Name;
  RuleFunction Apply;
} Rules[] = {
    {"fast_intrinsics", applyFastIntrinsics},
    {"read_only_loads", applyReadOnly},
    {"unroll", applyUnroll},
    {"vectorized_access", applyVectorized},
    {"thread_coarsening", applyCoarsening},
    {"block_size", applyBlockSize},
    {"launch_bounds", applyLaunchBounds},
};

ArrayRef<StringRef> ruleStrategies() {
  static const std::vector<StringRef> Names = [] {
    std::vector<StringRef> List;
    for (const auto &Rule : Rules)
      List.push_back(Rule.Name);
    return List;
  }();
  return Names;
}

Expected<Translation> translateByRules(const Kernel &K, const Genome &G,
                                       ArrayRef<std::string> Flags) {
  if (K.Slice.empty())
    return findingError("the kernel '" + K.Name +
                        "' has no slice: " + K.Refusal);
  RewriteState S{K, Flags, K.Slice, {}, {}, false};
  S.Plan.Launches.push_back({});
  S.launch().Symbol = K.Symbol;
  for (const Gene &Each : G)
    if (none_of(Rules, [&](const auto &R) { return R.Name == Each.Strategy; }))
      return findingError(Twine(Each.Strategy) +
                          ": no rule carries this strategy out");
  for (const auto &Rule : Rules)
    for (const Gene &Each : G)
      if (Rule.Name == Each.Strategy)
        if (Error E = Rule.Apply(S, Each))
          return std::move(E);
  return Translation{std::move(S.Text), std::move(S.Plan), std::move(S.When)};
}

} // namespace cupilot
