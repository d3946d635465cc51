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
#include "cupilot/Compile/TextFiles.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
class AdmitAction : public SyntaxOnlyAction {
public:
  AdmitAction(std::vector<AdmissionFinding> &Findings,
              std::vector<std::string> *Constants,
              const AdmissionOptions &Options)
      : Findings(Findings), Constants(Constants), Options(Options) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef) override {
    std::vector<std::unique_ptr<ASTConsumer>> All;
    All.push_back(createAdmissionConsumer(CI, Findings, Options));
    if (Constants)
      All.push_back(createConstantsConsumer(*Constants));
    return std::make_unique<MultiplexConsumer>(std::move(All));
  }

private:
  std::vector<AdmissionFinding> &Findings;
  std::vector<std::string> *Constants;
  AdmissionOptions Options;
};
} // namespace

llvm::Expected<std::vector<AdmissionFinding>>
judgeText(const CompilerInvocation &Invocation, StringRef Text,
          const ParsedPrefix *Prefix, std::vector<std::string> *Constants,
          const OriginalCode *Original) {
  std::vector<AdmissionFinding> Findings;
  AdmissionOptions Options;
  Options.Original = Original;
  auto Action = std::make_unique<AdmitAction>(Findings, Constants, Options);
  std::string Said;
  switch (runText(Invocation, TextPath, Text, Prefix, *Action, Said)) {
  case TextRun::Done:
    return Findings;
  case TextRun::Failed:
    return usageError("the variant does not parse:\n" + Said);
  case TextRun::Stopped:
    (void)Action.release();
    return Findings;
  case TextRun::Crashed:
    (void)Action.release();
    return usageError("the variant does not parse: clang crashes on it");
  }
  llvm_unreachable("all runs are handled");
}

llvm::Expected<std::shared_ptr<CompilerInvocation>>
textInvocation(llvm::ArrayRef<std::string> Flags, StringRef Text) {
  std::string Arch = "--cuda-gpu-arch=" + gpuArchitectures(Flags).front();
  auto Invocation =
      cudaInvocation(TextPath, withoutArchitectures(variantFlags(Flags)),
                     {"--cuda-device-only", "-fsyntax-only", Arch},
                     withText(llvm::vfs::getRealFileSystem(), TextPath, Text));
  if (!Invocation)
    return Invocation.takeError();
  // The driver lets processes end without freeing; this one goes on.
  (*Invocation)->getFrontendOpts().DisableFree = false;
  (*Invocation)->getFrontendOpts().SkipFunctionBodies = true;
  return Invocation;
}

llvm::Expected<std::vector<AdmissionFinding>>
admit(StringRef Source, llvm::ArrayRef<std::string> Flags,
      std::vector<std::string> *Constants, const OriginalCode *Original,
      StringRef Folder) {
  std::vector<AdmissionFinding> AtOnce = checkText(Source, Folder);
  if (!AtOnce.empty())
    return AtOnce;
  llvm::Expected<std::shared_ptr<CompilerInvocation>> Invocation =
      textInvocation(Flags, Source);
  if (!Invocation)
    return Invocation.takeError();
  std::optional<llvm::Expected<std::vector<AdmissionFinding>>> Result;
  behindPrefix(**Invocation, [&](const ParsedPrefix *Prefix) {
    if (Result)
      llvm::consumeError(Result->takeError());
    if (Constants)
      Constants->clear();
    Result.emplace(
        judgeText(**Invocation, Source, Prefix, Constants, Original));
    return *Result && (*Result)->empty();
  });
  return std::move(*Result);
}

} // namespace cupilot
