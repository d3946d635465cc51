//===- NvccBuild.h - One object by nvcc, with variants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_NVCCBUILD_H
#define CUPILOT_LAUNCHER_NVCCBUILD_H

#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Launcher/ObjectFile.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Substitute/ObjectDispatch.h"
#include "cupilot/Substitute/Substitute.h"

namespace cupilot {

/// What the store has for the kernels of one object.
struct NvccSelection {
  std::vector<ObjectKernel> Kernels; ///< Those with variants, compiled.
  std::vector<SubstitutionOutcome> Outcomes;
  unsigned Seen = 0;   ///< Kernels of the unit.
  std::string Targets; ///< The unit's architectures, by commas.
};

/// Looks the kernels of \p Modules up, the PTX of one unit for each of its
/// architectures, and compiles their variants. Errors are those of the store.
llvm::Expected<NvccSelection> selectVariants(const BuildStore &Store,
                                             llvm::ArrayRef<NvccPtx> Modules,
                                             llvm::StringRef Nvcc,
                                             const NvccCommand &Command);

/// All *.ptx in \p Folder, sorted by architecture.
llvm::Expected<std::vector<NvccPtx>> loadPtx(llvm::StringRef Folder);

/// Adds \p Files to the rule in the depfile \p Path.
llvm::Error addDependencies(llvm::StringRef Path,
                            llvm::ArrayRef<std::string> Files);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_NVCCBUILD_H
