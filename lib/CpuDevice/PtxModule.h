//===- PtxModule.h - PTX text as IR --------------------------- -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTXMODULE_H
#define CUPILOT_LIB_CPUDEVICE_PTXMODULE_H

#include "Ptx/ModuleLowering.h"

namespace cupilot {

/// \p Text as NVPTX IR, of the form that clang makes of CUDA. Functions with
/// \p Lacks say so when they are called. Text that is no PTX is a usage error
/// that names the line.
llvm::Expected<std::unique_ptr<llvm::Module>>
moduleOfPtx(llvm::StringRef Text, llvm::LLVMContext &Context,
            std::vector<PtxLack> &Lacks);

/// The same of a text that is read. \p Only: no more than what these names
/// stand for. \p AsSource: as ModuleLowering::AsSource.
llvm::Expected<std::unique_ptr<llvm::Module>>
loweredPtx(const ptx::Module &Source, llvm::LLVMContext &Context,
           std::vector<PtxLack> &Lacks,
           const std::unordered_set<std::string_view> *Only = nullptr,
           bool AsSource = false);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTXMODULE_H
