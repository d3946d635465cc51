//===- WarpReduction.cpp - warp_shuffle_reduction -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block reduces an array of shared memory by halves, with a barrier for each:
//   for (int s = blockDim.x / 2; s > 0; s /= 2) {
//     if (threadIdx.x < s)
//       a[threadIdx.x] += a[threadIdx.x + s];
//     __syncthreads();
//   }
// Now each warp reduces its part by shuffles, and the first one the warps'
// results. Blocks that are no power of two keep the loop: some of it is lost
// there, which is the kernel's business.
//
//===----------------------------------------------------------------------===//

#include "LaunchRules.h"
#include "Memory.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace cupilot {

namespace {
/// `a[t] = a[t] OP a[t + s]`
struct Update {
  const VarDecl *Array = nullptr;
  QualType Type;
  const BinaryOperator *Assign = nullptr;
  std::vector<const clang::Expr *> Own; ///< a[t] at the right.
  const clang::Expr *Other = nullptr;   ///< a[t + s]
  const clang::Expr *Thread = nullptr;  ///< t
  bool Rounds = false;
};
struct Tree {
  const ForStmt *Loop = nullptr;
  const VarDecl *Half = nullptr;
  int64_t Size = 0; ///< Of the block; 0: blockDim.
  std::vector<Update> Updates;
};
} // namespace

/// `s / 2`, `s >> 1`
static const clang::Expr *halved(Values &Vals, const clang::Expr *E) {
  const auto *B = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
  if (!B)
    return nullptr;
  const Poly By = Vals.form(B->getRHS());
  const bool Halves = (B->getOpcode() == BO_Div && By == Poly::constant(2)) ||
                      (B->getOpcode() == BO_Shr && By == Poly::constant(1));
  return Halves ? B->getLHS() : nullptr;
}

static bool isVariable(const clang::Expr *E, const VarDecl *Var) {
  return variableOf(E->IgnoreParenImpCasts()) == Var;
}

/// `for (T s = blockDim.x / 2; s > 0; s /= 2)`
static std::optional<Tree> asHalving(Values &Vals, const ForStmt &Loop) {
  Tree T;
  T.Loop = &Loop;
  const auto *Init = dyn_cast_or_null<DeclStmt>(Loop.getInit());
  T.Half = Init && Init->isSingleDecl()
               ? dyn_cast<VarDecl>(Init->getSingleDecl())
               : nullptr;
  if (!T.Half || !T.Half->getInit() || !Loop.getCond() || !Loop.getInc() ||
      !T.Half->getType()->isIntegerType() || Vals.writes(T.Half).size() != 1)
    return std::nullopt;
  const Poly First = Vals.form(T.Half->getInit());
  if (First.isConstant()) {
    T.Size = First.constantPart() * 2;
    if (T.Size < 64 || T.Size > 1024 || !llvm::isPowerOf2_64(T.Size))
      return std::nullopt;
  } else {
    const clang::Expr *Whole = halved(Vals, Vals.firstValue(T.Half->getInit()));
    if (!Whole || Vals.form(Whole) != Poly::atom({Atom::Kind::BlockSize, 0}))
      return std::nullopt;
  }
  const clang::Expr *Cond = Loop.getCond()->IgnoreParenImpCasts();
  if (const auto *B = dyn_cast<BinaryOperator>(Cond)) {
    const int64_t Least = B->getOpcode() == BO_GE ? 1 : 0;
    if ((B->getOpcode() != BO_GT && B->getOpcode() != BO_GE &&
         B->getOpcode() != BO_NE) ||
        !isVariable(B->getLHS(), T.Half) ||
        Vals.form(B->getRHS()) != Poly::constant(Least))
      return std::nullopt;
  } else if (!isVariable(Cond, T.Half)) {
    return std::nullopt;
  }
  const auto *Inc = dyn_cast<BinaryOperator>(Loop.getInc()->IgnoreParens());
  if (!Inc || !isVariable(Inc->getLHS(), T.Half))
    return std::nullopt;
  const Poly By = Vals.form(Inc->getRHS());
  const clang::Expr *Halved =
      Inc->getOpcode() == BO_Assign ? halved(Vals, Inc->getRHS()) : nullptr;
  const bool Halves =
      (Inc->getOpcode() == BO_DivAssign && By == Poly::constant(2)) ||
      (Inc->getOpcode() == BO_ShrAssign && By == Poly::constant(1)) ||
      (Halved && isVariable(Halved, T.Half));
  return Halves ? std::optional(T) : std::nullopt;
}

/// The shared array of numbers that \p E is an element of.
static const VarDecl *sharedArray(const ArraySubscriptExpr &E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E.getBase()->IgnoreParenImpCasts());
  const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return Var && Var->hasAttr<CUDASharedAttr>() && Var->getType()->isArrayType()
             ? Var
             : nullptr;
}

/// Is there a __shfl_down_sync for it?
static bool hasShuffle(QualType T) {
  const auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  if (!B || T.isVolatileQualified())
    return false;
  switch (B->getKind()) {
  case BuiltinType::Int:
  case BuiltinType::UInt:
  case BuiltinType::Long:
  case BuiltinType::ULong:
  case BuiltinType::LongLong:
  case BuiltinType::ULongLong:
  case BuiltinType::Float:
  case BuiltinType::Double:
    return true;
  default:
    return false;
  }
}

/// Takes operands in any order and grouping, up to rounding.
static bool isReduction(const BinaryOperator &Assign, bool &Rounds) {
  const clang::Expr *R = Assign.getRHS()->IgnoreParenImpCasts();
  BinaryOperatorKind K = Assign.getOpcode();
  if (K == BO_Assign) {
    if (const auto *Call = dyn_cast<CallExpr>(R))
      return isExtremum(*Call);
    const auto *B = dyn_cast<BinaryOperator>(R);
    if (!B)
      return false;
    K = B->getOpcode();
  } else {
    K = BinaryOperator::getOpForCompoundAssignment(K);
  }
  Rounds |= Assign.getType()->isFloatingType();
  return K == BO_Add || K == BO_Mul || K == BO_And || K == BO_Or || K == BO_Xor;
}

static std::optional<Update> asUpdate(Values &Vals, const Tree &T,
                                      const Stmt *S) {
  Update U;
  U.Assign = dyn_cast<BinaryOperator>(S);
  const auto *Left =
      U.Assign && U.Assign->isAssignmentOp()
          ? dyn_cast<ArraySubscriptExpr>(U.Assign->getLHS()->IgnoreParens())
          : nullptr;
  U.Array = Left ? sharedArray(*Left) : nullptr;
  const Poly Thread = Poly::atom({Atom::Kind::Thread, 0}),
             Half = Poly::atom({Atom::Kind::Value, 1, T.Half});
  if (!U.Array || !hasShuffle(Left->getType()) ||
      Vals.form(Left->getIdx()) != Thread || !isReduction(*U.Assign, U.Rounds))
    return std::nullopt;
  U.Type = Left->getType();
  U.Thread = Left->getIdx();
  // What is combined are the two elements, and nothing else.
  bool Fits = true;
  unsigned Numbers = 0;
  forEachExpr(U.Assign->getRHS(), [&](const clang::Expr *Part) {
    if (const auto *Element = dyn_cast<ArraySubscriptExpr>(Part)) {
      const Poly At = Vals.form(Element->getIdx());
      ++Numbers;
      if (sharedArray(*Element) != U.Array)
        Fits = false;
      else if (At == Thread)
        U.Own.push_back(Part);
      else if (At == Thread + Half && !U.Other)
        U.Other = Part;
      else
        Fits = false;
    }
  });
  const bool Compound = U.Assign->isCompoundAssignmentOp();
  if (!Fits || !U.Other || Numbers != (Compound ? 1 : 2) ||
      U.Own.size() != (Compound ? 0 : 1))
    return std::nullopt;
  // The operands themselves, not something made of them.
  if (Compound)
    return peel(U.Assign->getRHS()) == U.Other ? std::optional(U)
                                               : std::nullopt;
  const clang::Expr *R = U.Assign->getRHS()->IgnoreParenImpCasts();
  llvm::SmallVector<const clang::Expr *, 2> Operands;
  if (const auto *Call = dyn_cast<CallExpr>(R))
    Operands.assign(Call->arg_begin(), Call->arg_end());
  else if (const auto *B = dyn_cast<BinaryOperator>(R))
    Operands = {B->getLHS(), B->getRHS()};
  for (const clang::Expr *O : Operands) {
    O = peel(O);
    if (O != U.Other && O != U.Own.front())
      return std::nullopt;
  }
  return U;
}

/// The statements of \p S, which may be one.
static llvm::SmallVector<const Stmt *> statementsOf(const Stmt *S) {
  if (const auto *Block = dyn_cast_or_null<CompoundStmt>(S))
    return {Block->body_begin(), Block->body_end()};
  return {S};
}

static bool isBarrier(const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  return F && F->getIdentifier() && F->getName() == "__syncthreads";
}

static std::optional<Tree> asTree(Values &Vals, const Stmt *S) {
  const auto *Loop = dyn_cast<ForStmt>(S);
  if (!Loop)
    return std::nullopt;
  std::optional<Tree> T = asHalving(Vals, *Loop);
  llvm::SmallVector<const Stmt *> Body = statementsOf(Loop->getBody());
  if (!T || Body.size() != 2 || !isBarrier(Body[1]))
    return std::nullopt;
  const auto *If = dyn_cast<IfStmt>(Body[0]);
  const auto *Cond =
      If ? dyn_cast<BinaryOperator>(If->getCond()->IgnoreParenImpCasts())
         : nullptr;
  if (!Cond || If->getElse() || If->hasInitStorage() || If->hasVarStorage() ||
      Cond->getOpcode() != BO_LT ||
      Vals.form(Cond->getLHS()->IgnoreParenImpCasts()) !=
          Poly::atom({Atom::Kind::Thread, 0}) ||
      !isVariable(Cond->getRHS(), T->Half))
    return std::nullopt;
  for (const Stmt *Each : statementsOf(If->getThen())) {
    std::optional<Update> U = asUpdate(Vals, *T, Each);
    if (!U || llvm::any_of(T->Updates, [&](const Update &Before) {
          return Before.Array == U->Array;
        }))
      return std::nullopt;
    T->Updates.push_back(*U);
  }
  return T->Updates.empty() ? std::nullopt : T;
}

static void collectTrees(Values &Vals, const Stmt *S,
                         std::vector<Tree> &Trees) {
  if (!S)
    return;
  if (std::optional<Tree> T = asTree(Vals, S)) {
    Trees.push_back(std::move(*T));
    return;
  }
  for (const Stmt *Child : S->children())
    collectTrees(Vals, Child, Trees);
}

/// After a tree, the first element alone is what it was: a finding where
/// another one is read. Elements that a thread writes for itself are its own.
static llvm::Error checkUses(Values &Vals, llvm::ArrayRef<Tree> Trees) {
  const KernelView &V = Vals.V;
  std::string Why;
  forEachExpr(&V.Body, [&](const clang::Expr *Part) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    auto Reduces = [&](const Tree &T) {
      return llvm::any_of(T.Updates,
                          [&](const Update &U) { return U.Array == Var; });
    };
    if (!Var || llvm::none_of(Trees, Reduces))
      return;
    const Stmt *At = Ref;
    while (isa_and_nonnull<CastExpr, ParenExpr>(V.parent(At)))
      At = V.parent(At);
    const auto *Element = dyn_cast_or_null<ArraySubscriptExpr>(V.parent(At));
    for (const Stmt *P = Ref; P; P = V.parent(P))
      for (const Tree &T : Trees)
        if (P == T.Loop)
          return;
    const Stmt *Parent = Element ? V.parent(Element) : nullptr;
    const auto *Assign = dyn_cast_or_null<BinaryOperator>(Parent);
    const bool Stores =
        Element && Assign && Assign->getOpcode() == BO_Assign &&
        Assign->getLHS() == Element &&
        Vals.form(Element->getIdx()) == Poly::atom({Atom::Kind::Thread, 0});
    const bool First =
        Element && Vals.form(Element->getIdx()) == Poly::constant(0);
    if (!Stores && !First)
      Why = "'" + Var->getNameAsString() + "' is used at " +
            V.at(Ref->getBeginLoc()) + " as more than the reduced number";
  });
  return Why.empty() ? llvm::Error::success() : findingError(Why);
}

/// The combination of \p U, with \p Value for its own element and a shuffle of
/// it for the other.
static std::optional<std::string> combined(const KernelView &V, const Update &U,
                                           const std::string &Value,
                                           const std::string &Distance) {
  const std::string Other =
      "__shfl_down_sync(0xffffffffu, " + Value + ", " + Distance + ")";
  auto R = V.range(U.Assign->getRHS()->getSourceRange()),
       There = V.range(U.Other->getSourceRange());
  if (!R || !There)
    return std::nullopt;
  std::vector<Edit> Edits = {
      {There->first - R->first, There->second - R->first, Other}};
  for (const clang::Expr *Own : U.Own) {
    auto Here = V.range(Own->getSourceRange());
    if (!Here)
      return std::nullopt;
    Edits.push_back({Here->first - R->first, Here->second - R->first, Value});
  }
  std::string Text = V.text(R->first, R->second);
  if (!applyEdits(Text, std::move(Edits)))
    return std::nullopt;
  return Value + " " + U.Assign->getOpcodeStr().str() + " " + Text + ";";
}

static std::optional<std::string> shuffles(const KernelView &V, const Tree &T) {
  const std::string Step = V.freshName("step"),
                    Size = T.Size ? std::to_string(T.Size) + "u" : "blockDim.x";
  std::optional<std::string> Thread = V.text(*T.Updates.front().Thread);
  if (!Thread)
    return std::nullopt;
  const std::string Id = "(" + *Thread + ")";
  std::string Declare, Within, Store, Load, Across, Last;
  for (size_t I = 0; I < T.Updates.size(); ++I) {
    const Update &U = T.Updates[I];
    const std::string Value =
                          V.freshName("value") + (I ? std::to_string(I) : ""),
                      Array = U.Array->getNameAsString();
    std::optional<std::string> Combine = combined(V, U, Value, Step);
    if (!Combine)
      return std::nullopt;
    Declare += "  " + V.typeText(U.Type) + " " + Value + " = " + Array + "[" +
               Id + "];\n";
    Within += "    " + *Combine + "\n";
    Store += "    " + Array + "[" + Id + " / 32] = " + Value + ";\n";
    Load += "    " + Value + " = " + Array + "[" + Id + " & (" + Size +
            " / 32 - 1)];\n";
    Across += "      " + *Combine + "\n";
    Last += "      " + Array + "[0] = " + Value + ";\n";
  }
  const std::string Test = T.Size ? ""
                                  : "if (blockDim.x >= 32 && (blockDim.x & "
                                    "(blockDim.x - 1)) == 0) ";
  return Test + "{\n" + Declare + "#pragma unroll\n  for (unsigned int " +
         Step + " = 16; " + Step + " > 0; " + Step + " /= 2) {\n" + Within +
         "  }\n  __syncthreads();\n  if (" + Id + " % 32 == 0) {\n" + Store +
         "  }\n  __syncthreads();\n  if (" + Id + " < 32) {\n" + Load +
         "    for (unsigned int " + Step + " = " + Size + " / 64; " + Step +
         " > 0; " + Step + " /= 2) {\n" + Across +
         // All lanes have read the first element before it is written.
         "    }\n    __syncwarp();\n    if (" + Id + " == 0) {\n" + Last +
         "    }\n  }\n  __syncthreads();\n}";
}

llvm::Error applyWarpReduction(RewriteState &S, const Gene &G) {
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/7);
    std::vector<Tree> Trees;
    collectTrees(A.Vals, &V.Body, Trees);
    if (Trees.empty())
      return refuse(G, "no loop reduces an array of shared memory by halves");
    if (llvm::Error E = checkUses(A.Vals, Trees))
      return refuse(G, std::move(E));
    std::vector<Edit> Edits;
    for (const Tree &T : Trees) {
      if (S.K.Contract.K == PrecisionContract::Kind::Exact &&
          llvm::any_of(T.Updates, [](const Update &U) { return U.Rounds; }))
        return refuse(G, "sums of floating-point numbers in another order are "
                         "not exact");
      auto R = V.statementRange(*T.Loop);
      std::optional<std::string> Text = shuffles(V, T);
      if (!R || !Text || !isa_and_nonnull<CompoundStmt>(V.parent(T.Loop)))
        return refuse(G, "the loop at " + V.at(T.Loop->getBeginLoc()) +
                             " cannot be edited");
      if (T.Size)
        Edits.push_back({R->first, R->second, *Text});
      else
        Edits.push_back({R->first, R->first, *Text + " else "});
    }
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the loops cannot be edited");
    // Threads of other rows would take part in the warps.
    for (unsigned Dim : {1U, 2U})
      S.requireZero(S.launch().Block[Dim] - Expr::constant(1));
    for (const Tree &T : Trees)
      if (T.Size)
        S.requireZero(S.launch().Block[0] - Expr::constant(T.Size));
    return llvm::Error::success();
  });
}

} // namespace cupilot
