//===- Eject.cpp - Variants into the source -*- C++ -*-===//
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

#include "cupilot/Frontend/Eject.h"
#include "EjectText.h"
#include "KernelInfo.h"
#include "Pieces.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace clang;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
/// The declarations of a text that stands alone.
struct TextPieces {
  struct Piece {
    std::string Text, Context;
    bool IsKernel = false;
  };
  std::vector<Piece> Pieces;
  std::vector<std::string> Directives; ///< Outside of the pieces.
};

/// A launch in the unit, in files' bytes.
struct FoundLaunch {
  SourceEdit Edit;
  SourceLocation Begin;
};

/// Finds the launches of kernels, once for each place.
class LaunchFinder : public RecursiveASTVisitor<LaunchFinder> {
public:
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *Call) {
    if (const FunctionDecl *F = Call->getDirectCallee())
      Launches[F->getCanonicalDecl()].insert({Call->getBeginLoc(), Call});
    return true;
  }
  std::map<const FunctionDecl *, std::map<SourceLocation, CUDAKernelCallExpr *>>
      Launches;
};

class Ejector {
public:
  Ejector(ParsedUnit &Unit, llvm::ArrayRef<std::string> Flags)
      : Unit(Unit), SM(Unit.SM), Flags(Flags), Pieces(Unit) {}
  Error run(llvm::ArrayRef<EjectKernel> All);
  Ejection Result;

private:
  Error kernel(const EjectKernel &E, const FunctionDecl *F);
  std::string refusal(const FunctionDecl *F) const;
  EjectNames namesOf(const FunctionDecl *F) const;
  Expected<std::string> bodyOf(const EjectKernel &E, const EjectVariant &V);
  std::string launch(const CUDAKernelCallExpr &Call, const EjectNames &Names,
                     SourceEdit &Edit) const;
  std::string textOf(const clang::Expr *E) const;
  CharSourceRange fileRange(SourceRange R) const {
    return Lexer::makeFileCharRange(CharSourceRange::getTokenRange(R), SM,
                                    Unit.Ctx.getLangOpts());
  }
  std::string pathOf(FileID File) const;
  void note(const EjectKernel &E, const llvm::Twine &Why, std::string At = "") {
    Result.Notes.push_back({E.K.Name, std::move(At), Why.str()});
  }

  ParsedUnit &Unit;
  SourceManager &SM;
  llvm::ArrayRef<std::string> Flags;
  PieceTable Pieces;
  LaunchFinder Finder;
};
} // namespace

static std::string contextOf(const Piece &P) {
  std::string Text;
  for (const Decl *D : P.Context)
    if (const auto *N = dyn_cast<NamespaceDecl>(D))
      Text += N->getNameAsString() + "::";
    else
      Text += "extern::";
  return Text;
}

/// The text of a piece, from the file where it stands.
static std::string textOf(const ParsedUnit &Unit, const PieceTable &Pieces,
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

/// Reads \p Text, in which the kernel is called \p Symbol.
static Expected<TextPieces> readPieces(StringRef Text, StringRef Symbol,
                                       llvm::ArrayRef<std::string> Flags) {
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-eject");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("text.cu"), Text))
    return std::move(E);
  TextPieces Result;
  Error Failed = withParsedUnit(
      Dir->file("text.cu"), Flags, [&](ParsedUnit &Unit) -> Error {
        PieceTable Table(Unit);
        int Own = -1;
        for (const FunctionDecl *F : kernelsOf(Unit)) {
          Kernel K;
          describeKernel(Unit, F, K);
          if (K.Symbol == Symbol)
            Own = Table.indexOf(F);
        }
        std::set<unsigned> Lines; // Which a piece has.
        for (unsigned I = 0; I < Table.pieces().size(); ++I) {
          const Piece &P = Table.pieces()[I];
          if (!Unit.SM.isInMainFile(Unit.SM.getExpansionLoc(
                  Table.tokens(P.Range).front().location())))
            continue;
          unsigned Begin = 0, End = 0;
          std::string Whole = textOf(Unit, Table, P, Begin, End);
          FileID Main = Unit.SM.getMainFileID();
          for (unsigned Line = Unit.SM.getLineNumber(Main, Begin);
               Line <= Unit.SM.getLineNumber(Main, End); ++Line)
            Lines.insert(Line);
          Result.Pieces.push_back(
              {std::move(Whole), contextOf(P), static_cast<int>(I) == Own});
        }
        StringRef Rest = Text;
        for (unsigned Line = 1; !Rest.empty(); ++Line) {
          StringRef One = Rest.take_until([](char C) { return C == '\n'; });
          Rest = Rest.drop_front(std::min(Rest.size(), One.size() + 1));
          // What goes on in the next line belongs to it.
          std::string Directive = One.str();
          while (StringRef(Directive).ends_with("\\") && !Rest.empty()) {
            One = Rest.take_until([](char C) { return C == '\n'; });
            Rest = Rest.drop_front(std::min(Rest.size(), One.size() + 1));
            Directive += "\n" + One.str();
            ++Line;
          }
          if (StringRef(Directive).ltrim().starts_with("#") &&
              !Lines.count(Line))
            Result.Directives.push_back(Directive);
        }
        return Error::success();
      });
  if (Failed)
    return std::move(Failed);
  return Result;
}

/// What \p V has beyond the slice; a finding when that cannot come in.
Expected<std::string> Ejector::bodyOf(const EjectKernel &E,
                                      const EjectVariant &V) {
  std::vector<std::string> Alone = {Flags.begin(), Flags.end()};
  Expected<TextPieces> Old = readPieces(E.K.Slice, E.K.Symbol, Alone);
  if (!Old)
    return Old.takeError();
  Expected<TextPieces> New =
      readPieces(V.Text, V.Plan.Launches.front().Symbol, Alone);
  if (!New)
    return New.takeError();
  std::set<std::string> Known,
      KnownDirectives(Old->Directives.begin(), Old->Directives.end());
  for (const TextPieces::Piece &P : Old->Pieces)
    Known.insert(P.Context + " " + P.Text);
  for (const std::string &D : New->Directives)
    if (!KnownDirectives.count(D))
      return findingError("its text needs the directive '" + D +
                          "', which the source does not have");
  std::string Body, Context;
  bool Any = false;
  for (const TextPieces::Piece &P : New->Pieces)
    if (P.IsKernel) {
      Any = true;
      Context = P.Context;
    }
  if (!Any)
    return findingError("its text does not define the kernel");
  for (const TextPieces::Piece &P : New->Pieces) {
    if (!P.IsKernel && Known.count(P.Context + " " + P.Text))
      continue;
    if (P.Context != Context)
      return findingError("its text changes what lies in another namespace "
                          "than the kernel");
    StringRef Text = P.Text;
    // In a namespace of its own it needs no other name; "extern" would give it
    // the original's.
    if (Text.consume_front("extern"))
      if (!(Text = Text.ltrim()).consume_front("\"C\""))
        return findingError("its text declares what another unit defines");
    Body += Text.ltrim().str() + "\n\n";
  }
  return Body;
}

std::string Ejector::refusal(const FunctionDecl *F) const {
  if (F->isTemplateInstantiation())
    return "it is an instance of a template, of which the source has one text "
           "for all";
  if (F->getTemplateSpecializationKind() != TSK_Undeclared)
    return "it is a specialisation of a template";
  if (isa<CXXMethodDecl>(F))
    return "it is a member of a class";
  // "__global__" itself is a macro.
  if (F->getEndLoc().isMacroID() || F->getLocation().isMacroID())
    return "a macro makes it";
  if (F->isVariadic())
    return "it takes any arguments";
  for (const ParmVarDecl *P : F->parameters())
    if (P->hasDefaultArg())
      return "it has default arguments";
  return "";
}

EjectNames Ejector::namesOf(const FunctionDecl *F) const {
  EjectNames Names;
  Names.Kernel = F->getNameAsString();
  Names.Chooser = Names.Kernel + "_with_variants";
  PrintingPolicy Policy(Unit.Ctx.getPrintingPolicy());
  Policy.SuppressUnwrittenScope = true;
  std::set<std::string> Taken = {"grid",  "block",  "shared", "stream",
                                 "facts", "before", "bytes"};
  for (const ParmVarDecl *P : F->parameters()) {
    std::string Name = P->getNameAsString();
    // The launch's own names must not hide the arguments.
    while (Name.empty() || !Taken.insert(Name).second)
      Name = (Name.empty() ? "argument" : Name) +
             std::to_string(Names.ParamNames.size());
    std::string Decl;
    llvm::raw_string_ostream OS(Decl);
    P->getOriginalType().print(OS, Policy, Name);
    Names.ParamNames.push_back(Name);
    Names.ParamDecls.push_back(Decl);
    Names.IsClass.push_back(P->getType().getCanonicalType()->isRecordType());
  }
  return Names;
}

std::string Ejector::pathOf(FileID File) const {
  OptionalFileEntryRef Ref = SM.getFileEntryRefForID(File);
  return Ref ? Ref->getFileEntry().tryGetRealPathName().str() : "";
}

std::string Ejector::textOf(const clang::Expr *E) const {
  CharSourceRange R = fileRange(E->getSourceRange());
  if (R.isInvalid())
    return "";
  return Lexer::getSourceText(R, SM, Unit.Ctx.getLangOpts()).str();
}

/// Makes \p Edit the call of the function that chooses; returns why not, or "".
std::string Ejector::launch(const CUDAKernelCallExpr &Call,
                            const EjectNames &Names, SourceEdit &Edit) const {
  static const char Macro[] = "a macro makes the launch";
  CharSourceRange Whole = fileRange(Call.getSourceRange());
  if (Whole.isInvalid() || Call.getBeginLoc().isMacroID() ||
      Call.getRParenLoc().isMacroID())
    return Macro;
  const clang::Expr *Callee = Call.getCallee()->IgnoreParenImpCasts();
  const auto *Ref = dyn_cast<DeclRefExpr>(Callee);
  if (!Ref)
    return "it is launched through an expression";
  std::string Name = textOf(Ref);
  if (Name.empty() || !StringRef(Name).ends_with(Names.Kernel))
    return "the launch names it otherwise";
  std::string Text = Name + "_with_variants(";
  static const char *const Defaults[] = {"1", "1", "0", "0"};
  for (unsigned I = 0; I < 4; ++I) {
    const clang::Expr *Arg = I < Call.getConfig()->getNumArgs()
                                 ? Call.getConfig()->getArg(I)
                                 : nullptr;
    std::string Part = Defaults[I];
    if (Arg && !isa<CXXDefaultArgExpr>(Arg)) {
      Part = textOf(Arg);
      if (Part.empty())
        return Macro;
    }
    Text += (I ? ", " : "") + Part;
  }
  for (const clang::Expr *Arg : Call.arguments()) {
    std::string Part = textOf(Arg);
    if (Part.empty())
      return Macro;
    Text += ", " + Part;
  }
  Edit.File = pathOf(SM.getFileID(Whole.getBegin()));
  Edit.Begin = SM.getFileOffset(Whole.getBegin());
  Edit.End = SM.getFileOffset(Whole.getEnd());
  Edit.Text = Text + ")";
  return "";
}

Error Ejector::kernel(const EjectKernel &E, const FunctionDecl *F) {
  if (std::string Why = refusal(F); !Why.empty()) {
    note(E, Why);
    return Error::success();
  }
  EjectNames Names = namesOf(F);
  if (Unit.Ctx.Idents.find(Names.Chooser) != Unit.Ctx.Idents.end()) {
    note(E, "the source has something called '" + Names.Chooser + "'");
    return Error::success();
  }
  std::string Text;
  std::vector<const EjectVariant *> In;
  for (const EjectVariant &V : E.Variants) {
    std::string Why = ejectRefusal(E, Names, V);
    if (Why.empty()) {
      Expected<std::string> Body = bodyOf(E, V);
      if (Body) {
        Text += variantText(E, Names, V, *Body);
        In.push_back(&V);
      } else if (Error Failed = absorbFinding(
                     Body.takeError(), [&](StringRef W) { Why = W.str(); })) {
        return Failed;
      }
    }
    if (!Why.empty())
      note(E, "variant " + V.Name + ": " + Why);
  }
  if (In.empty())
    return Error::success();
  Text += chooserText(E, Names, In);
  // After the definition's last line.
  int At = Pieces.indexOf(F);
  if (At < 0) {
    note(E, "it is not in a file of the project");
    return Error::success();
  }
  unsigned Begin = 0, End = 0;
  cupilot::textOf(Unit, Pieces, Pieces.pieces()[static_cast<size_t>(At)], Begin,
                  End);
  SourceLocation Place = SM.getExpansionLoc(F->getLocation());
  FileID File = SM.getFileID(Place);
  SourceLocation After = SM.getComposedLoc(File, End);
  SourceEdit Insert{pathOf(File), End, End, "\n" + Text};
  std::vector<SourceEdit> Sites;
  for (const auto &[Where, Call] : Finder.Launches[F->getCanonicalDecl()]) {
    SourceEdit Site;
    std::string Why = launch(*Call, Names, Site);
    SourceLocation Here = SM.getExpansionLoc(Where);
    if (Why.empty() && !SM.isBeforeInTranslationUnit(After, Here))
      Why = "the launch stands before the kernel's definition";
    if (Why.empty() && !Unit.isUser(Here))
      Why = "the launch is not in a file of the project";
    if (Why.empty())
      Sites.push_back(std::move(Site));
    else
      note(E, Why + ": it stays as it is", Unit.at(Where));
  }
  if (Sites.empty()) {
    note(E, "the source has no launch of it that could be changed");
    return Error::success();
  }
  Result.Launches += Sites.size();
  Result.Edits.push_back(std::move(Insert));
  llvm::append_range(Result.Edits, Sites);
  for (const EjectVariant *V : In)
    Result.Variants.push_back(
        {E.K.Symbol, V->Name, ejectNamespace(Names, *V) + "::" + Names.Kernel});
  return Error::success();
}

Error Ejector::run(llvm::ArrayRef<EjectKernel> All) {
  Finder.TraverseDecl(Unit.Ctx.getTranslationUnitDecl());
  std::map<std::string, const FunctionDecl *> Kernels;
  for (const FunctionDecl *F : kernelsOf(Unit)) {
    Kernel K;
    describeKernel(Unit, F, K);
    Kernels[K.Symbol] = F;
  }
  for (const EjectKernel &E : All) {
    auto It = Kernels.find(E.K.Symbol);
    if (It == Kernels.end())
      note(E, "the source does not define it");
    else if (Error Failed = kernel(E, It->second))
      return Failed;
  }
  // Nested launches would overlap; there are none in what can be written.
  llvm::sort(Result.Edits, [](const SourceEdit &A, const SourceEdit &B) {
    return std::tie(A.File, A.Begin, A.End) < std::tie(B.File, B.Begin, B.End);
  });
  return Error::success();
}

Expected<Ejection> ejectVariants(StringRef File,
                                 llvm::ArrayRef<std::string> Flags,
                                 llvm::ArrayRef<EjectKernel> All) {
  Ejection Result;
  Error Failed = withParsedUnit(File, Flags, [&](ParsedUnit &Unit) -> Error {
    Ejector E(Unit, Flags);
    if (Error Why = E.run(All))
      return Why;
    Result = std::move(E.Result);
    return Error::success();
  });
  if (Failed)
    return std::move(Failed);
  return Result;
}

} // namespace cupilot
