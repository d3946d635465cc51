//===- GpuKernels.h - GPU kernels in MLIR modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DIALECT_GPUKERNELS_H
#define CUPILOT_DIALECT_GPUKERNELS_H

#include "cupilot/Model/Variant.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// True for a gpu.func that is a kernel, and for an llvm.func that is one (by
/// nvvm.kernel, gpu.kernel or its calling convention). They are known by name
/// and attributes, so that nothing needs the two dialects.
bool isGpuKernel(mlir::Operation *Op);

/// The symbols that \p Kernel reaches, itself first, in the order of first use.
/// A symbol that its module does not hold is a finding.
llvm::Expected<std::vector<mlir::Operation *>>
gpuClosure(mlir::Operation *Kernel);

/// What the identity of \p Kernel for mlir-opt digests: its closure in generic
/// form and what the module says of the target. Names of functions and values,
/// and locations, are left out; names of variables stay. Errors as
/// gpuClosure's.
llvm::Expected<std::string> canonicalGpuText(mlir::Operation *Kernel);

/// The name of mlir-opt as a compiler, in records.
inline constexpr llvm::StringLiteral MlirCompiler = "mlir-22";

/// How builds by mlir-opt for \p Arch know \p Kernel, where it is an original.
/// Of a variant, evidence has the digest of its canonicalGpuText alone.
llvm::Expected<BuildEntry> mlirBuild(mlir::Operation *Kernel,
                                     llvm::StringRef Arch);

/// True for state that outlives a launch or that the host can see: it is known
/// by its name.
bool isGpuVariable(mlir::Operation *Op);

} // namespace cupilot

#endif // CUPILOT_DIALECT_GPUKERNELS_H
