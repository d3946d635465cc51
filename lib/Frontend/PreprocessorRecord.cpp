//===- PreprocessorRecord.cpp - What the preprocessor did -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Frontend/PreprocessorRecord.h"
#include "cupilot/Frontend/SystemMacro.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
class Recorder : public PPCallbacks {
public:
  Recorder(Preprocessor &PP, PreprocessorLog &Log)
      : SM(PP.getSourceManager()), PP(PP), Log(Log) {}

  void InclusionDirective(SourceLocation Hash, const Token &, StringRef Name,
                          bool, CharSourceRange, OptionalFileEntryRef,
                          StringRef, StringRef Relative, const clang::Module *,
                          bool, SrcMgr::CharacteristicKind) override {
    Log.Includes.push_back(
        {Hash, Relative.empty() ? Name.str() : Relative.str(), FileID()});
  }

  void LexedFileChanged(FileID Now, LexedFileChangeReason Reason,
                        SrcMgr::CharacteristicKind, FileID,
                        SourceLocation) override {
    // The directive that was seen last is the one that entered the file.
    if (Reason == LexedFileChangeReason::EnterFile && !Log.Includes.empty() &&
        SM.getIncludeLoc(Now).isValid() &&
        SM.getFileID(SM.getIncludeLoc(Now)) ==
            SM.getFileID(Log.Includes.back().Hash))
      Log.Includes.back().Target = Now;
  }

  void MacroDefined(const Token &Name, const MacroDirective *MD) override {
    const MacroInfo *Info = MD->getMacroInfo();
    if (Info->isBuiltinMacro())
      return;
    Log.MacroIndex[Info] = Log.Macros.size();
    Log.Macros.push_back({PP.getSpelling(Name), Info, SourceLocation()});
  }

  void MacroUndefined(const Token &Name, const MacroDefinition &MD,
                      const MacroDirective *) override {
    auto It = Log.MacroIndex.find(MD.getMacroInfo());
    if (It != Log.MacroIndex.end())
      Log.Macros[It->second].Undef = Name.getLocation();
  }

  void MacroExpands(const Token &Name, const MacroDefinition &MD, SourceRange,
                    const MacroArgs *) override {
    use(Name, MD);
  }
  void Defined(const Token &Name, const MacroDefinition &MD,
               SourceRange) override {
    use(Name, MD);
  }
  void Ifdef(SourceLocation At, const Token &Name,
             const MacroDefinition &MD) override {
    use(Name, MD);
    conditional(At, ConditionalDirective::Kind::Open);
  }
  void Ifndef(SourceLocation At, const Token &Name,
              const MacroDefinition &MD) override {
    use(Name, MD);
    conditional(At, ConditionalDirective::Kind::Open);
  }
  void If(SourceLocation At, SourceRange, ConditionValueKind) override {
    conditional(At, ConditionalDirective::Kind::Open);
  }
  void Elif(SourceLocation At, SourceRange, ConditionValueKind,
            SourceLocation) override {
    conditional(At, ConditionalDirective::Kind::Middle);
  }
  void Elifdef(SourceLocation At, const Token &Name,
               const MacroDefinition &MD) override {
    use(Name, MD);
    conditional(At, ConditionalDirective::Kind::Middle);
  }
  void Elifdef(SourceLocation At, SourceRange, SourceLocation) override {
    conditional(At, ConditionalDirective::Kind::Middle);
  }
  void Elifndef(SourceLocation At, const Token &Name,
                const MacroDefinition &MD) override {
    use(Name, MD);
    conditional(At, ConditionalDirective::Kind::Middle);
  }
  void Elifndef(SourceLocation At, SourceRange, SourceLocation) override {
    conditional(At, ConditionalDirective::Kind::Middle);
  }
  void Else(SourceLocation At, SourceLocation) override {
    conditional(At, ConditionalDirective::Kind::Middle);
  }
  void Endif(SourceLocation At, SourceLocation) override {
    conditional(At, ConditionalDirective::Kind::Close);
  }

  void PragmaDirective(SourceLocation At,
                       PragmaIntroducerKind Introducer) override {
    Log.Pragmas.push_back({At, Introducer != PIK_HashPragma});
  }

private:
  void use(const Token &Name, const MacroDefinition &MD) {
    const MacroInfo *Info = MD.getMacroInfo();
    if (!Info)
      return;
    SourceLocation At = SM.getExpansionLoc(Name.getLocation());
    if (Info->isBuiltinMacro() && isFragileMacro(PP.getSpelling(Name)))
      Log.FragileUses[At].push_back(Name.getLocation());
    Log.Uses.push_back({At, Info, PP.getSpelling(Name)});
  }
  void conditional(SourceLocation At, ConditionalDirective::Kind K) {
    Log.Conditionals.push_back({At, K});
  }

  SourceManager &SM;
  Preprocessor &PP;
  PreprocessorLog &Log;
};
} // namespace

void recordPreprocessing(Preprocessor &PP, PreprocessorLog &Log) {
  PP.addPPCallbacks(std::make_unique<Recorder>(PP, Log));
}

} // namespace cupilot
