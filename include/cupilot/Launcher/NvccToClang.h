//===- NvccToClang.h - nvcc's command lines, for clang -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_NVCCTOCLANG_H
#define CUPILOT_LAUNCHER_NVCCTOCLANG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// The flags with which clang sees the device code as nvcc does with \p Args
/// (without the compiler's name): macros, include folders, language,
/// architecture, arithmetic. Inputs and outputs are left out. Errors as
/// parseNvccCommand's.
llvm::Expected<std::vector<std::string>>
clangFlagsOfNvcc(llvm::ArrayRef<std::string> Args, llvm::StringRef Prepend,
                 llvm::StringRef Append);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_NVCCTOCLANG_H
