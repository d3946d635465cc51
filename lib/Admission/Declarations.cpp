//===- Declarations.cpp - What a variant may declare and do -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "Rules.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

/// Names under which device code sees when or where it runs.
static bool seesTheMachine(StringRef Name) {
  StringRef Register = Name;
  for (StringRef Prefix : {"__nvvm_read_ptx_sreg_", "get_sreg_"})
    if (Register.consume_front(Prefix))
      return isMachineRegister(Register);
  return Name == "clock" || Name == "clock64" || Name == "__clock" ||
         Name == "__clock64" || Name == "__clock_hi" ||
         Name == "__globaltimer" || Name == "__builtin_readcyclecounter" ||
         Name == "__builtin_readsteadycounter";
}

/// The run time of CUDA, as device code can call it; but for two instructions
/// that bear such names.
static bool isRuntimeCall(StringRef Name) {
  return isRuntimeName(Name) &&
         Name != "cudaTriggerProgrammaticLaunchCompletion" &&
         Name != "cudaGridDependencySynchronize";
}

namespace {
class DeclRules : public RecursiveASTVisitor<DeclRules> {
public:
  DeclRules(AdmissionState &R, ASTContext &Context) : R(R), Context(Context) {}

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (!R.own(F->getLocation()) || F->isImplicit())
      return true;
    bool Device = F->hasAttr<CUDADeviceAttr>() ||
                  F->hasAttr<CUDAGlobalAttr>() || F->isConstexpr();
    bool Member = isa<CXXMethodDecl>(F) && !F->hasAttr<CUDAHostAttr>();
    bool HostOnly = F->hasAttr<CUDAHostAttr>() && !F->hasAttr<CUDADeviceAttr>();
    if (HostOnly || (!Device && !Member && !F->isDeleted() &&
                     F->isThisDeclarationADefinition()))
      R.add("host-function", F->getLocation(),
            "'" + F->getNameAsString() +
                "' is a host function; a variant holds device code only");
    if (Device && F->isExternC() && F->isThisDeclarationADefinition() &&
        (F->hasAttr<CUDAHostAttr>() || F->isConstexpr()))
      R.add("host-function", F->getLocation(),
            "'" + F->getNameAsString() +
                "' would take a C name of the program on the host");
    checkName(*F, HostOnly);
    if (F->doesThisDeclarationHaveABody())
      R.Bodies.push_back({R.offset(F->getBody()->getBeginLoc()),
                          R.offset(F->getBody()->getEndLoc())});
    if (F->isUsed(/*CheckUsedAttr=*/false) && !F->isDefined() &&
        !F->getBuiltinID() && F->isFirstDecl() && !F->isPureVirtual() &&
        !F->isDeleted())
      R.add("extern", F->getLocation(),
            "'" + F->getNameAsString() +
                "' is called and not defined: it would come from elsewhere");
    return true;
  }
  /// A function for both sides that has the name of another one would be called
  /// by the program's own code, wherever the text is put.
  void checkName(const FunctionDecl &F, bool HostOnly) {
    const IdentifierInfo *II = F.getIdentifier();
    if (!II || HostOnly || isa<CXXMethodDecl>(F) ||
        (F.isExternC() && F.isThisDeclarationADefinition() &&
         F.hasAttr<CUDAHostAttr>())) // Refused already.
      return;
    const DeclContext *In = F.getDeclContext()->getRedeclContext();
    while (const auto *N = dyn_cast<NamespaceDecl>(In)) {
      if (!N->isInline() && !N->isAnonymousNamespace() && !N->isStdNamespace())
        return;
      In = N->getParent()->getRedeclContext();
    }
    if (!In->isTranslationUnit())
      return;
    bool BothSides = F.hasAttr<CUDAHostAttr>() || F.isConstexpr();
    StringRef Name = II->getName();
    if (isRuntimeName(Name) ? BothSides || F.isThisDeclarationADefinition()
                            : BothSides && isNameOfOthers(F))
      R.add("overload", F.getLocation(),
            "'" + Name.str() +
                "' has the name of a function of the run time or of the C "
                "library; the program would call it. Give it a name of its own"
                ", or make it __device__ alone");
  }
  bool isNameOfOthers(const FunctionDecl &F) {
    if (F.getIdentifier()->getBuiltinID())
      return true;
    return llvm::any_of(
        Context.getTranslationUnitDecl()->lookup(F.getDeclName()),
        [&](const NamedDecl *D) {
          return D->getUnderlyingDecl()->getAsFunction() &&
                 !R.own(D->getLocation());
        });
  }
  bool VisitVarDecl(VarDecl *V) {
    if (!R.own(V->getLocation()))
      return true;
    if (V->isStaticLocal() && !V->hasAttr<CUDASharedAttr>() &&
        !V->hasAttr<CUDAConstantAttr>() && !V->isConstexpr() &&
        !V->getType().isConstQualified())
      R.add("state", V->getLocation(),
            "'" + V->getNameAsString() +
                "' keeps its value from one launch to the next");
    if (!V->isFileVarDecl())
      return true;
    bool Device = V->hasAttr<CUDADeviceAttr>() ||
                  V->hasAttr<CUDAConstantAttr>() ||
                  V->hasAttr<CUDASharedAttr>();
    if (!Device && !V->isConstexpr() && !V->getType().isConstQualified())
      R.add("host-variable", V->getLocation(),
            "'" + V->getNameAsString() + "' is a variable of the host");
    const Expr *Init = V->getInit();
    bool Destroyed = !V->getType()->isDependentType() &&
                     V->needsDestruction(Context) != QualType::DK_none;
    if (!Device && Init && !Init->isValueDependent() &&
        (Destroyed || !Init->isConstantInitializer(Context, false)))
      R.add("dynamic-init", V->getLocation(),
            "'" + V->getNameAsString() +
                "' is initialised by code that runs before main, or destroyed "
                "by code that runs after it");
    return true;
  }
  /// Who judges looks at every decision, and at pairs of them.
  bool VisitStmt(Stmt *S) {
    constexpr unsigned MostDecisions = 2048;
    const auto *Binary = dyn_cast<clang::BinaryOperator>(S);
    if (!isa<IfStmt, SwitchCase, WhileStmt, DoStmt, ForStmt,
             AbstractConditionalOperator>(S) &&
        !(Binary && Binary->isLogicalOp()))
      return true;
    if (R.own(S->getBeginLoc()) && ++Decisions == MostDecisions + 1)
      R.add("nesting", S->getBeginLoc(),
            "more than " + std::to_string(MostDecisions) +
                " conditions and loops: who compiles and judges them may not "
                "come to an end");
    return true;
  }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *A) {
    if (R.own(A->getAsmLoc()))
      R.add("file-asm", A->getAsmLoc(), "assembly outside of a function");
    return true;
  }

  bool VisitGCCAsmStmt(GCCAsmStmt *A) {
    // Of templates too: the text does not depend on their arguments.
    auto *Text = dyn_cast<clang::StringLiteral>(A->getAsmStringExpr());
    if (!Text) {
      R.add("asm", A->getAsmLoc(), "inline assembly that is no plain string");
      return true;
    }
    if (std::optional<AssemblyFinding> Found = checkAssembly(Text->getString()))
      R.add(Found->Rule, A->getAsmLoc(), "inline assembly with " + Found->What);
    if (A->isAsmGoto())
      R.add("asm", A->getAsmLoc(), "inline assembly that jumps out");
    for (unsigned I = 0; I < A->getNumOutputs(); ++I)
      checkConstraint(*A, A->getOutputConstraint(I));
    for (unsigned I = 0; I < A->getNumInputs(); ++I)
      checkConstraint(*A, A->getInputConstraint(I));
    return true;
  }
  /// An operand must be a register or a number: "i" could be an address, "C"
  /// any text.
  void checkConstraint(const GCCAsmStmt &A, StringRef Constraint) {
    StringRef Rest = Constraint.ltrim("=+&%");
    bool Tied = !Rest.empty() && llvm::all_of(Rest, llvm::isDigit);
    if (!Tied && Rest != "n" &&
        (Rest.size() != 1 || !StringRef("bchrlfdq").contains(Rest)))
      R.add("asm", A.getAsmLoc(),
            "inline assembly with the constraint '" + Constraint.str() + "'");
  }
  bool VisitMSAsmStmt(MSAsmStmt *A) {
    R.add("asm", A->getAsmLoc(), "assembly for the host");
    return true;
  }
  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *E) {
    R.add("launch", E->getBeginLoc(), "a kernel that launches kernels");
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (const auto *F = dyn_cast<FunctionDecl>(E->getDecl()))
      checkUse(*F, E->getLocation());
    return true;
  }
  bool VisitOverloadExpr(OverloadExpr *E) {
    for (const NamedDecl *D : E->decls())
      if (const auto *F = dyn_cast<FunctionDecl>(D->getUnderlyingDecl())) {
        checkUse(*F, E->getNameLoc());
        break;
      }
    return true;
  }
  void checkUse(const FunctionDecl &F, SourceLocation At) {
    if (const FunctionDecl *Definition = F.getDefinition();
        Definition && R.own(Definition->getLocation()))
      return; // Its own, whatever its name.
    const IdentifierInfo *II = F.getIdentifier();
    if (!II || !R.spelledHere(At))
      return;
    if (II->getName() == "printf" || II->getName() == "vprintf" ||
        II->getName() == "__builtin_printf")
      checkPrint(At);
    bool Now = II->getName() == "now" &&
               StringRef(F.getQualifiedNameAsString()).contains("chrono::");
    if (Now || seesTheMachine(II->getName()))
      R.add("timing", At,
            "'" + II->getName().str() +
                "' tells the kernel when or where it runs: it could behave "
                "otherwise when it is timed");
    else if (isRuntimeCall(II->getName()))
      R.add("launch", At,
            "'" + II->getName().str() +
                "' of the CUDA run time in device code; the launch plan alone "
                "says what is launched");
  }
  void checkPrint(SourceLocation At) {
    if (R.Options.PrintLine && !*R.Options.PrintLine)
      *R.Options.PrintLine = R.SM.getExpansionLineNumber(At);
    if (R.Options.Original && !R.Options.Original->Prints)
      R.add("output", At, "prints, which the original does not");
  }
  bool VisitPredefinedExpr(PredefinedExpr *E) {
    if (E->getIdentKind() != PredefinedIdentKind::Func &&
        E->getIdentKind() != PredefinedIdentKind::Function &&
        R.own(E->getLocation()) && R.spelledHere(E->getLocation()))
      R.add("environment", E->getLocation(),
            PredefinedExpr::getIdentKindName(E->getIdentKind()).str() +
                " makes the code depend on the compiler");
    return true;
  }
  /// The assert of glibc 2.39 names its file so, as older ones by __FILE__.
  bool isOfSystemsAssert(SourceLocation Loc) const {
    for (; Loc.isMacroID() && !R.spelledHere(Loc);
         Loc = R.SM.getImmediateExpansionRange(Loc).getBegin())
      if (Lexer::getImmediateMacroName(Loc, R.SM, Context.getLangOpts()) ==
          "assert")
        return true;
    return false;
  }
  bool VisitSourceLocExpr(SourceLocExpr *E) {
    if (isOfSystemsAssert(E->getLocation()))
      return true;
    if (E->getIdentKind() == SourceLocIdentKind::File ||
        E->getIdentKind() == SourceLocIdentKind::FileName ||
        E->getIdentKind() == SourceLocIdentKind::SourceLocStruct)
      R.add("environment", E->getLocation(),
            E->getBuiltinStr().str() +
                " makes the code depend on where it is compiled");
    return true;
  }
  bool VisitDecl(Decl *D) {
    if (!R.own(D->getLocation()))
      return true;
    // Attributes proper are looked at by name; a label is none.
    if (D->hasAttr<AsmLabelAttr>() &&
        !D->getAttr<AsmLabelAttr>()->isInherited() &&
        !D->getAttr<AsmLabelAttr>()->isImplicit())
      R.add("attribute", D->getLocation(),
            "an asm label names '" +
                D->getAttr<AsmLabelAttr>()->getLabel().str() +
                "', outside of the kernel");
    return true;
  }

private:
  unsigned Decisions = 0;
  AdmissionState &R;
  ASTContext &Context;
};
} // namespace

void checkDeclarations(AdmissionState &S, ASTContext &Context) {
  DeclRules Visitor(S, Context);
  // What was parsed earlier (Prefix.h) need not be loaded: it is not the
  // text's.
  for (Decl *D : Context.getTranslationUnitDecl()->noload_decls())
    if (S.own(D->getLocation()))
      Visitor.TraverseDecl(D);
}

} // namespace cupilot
