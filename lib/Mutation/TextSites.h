//===- TextSites.h - Where a text can have a fault -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MUTATION_TEXTSITES_H
#define CUPILOT_LIB_MUTATION_TEXTSITES_H

#include "cupilot/Model/Workload.h"
#include "cupilot/Mutation/TextMutations.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"
#include <set>
#include <tuple>

namespace cupilot {

/// The faults of one text, in order.
class TextSites {
public:
  TextSites(const clang::ASTContext &Ctx, llvm::ArrayRef<Workload> Recorded)
      : Ctx(Ctx), Recorded(Recorded) {}
  /// What follows lies in \p F, which has a body.
  void enter(const clang::FunctionDecl &F, bool IsKernel);
  /// The text of \p Range; nothing where it comes of a macro, or of another
  /// file.
  std::optional<llvm::StringRef> textOf(clang::SourceRange Range) const;
  /// \p Text in place of \p Range, unless that has no text, or the same was
  /// done before. The place is that of \p At, if that is given. The result is
  /// valid until the next one; null where nothing was added.
  Mutation *add(clang::SourceRange Range, llvm::StringRef Operator,
                const llvm::Twine &Before, const llvm::Twine &After,
                const llvm::Twine &Text, clang::SourceLocation At = {});
  /// The largest number that \p E can be, if it is no negative one and its text
  /// says so: limits of a launch, constants, masks, variables with one value.
  std::optional<uint64_t> mostOf(const clang::Expr *E) const;
  /// \p V is at most \p Most, as the condition of its loop says.
  void bound(const clang::VarDecl *V, uint64_t Most) { Bounds[V] = Most; }

  const clang::ASTContext &Ctx;
  llvm::ArrayRef<Workload> Recorded;
  const clang::FunctionDecl *Function = nullptr;
  bool IsKernel = false;
  std::vector<TextMutation> All;

private:
  std::string Name; ///< Of the function.
  std::set<std::tuple<size_t, size_t, std::string>> Made;
  llvm::DenseMap<const clang::VarDecl *, uint64_t> Bounds;
  llvm::DenseSet<const clang::VarDecl *> Changed; ///< After their definition.
};

/// A dimension of a launch as the text names it: "blockIdx.y".
struct TextDimension {
  unsigned Kind = 0; ///< threadIdx, blockIdx, blockDim, gridDim.
  unsigned Axis = 0;
};
std::optional<TextDimension> dimensionOf(const clang::Expr *E);
/// The variable that \p E is.
const clang::VarDecl *namedVariable(const clang::Expr *E);
/// Whether \p E has one value in all launches.
bool isConstant(const clang::Expr *E, const clang::ASTContext &Ctx);

// One file each; every function looks at one expression or statement.
// TextExpressions.cpp:
void addTextBinary(const clang::Expr &Whole, clang::BinaryOperatorKind Op,
                   clang::SourceLocation At, const clang::Expr &Left,
                   const clang::Expr &Right, TextSites &S);
void addTextUnary(const clang::UnaryOperator &E, TextSites &S);
void addTextLiteral(const clang::Expr &E, TextSites &S);
void addTextIndex(const clang::ArraySubscriptExpr &E, TextSites &S);
void addTextWidth(const clang::VarDecl &V, TextSites &S);
void addTextCall(const clang::CallExpr &E, TextSites &S);
// TextRecorded.cpp:
void addTextDimension(const clang::MSPropertyRefExpr &E, TextSites &S);
void addTextArgument(const clang::ImplicitCastExpr &E, TextSites &S);
// TextStatements.cpp:
void addTextConditional(const clang::ConditionalOperator &E, TextSites &S);
void addTextCondition(const clang::Expr *Condition, bool Loops, TextSites &S);
void addTextLoop(const clang::ForStmt &Loop, TextSites &S);
/// \p Of is a statement, not a part of an expression.
void addTextStatement(const clang::Stmt *Of, TextSites &S);

} // namespace cupilot

#endif // CUPILOT_LIB_MUTATION_TEXTSITES_H
