//===- Closure.h - What a kernel uses -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_CLOSURE_H
#define CUPILOT_LIB_FRONTEND_CLOSURE_H

#include "ParseDevice.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/SetVector.h"

namespace cupilot {

/// The declarations that the text of a kernel needs.
struct Closure {
  /// Declarations of the user's own files, at namespace level.
  llvm::SetVector<const clang::Decl *> Own;
  /// Declarations of system headers that are named.
  llvm::SetVector<const clang::Decl *> System;
  /// Why no slice can carry it; "" when one can.
  std::string Refusal;
};

Closure closureOf(const clang::FunctionDecl &Kernel, const ParsedUnit &Unit);

/// True for what lies in system headers, CUDA's headers, or the compiler.
bool isSystem(const ParsedUnit &Unit, clang::SourceLocation Loc);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_CLOSURE_H
