//===- IndexUses.h - How a kernel uses thread and block indices -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_INDEXUSES_H
#define CUPILOT_LIB_FRONTEND_RULES_INDEXUSES_H

#include "Values.h"
#include "llvm/ADT/DenseSet.h"

namespace cupilot {

/// How a kernel's own text uses the launch variables of some dimensions: the
/// smallest expressions in which they occur as global index
/// (blockIdx * blockDim + threadIdx) or total (gridDim * blockDim) alone.
class IndexUses {
public:
  struct Use {
    const clang::Expr *E;
    Poly P; ///< Over Global and Total.
  };

  /// \p Mask: bit d stands for dimension d.
  IndexUses(Values &Vals, unsigned Mask);

  /// A finding where the kernel is more than a function of global indices.
  llvm::Error check() const;
  const std::vector<Use> &uses() const { return Found; }
  bool usesTotal(unsigned Dim) const;
  bool usesGlobal(unsigned Dim) const;
  /// The block size that the text assumes in a dimension; 0 if none.
  int64_t assumedBlock(unsigned Dim) const { return Blocks[Dim]; }

  /// \p E as a polynomial over Global and Total; nothing if it is none.
  std::optional<Poly> form(const clang::Expr *E);
  /// True when \p E is the global index of \p Dim and nothing else.
  bool isGlobalIndex(const clang::Expr *E, unsigned Dim);
  /// True when the value depends on thread or block indices of the dimensions
  /// in \p Of, or may do so.
  bool dependsOnIndex(const clang::Expr *E, unsigned Of = 7) const;

  /// Edits that put `Name` in the place of the global index of \p Dim, and
  /// blockDim in the place of the constants that stood for it. An error says
  /// what cannot be edited.
  llvm::Error replaceGlobal(unsigned Dim, llvm::StringRef Name,
                            std::vector<Edit> &Edits);
  /// \p E as text that stands at the head of the body: variables are written
  /// out, and the global index of \p Dim is \p Name. Nothing when it depends on
  /// what is only known further down.
  std::optional<std::string> textAtHead(const clang::Expr *E, unsigned Dim,
                                        llvm::StringRef Name);
  llvm::Error replaceAssumedBlock(unsigned Dim, std::vector<Edit> &Edits);

private:
  llvm::Error replaceUse(const Use &U, unsigned Dim, llvm::StringRef Name,
                         std::vector<Edit> &Edits);
  bool scan(const clang::Stmt *S);
  bool valuesFit(const Poly &P);
  bool isRaw(const clang::Stmt *S);
  Values &Vals;
  unsigned Mask;
  std::vector<Use> Found;
  std::array<int64_t, 3> Blocks{};
  /// Variables whose initial value is a part of an index: looked through where
  /// they are used.
  llvm::DenseSet<const clang::VarDecl *> Parts;
  llvm::DenseMap<const clang::Stmt *, bool> Raw;
  const clang::Stmt *Culprit = nullptr;
};

/// All expressions in \p S, before their parts; launch variables are leaves.
void forEachExpr(const clang::Stmt *S,
                 llvm::function_ref<void(const clang::Expr *)> Use);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_INDEXUSES_H
