//===- Ptx.h - PTX from device bitcode -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_COMPILE_PTX_H
#define CUPILOT_COMPILE_PTX_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace cupilot {

/// The PTX that LLVM makes of unoptimised device bitcode at -O3 for \p Arch
/// ("sm_90"), without debug information. In-process: no file is parsed twice.
/// \p Look, if given, sees the optimised module.
llvm::Expected<std::string>
generatePtx(llvm::StringRef Bitcode, llvm::StringRef Arch,
            llvm::function_ref<void(const llvm::Module &)> Look = nullptr);

} // namespace cupilot

#endif // CUPILOT_COMPILE_PTX_H
