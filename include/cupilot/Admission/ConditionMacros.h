//===- ConditionMacros.h - Macros that conditions may name -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ADMISSION_CONDITIONMACROS_H
#define CUPILOT_ADMISSION_CONDITIONMACROS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace cupilot {

/// Differs between the passes of one compilation.
inline bool isArchitectureMacro(llvm::StringRef Name) {
  return Name.starts_with("__CUDA_ARCH");
}

/// The same for clang and nvcc in every compilation that cuPilot takes part in,
/// whoever defines it.
inline bool isNeutralMacro(llvm::StringRef Name) {
  static constexpr llvm::StringRef Names[] = {
      "NDEBUG", "__CUDACC__", "__cplusplus", "_WIN32",
      "_WIN64", "_MSC_VER",   "__APPLE__"};
  // What compilers for other makers' GPUs define, and none for CUDA.
  static constexpr llvm::StringRef Others[] = {"__HIP",    "__GFX",  "__AMDGCN",
                                               "__AMDGPU", "__SYCL", "__MUSA"};
  return llvm::is_contained(Names, Name) ||
         llvm::any_of(Others,
                      [&](llvm::StringRef P) { return Name.starts_with(P); });
}

/// A name that compilers and libraries keep for themselves (C++, [lex.name]).
inline bool isReservedName(llvm::StringRef Name) {
  return Name.starts_with("__") || (Name.size() > 1 && Name[0] == '_' &&
                                    Name[1] >= 'A' && Name[1] <= 'Z');
}

/// Compilers and the toolkit's headers define it, each in its own way.
inline bool isForeignMacro(llvm::StringRef Name) {
  for (llvm::StringRef Prefix :
       {"__CUDA", "__NV", "__CUPILOT", "CUPILOT_", "__clang", "__GNU", "__has_",
        "__cplusplus", "_CCCL", "CCCL_", "_LIBCUDACXX", "CUDART_VERSION",
        "CUDA_VERSION"})
    if (Name.starts_with(Prefix))
      return true;
  return false;
}

} // namespace cupilot

#endif // CUPILOT_ADMISSION_CONDITIONMACROS_H
