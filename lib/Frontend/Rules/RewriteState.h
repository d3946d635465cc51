//===- RewriteState.h - A kernel under rewriting -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_REWRITESTATE_H
#define CUPILOT_LIB_FRONTEND_RULES_REWRITESTATE_H

#include "ParseDevice.h"
#include "cupilot/Frontend/Rules.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"

namespace cupilot {

/// What is rewritten, gene by gene: the text and what must hold for it.
struct RewriteState {
  const Kernel &K;
  llvm::ArrayRef<std::string> Flags;
  std::string Text;
  LaunchPlan Plan;
  Guard When;
  /// The kernel visits its whole range whatever the number of threads is.
  bool AnyTotal = false;

  Launch &launch() { return Plan.Launches.front(); }
  /// Threads of the x dimension that the plan launches in all.
  Expr totalThreads() {
    return Expr::binary(Expr::Kind::Mul, launch().Grid[0], launch().Block[0]);
  }
  void require(Expr E, bool IsEq = false) {
    When.Constraints.push_back({std::move(E), IsEq});
  }
};

/// A piece of the text and what replaces it.
struct Edit {
  unsigned Begin, End;
  std::string New;
};

/// The parsed state of a text: the AST of its kernel, and its tokens.
class View {
public:
  /// Parses \p State's text and finds its kernel.
  static llvm::Expected<std::unique_ptr<View>>
  create(const RewriteState &State);

  const clang::FunctionDecl &kernel() const { return *Kernel; }
  const clang::CompoundStmt &body() const;
  clang::ASTContext &context() const { return Unit->context(); }

  struct Word {
    unsigned Begin, End;
    std::string Text;
  };
  /// Tokens of [\p Begin, \p End).
  std::vector<Word> words(unsigned Begin, unsigned End) const;
  /// Offsets of a node of the AST in the text; nothing for what a macro made.
  std::optional<std::pair<unsigned, unsigned>>
  range(clang::SourceRange R) const;
  std::string text(unsigned Begin, unsigned End) const {
    return Text.substr(Begin, End - Begin);
  }
  std::string text(const clang::Stmt &S) const;
  bool mentions(const char *Word) const;

  /// Occurrences of `blockIdx.x * blockDim.x + threadIdx.x` (in any order), of
  /// `gridDim.x * blockDim.x`, and of other uses of these variables.
  struct IndexUses {
    std::vector<std::pair<unsigned, unsigned>> Global, Total;
    unsigned Other = 0;
  };
  IndexUses indexUses() const;

  /// True when \p E is the global index of the x dimension.
  bool isGlobalIndex(const clang::Expr &E) const;
  /// \p E over the kernel's integer parameters as an expression over its
  /// scalars; nothing when it is more than that.
  std::optional<Expr> scalarExpr(const clang::Expr &E,
                                 const cupilot::Kernel &K) const;

  /// A kernel that computes one index and does all its work under a bound:
  ///   T i = <global index>;  if (i < Bound) Work      or
  ///   T i = <global index>;  if (i >= Bound) return;  Work...
  struct GuardedIndex {
    const clang::VarDecl *Index = nullptr;
    const clang::Expr *Init = nullptr;
    const clang::Expr *Bound = nullptr;
    unsigned DeclBegin = 0, WorkBegin = 0, WorkEnd = 0, End = 0;
  };
  std::optional<GuardedIndex> guardedIndex() const;

private:
  std::unique_ptr<DeviceUnit> Unit;
  const clang::FunctionDecl *Kernel = nullptr;
  std::string Text;
};

/// Applies edits that do not overlap.
std::string apply(std::string Text, std::vector<Edit> Edits);

/// "STRATEGY: reason" as a finding.
llvm::Error refuse(const Gene &G, const llvm::Twine &Reason);
int64_t valueOf(const Gene &G, llvm::StringRef Param);

// One function per strategy.
llvm::Error applyBlockSize(RewriteState &S, const Gene &G);
llvm::Error applyCoarsening(RewriteState &S, const Gene &G);
llvm::Error applyVectorized(RewriteState &S, const Gene &G);
llvm::Error applyUnroll(RewriteState &S, const Gene &G);
llvm::Error applyReadOnly(RewriteState &S, const Gene &G);
llvm::Error applyLaunchBounds(RewriteState &S, const Gene &G);
llvm::Error applyFastIntrinsics(RewriteState &S, const Gene &G);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_REWRITESTATE_H
