//===- EmitExpr.h - Expressions over a launch as IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_EMITEXPR_H
#define CUPILOT_LIB_SUBSTITUTE_EMITEXPR_H

#include "cupilot/Substitute/EmitGuard.h"
#include <map>

namespace cupilot {

/// Emits expressions and what they read, each once. What it has emitted must
/// dominate the place where it emits.
class ExprEmitter {
public:
  ExprEmitter(llvm::IRBuilderBase &B, llvm::ArrayRef<ScalarRef> Scalars,
              const LaunchValues &Values)
      : B(B), Scalars(Scalars), Values(Values) {}

  /// An i64, and an i1 that says whether it is right; null where it always is.
  struct Number {
    llvm::Value *V = nullptr, *Right = nullptr;
  };
  Number expr(const Expr &E);
  /// The pointer as an i64.
  llvm::Value *pointer(const PointerRef &P) {
    return load(B.getInt64Ty(), P.Param, P.Offset);
  }
  /// So many bits of an argument.
  llvm::Value *load(llvm::IntegerType *T, unsigned Param, unsigned Offset);
  /// Of two conditions, null where one always holds.
  llvm::Value *both(llvm::Value *X, llvm::Value *Y) {
    return !X ? Y : !Y ? X : B.CreateAnd(X, Y);
  }

  /// What has been emitted; restore() forgets what came later, which does not
  /// dominate what comes now.
  struct State {
    std::vector<std::pair<const Expr *, Number>> Known;
    std::map<std::tuple<unsigned, unsigned, unsigned>, llvm::Value *> Loaded;
  };
  State save() const { return Emitted; }
  void restore(State S) { Emitted = std::move(S); }

  llvm::IRBuilderBase &B;

private:
  Number emit(const Expr &E);
  Number divide(const Expr &E);

  llvm::ArrayRef<ScalarRef> Scalars;
  const LaunchValues &Values;
  State Emitted;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_EMITEXPR_H
