//===- Bitcode.h - Device code as bitcode -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_COMPILE_BITCODE_H
#define CUPILOT_COMPILE_BITCODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace cupilot {

/// compileDevice's bitcodeOutput of the CUDA file \p Source for \p Arch
/// ("sm_90"). CUDA's headers come parsed, from the machine cache. Errors in
/// functions of the host alone do not count.
llvm::Expected<std::string>
compileDeviceBitcode(llvm::StringRef Source, llvm::StringRef Arch,
                     llvm::ArrayRef<std::string> Flags);

/// The same with \p Text in place of what \p Source holds, compiled in this
/// process.
llvm::Expected<std::string>
compileDeviceBitcode(llvm::StringRef Source, llvm::StringRef Arch,
                     llvm::ArrayRef<std::string> Flags, llvm::StringRef Text);

/// The same of the text \p Source, which stands alone: with variantFlags.
llvm::Expected<std::string>
compileTextToBitcode(llvm::StringRef Source, llvm::StringRef Arch,
                     llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_COMPILE_BITCODE_H
