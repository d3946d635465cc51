//===- NvccVariant.h - Variants compiled by nvcc -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_NVCCVARIANT_H
#define CUPILOT_LAUNCHER_NVCCVARIANT_H

#include "cupilot/Admission/Admission.h"
#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Substitute/ObjectDispatch.h"

namespace cupilot {

/// "nvcc-13.0", as records have it; a resource error when \p Nvcc does not say.
llvm::Expected<std::string> nvccVersion(llvm::StringRef Nvcc);

/// The PTX that \p Nvcc makes of the text in the file \p Source, for \p Arch
/// ("sm_90") with \p Flags. \p Files, if given, gets the files it read, none if
/// it does not tell. Text that does not compile is a finding with nvcc's
/// messages, and so is one that takes more than \p Limits, if given: seconds in
/// all, and memory of each of nvcc's programs.
llvm::Expected<NvccPtx>
compileNvccPtx(llvm::StringRef Nvcc, llvm::StringRef Source,
               llvm::StringRef Arch, llvm::ArrayRef<std::string> Flags,
               std::vector<std::string> *Files = nullptr,
               std::optional<ProcessLimits> Limits = std::nullopt);

/// Compiles variant \p V, whose text lies in \p Source, for the kernel
/// \p Original, whose code \p OriginalHas: the text must be the one that was
/// proved and be admitted, and its canonical PTX the proved one. Findings say
/// why it does not fit. The machine cache keeps results, if there is one.
llvm::Expected<CompiledVariant>
compileNvccVariant(llvm::StringRef Nvcc, const BuildVariant &V,
                   llvm::StringRef Source, llvm::StringRef Original,
                   const OriginalCode &OriginalHas,
                   const NvccDeviceFlags &Flags);

/// \p Flags with -lineinfo, so that reports of what runs name lines. It changes
/// no code.
std::vector<std::string> withLineInfo(llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_NVCCVARIANT_H
