//===- Prefix.cpp - What the compiler reads before a text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Prefix.h"
#include "NvccMacro.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/MachineCache.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

bool canSkipBody(const Decl &D) { return !D.isTemplated(); }

namespace {
/// The AST file has megabytes; there is one for each architecture and standard.
constexpr unsigned MostPrefixes = 12;

class SkipsBodies : public ASTConsumer {
public:
  bool shouldSkipFunctionBody(Decl *D) override { return canSkipBody(*D); }
};

/// Writes an AST file, and notes the files that it is made of.
class PrefixAction : public GeneratePCHAction {
public:
  std::vector<std::string> Files;

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef File) override {
    std::vector<std::unique_ptr<ASTConsumer>> All;
    All.push_back(std::make_unique<SkipsBodies>());
    auto Writer = GeneratePCHAction::CreateASTConsumer(CI, File);
    if (!Writer)
      return nullptr;
    All.push_back(std::move(Writer));
    return std::make_unique<MultiplexConsumer>(std::move(All));
  }
  void EndSourceFileAction() override {
    SourceManager &SM = getCompilerInstance().getSourceManager();
    for (auto It = SM.fileinfo_begin(); It != SM.fileinfo_end(); ++It)
      Files.push_back(It->first.getName().str());
    llvm::sort(Files);
    GeneratePCHAction::EndSourceFileAction();
  }
};
} // namespace

/// \p Invocation without the text.
static std::shared_ptr<CompilerInvocation>
prefixInvocation(const CompilerInvocation &Invocation) {
  auto Prefix = std::make_shared<CompilerInvocation>(Invocation);
  Prefix->getFrontendOpts().Inputs.clear();
  unmarkForNvcc(*Prefix);
  Prefix->getFrontendOpts().ProgramAction = frontend::GeneratePCH;
  Prefix->getCodeGenOpts().MainFileName.clear();
  Prefix->getCodeGenOpts().DebugCompilationDir.clear();
  Prefix->getCodeGenOpts().CoverageCompilationDir.clear();
  Prefix->getLangOpts().CUID.clear();
  return Prefix;
}

static std::optional<std::string>
parsePrefix(const std::shared_ptr<CompilerInvocation> &Invocation,
            std::vector<std::string> &Files) {
  llvm::Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-prefix");
  if (!Dir) {
    llvm::consumeError(Dir.takeError());
    return std::nullopt;
  }
  auto Nothing = llvm::MemoryBuffer::getMemBuffer("", "prefix.cu");
  FrontendOptions &Frontend = Invocation->getFrontendOpts();
  Frontend.Inputs = {
      FrontendInputFile(Nothing->getMemBufferRef(), InputKind(Language::CUDA))};
  Frontend.OutputFile = Dir->file("prefix.pch");
  CompilerInstance CI(Invocation);
  CI.setVirtualFileSystem(llvm::vfs::getRealFileSystem());
  CI.createDiagnostics(new IgnoringDiagConsumer);
  CI.setVerboseOutputStream(llvm::nulls()); // Or it would count warnings.
  PrefixAction Action;
  if (!CI.ExecuteAction(Action))
    return std::nullopt;
  llvm::Expected<std::string> Bytes = readFile(Frontend.OutputFile);
  if (!Bytes) {
    llvm::consumeError(Bytes.takeError());
    return std::nullopt;
  }
  Files = std::move(Action.Files);
  return std::move(*Bytes);
}

std::optional<ParsedPrefix> parsedPrefix(const CompilerInvocation &Invocation) {
  // Anything else that is forced upon texts is not ours to know.
  const PreprocessorOptions &Options = Invocation.getPreprocessorOpts();
  if (Options.Includes.empty() ||
      !llvm::all_of(Options.Includes, isOfEveryText) ||
      !Options.MacroIncludes.empty() || !Options.ImplicitPCHInclude.empty())
    return std::nullopt;
  std::shared_ptr<CompilerInvocation> Prefix = prefixInvocation(Invocation);
  DigestBuilder Key;
  Key.add(getClangFullVersion()).add(CUPILOT_VERSION);
  // No argument of clang's says so.
  if (Prefix->getFrontendOpts().SkipFunctionBodies)
    Key.add("without bodies");
  for (const std::string &Arg : Prefix->getCC1CommandLine())
    Key.add(Arg);
  MachineCacheEntry Cache("prefixes", ".pch", Key);
  if (std::optional<CachedBytes> Known = Cache.load())
    return ParsedPrefix{Cache.file(), std::move(Known->Bytes)};
  // One that is not kept costs more than it saves.
  if (!Cache.isWritable())
    return std::nullopt;
  std::vector<std::string> Files;
  std::optional<std::string> Bytes = parsePrefix(Prefix, Files);
  if (!Bytes)
    return std::nullopt;
  if (Cache.store({*Bytes, {}}, Files))
    Cache.keepYoungest(MostPrefixes);
  return ParsedPrefix{Cache.file(), std::move(*Bytes)};
}

void behindPrefix(const CompilerInvocation &Invocation,
                  llvm::function_ref<bool(const ParsedPrefix *)> Run) {
  std::optional<ParsedPrefix> Prefix = parsedPrefix(Invocation);
  if (Prefix && Run(&*Prefix))
    return;
  // It was the prefix: the next text gets another one.
  if (Run(nullptr) && Prefix)
    llvm::sys::fs::remove(Prefix->Path);
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
putBehind(const ParsedPrefix &Prefix, CompilerInvocation &Invocation,
          llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files) {
  Invocation.getPreprocessorOpts().ImplicitPCHInclude = Prefix.Path;
  // The bytes that were looked at, whatever the file has become.
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  Memory->addFileNoOwn(Prefix.Path, 0,
                       llvm::MemoryBufferRef(Prefix.Bytes, Prefix.Path));
  auto All =
      llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(Files));
  All->pushOverlay(std::move(Memory));
  return All;
}

llvm::Error runBehind(const ParsedPrefix *Prefix,
                      const CompilerInvocation &Invocation,
                      FrontendAction &Action) {
  auto Own = std::make_shared<CompilerInvocation>(Invocation);
  if (!Prefix)
    return runAction(std::move(Own), Action);
  auto Files = putBehind(*Prefix, *Own, llvm::vfs::getRealFileSystem());
  return runAction(std::move(Own), Action, std::move(Files));
}

} // namespace cupilot
