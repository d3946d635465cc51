//===- DeviceCode.cpp - Device code before optimisation -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCode.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/CrashRecoveryContext.h"

using namespace clang;
using namespace llvm;

namespace cupilot {

Expected<std::shared_ptr<CompilerInvocation>>
deviceInvocation(StringRef File, ArrayRef<std::string> Flags, StringRef Arch,
                 bool EmitCode) {
  std::string Target = ("--cuda-gpu-arch=" + Arch).str();
  std::vector<StringRef> More = {"--cuda-device-only", Target};
  if (EmitCode)
    append_range(More, ArrayRef<StringRef>({"-emit-llvm", "-c", "-Xclang",
                                            "-disable-llvm-passes"}));
  else
    More.push_back("-fsyntax-only");
  Expected<std::shared_ptr<CompilerInvocation>> Made =
      cudaInvocation(File, withoutArchitectures(Flags), More);
  if (!Made)
    return Made.takeError();
  std::shared_ptr<CompilerInvocation> Invocation = std::move(*Made);
  Invocation->getFrontendOpts().DisableFree = false;
  // Others look at the syntax tree afterwards.
  Invocation->getCodeGenOpts().ClearASTBeforeBackend = false;
  return Invocation;
}

/// runAction, which a crash of clang does not end: a slice may be what no
/// compiler has seen.
static Error runGuarded(const std::shared_ptr<CompilerInvocation> &Invocation,
                        FrontendAction &Action) {
  CrashRecoveryContext::Enable();
  CrashRecoveryContext Guard;
  std::optional<Error> Result;
  if (!Guard.RunSafely([&] { Result.emplace(runAction(Invocation, Action)); }))
    return usageError("clang crashes on it");
  return std::move(*Result);
}

SliceCompiler::SliceCompiler() = default;
SliceCompiler::SliceCompiler(SliceCompiler &&) noexcept = default;
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
    Failed = runGuarded(Copy, Generate);
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
  std::vector<std::pair<std::string, bool>> &Macros =
      Compiler.Invocation->getPreprocessorOpts().Macros;
  std::vector<std::pair<std::string, bool>> Kept;
  copy_if(Macros, std::back_inserter(Kept),
          [](const auto &Macro) { return isMacroOfDriver(Macro.first); });
  makeStandAlone(*Compiler.Invocation, Compiler.Folder->file("slice.cu"));
  append_range(Macros, Kept); // Or kernels with such types had other names.
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
  if (Error E = runGuarded(Copy, Action))
    return std::move(E);
  Code->Module = Action.takeModule();
  if (!Code->Module)
    return usageError("'" + Name + "' gives no code");
  return Code;
}

} // namespace cupilot
