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
// and __CUDA_ARCH__ where the host never runs what it decides.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

/// Differs between the passes of one compilation.
static bool isArchitectureMacro(StringRef Name) {
  return Name.starts_with("__CUDA_ARCH");
}

/// The same for clang and nvcc in every compilation that cuPilot takes part in,
/// whoever defines it.
static bool isNeutralMacro(StringRef Name) {
  static constexpr StringRef Names[] = {"NDEBUG",
                                        "__CUDACC__",
                                        "__cplusplus",
                                        "_WIN32",
                                        "_WIN64",
                                        "_MSC_VER",
                                        "__APPLE__",
                                        "__HIPCC__",
                                        "__HIP__",
                                        "__HIP_DEVICE_COMPILE__",
                                        "__HIP_PLATFORM_AMD__",
                                        "__HIP_PLATFORM_HCC__",
                                        "__SYCL_DEVICE_ONLY__"};
  return llvm::is_contained(Names, Name);
}

static bool isReserved(StringRef Name) {
  return Name.starts_with("__") || (Name.size() > 1 && Name[0] == '_' &&
                                    Name[1] >= 'A' && Name[1] <= 'Z');
}

bool isForeignMacro(StringRef Name) {
  for (StringRef Prefix : {"__CUDA", "__NV", "__CUPILOT", "CUPILOT_", "__clang",
                           "__GNU", "__has_", "__cplusplus", "_CCCL", "CCCL_",
                           "_LIBCUDACXX", "CUDART_VERSION", "CUDA_VERSION"})
    if (Name.starts_with(Prefix))
      return true;
  return false;
}

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
  };
  AdmissionState &S;
  std::vector<TextToken> Tokens;
  std::vector<Condition> Found;
  llvm::StringMap<std::vector<std::string>> Own; ///< Macros and their words.
};
} // namespace

void Conditions::directive(StringRef Name, SourceLocation At,
                           ArrayRef<std::string> Words) {
  if (Name == "define" && !Words.empty()) {
    auto &Body = Own[Words.front()];
    Body.insert(Body.end(), Words.begin() + 1, Words.end());
  } else if (Name == "if" || Name == "elif" || Name == "ifdef" ||
             Name == "ifndef" || Name == "elifdef" || Name == "elifndef") {
    Found.push_back({At, Words.vec()});
  }
}

/// Lexes the file as it is written, also what conditions skip.
void Conditions::read() {
  const LangOptions &LO = S.PP.getLangOpts();
  FileID Main = S.SM.getMainFileID();
  Lexer Raw(Main, S.SM.getBufferOrFake(Main), S.SM, LO);
  Token T;
  bool More = true;
  auto Next = [&] {
    Raw.LexFromRawLexer(T);
    More = T.isNot(tok::eof);
  };
  Next();
  while (More) {
    if (T.isNot(tok::hash) || !T.isAtStartOfLine()) {
      Tokens.push_back({S.SM.getFileOffset(T.getLocation()), T.getKind()});
      Next();
      continue;
    }
    SourceLocation At = T.getLocation();
    std::string Name;
    std::vector<std::string> Words;
    for (Next(); More && !T.isAtStartOfLine(); Next()) {
      if (T.isNot(tok::raw_identifier))
        continue;
      std::string Word = Lexer::getSpelling(T, S.SM, LO);
      if (Name.empty())
        Name = std::move(Word);
      else
        Words.push_back(std::move(Word));
    }
    directive(Name, At, Words);
  }
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
  if (!Info && !isReserved(Name) && !isForeignMacro(Name) && !Unix)
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
/// function that it stands in.
void Conditions::checkSkipped() {
  for (const TextRange &R : S.Skipped) {
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
  bool AnyDiffers = false;
  for (const Condition &C : Found) {
    llvm::StringSet<> Seen;
    bool Differs = false;
    for (const std::string &Name : C.Names)
      checkName(Name, C.At, Seen, Differs);
    AnyDiffers |= Differs;
    if (Differs && !inBody(S.SM.getFileOffset(C.At)))
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
