//===- Text.cpp - What a text shows before it is compiled -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiler opens what a text includes before anyone can object, and calls
// itself for what is nested. So a text is read as tokens first: nothing is
// opened, nothing expanded, and skipped conditions count like all others, since
// another compiler may keep them.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "cupilot/Admission/DeviceHeaders.h"
#include "cupilot/Admission/Directives.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace cupilot {

static constexpr size_t LongestText = 256 << 10;
/// As many as clang itself admits (-fbracket-depth).
static constexpr size_t MostOpen = 256;
static constexpr unsigned LongestRun = 16384;
static constexpr uint64_t MostOfMacros = 1 << 21;

bool NestingLimit::admits(tok::TokenKind Kind, bool FromMacro) {
  ++Run;
  OfMacros += FromMacro;
  switch (Kind) {
  case tok::l_paren:
  case tok::l_square:
  case tok::l_brace:
    if (Kind == tok::l_brace)
      Run = 0;
    Open.push_back(Kind);
    break;
  case tok::r_paren:
  case tok::r_square:
  case tok::r_brace:
    if (Kind == tok::r_brace)
      Run = 0;
    if (!Open.empty())
      Open.pop_back();
    break;
  case tok::semi:
    Run = 0;
    break;
  case tok::comma: // Of a table.
    if (!Open.empty() && Open.back() == tok::l_brace)
      Run = 0;
    break;
  default:
    break;
  }
  return Open.size() <= MostOpen && Run <= LongestRun &&
         OfMacros <= MostOfMacros;
}

StringRef nestingMessage() {
  return "brackets are nested deeper than 256, an expression has more than "
         "16384 tokens, or macros make more than 2 million: compilers may not "
         "survive it";
}

bool isAllowedPragma(StringRef Word) {
  static constexpr StringRef Allowed[] = {
      "unroll",          "nounroll",        "once",         "nv_diag_suppress",
      "nv_diag_default", "nv_diag_warning", "nv_diag_once", "nv_diagnostic"};
  return llvm::is_contained(Allowed, Word);
}

namespace {
class TextCheck {
public:
  TextCheck(StringRef Text, StringRef Folder) : Text(Text), Folder(Folder) {
    LO.CPlusPlus = LO.CPlusPlus11 = LO.CPlusPlus14 = LO.CPlusPlus17 = true;
    LO.CPlusPlus20 = LO.LineComment = LO.RawStringLiterals = true;
    LO.Digraphs = LO.CXXOperatorNames = LO.Bool = true;
  }
  std::vector<AdmissionFinding> run();

private:
  void directive(SourceLocation Hash, ArrayRef<Token> Words);
  void include(SourceLocation Hash, ArrayRef<Token> Behind);
  void word(const Token &T);
  /// Splices taken out.
  std::string spelling(const Token &T) const {
    llvm::SmallString<32> Buffer;
    return Lexer::getSpelling(T.getLocation(), Buffer, *SM, LO).str();
  }
  size_t offset(const Token &T) const {
    return SM->getFileOffset(T.getLocation());
  }
  unsigned lineAt(size_t Offset) const {
    return unsigned(Text.take_front(Offset).count('\n')) + 1;
  }
  void add(StringRef Rule, size_t Offset, const llvm::Twine &Message) {
    Findings.push_back({Rule.str(), lineAt(Offset), Message.str()});
  }

  StringRef Text, Folder;
  LangOptions LO;
  SourceManager *SM = nullptr;
  NestingLimit Nesting;
  std::vector<AdmissionFinding> Findings;
};
} // namespace

/// The place of a trigraph, or npos.
static size_t findTrigraph(StringRef Text) {
  for (size_t At = 0; (At = Text.find("??", At)) != StringRef::npos; ++At)
    if (At + 2 < Text.size() && StringRef("=/'()!<>-").contains(Text[At + 2]))
      return At;
  return StringRef::npos;
}

std::vector<AdmissionFinding> TextCheck::run() {
  if (Text.size() > LongestText) {
    add("size", 0,
        "the text has " + llvm::Twine(Text.size()) +
            " bytes; a variant may have " + llvm::Twine(LongestText));
    return Findings;
  }
  if (size_t At = Text.find('\0'); At != StringRef::npos)
    add("spelling", At, "a byte that is 0: compilers may end the text there");
  if (size_t At = findTrigraph(Text); At != StringRef::npos)
    add("spelling", At,
        "a trigraph, which some compilers and languages read as another "
        "character");
  FileSystemOptions Options;
  FileManager Files(Options,
                    llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  DiagnosticOptions DiagOptions;
  DiagnosticsEngine Diags(DiagnosticIDs::create(), DiagOptions,
                          new IgnoringDiagConsumer);
  SourceManager Manager(Diags, Files);
  SM = &Manager;
  FileID ID = Manager.createFileID(llvm::MemoryBuffer::getMemBufferCopy(Text));
  Lexer Raw(ID, Manager.getBufferOrFake(ID), Manager, LO);
  bool Beyond = false;
  readDirectives(
      Raw,
      [&](SourceLocation Hash, ArrayRef<Token> Words) {
        directive(Hash, Words);
      },
      [&](const Token &T) {
        if (!Nesting.admits(T.getKind()) && !std::exchange(Beyond, true))
          add("nesting", offset(T), nestingMessage());
        if (T.is(tok::raw_identifier))
          word(T);
      });
  return std::move(Findings);
}

/// A word that is a request for a file wherever it stands.
void TextCheck::word(const Token &T) {
  std::string Word = spelling(T);
  if (Word == "__has_include" || Word == "__has_include_next")
    add("environment", offset(T),
        Word + " makes the code depend on where it is compiled");
  else if (Word == "__has_embed")
    add("embed", offset(T), "__has_embed");
}

void TextCheck::directive(SourceLocation Hash, ArrayRef<Token> Words) {
  if (Words.empty())
    return;
  // A long macro may hold any number of brackets; it is counted where it is
  // used.
  const Token &First = Words.front();
  if (First.is(tok::numeric_constant)) {
    add("line", SM->getFileOffset(Hash),
        "a line marker gives the code another place than it has");
    return;
  }
  if (First.isNot(tok::raw_identifier))
    return;
  std::string Name = spelling(First);
  for (const Token &T : Words.drop_front())
    if (T.is(tok::raw_identifier))
      word(T);
  if (Name == "line")
    add("line", SM->getFileOffset(Hash),
        "#line gives the code another place than it has");
  else if (Name == "include" || Name == "include_next" || Name == "import" ||
           Name == "__include_macros")
    include(Hash, Words);
  else if (Name == "embed")
    add("embed", SM->getFileOffset(Hash),
        "#embed puts a file's bytes into the code");
  else if (Name == "ident" || Name == "sccs")
    add("pragma", SM->getFileOffset(Hash), "#ident puts text into the object");
  else if (Name == "pragma" &&
           !isAllowedPragma(Words.size() > 1 ? spelling(Words[1]) : ""))
    add("pragma", SM->getFileOffset(Hash),
        "the pragma '" + (Words.size() > 1 ? spelling(Words[1]) : "") +
            "'; only those of unrolling and of diagnostics may be used");
}

void TextCheck::include(SourceLocation Hash, ArrayRef<Token> Words) {
  auto Refuse = [&](const llvm::Twine &Why) {
    add("include", SM->getFileOffset(Hash), Why);
  };
  if (Text[SM->getFileOffset(Hash)] != '#')
    return Refuse("#include spelled with other characters");
  if (spelling(Words.front()) != "include")
    return Refuse("#" + spelling(Words.front()) +
                  "; a variant includes by #include");
  ArrayRef<Token> Operand = Words.drop_front();
  if (Operand.empty())
    return Refuse("#include without a header");
  size_t Begin = offset(Operand.front()) + 1;
  StringRef Name;
  bool Quoted = Operand.front().is(tok::string_literal);
  if (Quoted && Operand.size() == 1 && Text[Begin - 1] == '"') {
    Name = Text.substr(Begin, Operand.front().getLength() - 2);
  } else if (Operand.front().is(tok::less) && Operand.back().is(tok::greater) &&
             Operand.front().getLength() == 1) {
    Name = Text.slice(Begin, offset(Operand.back()));
  } else {
    return Refuse("#include of what is not spelled out as <header> or "
                  "\"header\"");
  }
  if (!isDeviceHeader(Name))
    return Refuse("#include of '" + Name.take_while(llvm::isPrint) +
                  "', which is not on the list of headers for device code");
  if (Quoted && !Folder.empty() && llvm::sys::fs::exists(Folder + "/" + Name))
    Refuse("#include of '" + Name +
           "' finds a file beside the variant, not the system's header");
}

std::vector<AdmissionFinding> checkText(StringRef Text, StringRef Folder) {
  return TextCheck(Text, Folder).run();
}

} // namespace cupilot
