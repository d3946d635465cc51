//===- Bitcode.h - Device bitcode read and passed through passes -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_BITCODE_H
#define CUPILOT_SUPPORT_BITCODE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace cupilot {

/// The module in \p Bitcode; a usage error for what is none. \p Context prints
/// errors only from now on.
llvm::Expected<std::unique_ptr<llvm::Module>>
parseBitcode(llvm::StringRef Bitcode, llvm::LLVMContext &Context);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_BITCODE_H
