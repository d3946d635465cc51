//===- SharedTiling.cpp - shared_memory_tiling -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop in which every thread reads the same elements, 0 to n - 1 of an array,
// reads them from shared memory, where the block brought them tile by tile. The
// order of the arithmetic stays. All threads must come to the barriers, so the
// checks before the work no longer return: they say which threads are active.
//
//===----------------------------------------------------------------------===//

#include "Extents.h"
#include "LaunchRules.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace cupilot {

namespace {
/// `for (T j = 0; j < Count; ++j)`
struct TileLoop {
  const ForStmt *Loop = nullptr;
  const VarDecl *Var = nullptr;
  const clang::Expr *Count = nullptr;
  Expr CountExpr;
};
/// An array that is read with the loop's variable.
struct TileArray {
  PointerRef Pointer;
  std::vector<const clang::Expr *> Elements;   ///< p[j]
  std::vector<const clang::Expr *> Intrinsics; ///< __ldg(&p[j].x), or null.
  QualType Type;
  std::string Source;
};
} // namespace

static std::optional<TileLoop> asTileLoop(Analysis &A, const Stmt *S,
                                          std::vector<Constraint> &Needed) {
  TileLoop T;
  T.Loop = dyn_cast<ForStmt>(S);
  if (!T.Loop || !T.Loop->getInc() || !T.Loop->getCond())
    return std::nullopt;
  const auto *Init = dyn_cast_or_null<DeclStmt>(T.Loop->getInit());
  T.Var = Init && Init->isSingleDecl()
              ? dyn_cast<VarDecl>(Init->getSingleDecl())
              : nullptr;
  const auto *Inc =
      dyn_cast<clang::UnaryOperator>(T.Loop->getInc()->IgnoreParens());
  const auto *Cond = dyn_cast<clang::BinaryOperator>(peel(T.Loop->getCond()));
  if (!T.Var || !T.Var->getInit() || !T.Var->getType()->isIntegerType() ||
      A.Vals.V.Ctx.getIntWidth(T.Var->getType()) < 32 ||
      A.Vals.writes(T.Var).size() != 1 ||
      A.Vals.form(T.Var->getInit()) != Poly::constant(0) || !Inc ||
      !Inc->isIncrementOp() || variableOf(Inc->getSubExpr()) != T.Var ||
      !Cond || Cond->getOpcode() != BO_LT ||
      variableOf(Cond->getLHS()->IgnoreParenImpCasts()) != T.Var ||
      breaksOut(A.Vals.V, T.Loop->getBody(), /*CountContinue=*/true))
    return std::nullopt;
  T.Count = Cond->getRHS();
  std::optional<Expr> E = A.Vals.overArguments(T.Count, Needed);
  if (!E)
    return std::nullopt;
  T.CountExpr = *E;
  return T;
}

/// The element that \p LValue is, or is a member of.
static const clang::Expr *elementOf(const clang::Expr *LValue) {
  LValue = LValue->IgnoreParens();
  while (const auto *Member = dyn_cast<MemberExpr>(LValue)) {
    if (Member->isArrow())
      return nullptr;
    LValue = Member->getBase()->IgnoreParens();
  }
  return isa<ArraySubscriptExpr>(LValue) ? LValue : nullptr;
}

static bool isWithin(const KernelView &V, const Stmt *S, const Stmt *Outer) {
  for (; S; S = V.parent(S))
    if (S == Outer)
      return true;
  return false;
}

static std::optional<TileArray> asTileArray(Analysis &A, const Memory &M,
                                            const TileLoop &T,
                                            const PointerRef &Pointer) {
  KernelView &V = A.Vals.V;
  TileArray Array;
  Array.Pointer = Pointer;
  if (M.written(Pointer) ||
      !V.Fn.getParamDecl(Pointer.Param)->getType()->isPointerType())
    return std::nullopt;
  // In the new text the parameter's name must mean the parameter.
  const std::string Source =
      V.Fn.getParamDecl(Pointer.Param)->getNameAsString();
  if (V.hasLocal(Source))
    return std::nullopt;
  const Poly Index = Poly::atom({Atom::Kind::Value, 1, T.Var});
  bool Always = false;
  for (const Access *Each : M.through(Pointer)) {
    if (!isWithin(V, Each->Node, T.Loop->getBody()) || !Each->From.Index ||
        Each->hasAddress() || *Each->From.Index != Index)
      continue;
    const clang::Expr *Element = elementOf(Each->LValue);
    if (!Element || !V.range(Element->getSourceRange()))
      return std::nullopt;
    Array.Elements.push_back(Element);
    Array.Intrinsics.push_back(Each->hint() ? Each->Node : nullptr);
    Array.Type = Each->From.Element.getUnqualifiedType();
    Always |= isUnconditional(V, T.Loop->getBody(), Each->Node);
  }
  // What no thread reads need not be there.
  if (!Always || Array.Type.isVolatileQualified() ||
      !Array.Type.isTriviallyCopyableType(V.Ctx))
    return std::nullopt;
  if (const auto *R = Array.Type->getAsCXXRecordDecl();
      R && (!R->hasTrivialDefaultConstructor() || !R->hasTrivialDestructor()))
    return std::nullopt;
  Array.Source = Source;
  return Array;
}

/// Lets only active threads do what stands before and after the loop.
static llvm::Error guardWork(Analysis &A, const Stmt *Loop,
                             llvm::StringRef Active, std::vector<Edit> &Edits) {
  KernelView &V = A.Vals.V;
  auto Fail = [&](const Stmt *S) {
    return findingError("the statement at " + V.at(S->getBeginLoc()) +
                        " cannot be edited");
  };
  for (const Stmt *S : A.Checks.work()) {
    if (S == Loop || isHarmless(V, S))
      continue;
    if (const auto *Decls = dyn_cast<DeclStmt>(S)) {
      for (const Decl *D : Decls->decls()) {
        const auto *Var = dyn_cast<VarDecl>(D);
        if (!Var || !Var->hasLocalStorage() ||
            Var->getType()->isReferenceType() || Var->getType()->isArrayType())
          return Fail(S);
        const clang::Expr *Init = Var->getInit();
        if (!Init || isHarmless(V, Init))
          continue;
        auto R = V.range(Init->getSourceRange());
        if (!R || Var->getInitStyle() != VarDecl::CInit)
          return Fail(S);
        Edits.push_back({R->first, R->first, Active.str() + " ? ("});
        Edits.push_back({R->second, R->second,
                         ") : static_cast<" + V.typeText(Var->getType()) +
                             ">(" + V.typeText(Var->getType()) + "{})"});
      }
      continue;
    }
    auto R = V.statementRange(*S);
    if (!R)
      return Fail(S);
    Edits.push_back({R->first, R->first, "if (" + Active.str() + ") {\n"});
    Edits.push_back({R->second, R->second, "\n}"});
  }
  return llvm::Error::success();
}

/// Turns the checks into a variable that says whether they are passed.
static llvm::Expected<std::string> nameActive(Analysis &A,
                                              std::vector<Edit> &Edits) {
  KernelView &V = A.Vals.V;
  std::string Active;
  unsigned Count = 0;
  for (const Bounds::Check &C : A.Checks.checks()) {
    auto R = V.statementRange(*C.If);
    auto Then = V.range(C.If->getThen()->getSourceRange());
    std::optional<std::string> Cond = V.text(*C.If->getCond());
    if (!R || !Then || !Cond)
      return findingError("the check at " + V.at(C.If->getBeginLoc()) +
                          " cannot be edited");
    std::string Name =
        V.freshName("active") + (Count ? std::to_string(Count) : "");
    ++Count;
    Edits.push_back({R->first, C.Returns ? R->second : Then->first,
                     "const bool " + Name + " = " +
                         (Active.empty() ? "" : Active + " && ") +
                         (C.Returns ? "!(" : "(") + *Cond + ");\n"});
    Active = Name;
  }
  return Active;
}

/// Every block fills tiles, even one without an active thread: then another
/// block must have one, so that the memory is there. Says when thread (0, 0, 0)
/// of the grid is active; nothing when that is not known.
static bool someThreadIsActive(Analysis &A, std::vector<Constraint> &Needed) {
  for (unsigned Dim = 0; Dim < 3; ++Dim)
    if (A.Checks.otherCondition(Dim))
      return false;
  for (const Bounds::Check &C : A.Checks.checks())
    if (A.Checks.hasPlainCondition(C.If->getCond()))
      return false;
  for (const Bounds::Term &T : A.Checks.terms()) {
    std::optional<Expr> Limit = A.Vals.overArguments(T.Limit, Needed);
    if (!Limit)
      return false;
    Needed.push_back(
        {T.Inclusive ? *Limit : *Limit - Expr::constant(1), false});
  }
  return true;
}

llvm::Error applySharedTiling(RewriteState &S, const Gene &G) {
  int64_t Tile = valueOf(G, "tile");
  if (Tile < 1 || Tile > 4096)
    return refuse(G, "the tile must have 1 to 4096 elements");
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/7);
    if (llvm::Error E = A.Fx.checkNone(
            {Effect::Barrier, Effect::Warp, Effect::Shared, Effect::Atomic,
             Effect::AtomicOnly, Effect::Fence, Effect::GridWait,
             Effect::Assembly, Effect::SpecialRead, Effect::Unknown,
             Effect::Static, Effect::Jump, Effect::Lambda}))
      return refuse(G, std::move(E));
    if (llvm::Error E = checkRepeatedWork(V, A))
      return refuse(G, std::move(E));
    Memory M(A.Vals, A.Fx);
    Extents Ext(A.Vals, A.Checks);
    std::string Reason = "no loop of the work, from 0 to a bound over the "
                         "arguments, reads an array with its own variable";
    std::optional<TileLoop> T;
    std::vector<TileArray> Arrays;
    std::vector<Constraint> Needed;
    std::vector<Disjoint> Disjoints;
    uint64_t Bytes = 0;
    for (const Stmt *Each : A.Checks.work()) {
      Needed.clear();
      T = asTileLoop(A, Each, Needed);
      if (!T)
        continue;
      bool Extent = false;
      for (const PointerRef &Pointer : M.pointers()) {
        std::optional<TileArray> Array = asTileArray(A, M, *T, Pointer);
        if (!Array)
          continue;
        std::vector<Constraint> Here;
        std::vector<Disjoint> Apart;
        if (llvm::Error E = M.keepApart(Pointer, Ext, Apart, Here)) {
          Reason = llvm::toString(std::move(E));
          continue;
        }
        Extent |= !Apart.empty();
        if (Extent)
          llvm::append_range(Needed, Here);
        llvm::append_range(Disjoints, Apart);
        Bytes += Tile * V.Ctx.getTypeSizeInChars(Array->Type).getQuantity();
        Arrays.push_back(std::move(*Array));
      }
      if (!Arrays.empty())
        break;
    }
    if (Arrays.empty())
      return refuse(G, Reason);
    if (!someThreadIsActive(A, Needed))
      return refuse(G, "whether any thread passes the checks cannot be "
                       "determined from arguments and launch");
    if (Bytes > UnrequestedShared)
      return refuse(G, "the tile needs " + llvm::Twine(Bytes) +
                           " bytes of shared memory");

    std::vector<Edit> Edits;
    llvm::Expected<std::string> Active = nameActive(A, Edits);
    if (!Active)
      return refuse(G, Active.takeError());
    if (!Active->empty())
      if (llvm::Error E = guardWork(A, T->Loop, *Active, Edits))
        return refuse(G, std::move(E));
    auto Loop = V.statementRange(*T->Loop),
         Body = V.range(T->Loop->getBody()->getSourceRange());
    std::optional<std::string> Count = V.text(*T->Count);
    if (!Loop || !Body || !Count)
      return refuse(G, "the loop comes from a macro");
    std::string Type = V.typeText(T->Var->getType()),
                Start = V.freshName("start"), End = V.freshName("end"),
                Step = V.freshName("step"), Size = std::to_string(Tile),
                Var = T->Var->getNameAsString();
    std::string Head, Fill;
    for (size_t I = 0; I < Arrays.size(); ++I) {
      std::string Name = V.freshName("tile") + (I ? std::to_string(I) : "");
      Head += "__shared__ " + V.typeText(Arrays[I].Type) + " " + Name + "[" +
              Size + "];\n";
      Fill += "    " + Name + "[" + Step + "] = " + Arrays[I].Source + "[" +
              Start + " + " + Step + "];\n";
      for (size_t N = 0; N < Arrays[I].Elements.size(); ++N) {
        const clang::Expr *Element = Arrays[I].Elements[N];
        auto R = V.range(Element->getSourceRange());
        std::string New = Name + "[" + Var + " - " + Start + "]";
        if (const clang::Expr *Call = Arrays[I].Intrinsics[N]) {
          // __ldg(&(p[j].x)): only the member of the element remains.
          const clang::Expr *Loaded =
              hintedAccess(*cast<CallExpr>(Call))->LValue;
          auto Outer = V.range(Call->getSourceRange()),
               Inner = V.range(Loaded->getSourceRange());
          if (!Outer || !Inner || !R)
            return refuse(G, "an access comes from a macro");
          Edits.push_back(
              {Outer->first, Outer->second,
               New + S.Text.substr(R->second, Inner->second - R->second)});
        } else {
          Edits.push_back({R->first, R->second, New});
        }
      }
    }
    Head += "for (" + Type + " " + Start + " = 0; " + Start + " < (" + *Count +
            "); " + Start + " += " + Size +
            ") {\n  __syncthreads();\n  for (unsigned int " + Step +
            " = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * "
            "threadIdx.z); " +
            Step + " < " + Size + " && " + Start + " + static_cast<" + Type +
            ">(" + Step + ") < (" + *Count + "); " + Step +
            " += blockDim.x * blockDim.y * blockDim.z) {\n" + Fill +
            "  }\n  __syncthreads();\n  const " + Type + " " + End + " = (" +
            *Count + ") - " + Start + " < " + Size + " ? (" + *Count +
            ") : " + Start + " + " + Size + ";\n" +
            (Active->empty() ? "" : "  if (" + *Active + ")\n") + "  for (" +
            Type + " " + Var + " = " + Start + "; " + Var + " < " + End +
            "; ++" + Var + ") ";
    Edits.push_back({Loop->first, Body->first, Head});
    Edits.push_back({Loop->second, Loop->second, "\n}"});
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the loop cannot be edited");

    for (Constraint &C : Needed)
      S.require(std::move(C));
    for (Disjoint &D : Disjoints)
      S.require(std::move(D));
    // The tiles' first index must not overflow, nor the block's shared memory.
    S.requireAtLeast(Expr::constant(INT32_MAX - 2 * Tile), T->CountExpr);
    S.requireAtLeast(Expr::constant(UnrequestedShared - Bytes),
                     S.launch().Shared);
    return llvm::Error::success();
  });
}

} // namespace cupilot
