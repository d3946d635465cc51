//===- MlirUnit.h - Kernels of MLIR modules for the gate --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_MLIRUNIT_H
#define CUPILOT_DRIVER_MLIRUNIT_H

#include "cupilot/Driver/UnitToJudge.h"

namespace cupilot {

/// gpu-lower-to-nvvm-pipeline for \p Arch ("sm_90"), with PTX as its result.
std::string usualMlirPipeline(llvm::StringRef Arch);

/// The kernels of \p File with the parameters that launches pass, and no code.
llvm::Expected<UnitToJudge> describeMlirUnit(llvm::StringRef File);

/// The kernels of \p File. Ptx is what \p Pipeline makes of the module of the
/// kernel \p Named; Bitcode is the LLVM IR of that module before libdevice is
/// linked for it, with libdevice as clang links it. What the pipeline makes in
/// another format is made again as PTX. Usage errors: no such kernel, or no PTX
/// of it, besides extractMlirKernels' own.
llvm::Expected<UnitToJudge> loadMlirUnit(llvm::StringRef File,
                                         llvm::StringRef Pipeline,
                                         llvm::StringRef Named);

/// The variants in \p File, a text that nobody trusts: read, admitted
/// (admitMlir) and lowered by \p Pipeline, each in processes with limits.
llvm::Expected<TextToJudge> loadMlirText(llvm::StringRef File,
                                         llvm::StringRef Pipeline);

} // namespace cupilot

#endif // CUPILOT_DRIVER_MLIRUNIT_H
