//===- Admit.cpp - Admission at evolution time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Admission/Admission.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Driver/CreateInvocationFromArgs.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
class ConstantsConsumer : public ASTConsumer {
public:
  explicit ConstantsConsumer(std::vector<std::string> &Names) : Names(Names) {}
  void HandleTranslationUnit(ASTContext &Ctx) override {
    find(Ctx, *Ctx.getTranslationUnitDecl());
  }

private:
  void find(const ASTContext &Ctx, const DeclContext &In) {
    for (const Decl *D : In.decls()) {
      if (const auto *V = dyn_cast<VarDecl>(D);
          V &&
          (V->hasAttr<CUDADeviceAttr>() || V->hasAttr<CUDAConstantAttr>()) &&
          V->getType().isConstantStorage(Ctx, /*ExcludeCtor=*/true,
                                         /*ExcludeDtor=*/true))
        Names.push_back(V->getQualifiedNameAsString());
      if (isa<NamespaceDecl, LinkageSpecDecl, CXXRecordDecl>(D))
        find(Ctx, *cast<DeclContext>(D));
    }
  }

  std::vector<std::string> &Names;
};

class AdmitAction : public SyntaxOnlyAction {
public:
  AdmitAction(std::vector<AdmissionFinding> &Findings,
              std::vector<std::string> *Constants)
      : Findings(Findings), Constants(Constants) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef) override {
    std::vector<std::unique_ptr<ASTConsumer>> All;
    All.push_back(createAdmissionConsumer(CI, Findings));
    if (Constants)
      All.push_back(std::make_unique<ConstantsConsumer>(*Constants));
    return std::make_unique<MultiplexConsumer>(std::move(All));
  }

private:
  std::vector<AdmissionFinding> &Findings;
  std::vector<std::string> *Constants;
};
} // namespace

llvm::Expected<std::vector<AdmissionFinding>>
admit(StringRef Source, llvm::ArrayRef<std::string> Flags,
      std::vector<std::string> *Constants) {
  llvm::Expected<Toolchain> Tools = Toolchain::find(Flags);
  if (!Tools)
    return Tools.takeError();
  llvm::Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-admit");
  if (!Dir)
    return Dir.takeError();
  std::string Path = Dir->file("variant.cu");
  if (llvm::Error E = writeFileAtomic(Path, Source))
    return std::move(E);
  std::vector<std::string> Command =
      Tools->cudaCommand(withoutArchitectures(variantFlags(Flags)));
  for (std::string Arg :
       {std::string("-x"), std::string("cuda"),
        std::string("--cuda-device-only"), std::string("-fsyntax-only"),
        "--cuda-gpu-arch=" + gpuArchitectures(Flags).front(), Path})
    Command.push_back(Arg);
  std::vector<const char *> Argv;
  for (const std::string &Arg : Command)
    Argv.push_back(Arg.c_str());
  std::string Messages;
  llvm::raw_string_ostream OS(Messages);
  auto Vfs = llvm::vfs::getRealFileSystem();
  DiagnosticOptions Options;
  TextDiagnosticPrinter Printer(OS, Options);
  CreateInvocationOptions Create;
  Create.Diags =
      CompilerInstance::createDiagnostics(*Vfs, Options, &Printer, false);
  Create.VFS = Vfs;
  std::shared_ptr<CompilerInvocation> Invocation =
      createInvocation(Argv, Create);
  if (!Invocation)
    return usageError("clang does not understand the flags:\n" + Messages);
  // The driver lets processes end without freeing; this one goes on.
  Invocation->getFrontendOpts().DisableFree = false;
  CompilerInstance CI(Invocation);
  CI.setVirtualFileSystem(Vfs);
  CI.createDiagnostics(&Printer, /*ShouldOwnClient=*/false);
  CI.setVerboseOutputStream(OS); // Or it would count warnings on stderr.
  std::vector<AdmissionFinding> Findings;
  AdmitAction Action(Findings, Constants);
  if (!CI.ExecuteAction(Action))
    return usageError("the variant does not parse:\n" + Messages);
  return Findings;
}

} // namespace cupilot
