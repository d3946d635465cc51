//===- EmitGuard.h - Plans and guards as IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_EMITGUARD_H
#define CUPILOT_SUBSTITUTE_EMITGUARD_H

#include "cupilot/Substitute/LaunchPlan.h"
#include "llvm/IR/IRBuilder.h"

namespace cupilot {

/// The launch that a guard is asked about, as IR values.
struct LaunchValues {
  std::array<llvm::Value *, NumLaunchDims> Dims; ///< i64 each.
  llvm::Value *Args = nullptr; ///< void **: the argument array.
};

/// The shape of a variant's launch, as i64 values.
struct EmittedShape {
  std::array<llvm::Value *, 3> Grid, Block;
  llvm::Value *Shared = nullptr;
};

/// Emits `admits` and `planShape` at \p B: returns an i1 that is true when
/// guard \p G holds, and fills in \p Shape for launch \p L. In 64 bits; every
/// overflow, division by a number that is not positive, and illegal shape makes
/// the result false. The architecture is not looked at.
llvm::Value *emitGuard(llvm::IRBuilderBase &B, const Guard &G, const Launch &L,
                       llvm::ArrayRef<ScalarRef> Scalars,
                       const LaunchValues &Values, EmittedShape &Shape);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_EMITGUARD_H
