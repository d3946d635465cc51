//===- IndexUses.cpp - How a kernel uses thread and block indices -*- C++ -*-=//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexUses.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ExprCXX.h"
#include <functional>

using namespace clang;

namespace cupilot {

void forEachExpr(const Stmt *S,
                 llvm::function_ref<void(const clang::Expr *)> Use) {
  if (!S)
    return;
  if (const auto *E = dyn_cast<clang::Expr>(S)) {
    Use(E);
    if (launchVariable(E))
      return;
  }
  for (const Stmt *Child : S->children())
    forEachExpr(Child, Use);
}

IndexUses::IndexUses(Values &Vals, unsigned Mask) : Vals(Vals), Mask(Mask) {
  if (scan(&Vals.V.Body))
    Culprit = nullptr;
}

llvm::Error IndexUses::check() const {
  if (!Culprit)
    return llvm::Error::success();
  return findingError("thread or block indices are used other than as blockIdx "
                      "* blockDim + threadIdx (" +
                      Vals.V.at(Culprit->getBeginLoc()) + ")");
}

/// Does \p S hold launch variables of the dimensions, or parts of indices?
bool IndexUses::isRaw(const Stmt *S) {
  if (auto It = Raw.find(S); It != Raw.end())
    return It->second;
  bool Result = false;
  if (const auto *E = dyn_cast<clang::Expr>(S)) {
    if (std::optional<LaunchVariable> L = launchVariable(E))
      return Raw[S] = Mask & (1U << L->Dim);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl())) {
        const auto *Record = Var->getType()->getAsCXXRecordDecl();
        // threadIdx as a whole.
        Result = Parts.contains(Var) ||
                 (Record && Record->getIdentifier() &&
                  Record->getName().starts_with("__cuda_builtin_"));
      }
  }
  for (const Stmt *Child : S->children())
    Result |= Child && isRaw(Child);
  return Raw[S] = Result;
}

/// Are the values in \p P that are no polynomials, as `threadIdx.x / 32`,
/// functions of global indices, too?
bool IndexUses::valuesFit(const Poly &P) {
  for (const auto &[Factors, Times] : P.terms())
    for (const Atom &A : Factors) {
      if (A.K != Atom::Kind::Value || A.Index == 1)
        continue;
      size_t Before = Found.size();
      auto BlocksBefore = Blocks;
      const Stmt *CulpritBefore = Culprit;
      bool Fits = scan(static_cast<const clang::Expr *>(A.Node));
      Found.resize(Before);
      Blocks = BlocksBefore;
      Culprit = CulpritBefore;
      if (!Fits)
        return false;
    }
  return true;
}

bool IndexUses::scan(const Stmt *S) {
  if (!S)
    return true;
  if (const auto *Decls = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : Decls->decls()) {
      const auto *Var = dyn_cast<VarDecl>(D);
      if (!Var || !Var->getInit() || !isRaw(Var->getInit()))
        continue;
      size_t Before = Found.size();
      auto BlocksBefore = Blocks;
      if (scan(Var->getInit()))
        continue;
      Found.resize(Before);
      Blocks = BlocksBefore;
      // Part of an index, if its uses make it one.
      if (!Vals.isStable(Var) || !Var->getType()->isIntegerType() ||
          Vals.V.Ctx.getIntWidth(Var->getType()) < 32)
        return false;
      Parts.insert(Var);
      Raw.clear(); // What uses it was looked at before.
    }
    return true;
  }
  if (!isRaw(S))
    return true;
  size_t Before = Found.size();
  auto BlocksBefore = Blocks;
  bool Fine = true;
  bool IsLeaf = false;
  if (const auto *E = dyn_cast<clang::Expr>(S))
    IsLeaf = launchVariable(E) || isa<DeclRefExpr>(E);
  if (IsLeaf)
    Fine = false;
  else
    for (const Stmt *Child : S->children())
      Fine = scan(Child) && Fine;
  if (Fine)
    return true;
  if (const auto *E = dyn_cast<clang::Expr>(S);
      E && E->isPRValue() && E->getType()->isIntegerType()) {
    auto Tried = BlocksBefore;
    Poly P = Vals.form(E);
    if (std::optional<Poly> G = Values::toGlobal(P, Mask, Tried);
        G && !P.mentionsNode(E) && valuesFit(P)) {
      Found.resize(Before);
      Blocks = Tried;
      Found.push_back({E, std::move(*G)});
      return true;
    }
  }
  if (!Culprit || IsLeaf)
    Culprit = S;
  return false;
}

bool IndexUses::usesTotal(unsigned Dim) const {
  return llvm::any_of(
      Found, [&](const Use &U) { return U.P.uses(Atom::Kind::Total, Dim); });
}

bool IndexUses::usesGlobal(unsigned Dim) const {
  return llvm::any_of(
      Found, [&](const Use &U) { return U.P.uses(Atom::Kind::Global, Dim); });
}

std::optional<Poly> IndexUses::form(const clang::Expr *E) {
  auto Tried = Blocks;
  return Values::toGlobal(Vals.form(E), Mask, Tried);
}

bool IndexUses::isGlobalIndex(const clang::Expr *E, unsigned Dim) {
  std::optional<Poly> P = form(E);
  return P && *P == Poly::atom({Atom::Kind::Global, Dim});
}

bool IndexUses::dependsOnIndex(const clang::Expr *E, unsigned Of) const {
  bool Result = false;
  forEachExpr(E, [&](const clang::Expr *Part) {
    if (std::optional<LaunchVariable> L = launchVariable(Part))
      Result |=
          (Of & (1U << L->Dim)) && (L->K == LaunchVariable::Kind::Thread ||
                                    L->K == LaunchVariable::Kind::Block);
    else if (const auto *Ref = dyn_cast<DeclRefExpr>(Part);
             Ref && isa<BindingDecl>(Ref->getDecl()))
      Result = true;
    else if (const VarDecl *Var = variableOf(Part))
      Result |=
          isa<ParmVarDecl>(Var)
              ? !Vals.writes(Var).empty()
              : !Var->isConstexpr() &&
                    (!Vals.isStable(Var) || dependsOnIndex(Var->getInit(), Of));
  });
  return Result;
}

/// The terms of a sum, seen through casts and parentheses.
static void collectTerms(const clang::Expr *E,
                         llvm::SmallVectorImpl<const clang::Expr *> &Terms) {
  const clang::Expr *Inner = E->IgnoreParenCasts();
  const auto *Binary = dyn_cast<BinaryOperator>(Inner);
  if (Binary && Binary->getOpcode() == BO_Add) {
    collectTerms(Binary->getLHS(), Terms);
    collectTerms(Binary->getRHS(), Terms);
  } else {
    Terms.push_back(E);
  }
}

llvm::Error IndexUses::replaceUse(const Use &U, unsigned Dim,
                                  llvm::StringRef Name,
                                  std::vector<Edit> &Edits) {
  KernelView &V = Vals.V;
  auto Fail = [&] {
    return findingError("the index at " + V.at(U.E->getBeginLoc()) +
                        " cannot be edited");
  };
  auto CastTo = [&](const clang::Expr *E, llvm::StringRef What) {
    QualType T = E->getType().getCanonicalType().getUnqualifiedType();
    return T == V.Ctx.UnsignedIntTy
               ? What.str()
               : "static_cast<" + V.typeText(T) + ">(" + What.str() + ")";
  };
  if (isGlobalIndex(U.E, Dim)) {
    const clang::Expr *E = U.E->IgnoreParenImpCasts();
    auto R = V.range(E->getSourceRange());
    // A macro's text has parentheses around it.
    for (const Stmt *Outer = V.parent(E);
         !R && isa_and_nonnull<ParenExpr, ImplicitCastExpr>(Outer);
         Outer = V.parent(Outer))
      if (isa<ParenExpr>(Outer))
        R = V.range(Outer->getSourceRange());
    if (!R)
      return Fail();
    Edits.push_back({R->first, R->second, CastTo(E, Name)});
    return llvm::Error::success();
  }
  // A sum with more in it: the one term becomes the index, the other zero.
  llvm::SmallVector<const clang::Expr *, 4> Terms;
  collectTerms(U.E, Terms);
  const clang::Expr *Thread = nullptr, *Block = nullptr;
  for (const clang::Expr *T : Terms) {
    if (Vals.form(T) == Poly::atom({Atom::Kind::Thread, Dim}))
      Thread = T;
    else if (Vals.form(T).uses(Atom::Kind::Block, Dim))
      Block = T;
  }
  if (!Thread || !Block)
    return Fail();
  std::array<int64_t, 3> Tried = Blocks;
  std::optional<Poly> Pair =
      Values::toGlobal(Vals.form(Thread) + Vals.form(Block), 1U << Dim, Tried);
  auto ThreadRange = V.range(Thread->getSourceRange()),
       BlockRange = V.range(Block->getSourceRange());
  if (!Pair || *Pair != Poly::atom({Atom::Kind::Global, Dim}) || !ThreadRange ||
      !BlockRange)
    return Fail();
  Edits.push_back({BlockRange->first, BlockRange->second, CastTo(Block, Name)});
  Edits.push_back(
      {ThreadRange->first, ThreadRange->second, CastTo(Thread, "0u")});
  return llvm::Error::success();
}

llvm::Error IndexUses::replaceGlobal(unsigned Dim, llvm::StringRef Name,
                                     std::vector<Edit> &Edits) {
  for (const Use &U : Found)
    if (U.P.uses(Atom::Kind::Global, Dim))
      if (llvm::Error E = replaceUse(U, Dim, Name, Edits))
        return E;
  return llvm::Error::success();
}

std::optional<std::string> IndexUses::textAtHead(const clang::Expr *E,
                                                 unsigned Dim,
                                                 llvm::StringRef Name) {
  KernelView &V = Vals.V;
  auto Whole = V.range(E->getSourceRange());
  if (!Whole)
    return std::nullopt;
  std::vector<Edit> Edits;
  bool Failed = false;
  std::function<void(const Stmt *)> Visit = [&](const Stmt *S) {
    if (!S || Failed)
      return;
    if (const auto *Part = dyn_cast<clang::Expr>(S)) {
      for (const Use &U : Found)
        if (U.E == Part && U.P.uses(Atom::Kind::Global, Dim)) {
          if (llvm::Error Err = replaceUse(U, Dim, Name, Edits)) {
            llvm::consumeError(std::move(Err));
            Failed = true;
          }
          return;
        }
      if (std::optional<LaunchVariable> L = launchVariable(Part)) {
        Failed |= L->Dim == Dim && L->K != LaunchVariable::Kind::BlockSize &&
                  L->K != LaunchVariable::Kind::GridSize;
        return;
      }
      if (const auto *Ref = dyn_cast<DeclRefExpr>(Part)) {
        const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
        if (!Var) {
          Failed |= !isa<EnumConstantDecl, FunctionDecl>(Ref->getDecl());
          return;
        }
        if (isa<ParmVarDecl>(Var)) {
          Failed |= !Vals.isStable(Var);
          return;
        }
        if (!Var->isLocalVarDecl())
          return;
        auto R = V.range(Ref->getSourceRange());
        std::optional<std::string> Init;
        if (Vals.isStable(Var) && R)
          Init = textAtHead(Var->getInit(), Dim, Name);
        if (!Init) {
          Failed = true;
          return;
        }
        Edits.push_back(
            {R->first, R->second,
             "static_cast<" + V.typeText(Var->getType()) + ">(" + *Init + ")"});
        return;
      }
    }
    for (const Stmt *Child : S->children())
      Visit(Child);
  };
  Visit(E);
  if (Failed)
    return std::nullopt;
  std::optional<std::string> Text = V.text(*E);
  for (Edit &One : Edits) {
    if (One.Begin < Whole->first || One.End > Whole->second)
      return std::nullopt;
    One.Begin -= Whole->first;
    One.End -= Whole->first;
  }
  if (!Text || !applyEdits(*Text, std::move(Edits)))
    return std::nullopt;
  return Text;
}

llvm::Error IndexUses::replaceAssumedBlock(unsigned Dim,
                                           std::vector<Edit> &Edits) {
  if (Blocks[Dim] == 0)
    return llvm::Error::success();
  KernelView &V = Vals.V;
  const Poly Constant = Poly::constant(Blocks[Dim]);
  bool Failed = false;
  forEachExpr(&V.Body, [&](const clang::Expr *E) {
    const auto *Product = dyn_cast<BinaryOperator>(E);
    if (!Product || Product->getOpcode() != BO_Mul)
      return;
    for (auto [Index, Factor] :
         {std::pair(Product->getLHS(), Product->getRHS()),
          std::pair(Product->getRHS(), Product->getLHS())}) {
      Poly P = Vals.form(Index);
      if (Vals.form(Factor) != Constant ||
          (P != Poly::atom({Atom::Kind::Block, Dim}) &&
           P != Poly::atom({Atom::Kind::GridSize, Dim})))
        continue;
      const clang::Expr *Written = Factor->IgnoreParenImpCasts();
      auto R = V.range(Written->getSourceRange());
      if (!R) {
        Failed = true;
        continue;
      }
      Edits.push_back({R->first, R->second,
                       "static_cast<" + V.typeText(Written->getType()) +
                           ">(blockDim." + std::string(1, char('x' + Dim)) +
                           ")"});
    }
  });
  if (Failed)
    return findingError("the block size in the source cannot be edited");
  return llvm::Error::success();
}

} // namespace cupilot
