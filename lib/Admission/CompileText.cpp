//===- CompileText.cpp - Admission and code in one parse -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Admission/CompileText.h"
#include "cupilot/Compile/Prefix.h"
#include "cupilot/Compile/TextFiles.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
/// Notes whether the text was parsed without errors, before code is made of it.
class ParseConsumer : public ASTConsumer {
public:
  ParseConsumer(DiagnosticsEngine &Diags, bool &Parsed)
      : Diags(Diags), Parsed(Parsed) {}
  void HandleTranslationUnit(ASTContext &) override {
    Parsed = !Diags.hasErrorOccurred();
  }

private:
  DiagnosticsEngine &Diags;
  bool &Parsed;
};

class EmitAction : public EmitLLVMOnlyAction {
public:
  EmitAction(llvm::LLVMContext &Context, CompiledText &Into,
             const AdmissionOptions &Options, std::vector<std::string> *Files)
      : EmitLLVMOnlyAction(&Context), Into(Into), Options(Options),
        Files(Files) {}
  bool Parsed = false;

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef File) override {
    std::vector<std::unique_ptr<ASTConsumer>> Consumers;
    Consumers.push_back(createAdmissionConsumer(CI, Into.Findings, Options));
    Consumers.push_back(
        std::make_unique<ParseConsumer>(CI.getDiagnostics(), Parsed));
    if (auto CodeGen = EmitLLVMOnlyAction::CreateASTConsumer(CI, File))
      Consumers.push_back(std::move(CodeGen));
    return std::make_unique<MultiplexConsumer>(std::move(Consumers));
  }
  void EndSourceFileAction() override {
    SourceManager &SM = getCompilerInstance().getSourceManager();
    if (Files)
      for (auto It = SM.fileinfo_begin(); It != SM.fileinfo_end(); ++It)
        Files->push_back(It->first.getName().str());
    EmitLLVMOnlyAction::EndSourceFileAction();
  }

private:
  CompiledText &Into;
  AdmissionOptions Options;
  std::vector<std::string> *Files;
};
} // namespace

CompiledText emitText(const CompilerInvocation &Invocation, StringRef Path,
                      StringRef Text, const ParsedPrefix *Prefix,
                      const AdmissionOptions &Options,
                      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Below,
                      std::vector<std::string> *Files) {
  CompiledText Result;
  auto Context = std::make_unique<llvm::LLVMContext>();
  auto Action = std::make_unique<EmitAction>(*Context, Result, Options, Files);
  TextRun Run = runText(Invocation, Path, Text, Prefix, *Action, Result.Message,
                        std::move(Below));
  if (Run == TextRun::Crashed || Run == TextRun::Stopped) {
    (void)Action.release();
    (void)Context.release();
    Result.Fate =
        Run == TextRun::Stopped ? TextFate::Inadmissible : TextFate::Crashes;
    return Result;
  }
  // What is said of a text that does not parse may be wrong.
  if (!Action->Parsed)
    Result.Findings.clear();
  std::unique_ptr<llvm::Module> M = Action->takeModule();
  if (!Result.Findings.empty()) {
    Result.Fate = TextFate::Inadmissible;
  } else if (Run == TextRun::Failed || !M) {
    Result.Fate = TextFate::DoesNotCompile;
    if (Result.Message.empty())
      Result.Message = "the compiler emits no code for it";
  } else {
    llvm::raw_string_ostream Stream(Result.Bitcode);
    llvm::WriteBitcodeToFile(*M, Stream);
  }
  return Result;
}

} // namespace cupilot
