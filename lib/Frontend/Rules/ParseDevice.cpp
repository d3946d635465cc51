//===- ParseDevice.cpp - A translation unit as the device sees it -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParseDevice.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Driver/CreateInvocationFromArgs.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Parse/ParseAST.h"
#include "clang/Sema/Sema.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace clang;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
/// Notes which system headers the user's files include.
class IncludeRecorder : public PPCallbacks {
public:
  IncludeRecorder(DeviceUnit &Unit) : Unit(Unit) {}

  void InclusionDirective(SourceLocation Hash, const Token &, StringRef Name,
                          bool IsAngled, CharSourceRange, OptionalFileEntryRef,
                          StringRef, StringRef, const clang::Module *, bool,
                          SrcMgr::CharacteristicKind Kind) override {
    SourceManager &SM = Unit.sources();
    bool Own = !SM.isInSystemHeader(Hash) && !SM.isWrittenInBuiltinFile(Hash) &&
               !SM.isWrittenInCommandLineFile(Hash);
    Pending = !Own || !SrcMgr::isSystem(Kind)
                  ? -1
                  : int(Unit.Includes.size());
    if (Pending >= 0)
      Unit.Includes.push_back(
          {Hash,
           (llvm::Twine("#include ") + (IsAngled ? "<" : "\"") + Name +
            (IsAngled ? ">" : "\""))
               .str(),
           FileID()});
  }
  void FileChanged(SourceLocation Loc, FileChangeReason Reason,
                   SrcMgr::CharacteristicKind, FileID) override {
    if (Reason == EnterFile && Pending >= 0)
      Unit.Includes[Pending].Entered = Unit.sources().getFileID(Loc);
    Pending = -1;
  }

private:
  DeviceUnit &Unit;
  int Pending = -1;
};
} // namespace

/// Flags that ask for output or plugins mean nothing to a parse.
static std::vector<std::string> parseFlags(llvm::ArrayRef<std::string> Flags) {
  std::vector<std::string> Kept;
  for (size_t I = 0; I < Flags.size(); ++I) {
    StringRef Flag = Flags[I];
    if (Flag == "-o" || Flag == "-MF" || Flag == "-MT" || Flag == "-MQ") {
      ++I;
      continue;
    }
    if (Flag == "-c" || Flag == "-S" || Flag == "-E" ||
        Flag.starts_with("-M") || Flag.starts_with("-fplugin") ||
        Flag.starts_with("-fpass-plugin") || Flag.starts_with("-Rpass") ||
        Flag.starts_with("-o"))
      continue;
    Kept.push_back(Flag.str());
  }
  return Kept;
}

Expected<std::unique_ptr<DeviceUnit>>
parseForDevice(StringRef File, llvm::ArrayRef<std::string> Flags,
               std::optional<StringRef> Text) {
  Expected<Toolchain> Tools = Toolchain::find(Flags);
  if (!Tools)
    return Tools.takeError();
  if (Tools->CudaPath.empty())
    return resourceError("no CUDA toolkit was found",
                         "install one, or name it with --cuda-path=");
  std::string Arch = gpuArchitectures(Flags).front();
  std::vector<std::string> Command =
      Tools->cudaCommand(withoutArchitectures(parseFlags(Flags)));
  for (StringRef Arg : {"-x", "cuda", "--cuda-device-only", "-fsyntax-only"})
    Command.push_back(Arg.str());
  Command.push_back("--cuda-gpu-arch=" + Arch);
  Command.push_back(File.str());
  std::vector<const char *> Argv;
  for (const std::string &Arg : Command)
    Argv.push_back(Arg.c_str());

  auto Unit = std::make_unique<DeviceUnit>();
  std::string &Messages = Unit->Messages;
  DiagnosticOptions DiagOptions;
  TextDiagnosticPrinter DriverPrinter(Unit->Stream, DiagOptions);
  auto Vfs = llvm::vfs::getRealFileSystem();
  auto Diagnostics =
      CompilerInstance::createDiagnostics(*Vfs, DiagOptions, &DriverPrinter,
                                          /*ShouldOwnClient=*/false);
  CreateInvocationOptions Options;
  Options.Diags = Diagnostics;
  Options.VFS = Vfs;
  std::shared_ptr<CompilerInvocation> Invocation =
      createInvocation(Argv, Options);
  if (!Invocation || Diagnostics->hasErrorOccurred())
    return usageError("clang does not understand the command for '" + File +
                      "':\n" + Messages);

  Invocation->getFrontendOpts().DisableFree = false;
  Unit->CI = std::make_unique<CompilerInstance>(Invocation);
  CompilerInstance &CI = *Unit->CI;
  CI.setVirtualFileSystem(Vfs);
  CI.createDiagnostics(
      new TextDiagnosticPrinter(Unit->Stream, CI.getDiagnosticOpts()),
      /*ShouldOwnClient=*/true);
  if (!CI.createTarget())
    return usageError("clang cannot compile '" + File + "' for " + Arch +
                      ":\n" + Messages);
  CI.createFileManager();
  CI.createSourceManager();
  if (Text) {
    auto Entry = CI.getFileManager().getVirtualFileRef(File, Text->size(), 0);
    CI.getSourceManager().overrideFileContents(
        Entry, llvm::MemoryBuffer::getMemBufferCopy(*Text, File));
  }
  CI.createPreprocessor(TU_Complete);
  CI.getPreprocessor().addPPCallbacks(std::make_unique<IncludeRecorder>(*Unit));
  CI.createASTContext();
  CI.getPreprocessor().getBuiltinInfo().initializeBuiltins(
      CI.getPreprocessor().getIdentifierTable(), CI.getLangOpts());
  if (!CI.InitializeSourceManager(CI.getFrontendOpts().Inputs.front()))
    return usageError("there is no file '" + File + "'");
  CI.setASTConsumer(std::make_unique<ASTConsumer>());
  CI.createSema(TU_Complete, nullptr);
  CI.getDiagnosticClient().BeginSourceFile(CI.getLangOpts(),
                                           &CI.getPreprocessor());
  ParseAST(CI.getSema());
  CI.getDiagnosticClient().EndSourceFile();
  if (CI.getDiagnostics().hasErrorOccurred())
    return usageError("'" + File + "' does not compile for " + Arch + ":\n" +
                          Messages,
                      "cupilot takes the compiler's flags after --");
  return std::move(Unit);
}

} // namespace cupilot
