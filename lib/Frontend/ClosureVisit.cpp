//===- ClosureVisit.cpp - The walk over one declaration -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Closure.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace cupilot {

namespace {
class ClosureVisitor : public RecursiveASTVisitor<ClosureVisitor> {
public:
  ClosureVisitor(Closure &C, bool InBody) : C(C), InBody(InBody) {}
  bool shouldVisitImplicitCode() const { return true; }
  bool shouldVisitTemplateInstantiations() const { return false; }

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    C.mark(E->getFoundDecl());
    C.mark(E->getDecl());
    return true;
  }
  bool VisitMemberExpr(MemberExpr *E) {
    C.mark(E->getMemberDecl());
    C.mark(E->getFoundDecl().getDecl());
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    C.mark(E->getConstructor());
    markDestructor(E->getType());
    return true;
  }
  bool VisitCXXInheritedCtorInitExpr(CXXInheritedCtorInitExpr *E) {
    C.mark(E->getConstructor());
    return true;
  }
  bool VisitCXXBindTemporaryExpr(CXXBindTemporaryExpr *E) {
    C.mark(E->getTemporary()->getDestructor());
    return true;
  }
  bool VisitCXXNewExpr(CXXNewExpr *E) {
    C.mark(E->getOperatorNew());
    C.mark(E->getOperatorDelete());
    return true;
  }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *E) {
    C.mark(E->getOperatorDelete());
    if (!E->getDestroyedType().isNull())
      markDestructor(E->getDestroyedType());
    return true;
  }
  bool VisitUnresolvedLookupExpr(UnresolvedLookupExpr *E) {
    std::vector<const NamedDecl *> Candidates(E->decls_begin(), E->decls_end());
    if (!Candidates.empty())
      C.noteCandidates(std::move(Candidates));
    return true;
  }
  bool VisitUnresolvedMemberExpr(UnresolvedMemberExpr *E) {
    std::vector<const NamedDecl *> Candidates(E->decls_begin(), E->decls_end());
    C.noteCandidates(std::move(Candidates));
    return noteName(E->getMemberName());
  }
  bool VisitCXXDependentScopeMemberExpr(CXXDependentScopeMemberExpr *E) {
    return noteName(E->getMember());
  }
  bool VisitDependentScopeDeclRefExpr(DependentScopeDeclRefExpr *E) {
    return noteName(E->getDeclName());
  }
  bool VisitExpr(Expr *E) {
    // The type of an expression may be written nowhere near it.
    // The text of a static assertion has none.
    if (!E->getType().isNull())
      if (const auto *Tag = E->getType()->getAsTagDecl())
        C.mark(Tag);
    return true;
  }
  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *E) {
    C.refuse("it launches kernels itself (dynamic parallelism), at " +
             C.Unit.at(E->getBeginLoc()) +
             "; move that launch to the host to let it be extracted");
    return true;
  }
  bool VisitVarDecl(VarDecl *V) {
    markDestructor(V->getType());
    return true;
  }
  bool VisitUsingDirectiveDecl(UsingDirectiveDecl *D) {
    C.mark(D->getNominatedNamespaceAsWritten());
    return true;
  }
  bool VisitUsingDecl(UsingDecl *D) {
    for (const UsingShadowDecl *Shadow : D->shadows())
      C.mark(Shadow->getTargetDecl());
    return true;
  }
  bool VisitNamespaceAliasDecl(NamespaceAliasDecl *D) {
    C.mark(D->getAliasedNamespace());
    return true;
  }

  bool VisitTagType(TagType *T) {
    C.mark(T->getDecl());
    return true;
  }
  bool VisitTypedefType(TypedefType *T) {
    C.mark(T->getDecl());
    return true;
  }
  bool VisitUsingType(UsingType *T) {
    C.mark(T->getDecl());
    return TraverseType(T->desugar());
  }
  bool
  VisitDeducedTemplateSpecializationType(DeducedTemplateSpecializationType *T) {
    if (const auto *Template = dyn_cast_or_null<ClassTemplateDecl>(
            T->getTemplateName().getAsTemplateDecl()))
      C.noteDeduction(Template);
    return true;
  }
  bool VisitTemplateSpecializationType(TemplateSpecializationType *T) {
    if (const auto *Tag = T->getAsTagDecl())
      C.mark(Tag);
    return true;
  }
  bool VisitConceptReference(ConceptReference *R) {
    C.mark(R->getNamedConcept());
    return true;
  }

  bool TraverseTemplateName(TemplateName Name) {
    C.mark(Name.getAsUsingShadowDecl());
    C.mark(Name.getAsTemplateDecl(), Need::Declaration);
    return RecursiveASTVisitor::TraverseTemplateName(Name);
  }
  bool TraverseTemplateArgument(const TemplateArgument &Arg) {
    if (Arg.getKind() == TemplateArgument::Declaration)
      C.mark(Arg.getAsDecl());
    if (Arg.getKind() == TemplateArgument::Integral)
      return TraverseType(Arg.getIntegralType());
    return RecursiveASTVisitor::TraverseTemplateArgument(Arg);
  }
  bool TraverseNestedNameSpecifier(NestedNameSpecifier NNS) {
    if (NNS && NNS.getKind() == NestedNameSpecifier::Kind::Namespace)
      C.mark(NNS.getAsNamespaceAndPrefix().Namespace);
    return RecursiveASTVisitor::TraverseNestedNameSpecifier(NNS);
  }
  bool TraverseNestedNameSpecifierLoc(NestedNameSpecifierLoc Loc) {
    NestedNameSpecifier NNS = Loc.getNestedNameSpecifier();
    if (NNS && NNS.getKind() == NestedNameSpecifier::Kind::Namespace)
      C.mark(NNS.getAsNamespaceAndPrefix().Namespace);
    return RecursiveASTVisitor::TraverseNestedNameSpecifierLoc(Loc);
  }

private:
  bool noteName(DeclarationName Name) {
    // In bodies the instantiation says what a dependent name means; in
    // declarations substitution may have taken the name away.
    if (!InBody)
      C.noteDependentName(Name.getAsString());
    return true;
  }
  void markDestructor(QualType T) {
    if (T.isNull() || T->isDependentType())
      return;
    const CXXRecordDecl *R =
        T->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    if (R && R->hasDefinition() && !R->hasTrivialDestructor())
      C.mark(R->getDestructor());
  }

  Closure &C;
  bool InBody;
};

/// Looks into all function bodies, instantiations too.
class VariableUses : public RecursiveASTVisitor<VariableUses> {
public:
  using Callback =
      llvm::function_ref<void(const FunctionDecl *, const VarDecl *)>;
  explicit VariableUses(Callback Use) : Use(Use) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitLambdaBody() const { return true; }

  bool TraverseFunctionBody(const FunctionDecl *F) {
    const FunctionDecl *Outer = std::exchange(Current, F);
    bool Result = TraverseStmt(F->getBody());
    Current = Outer;
    return Result;
  }
  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && !F->isDependentContext() &&
        !F->getParentFunctionOrMethod())
      TraverseFunctionBody(F);
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (const auto *V = dyn_cast<VarDecl>(E->getDecl()))
      note(V);
    return true;
  }
  bool VisitMemberExpr(MemberExpr *E) {
    if (const auto *V = dyn_cast<VarDecl>(E->getMemberDecl()))
      note(V);
    return true;
  }

private:
  void note(const VarDecl *V) {
    if (Current && !V->isLocalVarDeclOrParm())
      Use(Current, V);
  }
  Callback Use;
  const FunctionDecl *Current = nullptr;
};

Decl *mutableDecl(const Decl *D) { return const_cast<Decl *>(D); }
} // namespace

static void walkAttributes(ClosureVisitor &V, const Decl *D) {
  for (const Attr *A : D->attrs())
    V.TraverseAttr(const_cast<Attr *>(A));
}

static void walkParameterList(ClosureVisitor &V,
                              const TemplateParameterList *List) {
  if (!List)
    return;
  for (const NamedDecl *P : *List)
    V.TraverseDecl(mutableDecl(P));
  if (const Expr *Requires = List->getRequiresClause())
    V.TraverseStmt(const_cast<Expr *>(Requires));
}

void walkFunctionDeclaration(Closure &C, const FunctionDecl *F,
                             bool WithQualifier) {
  ClosureVisitor V(C, /*InBody=*/false);
  if (WithQualifier)
    V.TraverseNestedNameSpecifierLoc(F->getQualifierLoc());
  if (const TypeSourceInfo *Info = F->getTypeSourceInfo())
    V.TraverseTypeLoc(Info->getTypeLoc());
  else
    V.TraverseType(F->getType());
  V.TraverseType(F->getReturnType());
  walkAttributes(V, F);
  walkTemplateParameters(C, F);
  if (const AssociatedConstraint &Constraint = F->getTrailingRequiresClause())
    V.TraverseStmt(const_cast<Expr *>(Constraint.ConstraintExpr));
  if (const ASTTemplateArgumentListInfo *Args =
          F->getTemplateSpecializationArgsAsWritten())
    for (const TemplateArgumentLoc &Arg : Args->arguments())
      V.TraverseTemplateArgumentLoc(Arg);
}

void walkFunctionBody(Closure &C, const FunctionDecl *F) {
  ClosureVisitor V(C, /*InBody=*/true);
  // Parameters are destroyed by the callee.
  for (const ParmVarDecl *P : F->parameters())
    V.VisitVarDecl(const_cast<ParmVarDecl *>(P));
  if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
    for (CXXCtorInitializer *Init : Ctor->inits())
      V.TraverseConstructorInitializer(Init);
  V.TraverseStmt(F->getBody());
}

void walkExpression(Closure &C, const Expr *E) {
  ClosureVisitor V(C, /*InBody=*/true);
  V.TraverseStmt(const_cast<Expr *>(E));
}

void walkType(Closure &C, QualType T) {
  ClosureVisitor V(C, /*InBody=*/true);
  V.TraverseType(T);
}

void walkTemplateArguments(Closure &C, const Decl *D) {
  ClosureVisitor V(C, /*InBody=*/true);
  const TemplateArgumentList *Args = nullptr;
  if (const auto *F = dyn_cast<FunctionDecl>(D))
    Args = F->getTemplateSpecializationArgs();
  else if (const auto *R = dyn_cast<ClassTemplateSpecializationDecl>(D))
    Args = &R->getTemplateArgs();
  else if (const auto *Var = dyn_cast<VarTemplateSpecializationDecl>(D))
    Args = &Var->getTemplateArgs();
  if (Args)
    V.TraverseTemplateArguments(Args->asArray());
}

void walkTemplateParameters(Closure &C, const Decl *D) {
  ClosureVisitor V(C, /*InBody=*/false);
  if (const auto *F = dyn_cast<FunctionDecl>(D)) {
    if (const FunctionTemplateDecl *T = F->getDescribedFunctionTemplate())
      walkParameterList(V, T->getTemplateParameters());
  } else if (const auto *Partial =
                 dyn_cast<ClassTemplatePartialSpecializationDecl>(D)) {
    walkParameterList(V, Partial->getTemplateParameters());
  } else if (const auto *R = dyn_cast<CXXRecordDecl>(D)) {
    if (const ClassTemplateDecl *T = R->getDescribedClassTemplate())
      walkParameterList(V, T->getTemplateParameters());
  } else if (const auto *Partial =
                 dyn_cast<VarTemplatePartialSpecializationDecl>(D)) {
    walkParameterList(V, Partial->getTemplateParameters());
  } else if (const auto *Var = dyn_cast<VarDecl>(D)) {
    if (const VarTemplateDecl *T = Var->getDescribedVarTemplate())
      walkParameterList(V, T->getTemplateParameters());
  }
  if (const auto *Declarator = dyn_cast<DeclaratorDecl>(D))
    for (unsigned I = 0; I < Declarator->getNumTemplateParameterLists(); ++I)
      walkParameterList(V, Declarator->getTemplateParameterList(I));
  if (const auto *R = dyn_cast<ClassTemplateSpecializationDecl>(D))
    if (const ASTTemplateArgumentListInfo *Args = R->getTemplateArgsAsWritten())
      for (const TemplateArgumentLoc &Arg : Args->arguments())
        V.TraverseTemplateArgumentLoc(Arg);
}

void walkBasesAndAttributes(Closure &C, const CXXRecordDecl *R) {
  ClosureVisitor V(C, /*InBody=*/false);
  V.TraverseNestedNameSpecifierLoc(R->getQualifierLoc());
  walkAttributes(V, R);
  if (R->isThisDeclarationADefinition())
    for (const CXXBaseSpecifier &Base : R->bases())
      V.TraverseTypeLoc(Base.getTypeSourceInfo()->getTypeLoc());
}

void walkDeclaration(Closure &C, const Decl *D) {
  ClosureVisitor V(C, /*InBody=*/false);
  if (const auto *Var = dyn_cast<VarDecl>(D)) {
    V.TraverseNestedNameSpecifierLoc(Var->getQualifierLoc());
    if (const TypeSourceInfo *Info = Var->getTypeSourceInfo())
      V.TraverseTypeLoc(Info->getTypeLoc());
    V.TraverseType(Var->getType());
    walkAttributes(V, Var);
    walkTemplateParameters(C, Var);
    if (const Expr *Init = Var->getInit())
      V.TraverseStmt(const_cast<Expr *>(Init));
    return;
  }
  V.TraverseDecl(mutableDecl(D));
}

void forEachVariableUse(
    ParsedUnit &Unit,
    llvm::function_ref<void(const FunctionDecl *, const VarDecl *)> Use) {
  VariableUses Uses(Use);
  for (Decl *D : Unit.Ctx.getTranslationUnitDecl()->decls())
    if (Unit.isUser(D->getLocation()))
      Uses.TraverseDecl(D);
}

} // namespace cupilot
