//===- VariantCompiler.cpp - Variants compiled as the unit is -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VariantCompiler.h"
#include "cupilot/Admission/Admission.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/MachineCache.h"
#include "clang/Basic/Version.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/Utils.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"

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
  auto Invocation = std::make_shared<CompilerInvocation>(Unit.getInvocation());
  makeStandAlone(*Invocation, Path);
  MachineCacheEntry Cache = cacheEntry(*Invocation, V);
  if (std::optional<CachedBytes> Known = Cache.load())
    return std::move(Known->Bytes);

  llvm::LLVMContext Context;
  std::vector<AdmissionFinding> Findings;
  std::vector<std::string> Files;
  VariantAction Action(Context, Findings, Files);
  if (llvm::Error E =
          runAction(Invocation, Action, Unit.getVirtualFileSystemPtr()))
    return buildError(BuildReason::DoesNotCompile, {toString(std::move(E))});
  if (!Findings.empty())
    return buildError(
        BuildReason::Inadmissible,
        {std::to_string(Findings.front().Line), Findings.front().Message});
  std::unique_ptr<llvm::Module> M = Action.takeModule();
  if (!M)
    return findingError("the compiler emits no code for it");
  llvm::SmallVector<char, 0> Bytes;
  llvm::raw_svector_ostream Stream(Bytes);
  llvm::WriteBitcodeToFile(*M, Stream);
  std::string Bitcode(Bytes.begin(), Bytes.end());
  llvm::sort(Files);
  Cache.store({Bitcode, {}}, Files);
  return Bitcode;
}

} // namespace cupilot
