//===- Effects.h - What a kernel does besides arithmetic -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_EFFECTS_H
#define CUPILOT_LIB_FRONTEND_RULES_EFFECTS_H

#include "KernelView.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>

namespace cupilot {

/// What can make a rewrite wrong.
enum class Effect : unsigned {
  Barrier,     ///< Block barriers.
  Warp,        ///< Shuffles, votes, lane numbers, ...
  Shared,      ///< Shared memory.
  Atomic,      ///< Atomics whose result is used, exchanges, compare-and-swap.
  AtomicOnly,  ///< Atomics whose result is not used.
  Fence,       ///< Memory fences, volatile accesses.
  GridWait,    ///< cudaGridDependencySynchronize: what the launch before it
               ///< writes may be read behind it only.
  Assembly,    ///< Inline assembly beyond arithmetic.
  SpecialRead, ///< Clocks and other special registers.
  Unknown,     ///< Calls to what has no body here, indirect calls, new.
  IndexInCall, ///< A called function reads threadIdx, blockDim, ...
  Lambda,      ///< Lambda expressions, structured bindings in the kernel
               ///< itself: names that the analyses do not follow.
  Static,      ///< Static local variables.
  Jump         ///< goto, labels.
};

/// The effects of a kernel and of all that it calls, each with a phrase that
/// names its cause: "calls __syncthreads".
class Effects {
public:
  explicit Effects(KernelView &V);
  /// Those of a part of the kernel's own text.
  Effects(KernelView &V, const clang::Stmt &Part);

  bool has(Effect E) const { return Causes.count(E); }
  /// A finding for the first of \p List that is there: "it calls
  /// __syncthreads".
  llvm::Error checkNone(std::initializer_list<Effect> List) const;
  /// Functions with a body that the kernel calls, directly or not, and itself.
  llvm::ArrayRef<const clang::FunctionDecl *> functions() const {
    return Functions;
  }
  /// Is \p Call an atomic operation of CUDA?
  static bool isAtomic(const clang::CallExpr &Call);

private:
  void visitFunction(const clang::FunctionDecl *F);
  void visitStmt(const clang::Stmt *S, bool InKernel);
  void visitCallee(const clang::FunctionDecl *F, const clang::Stmt *At);
  void note(Effect E, const llvm::Twine &Cause, const clang::Stmt *At);
  KernelView &V;
  std::map<Effect, std::string> Causes;
  llvm::SmallVector<const clang::FunctionDecl *> Functions;
  llvm::SmallPtrSet<const clang::FunctionDecl *, 16> Seen;
  const clang::FunctionDecl *Current = nullptr;
};

/// Does \p S only wait for the launch before the kernel's, or allow the next
/// one, or nothing? It may call functions that do.
bool isGridControl(const clang::Stmt &S);

/// `fmaxf(a, b)`, `min(a, b)` and the like, of CUDA.
bool isExtremum(const clang::CallExpr &Call);

enum class CacheHint { Load, Store };
/// What the toolkit's function \p F does when it only loads or stores with a
/// cache hint, as `__ldg` and `__stcs` do; nothing for any other.
std::optional<CacheHint> cacheHint(const clang::FunctionDecl &F);

/// A finding where something makes a thread depend on its block or its place in
/// it.
llvm::Error checkBlockIndependence(const Effects &E);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_EFFECTS_H
