//===- MlirPipeline.h - MLIR modules on their way to PTX --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_DRIVER_MLIRPIPELINE_H
#define CUPILOT_LIB_DRIVER_MLIRPIPELINE_H

#include "cupilot/Substitute/NvccPtx.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace cupilot {

/// All dialects that LLVM has, and cuPilot's.
void registerMlirDialects(mlir::DialectRegistry &Registry);

/// The module in \p Text, which \p Name stands for in messages. What does not
/// parse or verify is a usage error with MLIR's diagnostics.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseMlir(mlir::MLIRContext &C, llvm::StringRef Text, llvm::StringRef Name);

/// What cupilot-opt with \p Pipeline makes of \p File, in a process of its own
/// that has limits; what fails there is a usage error. \p Before, if given,
/// gets the module as it is before code is made of it ("": none is).
llvm::Expected<std::string> lowerMlir(llvm::StringRef File,
                                      llvm::StringRef Pipeline,
                                      std::string *Before = nullptr);

/// The PTX of one gpu.binary.
struct MlirBinary {
  NvccPtx Ptx;
  std::string Text;
  std::string Digest; ///< Of Text.
};

/// The PTX that \p Lowered holds, by the name of the gpu.binary. What is in
/// another format goes to \p Notes.
llvm::Expected<llvm::StringMap<MlirBinary>>
readMlirBinaries(mlir::ModuleOp Lowered, std::vector<std::string> &Notes);

/// "p.mlir:12: " of \p Op; "" where nothing is known.
std::string mlirPlaceOf(mlir::Operation *Op);

} // namespace cupilot

#endif // CUPILOT_LIB_DRIVER_MLIRPIPELINE_H
