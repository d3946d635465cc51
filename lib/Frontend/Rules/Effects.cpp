//===- Effects.cpp - What a kernel does besides arithmetic -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Effects.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace cupilot {

Effects::Effects(KernelView &V) : V(V) { visitFunction(&V.Fn); }

Effects::Effects(KernelView &V, const Stmt &Part) : V(V), Current(&V.Fn) {
  visitStmt(&Part, true);
}

void Effects::note(Effect E, const llvm::Twine &Cause, const Stmt *At) {
  std::string Text = Cause.str();
  if (Current != &V.Fn && Current)
    Text += " in '" + Current->getNameAsString() + "'";
  else if (At && V.inSlice(At->getBeginLoc()))
    Text += " (" + V.at(At->getBeginLoc()) + ")";
  Causes.try_emplace(E, std::move(Text));
}

llvm::Error Effects::checkNone(std::initializer_list<Effect> List) const {
  for (Effect E : List)
    if (auto It = Causes.find(E); It != Causes.end())
      return findingError("it " + It->second);
  return llvm::Error::success();
}

llvm::Error checkBlockIndependence(const Effects &E) {
  return E.checkNone({Effect::Barrier, Effect::Warp, Effect::Shared,
                      Effect::Fence, Effect::Assembly, Effect::SpecialRead,
                      Effect::Unknown, Effect::IndexInCall});
}

static llvm::StringRef nameOf(const FunctionDecl *F) {
  return F->getIdentifier() ? F->getName() : "";
}

static bool isSystem(const KernelView &V, const Decl *D) {
  return D->getLocation().isInvalid() ||
         V.SM.isInSystemHeader(D->getLocation());
}

std::optional<CacheHint> cacheHint(const FunctionDecl &F) {
  const SourceManager &SM = F.getASTContext().getSourceManager();
  if (F.getLocation().isValid() && !SM.isInSystemHeader(F.getLocation()))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<CacheHint>>(nameOf(&F))
      .Cases({"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu"}, CacheHint::Load)
      .Cases({"__stwb", "__stcg", "__stcs"}, CacheHint::Store)
      .Default(std::nullopt);
}

bool isExtremum(const CallExpr &Call) {
  static constexpr llvm::StringRef Names[] = {
      "fmaxf", "fminf", "fmax",  "fmin",  "max",    "min",
      "umax",  "umin",  "llmax", "llmin", "ullmax", "ullmin"};
  const FunctionDecl *F = Call.getDirectCallee();
  if (!F || Call.getNumArgs() != 2 || !llvm::is_contained(Names, nameOf(F)))
    return false;
  const SourceManager &SM = F->getASTContext().getSourceManager();
  return F->getLocation().isInvalid() || SM.isInSystemHeader(F->getLocation());
}

bool Effects::isAtomic(const CallExpr &Call) {
  const FunctionDecl *F = Call.getDirectCallee();
  if (!F || !nameOf(F).starts_with("atomic"))
    return false;
  const SourceManager &SM = F->getASTContext().getSourceManager();
  return F->getLocation().isInvalid() || SM.isInSystemHeader(F->getLocation());
}

/// What a function of the compiler's or of the toolkit's does that has no body
/// to look into; nothing when it only computes.
static std::optional<Effect> effectOfLeaf(ASTContext &Ctx,
                                          const FunctionDecl *F) {
  llvm::StringRef Name = nameOf(F);
  if (Name.starts_with("__nv_")) // libdevice
    return std::nullopt;
  if (Name.starts_with("__syncthreads") || Name.starts_with("__nvvm_bar"))
    return Effect::Barrier;
  for (llvm::StringRef Part :
       {"shfl", "vote", "match", "activemask", "redux", "syncwarp", "elect",
        "laneid", "lanemask", "warpid", "warpsize", "mma", "ldmatrix"})
    if (Name.contains(Part))
      return Effect::Warp;
  if (Name.contains("membar") || Name.contains("fence"))
    return Effect::Fence;
  if (Name.contains("_sreg_tid") || Name.contains("_sreg_ctaid") ||
      Name.contains("_sreg_ntid") || Name.contains("_sreg_nctaid"))
    return Effect::IndexInCall;
  if (Name.contains("sreg"))
    return Effect::SpecialRead;
  if (Name.contains("_atom"))
    return Effect::Atomic;
  if (Name.starts_with("__nvvm_ldg") || Name == "__nvvm_reflect" ||
      Name == "__nvvm_prmt" || Name.starts_with("__nvvm_bitcast"))
    return std::nullopt;
  if (unsigned Id = F->getBuiltinID()) {
    if (Ctx.BuiltinInfo.isConst(Id) ||
        Ctx.BuiltinInfo.isConstWithoutErrnoAndExceptions(Id))
      return std::nullopt;
    // Arithmetic that is not marked so, because of rounding modes.
    static constexpr llvm::StringRef Arithmetic[] = {
        "add",  "mul",      "fma",  "div",  "rcp",   "sqrt", "rsqrt", "ex2",
        "lg2",  "sin",      "cos",  "tanh", "floor", "ceil", "trunc", "round",
        "fabs", "fmin",     "fmax", "f2",   "d2",    "i2",   "ui2",   "ll2",
        "ull2", "abs",      "min",  "max",  "neg",   "ff2",  "lohi",  "sad",
        "brev", "saturate", "idp",  "exp",  "log"};
    if (Name.consume_front("__nvvm_") || Name.consume_front("__builtin_"))
      for (llvm::StringRef Part : Arithmetic)
        if (Name.starts_with(Part))
          return std::nullopt;
    if (Name == "assume" || Name == "expect" || Name == "unreachable")
      return std::nullopt;
  }
  return Effect::Unknown;
}

/// Does \p S compute its outputs from its inputs and do nothing else, as the
/// toolkit's functions of half and bfloat16 do?
static bool isArithmetic(const AsmStmt &S) {
  const auto *Gcc = dyn_cast<GCCAsmStmt>(&S);
  if (!Gcc || Gcc->isVolatile() || Gcc->getNumClobbers() != 0 ||
      Gcc->getNumLabels() != 0)
    return false;
  static const llvm::StringSet<> Instructions = {
      "abs", "add", "and",   "bfe",  "bfi",  "brev", "clz",  "copysign", "cos",
      "cvt", "div", "dp2a",  "dp4a", "ex2",  "fma",  "lg2",  "lop3",     "mad",
      "max", "min", "mov",   "mul",  "neg",  "not",  "or",   "popc",     "prmt",
      "rcp", "rem", "rsqrt", "sad",  "selp", "set",  "setp", "shf",      "shl",
      "shr", "sin", "slct",  "sqrt", "sub",  "tanh", "xor"};
  const std::string Text = Gcc->getAsmString();
  // An address, or a special register.
  if (llvm::StringRef(Text).contains('[') ||
      llvm::StringRef(Text).contains("%%"))
    return false;
  llvm::SmallVector<llvm::StringRef> Statements;
  llvm::StringRef(Text).split(Statements, ';');
  return llvm::all_of(Statements, [&](llvm::StringRef One) {
    One = One.ltrim("{} \t\r\n");
    if (One.consume_front("@"))
      One = One.drop_until([](char C) { return C == ' '; }).ltrim();
    return One.empty() || One.starts_with(".reg ") ||
           Instructions.contains(
               One.take_until([](char C) { return C == '.' || C == ' '; }));
  });
}

/// What waits for the launch that a programmatic dependent launch depends on,
/// or allows the next one. The latter promises nothing, wherever it stands: a
/// launch that depends on this one waits for all of it.
enum class GridControl { Wait, Launch };
static std::optional<GridControl> gridControl(const AsmStmt &S) {
  const auto *Gcc = dyn_cast<GCCAsmStmt>(&S);
  if (!Gcc || Gcc->getNumOutputs() + Gcc->getNumInputs() != 0)
    return std::nullopt;
  const std::string Text = Gcc->getAsmString();
  return llvm::StringSwitch<std::optional<GridControl>>(
             llvm::StringRef(Text).trim("; \t\r\n"))
      .Case("griddepcontrol.wait", GridControl::Wait)
      .Case("griddepcontrol.launch_dependents", GridControl::Launch)
      .Default(std::nullopt);
}

bool isGridControl(const Stmt &S) {
  if (const auto *Asm = dyn_cast<AsmStmt>(&S))
    return gridControl(*Asm).has_value();
  if (const auto *Call = dyn_cast<CallExpr>(&S)) {
    const FunctionDecl *F = Call->getDirectCallee();
    const Stmt *Body = F && Call->getNumArgs() == 0 ? F->getBody() : nullptr;
    return Body && isGridControl(*Body);
  }
  const auto *Compound = dyn_cast<CompoundStmt>(&S);
  return isa<NullStmt>(S) ||
         (Compound && llvm::all_of(Compound->body(), [](const Stmt *Part) {
            return isGridControl(*Part);
          }));
}

void Effects::visitCallee(const FunctionDecl *F, const Stmt *At) {
  if (!F) {
    note(Effect::Unknown, "calls an unknown function", At);
    return;
  }
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F);
      Method && Method->isVirtual())
    note(Effect::Unknown,
         "calls the virtual function '" + F->getNameAsString() + "'", At);
  const FunctionDecl *Definition = F->getDefinition();
  if (F->isTrivial() || (Definition && Definition->isTrivial()))
    return;
  // Their bodies are inline assembly; what they access, the memory's analysis
  // sees.
  if (cacheHint(*F))
    return;
  llvm::StringRef Name = nameOf(F);
  bool Builtin = F->getBuiltinID() && !F->hasBody();
  if (!Builtin && Definition && Definition->getBody()) {
    // Functions of the toolkit that are known by name need no look inside, and
    // have names that people know.
    if (isSystem(V, F) &&
        (Name.starts_with("__sync") || Name.starts_with("__shfl") ||
         Name.starts_with("__threadfence"))) {
      std::optional<Effect> E = effectOfLeaf(V.Ctx, F);
      note(E.value_or(Effect::Unknown), "calls " + Name, At);
      return;
    }
    visitFunction(Definition);
    return;
  }
  if (std::optional<Effect> E = effectOfLeaf(V.Ctx, F))
    note(*E, "calls " + F->getNameAsString(), At);
}

void Effects::visitFunction(const FunctionDecl *F) {
  if (!Seen.insert(F).second)
    return;
  Functions.push_back(F);
  const FunctionDecl *Before = Current;
  // Causes are named by the functions that people wrote.
  if (!isSystem(V, F) || !Current)
    Current = F;
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Constructor->inits())
      visitStmt(Init->getInit(), false);
  visitStmt(F->getBody(), F == &V.Fn);
  Current = Before;
}

void Effects::visitStmt(const Stmt *S, bool InKernel) {
  if (!S)
    return;
  if (const auto *E = dyn_cast<clang::Expr>(S)) {
    if (launchVariable(E)) {
      if (!InKernel)
        note(Effect::IndexInCall,
             "reads threadIdx, blockIdx, blockDim or "
             "gridDim",
             S);
      return;
    }
    if (E->isGLValue() && E->getType().isVolatileQualified())
      note(Effect::Fence, "accesses volatile memory", S);
  }
  if (const auto *Call = dyn_cast<CallExpr>(S)) {
    if (isAtomic(*Call)) {
      llvm::StringRef Name = nameOf(Call->getDirectCallee());
      bool Ordered = Name.contains("CAS") || Name.contains("Exch");
      const Stmt *Parent = InKernel ? V.parent(S) : nullptr;
      while (isa_and_nonnull<ParenExpr, ExprWithCleanups>(Parent))
        Parent = V.parent(Parent);
      bool Unused =
          isa_and_nonnull<CompoundStmt, IfStmt, ForStmt, WhileStmt>(Parent);
      if (const auto *If = dyn_cast_or_null<IfStmt>(Parent))
        Unused = If->getCond() != S;
      else if (const auto *For = dyn_cast_or_null<ForStmt>(Parent))
        Unused = For->getCond() != S;
      else if (const auto *While = dyn_cast_or_null<WhileStmt>(Parent))
        Unused = While->getCond() != S;
      if (const auto *Cast = dyn_cast_or_null<CastExpr>(Parent))
        Unused = Cast->getCastKind() == CK_ToVoid;
      note(Unused && !Ordered ? Effect::AtomicOnly : Effect::Atomic,
           "calls " + Name, S);
    } else {
      visitCallee(Call->getDirectCallee(), S);
    }
  } else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S)) {
    visitCallee(Construct->getConstructor(), S);
  } else if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl())) {
      if (Var->getNameAsString() == "warpSize")
        note(Effect::Warp, "uses warpSize", S);
      if (Var->hasAttr<CUDASharedAttr>())
        note(Effect::Shared, "uses shared memory", S);
    }
  } else if (const auto *Decls = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : Decls->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D)) {
        if (isa<DecompositionDecl>(Var) && InKernel)
          note(Effect::Lambda, "contains a structured binding", S);
        if (Var->hasAttr<CUDASharedAttr>())
          note(Effect::Shared, "uses shared memory", S);
        else if (Var->isStaticLocal() && !Var->isConstexpr())
          note(Effect::Static, "has a static variable", S);
        if (const CXXRecordDecl *R = Var->getType()
                                         ->getBaseElementTypeUnsafe()
                                         ->getAsCXXRecordDecl();
            R && R->hasDefinition() && !R->hasTrivialDestructor())
          visitCallee(R->getDestructor(), S);
      }
  } else if (const auto *Asm = dyn_cast<AsmStmt>(S)) {
    if (std::optional<GridControl> Control = gridControl(*Asm)) {
      if (*Control == GridControl::Wait)
        note(Effect::GridWait, "waits for the launch before it", S);
    } else if (!isArithmetic(*Asm))
      note(Effect::Assembly, "contains inline assembly", S);
  } else if (isa<CXXNewExpr, CXXDeleteExpr, CXXThrowExpr, CXXTryStmt,
                 CXXDynamicCastExpr, CUDAKernelCallExpr, AtomicExpr, StmtExpr,
                 VAArgExpr>(S)) {
    note(Effect::Unknown, "contains an unsupported kind of expression", S);
  } else if (isa<LambdaExpr>(S)) {
    note(Effect::Lambda, "contains a lambda expression", S);
  } else if (const auto *Argument = dyn_cast<CXXDefaultArgExpr>(S)) {
    // Written elsewhere: no rule edits it.
    visitStmt(Argument->getExpr(), false);
  } else if (const auto *Member = dyn_cast<CXXDefaultInitExpr>(S)) {
    visitStmt(Member->getExpr(), false);
  } else if (isa<GotoStmt, IndirectGotoStmt, LabelStmt>(S)) {
    if (InKernel)
      note(Effect::Jump, "contains a goto or a label", S);
  }
  for (const Stmt *Child : S->children())
    visitStmt(Child, InKernel);
}

} // namespace cupilot
