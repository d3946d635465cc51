//===- Lambdas.h - Lambdas among a kernel's template arguments -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A closure type has no name. A slice gets the same type, and the kernel the
// same symbol, from a device function with the signature of the host function
// that holds the lambda: its body declares what the lambda captures, holds the
// lambda as it was written, and names the kernel's instance.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_LAMBDAS_H
#define CUPILOT_LIB_FRONTEND_LAMBDAS_H

#include "Pieces.h"

namespace clang {
class CXXRecordDecl;
class Expr;
class FunctionDecl;
class LambdaExpr;
class VarDecl;
} // namespace clang

namespace cupilot {

class Closure;

/// One lambda that a slice needs.
struct NeededLambda {
  const clang::LambdaExpr *Expr = nullptr;    ///< As instantiated.
  const clang::LambdaExpr *Written = nullptr; ///< As in the text.
};

/// The lambdas of one kernel and the function that holds them.
struct KernelLambdas {
  std::vector<NeededLambda> All;
  const clang::FunctionDecl *Function = nullptr; ///< As instantiated.
  const clang::FunctionDecl *Text = nullptr;     ///< Its definition as written.
  /// Variables of the function that the lambdas use, in order.
  std::vector<const clang::VarDecl *> Locals;
  bool empty() const { return All.empty(); }
};

/// The lambdas among the template arguments of \p Kernel; a finding says why a
/// slice cannot have one.
llvm::Expected<KernelLambdas> lambdasOf(const ParsedUnit &Unit,
                                        const PieceTable &Pieces,
                                        const clang::FunctionDecl *Kernel);

/// Tokens of the user that make the function for \p L: its signature, then one
/// range for each lambda.
std::vector<TokenRange> rangesOf(const KernelLambdas &L,
                                 const PieceTable &Pieces);

/// The initialiser of \p V if it is part of what the lambda means: a constant.
const clang::Expr *constantOf(const clang::VarDecl *V);

/// What the slice of \p Kernel ends with. \p CopyOf gives the text for a range.
std::string
lambdaText(const KernelLambdas &L, const ParsedUnit &Unit,
           const PieceTable &Pieces, const clang::FunctionDecl *Kernel,
           llvm::function_ref<llvm::Expected<std::string>(TokenRange)> CopyOf,
           std::string &Refusal);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_LAMBDAS_H
