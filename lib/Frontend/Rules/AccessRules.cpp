//===- AccessRules.cpp - Rules that change memory accesses and loops -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// unroll, read_only_loads, vectorized_access, fast_intrinsics.
//
//===----------------------------------------------------------------------===//

#include "RewriteState.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include <set>

using namespace clang;

namespace cupilot {

namespace {
/// Loops without loops in them.
class InnermostLoops : public RecursiveASTVisitor<InnermostLoops> {
public:
  bool dataTraverseStmtPre(Stmt *S) {
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S)) {
      if (!Open.empty())
        Open.back().second = true;
      Open.push_back({S, false});
    }
    return true;
  }
  bool dataTraverseStmtPost(Stmt *S) {
    if (!Open.empty() && Open.back().first == S) {
      if (!Open.back().second && isa<ForStmt>(S))
        Loops.push_back(cast<ForStmt>(S));
      Open.pop_back();
      if (!Open.empty())
        Open.back().second = true;
    }
    return true;
  }
  std::vector<const ForStmt *> Loops;

private:
  std::vector<std::pair<Stmt *, bool>> Open; ///< And whether it holds another.
};

/// How a kernel uses its pointer parameters.
class PointerUses : public RecursiveASTVisitor<PointerUses> {
public:
  struct Use {
    std::vector<const ArraySubscriptExpr *> Subscripts;
    bool Other = false, Written = false;
  };

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (const auto *P = dyn_cast<ParmVarDecl>(E->getDecl());
        P && P->getType()->isPointerType())
      if (!Known.contains(E))
        Uses[P].Other = true;
    return true;
  }
  bool VisitArraySubscriptExpr(ArraySubscriptExpr *E) {
    if (const auto *Ref =
            dyn_cast<DeclRefExpr>(E->getBase()->IgnoreParenImpCasts()))
      if (const auto *P = dyn_cast<ParmVarDecl>(Ref->getDecl())) {
        Known.insert(Ref);
        Uses[P].Subscripts.push_back(E);
      }
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *B) {
    if (B->isAssignmentOp())
      written(B->getLHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *U) {
    if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
      written(U->getSubExpr());
    return true;
  }
  std::map<const ParmVarDecl *, Use> Uses;

private:
  void written(const clang::Expr *E) {
    E = E->IgnoreParenImpCasts();
    while (const auto *M = dyn_cast<MemberExpr>(E))
      E = M->getBase()->IgnoreParenImpCasts();
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
      if (const auto *Ref = dyn_cast<DeclRefExpr>(
              Subscript->getBase()->IgnoreParenImpCasts()))
        if (const auto *P = dyn_cast<ParmVarDecl>(Ref->getDecl()))
          Uses[P].Written = true;
  }
  std::set<const DeclRefExpr *> Known;
};

/// Loop variables that run from a constant to a bound over the scalars.
class LoopRanges : public RecursiveASTVisitor<LoopRanges> {
public:
  bool VisitForStmt(ForStmt *F) {
    const auto *Init = dyn_cast_or_null<DeclStmt>(F->getInit());
    const auto *Var = Init && Init->isSingleDecl()
                          ? dyn_cast<VarDecl>(Init->getSingleDecl())
                          : nullptr;
    const auto *Condition =
        F->getCond()
            ? dyn_cast<BinaryOperator>(F->getCond()->IgnoreParenImpCasts())
            : nullptr;
    const auto *Step =
        F->getInc() ? dyn_cast<UnaryOperator>(F->getInc()->IgnoreParens())
                    : nullptr;
    if (!Var || !Var->getInit() || !Condition || !Step ||
        !Step->isIncrementOp() || Condition->getOpcode() != BO_LT)
      return true;
    const auto *Start =
        dyn_cast<IntegerLiteral>(Var->getInit()->IgnoreParenImpCasts());
    const auto *Left =
        dyn_cast<DeclRefExpr>(Condition->getLHS()->IgnoreParenImpCasts());
    const auto *Stepped =
        dyn_cast<DeclRefExpr>(Step->getSubExpr()->IgnoreParenImpCasts());
    if (Start && Left && Stepped && Left->getDecl() == Var &&
        Stepped->getDecl() == Var)
      Bounds[Var] = Condition->getRHS();
    return true;
  }
  std::map<const VarDecl *, const clang::Expr *> Bounds;
};

/// Variables that are assigned to after their declaration.
class Assigned : public RecursiveASTVisitor<Assigned> {
public:
  bool VisitBinaryOperator(BinaryOperator *B) {
    if (B->isAssignmentOp())
      note(B->getLHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *U) {
    if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
      ++Counts[declOf(U->getSubExpr())];
    return true;
  }
  static const ValueDecl *declOf(const clang::Expr *E) {
    const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
    return Ref ? Ref->getDecl() : nullptr;
  }
  std::map<const ValueDecl *, unsigned> Counts;

private:
  void note(const clang::Expr *E) { Counts[declOf(E)] += 2; }
};
} // namespace

llvm::Error applyUnroll(RewriteState &S, const Gene &G) {
  auto Parsed = View::create(S);
  if (!Parsed)
    return Parsed.takeError();
  View &V = **Parsed;
  InnermostLoops Finder;
  Finder.TraverseStmt(const_cast<CompoundStmt *>(&V.body()));
  std::set<unsigned> Places;
  for (const ForStmt *Loop : Finder.Loops)
    if (auto R = V.range(Loop->getSourceRange()))
      Places.insert(R->first);
  if (Places.empty())
    return refuse(G, "the kernel has no for loop of its own");
  std::vector<Edit> Edits;
  for (unsigned Place : Places) {
    // A pragma that is there already is the author's will.
    std::string Before = V.text(0, Place);
    llvm::StringRef Line = llvm::StringRef(Before).rtrim();
    Line = Line.substr(Line.rfind('\n') == llvm::StringRef::npos
                           ? 0
                           : Line.rfind('\n') + 1)
               .ltrim();
    if (!Line.starts_with("#pragma"))
      Edits.push_back(
          {Place, Place,
           "\n#pragma unroll " + std::to_string(valueOf(G, "factor")) + "\n"});
  }
  if (Edits.empty())
    return refuse(G, "every loop has a pragma already");
  S.Text = apply(S.Text, std::move(Edits));
  return llvm::Error::success();
}

/// One past the largest index that \p P is used with, over the scalars.
static std::optional<Expr> extentOf(const View &V, const RewriteState &S,
                                    const PointerUses::Use &Use,
                                    const LoopRanges &Ranges,
                                    Assigned &Writes) {
  std::optional<View::GuardedIndex> Index = V.guardedIndex();
  std::optional<Expr> Extent;
  for (const ArraySubscriptExpr *E : Use.Subscripts) {
    const auto *Ref = dyn_cast<DeclRefExpr>(E->getIdx()->IgnoreParenImpCasts());
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    const clang::Expr *Bound = nullptr;
    if (Var && Index && Var == Index->Index && Writes.Counts[Var] == 0)
      Bound = Index->Bound;
    else if (Var)
      // Its own increment is the one write that a loop variable may have.
      if (auto It = Ranges.Bounds.find(Var);
          It != Ranges.Bounds.end() && Writes.Counts[Var] == 1)
        Bound = It->second;
    std::optional<Expr> Here = Bound ? V.scalarExpr(*Bound, S.K) : std::nullopt;
    if (!Here || (Extent && !(*Extent == *Here)))
      return std::nullopt;
    Extent = Here;
  }
  return Extent;
}

llvm::Error applyReadOnly(RewriteState &S, const Gene &G) {
  auto Parsed = View::create(S);
  if (!Parsed)
    return Parsed.takeError();
  View &V = **Parsed;
  const FunctionDecl *Written = &V.kernel();
  if (const FunctionDecl *Pattern = Written->getTemplateInstantiationPattern())
    Written = Pattern;
  PointerUses Pointers;
  LoopRanges Ranges;
  Assigned Writes;
  for (auto *Visitor : {V.kernel().getBody()}) {
    Pointers.TraverseStmt(Visitor);
    Ranges.TraverseStmt(Visitor);
    Writes.TraverseStmt(Visitor);
  }
  std::vector<Edit> Edits;
  std::string Reason =
      "no pointer parameter to constant elements without __restrict__";
  for (unsigned I = 0; I < V.kernel().getNumParams(); ++I) {
    const KernelParam &Param = S.K.Params[I];
    if (!Param.IsPointer || !Param.PointeeConst || Param.Restrict ||
        Param.PointeeSize == 0)
      continue;
    const ParmVarDecl *P = V.kernel().getParamDecl(I);
    PointerUses::Use &Use = Pointers.Uses[P];
    if (Use.Other) {
      Reason = "'" + Param.Name + "' is used other than by subscripts";
      continue;
    }
    std::optional<Expr> Extent = extentOf(V, S, Use, Ranges, Writes);
    if (!Extent) {
      Reason = "how far '" + Param.Name +
               "' is read is not an expression over integer arguments";
      continue;
    }
    // Every pointer that may be written must stay clear of it.
    std::vector<Disjoint> Needed;
    bool Ok = true;
    for (unsigned J = 0; J < V.kernel().getNumParams() && Ok; ++J) {
      const KernelParam &Other = S.K.Params[J];
      if (J == I || !Other.IsPointer || Other.PointeeConst)
        continue;
      PointerUses::Use &OtherUse = Pointers.Uses[V.kernel().getParamDecl(J)];
      std::optional<Expr> OtherExtent =
          OtherUse.Other ? std::nullopt
                         : extentOf(V, S, OtherUse, Ranges, Writes);
      if (!OtherExtent && !OtherUse.Subscripts.empty()) {
        Reason = "how far '" + Other.Name + "' is written is not known";
        Ok = false;
        break;
      }
      auto Bytes = [](const Expr &E, uint64_t Size) {
        return Expr::binary(Expr::Kind::Mul, E, Expr::constant(Size));
      };
      if (OtherExtent)
        Needed.push_back({{I, 0},
                          {J, 0},
                          Bytes(*Extent, Param.PointeeSize),
                          Bytes(*OtherExtent, Other.PointeeSize)});
    }
    // Pointers inside structs may be written through as well.
    for (const PointerRef &R : S.K.Pointers)
      if (!S.K.Params[R.Param].IsPointer) {
        Reason = "a by-value argument holds pointers";
        Ok = false;
      }
    auto Name = V.range(SourceRange(Written->getParamDecl(I)->getLocation()));
    if (!Ok || !Name)
      continue;
    Edits.push_back({Name->first, Name->first, "__restrict__ "});
    llvm::append_range(S.When.Disjoints, Needed);
  }
  if (Edits.empty())
    return refuse(G, Reason);
  S.Text = apply(S.Text, std::move(Edits));
  return llvm::Error::success();
}

llvm::Error applyVectorized(RewriteState &S, const Gene &G) {
  auto Parsed = View::create(S);
  if (!Parsed)
    return Parsed.takeError();
  View &V = **Parsed;
  int64_t Width = valueOf(G, "width");
  View::IndexUses Uses = V.indexUses();
  std::optional<View::GuardedIndex> Index = V.guardedIndex();
  if (!Index || Uses.Other > 0 || !Uses.Total.empty() ||
      Uses.Global.size() != 1)
    return refuse(
        G, "the kernel is not of the form 'index = blockIdx.x * blockDim.x + "
           "threadIdx.x; if (index < bound) ...'");
  if (V.kernel().getTemplateInstantiationPattern())
    return refuse(G, "the kernel is a template");
  Assigned Writes;
  Writes.TraverseStmt(const_cast<CompoundStmt *>(&V.body()));
  if (Writes.Counts[Index->Index] > 0)
    return refuse(G, "the index is written to");
  std::optional<Expr> Bound = V.scalarExpr(*Index->Bound, S.K);
  if (!Bound)
    return refuse(
        G,
        "the bound of the index is not an expression over integer arguments");
  std::vector<View::Word> Work = V.words(Index->WorkBegin, Index->WorkEnd);
  for (const View::Word &W : Work)
    if (W.Text == "return" || W.Text == "goto" || W.Text == "static" ||
        W.Text == "__shared__" || W.Text == "__syncthreads")
      return refuse(G, "the work holds '" + W.Text + "'");
  PointerUses Pointers;
  Pointers.TraverseStmt(const_cast<CompoundStmt *>(&V.body()));
  if (Pointers.Uses.empty())
    return refuse(G, "no memory is accessed through parameters");
  std::map<std::string, std::string> VectorType = {
      {"float", "float"}, {"int", "int"}, {"unsigned int", "uint"}};
  std::string Loads, Stores;
  std::vector<Edit> Edits;
  std::vector<unsigned> Read, Written;
  for (auto &[P, Use] : Pointers.Uses) {
    unsigned I = P->getFunctionScopeIndex();
    const KernelParam &Param = S.K.Params[I];
    if (Use.Other || !VectorType.contains(Param.Pointee))
      return refuse(G, "'" + Param.Name +
                           "' is no array of float or int that is used by "
                           "subscripts alone");
    for (const ArraySubscriptExpr *E : Use.Subscripts) {
      if (Assigned::declOf(E->getIdx()) != Index->Index)
        return refuse(G, "'" + Param.Name +
                             "' is used with another subscript than the index");
      auto R = V.range(E->getSourceRange());
      if (!R)
        return refuse(G, "an access comes from a macro");
      Edits.push_back(
          {R->first, R->second, "cupilot_" + Param.Name + "[cupilot_lane]"});
    }
    std::string Vector = VectorType[Param.Pointee] + std::to_string(Width);
    std::string Array = "cupilot_" + Param.Name;
    std::string Place = "(" + Param.Name + " + cupilot_base)";
    // Read even what is written only in part: the rest must stay.
    Loads += Param.Pointee + " " + Array + "[" + std::to_string(Width) +
             "];\n{ " + Vector + " v = *reinterpret_cast<const " + Vector +
             " *>" + Place + ";\n";
    const char *Fields[4] = {"x", "y", "z", "w"};
    for (int64_t Lane = 0; Lane < Width; ++Lane)
      Loads +=
          Array + "[" + std::to_string(Lane) + "] = v." + Fields[Lane] + "; ";
    Loads += "}\n";
    if (Use.Written) {
      Stores += "{ " + Vector + " v;\n";
      for (int64_t Lane = 0; Lane < Width; ++Lane)
        Stores += llvm::Twine("v.").concat(Fields[Lane]).str() + " = " + Array +
                  "[" + std::to_string(Lane) + "]; ";
      Stores += "*reinterpret_cast<" + Vector + " *>" + Place + " = v; }\n";
    }
    (Use.Written ? Written : Read).push_back(I);
    S.When.Alignments.push_back({{I, 0}, unsigned(Width * 4)});
  }
  // Loads come first: no written array may overlap another one.
  Expr Bytes = Expr::binary(Expr::Kind::Mul, *Bound, Expr::constant(4));
  for (size_t W = 0; W < Written.size(); ++W) {
    for (unsigned R : Read)
      if (!S.K.Params[R].Restrict || !S.K.Params[Written[W]].Restrict)
        S.When.Disjoints.push_back({{R, 0}, {Written[W], 0}, Bytes, Bytes});
    for (size_t Other = W + 1; Other < Written.size(); ++Other)
      S.When.Disjoints.push_back(
          {{Written[W], 0}, {Written[Other], 0}, Bytes, Bytes});
  }
  // The original covers the range, and the range is made of whole vectors.
  S.require(
      Expr::binary(Expr::Kind::Add, S.totalThreads(),
                   Expr::binary(Expr::Kind::Mul, *Bound, Expr::constant(-1))));
  S.require(Expr::binary(Expr::Kind::Mod, *Bound, Expr::constant(Width)),
            /*IsEq=*/true);
  // (global index) * width stays in the index's type.
  S.require(
      Expr::binary(Expr::Kind::Add, Expr::constant(2147483647),
                   Expr::binary(Expr::Kind::Mul,
                                Expr::binary(Expr::Kind::Mul, S.totalThreads(),
                                             Expr::constant(Width)),
                                Expr::constant(-1))));
  std::string Type = Index->Index->getType().getUnqualifiedType().getAsString();
  std::string Name = Index->Index->getNameAsString();
  std::string Lanes = std::to_string(Width);
  std::string Head =
      Type + " cupilot_base = (" + V.text(*Index->Init) + ") * " + Lanes +
      ";\nif (cupilot_base < (" + V.text(*Index->Bound) + ")) {\n" + Loads +
      "#pragma unroll\nfor (int cupilot_lane = 0; cupilot_lane < " + Lanes +
      "; ++cupilot_lane) {\n" + Type + " " + Name +
      " = cupilot_base + cupilot_lane;\n(void)" + Name + ";\n";
  Edits.push_back({Index->DeclBegin, Index->WorkBegin, Head});
  Edits.push_back({Index->End, Index->End, "}\n" + Stores + "}\n"});
  S.Text = apply(S.Text, std::move(Edits));
  S.launch().Grid[0] = Expr::binary(Expr::Kind::CeilDiv, S.launch().Grid[0],
                                    Expr::constant(Width));
  // Threads beyond the range do nothing now, however many there are.
  S.AnyTotal = false;
  return llvm::Error::success();
}

llvm::Error applyFastIntrinsics(RewriteState &S, const Gene &G) {
  if (S.K.Contract.K != PrecisionContract::Kind::Relaxed)
    return refuse(
        G,
        "the kernel's precision contract does not allow approximate functions");
  auto Parsed = View::create(S);
  if (!Parsed)
    return Parsed.takeError();
  View &V = **Parsed;
  static const std::map<std::string, std::string> Fast = {
      {"expf", "__expf"},     {"logf", "__logf"}, {"sinf", "__sinf"},
      {"cosf", "__cosf"},     {"powf", "__powf"}, {"log2f", "__log2f"},
      {"log10f", "__log10f"}, {"tanf", "__tanf"}};
  std::vector<Edit> Edits;
  for (const View::Word &W : V.words(0, S.Text.size()))
    if (auto It = Fast.find(W.Text); It != Fast.end())
      Edits.push_back({W.Begin, W.End, It->second});
  if (Edits.empty())
    return refuse(G, "the kernel calls no function that has a fast form");
  S.Text = apply(S.Text, std::move(Edits));
  return llvm::Error::success();
}

} // namespace cupilot
