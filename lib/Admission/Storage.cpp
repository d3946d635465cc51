//===- Storage.cpp - Memory that a variant brings along -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace cupilot {

static constexpr uint64_t MostDeviceBytes = 1 << 20;

namespace {
class StorageRules : public RecursiveASTVisitor<StorageRules> {
public:
  StorageRules(AdmissionState &S, ASTContext &Context)
      : S(S), Context(Context), Names(Context.createMangleContext()) {}
  // Each instance has its own.
  static bool shouldVisitTemplateInstantiations() { return true; }

  bool VisitVarDecl(VarDecl *V) {
    bool Device =
        V->hasAttr<CUDADeviceAttr>() || V->hasAttr<CUDAConstantAttr>();
    // Constants of functions lie in memory, too.
    bool Static = V->isStaticLocal() || V->isFileVarDecl();
    if (!S.own(V->getLocation()) || !Static || V->hasAttr<CUDASharedAttr>() ||
        V->getType()->isDependentType() || V->getType()->isIncompleteType() ||
        V->isThisDeclarationADefinition() == VarDecl::DeclarationOnly ||
        V->getDescribedVarTemplate() || isa<ParmVarDecl>(V))
      return true;
    uint64_t Bytes = Context.getTypeSizeInChars(V->getType()).getQuantity();
    TextVariable Found{symbolOf(*V), V->getQualifiedNameAsString(),
                       S.SM.getExpansionLineNumber(V->getLocation()), Bytes};
    bool Known =
        S.Options.Original &&
        (llvm::is_contained(S.Options.Original->Variables, Found.Symbol) ||
         llvm::is_contained(S.Options.Original->Variables, Found.Name));
    if (!Known) {
      All = llvm::SaturatingAdd(All, Bytes);
      if (All > MostDeviceBytes && !std::exchange(TooMuch, true))
        S.add("device-memory", V->getLocation(),
              "with '" + V->getNameAsString() +
                  "' the variables and tables that the original does not have "
                  "take " +
                  std::to_string(All) +
                  " bytes of device memory; they may take 1 MiB in all");
    }
    if (Device && S.Options.Variables)
      S.Options.Variables->push_back(std::move(Found));
    return true;
  }

private:
  std::string symbolOf(const VarDecl &V) {
    if (!Names->shouldMangleDeclName(&V))
      return V.getNameAsString();
    std::string Symbol;
    llvm::raw_string_ostream OS(Symbol);
    Names->mangleName(GlobalDecl(&V), OS);
    return Symbol;
  }

  AdmissionState &S;
  ASTContext &Context;
  std::unique_ptr<MangleContext> Names;
  uint64_t All = 0;
  bool TooMuch = false;
};
} // namespace

void checkStorage(AdmissionState &S, ASTContext &Context) {
  StorageRules Visitor(S, Context);
  for (Decl *D : Context.getTranslationUnitDecl()->noload_decls())
    if (S.own(D->getLocation()))
      Visitor.TraverseDecl(D);
}

} // namespace cupilot
