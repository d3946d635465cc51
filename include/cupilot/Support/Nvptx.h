//===- Nvptx.h - Device code as LLVM compiles it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_NVPTX_H
#define CUPILOT_SUPPORT_NVPTX_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace cupilot {

/// The target machine for \p M, unoptimised device code, on \p Arch ("sm_90").
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
nvptxMachine(const llvm::Module &M, llvm::StringRef Arch);

/// Optimises \p M at -O3 with \p Target's costs, as for PTX: loops are unrolled
/// as they are there.
void optimizeForNvptx(llvm::Module &M, llvm::TargetMachine &Target);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_NVPTX_H
