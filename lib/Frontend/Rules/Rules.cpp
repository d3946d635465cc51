//===- Rules.cpp - The rules translator -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelView.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace llvm;

namespace cupilot {

using RuleFunction = Error (*)(RewriteState &, const Gene &);
using ShapeFunction = ShapedLaunch (*)(const Gene &, const LaunchShape &);

/// In the order of application: what looks for plain accesses and indices comes
/// before what hides them, the block's shape before what depends on it.
static const struct {
  StringRef Name;
  RuleFunction Apply;
  ShapeFunction Shape = nullptr; ///< Of those that shape blocks.
} Rules[] = {
    {"fast_intrinsics", applyFastIntrinsics},
    {"restrict_pointers", applyRestrict},
    {"vectorized_access", applyVectorized},
    {"read_only_loads", applyReadOnly},
    {"thread_coarsening", applyCoarsening},
    {"more_threads", applyMoreThreads},
    {"block_size", applyBlockSize, shapeBlocks},
    {"block_shape", applyBlockShape, shapeBlocks},
    {"rows_per_block", applyRowsPerBlock, shapeRows},
    {"halo_tiling", applyHaloTiling},
    {"shared_memory_tiling", applySharedTiling},
    {"warp_shuffle_reduction", applyWarpReduction},
    {"unroll", applyUnroll},
    {"launch_bounds", applyLaunchBounds, shapeBounds},
};

ArrayRef<StringRef> ruleStrategies() {
  static const auto Names =
      llvm::map_to_vector(Rules, [](const auto &Rule) { return Rule.Name; });
  return Names;
}

std::optional<ShapedLaunch> shapedBy(const Gene &G, const LaunchShape &Of) {
  for (const auto &Rule : Rules)
    if (Rule.Name == G.Strategy && Rule.Shape)
      return Rule.Shape(G, Of);
  return std::nullopt;
}

/// A text that a rule made and that does not parse is the rule's failure.
static Error blame(Error E, StringRef Strategy) {
  if (Strategy.empty())
    return E;
  return handleErrors(std::move(E), [&](std::unique_ptr<ToolError> T) -> Error {
    if (T->code() != ExitCode::Usage)
      return Error(std::move(T));
    return findingError(Strategy +
                        ": the rewritten text does not parse: " + T->text());
  });
}

Expected<Translation> translateByRules(const Kernel &K, const Genome &G,
                                       ArrayRef<std::string> Flags) {
  if (K.Slice.empty())
    return findingError("the kernel '" + K.Name +
                        "' has no slice: " + K.Refusal.value_or(""));
  for (const Gene &Each : G)
    if (none_of(Rules, [&](const auto &R) { return R.Name == Each.Strategy; }))
      return findingError(Twine(Each.Strategy) +
                          ": no rule implements this strategy");
  RewriteState S{K, variantFlags(Flags), K.Slice, {}, {}, {}};
  S.Plan.Launches.push_back({});
  S.launch().Symbol = K.Symbol;
  StringRef Last;
  for (const auto &Rule : Rules)
    for (const Gene &Each : G) {
      if (Rule.Name != Each.Strategy)
        continue;
      RewriteState Before = S;
      if (Error E = Rule.Apply(S, Each))
        return blame(std::move(E), Last);
      if (S.Text == Before.Text && S.Plan == Before.Plan)
        return findingError(Twine(Each.Strategy) +
                            ": the strategy changes nothing");
      if (S.Text != Before.Text)
        Last = Rule.Name;
    }
  if (!Last.empty())
    if (Error E = withKernel(S, [](KernelView &) { return Error::success(); }))
      return blame(std::move(E), Last);
  return Translation{std::move(S.Text), std::move(S.Plan), std::move(S.When),
                     SourceLanguage::Cuda};
}

} // namespace cupilot
