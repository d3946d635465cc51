//===- Rules.h - What the rules share ---------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_ADMISSION_RULES_H
#define CUPILOT_LIB_ADMISSION_RULES_H

#include "cupilot/Admission/Admission.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/TokenKinds.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

namespace clang {
class ASTContext;
} // namespace clang

namespace cupilot {

/// Bytes of the variant's file, [Begin, End).
struct TextRange {
  unsigned Begin = 0, End = 0;
  bool contains(unsigned At) const { return Begin <= At && At < End; }
};

/// A function-like macro of a header that the variant expands.
struct HeaderExpansion {
  clang::SourceLocation At;
  std::string Name;
};

/// Counts what makes a compiler call itself: open brackets, and the tokens
/// since the last statement or element ended.
class NestingLimit {
public:
  /// Whether the code is still within the limits with a token of \p Kind.
  bool admits(clang::tok::TokenKind Kind, bool FromMacro = false);

private:
  llvm::SmallVector<clang::tok::TokenKind, 32> Open;
  unsigned Run = 0;
  uint64_t OfMacros = 0;
};

/// What a text beyond them is told.
llvm::StringRef nestingMessage();

/// A name that the CUDA run time keeps for itself.
inline bool isRuntimeName(llvm::StringRef Name) {
  return Name.starts_with("cuda") && Name.size() > 4 && llvm::isUpper(Name[4]);
}

/// The first word behind #pragma may be these.
bool isAllowedPragma(llvm::StringRef Word);

/// Findings, and what one rule notes for another.
struct AdmissionState {
  AdmissionState(clang::Preprocessor &PP,
                 std::vector<AdmissionFinding> &Findings,
                 const AdmissionOptions &Options)
      : PP(PP), SM(PP.getSourceManager()), Findings(Findings),
        Options(Options) {}

  clang::Preprocessor &PP;
  clang::SourceManager &SM;
  std::vector<AdmissionFinding> &Findings;
  AdmissionOptions Options;
  NestingLimit Nesting;
  std::vector<TextRange> Skipped; ///< By conditions.
  std::vector<TextRange> Bodies;  ///< Of functions.
  std::vector<HeaderExpansion> Expansions;

  /// Whether \p Loc lies in the variant's text, or is expanded there.
  bool own(clang::SourceLocation Loc) const {
    return Loc.isValid() &&
           SM.getFileID(SM.getExpansionLoc(Loc)) == SM.getMainFileID();
  }
  /// Whether \p Loc lies in what the compiler reads before the text, on which
  /// the text has no influence.
  bool before(clang::SourceLocation Loc) const {
    return SM.isBeforeInTranslationUnit(
        SM.getExpansionLoc(Loc), SM.getLocForStartOfFile(SM.getMainFileID()));
  }
  /// Whether the text at \p Loc comes from the variant itself, or is made by
  /// pasting, which could join anything.
  bool spelledHere(clang::SourceLocation Loc) const {
    clang::SourceLocation Spelling = SM.getSpellingLoc(Loc);
    return SM.getFileID(Spelling) == SM.getMainFileID() ||
           SM.isWrittenInScratchSpace(Spelling);
  }
  unsigned offset(clang::SourceLocation Loc) const {
    return SM.getFileOffset(SM.getExpansionLoc(Loc));
  }
  void add(llvm::StringRef Rule, clang::SourceLocation Loc,
           std::string Message) {
    Findings.push_back(
        {Rule.str(), SM.getExpansionLineNumber(Loc), std::move(Message)});
  }
  void addCompilerName(llvm::StringRef Name, clang::SourceLocation Loc) {
    // Macros join one name in several steps.
    const std::pair Place(SM.getExpansionLineNumber(Loc), Name.str());
    if (CompilerNames.insert(Place).second)
      add("environment", Loc,
          "'" + Name.str() +
              "' asks which compiler reads the text: the gate and the build "
              "may see other code");
  }

private:
  std::set<std::pair<unsigned, std::string>> CompilerNames; ///< By line.
};

/// Makes the preprocessor hand over every token of an attribute: their names
/// must be on a list, known to this compiler or not. \p S must outlive parsing.
void watchAttributes(AdmissionState &S);

/// Looks at every declaration of the variant's file, and notes the bodies of
/// its functions.
void checkDeclarations(AdmissionState &S, clang::ASTContext &Context);

/// Looks at the device variables of the variant's file, those of instances of
/// its templates too: their names and sizes.
void checkStorage(AdmissionState &S, clang::ASTContext &Context);

/// Looks at the directives of the variant's file: the gate, the build and the
/// passes of a compilation must see the same code. After checkDeclarations.
void checkConditions(AdmissionState &S);

} // namespace cupilot

#endif // CUPILOT_LIB_ADMISSION_RULES_H
