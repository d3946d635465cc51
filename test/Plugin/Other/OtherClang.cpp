//===- OtherClang.cpp - Another clang plugin, for tests -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Says at the end of each unit how many functions with bodies its main file
// has.
//
//===----------------------------------------------------------------------===//

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

using namespace clang;

namespace {
class Counter : public ASTConsumer {
  void HandleTranslationUnit(ASTContext &Context) override {
    unsigned Functions = 0;
    for (const Decl *D : Context.getTranslationUnitDecl()->decls())
      if (const auto *F = dyn_cast<FunctionDecl>(D))
        Functions += F->hasBody() &&
                     Context.getSourceManager().isInMainFile(F->getLocation());
    llvm::errs() << "other plugin: " << Functions << " functions\n";
  }
};

class CountAction : public PluginASTAction {
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &,
                                                 StringRef) override {
    return std::make_unique<Counter>();
  }
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }
  ActionType getActionType() override { return AddAfterMainAction; }
};
} // namespace

// NOLINTNEXTLINE(cert-err58-cpp): how LLVM's registries work.
static FrontendPluginRegistry::Add<CountAction> Added("other", "counts");
