//===- LaunchRules.cpp - block_size, block_shape, launch_bounds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchRules.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/Support/MathExtras.h"

using namespace clang;

namespace cupilot {

void allowMoreThreads(RewriteState &S, Analysis &A, unsigned Dim,
                      const Expr &Exact, int64_t Slack) {
  // Indices of 32 bits stay exact.
  S.requireAtLeast(Expr::constant(INT32_MAX - Slack), S.threads(Dim));
  if (int64_t Assumed = A.Uses.assumedBlock(Dim))
    S.requireZero(S.launch().Block[Dim] - Expr::constant(Assumed));
  if (S.MoreThreadsHarmless[Dim])
    return;
  std::vector<Constraint> Needed;
  std::optional<Expr> Limit;
  if (!A.Uses.usesTotal(Dim))
    Limit = A.Checks.limit(Dim, Needed);
  if (Limit) {
    for (Constraint &C : Needed)
      S.require(std::move(C));
    S.requireAtLeast(S.threads(Dim), *Limit);
    S.MoreThreadsHarmless[Dim] = true;
    return;
  }
  if (Dim == 0)
    if (std::optional<GridStride> Loop = findGridStride(A.Vals, A.Uses)) {
      for (Constraint &C : Loop->Needed)
        S.require(std::move(C));
      S.requireAtLeast(Expr::constant(INT32_MAX - Slack),
                       S.threads(Dim) + Loop->Limit);
      S.MoreThreadsHarmless[Dim] = true;
      return;
    }
  S.requireZero(Exact);
}

/// A finding says why the number of threads must stay as it is, for any rule.
static llvm::Error checkFreeLaunch(const KernelView &V, const Analysis &A) {
  for (const Attr *Each : V.Fn.attrs())
    if (llvm::StringRef(Each->getSpelling()).contains("cluster"))
      return findingError("the kernel has a cluster shape");
  return A.Uses.check();
}

//===----------------------------------------------------------------------===//
// __launch_bounds__
//===----------------------------------------------------------------------===//

static const CUDALaunchBoundsAttr *boundsOf(const KernelView &V) {
  return V.Fn.getAttr<CUDALaunchBoundsAttr>();
}

static int64_t valueIn(const KernelView &V, const clang::Expr *E) {
  clang::Expr::EvalResult Result;
  if (!E || E->isValueDependent() || !E->EvaluateAsInt(Result, V.Ctx))
    return 0;
  return Result.Val.getInt().getExtValue();
}

int64_t launchBound(const KernelView &V) {
  const auto *Bounds = boundsOf(V);
  return Bounds ? valueIn(V, Bounds->getMaxThreads()) : 0;
}

llvm::Error writeLaunchBounds(KernelView &V, int64_t Most, int64_t Blocks,
                              std::vector<Edit> &Edits) {
  const auto *Old = boundsOf(V);
  if (Old && Blocks == 0)
    Blocks = valueIn(V, Old->getMinBlocks());
  std::string Text = "__launch_bounds__(" + std::to_string(Most);
  if (Blocks > 0)
    Text += ", " + std::to_string(Blocks);
  Text += ")";
  if (Old) {
    if (Old->getMaxBlocks())
      return findingError("the kernel's __launch_bounds__ limits clusters");
    // The attribute comes from the macro of that name.
    SourceLocation Loc = Old->getLocation();
    CharSourceRange Call = V.SM.getExpansionRange(Loc);
    auto R = V.range(Call.getAsRange());
    if (!Loc.isMacroID() || !R || Old->isInherited() ||
        !llvm::StringRef(V.text(R->first, R->second))
             .starts_with("__launch_bounds__"))
      return findingError("the kernel's __launch_bounds__ cannot be edited");
    Edits.push_back({R->first, R->second, Text});
    return llvm::Error::success();
  }
  // Between type and name: "void __launch_bounds__(...) k(...)".
  auto Name = V.offset(V.pattern().getQualifierLoc()
                           ? V.pattern().getQualifierLoc().getBeginLoc()
                           : V.pattern().getLocation());
  if (!Name)
    return findingError("the kernel's name comes from a macro");
  Edits.push_back({*Name, *Name, Text + " "});
  return llvm::Error::success();
}

/// Lets the kernel's own __launch_bounds__ admit blocks of \p X * \p Y threads
/// in x and y.
static llvm::Error admitBlock(RewriteState &S, KernelView &V, int64_t Threads,
                              std::vector<Edit> &Edits) {
  int64_t Old = launchBound(V);
  if (Old == 0)
    return llvm::Error::success();
  int64_t New = std::max(Old, Threads);
  const auto &Block = S.launch().Block;
  S.requireAtLeast(Expr::constant(New), Block[0] * Block[1] * Block[2]);
  return New == Old ? llvm::Error::success()
                    : writeLaunchBounds(V, New, 0, Edits);
}

/// Nothing in the text may assume the old block size any more.
static llvm::Error checkNoAssumption(RewriteState &S, const Gene &G,
                                     unsigned Mask) {
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, Mask);
    for (unsigned D = 0; D < 3; ++D)
      if ((Mask & (1U << D)) && A.Uses.assumedBlock(D))
        return refuse(G, "the block size that the source assumes cannot be "
                         "edited everywhere");
    return refuse(G, A.Uses.check());
  });
}

llvm::Error checkMergedThreads(KernelView &V, Analysis &A) {
  if (llvm::Error E = checkBlockIndependence(A.Fx))
    return E;
  if (llvm::Error E = A.Fx.checkNone(
          {Effect::Atomic, Effect::Static, Effect::Jump, Effect::Lambda}))
    return E;
  return checkFreeLaunch(V, A);
}

llvm::Error checkRepeatedWork(KernelView &V, Analysis &A) {
  for (const Stmt *S : A.Checks.work())
    if (!returnsIn(S).empty())
      return findingError("the work may be left by a return");
  for (const ParmVarDecl *P : V.Fn.parameters())
    if (!A.Vals.writes(P).empty())
      return findingError("the parameter '" + P->getNameAsString() +
                          "' is modified");
  return llvm::Error::success();
}

llvm::Error applyBlockSize(RewriteState &S, const Gene &G) {
  int64_t Sizes[2] = {valueOf(G, "x"), valueOf(G, "y")};
  if (Sizes[0] < 1 || Sizes[0] > MaxBlockThreads || Sizes[1] < 0 ||
      Sizes[0] * std::max<int64_t>(Sizes[1], 1) > MaxBlockThreads)
    return refuse(G, "a block has 1 to 1024 threads");
  unsigned Mask = Sizes[1] ? 3 : 1;
  if (S.launch().Block[0] == Expr::constant(Sizes[0]) &&
      (!Sizes[1] || S.launch().Block[1] == Expr::constant(Sizes[1])))
    return refuse(G, "the plan already launches such blocks");
  bool Assumes = false;
  llvm::Error E = withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, Mask);
    if (llvm::Error Err = checkBlockIndependence(A.Fx))
      return refuse(G, std::move(Err));
    if (llvm::Error Err = checkFreeLaunch(V, A))
      return refuse(G, std::move(Err));
    std::vector<Edit> Edits;
    for (unsigned D = 0; D < 2; ++D) {
      if (!Sizes[D])
        continue;
      Assumes |= A.Uses.assumedBlock(D) != 0;
      if (llvm::Error Err = A.Uses.replaceAssumedBlock(D, Edits))
        return refuse(G, std::move(Err));
      allowMoreThreads(S, A, D, mod(S.threads(D), Sizes[D]), MaxBlockThreads);
    }
    for (unsigned D = 0; D < 2; ++D) {
      if (!Sizes[D])
        continue;
      S.launch().Grid[D] = ceilDiv(S.threads(D), Sizes[D]);
      S.launch().Block[D] = Expr::constant(Sizes[D]);
    }
    if (llvm::Error Err =
            admitBlock(S, V, Sizes[0] * std::max<int64_t>(Sizes[1], 1), Edits))
      return refuse(G, std::move(Err));
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the block size in the source cannot be edited");
    return llvm::Error::success();
  });
  if (E || !Assumes)
    return E;
  return checkNoAssumption(S, G, Mask);
}

ShapedLaunch shapeBlocks(const Gene &G, const LaunchShape &Of) {
  ShapedLaunch New{Of};
  const int64_t Sizes[2] = {valueOf(G, "x"), valueOf(G, "y")};
  for (unsigned D = 0; D < 2; ++D) {
    if (Sizes[D] < 1)
      continue;
    New.Shape.Block[D] = uint64_t(Sizes[D]);
    New.Shape.Grid[D] =
        llvm::divideCeil(Of.Grid[D] * Of.Block[D], uint64_t(Sizes[D]));
  }
  return New;
}

llvm::Error applyBlockShape(RewriteState &S, const Gene &G) {
  if (valueOf(G, "y") < 1)
    return refuse(G, "a block has 1 to 1024 threads");
  llvm::Error E = withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/3);
    if (!A.Uses.usesGlobal(0) || !A.Uses.usesGlobal(1))
      return refuse(G, "the kernel does not use indices in x and y");
    return llvm::Error::success();
  });
  return E ? std::move(E) : applyBlockSize(S, G);
}

ShapedLaunch shapeBounds(const Gene &G, const LaunchShape &Of) {
  auto Positive = [](int64_t N) { return uint64_t(std::max<int64_t>(N, 0)); };
  return {Of, Positive(valueOf(G, "max_threads")),
          Positive(valueOf(G, "min_blocks"))};
}

llvm::Error applyLaunchBounds(RewriteState &S, const Gene &G) {
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    const auto &Block = S.launch().Block;
    Expr Threads = Block[0] * Block[1] * Block[2];
    int64_t Most = valueOf(G, "max_threads"), Blocks = valueOf(G, "min_blocks");
    if (Most == 0)
      Most = launchBound(V);
    if (Most == 0 && Block[0].K == Expr::Kind::Constant)
      Most = Block[0].Value;
    if (Most < 1 || Most > MaxBlockThreads)
      return refuse(G, "the size of the blocks is not known; give max_threads");
    if (Blocks < 0 || Blocks > 32)
      return refuse(G, "a multiprocessor holds at most 32 blocks");
    const auto *Old = boundsOf(V);
    if (Old && launchBound(V) == Most &&
        valueIn(V, Old->getMinBlocks()) == Blocks)
      return refuse(G, "the kernel already has these bounds");
    std::vector<Edit> Edits;
    if (llvm::Error E = writeLaunchBounds(V, Most, Blocks, Edits))
      return refuse(G, std::move(E));
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the kernel's head cannot be edited");
    S.requireAtLeast(Expr::constant(Most), Threads);
    return llvm::Error::success();
  });
}

} // namespace cupilot
