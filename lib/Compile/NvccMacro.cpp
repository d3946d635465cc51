//===- NvccMacro.cpp - __NVCC__ for the program alone -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs choose code by __NVCC__. The toolkit's headers and CCCL do, too:
// what they give nvcc, clang does not take.
//
//===----------------------------------------------------------------------===//

#include "NvccMacro.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"

using namespace clang;

namespace cupilot {

static const std::pair<std::string, bool> &mark() {
  static const std::pair<std::string, bool> Definition = {"__NVCC__", false};
  return Definition;
}

void markForNvcc(CompilerInvocation &Invocation) {
  Invocation.getPreprocessorOpts().Macros.push_back(mark());
}

bool isMarkedForNvcc(const CompilerInvocation &Invocation) {
  return llvm::is_contained(Invocation.getPreprocessorOpts().Macros, mark());
}

void unmarkForNvcc(CompilerInvocation &Invocation) {
  llvm::erase(Invocation.getPreprocessorOpts().Macros, mark());
}

namespace {
class NvccInProgram : public PPCallbacks {
public:
  explicit NvccInProgram(Preprocessor &PP) : PP(PP) {}

  void FileChanged(SourceLocation Loc, FileChangeReason,
                   SrcMgr::CharacteristicKind Kind, FileID) override {
    const SourceManager &SM = PP.getSourceManager();
    bool Wanted = Kind == SrcMgr::C_User && Loc.isValid() &&
                  !SM.isWrittenInBuiltinFile(Loc) &&
                  !SM.isWrittenInCommandLineFile(Loc);
    if (Wanted == Defined)
      return;
    Defined = Wanted;
    IdentifierInfo *Name = PP.getIdentifierInfo("__NVCC__");
    if (!Wanted) {
      PP.appendMacroDirective(Name, new (PP.getPreprocessorAllocator())
                                        UndefMacroDirective(Loc));
      return;
    }
    MacroInfo *Info = PP.AllocateMacroInfo(SourceLocation());
    Token One;
    One.startToken();
    One.setKind(tok::numeric_constant);
    PP.CreateString("1", One);
    Info->setTokens({One}, PP.getPreprocessorAllocator());
    PP.appendDefMacroDirective(Name, Info, Loc);
  }

private:
  Preprocessor &PP;
  bool Defined = false;
};
} // namespace

void defineNvccForProgram(Preprocessor &PP) {
  PP.addPPCallbacks(std::make_unique<NvccInProgram>(PP));
}

} // namespace cupilot
