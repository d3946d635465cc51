//===- Constants.cpp - Device variables that nobody writes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parse.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace cupilot {

namespace {
class ConstantsConsumer : public ASTConsumer {
public:
  explicit ConstantsConsumer(std::vector<std::string> &Names) : Names(Names) {}
  void HandleTranslationUnit(ASTContext &Ctx) override {
    find(Ctx, *Ctx.getTranslationUnitDecl());
  }

private:
  /// Whether it comes from the text, or from a header that the text includes:
  /// what comes before may have been parsed earlier, and has none.
  static bool isOfText(const SourceManager &SM, SourceLocation Loc) {
    return !SM.isBeforeInTranslationUnit(
        SM.getExpansionLoc(Loc), SM.getLocForStartOfFile(SM.getMainFileID()));
  }
  void find(const ASTContext &Ctx, const DeclContext &In) {
    for (const Decl *D : In.noload_decls()) {
      if (const auto *V = dyn_cast<VarDecl>(D);
          V &&
          (V->hasAttr<CUDADeviceAttr>() || V->hasAttr<CUDAConstantAttr>()) &&
          V->getType().isConstantStorage(Ctx, /*ExcludeCtor=*/true,
                                         /*ExcludeDtor=*/true) &&
          isOfText(Ctx.getSourceManager(), V->getLocation()))
        Names.push_back(V->getQualifiedNameAsString());
      if (isa<NamespaceDecl, LinkageSpecDecl, CXXRecordDecl>(D))
        find(Ctx, *cast<DeclContext>(D));
    }
  }

  std::vector<std::string> &Names;
};
} // namespace

std::unique_ptr<ASTConsumer>
createConstantsConsumer(std::vector<std::string> &Names) {
  return std::make_unique<ConstantsConsumer>(Names);
}

} // namespace cupilot
