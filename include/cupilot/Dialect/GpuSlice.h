//===- GpuSlice.h - Kernels of MLIR modules as data and text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DIALECT_GPUSLICE_H
#define CUPILOT_DIALECT_GPUSLICE_H

#include "cupilot/Model/Kernel.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// What is known of \p Op, a kernel (isGpuKernel), but its slice. Its name has
/// the types as written; its parameters are those of launches, where a memref
/// is its two pointers, offset, sizes and strides. Refusal says why there can
/// be no slice, if it is so.
Kernel describeGpuKernel(mlir::Operation *Op);

/// All kernels in \p Module, in its order. Those of one name and signature are
/// told apart by the names of the modules that they lie in.
std::vector<std::pair<mlir::Operation *, Kernel>>
describeGpuKernels(mlir::Operation *Module);

/// The module of \p Op cut to the closure of that kernel, as text: the
/// gpu.module with its attributes and targets, if the kernel lies in one, and
/// the attributes of the module around it. Errors as gpuClosure's.
llvm::Expected<std::string> gpuSlice(mlir::Operation *Op);

} // namespace cupilot

#endif // CUPILOT_DIALECT_GPUSLICE_H
