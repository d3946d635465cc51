//===- AccessRules.cpp - Rules about accesses, loops and functions --------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extents.h"
#include "LaunchRules.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/StmtCXX.h"
#include <set>

using namespace clang;

namespace cupilot {

//===----------------------------------------------------------------------===//
// unroll
//===----------------------------------------------------------------------===//

/// Adds the for loops in \p S that hold no loop; says whether \p S holds one.
static bool findInnermost(const Stmt *S, bool Marked,
                          std::vector<const ForStmt *> &Loops,
                          bool &SawMarked) {
  if (!S)
    return false;
  bool Holds = false;
  for (const Stmt *Child : S->children())
    Holds |= findInnermost(Child, isa<AttributedStmt>(S), Loops, SawMarked);
  if (const auto *For = dyn_cast<ForStmt>(S); For && !Holds) {
    if (Marked)
      SawMarked = true; // A pragma that is there is the author's will.
    else
      Loops.push_back(For);
  }
  return Holds || isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S);
}

llvm::Error applyUnroll(RewriteState &S, const Gene &G) {
  int64_t Factor = valueOf(G, "factor");
  if (Factor < 2 || Factor > 256)
    return refuse(G, "the factor must be from 2 to 256");
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Effects Fx(V);
    std::vector<const ForStmt *> Loops;
    bool SawMarked = false;
    for (const FunctionDecl *F : Fx.functions())
      if (V.inSlice(F->getLocation()))
        findInnermost(F->getBody(), false, Loops, SawMarked);
    std::set<unsigned> Places;
    for (const ForStmt *Loop : Loops)
      // No pragma may stand in a macro's argument.
      if (auto R = V.range(Loop->getSourceRange());
          R && !V.SM.isMacroArgExpansion(Loop->getForLoc()))
        Places.insert(R->first);
    if (Places.empty())
      return refuse(G, SawMarked ? "every innermost loop already has a pragma"
                       : Loops.empty() ? "the kernel has no for loop of its own"
                                       : "the loops come from macros");
    std::vector<Edit> Edits;
    Edits.reserve(Places.size());
    for (unsigned Place : Places)
      Edits.push_back(
          {Place, Place, "\n#pragma unroll " + std::to_string(Factor) + "\n"});
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the loops cannot be edited");
    return llvm::Error::success();
  });
}

//===----------------------------------------------------------------------===//
// read_only_loads
//===----------------------------------------------------------------------===//

/// Is there an __ldg for the type?
static bool hasReadOnlyLoad(QualType T) {
  const auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  if (!B || T.isVolatileQualified())
    return false;
  switch (B->getKind()) {
  case BuiltinType::Char_S:
  case BuiltinType::SChar:
  case BuiltinType::UChar:
  case BuiltinType::Short:
  case BuiltinType::UShort:
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

llvm::Error applyReadOnly(RewriteState &S, const Gene &G) {
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/7);
    // Assembly and unknown functions may write anything.
    // The compiler may read what nothing writes before the wait.
    if (llvm::Error E = A.Fx.checkNone(
            {Effect::GridWait, Effect::Assembly, Effect::Unknown}))
      return refuse(G, std::move(E));
    Memory M(A.Vals, A.Fx);
    Extents Ext(A.Vals, A.Checks);
    std::string Reason = "the kernel reads no array of its arguments that it "
                         "does not write";
    std::set<std::pair<unsigned, unsigned>> Places;
    for (const PointerRef &Pointer : M.pointers()) {
      if (M.written(Pointer))
        continue;
      std::set<std::pair<unsigned, unsigned>> Here;
      bool InMacro = false;
      for (const Access *Each : M.through(Pointer))
        if (Each->K == Access::Kind::Load && isa<CastExpr>(Each->Node) &&
            !Each->LValue->refersToBitField() &&
            hasReadOnlyLoad(Each->LValue->getType())) {
          if (auto R = V.range(Each->LValue->getSourceRange()))
            Here.insert(*R);
          else
            InMacro = true;
        }
      if (Here.empty()) {
        Reason = M.name(Pointer) + (InMacro ? " is read by the text of a macro"
                                            : " is not read as plain numbers");
        continue;
      }
      std::vector<Disjoint> Disjoints;
      std::vector<Constraint> Needed;
      if (llvm::Error E = M.keepApart(Pointer, Ext, Disjoints, Needed)) {
        Reason = llvm::toString(std::move(E));
        continue;
      }
      // What is needed for extents matters only where extents do.
      if (!Disjoints.empty())
        for (Constraint &C : Needed)
          S.require(std::move(C));
      for (Disjoint &D : Disjoints)
        S.require(std::move(D));
      Places.merge(Here);
    }
    if (Places.empty())
      return refuse(G, Reason);
    std::vector<Edit> Edits;
    for (auto [Begin, End] : Places) {
      Edits.push_back({Begin, Begin, "__ldg(&("});
      Edits.push_back({End, End, "))"});
    }
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the loads cannot be edited");
    return llvm::Error::success();
  });
}

//===----------------------------------------------------------------------===//
// restrict_pointers
//===----------------------------------------------------------------------===//

/// Where `__restrict__` goes in the parameter's declaration; nothing when the
/// pointer is not written as one.
static std::optional<unsigned> behindStar(const KernelView &V, unsigned Param) {
  const FunctionDecl &Written = V.pattern();
  if (Written.getNumParams() != V.Fn.getNumParams())
    return std::nullopt;
  const TypeSourceInfo *Type = Written.getParamDecl(Param)->getTypeSourceInfo();
  PointerTypeLoc Pointer =
      Type ? Type->getTypeLoc().getUnqualifiedLoc().getAs<PointerTypeLoc>()
           : PointerTypeLoc();
  if (!Pointer)
    return std::nullopt;
  std::optional<unsigned> Star = V.offset(Pointer.getStarLoc());
  return Star ? std::optional(*Star + 1) : std::nullopt;
}

llvm::Error applyRestrict(RewriteState &S, const Gene &G) {
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/7);
    // The compiler may read what nothing writes before the wait.
    if (llvm::Error E = A.Fx.checkNone(
            {Effect::GridWait, Effect::Assembly, Effect::Unknown}))
      return refuse(G, std::move(E));
    Memory M(A.Vals, A.Fx);
    Extents Ext(A.Vals, A.Checks);
    const std::vector<PointerRef> Pointers = M.pointers();
    if (llvm::none_of(Pointers,
                      [&](const PointerRef &P) { return M.written(P); }))
      return refuse(G, "the kernel writes through none of its arguments");
    std::string Reason = "its pointers are __restrict__ already";
    std::vector<Edit> Edits;
    for (const PointerRef &Pointer : Pointers) {
      if (M.isRestrict(Pointer))
        continue;
      std::optional<unsigned> Place;
      if (V.Fn.getParamDecl(Pointer.Param)->getType()->isPointerType())
        Place = behindStar(V, Pointer.Param);
      if (!Place) {
        Reason = M.name(Pointer) + " is not declared as a pointer";
        continue;
      }
      std::vector<Disjoint> Disjoints;
      std::vector<Constraint> Needed;
      if (llvm::Error E = M.keepApart(Pointer, Ext, Disjoints, Needed)) {
        Reason = llvm::toString(std::move(E));
        continue;
      }
      // Nothing else is there, or what is is __restrict__.
      if (Disjoints.empty()) {
        Reason = "no other array may overlap " + M.name(Pointer);
        continue;
      }
      for (Constraint &C : Needed)
        S.require(std::move(C));
      for (Disjoint &D : Disjoints)
        S.require(std::move(D));
      Edits.push_back({*Place, *Place, "__restrict__ "});
    }
    if (Edits.empty())
      return refuse(G, Reason);
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the parameters cannot be edited");
    return llvm::Error::success();
  });
}

//===----------------------------------------------------------------------===//
// fast_intrinsics
//===----------------------------------------------------------------------===//

/// The approximate form of a function of one or two floats; "" if there is
/// none.
static llvm::StringRef fastForm(const FunctionDecl &F) {
  static const std::map<llvm::StringRef, llvm::StringRef> Forms = {
      {"exp", "__expf"},        {"exp10", "__exp10f"}, {"log", "__logf"},
      {"log2", "__log2f"},      {"log10", "__log10f"}, {"sin", "__sinf"},
      {"cos", "__cosf"},        {"tan", "__tanf"},     {"pow", "__powf"},
      {"fdivide", "__fdividef"}};
  if (!F.getIdentifier() || F.getNumParams() == 0 ||
      !F.getReturnType()->isSpecificBuiltinType(BuiltinType::Float))
    return "";
  for (const ParmVarDecl *P : F.parameters())
    if (!P->getType()->isSpecificBuiltinType(BuiltinType::Float))
      return "";
  llvm::StringRef Name = F.getName();
  auto It = Forms.find(Name);
  if (It == Forms.end() && Name.consume_back("f"))
    It = Forms.find(Name);
  return It == Forms.end() ? "" : It->second;
}

llvm::Error applyFastIntrinsics(RewriteState &S, const Gene &G) {
  if (S.K.Contract.K != PrecisionContract::Kind::Relaxed)
    return refuse(G, "the kernel's precision contract does not allow "
                     "approximate functions; only relaxed(rtol) does");
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Effects Fx(V);
    std::vector<Edit> Edits;
    std::set<std::pair<unsigned, unsigned>> Divisions;
    auto EditCall = [&](const clang::Expr *E) {
      if (const auto *Call = dyn_cast<CallExpr>(E)) {
        const FunctionDecl *F = Call->getDirectCallee();
        if (!F || (F->getLocation().isValid() &&
                   !V.SM.isInSystemHeader(F->getLocation())))
          return;
        auto R = V.range(Call->getCallee()->getSourceRange());
        if (llvm::StringRef Fast = fastForm(*F); !Fast.empty() && R)
          Edits.push_back({R->first, R->second, Fast.str()});
        return;
      }
      const auto *Divide = dyn_cast<BinaryOperator>(E);
      if (!Divide || Divide->getOpcode() != BO_Div ||
          !Divide->getType()->isSpecificBuiltinType(BuiltinType::Float) ||
          Divide->getRHS()->isEvaluatable(V.Ctx))
        return;
      auto Whole = V.range(Divide->getSourceRange()),
           Left = V.range(Divide->getLHS()->getSourceRange()),
           Operator = V.range(SourceRange(Divide->getOperatorLoc()));
      if (!Whole || !Left || !Operator || Left->second > Operator->first ||
          !Divisions.insert(*Whole).second)
        return;
      Edits.push_back({Whole->first, Whole->first, "__fdividef("});
      Edits.push_back({Operator->first, Operator->second, ","});
      Edits.push_back({Whole->second, Whole->second, ")"});
    };
    for (const FunctionDecl *F : Fx.functions())
      if (V.inSlice(F->getLocation()))
        forEachExpr(F->getBody(), EditCall);
    if (Edits.empty())
      return refuse(G, "the kernel has no operation with a fast form");
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the calls cannot be edited");
    return llvm::Error::success();
  });
}

} // namespace cupilot
