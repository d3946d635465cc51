//===- Compiler.h - The compilers that code is proved for -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_COMPILER_H
#define CUPILOT_MODEL_COMPILER_H

#include "llvm/ADT/StringSwitch.h"
#include <optional>

namespace cupilot {

/// What makes the code that a build identity is of: clang, nvcc, or a pipeline
/// of mlir-opt from MLIR.
enum class CompilerKind { Clang, Nvcc, Mlir };

/// The kind of the compiler that a build record or evidence calls \p Name:
/// "clang-22", "nvcc-13.0 -use_fast_math", "mlir-22". Nothing for other names.
inline std::optional<CompilerKind> compilerKind(llvm::StringRef Name) {
  return llvm::StringSwitch<std::optional<CompilerKind>>(Name)
      .StartsWith("clang-", CompilerKind::Clang)
      .StartsWith("nvcc", CompilerKind::Nvcc)
      .StartsWith("mlir-", CompilerKind::Mlir)
      .Default(std::nullopt);
}

inline bool isMadeByNvcc(llvm::StringRef Name) {
  return compilerKind(Name) == CompilerKind::Nvcc;
}

} // namespace cupilot

#endif // CUPILOT_MODEL_COMPILER_H
