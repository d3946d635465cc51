//===- Launches.cpp - The launches of a unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "cupilot/Frontend/TokenLayout.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include <set>

using namespace clang;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

const FunctionDecl *sourceOf(const FunctionDecl *F) {
  if (const FunctionDecl *Pattern = F->getTemplateInstantiationPattern())
    F = Pattern;
  return F->getCanonicalDecl();
}

namespace {
/// Finds launches in functions and in all instances of templates.
class LaunchFinder : public RecursiveASTVisitor<LaunchFinder> {
public:
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitCallExpr(CallExpr *Call) {
    SourceLaunch L;
    L.Call = Call;
    const clang::Expr *Named = nullptr;
    if (const auto *Chevrons = dyn_cast<CUDAKernelCallExpr>(Call)) {
      Named = Chevrons->getCallee();
    } else {
      std::optional<EjectForm> Form = formOf(Call->getDirectCallee());
      if (!Form || Call->getNumArgs() < 2)
        return true;
      L.Form = *Form;
      Named = Call->getArg(L.Form == EjectForm::Array ? 0 : 1);
    }
    // The pattern of a template and each of its instances come here.
    ++Visits[Call->getBeginLoc()];
    find(Named, L, /*Direct=*/true);
    if (L.Kernel && Seen.insert({Call->getBeginLoc(), L.Kernel}).second) {
      L.Kernel = L.Kernel->getCanonicalDecl();
      L.Pattern = sourceOf(L.Kernel);
      Found.push_back(L);
    }
    return true;
  }

  std::vector<SourceLaunch> take() {
    for (SourceLaunch &L : Found)
      L.InTemplate = Visits[L.Call->getBeginLoc()] > 1;
    return std::move(Found);
  }

private:
  static std::optional<EjectForm> formOf(const FunctionDecl *F) {
    if (!F || !F->getDeclName().isIdentifier() ||
        !F->getDeclContext()->getRedeclContext()->isTranslationUnit())
      return std::nullopt;
    StringRef Name = F->getName();
    Name.consume_back("_ptsz"); // The twin for per-thread default streams.
    if (Name == "cudaLaunchKernel")
      return EjectForm::Array;
    if (Name == "cudaLaunchKernelExC")
      return EjectForm::Config;
    if (Name == "cudaLaunchKernelEx")
      return EjectForm::TypedConfig;
    return std::nullopt;
  }

  /// The kernel that \p E always is, if the compiler knows it.
  static void find(const clang::Expr *E, SourceLaunch &L, bool Direct) {
    E = E->IgnoreParenCasts();
    if (const auto *U = dyn_cast<clang::UnaryOperator>(E);
        U && (U->getOpcode() == UO_AddrOf || U->getOpcode() == UO_Deref))
      return find(U->getSubExpr(), L, Direct);
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    if (!Ref)
      return;
    if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl())) {
      if (F->hasAttr<CUDAGlobalAttr>()) {
        L.Kernel = F;
        L.Ref = Direct ? Ref : nullptr;
      }
      return;
    }
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    const VarDecl *Definition = nullptr;
    if (V && !isa<ParmVarDecl>(V) && V->getType().isConstQualified())
      if (const clang::Expr *Init = V->getAnyInitializer(Definition))
        find(Init, L, false);
  }

  std::vector<SourceLaunch> Found;
  std::map<SourceLocation, unsigned> Visits;
  std::set<std::pair<SourceLocation, const FunctionDecl *>> Seen;
};

/// The edits of one launch, in tokens.
class TokenEditor {
public:
  TokenEditor(const ParsedUnit &Unit, const PieceTable &Pieces,
              const SourceLaunch &L, const EjectGroup &Group, StringRef Args)
      : Unit(Unit), Pieces(Pieces), L(L), Group(Group), Args(Args) {}

  Expected<SiteEdits> edits() {
    if (Error Why = L.Form == EjectForm::Chevrons ? chevrons() : call())
      return std::move(Why);
    return std::move(Site);
  }

private:
  int at(SourceLocation Loc) const { return Pieces.tokenAt(Loc); }
  void edit(int Begin, int End, std::string Text, bool WithSpace = false) {
    Site.Tokens.push_back({static_cast<unsigned>(Begin),
                           static_cast<unsigned>(End), std::move(Text),
                           WithSpace});
  }
  bool is(int I, tok::TokenKind K) const {
    return I >= 0 && Pieces.token(static_cast<unsigned>(I)).kind() == K;
  }
  /// The place of the next token of that kind; -1 if there is none in sight.
  int next(int From, int End, tok::TokenKind K) const {
    for (int I = From; I >= 0 && I < End; ++I)
      if (is(I, K))
        return I;
    return -1;
  }
  bool isNamed() const {
    if (!L.Ref)
      return false;
    int Name = at(L.Ref->getLocation());
    return Name >= 0 &&
           Pieces.token(static_cast<unsigned>(Name)).text(Unit.SM) ==
               L.Kernel->getNameAsString();
  }
  std::string qualified(const std::string &Function);
  Error chevrons();
  Error call();

  const ParsedUnit &Unit;
  const PieceTable &Pieces;
  const SourceLaunch &L;
  const EjectGroup &Group;
  StringRef Args;
  SiteEdits Site;
};
} // namespace

static const char Otherwise[] = "the launch names it otherwise",
                  Unknown[] = "its tokens are not understood";

/// \p Function with its namespace, and with the kernel's template arguments; ""
/// when these are not there to be written.
std::string TokenEditor::qualified(const std::string &Function) {
  std::string Name = Group.Scope + Function;
  if (Group.Template.empty())
    return Name;
  if (L.Ref && L.Ref->hasExplicitTemplateArgs()) {
    int Left = at(L.Ref->getLAngleLoc()), Right = at(L.Ref->getRAngleLoc());
    if (Left < 0 || Right < Left)
      return "";
    TextBuilder Text;
    for (int I = Left; I <= Right; ++I) {
      const syntax::Token &T = Pieces.token(static_cast<unsigned>(I));
      Text.add(T.text(Unit.SM), T.kind());
    }
    return Name + Text.take();
  }
  return L.InTemplate ? "" : Name + Args.str();
}

Error TokenEditor::chevrons() {
  const auto &Call = cast<CUDAKernelCallExpr>(*L.Call);
  int Begin = at(Call.getBeginLoc()), End = at(Call.getRParenLoc()),
      Left = at(Call.getConfig()->getBeginLoc()),
      Right = at(Call.getConfig()->getRParenLoc());
  if (!is(Left, tok::lesslessless))
    Left = next(Begin, End, tok::lesslessless);
  if (Begin < 0 || Left <= Begin || !is(Right, tok::greatergreatergreater) ||
      !is(Right + 1, tok::l_paren) || !is(End, tok::r_paren))
    return findingError(Unknown);
  if (L.Ref ? !isNamed() : L.InTemplate)
    return findingError(Otherwise);
  Site.Key = static_cast<unsigned>(Left);
  // As written, but for the name, where that finds the function too.
  bool Plain = L.Ref && Call.getCallee()->IgnoreImpCasts() == L.Ref &&
               !Group.IsMember && !isa<UsingShadowDecl>(L.Ref->getFoundDecl());
  if (Plain) {
    int Name = at(L.Ref->getLocation());
    edit(Name, Name + 1, Group.chooser());
  } else {
    std::string Name = qualified(Group.chooser());
    if (Name.empty())
      return findingError(Otherwise);
    edit(Begin, Left, Name);
  }
  edit(Left, Left + 1, "(");
  static const char *const Defaults[] = {"1", "1", "0", "0"};
  std::string Fill;
  for (unsigned I = 0; I < 4; ++I)
    if (I >= Call.getConfig()->getNumArgs() ||
        isa<CXXDefaultArgExpr>(Call.getConfig()->getArg(I)))
      Fill += std::string(", ") + Defaults[I];
  bool None = Right + 2 == End;
  edit(Right, Right + 2, None ? Fill : Fill + ", ");
  return Error::success();
}

Error TokenEditor::call() {
  int Begin = at(L.Call->getBeginLoc()), End = at(L.Call->getRParenLoc()),
      Paren = next(Begin, End, tok::l_paren);
  const clang::Expr *Kernel =
      L.Call->getArg(L.Form == EjectForm::Array ? 0 : 1);
  int First = at(Kernel->getBeginLoc()), Last = at(Kernel->getEndLoc());
  if (Begin < 0 || Paren < 0 || First <= Paren || Last < First || End <= Last)
    return findingError(Unknown);
  if (L.Ref ? !isNamed() : L.InTemplate)
    return findingError(Otherwise);
  std::string Name = qualified(Group.launcher());
  if (Name.empty())
    return findingError(Otherwise);
  Site.Key = static_cast<unsigned>(Paren);
  if (L.Form == EjectForm::Array) {
    if (First != Paren + 1 || !is(Last + 1, tok::comma))
      return findingError(Unknown);
    edit(Begin, Last + 2, Name + "(", /*WithSpace=*/true);
    return Error::success();
  }
  if (!is(First - 1, tok::comma))
    return findingError(Unknown);
  edit(Begin, Paren, Name);
  edit(First - 1, Last + 1, "");
  return Error::success();
}

std::vector<SourceLaunch> launchesIn(ParsedUnit &Unit) {
  LaunchFinder Finder;
  Finder.TraverseDecl(Unit.Ctx.getTranslationUnitDecl());
  return Finder.take();
}

Expected<SiteEdits> editsOf(const ParsedUnit &Unit, const PieceTable &Pieces,
                            const SourceLaunch &L, const EjectGroup &Group,
                            StringRef Args) {
  return TokenEditor(Unit, Pieces, L, Group, Args).edits();
}

} // namespace cupilot
