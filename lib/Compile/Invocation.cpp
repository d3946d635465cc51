//===- Invocation.cpp - Clang's frontend in this process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Invocation.h"
#include "HostErrors.h"
#include "NvccMacro.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Driver/CreateInvocationFromArgs.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace llvm;

namespace cupilot {

namespace {
/// Diagnostics as text.
struct Messages {
  Messages() : Stream(Text), Printer(Stream, Options) {
    Options.IgnoreWarnings = true;
  }
  std::string Text;
  raw_string_ostream Stream;
  DiagnosticOptions Options;
  TextDiagnosticPrinter Printer;
};
} // namespace

Expected<std::shared_ptr<CompilerInvocation>>
cudaInvocation(StringRef File, ArrayRef<std::string> Flags,
               ArrayRef<StringRef> More,
               IntrusiveRefCntPtr<vfs::FileSystem> Files) {
  Expected<Toolchain> Tools = Toolchain::findCuda(Flags);
  if (!Tools)
    return Tools.takeError();
  std::vector<std::string> Command = Tools->cudaCommand(Flags);
  Command.insert(Command.begin() + 1, "--driver-mode=g++");
  for (StringRef Arg : {"-w", "-x", "cuda", "-fno-color-diagnostics"})
    Command.push_back(Arg.str());
  Command.insert(Command.end(), More.begin(), More.end());
  Command.push_back(File.str());
  std::vector<const char *> Args;
  Args.reserve(Command.size());
  for (const std::string &Arg : Command)
    Args.push_back(Arg.c_str());
  Messages Said;
  if (!Files)
    Files = vfs::getRealFileSystem();
  CreateInvocationOptions Options;
  Options.Diags = CompilerInstance::createDiagnostics(
      *Files, Said.Options, &Said.Printer, /*ShouldOwnClient=*/false);
  Options.VFS = Files;
  std::shared_ptr<CompilerInvocation> Invocation =
      createInvocation(Args, Options);
  if (!Invocation || Options.Diags->hasErrorOccurred())
    return usageError(
        "clang does not accept these flags:\n" + Said.Text,
        "after --, give a clang++ command line without the compiler's name");
  if (is_contained(Flags, NvccMacroFlag))
    markForNvcc(*Invocation);
  return Invocation;
}

bool isOfEveryText(StringRef Include) {
  return Include == "__clang_cuda_runtime_wrapper.h" || Include == nvccHeader();
}

bool isToolkitFolder(StringRef Folder) {
  return Folder.ends_with("/include/cccl") ||
         sys::fs::exists(Folder + "/cuda_runtime.h");
}

bool isMacroOfDriver(StringRef Definition) {
  return Definition.consume_front("__CUDA_ARCH_LIST__") &&
         (Definition.starts_with(" ") || Definition.starts_with("="));
}

void makeStandAlone(CompilerInvocation &Unit, StringRef Path) {
  FrontendOptions &Frontend = Unit.getFrontendOpts();
  Frontend.Inputs = {FrontendInputFile(Path, InputKind(Language::CUDA))};
  Frontend.OutputFile.clear();
  Frontend.ProgramAction = frontend::EmitLLVMOnly;
  Frontend.Plugins.clear();
  Frontend.PluginArgs.clear();
  Frontend.AddPluginActions.clear();
  Frontend.ActionName.clear();
  Frontend.OriginalModuleMap.clear();
  PreprocessorOptions &Preprocessor = Unit.getPreprocessorOpts();
  Preprocessor.Macros.clear();
  Preprocessor.ImplicitPCHInclude.clear();
  erase_if(Preprocessor.Includes,
           [](const std::string &Name) { return !isOfEveryText(Name); });
  // Not in a build that cuPilot did not start.
  if (!nvccHeader().empty() &&
      !is_contained(Preprocessor.Includes, nvccHeader()))
    Preprocessor.Includes.push_back(nvccHeader());
  HeaderSearchOptions &Headers = Unit.getHeaderSearchOpts();
  erase_if(Headers.UserEntries, [](const HeaderSearchOptions::Entry &E) {
    bool Users = E.Group == frontend::Angled || E.Group == frontend::Quoted;
    // Those of the toolkit are the same for every text.
    return Users && !isToolkitFolder(E.Path);
  });
  Unit.getDependencyOutputOpts() = DependencyOutputOptions();
  CodeGenOptions &CodeGen = Unit.getCodeGenOpts();
  CodeGen.DisableLLVMPasses = true;
  CodeGen.PassBuilderCallbacks.clear();
  CodeGen.PassPlugins.clear();
  CodeGen.OptRecordFile.clear();
  CodeGen.OptimizationRemark = CodeGenOptions::OptRemark();
  CodeGen.OptimizationRemarkMissed = CodeGenOptions::OptRemark();
  CodeGen.OptimizationRemarkAnalysis = CodeGenOptions::OptRemark();
  CodeGen.SplitDwarfOutput.clear();
  // Neither where the unit is compiled nor where the text lies is in the code.
  if (!CodeGen.hasReducedDebugInfo())
    CodeGen.DebugCompilationDir.clear();
  CodeGen.CoverageCompilationDir.clear();
  // Nothing of it is in another unit, and its names need not be unique.
  Unit.getLangOpts().GPURelocatableDeviceCode = false;
  Unit.getLangOpts().CUID.clear();
  Unit.getLangOpts().MacroPrefixMap[sys::path::parent_path(Path).str()] =
      "cupilot";
  Unit.getDiagnosticOpts().VerifyDiagnostics = false;
}

Error runAction(std::shared_ptr<CompilerInvocation> Invocation,
                FrontendAction &Action,
                IntrusiveRefCntPtr<vfs::FileSystem> Files, Repairs *Mending) {
  Messages Said;
  bool ByNvcc = isMarkedForNvcc(*Invocation);
  if (ByNvcc) {
    Invocation = std::make_shared<CompilerInvocation>(*Invocation);
    unmarkForNvcc(*Invocation);
  }
  CompilerInstance CI(std::move(Invocation));
  CI.setVerboseOutputStream(nulls()); // Or it would count warnings on stderr.
  if (Files)
    CI.setVirtualFileSystem(std::move(Files));
  else
    CI.createVirtualFileSystem(vfs::getRealFileSystem(), &Said.Printer);
  if (!runForDevice(CI, Action, Said.Printer, ByNvcc,
                    ByNvcc ? Mending : nullptr))
    return usageError(Said.Text);
  return Error::success();
}

} // namespace cupilot
