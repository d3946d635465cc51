//===- KernelView.h - The parsed kernel of a text under rewriting -*- C++ -*-=//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_KERNELVIEW_H
#define CUPILOT_LIB_FRONTEND_RULES_KERNELVIEW_H

#include "RewriteState.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ParentMap.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/SourceManager.h"

namespace cupilot {

/// `threadIdx.y` and its like.
struct LaunchVariable {
  enum class Kind { Thread, Block, BlockSize, GridSize };
  Kind K;
  unsigned Dim; ///< 0, 1, 2: x, y, z.
};

/// The AST of a kernel, and where its nodes stand in the text. For an instance
/// of a template the AST is the instance's, the places are the template's.
class KernelView {
public:
  KernelView(clang::ASTContext &Ctx, const clang::FunctionDecl &Fn,
             const RewriteState &State);

  clang::ASTContext &Ctx;
  clang::SourceManager &SM;
  const clang::FunctionDecl &Fn;
  const clang::CompoundStmt &Body;
  const Kernel &K;

  /// The declaration as written: the template's for an instance.
  const clang::FunctionDecl &pattern() const;
  const clang::Stmt *parent(const clang::Stmt *S) const {
    return Parents.getParent(S);
  }

  /// Offsets in the text; nothing when a macro made the nodes, unless they are
  /// a whole macro call or stand in a macro's argument.
  std::optional<std::pair<unsigned, unsigned>>
  range(clang::SourceRange R) const;
  /// As range(), with the semicolon that ends a statement.
  std::optional<std::pair<unsigned, unsigned>>
  statementRange(const clang::Stmt &S) const;
  /// Offset of one token that is not from a macro.
  std::optional<unsigned> offset(clang::SourceLocation Loc) const;
  std::optional<std::string> text(const clang::Stmt &S) const;
  std::string text(unsigned Begin, unsigned End) const {
    return Text.substr(Begin, End - Begin);
  }
  /// True for what is written in the slice itself, not in a header.
  bool inSlice(clang::SourceLocation Loc) const;
  /// "line 12"
  std::string at(clang::SourceLocation Loc) const;

  /// \p Base, or with a number, so that the text has no such word.
  std::string freshName(llvm::StringRef Base) const;
  /// Is there a local variable of that name, which may hide another?
  bool hasLocal(llvm::StringRef Name) const;
  /// The type as text, without qualifiers.
  std::string typeText(clang::QualType T) const;

private:
  const std::string &Text;
  mutable clang::ParentMap Parents;
};

/// The launch variable that \p E reads, if it does.
std::optional<LaunchVariable> launchVariable(const clang::Expr *E);

/// \p E without parentheses and implicit casts that keep the value's type.
const clang::Expr *peel(const clang::Expr *E);

/// The declaration that a plain use of a variable names; else null.
const clang::VarDecl *variableOf(const clang::Expr *E);

/// Parses the text of \p State and calls \p Use with its kernel. A text that
/// does not parse is a usage error.
llvm::Error withKernel(const RewriteState &State,
                       llvm::function_ref<llvm::Error(KernelView &)> Use);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_KERNELVIEW_H
