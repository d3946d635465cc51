//===- MlirDispatch.h - Launches that choose variants -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_PLUGIN_MLIRDISPATCH_H
#define CUPILOT_LIB_PLUGIN_MLIRDISPATCH_H

#include "cupilot/Model/BuildRecord.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace cupilot {

/// A variant whose kernels stand beside the original, in the order of
/// LaunchPlan::symbols().
struct AppliedVariant {
  const BuildVariant *V = nullptr;
  std::vector<mlir::Operation *> Kernels;
};

/// Whether \p Launch is the original of a dispatch.
bool isDispatched(mlir::gpu::LaunchFuncOp Launch);
/// A finding where \p Launch must run the original: it is lowered in part, or
/// has what no variant was judged with.
llvm::Error checkDispatch(mlir::gpu::LaunchFuncOp Launch);

/// Puts a choice among \p Variants, in this order, and the original in the
/// place of \p Launch, which passes checkDispatch, and for whose operands each
/// variant passes checkConditions. Adds what the choice needs to the module
/// around it.
void dispatch(mlir::gpu::LaunchFuncOp Launch,
              llvm::ArrayRef<AppliedVariant> Variants,
              llvm::ArrayRef<ScalarRef> Scalars);

} // namespace cupilot

#endif // CUPILOT_LIB_PLUGIN_MLIRDISPATCH_H
