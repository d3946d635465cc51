//===- HostErrors.cpp - Errors that device code does not feel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc takes host code that clang does not: its headers overload more for the
// host, and its parser looks at less. The host's functions decide nothing but
// which templates of device code are instantiated.
//
//===----------------------------------------------------------------------===//

#include "HostErrors.h"
#include "NvccMacro.h"
#include "cupilot/Compile/Repairs.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Sema/Sema.h"

using namespace clang;

namespace cupilot {

/// Whether the host alone runs \p F. A lambda in a function of the host is the
/// host's, unless it says that it is the device's too.
static bool isHostOnly(const FunctionDecl *F) {
  while (F && !F->hasAttr<CUDAGlobalAttr>()) {
    const auto *Device = F->getAttr<CUDADeviceAttr>();
    if (!Device)
      return true;
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    if (!Device->isImplicit() || !Method || !Method->getParent()->isLambda())
      return false;
    const DeclContext *Outer = Method->getParent()->getParent();
    while (Outer && !Outer->isFunctionOrMethod())
      Outer = Outer->getParent();
    F = dyn_cast_or_null<FunctionDecl>(Outer);
  }
  return false;
}

namespace {
/// Counts and passes on what is not of the host alone.
class DeviceErrors : public DiagnosticConsumer {
public:
  DeviceErrors(CompilerInstance &CI, DiagnosticConsumer &Printer,
               Repairs *Mending)
      : CI(CI), Printer(Printer), Mending(Mending) {}

  void BeginSourceFile(const LangOptions &LO, const Preprocessor *PP) override {
    Printer.BeginSourceFile(LO, PP);
  }
  void EndSourceFile() override { Printer.EndSourceFile(); }
  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    if (Level != DiagnosticsEngine::Note)
      Muted = Level == DiagnosticsEngine::Error && inHostFunction();
    if (Muted)
      return;
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Mending && Level == DiagnosticsEngine::Error)
      Mending->note(Info, CI);
    if (getNumErrors() <= MostErrors)
      Printer.HandleDiagnostic(Level, Info);
  }

private:
  static constexpr unsigned MostErrors = 20;

  bool inHostFunction() const {
    return CI.hasSema() &&
           isHostOnly(CI.getSema().getCurFunctionDecl(/*AllowLambda=*/true));
  }

  CompilerInstance &CI;
  DiagnosticConsumer &Printer;
  Repairs *Mending; ///< May be null.
  bool Muted = false;
};

/// Takes errors back that did not count, before code is emitted. Not inside of
/// a function: there clang asks whether to clean up after an error.
class Forgiver : public ASTConsumer {
public:
  Forgiver(CompilerInstance &CI, const DiagnosticConsumer &Counted)
      : CI(CI), Counted(Counted) {}
  bool HandleTopLevelDecl(DeclGroupRef) override {
    forgive();
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl *) override { forgive(); }
  void HandleTagDeclDefinition(TagDecl *) override { forgive(); }
  void HandleTranslationUnit(ASTContext &) override { forgive(); }

private:
  void forgive() {
    DiagnosticsEngine &Diags = CI.getDiagnostics();
    if (Diags.hasErrorOccurred() && !Counted.getNumErrors() &&
        !CI.getSema().getCurFunctionDecl(/*AllowLambda=*/true))
      Diags.Reset(/*soft=*/true);
  }

  CompilerInstance &CI;
  const DiagnosticConsumer &Counted;
};

/// An action that somebody else owns, with a Forgiver.
class ForgivingAction : public WrapperFrontendAction {
public:
  ForgivingAction(FrontendAction &Action, const DiagnosticConsumer &Counted,
                  bool ByNvcc)
      : WrapperFrontendAction(std::unique_ptr<FrontendAction>(&Action)),
        Counted(Counted), ByNvcc(ByNvcc) {}
  ~ForgivingAction() override { (void)WrappedAction.release(); }

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef File) override {
    if (ByNvcc)
      defineNvccForProgram(CI.getPreprocessor(), CI.getHeaderSearchOpts());
    std::vector<std::unique_ptr<ASTConsumer>> All;
    All.push_back(std::make_unique<Forgiver>(CI, Counted));
    All.push_back(WrapperFrontendAction::CreateASTConsumer(CI, File));
    if (!All.back())
      return nullptr;
    return std::make_unique<MultiplexConsumer>(std::move(All));
  }

private:
  const DiagnosticConsumer &Counted;
  bool ByNvcc;
};
} // namespace

bool runForDevice(CompilerInstance &CI, FrontendAction &Action,
                  DiagnosticConsumer &Printer, bool ByNvcc, Repairs *Mending) {
  // Or what does not count would end the run.
  CI.getDiagnosticOpts().ErrorLimit = 0;
  DeviceErrors Errors(CI, Printer, Mending);
  CI.createDiagnostics(&Errors, /*ShouldOwnClient=*/false);
  ForgivingAction Forgiving(Action, Errors, ByNvcc);
  return CI.ExecuteAction(Forgiving) && !CI.getDiagnostics().hasErrorOccurred();
}

} // namespace cupilot
