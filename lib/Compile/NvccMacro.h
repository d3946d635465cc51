//===- NvccMacro.h - __NVCC__ for the program alone -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_COMPILE_NVCCMACRO_H
#define CUPILOT_LIB_COMPILE_NVCCMACRO_H

namespace clang {
class CompilerInvocation;
class HeaderSearchOptions;
class Preprocessor;
} // namespace clang

namespace cupilot {

/// An invocation that is marked comes from flags with NvccMacroFlag. The mark
/// must be taken away before clang sees it.
void markForNvcc(clang::CompilerInvocation &Invocation);
bool isMarkedForNvcc(const clang::CompilerInvocation &Invocation);
void unmarkForNvcc(clang::CompilerInvocation &Invocation);

/// Makes \p PP define __NVCC__ and nvcc's version in files that are no system
/// headers, and in none of the toolkit's folders of \p Headers.
void defineNvccForProgram(clang::Preprocessor &PP,
                          const clang::HeaderSearchOptions &Headers);

} // namespace cupilot

#endif // CUPILOT_LIB_COMPILE_NVCCMACRO_H
