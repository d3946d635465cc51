//===- Admit.cpp - Admission at evolution time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parse.h"
#include "cupilot/Admission/Admission.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/FileSystem.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
class AdmitAction : public SyntaxOnlyAction {
public:
  AdmitAction(std::vector<AdmissionFinding> &Findings,
              std::vector<std::string> *Constants)
      : Findings(Findings), Constants(Constants) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef) override {
    std::vector<std::unique_ptr<ASTConsumer>> All;
    All.push_back(createAdmissionConsumer(CI, Findings));
    if (Constants)
      All.push_back(createConstantsConsumer(*Constants));
    return std::make_unique<MultiplexConsumer>(std::move(All));
  }

private:
  std::vector<AdmissionFinding> &Findings;
  std::vector<std::string> *Constants;
};
} // namespace

llvm::Expected<std::vector<AdmissionFinding>>
judgeText(const CompilerInvocation &Invocation, const ParsedPrefix *Prefix,
          std::vector<std::string> *Constants) {
  std::vector<AdmissionFinding> Findings;
  AdmitAction Action(Findings, Constants);
  if (llvm::Error E =
          Prefix ? runBehind(*Prefix, Invocation, Action)
                 : runAction(std::make_shared<CompilerInvocation>(Invocation),
                             Action))
    return usageError("the variant does not parse:\n" + toString(std::move(E)));
  return Findings;
}

llvm::Expected<std::shared_ptr<CompilerInvocation>>
textInvocation(llvm::ArrayRef<std::string> Flags, const std::string &Path) {
  std::string Arch = "--cuda-gpu-arch=" + gpuArchitectures(Flags).front();
  auto Invocation =
      cudaInvocation(Path, withoutArchitectures(variantFlags(Flags)),
                     {"--cuda-device-only", "-fsyntax-only", Arch});
  if (!Invocation)
    return Invocation.takeError();
  // The driver lets processes end without freeing; this one goes on.
  (*Invocation)->getFrontendOpts().DisableFree = false;
  (*Invocation)->getFrontendOpts().SkipFunctionBodies = true;
  return Invocation;
}

llvm::Expected<std::vector<AdmissionFinding>>
admit(StringRef Source, llvm::ArrayRef<std::string> Flags,
      std::vector<std::string> *Constants) {
  llvm::Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-admit");
  if (!Dir)
    return Dir.takeError();
  std::string Path = Dir->file("variant.cu");
  if (llvm::Error E = writeFileAtomic(Path, Source))
    return std::move(E);
  llvm::Expected<std::shared_ptr<CompilerInvocation>> Invocation =
      textInvocation(Flags, Path);
  if (!Invocation)
    return Invocation.takeError();
  std::optional<ParsedPrefix> Prefix = parsedPrefix(**Invocation);
  if (Prefix) {
    llvm::Expected<std::vector<AdmissionFinding>> Findings =
        judgeText(**Invocation, &*Prefix, Constants);
    if (Findings && Findings->empty())
      return Findings;
    // No text is refused for what was kept.
    llvm::consumeError(Findings.takeError());
    if (Constants)
      Constants->clear();
  }
  llvm::Expected<std::vector<AdmissionFinding>> Findings =
      judgeText(**Invocation, nullptr, Constants);
  // It was the prefix: the next text gets another one.
  if (Prefix && Findings && Findings->empty())
    llvm::sys::fs::remove(Prefix->Path);
  return Findings;
}

} // namespace cupilot
