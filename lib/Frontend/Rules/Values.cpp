//===- Values.cpp - What the integers of a kernel are -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecordLayout.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace cupilot {

namespace {
class References : public RecursiveASTVisitor<References> {
public:
  explicit References(
      llvm::function_ref<void(const VarDecl *, const DeclRefExpr *)> Note)
      : Note(Note) {}
  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (const auto *Var = dyn_cast<VarDecl>(E->getDecl()))
      Note(Var, E);
    return true;
  }

private:
  llvm::function_ref<void(const VarDecl *, const DeclRefExpr *)> Note;
};
} // namespace

/// True when the object that \p E names is only read there.
static bool isRead(const KernelView &V, const clang::Expr *E) {
  const Stmt *Child = E;
  while (const Stmt *Parent = V.parent(Child)) {
    if (isa<UnaryExprOrTypeTraitExpr>(Parent))
      return true;
    if (const auto *Cast = dyn_cast<CastExpr>(Parent)) {
      if (Cast->getCastKind() == CK_LValueToRValue)
        return true;
      if (Cast->getCastKind() == CK_NoOp)
        return Cast->getType().isConstQualified();
      if (Cast->getCastKind() != CK_ArrayToPointerDecay)
        return false;
    } else if (const auto *Member = dyn_cast<MemberExpr>(Parent)) {
      if (Member->isArrow())
        return false;
    } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(Parent)) {
      if (Subscript->getBase() != Child)
        return false;
    } else if (const auto *Copy = dyn_cast<CXXConstructExpr>(Parent)) {
      // An argument by value.
      return Copy->getConstructor()->isCopyOrMoveConstructor() &&
             Copy->getConstructor()->isTrivial();
    } else if (!isa<ParenExpr>(Parent)) {
      return false;
    }
    Child = Parent;
  }
  return false;
}

Values::Values(KernelView &V, const RewriteState &S) : V(V), S(S) {
  auto Note = [&](const VarDecl *Var, const DeclRefExpr *E) {
    if (!isRead(V, E))
      Written[Var].push_back(E);
  };
  References Finder(Note);
  Finder.TraverseStmt(const_cast<CompoundStmt *>(&V.Body));
}

llvm::ArrayRef<const DeclRefExpr *> Values::writes(const VarDecl *D) const {
  auto It = Written.find(D);
  if (It == Written.end())
    return {};
  return It->second;
}

bool Values::isStable(const VarDecl *D) const {
  if (!D || !writes(D).empty() || D->getType()->isReferenceType() ||
      D->getType().isVolatileQualified())
    return false;
  if (isa<ParmVarDecl>(D))
    return D->getDeclContext() == &V.Fn;
  return D->hasLocalStorage() && D->getInit();
}

const clang::Expr *Values::firstValue(const clang::Expr *E) const {
  E = E->IgnoreParenImpCasts();
  const VarDecl *Var = variableOf(E);
  return Var && !isa<ParmVarDecl>(Var) && isStable(Var)
             ? firstValue(Var->getInit())
             : E;
}

std::optional<unsigned> Values::symbolOf(const clang::Expr *E) const {
  E = peel(E);
  CharUnits Offset = CharUnits::Zero();
  while (const auto *Member = dyn_cast<MemberExpr>(E)) {
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    if (!Field || Member->isArrow() || Field->isBitField())
      return std::nullopt;
    Offset += V.Ctx.toCharUnitsFromBits(V.Ctx.getFieldOffset(Field));
    E = Member->getBase()->IgnoreParens();
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *Param = Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
  if (!Param || !isStable(Param))
    return std::nullopt;
  for (auto [Index, Scalar] : llvm::enumerate(S.K.Scalars))
    if (Scalar.Param == Param->getFunctionScopeIndex() &&
        Scalar.Offset == Offset.getQuantity())
      return Index;
  return std::nullopt;
}

/// One of the parts of a global index, or of several of them.
static bool isIndexPart(const Poly &P) {
  return llvm::all_of(P.terms(), [](const auto &Term) {
    const auto &[M, C] = Term;
    if (C < 0)
      return false;
    if (M.size() == 1)
      // A constant in the place of blockDim is a factor.
      return C <= 1024 && M[0].K <= Atom::Kind::GridSize;
    return M.size() == 2 && M[1].K == Atom::Kind::BlockSize && C == 1 &&
           M[0].Index == M[1].Index &&
           (M[0].K == Atom::Kind::Block || M[0].K == Atom::Kind::GridSize);
  });
}

Poly Values::form(const clang::Expr *E) {
  E = E->IgnoreParens();
  if (auto It = Forms.find(E); It != Forms.end())
    return It->second;
  Poly P = compute(E);
  Forms[E] = P;
  return P;
}

Poly Values::compute(const clang::Expr *E) {
  Poly Unknown = Poly::atom({Atom::Kind::Value, 0, E});
  if (!E->getType()->isIntegerType())
    return Unknown;
  clang::Expr::EvalResult Result;
  if (!E->isValueDependent() && E->EvaluateAsInt(Result, V.Ctx) &&
      Result.Val.getInt().isRepresentableByInt64())
    return Poly::constant(Result.Val.getInt().getExtValue());
  if (std::optional<LaunchVariable> L = launchVariable(E)) {
    static const Atom::Kind Kinds[] = {Atom::Kind::Thread, Atom::Kind::Block,
                                       Atom::Kind::BlockSize,
                                       Atom::Kind::GridSize};
    return Poly::atom({Kinds[static_cast<int>(L->K)], L->Dim});
  }
  if (std::optional<unsigned> Symbol = symbolOf(E))
    return Poly::atom({Atom::Kind::Symbol, *Symbol});
  if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    CastKind Kind = Cast->getCastKind();
    const clang::Expr *Sub = Cast->getSubExpr();
    if (Kind == CK_LValueToRValue || Kind == CK_NoOp)
      return form(Sub);
    if (Kind != CK_IntegralCast)
      return Unknown;
    Poly P = form(Sub);
    uint64_t From = V.Ctx.getIntWidth(Sub->getType()),
             To = V.Ctx.getIntWidth(E->getType());
    bool Keeps = From == To ||
                 (From < To && Sub->getType()->isSignedIntegerType()) ||
                 (To >= 32 && isIndexPart(P)) ||
                 (From < To && (P.isConstant() || symbolOf(Sub)));
    return Keeps ? P : Unknown;
  }
  if (const VarDecl *Var = variableOf(E)) {
    if (isStable(Var) && !isa<ParmVarDecl>(Var) &&
        V.Ctx.getIntWidth(Var->getType()) >= 32)
      return form(Var->getInit());
    return Poly::atom({Atom::Kind::Value, 1, Var});
  }
  if (const auto *Unary = dyn_cast<clang::UnaryOperator>(E)) {
    if (Unary->getOpcode() == UO_Minus)
      return Poly::constant(0) - form(Unary->getSubExpr());
    if (Unary->getOpcode() == UO_Plus)
      return form(Unary->getSubExpr());
    return Unknown;
  }
  if (const clang::Expr *Inner = peel(E); Inner != E)
    return form(Inner);
  const auto *Binary = dyn_cast<clang::BinaryOperator>(E);
  if (!Binary)
    return Unknown;
  Poly L = form(Binary->getLHS()), R = form(Binary->getRHS());
  Poly P = Unknown;
  if (Binary->getOpcode() == BO_Add)
    P = L + R;
  else if (Binary->getOpcode() == BO_Sub)
    P = L - R;
  else if (Binary->getOpcode() == BO_Mul)
    P = L * R;
  else if (Binary->getOpcode() == BO_Shl && R.isConstant() &&
           R.constantPart() >= 0 && R.constantPart() < 31)
    P = L * Poly::constant(int64_t(1) << R.constantPart());
  return P.valid() ? P : Unknown;
}

std::optional<Poly> Values::toGlobal(const Poly &P, unsigned Mask,
                                     std::array<int64_t, 3> &Blocks) {
  Poly Result;
  Poly Rest = P;
  for (unsigned D = 0; D < 3; ++D) {
    if (!(Mask & (1U << D)))
      continue;
    const Atom Thread{Atom::Kind::Thread, D}, Block{Atom::Kind::Block, D},
        Size{Atom::Kind::BlockSize, D}, Grid{Atom::Kind::GridSize, D};
    // Takes Coefficient * First * blockDim * Others away, or the same with a
    // constant instead of blockDim.
    auto TakeProduct = [&](const Atom &First, const Poly::Monomial &Others,
                           int64_t Coefficient) {
      Poly::Monomial Plain = Others;
      Plain.push_back(First);
      llvm::sort(Plain);
      Poly::Monomial Full = Plain;
      Full.push_back(Size);
      llvm::sort(Full);
      auto It = Rest.terms().find(Full);
      if (It != Rest.terms().end() && It->second == Coefficient) {
        Rest.add(Full, -Coefficient);
        return true;
      }
      It = Rest.terms().find(Plain);
      if (It == Rest.terms().end() || It->second % Coefficient != 0)
        return false;
      int64_t Constant = It->second / Coefficient;
      if (Constant < 1 || Constant > 1024 ||
          (Blocks[D] != 0 && Blocks[D] != Constant))
        return false;
      Blocks[D] = Constant;
      Rest.add(Plain, -It->second);
      return true;
    };
    std::vector<std::pair<Poly::Monomial, int64_t>> Terms(Rest.terms().begin(),
                                                          Rest.terms().end());
    for (const auto &[M, C] : Terms)
      if (llvm::count(M, Thread) == 1) {
        Poly::Monomial Others = M;
        Others.erase(llvm::find(Others, Thread));
        Rest.add(M, -C);
        if (!TakeProduct(Block, Others, C))
          return std::nullopt;
        Others.push_back({Atom::Kind::Global, D});
        llvm::sort(Others);
        Result.add(Others, C);
      }
    Terms.assign(Rest.terms().begin(), Rest.terms().end());
    for (const auto &[M, C] : Terms)
      if (llvm::count(M, Grid) == 1 && llvm::count(M, Size) == 1) {
        Poly::Monomial Others = M;
        Others.erase(llvm::find(Others, Grid));
        Others.erase(llvm::find(Others, Size));
        Rest.add(M, -C);
        Others.push_back({Atom::Kind::Total, D});
        llvm::sort(Others);
        Result.add(Others, C);
      }
    for (Atom::Kind K : {Atom::Kind::Thread, Atom::Kind::Block,
                         Atom::Kind::BlockSize, Atom::Kind::GridSize})
      if (Rest.uses(K, D))
        return std::nullopt;
  }
  Poly Sum = Result + Rest;
  if (!Sum.valid())
    return std::nullopt;
  return Sum;
}

} // namespace cupilot
