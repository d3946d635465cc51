//===- Extents.cpp - How far a kernel reaches into its buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extents.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/ScopeExit.h"

using namespace clang;

namespace cupilot {

/// Turns indices of those dimensions where that is possible to Global, Total.
static Poly globalWherePossible(Poly P) {
  for (unsigned D = 0; D < 3; ++D) {
    std::array<int64_t, 3> Blocks{-1, -1, -1}; // No constants for blockDim.
    if (std::optional<Poly> G = Values::toGlobal(P, 1U << D, Blocks))
      P = *G;
  }
  return P;
}

Extents::Limits Extents::limitsOf(const Atom &A, const Stmt *At,
                                  std::vector<Constraint> &Needed) {
  auto MinusOne = [](const Poly &P) { return P - Poly::constant(1); };
  auto SizeOf = [&](Atom::Kind K) { return Poly::atom({K, A.Index}); };
  switch (A.K) {
  case Atom::Kind::Thread:
    return {MinusOne(SizeOf(Atom::Kind::BlockSize)), true, false};
  case Atom::Kind::Block:
    return {MinusOne(SizeOf(Atom::Kind::GridSize)), true, false};
  case Atom::Kind::BlockSize:
  case Atom::Kind::GridSize:
  case Atom::Kind::Total:
    return {Poly::atom(A), true, true};
  case Atom::Kind::Symbol:
    Needed.push_back({Expr::symbol(A.Index), false});
    return {Poly::atom(A), true, true};
  case Atom::Kind::Global: {
    for (const Bounds::Term &T : Checks.terms()) {
      std::vector<Constraint> Here;
      Poly Limit = Vals.form(T.Limit);
      if (T.Dim != A.Index || !Limit.toExpr(Vals.S) ||
          !Vals.overArguments(T.Limit, Here))
        continue;
      Needed.insert(Needed.end(), Here.begin(), Here.end());
      return {T.Inclusive ? Limit : MinusOne(Limit), true, false};
    }
    return {MinusOne(SizeOf(Atom::Kind::Total)), true, false};
  }
  case Atom::Kind::Value:
    return A.Index == 1
               ? limitsOfLoop(static_cast<const VarDecl *>(A.Node), At, Needed)
               : limitsOfExpr(static_cast<const clang::Expr *>(A.Node), At,
                              Needed);
  }
  return {};
}

/// What a type alone says.
static std::optional<int64_t> largestOfNarrow(const ASTContext &Ctx,
                                              QualType T) {
  if (!T->isUnsignedIntegerOrEnumerationType() || Ctx.getIntWidth(T) > 16)
    return std::nullopt;
  return (int64_t(1) << Ctx.getIntWidth(T)) - 1;
}

/// Q, where P is Q * Factor and Factor has one term.
static std::optional<Poly> divide(const Poly &P, const Poly &Factor) {
  if (Factor.terms().size() != 1)
    return std::nullopt;
  const auto &[FM, FC] = *Factor.terms().begin();
  Poly Q;
  for (const auto &[M, C] : P.terms()) {
    Poly::Monomial Rest;
    if (C % FC != 0 || !llvm::includes(M, FM))
      return std::nullopt;
    std::set_difference(M.begin(), M.end(), FM.begin(), FM.end(),
                        std::back_inserter(Rest));
    Q.add(Rest, C / FC);
  }
  return Q;
}

static llvm::StringRef systemCallee(const KernelView &V, const CallExpr &Call) {
  const FunctionDecl *F = Call.getDirectCallee();
  if (!F || !F->getIdentifier() ||
      (F->getLocation().isValid() && !V.SM.isInSystemHeader(F->getLocation())))
    return "";
  return F->getName();
}

Extents::Limits Extents::limitsOfExpr(const clang::Expr *E, const Stmt *At,
                                      std::vector<Constraint> &Needed) {
  E = E->IgnoreParens();
  Limits L;
  if (auto Most = largestOfNarrow(Vals.V.Ctx, E->getType()))
    return {Poly::constant(*Most), true, false};
  if (const auto *Cast = dyn_cast<CastExpr>(E);
      Cast && Cast->getCastKind() == CK_IntegralCast) {
    if (auto Most = largestOfNarrow(Vals.V.Ctx, Cast->getSubExpr()->getType()))
      return {Poly::constant(*Most), true, false};
    return L;
  }
  if (const clang::Expr *Inner = peel(E); Inner != E)
    return limitsOfExpr(Inner, At, Needed);
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    Poly A = Vals.form(Binary->getLHS()), B = Vals.form(Binary->getRHS());
    switch (Binary->getOpcode()) {
    case BO_Rem:
      L.NotNegative = notNegative(A, At, Needed);
      if (std::optional<Poly> High = upper(B, At, Needed))
        L.High = *High - Poly::constant(1);
      return L;
    case BO_Div: {
      L.NotNegative = notNegative(A, At, Needed) && notNegative(B, At, Needed);
      L.High = upper(A, At, Needed);
      if (L.High && B.toExpr(Vals.S))
        if (std::optional<Poly> Q = divide(*L.High + Poly::constant(1), B))
          L.High = *Q - Poly::constant(1);
      return L;
    }
    case BO_And:
      for (const Poly &Side : {A, B})
        if (Side.isConstant() && Side.constantPart() >= 0)
          return {Poly::constant(Side.constantPart()), true, false};
      return L;
    case BO_Shr:
      L.NotNegative = notNegative(A, At, Needed);
      L.High = upper(A, At, Needed);
      return L;
    default:
      return L;
    }
  }
  if (const auto *Call = dyn_cast<CallExpr>(E);
      Call && Call->getNumArgs() == 2) {
    llvm::StringRef Name = systemCallee(Vals.V, *Call);
    if (Name != "min" && Name != "max" && Name != "umin" && Name != "umax")
      return L;
    Poly A = Vals.form(Call->getArg(0)), B = Vals.form(Call->getArg(1));
    std::vector<Constraint> ForA, ForB;
    std::optional<Poly> HighA = upper(A, At, ForA), HighB = upper(B, At, ForB);
    if (Name.ends_with("min")) {
      // One bound is enough; that of the arguments is the better one.
      bool TakeA = HighA && (!HighB || A.toExpr(Vals.S));
      llvm::append_range(Needed, TakeA ? ForA : ForB);
      L.High = TakeA ? HighA : HighB;
      L.NotNegative = notNegative(A, At, Needed) && notNegative(B, At, Needed);
      return L;
    }
    if (!A.isConstant())
      std::swap(A, B), std::swap(HighA, HighB), std::swap(ForA, ForB);
    if (!A.isConstant() || A.constantPart() < 0)
      return L;
    L.NotNegative = true;
    if (!HighB)
      return L;
    std::optional<Expr> Rest = (*HighB - A).toExpr(Vals.S);
    if (!Rest)
      return L;
    llvm::append_range(Needed, ForB);
    Needed.push_back({*Rest, false});
    L.High = HighB;
    return L;
  }
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
    Poly A = Vals.form(Choice->getTrueExpr()),
         B = Vals.form(Choice->getFalseExpr());
    L.NotNegative = notNegative(A, At, Needed) && notNegative(B, At, Needed);
    std::optional<Poly> HighA = upper(A, At, Needed),
                        HighB = upper(B, At, Needed);
    if (HighA && HighB && (*HighA - *HighB).isConstant())
      L.High = (*HighA - *HighB).constantPart() > 0 ? HighA : HighB;
    return L;
  }
  return L;
}

Extents::Limits Extents::limitsOfLoop(const VarDecl *Var, const Stmt *At,
                                      std::vector<Constraint> &Needed) {
  if (auto Most = largestOfNarrow(Vals.V.Ctx, Var->getType()))
    return {Poly::constant(*Most), true, false};
  if (Vals.writes(Var).size() != 1 || !Var->getInit())
    return {};
  // The loop around the access that declares the variable.
  const ForStmt *Loop = nullptr;
  for (const Stmt *Child = At; Child; Child = Vals.V.parent(Child))
    if (const auto *For = dyn_cast_or_null<ForStmt>(Vals.V.parent(Child)))
      if (const auto *Init = dyn_cast_or_null<DeclStmt>(For->getInit());
          Init && llvm::any_of(Init->decls(),
                               [&](const Decl *D) { return D == Var; })) {
        if (For->getBody() == Child)
          Loop = For;
        break;
      }
  if (!Loop || !Loop->getInc() || !Loop->getCond())
    return {};
  // It steps up.
  const clang::Expr *Inc = Loop->getInc()->IgnoreParens();
  if (const auto *Unary = dyn_cast<UnaryOperator>(Inc)) {
    if (!Unary->isIncrementOp() || variableOf(Unary->getSubExpr()) != Var)
      return {};
  } else {
    const auto *Assign = dyn_cast<BinaryOperator>(Inc);
    if (!Assign || Assign->getOpcode() != BO_AddAssign ||
        variableOf(Assign->getLHS()) != Var ||
        !notNegative(Vals.form(Assign->getRHS()), At, Needed))
      return {};
  }
  const auto *Cond = dyn_cast<BinaryOperator>(peel(Loop->getCond()));
  if (!Cond || !Cond->isRelationalOp())
    return {};
  for (bool Swap : {false, true}) {
    const clang::Expr *Index = Swap ? Cond->getRHS() : Cond->getLHS(),
                      *Limit = Swap ? Cond->getLHS() : Cond->getRHS();
    BinaryOperatorKind K =
        Swap ? BinaryOperator::reverseComparisonOp(Cond->getOpcode())
             : Cond->getOpcode();
    if (variableOf(Index->IgnoreParenImpCasts()) != Var ||
        (K != BO_LT && K != BO_LE))
      continue;
    Poly P = Vals.form(Limit);
    std::vector<Constraint> Exact;
    // An unsigned comparison sees a negative limit as a large one.
    if (Vals.overArguments(Limit, Exact))
      llvm::append_range(Needed, Exact);
    else if (!Index->getType()->isSignedIntegerType() &&
             !notNegative(P, At, Needed))
      return {};
    Limits L;
    L.High = upper(P, At, Needed);
    if (L.High && K == BO_LT)
      L.High = *L.High - Poly::constant(1);
    L.NotNegative = notNegative(Vals.form(Var->getInit()), At, Needed);
    return L;
  }
  return {};
}

std::optional<Poly> Extents::upper(const Poly &Given, const Stmt *At,
                                   std::vector<Constraint> &Needed) {
  if (!Given.valid() || Depth > 8)
    return std::nullopt;
  ++Depth;
  llvm::scope_exit Leave([&] { --Depth; });
  Poly P = globalWherePossible(Given), Sum;
  for (const auto &[M, C] : P.terms()) {
    Poly Product = Poly::constant(C);
    bool Exact = true;
    for (const Atom &A : M) {
      Limits L = limitsOf(A, At, Needed);
      if (!L.NotNegative || (C > 0 && !L.High))
        return std::nullopt;
      Exact &= L.Exact;
      if (L.High)
        Product = Product * *L.High;
    }
    // What is subtracted may be nothing.
    if (C > 0 || Exact)
      Sum = Sum + Product;
  }
  if (!Sum.valid())
    return std::nullopt;
  return Sum;
}

bool Extents::notNegative(const Poly &Given, const Stmt *At,
                          std::vector<Constraint> &Needed) {
  if (!Given.valid() || Depth > 8)
    return false;
  ++Depth;
  llvm::scope_exit Leave([&] { --Depth; });
  Poly P = globalWherePossible(Given), Least;
  for (const auto &[M, C] : P.terms()) {
    Poly Product = Poly::constant(C);
    bool Exact = true;
    for (const Atom &A : M) {
      Limits L = limitsOf(A, At, Needed);
      if (!L.NotNegative || (C < 0 && !L.High))
        return false;
      Exact &= L.Exact;
      if (L.High)
        Product = Product * *L.High;
    }
    if (C < 0 || Exact)
      Least = Least + Product;
  }
  if (!Least.valid())
    return false;
  if (Least.isConstant())
    return Least.constantPart() >= 0;
  // Sums of sizes are no surprise; what is subtracted must be checked.
  if (llvm::all_of(Least.terms(), [](const auto &T) { return T.second > 0; }))
    return true;
  std::optional<Expr> E = Least.toExpr(Vals.S);
  if (E)
    Needed.push_back({*E, false});
  return E.has_value();
}

std::optional<std::vector<Expr>>
Extents::bytes(const Memory &M, const PointerRef &Pointer,
               std::vector<Constraint> &Needed) {
  std::vector<Expr> Result;
  for (const Access *A : M.through(Pointer)) {
    if (!A->From.Index || A->From.Element.isNull() ||
        A->From.Element->isIncompleteType())
      return std::nullopt;
    std::optional<Poly> High = upper(*A->From.Index, A->Node, Needed);
    if (!High || !notNegative(*A->From.Index, A->Node, Needed))
      return std::nullopt;
    uint64_t Size =
        Vals.V.Ctx.getTypeSizeInChars(A->From.Element).getQuantity();
    std::optional<Expr> Last = High->toExpr(Vals.S);
    if (!Last)
      return std::nullopt;
    // The kernel's own index, of 32 bits perhaps, must not overflow.
    Needed.push_back({Expr::constant(INT32_MAX) - *Last, false});
    std::optional<Expr> E =
        ((*High + Poly::constant(1)) * Poly::constant(Size)).toExpr(Vals.S);
    if (!E)
      return std::nullopt;
    if (!llvm::is_contained(Result, *E))
      Result.push_back(*E);
  }
  return Result;
}

llvm::Error Memory::keepApart(
    const PointerRef &Pointer, Extents &Ext, std::vector<Disjoint> &Disjoints,
    std::vector<Constraint> &Needed,
    llvm::function_ref<bool(const PointerRef &)> MayBeSame) const {
  bool Writes = written(Pointer);
  for (const Access &A : All) {
    if (!(A.writes() || Writes) || isRestrict(Pointer))
      continue;
    if (A.From.K == Origin::Kind::Unknown)
      return findingError(
          "memory behind a pointer that is not an argument may overlap " +
          name(Pointer));
    if (A.From.K == Origin::Kind::Variable)
      return findingError("a device variable may overlap " + name(Pointer));
  }
  for (const PointerRef &Other : pointers()) {
    if (Other == Pointer || !(written(Other) || Writes) ||
        isRestrict(Pointer) || isRestrict(Other) || MayBeSame(Other))
      continue;
    std::optional<std::vector<Expr>> Mine = Ext.bytes(*this, Pointer, Needed),
                                     Theirs = Ext.bytes(*this, Other, Needed);
    if (!Mine || !Theirs)
      return findingError(
          name(Pointer) + " and " + name(Other) +
          " may overlap: neither is __restrict__, and how far " +
          name(Mine ? Other : Pointer) +
          " is accessed cannot be determined from arguments and launch");
    for (const Expr &A : *Mine)
      for (const Expr &B : *Theirs)
        Disjoints.push_back({Pointer, Other, A, B});
  }
  return llvm::Error::success();
}

} // namespace cupilot
