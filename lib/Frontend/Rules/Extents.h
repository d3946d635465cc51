//===- Extents.h - How far a kernel reaches into its buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_EXTENTS_H
#define CUPILOT_LIB_FRONTEND_RULES_EXTENTS_H

#include "Bounds.h"
#include "Memory.h"

namespace cupilot {

/// Bounds of integer expressions over launch and scalars, from the kernel's
/// checks and its loops.
class Extents {
public:
  Extents(Values &Vals, Bounds &Checks) : Vals(Vals), Checks(Checks) {}

  /// The largest value of \p P where \p At is evaluated; nothing when it is not
  /// known. Adds to \p Needed what must hold for that.
  std::optional<Poly> upper(const Poly &P, const clang::Stmt *At,
                            std::vector<Constraint> &Needed);
  /// Shows that \p P is not negative there, by adding to \p Needed if needed.
  bool notNegative(const Poly &P, const clang::Stmt *At,
                   std::vector<Constraint> &Needed);

  /// Bytes from \p Pointer on that the kernel may touch, one expression for
  /// each kind of access; nothing when that is not known. Adds to \p Needed.
  std::optional<std::vector<Expr>> bytes(const Memory &M,
                                         const PointerRef &Pointer,
                                         std::vector<Constraint> &Needed);

private:
  struct Limits {
    std::optional<Poly> High;
    bool NotNegative = false;
    bool Exact = false; ///< High is the value.
  };
  Limits limitsOf(const Atom &A, const clang::Stmt *At,
                  std::vector<Constraint> &Needed);
  Limits limitsOfExpr(const clang::Expr *E, const clang::Stmt *At,
                      std::vector<Constraint> &Needed);
  Limits limitsOfLoop(const clang::VarDecl *Var, const clang::Stmt *At,
                      std::vector<Constraint> &Needed);
  Values &Vals;
  Bounds &Checks;
  unsigned Depth = 0;
};

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_EXTENTS_H
