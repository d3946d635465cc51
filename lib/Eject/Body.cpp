//===- Body.cpp - What a variant's text has beyond its slice ---------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a variant's text has that the kernel's slice has not comes in; the rest
// is there already, for the slice is the unit's own text.
//
//===----------------------------------------------------------------------===//

#include "Body.h"
#include "cupilot/Frontend/KernelInfo.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include <set>

using namespace clang;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

/// The declarations of a text that stands alone.
struct EjectBodies::Text {
  struct Piece {
    std::string Text, Context;
    bool IsKernel = false; ///< Has one of the kernels, or its class.
  };
  std::vector<Piece> Pieces;
  std::vector<std::string> Directives; ///< Outside of the pieces.
  std::vector<std::string> Kernels;    ///< "both<64>", of the symbols.
};

EjectBodies::EjectBodies(const Kernel &K, llvm::ArrayRef<std::string> Flags)
    : K(K), Flags(Flags) {}
EjectBodies::~EjectBodies() = default;

static std::string contextOf(const Piece &P) {
  std::string Text;
  for (const Decl *D : P.Context)
    if (const auto *N = dyn_cast<NamespaceDecl>(D))
      Text += N->getNameAsString() + "::";
    else
      Text += "extern::";
  return Text;
}

std::string pieceText(const ParsedUnit &Unit, const PieceTable &Pieces,
                      const Piece &P, unsigned &Begin, unsigned &End) {
  llvm::ArrayRef<syntax::Token> Tokens = Pieces.tokens(P.Range);
  SourceLocation First = Unit.SM.getExpansionLoc(Tokens.front().location()),
                 Last = Unit.SM.getExpansionRange(Tokens.back().location())
                            .getEnd();
  Begin = Unit.SM.getFileOffset(First);
  End = Unit.SM.getFileOffset(Last) +
        Lexer::MeasureTokenLength(Last, Unit.SM, Unit.Ctx.getLangOpts());
  return Unit.SM.getBufferData(Unit.SM.getFileID(First))
      .slice(Begin, End)
      .str();
}

/// The directives of \p Text on lines that are not of \p Covered; what goes on
/// in the next line belongs to it.
static std::vector<std::string>
directivesOf(StringRef Text, const std::set<unsigned> &Covered) {
  std::vector<std::string> Found;
  auto Take = [&] {
    StringRef One = Text.take_until([](char C) { return C == '\n'; });
    Text = Text.drop_front(std::min(Text.size(), One.size() + 1));
    return One;
  };
  for (unsigned Line = 1; !Text.empty(); ++Line) {
    std::string Directive = Take().str();
    while (StringRef(Directive).ends_with("\\") && !Text.empty()) {
      Directive += "\n" + Take().str();
      ++Line;
    }
    if (StringRef(Directive).ltrim().starts_with("#") && !Covered.count(Line))
      Found.push_back(Directive);
  }
  return Found;
}

/// "S::run<64>", from the namespace around it.
static std::string nameInNamespace(const FunctionDecl *F) {
  std::string Name = F->getNameAsString() + templateArgumentsOf(F);
  for (const DeclContext *DC = F->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *R = dyn_cast<CXXRecordDecl>(DC))
      Name = R->getNameAsString() + "::" + Name;
  return Name;
}

const Decl *outermost(const FunctionDecl *F) {
  const Decl *Outer = F;
  for (const DeclContext *DC = F->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *R = dyn_cast<CXXRecordDecl>(DC))
      Outer = R;
  return Outer;
}

Expected<EjectBodies::Text>
EjectBodies::read(StringRef Source, llvm::ArrayRef<std::string> Symbols) const {
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-eject");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("text.cu"), Source))
    return std::move(E);
  Text Result;
  Result.Kernels.resize(Symbols.size());
  Error Failed = withParsedUnit(
      Dir->file("text.cu"), Flags, [&](ParsedUnit &Unit) -> Error {
        PieceTable Table(Unit);
        std::set<int> Own;
        for (const FunctionDecl *F : kernelsOf(Unit)) {
          Kernel Known;
          describeKernel(Unit, F, Known);
          const auto *At = llvm::find(Symbols, Known.Symbol);
          if (At == Symbols.end())
            continue;
          Result.Kernels[static_cast<size_t>(At - Symbols.begin())] =
              nameInNamespace(F);
          const FunctionDecl *Written = F->getTemplateInstantiationPattern();
          Own.insert(Table.indexOf(Written ? Written : F));
          Own.insert(Table.indexOf(outermost(F)));
        }
        std::set<unsigned> Lines; // Which a piece has.
        for (unsigned I = 0; I < Table.pieces().size(); ++I) {
          const Piece &P = Table.pieces()[I];
          if (!Unit.SM.isInMainFile(Unit.SM.getExpansionLoc(
                  Table.tokens(P.Range).front().location())))
            continue;
          unsigned Begin = 0, End = 0;
          std::string Whole = pieceText(Unit, Table, P, Begin, End);
          FileID Main = Unit.SM.getMainFileID();
          for (unsigned Line = Unit.SM.getLineNumber(Main, Begin);
               Line <= Unit.SM.getLineNumber(Main, End); ++Line)
            Lines.insert(Line);
          Result.Pieces.push_back({std::move(Whole), contextOf(P),
                                   Own.count(static_cast<int>(I)) != 0});
        }
        Result.Directives = directivesOf(Source, Lines);
        return Error::success();
      });
  if (Failed)
    return std::move(Failed);
  return Result;
}

Expected<EjectCode> EjectBodies::codeOf(const EjectVariant &V) {
  if (!Slice) {
    Expected<Text> Old = read(K.Slice, {K.Symbol});
    if (!Old)
      return Old.takeError();
    Slice = std::make_unique<Text>(std::move(*Old));
  }
  Expected<Text> New = read(V.Text, V.Plan.symbols());
  if (!New)
    return New.takeError();
  EjectCode Code;
  Code.V = &V;
  Code.Kernels = std::move(New->Kernels);
  for (const std::string &Name : Code.Kernels)
    if (Name.empty())
      return findingError("its text does not define the kernel");
  for (const std::string &D : New->Directives) {
    if (llvm::is_contained(Slice->Directives, D))
      continue;
    StringRef Rest = StringRef(D).ltrim();
    bool IsInclude = Rest.consume_front("#") &&
                     (Rest = Rest.ltrim()).consume_front("include") &&
                     (Rest = Rest.trim()).starts_with("<");
    if (!IsInclude)
      return findingError("its text needs the directive '" + D +
                          "', which the source does not have");
    Code.Includes.push_back(Rest.str());
  }
  std::set<std::string> Known;
  for (const Text::Piece &P : Slice->Pieces)
    Known.insert(P.Context + " " + P.Text);
  std::string Context;
  for (const Text::Piece &P : New->Pieces)
    if (P.IsKernel)
      Context = P.Context;
  for (const Text::Piece &P : New->Pieces) {
    if (!P.IsKernel && Known.count(P.Context + " " + P.Text))
      continue;
    if (P.Context != Context)
      return findingError("its text changes what lies in another namespace "
                          "than the kernel");
    StringRef Own = P.Text;
    // In a namespace of its own it needs no other name; "extern" would give it
    // the original's.
    if (Own.consume_front("extern"))
      if (!(Own = Own.ltrim()).consume_front("\"C\""))
        return findingError("its text declares what another unit defines");
    // Lines from which something was cut hold nothing.
    llvm::SmallVector<StringRef> Lines;
    Own.ltrim().split(Lines, '\n');
    for (StringRef Line : Lines)
      Code.Body += (Line.trim(" \t").empty() ? "" : Line.str()) + "\n";
    Code.Body += "\n";
  }
  return Code;
}

} // namespace cupilot
