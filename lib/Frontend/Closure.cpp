//===- Closure.cpp - What a kernel uses -*- C++ -*-===//
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

bool isSystem(const ParsedUnit &Unit, SourceLocation Loc) {
  SourceManager &SM = Unit.sources();
  if (Loc.isInvalid())
    return true;
  Loc = SM.getExpansionLoc(Loc);
  if (SM.isInSystemHeader(Loc) || SM.isWrittenInBuiltinFile(Loc) ||
      SM.isWrittenInCommandLineFile(Loc))
    return true;
  // CUDA's headers come through -isystem, CCCL's may come through -I.
  llvm::StringRef Name = SM.getFilename(Loc);
  return Name.contains("/include/cccl/") || Name.contains("/nvidia/cuda");
}

namespace {
class ClosureBuilder : public RecursiveASTVisitor<ClosureBuilder> {
public:
  ClosureBuilder(const ParsedUnit &Unit) : Unit(Unit) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    add(E->getDecl());
    add(E->getFoundDecl());
    return true;
  }
  bool VisitMemberExpr(MemberExpr *E) {
    add(E->getMemberDecl());
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    add(E->getConstructor());
    return true;
  }
  bool VisitOverloadExpr(OverloadExpr *E) {
    for (NamedDecl *D : E->decls())
      add(D);
    return true;
  }
  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *) {
    Result.Refusal = "it launches kernels itself (dynamic parallelism)";
    return true;
  }
  bool VisitTypedefTypeLoc(TypedefTypeLoc T) {
    add(T.getDecl());
    return true;
  }
  bool VisitType(Type *T) {
    addType(QualType(T, 0));
    return true;
  }
  bool VisitTagTypeLoc(TagTypeLoc T) {
    add(T.getDecl());
    return true;
  }
  bool VisitTemplateSpecializationTypeLoc(TemplateSpecializationTypeLoc T) {
    addType(T.getType());
    return true;
  }
  bool VisitVarDecl(VarDecl *D) {
    addType(D->getType());
    return true;
  }
  bool VisitFieldDecl(FieldDecl *D) {
    addType(D->getType());
    return true;
  }
  bool VisitExpr(Expr *E) {
    addType(E->getType());
    return true;
  }

  void addType(QualType T) {
    if (T.isNull() || T->isDependentType())
      return;
    const Type *P = T.getTypePtr();
    while (true) {
      if (const auto *Typedef = P->getAs<TypedefType>())
        add(Typedef->getDecl());
      if (P->isPointerType() || P->isReferenceType())
        P = P->getPointeeType().getTypePtr();
      else if (const Type *Element = P->getArrayElementTypeNoTypeQual();
               Element && P->isArrayType())
        P = Element;
      else
        break;
    }
    if (const auto *Tag = P->getAsTagDecl())
      add(Tag);
  }

  /// Notes \p D and goes through all that its text needs.
  void add(const Decl *D) {
    if (!D)
      return;
    D = textDecl(D);
    if (!D || isa<TranslationUnitDecl, NamespaceDecl>(D))
      return;
    if (isSystem(Unit, D->getLocation())) {
      Result.System.insert(D);
      return;
    }
    if (!D->getDeclContext()->getRedeclContext()->isFileContext())
      return; // Local: part of the text of what holds it.
    if (!Result.Own.insert(D))
      return;
    // The whole text is copied: all that it names must be there.
    for (const Decl *Redecl : D->redecls())
      TraverseDecl(const_cast<Decl *>(Redecl));
  }

  Closure Result;

private:
  /// The declaration at namespace level whose text holds \p D.
  const Decl *textDecl(const Decl *D) {
    for (;;) {
      // From instantiations to the pattern that was written.
      if (const auto *F = dyn_cast<FunctionDecl>(D)) {
        noteArguments(F->getTemplateSpecializationArgs());
        if (const FunctionDecl *Pattern = F->getTemplateInstantiationPattern())
          D = Pattern;
        F = cast<FunctionDecl>(D);
        if (const FunctionDecl *Definition = F->getDefinition())
          D = Definition;
        if (const auto *T =
                cast<FunctionDecl>(D)->getDescribedFunctionTemplate())
          D = T;
      } else if (const auto *R = dyn_cast<CXXRecordDecl>(D)) {
        if (const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(R)) {
          noteArguments(&Spec->getTemplateArgs());
          add(Spec->getSpecializedTemplate());
        }
        if (const CXXRecordDecl *Pattern = R->getTemplateInstantiationPattern())
          D = Pattern;
        R = cast<CXXRecordDecl>(D);
        if (const CXXRecordDecl *Definition = R->getDefinition())
          D = Definition;
        if (const auto *T = cast<CXXRecordDecl>(D)->getDescribedClassTemplate())
          D = T;
      } else if (const auto *E = dyn_cast<EnumDecl>(D)) {
        if (const EnumDecl *Definition = E->getDefinition())
          D = Definition;
      } else if (const auto *V = dyn_cast<VarDecl>(D)) {
        if (const VarDecl *Pattern = V->getTemplateInstantiationPattern())
          D = Pattern;
        if (const auto *T = cast<VarDecl>(D)->getDescribedVarTemplate())
          D = T;
      } else if (const auto *C = dyn_cast<ClassTemplateDecl>(D)) {
        if (const CXXRecordDecl *Definition =
                C->getTemplatedDecl()->getDefinition())
          if (const auto *T = Definition->getDescribedClassTemplate())
            D = T;
      } else if (const auto *S = dyn_cast<UsingShadowDecl>(D)) {
        add(S->getTargetDecl());
        D = cast<Decl>(S->getIntroducer());
      }
      const DeclContext *Context = D->getLexicalDeclContext();
      if (!Context || Context->isTranslationUnit() ||
          isa<NamespaceDecl>(Context))
        return D;
      if (isa<LinkageSpecDecl>(Context))
        return D;
      if (Context->isFunctionOrMethod())
        return D; // Local.
      D = cast<Decl>(Context);
    }
  }

  void noteArguments(const TemplateArgumentList *Args) {
    if (!Args)
      return;
    for (const TemplateArgument &A : Args->asArray()) {
      if (A.getKind() == TemplateArgument::Type) {
        addType(A.getAsType());
        if (const auto *R = A.getAsType()->getAsCXXRecordDecl();
            R && (R->isLambda() || R->isLocalClass()))
          Result.Refusal =
              "a template argument is a lambda or a local type, which no other "
              "file can name";
      } else if (A.getKind() == TemplateArgument::Declaration) {
        add(A.getAsDecl());
      }
    }
  }

  const ParsedUnit &Unit;
};
} // namespace

Closure closureOf(const FunctionDecl &Kernel, const ParsedUnit &Unit) {
  ClosureBuilder Builder(Unit);
  Builder.add(&Kernel);
  // The instantiation knows what dependent names came to mean.
  Builder.TraverseDecl(const_cast<FunctionDecl *>(&Kernel));
  if (Builder.Result.Refusal.empty())
    for (const Decl *D : Builder.Result.Own)
      if (const auto *V = dyn_cast<VarDecl>(D)) {
        if (V->hasAttr<HIPManagedAttr>())
          Builder.Result.Refusal =
              "it uses a __managed__ variable, which clang does not support";
        std::string TypeName = V->getType().getAsString();
        if (llvm::StringRef(TypeName).contains("texture<") ||
            llvm::StringRef(TypeName).contains("surface<"))
          Builder.Result.Refusal = "it uses a texture or surface reference";
      }
  return std::move(Builder.Result);
}

} // namespace cupilot
