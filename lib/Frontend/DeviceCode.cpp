//===- DeviceCode.cpp - Device code before optimisation -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Driver/CreateInvocationFromArgs.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/CrashRecoveryContext.h"

using namespace clang;
using namespace llvm;

namespace cupilot {

Expected<std::shared_ptr<CompilerInvocation>>
deviceInvocation(StringRef File, ArrayRef<std::string> Flags, StringRef Arch,
                 bool EmitCode) {
  Expected<Toolchain> Tools = Toolchain::findCuda(Flags);
  if (!Tools)
    return Tools.takeError();
  std::vector<std::string> Command =
      Tools->cudaCommand(withoutArchitectures(Flags));
  Command.insert(Command.begin() + 1, "--driver-mode=g++");
  for (StringRef Arg :
       {"-w", "--cuda-device-only", "-x", "cuda", "-fno-color-diagnostics"})
    Command.push_back(Arg.str());
  if (EmitCode)
    for (StringRef Arg :
         {"-emit-llvm", "-c", "-Xclang", "-disable-llvm-passes"})
      Command.push_back(Arg.str());
  else
    Command.push_back("-fsyntax-only");
  Command.push_back(("--cuda-gpu-arch=" + Arch).str());
  Command.push_back(File.str());
  std::vector<const char *> Args;
  for (const std::string &Arg : Command)
    Args.push_back(Arg.c_str());

  std::string Text;
  raw_string_ostream Stream(Text);
  DiagnosticOptions DiagOptions;
  DiagOptions.IgnoreWarnings = true;
  TextDiagnosticPrinter Printer(Stream, DiagOptions);
  IntrusiveRefCntPtr<vfs::FileSystem> Files = vfs::getRealFileSystem();
  CreateInvocationOptions Options;
  Options.Diags = CompilerInstance::createDiagnostics(
      *Files, DiagOptions, &Printer, /*ShouldOwnClient=*/false);
  Options.VFS = Files;
  std::shared_ptr<CompilerInvocation> Invocation =
      createInvocation(Args, Options);
  if (!Invocation || Options.Diags->hasErrorOccurred())
    return usageError("clang does not take these flags:\n" + Text,
                      "what follows -- is a clang++ command line without the "
                      "compiler's name");
  Invocation->getFrontendOpts().DisableFree = false;
  // Others look at the syntax tree afterwards.
  Invocation->getCodeGenOpts().ClearASTBeforeBackend = false;
  return Invocation;
}

/// Runs \p Action; its diagnostics are the error.
static Error runAction(std::shared_ptr<CompilerInvocation> Invocation,
                       FrontendAction &Action) {
  std::string Text;
  raw_string_ostream Stream(Text);
  DiagnosticOptions DiagOptions;
  DiagOptions.IgnoreWarnings = true;
  TextDiagnosticPrinter Printer(Stream, DiagOptions);
  CompilerInstance CI(std::move(Invocation));
  CI.setVerboseOutputStream(nulls());
  CI.createVirtualFileSystem(vfs::getRealFileSystem(), &Printer);
  CI.createDiagnostics(&Printer, /*ShouldOwnClient=*/false);
  // A slice may be what no compiler has seen: its crash must not be ours.
  CrashRecoveryContext::Enable();
  CrashRecoveryContext Guard;
  bool Done = false;
  if (!Guard.RunSafely([&] { Done = CI.ExecuteAction(Action); }))
    return usageError("clang crashes on it");
  if (!Done || CI.getDiagnostics().hasErrorOccurred())
    return usageError(Text);
  return Error::success();
}

SliceCompiler::SliceCompiler() = default;
SliceCompiler::SliceCompiler(SliceCompiler &&) = default;
SliceCompiler::~SliceCompiler() = default;

/// The directives with which \p Text begins, up to the last #include.
static StringRef headersOf(StringRef Text) {
  size_t End = 0;
  bool Continued = false;
  for (StringRef Rest = Text; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    if (!Continued && !Line.trim().empty() && !Line.starts_with("#"))
      break;
    Continued = Line.rtrim().ends_with("\\");
    Rest = After;
    if (Line.starts_with("#include"))
      End = Text.size() - Rest.size();
  }
  return Text.take_front(End);
}

void SliceCompiler::parseHeaders(StringRef Prefix) {
  std::string Number = std::to_string(Headers.size());
  std::string Source = Folder->file("headers" + Number + ".cu");
  std::string Parsed = Folder->file("headers" + Number + ".pch");
  auto Copy = std::make_shared<CompilerInvocation>(*Invocation);
  FrontendOptions &Options = Copy->getFrontendOpts();
  InputKind Kind = Options.Inputs.front().getKind();
  Options.Inputs.clear();
  Options.Inputs.emplace_back(Source, Kind);
  Options.OutputFile = Parsed;
  Options.ProgramAction = frontend::GeneratePCH;
  GeneratePCHAction Generate;
  Error Failed = writeFileAtomic(Source, Prefix);
  if (!Failed)
    Failed = runAction(std::move(Copy), Generate);
  // It saves time and nothing else.
  if (Failed)
    return consumeError(std::move(Failed));
  Headers[Prefix] = Parsed;
}

Expected<SliceCompiler> SliceCompiler::create(StringRef Arch,
                                              ArrayRef<std::string> Flags,
                                              ArrayRef<StringRef> Texts) {
  SliceCompiler Compiler;
  Expected<TemporaryDirectory> Folder =
      TemporaryDirectory::create("cupilot-slice");
  if (!Folder)
    return Folder.takeError();
  Compiler.Folder = std::make_unique<TemporaryDirectory>(std::move(*Folder));
  Expected<std::shared_ptr<CompilerInvocation>> Invocation = deviceInvocation(
      Compiler.Folder->file("slice.cu"), Flags, Arch, /*EmitCode=*/true);
  if (!Invocation)
    return Invocation.takeError();
  Compiler.Invocation = *Invocation;
  StringMap<unsigned> Uses;
  for (StringRef Text : Texts)
    ++Uses[headersOf(Text)];
  for (const auto &[Prefix, Count] : Uses)
    if (Count > 1)
      Compiler.parseHeaders(Prefix);
  return Compiler;
}

Expected<std::unique_ptr<DeviceCode>>
SliceCompiler::compile(StringRef Text, const std::string &Name) const {
  auto Copy = std::make_shared<CompilerInvocation>(*Invocation);
  if (auto It = Headers.find(headersOf(Text)); It != Headers.end()) {
    Text = Text.drop_front(It->first().size());
    PreprocessorOptions &Options = Copy->getPreprocessorOpts();
    Options.ImplicitPCHInclude = It->second;
    Options.Includes.clear();
    Options.DisablePCHOrModuleValidation =
        DisableValidationForModuleKind::All; // It is ours, and new.
  }
  std::string Terminated = Text.str();
  FrontendOptions &Options = Copy->getFrontendOpts();
  InputKind Kind = Options.Inputs.front().getKind();
  Options.Inputs.clear();
  Options.Inputs.emplace_back(MemoryBufferRef(Terminated, Name), Kind);
  auto Code = std::make_unique<DeviceCode>();
  EmitLLVMOnlyAction Action(&Code->Context);
  if (Error E = runAction(std::move(Copy), Action))
    return std::move(E);
  Code->Module = Action.takeModule();
  if (!Code->Module)
    return usageError("'" + Name + "' gives no code");
  return Code;
}

} // namespace cupilot
