//===- MlirAdmission.h - What a variant in MLIR may hold --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_DRIVER_MLIRADMISSION_H
#define CUPILOT_LIB_DRIVER_MLIRADMISSION_H

#include "cupilot/Evaluation/Gate.h"
#include "mlir/IR/BuiltinOps.h"

namespace cupilot {

/// What of \p M is no device code that computes in memory it gets: operations
/// outside of a gpu.module, of other dialects than kernels are written in, and
/// those that reach the host, files or assembly. Nothing: it is admitted.
std::vector<GateFinding> admitMlir(mlir::ModuleOp M);

} // namespace cupilot

#endif // CUPILOT_LIB_DRIVER_MLIRADMISSION_H
