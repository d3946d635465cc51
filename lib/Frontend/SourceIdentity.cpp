//===- SourceIdentity.cpp - The source identity of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceIdentity.h"
#include "SliceCuts.h"
#include "SliceWriter.h"
#include "cupilot/Frontend/Kernel.h"
#include "cupilot/Support/Digest.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace cupilot {

namespace {
/// Writes tokens so that only their meaning counts.
class TokenWriter {
public:
  TokenWriter(const ParsedUnit &Unit, SourceIdentity &Identity)
      : Unit(Unit), SM(Unit.SM), Identity(Identity) {}

  void add(const syntax::Token &T) {
    SourceLocation Marker;
    std::string Macro = systemMacroOf(T.location(), Marker);
    if (Macro.empty()) {
      Last = SourceLocation();
      Text += T.text(SM).str() + "\n";
    } else if (Marker != Last) {
      Last = Marker;
      Text += "macro " + Macro + "\n";
    }
  }
  void add(StringRef Plain) { Text += (Plain + "\n").str(); }
  std::string take() { return std::exchange(Text, std::string()); }

private:
  static bool isFragile(StringRef Name) {
    return llvm::is_contained(
        llvm::ArrayRef<StringRef>({"__LINE__", "__FILE__", "__FILE_NAME__",
                                   "__BASE_FILE__", "__DATE__", "__TIME__",
                                   "__TIMESTAMP__", "__COUNTER__",
                                   "__INCLUDE_LEVEL__"}),
        Name);
  }

  bool isSystemMacro(SourceLocation Loc, StringRef Name) const {
    SourceLocation Spelled = SM.getSpellingLoc(Loc);
    if (!SM.isWrittenInScratchSpace(Spelled))
      return !Unit.isUser(Spelled) && !Unit.isCommandLine(Spelled);
    // Pasted, or made of an argument: ask where the macro is defined.
    const MacroInfo *Info =
        Unit.PP.getMacroInfo(Unit.PP.getIdentifierInfo(Name));
    return Info && (Info->isBuiltinMacro() ||
                    (!Unit.isUser(Info->getDefinitionLoc()) &&
                     !Unit.isCommandLine(Info->getDefinitionLoc())));
  }

  /// The outermost macro of a system header whose own text the token is; ""
  /// if there is none. \p Marker tells expansions apart.
  std::string systemMacroOf(SourceLocation Loc, SourceLocation &Marker) {
    std::string Found, Fragile;
    while (Loc.isMacroID()) {
      if (SM.isMacroArgExpansion(Loc)) {
        Loc = SM.getImmediateSpellingLoc(Loc);
        continue;
      }
      StringRef Name =
          Lexer::getImmediateMacroName(Loc, SM, Unit.Ctx.getLangOpts());
      SourceLocation Call = SM.getImmediateExpansionRange(Loc).getBegin();
      if (isSystemMacro(Loc, Name)) {
        if (isFragile(Name))
          Fragile = Name.str();
        else
          Fragile.clear();
        Found = Name.str();
        Marker = Call;
      }
      Loc = Call;
    }
    if (!Fragile.empty() && Identity.FragileMacro.empty()) {
      Identity.FragileMacro = Fragile;
      Identity.FragileAt = Unit.at(Loc);
    }
    return Found;
  }

  const ParsedUnit &Unit;
  const SourceManager &SM;
  SourceIdentity &Identity;
  std::string Text;
  SourceLocation Last;
};
} // namespace

SourceIdentity identifySource(StringRef Name, const PrecisionContract &Contract,
                              const ParsedUnit &Unit, const Closure &C,
                              const PieceTable &Pieces) {
  SourceIdentity Identity;
  TokenWriter Writer(Unit, Identity);
  std::set<std::string> Parts = C.meanings();
  for (unsigned I : C.pieces()) {
    const Piece &P = Pieces.pieces()[I];
    for (const Decl *D : P.Context) {
      const auto *Namespace = dyn_cast<NamespaceDecl>(D);
      Writer.add(Namespace ? "namespace " + Namespace->getNameAsString()
                           : std::string("extern \"C\""));
    }
    std::vector<Cut> Cuts = cutsOf(P, C, Pieces);
    unsigned Next = 0;
    for (unsigned T = P.Range.Begin; T < P.Range.End; ++T) {
      if (Next < Cuts.size() && T == Cuts[Next].Range.Begin) {
        Writer.add(Cuts[Next].Instead);
        T = Cuts[Next++].Range.End - 1;
        continue;
      }
      Writer.add(Pieces.token(T));
    }
    for (const std::string &Pragma : pragmasInside(Unit, Pieces, P))
      Writer.add(Pragma);
    Parts.insert(digest(Writer.take()));
  }
  DigestBuilder All;
  All.add("cupilot source identity 1").add(Name);
  All.add(static_cast<uint64_t>(Contract.K));
  if (Contract.K == PrecisionContract::Kind::Relaxed)
    All.add(std::to_string(Contract.RelativeTolerance));
  All.add(Unit.macroValue("CUDART_VERSION"));
  if (C.usesStandardLibrary())
    All.add(Unit.macroValue("__GLIBCXX__") +
            Unit.macroValue("_LIBCPP_VERSION"));
  for (const std::string &Pragma : pragmasAround(Unit, Pieces, C))
    All.add(Pragma);
  for (const std::string &Part : Parts)
    All.add(Part);
  Identity.Digest = All.str();
  return Identity;
}

} // namespace cupilot
