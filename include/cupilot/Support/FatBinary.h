//===- FatBinary.h - Fat binaries, with LLVM's errors -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_FATBINARY_H
#define CUPILOT_SUPPORT_FATBINARY_H

#include "cupilot/Portable/FatBinary.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// The images of a fat binary, in its order. Errors as of the other
/// readFatBinary, as usage errors.
llvm::Expected<std::vector<FatBinaryEntry>>
readFatBinary(llvm::StringRef Bytes);

/// FatBinaryEntry::unpack, as a usage error.
llvm::Expected<std::string> contentsOf(const FatBinaryEntry &Entry);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_FATBINARY_H
