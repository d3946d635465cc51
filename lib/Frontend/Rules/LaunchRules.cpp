//===- LaunchRules.cpp - Rules that change the launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// block_size, thread_coarsening, launch_bounds: who does how much.
//
//===----------------------------------------------------------------------===//

#include "RewriteState.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace cupilot {

/// Words whose meaning depends on which threads form a block or a warp.
static const char *blockDependentWord(const View &V) {
  for (const char *Word : {"__shared__",
                           "__syncthreads",
                           "__syncthreads_count",
                           "__syncthreads_and",
                           "__syncthreads_or",
                           "__syncwarp",
                           "__shfl_sync",
                           "__shfl_up_sync",
                           "__shfl_down_sync",
                           "__shfl_xor_sync",
                           "__ballot_sync",
                           "__any_sync",
                           "__all_sync",
                           "__activemask",
                           "__match_any_sync",
                           "__match_all_sync",
                           "__reduce_add_sync",
                           "cooperative_groups",
                           "asm",
                           "__asm__",
                           "clock",
                           "clock64"})
    if (V.mentions(Word))
      return Word;
  return nullptr;
}

/// The kernel must have as many threads as its bound says, or more: then what
/// happens to indices beyond them is known.
static llvm::Error requireCovered(RewriteState &S, const Gene &G, const View &V,
                                  const clang::Expr &Bound) {
  std::optional<Expr> B = V.scalarExpr(Bound, S.K);
  if (!B)
    return refuse(
        G, "the bound '" + V.text(Bound) +
               "' of the index is not an expression over integer arguments");
  S.require(
      Expr::binary(Expr::Kind::Add, S.totalThreads(),
                   Expr::binary(Expr::Kind::Mul, *B, Expr::constant(-1))));
  return llvm::Error::success();
}

namespace {
/// Is a parameter of the kernel assigned to?
class ParamWrites : public RecursiveASTVisitor<ParamWrites> {
public:
  bool VisitBinaryOperator(BinaryOperator *B) {
    if (B->isAssignmentOp())
      note(B->getLHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *U) {
    if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
      note(U->getSubExpr());
    return true;
  }
  bool VisitReturnStmt(ReturnStmt *) {
    Returns = true;
    return true;
  }
  std::vector<const ValueDecl *> Written;
  bool Returns = false;

private:
  void note(const clang::Expr *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts()))
      Written.push_back(Ref->getDecl());
  }
};
} // namespace

static bool writesParams(const View &V, const VarDecl *Index, bool &Returns) {
  ParamWrites Writes;
  Writes.TraverseStmt(const_cast<CompoundStmt *>(&V.body()));
  Returns = Writes.Returns;
  return llvm::any_of(Writes.Written, [&](const ValueDecl *D) {
    auto *P = dyn_cast<ParmVarDecl>(D);
    return D == Index || (P && P->getType()->isIntegerType());
  });
}

llvm::Error applyBlockSize(RewriteState &S, const Gene &G) {
  auto Parsed = View::create(S);
  if (!Parsed)
    return Parsed.takeError();
  View &V = **Parsed;
  int64_t X = valueOf(G, "x");
  if (const char *Word = blockDependentWord(V))
    return refuse(G, llvm::Twine("the kernel uses ") + Word +
                         ", whose meaning depends on the block");
  View::IndexUses Uses = V.indexUses();
  if (Uses.Other > 0)
    return refuse(G, "the kernel uses thread or block indices other than as "
                     "blockIdx.x * blockDim.x + threadIdx.x");
  if (V.kernel().hasAttr<CUDALaunchBoundsAttr>())
    return refuse(G, "the kernel has __launch_bounds__");
  Expr Total = S.totalThreads();
  if (!S.AnyTotal) {
    bool Returns = false;
    std::optional<View::GuardedIndex> Index;
    if (Uses.Total.empty() && Uses.Global.size() == 1)
      Index = V.guardedIndex();
    if (Index && !writesParams(V, Index->Index, Returns) &&
        V.scalarExpr(*Index->Bound, S.K)) {
      // Threads beyond the original's do nothing: their index is out of bounds.
      if (llvm::Error E = requireCovered(S, G, V, *Index->Bound))
        return E;
    } else {
      // The same threads exactly.
      S.require(Expr::binary(Expr::Kind::Mod, Total, Expr::constant(X)),
                /*IsEq=*/true);
    }
  }
  S.launch().Grid[0] =
      Expr::binary(Expr::Kind::CeilDiv, Total, Expr::constant(X));
  S.launch().Block[0] = Expr::constant(X);
  return llvm::Error::success();
}

llvm::Error applyCoarsening(RewriteState &S, const Gene &G) {
  auto Parsed = View::create(S);
  if (!Parsed)
    return Parsed.takeError();
  View &V = **Parsed;
  int64_t Factor = valueOf(G, "factor");
  if (const char *Word = blockDependentWord(V))
    return refuse(G, llvm::Twine("the kernel uses ") + Word +
                         ", whose meaning depends on the block");
  View::IndexUses Uses = V.indexUses();
  std::optional<View::GuardedIndex> Index = V.guardedIndex();
  if (!Index || Uses.Other > 0 || !Uses.Total.empty() ||
      Uses.Global.size() != 1)
    return refuse(
        G, "the kernel is not of the form 'index = blockIdx.x * blockDim.x + "
           "threadIdx.x; if (index < bound) ...'");
  bool Returns = false;
  if (writesParams(V, Index->Index, Returns))
    return refuse(G, "the index or an integer parameter is written to");
  // The guard's own return is the only one that may be there.
  std::vector<View::Word> Work = V.words(Index->WorkBegin, Index->WorkEnd);
  if (llvm::any_of(Work, [](const View::Word &W) {
        return W.Text == "return" || W.Text == "goto";
      }))
    return refuse(G, "the kernel returns from the middle of its work");
  if (llvm::Error E = requireCovered(S, G, V, *Index->Bound))
    return E;
  std::string Type = Index->Index->getType().getUnqualifiedType().getAsString();
  std::string Name = Index->Index->getNameAsString(),
              Bound = V.text(*Index->Bound);
  // index + stride must not overflow the index's type.
  uint64_t Bits = V.context().getTypeSize(Index->Index->getType());
  if (Bits < 64) {
    bool Signed = Index->Index->getType()->isSignedIntegerType();
    std::optional<Expr> B = V.scalarExpr(*Index->Bound, S.K);
    Expr Sum = Expr::binary(Expr::Kind::Add, *B, S.totalThreads());
    int64_t Most =
        Signed ? (int64_t(1) << (Bits - 1)) - 1 : (int64_t(1) << Bits) - 1;
    S.require(
        Expr::binary(Expr::Kind::Add, Expr::constant(Most),
                     Expr::binary(Expr::Kind::Mul, Sum, Expr::constant(-1))));
  }
  std::string Loop = "for (" + Type + " " + Name + " = " +
                     V.text(*Index->Init) + "; " + Name + " < (" + Bound +
                     "); " + Name + " += gridDim.x * blockDim.x) {\n";
  S.Text = apply(S.Text, {{Index->DeclBegin, Index->WorkBegin, Loop},
                          {Index->End, Index->End, "}\n"}});
  S.launch().Grid[0] = Expr::binary(Expr::Kind::CeilDiv, S.launch().Grid[0],
                                    Expr::constant(Factor));
  S.AnyTotal = true;
  return llvm::Error::success();
}

llvm::Error applyLaunchBounds(RewriteState &S, const Gene &G) {
  auto Parsed = View::create(S);
  if (!Parsed)
    return Parsed.takeError();
  View &V = **Parsed;
  if (V.kernel().hasAttr<CUDALaunchBoundsAttr>())
    return refuse(G, "the kernel has __launch_bounds__ already");
  int64_t Most = valueOf(G, "max_threads");
  Expr Threads = Expr::binary(
      Expr::Kind::Mul, S.launch().Block[0],
      Expr::binary(Expr::Kind::Mul, S.launch().Block[1], S.launch().Block[2]));
  S.require(
      Expr::binary(Expr::Kind::Add, Expr::constant(Most),
                   Expr::binary(Expr::Kind::Mul, Threads, Expr::constant(-1))));
  // Before the name, after the type: "void __launch_bounds__(..) k(".
  const FunctionDecl *Written = &V.kernel();
  if (const FunctionDecl *Pattern = Written->getTemplateInstantiationPattern())
    Written = Pattern;
  auto Name = V.range(SourceRange(Written->getLocation()));
  if (!Name)
    return refuse(G, "the kernel's name comes from a macro");
  std::string Bounds = "__launch_bounds__(" + std::to_string(Most) + ", " +
                       std::to_string(valueOf(G, "min_blocks")) + ") ";
  S.Text = apply(S.Text, {{Name->first, Name->first, Bounds}});
  return llvm::Error::success();
}

} // namespace cupilot
