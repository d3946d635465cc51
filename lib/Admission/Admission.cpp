//===- Admission.cpp - What a variant's text may hold -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parse.h"
#include "Rules.h"
#include "cupilot/Admission/ConditionMacros.h"
#include "cupilot/Admission/DeviceHeaders.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
class Rules : public PPCallbacks, public AdmissionState {
public:
  Rules(CompilerInstance &CI, std::vector<AdmissionFinding> &Findings,
        const AdmissionOptions &Options)
      : AdmissionState(CI.getPreprocessor(), Findings, Options),
        LO(CI.getLangOpts()) {}

  void InclusionDirective(SourceLocation Hash, const Token &, StringRef Name,
                          bool, CharSourceRange Written,
                          OptionalFileEntryRef File, StringRef, StringRef,
                          const clang::Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    if (!own(Hash)) {
      // An allowed header may include what a macro names: not one of ours. CUB
      // pastes names of its own.
      SourceLocation Begin = Written.getBegin();
      bool Pasted = SM.isWrittenInScratchSpace(SM.getSpellingLoc(Begin)) &&
                    !Name.starts_with("/") && !Name.contains("..");
      if (Begin.isMacroID() && spelledHere(Begin) && !Pasted)
        add("include", Begin,
            "a macro that makes a header include '" + Name.str() + "'");
      return;
    }
    if (!isDeviceHeader(Name))
      add("include", Hash,
          "#include of '" + Name.str() +
              "', which is not on the list of headers for device code");
    else if (OptionalFileEntryRef Main =
                 SM.getFileEntryRefForID(SM.getMainFileID());
             File && Main && File->getDir() == Main->getDir())
      add("include", Hash,
          "#include of '" + Name.str() +
              "' finds a file beside the variant, not the system's header");
  }
  void HasInclude(SourceLocation Loc, StringRef Name, bool,
                  OptionalFileEntryRef, SrcMgr::CharacteristicKind) override {
    if (own(Loc))
      add("environment", Loc,
          "__has_include of '" + Name.str() +
              "' makes the code depend on where it is compiled");
  }
  void HasEmbed(SourceLocation Loc, StringRef Name, bool,
                OptionalFileEntryRef) override {
    if (own(Loc))
      add("embed", Loc, "__has_embed of '" + Name.str() + "'");
  }
  void Ident(SourceLocation Loc, StringRef) override {
    if (own(Loc))
      add("pragma", Loc, "#ident puts text into the object");
  }
  void EmbedDirective(SourceLocation Hash, StringRef Name, bool,
                      OptionalFileEntryRef,
                      const LexEmbedParametersResult &) override {
    if (own(Hash))
      add("embed", Hash, "#embed of '" + Name.str() + "'");
  }
  void PragmaDirective(SourceLocation Loc, PragmaIntroducerKind) override {
    if (!own(Loc))
      return;
    std::string Name = pragmaName(SM.getSpellingLoc(Loc));
    if (!isAllowedPragma(Name))
      add("pragma", Loc,
          "the pragma '" + Name +
              "'; only those of unrolling and of diagnostics may be used");
  }
  void MacroExpands(const Token &Name, const MacroDefinition &Definition,
                    SourceRange Range, const MacroArgs *) override {
    StringRef Text = Name.getIdentifierInfo()->getName();
    const MacroInfo *Info = Definition.getMacroInfo();
    if (Info && !Info->isBuiltinMacro() && own(Info->getDefinitionLoc()) &&
        !own(Range.getBegin()))
      add("macro", Info->getDefinitionLoc(),
          "'" + Text.str() + "' changes what a header says");
    // The assert of the system's header may name its file.
    if (!own(Range.getBegin()) || !spelledHere(Name.getLocation()))
      return;
    if (Text == "__DATE__" || Text == "__TIME__" || Text == "__FILE__" ||
        Text == "__FILE_NAME__" || Text == "__BASE_FILE__" ||
        Text == "__TIMESTAMP__" || Text == "__COUNTER__")
      add("environment", Range.getBegin(),
          Text.str() +
              " makes the code depend on where or when it is compiled");
    else if (Info && isPredefined(*Info) && !isSharedPredefined(Text) &&
             !isCompilerName(Text)) // Found as words.
      addCompilerName(Text, Range.getBegin());
    if (!Info || Info->isBuiltinMacro() || !Info->isFunctionLike() ||
        spelledHere(Info->getDefinitionLoc()))
      return;
    // An own argument stays, whatever the compiler is.
    static constexpr StringRef Plain[] = {
        "__launch_bounds__", "__cluster_dims__",  "__block_size__",
        "__align__",         "__builtin_align__", "__maxnreg__",
        "__local_maxnreg__", "__grid_constant__"};
    if (!llvm::is_contained(Plain, Text) && !Text.ends_with("_C"))
      Expansions.push_back({Range.getBegin(), Text.str()});
  }
  void MacroDefined(const Token &Name, const MacroDirective *MD) override {
    const MacroDirective *Before = MD->getPrevious();
    const MacroInfo *Was = Before ? Before->getMacroInfo() : nullptr;
    checkMacro(Name, Was, "defines");
  }
  void MacroUndefined(const Token &Name, const MacroDefinition &Definition,
                      const MacroDirective *) override {
    checkMacro(Name, Definition.getMacroInfo(), "undefines");
  }
  void FileChanged(SourceLocation Loc, FileChangeReason Reason,
                   SrcMgr::CharacteristicKind, FileID) override {
    if (Reason == RenameFile && own(Loc))
      add("line", Loc, "#line gives the code another place than it has");
  }
  void SourceRangeSkipped(SourceRange Range, SourceLocation) override {
    if (own(Range.getBegin()))
      Skipped.push_back({offset(Range.getBegin()), offset(Range.getEnd())});
  }

private:
  /// By the compiler: not by a header, and not by the command.
  bool isPredefined(const MacroInfo &Info) const {
    SourceLocation At = Info.getDefinitionLoc();
    return Info.isBuiltinMacro() || At.isInvalid() ||
           SM.isWrittenInBuiltinFile(At);
  }
  void checkMacro(const Token &Name, const MacroInfo *Was, StringRef Does) {
    if (!own(Name.getLocation()))
      return;
    IdentifierInfo *II = Name.getIdentifierInfo();
    StringRef Text = II->getName();
    StringRef What =
        II->isKeyword(LO) ? "a word of the language"
        : Was && (Was->isBuiltinMacro() || !own(Was->getDefinitionLoc()))
            ? "a macro of the compiler or of a header"
        : isForeignMacro(Text) ? "a name that headers and compilers look at"
        : isRuntimeName(Text)  ? "a name of the CUDA run time"
                               : "";
    if (!What.empty())
      add("macro", Name.getLocation(),
          (Does + " '" + Text + "', " + What).str());
  }
  /// The first word behind "#pragma" or in _Pragma's string; lexed, since line
  /// splices, comments and digraphs may stand in between.
  std::string pragmaName(SourceLocation Loc) const {
    auto [File, Offset] = SM.getDecomposedLoc(Loc);
    StringRef Buffer = SM.getBufferData(File);
    Lexer Raw(SM.getLocForStartOfFile(File), LO, Buffer.begin(),
              Buffer.begin() + Offset, Buffer.end());
    Token T;
    auto Next = [&] {
      Raw.LexFromRawLexer(T);
      return Lexer::getSpelling(T, SM, LO);
    };
    std::string Text = Next();
    if (T.is(tok::hash))
      return Next() == "pragma" ? Next() : "";
    if (Text != "_Pragma" || Next() != "(")
      return "";
    Text = Next();
    if (T.isNot(tok::string_literal) || !StringRef(Text).starts_with("\""))
      return "";
    return StringRef(Text)
        .drop_front()
        .ltrim()
        .take_while([](char C) { return llvm::isAlnum(C) || C == '_'; })
        .str();
  }
  const LangOptions &LO;
};

class Consumer : public ASTConsumer {
public:
  explicit Consumer(Rules &R) : R(R) {}
  void HandleTranslationUnit(ASTContext &Context) override {
    checkDeclarations(R, Context);
    checkStorage(R, Context);
    checkConditions(R);
  }
  bool shouldSkipFunctionBody(Decl *D) override {
    return R.before(D->getLocation()) && canSkipBody(*D);
  }

private:
  Rules &R;
};
} // namespace

std::unique_ptr<ASTConsumer>
createAdmissionConsumer(CompilerInstance &CI,
                        std::vector<AdmissionFinding> &Findings,
                        const AdmissionOptions &Options) {
  auto Owned = std::make_unique<Rules>(CI, Findings, Options);
  Rules &R = *Owned;
  watchAttributes(R);
  CI.getPreprocessor().addPPCallbacks(std::move(Owned));
  return std::make_unique<Consumer>(R);
}

} // namespace cupilot
