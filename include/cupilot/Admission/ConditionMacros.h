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

/// A name by which programs tell compilers apart. Of what one of clang, nvcc
/// and its host compilers (gcc, clang) predefines and another does not, or has
/// another value of (-dM -E, nvcc --dryrun): what the one that parses does not
/// know gives no event.
inline bool isCompilerName(llvm::StringRef Name) {
  if (isNeutralMacro(Name))
    return false;
  for (llvm::StringRef Prefix :
       {// Makers and versions.
        "__clang", "__llvm", "__CLANG", "__GNU", "__GXX", "__GCC", "__NVCC",
        "__CUDACC", "__CUDABE", "__CUDA__", "__CUDA_API_VER", "__NVPTX",
        "__PTX__", "__NVCOMPILER", "__EDG", "__PGI", "__INTEL", "__ICC",
        "__ICL", "__IBM", "__ibmxl", "__SUNPRO", "__MINGW", "_MSC", "__VERSION",
        "CUDA_VERSION", "CUDART_VERSION", "CUDA_DOUBLE_MATH", "__CUPILOT",
        "CUPILOT_", "_CCCL_COMPILER", "_CCCL_CUDA_COMPILER",
        // What they can, and how they were called.
        "__has_", "__is_identifier", "__is_target", "__cpp_", "__STDC",
        "_STDC_", "__OPTIMIZE", "__NO_INLINE", "__FAST_MATH", "__FINITE_MATH",
        "__NO_MATH", "__STRICT_ANSI", "__DEPRECATED", "__pic", "__PIC", "__pie",
        "__PIE", "__code_model",
        // Numbers of types that nvcc's device code does not have.
        "__LDBL", "__DECIMAL_DIG", "__DEC32", "__DEC64", "__DEC128",
        "__DEC_EVAL", "__FLT32", "__FLT64", "__FLT128", "__SIZEOF_FLOAT8",
        "__SIZEOF_FLOAT1", "__SIZEOF_LONG_DOUBLE", "__BIGGEST_ALIGNMENT"})
    if (Name.starts_with(Prefix))
      return true;
  return false;
}

/// Of the macros that compilers predefine, those that have the same value in
/// all of them: limits, widths, types. _Pragma, an operator, has a rule of its
/// own.
inline bool isSharedPredefined(llvm::StringRef Name) {
  if (isNeutralMacro(Name) || isArchitectureMacro(Name) || Name == "__LINE__" ||
      Name == "_Pragma")
    return true;
  if (isCompilerName(Name) || Name.contains("_FAST") || Name.contains("_EVAL"))
    return false;
  if (Name == "__CHAR_BIT__" || Name == "__BYTE_ORDER__")
    return true;
  for (llvm::StringRef Prefix :
       {"__FLT_", "__DBL_", "__FLT16_", "__SIZEOF_", "__ORDER_"})
    if (Name.starts_with(Prefix))
      return true;
  return Name.starts_with("__") &&
         (Name.ends_with("_MAX__") || Name.ends_with("_MIN__") ||
          Name.ends_with("_WIDTH__") || Name.ends_with("_TYPE__") ||
          Name.ends_with("_C"));
}

} // namespace cupilot

#endif // CUPILOT_ADMISSION_CONDITIONMACROS_H
