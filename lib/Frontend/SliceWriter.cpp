//===- SliceWriter.cpp - The text of a slice -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slice is made of the unit's own text: declarations are copied whole, with
// the directives that define the macros in them, in the order of the unit.
//
//===----------------------------------------------------------------------===//

#include "SliceWriter.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
#include <set>

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
struct RawToken {
  unsigned Begin, End; ///< Offsets in the file.
  tok::TokenKind Kind;
  bool InDirective;
};

/// A piece of a file that is copied.
struct Piece {
  FileID File;
  unsigned Begin, End;
  const DeclContext *Context; ///< The namespaces around it.
};

class Writer {
public:
  Writer(const FunctionDecl &Kernel, const Closure &Uses,
         const ParsedUnit &Unit)
      : Kernel(Kernel), Uses(Uses), Unit(Unit), SM(Unit.sources()),
        PP(Unit.CI->getPreprocessor()) {}
  SliceText run();

private:
  const std::vector<RawToken> &tokensOf(FileID File);
  void addPiece(const Decl *D);
  void addMacros(StringRef Text, std::set<std::string> &Names);
  void addMacro(const IdentifierInfo *Id, std::set<std::string> &Names);
  void addIncludeFor(SourceLocation Loc);
  void emit(const Piece &P, std::string &Out);
  void openContext(const DeclContext *Context, std::string &Out);
  std::string instantiation();
  void appendTokens(StringRef Text, std::string &Out);
  StringRef textOf(const Piece &P) {
    return SM.getBufferData(P.File).substr(P.Begin, P.End - P.Begin);
  }

  const FunctionDecl &Kernel;
  const Closure &Uses;
  const ParsedUnit &Unit;
  SourceManager &SM;
  Preprocessor &PP;
  std::map<FileID, std::vector<RawToken>> Tokens;
  std::vector<Piece> Pieces;
  std::vector<std::string> CommandLineMacros;
  std::set<std::string> Includes;
};
} // namespace

const std::vector<RawToken> &Writer::tokensOf(FileID File) {
  auto [It, New] = Tokens.try_emplace(File);
  if (!New)
    return It->second;
  llvm::MemoryBufferRef Buffer = SM.getBufferOrFake(File);
  Lexer Lex(SM.getLocForStartOfFile(File), PP.getLangOpts(),
            Buffer.getBufferStart(), Buffer.getBufferStart(),
            Buffer.getBufferEnd());
  Token T;
  bool Directive = false;
  for (Lex.LexFromRawLexer(T); T.isNot(tok::eof); Lex.LexFromRawLexer(T)) {
    if (T.isAtStartOfLine())
      Directive = T.is(tok::hash);
    unsigned Begin = SM.getFileOffset(T.getLocation());
    It->second.push_back(
        {Begin, Begin + T.getLength(), T.getKind(), Directive});
  }
  return It->second;
}

/// The whole text of a declaration: from after the previous one's end to its
/// own, with attributes, template headers and the final semicolon.
void Writer::addPiece(const Decl *D) {
  CharSourceRange Range = SM.getExpansionRange(D->getSourceRange());
  FileID File = SM.getFileID(Range.getBegin());
  if (File.isInvalid() || File != SM.getFileID(Range.getEnd()))
    return;
  const std::vector<RawToken> &List = tokensOf(File);
  unsigned BeginOffset = SM.getFileOffset(Range.getBegin());
  unsigned EndOffset = SM.getFileOffset(Range.getEnd());
  auto First = llvm::lower_bound(
      List, BeginOffset,
      [](const RawToken &T, unsigned Offset) { return T.Begin < Offset; });
  auto Last = llvm::upper_bound(
      List, EndOffset,
      [](unsigned Offset, const RawToken &T) { return Offset < T.Begin; });
  if (First == List.end() || Last == List.begin())
    return;
  --Last;
  while (First != List.begin()) {
    auto Before = std::prev(First);
    if (Before->InDirective || Before->Kind == tok::semi ||
        Before->Kind == tok::r_brace || Before->Kind == tok::l_brace)
      break;
    First = Before;
  }
  // Up to the end of the declaration: a body's brace, or the semicolon. A macro
  // call that makes a whole definition may have neither.
  bool Body = false;
  if (const auto *F = D->getAsFunction())
    Body =
        F->doesThisDeclarationHaveABody() ||
        (isa<FunctionTemplateDecl>(D) && cast<FunctionTemplateDecl>(D)
                                             ->getTemplatedDecl()
                                             ->doesThisDeclarationHaveABody());
  auto End = Last;
  if (!Body || Last->Kind != tok::r_brace)
    for (auto It = Last; It != List.end() && !It->InDirective; ++It) {
      if (It->Kind == tok::semi) {
        End = It;
        break;
      }
      if (Body && It != Last)
        break;
    }
  Piece New{File, First->Begin, End->End, D->getLexicalDeclContext()};
  // Pieces of one statement (several variables, a macro's declarations) merge.
  for (Piece &Other : Pieces)
    if (Other.File == New.File && New.Begin < Other.End &&
        Other.Begin < New.End) {
      Other.Begin = std::min(Other.Begin, New.Begin);
      Other.End = std::max(Other.End, New.End);
      return;
    }
  Pieces.push_back(New);
}

void Writer::addIncludeFor(SourceLocation Loc) {
  Loc = SM.getExpansionLoc(Loc);
  FileID File = SM.getFileID(Loc);
  while (File.isValid()) {
    for (const IncludeDirective &I : Unit.Includes)
      if (I.Entered == File) {
        Includes.insert(I.Text);
        return;
      }
    SourceLocation From = SM.getIncludeLoc(File);
    File = From.isValid() ? SM.getFileID(From) : FileID();
  }
}

void Writer::addMacro(const IdentifierInfo *Id, std::set<std::string> &Names) {
  if (!Id || !Id->hadMacroDefinition() ||
      !Names.insert(Id->getName().str()).second)
    return;
  for (const MacroDirective *M = PP.getLocalMacroDirectiveHistory(Id); M;
       M = M->getPrevious()) {
    SourceLocation Loc = M->getLocation();
    if (Loc.isInvalid())
      continue;
    const MacroInfo *Info = M->getMacroInfo();
    if (SM.isWrittenInCommandLineFile(Loc)) {
      // -D does not reach variants: the definition goes into the text.
      if (Info && isa<DefMacroDirective>(M)) {
        FileID File = SM.getFileID(Loc);
        StringRef Buffer = SM.getBufferData(File);
        unsigned Offset = SM.getFileOffset(Loc);
        StringRef Line =
            Buffer.substr(Offset).take_until([](char C) { return C == '\n'; });
        CommandLineMacros.push_back(("#define " + Line).str());
      }
      continue;
    }
    if (isSystem(Unit, Loc)) {
      addIncludeFor(Loc);
      continue;
    }
    FileID File = SM.getFileID(Loc);
    unsigned Offset = SM.getFileOffset(Loc);
    // The whole directive, as raw tokens know it.
    const std::vector<RawToken> &List = tokensOf(File);
    auto At =
        llvm::lower_bound(List, Offset, [](const RawToken &T, unsigned O) {
          return T.Begin < O;
        });
    if (At == List.end() || !At->InDirective)
      continue;
    while (At->Kind != tok::hash && At != List.begin())
      --At;
    StringRef Buffer = SM.getBufferData(File);
    unsigned End = At->Begin;
    while (End < Buffer.size() &&
           !(Buffer[End] == '\n' && Buffer[End - 1] != '\\'))
      ++End;
    Pieces.push_back({File, At->Begin, End, nullptr});
    if (Info)
      for (const Token &T : Info->tokens())
        addMacro(T.getIdentifierInfo(), Names);
  }
}

void Writer::addMacros(StringRef Piece, std::set<std::string> &Names) {
  std::string Text = Piece.str(); // The lexer needs a final NUL.
  Lexer Lex(SourceLocation(), PP.getLangOpts(), Text.data(), Text.data(),
            Text.data() + Text.size());
  Token T;
  for (Lex.LexFromRawLexer(T); T.isNot(tok::eof); Lex.LexFromRawLexer(T))
    if (T.is(tok::raw_identifier))
      addMacro(PP.getIdentifierInfo(T.getRawIdentifier()), Names);
}

void Writer::openContext(const DeclContext *Context, std::string &Out) {
  if (!Context || Context->isTranslationUnit())
    return;
  openContext(Context->getLexicalParent(), Out);
  if (const auto *N = dyn_cast<NamespaceDecl>(Context)) {
    if (N->isInline())
      Out += "inline ";
    Out += "namespace " + N->getNameAsString() +
           (N->isAnonymousNamespace() ? "{ " : " { ");
  } else if (const auto *L = dyn_cast<LinkageSpecDecl>(Context);
             L && L->hasBraces()) {
    Out += L->getLanguage() == LinkageSpecLanguageIDs::C ? "extern \"C\" { "
                                                         : "extern \"C++\" { ";
  }
}

static unsigned contextDepth(const DeclContext *Context) {
  unsigned Depth = 0;
  for (; Context && !Context->isTranslationUnit();
       Context = Context->getLexicalParent())
    if (isa<NamespaceDecl>(Context) ||
        (isa<LinkageSpecDecl>(Context) &&
         cast<LinkageSpecDecl>(Context)->hasBraces()))
      ++Depth;
  return Depth;
}

void Writer::emit(const Piece &P, std::string &Out) {
  unsigned Depth = contextDepth(P.Context);
  if (Depth > 0) {
    openContext(P.Context, Out);
    Out += "\n";
  }
  Out += textOf(P).str();
  Out += "\n";
  if (Depth > 0)
    Out += std::string(Depth, '}') + "\n";
}

/// `template __global__ void k<float>(...);` for an instantiation.
std::string Writer::instantiation() {
  const TemplateArgumentList *Args = Kernel.getTemplateSpecializationArgs();
  if (!Args)
    return "";
  PrintingPolicy Policy(PP.getLangOpts());
  Policy.FullyQualifiedName = true;
  Policy.SuppressScope = false;
  Policy.SuppressTagKeyword = true;
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  const DeclContext *Context = Kernel.getEnclosingNamespaceContext();
  std::string Open;
  openContext(Context, Open);
  OS << Open << "template __global__ void " << Kernel.getNameAsString();
  printTemplateArgumentList(OS, Args->asArray(), Policy);
  OS << "(";
  for (const ParmVarDecl *P : Kernel.parameters())
    OS << (P == Kernel.getParamDecl(0) ? "" : ", ")
       << P->getType().getAsString(Policy);
  OS << ");" << std::string(contextDepth(Context), '}') << "\n";
  return Out;
}

void Writer::appendTokens(StringRef Piece, std::string &Out) {
  std::string Text = Piece.str(); // The lexer needs a final NUL.
  Lexer Lex(SourceLocation(), PP.getLangOpts(), Text.data(), Text.data(),
            Text.data() + Text.size());
  Token T;
  for (Lex.LexFromRawLexer(T); T.isNot(tok::eof); Lex.LexFromRawLexer(T)) {
    const char *End = Lex.getBufferLocation();
    Out += StringRef(End - T.getLength(), T.getLength()).str() + " ";
  }
}

SliceText Writer::run() {
  for (const Decl *D : Uses.Own)
    for (const Decl *Redecl : D->redecls())
      addPiece(Redecl);
  for (const Decl *D : Uses.System)
    addIncludeFor(D->getLocation());
  // using-directives of the user's files, where the names they open are there.
  for (const Decl *D : Unit.context().getTranslationUnitDecl()->decls())
    if (const auto *U = dyn_cast<UsingDirectiveDecl>(D);
        U && !isSystem(Unit, U->getLocation())) {
      const NamespaceDecl *Nominated = U->getNominatedNamespace();
      bool Used = llvm::any_of(Uses.System, [&](const Decl *S) {
        return Nominated->getCanonicalDecl()->Encloses(S->getDeclContext());
      });
      Used |= llvm::any_of(Uses.Own, [&](const Decl *O) {
        return Nominated->getCanonicalDecl()->Encloses(O->getDeclContext());
      });
      if (Used)
        addPiece(U);
    }
  std::set<std::string> Names;
  for (size_t I = 0; I < Pieces.size(); ++I) {
    Piece P = Pieces[I]; // The list grows.
    addMacros(textOf(P), Names);
  }
  llvm::sort(Pieces, [&](const Piece &A, const Piece &B) {
    SourceLocation LA =
        SM.getLocForStartOfFile(A.File).getLocWithOffset(A.Begin);
    SourceLocation LB =
        SM.getLocForStartOfFile(B.File).getLocWithOffset(B.Begin);
    return LA != LB && SM.isBeforeInTranslationUnit(LA, LB);
  });
  SliceText Slice;
  for (const IncludeDirective &I : Unit.Includes)
    if (Includes.erase(I.Text))
      Slice.Text += I.Text + "\n";
  for (const std::string &Line : CommandLineMacros)
    Slice.Text += Line + "\n";
  for (size_t I = 0; I < Pieces.size(); ++I)
    if (I == 0 || Pieces[I].Begin != Pieces[I - 1].Begin ||
        Pieces[I].File != Pieces[I - 1].File)
      emit(Pieces[I], Slice.Text);
  Slice.Text += instantiation();
  appendTokens(Slice.Text, Slice.Tokens);
  return Slice;
}

SliceText writeSlice(const FunctionDecl &Kernel, const Closure &Uses,
                     const ParsedUnit &Unit) {
  return Writer(Kernel, Uses, Unit).run();
}

} // namespace cupilot
