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
// lambda as it was written, and names the kernel's instance. Where the lambda
// stands in others, the function holds these too. A member function is made
// again in a class of its name with nothing else; where the slice has that
// class for another reason, or the lambda captures its object, there.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_LAMBDAS_H
#define CUPILOT_LIB_FRONTEND_LAMBDAS_H

#include "cupilot/Frontend/Pieces.h"
#include "clang/AST/PrettyPrinter.h"

namespace clang {
class ASTContext;
class CXXRecordDecl;
class DeclContext;
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
  /// The lambdas of that function in which they stand, outermost first.
  std::vector<NeededLambda> Around;
  /// Variables of the function, and of the lambdas around, that the lambdas
  /// use, in order.
  std::vector<const clang::VarDecl *> Locals;
  bool UsesThis = false; ///< They hold the function's object or its address.
  /// True for the function and the call operators of the lambdas around.
  bool isAround(const clang::DeclContext *DC) const;
  bool empty() const { return All.empty(); }
};

/// The lambdas among the template arguments of \p Kernel; a finding says why a
/// slice cannot have one.
llvm::Expected<KernelLambdas> lambdasOf(const ParsedUnit &Unit,
                                        const PieceTable &Pieces,
                                        const clang::FunctionDecl *Kernel);

/// The lambdas directly in \p F, in order.
std::vector<const clang::LambdaExpr *> lambdasIn(const clang::FunctionDecl *F);

/// Tokens of the user that make the function for \p L: its signature, then one
/// range for each lambda, then the heads of the lambdas around.
std::vector<TokenRange> rangesOf(const KernelLambdas &L,
                                 const PieceTable &Pieces);

/// The initialiser of \p V if it is part of what the lambda means: a constant.
const clang::Expr *constantOf(const clang::VarDecl *V);

/// What a slice has for its lambdas.
struct LambdaText {
  std::string Before; ///< Stands before the function, or its class.
  /// Of the function, with braces, where its class has the rest of it.
  std::string Body;
  std::string After; ///< Behind the function, or its class.
};

/// How slices write types that the unit does not.
clang::PrintingPolicy codePolicy(const clang::ASTContext &Ctx);

/// That of the slice of \p Kernel. \p InClass: the slice has the class of the
/// member function around. \p CopyOf gives the text for a range. What cannot be
/// taken apart is a finding.
llvm::Expected<LambdaText>
lambdaText(const KernelLambdas &L, const ParsedUnit &Unit,
           const PieceTable &Pieces, const clang::FunctionDecl *Kernel,
           bool InClass,
           llvm::function_ref<llvm::Expected<std::string>(TokenRange)> CopyOf);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_LAMBDAS_H
