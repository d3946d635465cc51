//===- VectorizedLoops.cpp - Wide accesses in loops over rows -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group of threads shares the elements of a row: the thread of rank r takes
// r, r + size, r + 2 * size, ... Now it takes the Width elements from Width * r
// on, then those from Width * (r + size) on. Each element still has one thread,
// but another one. So a loop may only do what is the same for all of them: its
// own element of what it writes, and sums and the like, which the group joins.
// All such loops of a kernel are changed in the same way.
//
//===----------------------------------------------------------------------===//

#include "VectorizedLoops.h"
#include "Extents.h"
#include "LaunchRules.h"
#include "WideAccess.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include <set>

using namespace clang;

namespace cupilot {

namespace {
/// Whose ranks a loop begins at.
struct Group {
  enum class Kind { Block, Lanes, Tile, Grid };
  Kind K = Kind::Block;
  unsigned Dim = 0; ///< Of Block.
  int64_t Size = 0; ///< Of Lanes and Tile; 0: the block is the tile. Of Block:
                    ///< what the text takes its size to be, or 0.
  const VarDecl *Tile = nullptr; ///< The cooperative group.
  bool operator==(const Group &) const = default;
};

/// `for (T i = rank; i < Count; i += size)`
struct RowLoop {
  const ForStmt *Loop = nullptr;
  const VarDecl *Var = nullptr;
  const clang::Expr *Begin = nullptr, *Count = nullptr, *Step = nullptr;
  Group Of;
};
} // namespace

/// The cooperative group that \p E asks for \p Names.
static const VarDecl *groupOf(const Values &Vals, const clang::Expr *E,
                              llvm::ArrayRef<llvm::StringRef> Names) {
  // A tile's are static: calls of them are no CXXMemberCallExpr.
  const auto *Call = dyn_cast<CallExpr>(Vals.firstValue(E));
  const auto *Member =
      Call ? dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParenImpCasts())
           : nullptr;
  const auto *Method =
      Member ? dyn_cast<CXXMethodDecl>(Member->getMemberDecl()) : nullptr;
  if (!Method || !Method->getIdentifier() || Call->getNumArgs() != 0 ||
      !llvm::is_contained(Names, Method->getName()) ||
      !llvm::StringRef(Method->getQualifiedNameAsString())
           .starts_with("cooperative_groups::"))
    return nullptr;
  const auto *Ref =
      dyn_cast<DeclRefExpr>(Member->getBase()->IgnoreParenImpCasts());
  const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return Var && Var->hasLocalStorage() ? Var : nullptr;
}

/// The threads of a tile; 0 for a whole block; nothing for other groups.
static std::optional<int64_t> tileSize(const VarDecl &Tile) {
  const CXXRecordDecl *R =
      Tile.getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (!R || !R->getIdentifier())
    return std::nullopt;
  if (R->getName() == "thread_block")
    return 0;
  const auto *Instance = dyn_cast<ClassTemplateSpecializationDecl>(R);
  if (R->getName() != "thread_block_tile" || !Instance ||
      Instance->getTemplateArgs().size() == 0 ||
      Instance->getTemplateArgs()[0].getKind() != TemplateArgument::Integral)
    return std::nullopt;
  return Instance->getTemplateArgs()[0].getAsIntegral().getExtValue();
}

/// warpSize, or a constant.
static std::optional<int64_t> lanesIn(Values &Vals, const clang::Expr *E) {
  E = Vals.firstValue(E);
  if (const VarDecl *Var = variableOf(E); Var && Var->getName() == "warpSize")
    return 32;
  Poly P = Vals.form(E);
  return P.isConstant() ? std::optional(P.constantPart()) : std::nullopt;
}

static std::optional<Group> asGroup(Values &Vals, const clang::Expr *Begin,
                                    const clang::Expr *Step) {
  const Poly First = Vals.form(Begin), By = Vals.form(Step);
  for (unsigned Dim = 0; Dim < 3; ++Dim)
    if (First == Poly::atom({Atom::Kind::Thread, Dim}) &&
        By == Poly::atom({Atom::Kind::BlockSize, Dim}))
      return Group{Group::Kind::Block, Dim};
  // The block's size as a constant.
  for (unsigned Dim = 0; Dim < 3; ++Dim)
    if (First == Poly::atom({Atom::Kind::Thread, Dim}) && By.isConstant() &&
        By.constantPart() >= 2 && By.constantPart() <= 1024)
      return Group{Group::Kind::Block, Dim, By.constantPart()};
  std::array<int64_t, 3> Blocks{-1, -1, -1};
  std::optional<Poly> Index = Values::toGlobal(First, 1, Blocks),
                      Total = Values::toGlobal(By, 1, Blocks);
  if (Index && Total && *Index == Poly::atom({Atom::Kind::Global, 0}) &&
      *Total == Poly::atom({Atom::Kind::Total, 0}))
    return Group{Group::Kind::Grid};
  if (const VarDecl *Tile = groupOf(Vals, Begin, {"thread_rank"});
      Tile && Tile == groupOf(Vals, Step, {"size", "num_threads"}))
    if (std::optional<int64_t> Size = tileSize(*Tile))
      return Group{Group::Kind::Tile, 0, *Size, Tile};
  const auto *Lane = dyn_cast<BinaryOperator>(Vals.firstValue(Begin));
  std::optional<int64_t> Lanes = lanesIn(Vals, Step);
  if (!Lane || !Lanes || *Lanes < 2 || *Lanes > 1024 ||
      Vals.form(Lane->getLHS()) != Poly::atom({Atom::Kind::Thread, 0}))
    return std::nullopt;
  const std::optional<int64_t> By2 = lanesIn(Vals, Lane->getRHS());
  if ((Lane->getOpcode() == BO_Rem && By2 == Lanes) ||
      (Lane->getOpcode() == BO_And && By2 && *By2 + 1 == *Lanes &&
       llvm::isPowerOf2_64(*Lanes)))
    return Group{Group::Kind::Lanes, 0, *Lanes};
  return std::nullopt;
}

static std::optional<RowLoop> asRowLoop(Values &Vals, const Stmt *S) {
  RowLoop R;
  R.Loop = dyn_cast<ForStmt>(S);
  if (!R.Loop || !R.Loop->getInc() || !R.Loop->getCond())
    return std::nullopt;
  const auto *Init = dyn_cast_or_null<DeclStmt>(R.Loop->getInit());
  R.Var = Init && Init->isSingleDecl()
              ? dyn_cast<VarDecl>(Init->getSingleDecl())
              : nullptr;
  const auto *Inc = dyn_cast<BinaryOperator>(R.Loop->getInc()->IgnoreParens());
  if (!R.Var || !R.Var->getInit() || !R.Var->getType()->isIntegerType() ||
      Vals.V.Ctx.getIntWidth(R.Var->getType()) < 32 || !Inc ||
      Inc->getOpcode() != BO_AddAssign || variableOf(Inc->getLHS()) != R.Var)
    return std::nullopt;
  R.Begin = R.Var->getInit();
  R.Step = Inc->getRHS();
  std::optional<Group> Of = asGroup(Vals, R.Begin, R.Step);
  if (!Of)
    return std::nullopt;
  R.Of = *Of;
  const auto *Cond = dyn_cast<BinaryOperator>(peel(R.Loop->getCond()));
  if (Cond && Cond->getOpcode() == BO_LT &&
      variableOf(Cond->getLHS()->IgnoreParenImpCasts()) == R.Var)
    R.Count = Cond->getRHS();
  return R;
}

static void collectLoops(Values &Vals, const Stmt *S,
                         std::vector<RowLoop> &Loops) {
  if (!S)
    return;
  if (std::optional<RowLoop> R = asRowLoop(Vals, S)) {
    Loops.push_back(*R);
    return;
  }
  for (const Stmt *Child : S->children())
    collectLoops(Vals, Child, Loops);
}

static bool isInside(const KernelView &V, const Stmt *S, const Stmt *Outer) {
  for (; S; S = V.parent(S))
    if (S == Outer)
      return true;
  return false;
}

/// Does \p Var change within \p Loop, or is it declared there?
static bool changesIn(const Values &Vals, const VarDecl *Var,
                      const Stmt *Loop) {
  const KernelView &V = Vals.V;
  return llvm::any_of(Vals.writes(Var),
                      [&](const DeclRefExpr *Write) {
                        return isInside(V, Write, Loop);
                      }) ||
         V.SM.isPointWithin(V.SM.getExpansionLoc(Var->getLocation()),
                            V.SM.getExpansionLoc(Loop->getBeginLoc()),
                            V.SM.getExpansionLoc(Loop->getEndLoc()));
}

static bool mentions(const clang::Expr *E, const VarDecl *Var) {
  bool Found = false;
  forEachExpr(E, [&](const clang::Expr *Part) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    Found |= Ref && Ref->getDecl() == Var;
  });
  return Found;
}

/// `s += e`, `s.x += e`, `s = max(s, e)` and the like: the order of the
/// elements is not part of the result. \p Write: the use of s.
static bool isAccumulation(const KernelView &V, const DeclRefExpr *Write) {
  const auto *Var = cast<VarDecl>(Write->getDecl());
  const clang::Expr *Left = Write;
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(V.parent(Left));
      Member && !Member->isArrow())
    Left = Member;
  const auto *Assign = dyn_cast_or_null<BinaryOperator>(V.parent(Left));
  if (!Assign || !Assign->isAssignmentOp() ||
      Assign->getLHS()->IgnoreParens() != Left ||
      !isa_and_nonnull<CompoundStmt, IfStmt, ForStmt>(V.parent(Assign)))
    return false;
  const clang::Expr *Right = Assign->getRHS();
  switch (Assign->getOpcode()) {
  case BO_AddAssign:
  case BO_SubAssign:
  case BO_MulAssign:
  case BO_AndAssign:
  case BO_OrAssign:
  case BO_XorAssign:
    return !mentions(Right, Var);
  case BO_Assign:
    break;
  default:
    return false;
  }
  Right = Right->IgnoreParenImpCasts();
  if (const auto *Call = dyn_cast<CallExpr>(Right)) {
    if (!isExtremum(*Call))
      return false;
    const bool First =
        variableOf(Call->getArg(0)->IgnoreParenImpCasts()) == Var;
    return (First ||
            variableOf(Call->getArg(1)->IgnoreParenImpCasts()) == Var) &&
           !mentions(Call->getArg(First ? 1 : 0), Var);
  }
  // s = e > s ? e : s
  const auto *Choice = dyn_cast<ConditionalOperator>(Right);
  const auto *Cond =
      Choice ? dyn_cast<BinaryOperator>(peel(Choice->getCond())) : nullptr;
  return Cond && Cond->isRelationalOp() &&
         (variableOf(Choice->getTrueExpr()->IgnoreParenImpCasts()) == Var ||
          variableOf(Choice->getFalseExpr()->IgnoreParenImpCasts()) == Var) &&
         (variableOf(Cond->getLHS()->IgnoreParenImpCasts()) == Var ||
          variableOf(Cond->getRHS()->IgnoreParenImpCasts()) == Var);
}

/// Does \p E read an index by which the threads of \p Of differ? Rows of warps
/// and tiles come from threadIdx, too, and are the same in all of their
/// threads: there, variables are not looked through.
static bool knowsThread(const Values &Vals, const Group &Of,
                        const clang::Expr *E) {
  using Kind = LaunchVariable::Kind;
  bool Found = false;
  forEachExpr(E, [&](const clang::Expr *Part) {
    if (std::optional<LaunchVariable> L = launchVariable(Part))
      Found |= (L->K == Kind::Thread &&
                (Of.K != Group::Kind::Block || L->Dim == Of.Dim)) ||
               (L->K == Kind::Block && Of.K == Group::Kind::Grid);
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (Var && !isa<ParmVarDecl>(Var) && Vals.isStable(Var) &&
        (Of.K == Group::Kind::Block || Of.K == Group::Kind::Grid))
      Found |= knowsThread(Vals, Of, Var->getInit());
  });
  return Found;
}

/// A finding where the body does something that is not the same for whichever
/// thread takes the element. Says in \p Joins whether it sums and the like, and
/// in \p Rounds whether in floating point.
static llvm::Error checkBody(Values &Vals, const RowLoop &R, bool &Joins,
                             bool &Rounds) {
  KernelView &V = Vals.V;
  const Stmt *Body = R.Loop->getBody();
  if (llvm::Error E = Effects(V, *Body).checkNone(
          {Effect::Barrier, Effect::Warp, Effect::Atomic, Effect::AtomicOnly,
           Effect::Fence, Effect::GridWait, Effect::Assembly,
           Effect::SpecialRead, Effect::Unknown, Effect::IndexInCall,
           Effect::Lambda, Effect::Static, Effect::Jump}))
    return E;
  if (breaksOut(V, Body, /*CountContinue=*/true) || !returnsIn(Body).empty())
    return findingError("the loop at " + V.at(R.Loop->getBeginLoc()) +
                        " may be left early");
  if (Vals.writes(R.Var).size() != 1)
    return findingError("the loop at " + V.at(R.Loop->getBeginLoc()) +
                        " changes its variable");
  std::string Why;
  forEachExpr(Body, [&](const clang::Expr *Part) {
    if (launchVariable(Part) && knowsThread(Vals, R.Of, Part))
      Why = "reads threadIdx or blockIdx";
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!Var || Var == R.Var || !Var->hasLocalStorage())
      return;
    if (!llvm::is_contained(Vals.writes(Var), Ref)) {
      // Of the body's own variables, it shows by itself.
      if (isa<ParmVarDecl>(Var) || !Vals.isStable(Var) ||
          changesIn(Vals, Var, R.Loop))
        return;
      if (knowsThread(Vals, R.Of, Var->getInit()) &&
          (R.Of.K == Group::Kind::Block || R.Of.K == Group::Kind::Grid))
        Why = "reads '" + Var->getNameAsString() +
              "', which the threads have each their own of";
      else if (Var->getType()->isIntegerType() &&
               Vals.form(Ref) == Vals.form(R.Begin))
        Why = "reads the thread's rank";
      return;
    }
    if (V.SM.isPointWithin(V.SM.getExpansionLoc(Var->getLocation()),
                           V.SM.getExpansionLoc(Body->getBeginLoc()),
                           V.SM.getExpansionLoc(Body->getEndLoc())))
      return;
    if (!isAccumulation(V, Ref)) {
      Why = "carries '" + Var->getNameAsString() + "' on to the next element";
      return;
    }
    Joins = true;
    Rounds |= !Var->getType()->isIntegerType();
  });
  if (!Why.empty())
    return findingError("the loop at " + V.at(R.Loop->getBeginLoc()) + " " +
                        Why);
  return llvm::Error::success();
}

/// Adds what makes \p P a multiple of \p Width: arguments in \p Multiples are
/// known to be.
static bool isMultiple(const Poly &P, int64_t Width,
                       std::set<unsigned> &Multiples) {
  for (const auto &[M, C] : P.terms()) {
    if (C % Width == 0 || llvm::any_of(M, [&](const Atom &A) {
          return A.K == Atom::Kind::Symbol && Multiples.count(A.Index);
        }))
      continue;
    auto It = llvm::find_if(
        M, [](const Atom &A) { return A.K == Atom::Kind::Symbol; });
    if (It == M.end())
      return false;
    Multiples.insert(It->Index);
  }
  return true;
}

/// The address of an access as it stands at the head of the loop, where only
/// the variables that do not change in it mean the same.
static std::optional<std::string>
addressText(const Values &Vals, const RowLoop &R, const Access &A) {
  bool Known = true;
  forEachExpr(A.LValue, [&](const clang::Expr *Part) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    Known &= !Var || Var == R.Var || !changesIn(Vals, Var, R.Loop);
    Known &= !isa<CallExpr>(Part) || launchVariable(Part);
  });
  std::optional<std::string> Text = Vals.V.text(*A.LValue);
  if (!Known || !Text)
    return std::nullopt;
  return A.hasAddress() ? *Text : "&(" + *Text + ")";
}

/// The accesses of \p R through \p Pointer as one; else a finding says why not.
static llvm::Expected<WideArray> widen(const Values &Vals, const Memory &M,
                                       const RowLoop &R,
                                       const PointerRef &Pointer, int64_t Width,
                                       std::set<unsigned> &Multiples) {
  const KernelView &V = Vals.V;
  WideArray W;
  W.Pointer = Pointer;
  const Poly Index = Poly::atom({Atom::Kind::Value, 1, R.Var});
  std::optional<Poly> Place;
  bool Always = false;
  for (const Access *Each : M.through(Pointer)) {
    if (!isInside(V, Each->Node, R.Loop->getBody()))
      continue;
    const Origin &O = Each->From;
    if (llvm::Error E = checkPlain(M, Pointer, *Each))
      return std::move(E);
    if (Place && *Place != *O.Index)
      return findingError(M.name(Pointer) +
                          " is accessed with several subscripts");
    if (!Place) {
      Place = O.Index;
      W.setElement(V, O.Element, Width);
      std::optional<std::string> Text = addressText(Vals, R, *Each);
      const Poly Rest = *Place - Index;
      if (!Text || Rest.mentionsNode(R.Var) ||
          !isMultiple(Rest, Width, Multiples))
        return findingError(
            M.name(Pointer) +
            " is not accessed with unit stride at a multiple of the width");
      W.Address = *Text;
    }
    W.add(*Each);
    // A wide load may not touch what the thread might not touch.
    Always |= isUnconditional(V, R.Loop->getBody(), Each->Node) &&
              (Each->writes() || !M.written(Pointer));
  }
  if (!Place)
    return findingError(
        "the loops over rows access no arrays of the arguments");
  if (W.Vector.empty())
    return findingError("there is no vector type of " + std::to_string(Width) +
                        " " + W.Scalar);
  if (!Always)
    return findingError(M.name(Pointer) + " is accessed under a condition");
  return W;
}

/// What the loops write stays with the thread that took the element: nothing
/// outside of them may touch it, nor at another place.
static llvm::Error checkOwners(Values &Vals, const Memory &M,
                               llvm::ArrayRef<RowLoop> Loops) {
  const KernelView &V = Vals.V;
  auto LoopOf = [&](const Access &A) {
    const auto *It = llvm::find_if(Loops, [&](const RowLoop &R) {
      return A.Node && isInside(V, A.Node, R.Loop->getBody());
    });
    return It == Loops.end() ? nullptr : It;
  };
  for (const Access &A : M.accesses()) {
    const RowLoop *R = LoopOf(A);
    if (R && A.From.Index) {
      const Poly Rank = Vals.form(R->Begin);
      if (llvm::any_of(A.From.Index->terms(), [&](const auto &Term) {
            return Rank.terms().count(Term.first) != 0;
          }))
        return findingError("the loop at " + V.at(R->Loop->getBeginLoc()) +
                            " reaches memory by the thread's rank");
    }
    if (!A.writes() || !R)
      continue;
    if (A.From.K != Origin::Kind::Argument)
      return findingError("the loop at " +
                          V.at(LoopOf(A)->Loop->getBeginLoc()) +
                          " writes other memory than that of the arguments");
  }
  for (const PointerRef &Pointer : M.pointers()) {
    std::vector<const Access *> All = M.through(Pointer);
    if (!M.written(Pointer) ||
        llvm::none_of(All, [&](const Access *A) { return LoopOf(*A); }))
      continue;
    std::optional<Poly> Place;
    for (const Access *A : All) {
      const RowLoop *R = LoopOf(*A);
      if (!R || !A->From.Index)
        return findingError(M.name(Pointer) +
                            " is accessed outside of the loops over rows, too");
      const Poly Here =
          *A->From.Index - Poly::atom({Atom::Kind::Value, 1, R->Var});
      if (Here.mentionsNode(R->Var) || (Place && *Place != Here))
        return findingError(M.name(Pointer) +
                            " is accessed at places of other threads");
      Place = Here;
    }
  }
  return llvm::Error::success();
}

/// The new text of one loop.
static llvm::Error rewrite(const Values &Vals, const RowLoop &R,
                           std::vector<WideArray> &Arrays, const Memory &M,
                           int64_t Width, std::vector<Edit> &Edits) {
  const KernelView &V = Vals.V;
  const auto Fail = [&] {
    return findingError("the loop at " + V.at(R.Loop->getBeginLoc()) +
                        " comes from a macro");
  };
  auto Loop = V.statementRange(*R.Loop),
       Body = V.range(R.Loop->getBody()->getSourceRange());
  std::optional<std::string> Begin = V.text(*R.Begin), Step = V.text(*R.Step),
                             Count = V.text(*R.Count);
  if (!Loop || !Body || !Begin || !Step || !Count)
    return Fail();
  const std::string Type = V.typeText(R.Var->getType()),
                    Var = R.Var->getNameAsString(),
                    Start = V.freshName("start"), Lane = V.freshName("lane"),
                    Lanes = std::to_string(Width),
                    Vector = V.freshName("vector");
  std::string Loads, Stores;
  for (WideArray &W : Arrays) {
    W.Lanes = lanesName(V, W.Pointer);
    W.Before = "    const " + Type + " " + Var + " = " + Start + ";\n";
    for (const Access *Each : M.through(W.Pointer))
      if (isInside(V, Each->Node, R.Loop->getBody()) &&
          !editAccess(V, *Each, W.Lanes + "[" + Lane + "]", Edits))
        return Fail();
    Loads += loadText(W, Width, Vector);
    Stores += storeText(W, Width, Vector);
  }
  Edits.push_back({Loop->first, Body->first,
                   "for (" + Type + " " + Start + " = (" + *Begin + ") * " +
                       Lanes + "; " + Start + " < (" + *Count + "); " + Start +
                       " += (" + *Step + ") * " + Lanes + ") {\n" + Loads +
                       "#pragma unroll\n  for (" + Type + " " + Lane +
                       " = 0; " + Lane + " < " + Lanes + "; ++" + Lane +
                       ") {\n  const " + Type + " " + Var + " = " + Start +
                       " + " + Lane + ";\n  "});
  Edits.push_back({Loop->second, Loop->second, "\n  }\n" + Stores + "}"});
  return llvm::Error::success();
}

llvm::Expected<bool> vectorizeLoops(RewriteState &S, KernelView &V,
                                    int64_t Width) {
  Analysis A(V, S, /*Mask=*/7);
  std::vector<RowLoop> Loops;
  collectLoops(A.Vals, &V.Body, Loops);
  if (Loops.empty())
    return false;
  if (llvm::Error E = A.Fx.checkNone({Effect::Jump, Effect::Lambda}))
    return std::move(E);
  Memory M(A.Vals, A.Fx);
  Extents Ext(A.Vals, A.Checks);
  std::vector<Constraint> Needed;
  std::set<unsigned> Multiples;
  bool Joins = false, Rounds = false;
  for (const RowLoop &R : Loops) {
    const std::string Where = V.at(R.Loop->getBeginLoc());
    if (!(R.Of == Loops.front().Of))
      return findingError("the loops at " +
                          V.at(Loops.front().Loop->getBeginLoc()) + " and " +
                          Where + " belong to groups of different threads");
    if (llvm::Error E = checkBody(A.Vals, R, Joins, Rounds))
      return std::move(E);
    std::optional<Expr> Count =
        R.Count ? A.Vals.overArguments(R.Count, Needed) : std::nullopt;
    if (!Count)
      return findingError("the bound of the loop at " + Where +
                          " cannot be determined from arguments and launch");
    const Poly Form = A.Vals.form(R.Count);
    if (Form.isConstant() && Form.constantPart() % Width != 0)
      return findingError("the bound of the loop at " + Where +
                          " is no multiple of the width");
    if (Form.terms().size() == 1 && Form.terms().begin()->first.size() == 1 &&
        Form.terms().begin()->first[0].K == Atom::Kind::Symbol &&
        Form.terms().begin()->second == 1)
      Multiples.insert(Form.terms().begin()->first[0].Index);
    else
      Needed.push_back({mod(*Count, Width), true});
    // The variable steps beyond the bound by what the group takes at once.
    Expr Most = Expr::constant(INT32_MAX - 1024 * Width);
    if (R.Of.K == Group::Kind::Grid)
      Most = Expr::constant(INT32_MAX) - S.threads(0) * Expr::constant(Width);
    Needed.push_back({std::move(Most) - *Count, false});
  }
  if (Joins && !A.Fx.has(Effect::Warp) && !A.Fx.has(Effect::Shared) &&
      !A.Fx.has(Effect::AtomicOnly) && !A.Fx.has(Effect::Atomic))
    return findingError("the threads do not join what the loops sum");
  if (Rounds && S.K.Contract.K == PrecisionContract::Kind::Exact)
    return findingError("sums of floating-point numbers in another order are "
                        "not exact");
  if (llvm::Error E = checkOwners(A.Vals, M, Loops))
    return std::move(E);

  std::string Reason = "the loops over rows access no arrays of the arguments";
  std::vector<Disjoint> Disjoints;
  std::vector<Edit> Edits;
  std::vector<Alignment> Alignments;
  bool Any = false;
  for (const RowLoop &R : Loops) {
    std::vector<WideArray> Arrays;
    for (const PointerRef &Pointer : M.pointers()) {
      std::set<unsigned> Here = Multiples;
      std::vector<Constraint> ForExtents;
      std::vector<Disjoint> Apart;
      llvm::Expected<WideArray> W = widen(A.Vals, M, R, Pointer, Width, Here);
      if (!W) {
        Reason = llvm::toString(W.takeError());
        continue;
      }
      if (llvm::Error E = M.keepApart(Pointer, Ext, Apart, ForExtents)) {
        Reason = llvm::toString(std::move(E));
        continue;
      }
      Multiples = std::move(Here);
      if (!Apart.empty())
        llvm::append_range(Needed, ForExtents);
      llvm::append_range(Disjoints, Apart);
      Alignments.push_back(wideAlignment(V, M, Pointer, Width));
      Arrays.push_back(std::move(*W));
    }
    Any |= !Arrays.empty();
    // Without a wide access too: what a thread takes is the same everywhere.
    if (llvm::Error E = rewrite(A.Vals, R, Arrays, M, Width, Edits))
      return std::move(E);
  }
  if (!Any)
    return findingError(Reason);
  dropNested(Edits);
  if (!applyEdits(S.Text, std::move(Edits)))
    return findingError("the accesses cannot be edited");

  // A part of a warp or tile would not take all elements.
  const Group &Of = Loops.front().Of;
  if (Of.K == Group::Kind::Block && Of.Size > 0)
    S.requireZero(S.launch().Block[Of.Dim] - Expr::constant(Of.Size));
  else if (Of.K == Group::Kind::Lanes)
    S.requireZero(mod(S.launch().Block[0], Of.Size));
  else if (Of.K == Group::Kind::Tile && Of.Size > 1)
    S.requireZero(
        mod(S.launch().Block[0] * S.launch().Block[1] * S.launch().Block[2],
            Of.Size));
  for (unsigned Symbol : Multiples)
    S.requireZero(mod(Expr::symbol(Symbol), Width));
  for (Constraint &C : Needed)
    S.require(std::move(C));
  for (Disjoint &D : Disjoints)
    S.require(std::move(D));
  for (const Alignment &Each : Alignments)
    S.require(Each);
  return true;
}

} // namespace cupilot
