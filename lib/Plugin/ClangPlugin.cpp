//===- ClangPlugin.cpp - cuPilot in clang -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -fplugin=cupilot: adds the substitution to the start of the LLVM pipeline of
// both halves of a CUDA compilation. Nothing is parsed twice.
//
//===----------------------------------------------------------------------===//

#include "VariantCompiler.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Substitute/PluginArguments.h"
#include "cupilot/Substitute/Remarks.h"
#include "cupilot/Substitute/UnitReport.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendDiagnostic.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace clang;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
class CupilotAction : public PluginASTAction {
protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef File) override;
  bool ParseArgs(const CompilerInstance &CI,
                 const std::vector<std::string> &Args) override;
  ActionType getActionType() override { return AddBeforeMainAction; }

private:
  PluginArguments Arguments;
};

/// The substitution as a pass at the start of the pipeline.
class SubstitutionPass : public llvm::PassInfoMixin<SubstitutionPass> {
public:
  SubstitutionPass(CompilerInstance &CI, const PluginArguments &Arguments,
                   std::shared_ptr<BuildStore> Store, bool StoreIsExplicit)
      : CI(&CI), Arguments(Arguments), Store(std::move(Store)),
        StoreIsExplicit(StoreIsExplicit) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  void report(const llvm::Module &M,
              const std::vector<SubstitutionOutcome> &Outcomes,
              const std::vector<LaunchSite> &Sites) const;
  void error(StringRef Message) const;

  CompilerInstance *CI;
  PluginArguments Arguments;
  std::shared_ptr<BuildStore> Store;
  bool StoreIsExplicit;
};
} // namespace

static void diagnose(const CompilerInstance &CI, StringRef Message) {
  DiagnosticsEngine &Diagnostics = CI.getDiagnostics();
  unsigned Id =
      Diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "cupilot: %0");
  Diagnostics.Report(Id) << Message;
}

/// A store that was named must be there; one that lies around need not work,
/// unless the build is \p Strict.
static void diagnoseStore(const CompilerInstance &CI, bool Explicit,
                          bool Strict, llvm::Error E) {
  std::string Message = toString(std::move(E));
  if (Explicit || Strict)
    return diagnose(CI, Message);
  DiagnosticsEngine &Diagnostics = CI.getDiagnostics();
  Diagnostics.Report(Diagnostics.getCustomDiagID(
      DiagnosticsEngine::Warning, "cupilot: %0; compiling without it"))
      << Message;
}

/// The whole unit is left as it is.
static SubstitutionOutcome refused(BuildNote Why) {
  return {"", SubstitutionResult::Refused, std::move(Why)};
}

bool CupilotAction::ParseArgs(const CompilerInstance &CI,
                              const std::vector<std::string> &Args) {
  for (StringRef Arg : Args) {
    if (llvm::Error E = parsePluginArgument(Arg, Arguments)) {
      diagnose(CI, toString(std::move(E)));
      return false;
    }
  }
  if (Arguments.Help)
    llvm::errs() << "cupilot " CUPILOT_VERSION
                    " for clang 22; arguments have the form "
                    "-fplugin-arg-cupilot-KEY=VALUE\n"
                 << pluginArgumentsHelp();
  if (Arguments.Version)
    llvm::errs() << "cupilot " CUPILOT_VERSION " for LLVM " CUPILOT_LLVM_VERSION
                    "\n";
  return true;
}

/// Clang's driver gives all halves of a compilation one file for their
/// optimisation record, and the host's, written last, would be all that stays.
static void keepDeviceRecord(CompilerInstance &CI) {
  std::string &File = CI.getCodeGenOpts().OptRecordFile;
  if (!CI.getLangOpts().CUDAIsDevice || File.empty())
    return;
  // "heat.opt.yaml" becomes "heat-sm_90.opt.yaml".
  size_t At = StringRef(File).rfind(".opt.");
  if (At == StringRef::npos)
    At = File.size() - llvm::sys::path::extension(File).size();
  File.insert(At, "-" + CI.getTargetOpts().CPU);
}

std::unique_ptr<ASTConsumer>
CupilotAction::CreateASTConsumer(CompilerInstance &CI, StringRef File) {
  auto Nothing = std::make_unique<ASTConsumer>();
  if (!CI.getLangOpts().CUDA || Arguments.isOff())
    return Nothing;
  // The passes run in another process, which sees no plugin.
  if (CI.getCodeGenOpts().DisableLLVMPasses &&
      CI.getCodeGenOpts().OptimizationRemarkMissed.patternMatches("cupilot")) {
    DiagnosticsEngine &Diagnostics = CI.getDiagnostics();
    Diagnostics.Report(Diagnostics.getCustomDiagID(
        DiagnosticsEngine::Remark, "%0 [-Rpass-missed=cupilot]"))
        << refused(BuildReason::SaveTemps).message();
    return Nothing;
  }
  bool Explicit = false;
  std::string Root = resolveStore(Arguments.Store, File, Explicit);
  if (Root.empty())
    return Nothing;
  if (Expected<bool> Modelled = Arguments.takesModelled()) {
    Arguments.UseModelled = *Modelled;
  } else {
    diagnose(CI, toString(Modelled.takeError()));
    return Nothing;
  }
  Expected<BuildStore> Opened = BuildStore::open(Root);
  if (!Opened) {
    diagnoseStore(CI, Explicit, Arguments.Strict, Opened.takeError());
    return Nothing;
  }
  auto Store = std::make_shared<BuildStore>(std::move(*Opened));
  keepDeviceRecord(CI);
  CI.getCodeGenOpts().PassBuilderCallbacks.push_back(
      [&CI, Store, Arguments = Arguments,
       Explicit](llvm::PassBuilder &Builder) {
        Builder.registerPipelineStartEPCallback(
            [&CI, Store, Arguments, Explicit](llvm::ModulePassManager &Passes,
                                              llvm::OptimizationLevel) {
              Passes.addPass(SubstitutionPass(CI, Arguments, Store, Explicit));
            });
      });
  // What the store holds decides the object: depfiles name it.
  if (PPCallbacks *Callbacks = CI.getLangOpts().CUDAIsDevice
                                   ? nullptr
                                   : CI.getPreprocessor().getPPCallbacks()) {
    Expected<std::vector<std::string>> Files = Store->decidingFiles();
    if (!Files) {
      diagnoseStore(CI, Explicit, Arguments.Strict, Files.takeError());
      return Nothing;
    }
    Token T;
    T.startToken();
    for (StringRef Path : *Files)
      // Clang's depfiles name no folders.
      if (auto Entry = CI.getFileManager().getOptionalFileRef(Path))
        Callbacks->FileSkipped(*Entry, T, SrcMgr::C_User);
  }
  return Nothing;
}

void SubstitutionPass::error(StringRef Message) const {
  diagnose(*CI, Message);
}

void SubstitutionPass::report(const llvm::Module &M,
                              const std::vector<SubstitutionOutcome> &Outcomes,
                              const std::vector<LaunchSite> &Sites) const {
  bool Device = CI->getLangOpts().CUDAIsDevice;
  llvm::StringSet<> Kernels;
  for (const SubstitutionOutcome &O : Outcomes)
    if (!O.Kernel.empty())
      Kernels.insert(O.Kernel);
  if (llvm::Error E = writeReport(
          Arguments.Report,
          {M.getSourceFileName(), CUPILOT_CLANG,
           Device ? UnitHalf::Device : UnitHalf::Host, CI->getTargetOpts().CPU,
           static_cast<unsigned>(Kernels.size()), Outcomes, Sites, &M}))
    error(toString(std::move(E)));
}

llvm::PreservedAnalyses SubstitutionPass::run(llvm::Module &M,
                                              llvm::ModuleAnalysisManager &) {
  llvm::PrettyStackTraceString Trace("cupilot: substituting variants");
  SubstitutionOptions Options;
  Options.Store = Store.get();
  Options.Filter = Arguments.Filter;
  Options.Limit = Arguments.Limit;
  Options.Evidence = {Arguments.Strict, Arguments.UseLegacy,
                      *Arguments.UseModelled};
  Options.Context = buildContext(CI->getFrontendOpts().LLVMArgs);
  Options.CheckOnly = Arguments.How == PluginArguments::Mode::Check;
  // Before a variant is in it.
  const OriginalCode Original = OriginalCode::of(M);
  Options.Provider = [&](const BuildVariant &V) {
    return compileVariant(*CI, Original, V, Store->sourcePath(V));
  };
  bool Device = CI->getLangOpts().CUDAIsDevice;
  std::vector<LaunchSite> Sites;
  if (!Device)
    Options.Sites = &Sites;
  Expected<std::vector<SubstitutionOutcome>> Outcomes = [&] {
    // Variants would be proved for code that the device linker changes. The
    // host half finds none.
    const CodeGenOptions &CodeGen = CI->getCodeGenOpts();
    if (Device && (CodeGen.PrepareForLTO || CodeGen.PrepareForThinLTO))
      return Expected<std::vector<SubstitutionOutcome>>(std::vector{
          refused({BuildReason::DeviceLinkTime, {"-foffload-lto"}})});
    return Device ? substituteDevice(M, Options) : substituteHost(M, Options);
  }();
  if (!Outcomes) {
    diagnoseStore(*CI, StoreIsExplicit, Arguments.Strict, Outcomes.takeError());
    return llvm::PreservedAnalyses::none();
  }
  emitRemarks(M, *Outcomes, Device, Options.CheckOnly);
  emitRemarks(Sites);
  for (const SubstitutionOutcome &O : *Outcomes)
    if (Arguments.Strict && O.isMissed())
      error((O.Kernel.empty()
                 ? ""
                 : llvm::demangle(withoutUnitName(O.Kernel)) + ": ") +
            O.message());
  report(M, *Outcomes, Sites);
  if (!Arguments.DumpDir.empty()) {
    std::string Name =
        llvm::sys::path::stem(M.getSourceFileName()).str() + "." +
        (Device ? CI->getTargetOpts().CPU : std::string("host")) + ".ll";
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    M.print(OS, nullptr);
    if (llvm::Error E = writeFileAtomic(Arguments.DumpDir + "/" + Name, Text))
      error(toString(std::move(E)));
  }
  return llvm::PreservedAnalyses::none();
}

} // namespace cupilot

static FrontendPluginRegistry::Add<cupilot::CupilotAction>
    Registered("cupilot", "puts proved kernel variants into CUDA builds");
