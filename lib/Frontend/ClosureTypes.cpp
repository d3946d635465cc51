//===- ClosureTypes.cpp - What the types and variables of a kernel use -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClosurePart.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"

using namespace clang;

namespace cupilot {

void Closure::processRecord(const CXXRecordDecl *R, Need N) {
  const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(R);
  if (R->isLambda()) {
    // Its text is part of what holds it; its body is walked there.
    return;
  }
  if (R->hasAttr<CUDADeviceBuiltinTextureTypeAttr>() ||
      R->hasAttr<CUDADeviceBuiltinSurfaceTypeAttr>())
    refuse("it uses a texture or surface reference, which the host binds; use "
           "texture or surface objects (cudaTextureObject_t) instead");
  if (const CXXRecordDecl *Definition = R->getDefinition())
    R = Definition;
  const CXXRecordDecl *W = R;
  if (Spec && !Spec->isExplicitSpecialization()) {
    auto From = cast<ClassTemplateSpecializationDecl>(R)
                    ->getSpecializedTemplateOrPartial();
    if (auto *Partial =
            dyn_cast<ClassTemplatePartialSpecializationDecl *>(From)) {
      while (Partial->getInstantiatedFromMember())
        Partial = Partial->getInstantiatedFromMember();
      W = Partial;
    } else {
      auto *Template = cast<ClassTemplateDecl *>(From);
      while (Template->getInstantiatedFromMemberTemplate())
        Template = Template->getInstantiatedFromMemberTemplate();
      W = Template->getTemplatedDecl();
    }
  } else if (const CXXRecordDecl *Member =
                 R->getInstantiatedFromMemberClass()) {
    while (Member->getInstantiatedFromMemberClass())
      Member = Member->getInstantiatedFromMemberClass();
    if (!R->getMemberSpecializationInfo() ||
        R->getTemplateSpecializationKind() != TSK_ExplicitSpecialization)
      W = Member;
  }
  if (!Unit.isUser(W->getLocation())) {
    needInclude(W);
    walkTemplateArguments(*this, R);
    return;
  }
  if (W != R) {
    Part P(*this, R, "instance");
    mark(W, R->hasDefinition() ? N : Need::Declaration);
    walkTemplateArguments(*this, R);
    needParent(R);
    if (N == Need::Definition && R->isThisDeclarationADefinition()) {
      walkBasesAndAttributes(*this, R);
      for (const FieldDecl *Field : R->fields())
        walkDeclaration(*this, Field);
      // Enumerators are computed with the class, used or not.
      for (const Decl *Member : R->decls())
        if (const auto *E = dyn_cast<EnumDecl>(Member))
          walkDeclaration(*this, E);
      if (!R->isDependentType() && !R->isInvalidDecl()) {
        const ASTRecordLayout &Layout = Unit.Ctx.getASTRecordLayout(R);
        P.add("size " + Twine(Layout.getSize().getQuantity()) + " align " +
              Twine(Layout.getAlignment().getQuantity()));
      }
    }
    return;
  }
  needWritten(R, N);
  if (Spec)
    mark(Spec->getSpecializedTemplate()->getTemplatedDecl(), Need::Declaration);
  needParent(R);
  for (const TagDecl *Tag : R->redecls()) {
    const auto *Redecl = cast<CXXRecordDecl>(Tag);
    const auto *Lexical =
        dyn_cast<CXXRecordDecl>(Redecl->getLexicalDeclContext());
    if (Lexical && !isa<CXXRecordDecl>(Redecl->getDeclContext()))
      continue; // `friend class R;`
    needPiecesOf(Redecl);
    Part P(*this, Redecl, "declaration");
    walkTemplateParameters(*this, Redecl);
    if (N == Need::Definition || !Redecl->isThisDeclarationADefinition())
      walkBasesAndAttributes(*this, Redecl);
  }
  if (N == Need::Definition && R->isThisDeclarationADefinition())
    processWrittenRecord(R);
}

void Closure::processWrittenRecord(const CXXRecordDecl *R) {
  if (!WrittenRecords.insert(R))
    return;
  Part P(*this, R, "members");
  if (R->hasAttr<MaxFieldAlignmentAttr>())
    PackedRecord = true;
  if (!R->isDependentType() && !R->isInvalidDecl()) {
    const ASTRecordLayout &Layout = Unit.Ctx.getASTRecordLayout(R);
    P.add("size " + Twine(Layout.getSize().getQuantity()) + " align " +
          Twine(Layout.getAlignment().getQuantity()));
  }
  for (const Decl *Member : R->decls()) {
    if (Member->isImplicit() ||
        isa<FriendDecl, StaticAssertDecl, AccessSpecDecl>(Member))
      continue;
    if (const auto *FT = dyn_cast<FunctionTemplateDecl>(Member)) {
      if (isa<CXXConstructorDecl>(FT->getTemplatedDecl()))
        mark(FT->getTemplatedDecl(), Need::Declaration);
      continue;
    }
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Member)) {
      if (Method->isVirtual() || isa<CXXDestructorDecl>(Method))
        mark(Method, Need::Definition);
      else if (shapesClass(Method))
        mark(Method, Need::Declaration);
      continue;
    }
    if (const auto *Using = dyn_cast<UsingDecl>(Member)) {
      for (const UsingShadowDecl *Shadow : Using->shadows())
        if (!isa<ConstructorUsingShadowDecl>(Shadow))
          mark(Shadow->getTargetDecl(), Need::Declaration);
      continue;
    }
    if (const auto *Nested = dyn_cast<CXXRecordDecl>(Member)) {
      mark(Nested);
      continue;
    }
    if (const auto *Nested = dyn_cast<ClassTemplateDecl>(Member)) {
      mark(Nested->getTemplatedDecl());
      continue;
    }
    if (isa<VarDecl, EnumDecl, TypedefNameDecl>(Member)) {
      mark(cast<NamedDecl>(Member));
      continue;
    }
    walkDeclaration(*this, Member);
  }
}

/// As cupilot-nvcc.h marks it.
static bool isManaged(const VarDecl *V) {
  return llvm::any_of(V->specific_attrs<AnnotateAttr>(),
                      [](const AnnotateAttr *A) {
                        return A->getAnnotation() == "cupilot.managed";
                      });
}

void Closure::processVariable(const VarDecl *V) {
  const VarDecl *W = V->getTemplateInstantiationPattern();
  bool Instance = W != nullptr;
  if (!Instance)
    W = V;
  if (!Unit.isUser(W->getLocation())) {
    needInclude(W);
    walkTemplateArguments(*this, V);
    return;
  }
  needParent(V);
  needParent(W);
  needWritten(W, Need::Definition);
  for (const VarDecl *Redecl : W->redecls()) {
    needPiecesOf(Redecl);
    Part P(*this, Redecl, "variable");
    walkDeclaration(*this, Redecl);
  }
  if (const auto *Spec = dyn_cast<VarTemplateSpecializationDecl>(V))
    mark(Spec->getSpecializedTemplate()->getTemplatedDecl());
  if (Instance) {
    Part P(*this, V, "instance");
    walkTemplateArguments(*this, V);
    walkDeclaration(*this, V);
  }
  bool OnDevice =
      V->hasAttr<CUDADeviceAttr>() || V->hasAttr<CUDAConstantAttr>();
  if (isManaged(V))
    refuse("it uses the managed variable '" + describe(V) +
           "'; pass its address as an argument instead");
  if (OnDevice && !V->getDefinition() && V->hasExternalStorage())
    refuse("it uses the device variable '" + describe(V) +
           "', which is declared at " + Unit.at(V->getLocation()) +
           " but defined in another unit; define it in this unit, or pass its "
           "address as an argument");
  if (OnDevice && !V->hasExternalFormalLinkage()) {
    bool ByHost = false;
    for (const VarDecl *Redecl : V->redecls())
      if (Unit.Ctx.CUDADeviceVarODRUsedByHost.count(Redecl))
        ByHost = true;
    if (ByHost)
      HostVariables.insert(V->getCanonicalDecl());
    else if (!V->getType().isConstQualified())
      InternalVariables.insert(V->getCanonicalDecl());
  }
}

void Closure::processEnum(const EnumDecl *E) {
  const EnumDecl *W = E->getTemplateInstantiationPattern();
  if (!W)
    W = E;
  if (!Unit.isUser(W->getLocation()))
    return needInclude(W);
  needParent(E);
  needParent(W);
  needWritten(W, Need::Definition);
  for (const TagDecl *Redecl : W->redecls()) {
    needPiecesOf(Redecl);
    Part P(*this, Redecl, "enumeration");
    walkDeclaration(*this, Redecl);
  }
}

} // namespace cupilot
