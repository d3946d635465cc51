//===- EmitGuard.h - Plans and guards as IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_EMITGUARD_H
#define CUPILOT_SUBSTITUTE_EMITGUARD_H

#include "cupilot/Model/Domain.h"
#include "llvm/IR/IRBuilder.h"

namespace cupilot {

/// The launch that a guard is asked about, as IR values.
struct LaunchValues {
  std::array<llvm::Value *, NumLaunchDims> Dims; ///< i64 each.
  llvm::Value *Args = nullptr; ///< void **: the argument array.
};

/// The shape of a variant's launch, as i64 values. Cluster is null where the
/// launch names none.
struct EmittedShape {
  std::array<llvm::Value *, 3> Grid, Block, Cluster{};
  llvm::Value *Shared = nullptr;
};

/// The numbers of a tensor map, as i64 values; Base is the pointer as one.
struct EmittedTensorMap {
  llvm::Value *Base = nullptr;
  llvm::SmallVector<llvm::Value *> Extents, Strides;
};

/// What a plan comes to, as i64 values.
struct EmittedPlan {
  llvm::SmallVector<EmittedShape> Launches;
  llvm::SmallVector<llvm::Value *> Scratch; ///< Bytes.
  llvm::SmallVector<EmittedTensorMap> TensorMaps;
};

/// Emits `admits`, `contains`, and `planShape`, `scratchBytes` and
/// `tensorValues` for all of \p Plan, at \p B, which may end in another block:
/// returns an i1 that is true when guard \p G holds, the launch lies in
/// \p Where (unless null) and the plan can be carried out, and fills in \p Out.
/// In 64 bits; every overflow, division by a number that is not positive, and
/// illegal shape makes the condition that it is in false. The architecture is
/// not looked at.
llvm::Value *emitGuard(llvm::IRBuilderBase &B, const Guard &G,
                       const Domain *Where, const LaunchPlan &Plan,
                       llvm::ArrayRef<ScalarRef> Scalars,
                       const LaunchValues &Values, EmittedPlan &Out);

/// Emits `clauseOutside`: an i32, the clause's place among all of \p Where,
/// those of the first box first; -1 for a launch inside.
llvm::Value *emitOutside(llvm::IRBuilderBase &B, const Domain &Where,
                         llvm::ArrayRef<ScalarRef> Scalars,
                         const LaunchValues &Values);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_EMITGUARD_H
