//===- MlirKernels.h - Kernels of MLIR modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_MLIRKERNELS_H
#define CUPILOT_DRIVER_MLIRKERNELS_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Variant.h"
#include "llvm/Support/Error.h"

namespace cupilot {

struct MlirKernels {
  std::vector<Kernel> Kernels; ///< Their slices are MLIR.
  /// For each kernel the identity of the code that the pipeline made of it;
  /// none without a pipeline, or where the pipeline made no PTX of it.
  std::vector<std::vector<BuildEntry>> Builds;
  /// For each kernel the digest of the PTX module that holds it, as recordings
  /// name it; empty as above.
  std::vector<std::string> Modules;
  /// Device code that is no kernel yet or any more, and what the pipeline left
  /// out: where, and why.
  std::vector<std::string> Notes;
};

/// True for a file of MLIR, by its name.
bool isMlirFile(llvm::StringRef File);

/// The kernels of \p File. \p Pipeline, if not empty, is what cupilot-opt takes
/// as --pass-pipeline; it runs in a process of its own, with limits. A module
/// that does not parse or verify, and a pipeline that fails, are usage errors
/// with MLIR's diagnostics.
llvm::Expected<MlirKernels> extractMlirKernels(llvm::StringRef File,
                                               llvm::StringRef Pipeline);

} // namespace cupilot

#endif // CUPILOT_DRIVER_MLIRKERNELS_H
