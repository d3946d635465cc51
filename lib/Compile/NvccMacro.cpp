//===- NvccMacro.cpp - __NVCC__ for the program alone -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs choose code by __NVCC__ and nvcc's version. The toolkit's headers
// and CCCL do, too: what they give nvcc, clang does not take.
//
//===----------------------------------------------------------------------===//

#include "NvccMacro.h"
#include "cupilot/Compile/Invocation.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"

using namespace clang;
using llvm::StringRef;

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
  NvccInProgram(Preprocessor &PP, std::vector<std::string> Toolkit)
      : PP(PP), Toolkit(std::move(Toolkit)) {}

  void FileChanged(SourceLocation Loc, FileChangeReason,
                   SrcMgr::CharacteristicKind Kind, FileID) override {
    const SourceManager &SM = PP.getSourceManager();
    bool Wanted = Kind == SrcMgr::C_User && Loc.isValid() &&
                  !SM.isWrittenInBuiltinFile(Loc) &&
                  !SM.isWrittenInCommandLineFile(Loc) &&
                  llvm::none_of(Toolkit, [&](StringRef Folder) {
                    return SM.getFilename(Loc).starts_with(Folder);
                  });
    if (Wanted == Defined)
      return;
    Defined = Wanted;
    unsigned Version = toolkitVersion();
    set("__NVCC__", 1, Loc);
    // An nvcc is of the version of its toolkit.
    set("__CUDACC_VER_MAJOR__", Version / 1000, Loc);
    set("__CUDACC_VER_MINOR__", Version % 1000 / 10, Loc);
  }

private:
  /// CUDA_VERSION: 13000 for 13.0. It is defined before the first file.
  unsigned toolkitVersion() const {
    const MacroInfo *Info =
        PP.getMacroInfo(PP.getIdentifierInfo("CUDA_VERSION"));
    unsigned Version = 0;
    if (Info && Info->getNumTokens() == 1)
      StringRef(PP.getSpelling(Info->getReplacementToken(0)))
          .getAsInteger(10, Version);
    return Version;
  }

  void set(StringRef Macro, unsigned Value, SourceLocation Loc) {
    IdentifierInfo *Name = PP.getIdentifierInfo(Macro);
    if (!Defined) {
      PP.appendMacroDirective(Name, new (PP.getPreprocessorAllocator())
                                        UndefMacroDirective(Loc));
      return;
    }
    MacroInfo *Info = PP.AllocateMacroInfo(SourceLocation());
    Token Number;
    Number.startToken();
    Number.setKind(tok::numeric_constant);
    PP.CreateString(std::to_string(Value), Number);
    Info->setTokens({Number}, PP.getPreprocessorAllocator());
    PP.appendDefMacroDirective(Name, Info, Loc);
  }

  Preprocessor &PP;
  std::vector<std::string> Toolkit; ///< Folders, also behind -I.
  bool Defined = false;
};
} // namespace

void defineNvccForProgram(Preprocessor &PP,
                          const HeaderSearchOptions &Headers) {
  std::vector<std::string> Toolkit;
  for (const HeaderSearchOptions::Entry &E : Headers.UserEntries)
    if (isToolkitFolder(E.Path))
      Toolkit.push_back(E.Path + "/");
  PP.addPPCallbacks(std::make_unique<NvccInProgram>(PP, std::move(Toolkit)));
}

} // namespace cupilot
