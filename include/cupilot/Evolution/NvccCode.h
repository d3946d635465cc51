//===- NvccCode.h - What nvcc builds of a text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_NVCCCODE_H
#define CUPILOT_EVOLUTION_NVCCCODE_H

#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Launcher/NvccUse.h"
#include "cupilot/Substitute/NvccPtx.h"

namespace cupilot {

/// Device code of nvcc as the gate and a GPU take it: kernels and variables
/// have the names that clang gives them.
struct NvccCode {
  std::string Ptx;
  std::string Bitcode;  ///< bitcodeOfPtx, of the kernels asked for alone.
  std::string Identity; ///< Build identity of these kernels: digestOfPlan.
};

/// The kernels \p Symbols of \p Ptx, which \p Use made; \p Source is clang's
/// bitcode of the same text, which has them by these names. Findings: nvcc
/// emitted no code for one, or it has no identity.
llvm::Expected<NvccCode> nvccCodeOf(const NvccPtx &Ptx, const NvccUse &Use,
                                    llvm::StringRef Source,
                                    llvm::ArrayRef<std::string> Symbols);

/// The kernels \p Symbols of \p Ptx, which has the original's names. Findings:
/// one is not there, or has no identity.
llvm::Expected<NvccCode> codeOfPtx(llvm::StringRef Ptx,
                                   llvm::ArrayRef<std::string> Symbols);

/// What \p Use builds for \p Arch of \p Text, which stands alone. \p Source is
/// clang's bitcode of it, and \p Symbols are kernels there. \p Limits bound
/// the compiler, if given. Findings: nvcc does not compile it, or it has no
/// identity.
llvm::Expected<NvccCode>
compileByNvcc(const NvccUse &Use, llvm::StringRef Text, llvm::StringRef Arch,
              llvm::StringRef Source, llvm::ArrayRef<std::string> Symbols,
              std::optional<ProcessLimits> Limits = std::nullopt);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_NVCCCODE_H
