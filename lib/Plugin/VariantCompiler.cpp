//===- VariantCompiler.cpp - Variants compiled as the unit is -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VariantCompiler.h"
#include "cupilot/Admission/Admission.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/MachineCache.h"
#include "clang/Basic/Version.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"

using namespace clang;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
/// Code generation and admission in one parse.
class VariantAction : public EmitLLVMOnlyAction {
public:
  VariantAction(llvm::LLVMContext &Context,
                std::vector<AdmissionFinding> &Findings,
                std::vector<std::string> &Files)
      : EmitLLVMOnlyAction(&Context), Findings(Findings), Files(Files) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef File) override {
    std::vector<std::unique_ptr<ASTConsumer>> Consumers;
    Consumers.push_back(createAdmissionConsumer(CI, Findings));
    if (auto CodeGen = EmitLLVMOnlyAction::CreateASTConsumer(CI, File))
      Consumers.push_back(std::move(CodeGen));
    return std::make_unique<MultiplexConsumer>(std::move(Consumers));
  }
  void EndSourceFileAction() override {
    SourceManager &SM = getCompilerInstance().getSourceManager();
    for (auto It = SM.fileinfo_begin(); It != SM.fileinfo_end(); ++It)
      Files.push_back(It->first.getName().str());
    EmitLLVMOnlyAction::EndSourceFileAction();
  }

private:
  std::vector<AdmissionFinding> &Findings;
  std::vector<std::string> &Files;
};
} // namespace

/// The unit's command without what belongs to the unit's own text and outputs.
static std::shared_ptr<CompilerInvocation>
variantInvocation(CompilerInstance &Unit, StringRef Path) {
  auto Invocation = std::make_shared<CompilerInvocation>(Unit.getInvocation());
  FrontendOptions &Frontend = Invocation->getFrontendOpts();
  Frontend.Inputs = {FrontendInputFile(Path, InputKind(Language::CUDA))};
  Frontend.OutputFile.clear();
  Frontend.ProgramAction = frontend::EmitLLVMOnly;
  Frontend.Plugins.clear();
  Frontend.PluginArgs.clear();
  Frontend.AddPluginActions.clear();
  Frontend.ActionName.clear();
  Frontend.OriginalModuleMap.clear();
  PreprocessorOptions &Preprocessor = Invocation->getPreprocessorOpts();
  Preprocessor.Macros.clear();
  Preprocessor.ImplicitPCHInclude.clear();
  llvm::erase_if(Preprocessor.Includes, [](const std::string &Name) {
    return Name != "__clang_cuda_runtime_wrapper.h";
  });
  HeaderSearchOptions &Headers = Invocation->getHeaderSearchOpts();
  llvm::erase_if(Headers.UserEntries, [](const HeaderSearchOptions::Entry &E) {
    bool Users = E.Group == frontend::Angled || E.Group == frontend::Quoted;
    // Those of the toolkit are the same for the variant.
    return Users && !StringRef(E.Path).ends_with("/include/cccl") &&
           !llvm::sys::fs::exists(E.Path + "/cuda_runtime.h");
  });
  Invocation->getDependencyOutputOpts() = DependencyOutputOptions();
  CodeGenOptions &CodeGen = Invocation->getCodeGenOpts();
  CodeGen.DisableLLVMPasses = true;
  CodeGen.PassBuilderCallbacks.clear();
  CodeGen.PassPlugins.clear();
  CodeGen.OptRecordFile.clear();
  CodeGen.OptimizationRemark = CodeGenOptions::OptRemark();
  CodeGen.OptimizationRemarkMissed = CodeGenOptions::OptRemark();
  CodeGen.OptimizationRemarkAnalysis = CodeGenOptions::OptRemark();
  CodeGen.SplitDwarfOutput.clear();
  // Neither where the unit is compiled nor where the store lies is in the code.
  if (!CodeGen.hasReducedDebugInfo())
    CodeGen.DebugCompilationDir.clear();
  CodeGen.CoverageCompilationDir.clear();
  // Names that it makes unique are those of relocatable device code.
  Invocation->getLangOpts().CUID.clear();
  Invocation->getLangOpts()
      .MacroPrefixMap[llvm::sys::path::parent_path(Path).str()] = "cupilot";
  Invocation->getDiagnosticOpts().VerifyDiagnostics = false;
  return Invocation;
}

/// Where the machine cache keeps the bitcode that \p V becomes.
static MachineCacheEntry cacheEntry(const CompilerInvocation &Invocation,
                                    const BuildVariant &V) {
  // Where the store lies does not matter, and the compiler's own identity is
  // in the version and in the files.
  DigestBuilder Key;
  Key.add(getClangFullVersion())
      .add(CUPILOT_VERSION)
      .add(uint64_t(AdmissionVersion))
      .add(V.SourceDigest);
  CompilerInvocation Normal(Invocation);
  Normal.getFrontendOpts().Inputs.clear();
  Normal.getCodeGenOpts().MainFileName.clear();
  Normal.getLangOpts().MacroPrefixMap.clear();
  for (const std::string &Arg : Normal.getCC1CommandLine())
    Key.add(Arg);
  return {"variants", ".bc", Key};
}

Expected<std::string> compileVariant(CompilerInstance &Unit,
                                     const BuildVariant &V, StringRef Path) {
  Expected<std::string> Text = readVariant(V, Path);
  if (!Text)
    return Text.takeError();
  std::shared_ptr<CompilerInvocation> Invocation =
      variantInvocation(Unit, Path);
  MachineCacheEntry Cache = cacheEntry(*Invocation, V);
  if (std::optional<CachedBytes> Known = Cache.load())
    return std::move(Known->Bytes);

  std::string Messages;
  llvm::raw_string_ostream OS(Messages);
  CompilerInstance CI(Invocation);
  CI.setVirtualFileSystem(Unit.getVirtualFileSystemPtr());
  CI.createDiagnostics(new TextDiagnosticPrinter(OS, CI.getDiagnosticOpts()),
                       true);
  CI.setVerboseOutputStream(OS); // Or it would count warnings on stderr.
  llvm::LLVMContext Context;
  std::vector<AdmissionFinding> Findings;
  std::vector<std::string> Files;
  VariantAction Action(Context, Findings, Files);
  if (!CI.ExecuteAction(Action))
    return buildError(BuildReason::DoesNotCompile, {Messages});
  if (!Findings.empty())
    return buildError(
        BuildReason::Inadmissible,
        {std::to_string(Findings.front().Line), Findings.front().Message});
  std::unique_ptr<llvm::Module> M = Action.takeModule();
  if (!M)
    return findingError("it compiles to nothing");
  llvm::SmallVector<char, 0> Bytes;
  llvm::raw_svector_ostream Stream(Bytes);
  llvm::WriteBitcodeToFile(*M, Stream);
  std::string Bitcode(Bytes.begin(), Bytes.end());
  llvm::sort(Files);
  Cache.store({Bitcode, {}}, Files);
  return Bitcode;
}

} // namespace cupilot
