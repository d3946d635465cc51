//===- GpuAdmission.h - What a variant in MLIR may hold ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DIALECT_GPUADMISSION_H
#define CUPILOT_DIALECT_GPUADMISSION_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace cupilot {

/// What is refused, and why.
struct Inadmissible {
  mlir::Operation *At = nullptr; ///< Null: the module as a whole.
  std::string Why;
};

/// What of \p M is no device code that computes in memory it gets: operations
/// outside of a gpu.module, of other dialects than kernels are written in, and
/// those that reach the host, files or assembly. Empty: it is admitted.
std::vector<Inadmissible> admitGpuText(mlir::ModuleOp M);

} // namespace cupilot

#endif // CUPILOT_DIALECT_GPUADMISSION_H
