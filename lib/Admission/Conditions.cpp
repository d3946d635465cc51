//===- Conditions.cpp - The same code for the gate and the build -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Admission and the gate see what clang's device pass keeps of a text. What a
// condition drops there, another compiler, or the host pass of nvcc, may keep.
// So conditions may name the text's own macros, such as are the same for all,
// and __CUDA_ARCH__ where the host never runs what it decides. Outside of
// conditions, no word of the text, and none that its macros join, may be a name
// that compilers define each in its own way.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "cupilot/Admission/ConditionMacros.h"
#include "cupilot/Admission/Directives.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
/// A directive or a token outside of directives.
struct TextToken {
  unsigned At = 0;
  tok::TokenKind Kind = tok::unknown;
};

class Conditions {
public:
  explicit Conditions(AdmissionState &S) : S(S) {}
  void run();

private:
  void read();
  void word(StringRef Name, SourceLocation At);
  void checkJoined();
  void directive(StringRef Name, SourceLocation At,
                 ArrayRef<std::string> Words);
  void checkName(StringRef Name, SourceLocation At, llvm::StringSet<> &Seen,
                 bool &Differs);
  bool inBody(unsigned At) const {
    return llvm::any_of(S.Bodies,
                        [&](const TextRange &B) { return B.contains(At); });
  }
  void checkSkipped();

  struct Condition {
    SourceLocation At;
    std::vector<std::string> Names;
    size_t Group;
  };
  /// From #if to #endif.
  struct Group {
    unsigned Begin = 0, End = ~0u;
    std::optional<size_t> Outer;
    bool Differs = false;            ///< Between the passes of a compilation.
    std::vector<std::string> Macros; ///< Defined or undefined inside.
  };
  bool differs(std::optional<size_t> G) const;
  void spread();

  AdmissionState &S;
  std::vector<TextToken> Tokens;
  std::vector<Condition> Found;
  std::vector<Group> Groups;
  std::optional<size_t> Open; ///< The group that is being read.
  llvm::StringMap<std::vector<std::string>> Own; ///< Macros and their words.
  llvm::StringSet<> Varying; ///< Own macros that differ between the passes.
};
} // namespace

void Conditions::directive(StringRef Name, SourceLocation At,
                           ArrayRef<std::string> Words) {
  unsigned Offset = S.SM.getFileOffset(At);
  if ((Name == "define" || Name == "undef") && !Words.empty()) {
    if (Open)
      Groups[*Open].Macros.push_back(Words.front());
    if (Name == "undef")
      return;
    auto &Body = Own[Words.front()];
    Body.insert(Body.end(), Words.begin() + 1, Words.end());
    return;
  }
  bool Opens = Name == "if" || Name == "ifdef" || Name == "ifndef";
  if (Opens) {
    Groups.push_back({Offset, ~0u, Open, false, {}});
    Open = Groups.size() - 1;
  }
  if (!Open)
    return;
  if (Opens || Name.starts_with("elif"))
    Found.push_back({At, Words.vec(), *Open});
  if (Name == "endif") {
    Groups[*Open].End = Offset;
    Open = Groups[*Open].Outer;
  }
}

bool Conditions::differs(std::optional<size_t> G) const {
  for (; G; G = Groups[*G].Outer)
    if (Groups[*G].Differs)
      return true;
  return false;
}

/// Macros that such a group defines differ too, and so do the groups that ask
/// for them, and so on.
void Conditions::spread() {
  for (bool More = true; More;) {
    More = false;
    for (size_t G = 0; G < Groups.size(); ++G)
      if (differs(G))
        for (const std::string &Name : Groups[G].Macros)
          More |= Varying.insert(Name).second;
    for (auto &[Name, Words] : Own)
      if (!Varying.contains(Name) &&
          llvm::any_of(Words, [&](const std::string &Word) {
            return Varying.contains(Word);
          }))
        More |= Varying.insert(Name).second;
    for (const Condition &C : Found)
      if (!Groups[C.Group].Differs &&
          llvm::any_of(C.Names, [&](const std::string &Name) {
            return Varying.contains(Name);
          }))
        More = Groups[C.Group].Differs = true;
  }
}

void Conditions::word(StringRef Name, SourceLocation At) {
  // Two that have rules of their own.
  if (isCompilerName(Name) && !Name.starts_with("__has_include") &&
      Name != "__has_embed")
    S.addCompilerName(Name, At);
}

/// What the text's macros join (##) and make strings of (#) is kept in scratch
/// space, whether anything comes of it or not.
void Conditions::checkJoined() {
  const LangOptions &LO = S.PP.getLangOpts();
  for (unsigned I = 0; I < S.SM.local_sloc_entry_size(); ++I) {
    const SrcMgr::SLocEntry &Entry = S.SM.getLocalSLocEntry(I);
    if (!Entry.isExpansion())
      continue;
    SourceLocation At = Entry.getExpansion().getExpansionLocStart();
    SourceLocation Text =
        S.SM.getSpellingLoc(Entry.getExpansion().getSpellingLoc());
    if (!S.own(At) || !S.SM.isWrittenInScratchSpace(Text))
      continue;
    unsigned Length = Lexer::MeasureTokenLength(Text, S.SM, LO);
    StringRef Joined(S.SM.getCharacterData(Text), Length);
    while (!Joined.empty()) {
      StringRef Name = Joined.take_while(
          [](char C) { return isAsciiIdentifierContinue(C); });
      word(Name, At);
      Joined = Joined.drop_front(std::max<size_t>(Name.size(), 1));
    }
  }
}

/// Lexes the file as it is written, also what conditions skip.
void Conditions::read() {
  const LangOptions &LO = S.PP.getLangOpts();
  FileID Main = S.SM.getMainFileID();
  Lexer Raw(Main, S.SM.getBufferOrFake(Main), S.SM, LO);
  readDirectives(
      Raw,
      [&](SourceLocation At, ArrayRef<Token> All) {
        std::string Name;
        std::vector<std::string> Words;
        for (const Token &T : All) {
          if (T.isNot(tok::raw_identifier))
            continue;
          std::string Word = Lexer::getSpelling(T, S.SM, LO);
          if (Name == "define" && !Words.empty())
            word(Word, T.getLocation());
          if (Name.empty())
            Name = std::move(Word);
          else
            Words.push_back(std::move(Word));
        }
        directive(Name, At, Words);
      },
      [&](const Token &T) {
        Tokens.push_back({S.SM.getFileOffset(T.getLocation()), T.getKind()});
        if (T.is(tok::raw_identifier))
          word(Lexer::getSpelling(T, S.SM, LO), T.getLocation());
      });
  checkJoined();
}

void Conditions::checkName(StringRef Name, SourceLocation At,
                           llvm::StringSet<> &Seen, bool &Differs) {
  static constexpr StringRef Language[] = {"defined", "true", "false",  "and",
                                           "or",      "not",  "bitand", "bitor",
                                           "xor",     "compl"};
  if (llvm::is_contained(Language, Name) || !Seen.insert(Name).second ||
      isNeutralMacro(Name))
    return;
  if (isArchitectureMacro(Name)) {
    Differs = true;
    return;
  }
  if (auto It = Own.find(Name); It != Own.end() && !isForeignMacro(Name)) {
    for (const std::string &Word : It->second)
      checkName(Word, At, Seen, Differs);
    return;
  }
  const MacroInfo *Info = S.PP.getMacroInfo(S.PP.getIdentifierInfo(Name));
  bool Unix = Name == "linux" || Name == "unix" || Name == "i386";
  if (!Info && !isReservedName(Name) && !isForeignMacro(Name) && !Unix)
    return; // Nobody defines it.
  // Two that have rules of their own.
  if (Name == "__has_include" || Name == "__has_embed" ||
      Name == "__has_include_next")
    return;
  S.add("conditional", At,
        "a condition on '" + Name.str() +
            "', which may not be the same for the gate and for the build");
}

/// What the device pass drops, and the host pass keeps, must not end the
/// function that it stands in. Conditions that both decide alike may.
void Conditions::checkSkipped() {
  for (const TextRange &R : S.Skipped) {
    std::optional<size_t> Inner;
    for (size_t G = 0; G < Groups.size(); ++G)
      if (Groups[G].Begin <= R.Begin && R.Begin < Groups[G].End)
        Inner = G;
    if (Inner && !differs(Inner))
      continue;
    int Depth = 0;
    bool Out = false;
    for (const TextToken &T : Tokens) {
      if (!R.contains(T.At))
        continue;
      Depth += T.Kind == tok::l_brace;
      Depth -= T.Kind == tok::r_brace;
      Out |= Depth < 0;
    }
    if (Out || Depth != 0)
      S.add("conditional",
            S.SM.getLocForStartOfFile(S.SM.getMainFileID())
                .getLocWithOffset(static_cast<int>(R.Begin)),
            "a condition on the architecture drops braces without their "
            "partners");
  }
}

void Conditions::run() {
  read();
  for (const Condition &C : Found) {
    llvm::StringSet<> Seen;
    bool Differs = false;
    for (const std::string &Name : C.Names)
      checkName(Name, C.At, Seen, Differs);
    Groups[C.Group].Differs |= Differs;
  }
  spread();
  bool AnyDiffers = false;
  for (const Condition &C : Found) {
    if (!Groups[C.Group].Differs)
      continue;
    AnyDiffers = true;
    if (!inBody(S.SM.getFileOffset(C.At)))
      S.add("conditional", C.At,
            "a condition on the architecture outside of a function: the host "
            "would see other declarations");
  }
  if (AnyDiffers)
    checkSkipped();
  for (const HeaderExpansion &E : S.Expansions)
    if (!inBody(S.offset(E.At)))
      S.add("conditional", E.At,
            "the macro '" + E.Name +
                "' of a header decides what is declared here");
}

void checkConditions(AdmissionState &S) { Conditions(S).run(); }

} // namespace cupilot
