//===- MlirLanguage.h - Searches of kernels that are MLIR -------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_MLIRLANGUAGE_H
#define CUPILOT_DRIVER_MLIRLANGUAGE_H

#include "cupilot/Driver/Evolve.h"

namespace cupilot {

/// The kernels of the module \p File, which \p Pipeline makes PTX of, for a
/// search. Those that cannot be searched have a Refusal. Usage errors are
/// extractMlirKernels'. Nothing for a file that holds cupilot.kernel
/// operations instead: it is what cupilot extract wrote of CUDA.
llvm::Expected<std::optional<LanguageUnit>>
loadMlirUnitToSearch(llvm::StringRef File, llvm::StringRef Pipeline,
                     llvm::raw_ostream &Log);

/// MLIR, of which \p Pipeline makes PTX.
std::shared_ptr<const KernelLanguage> mlirLanguage(std::string Pipeline);

} // namespace cupilot

#endif // CUPILOT_DRIVER_MLIRLANGUAGE_H
