//===- Pieces.cpp - The user's declarations as token intervals -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Frontend/Pieces.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace cupilot {

PieceTable::PieceTable(ParsedUnit &Unit)
    : Unit(Unit), Tokens(Unit.Tokens.expandedTokens()) {
  Index.reserve(Tokens.size());
  for (unsigned I = 0; I < Tokens.size(); ++I)
    Index.try_emplace(Tokens[I].location(), I);
  std::vector<const Decl *> Around;
  collect(Unit.Ctx.getTranslationUnitDecl(), Around);
  llvm::sort(All, [](const Piece &A, const Piece &B) {
    return A.Range.Begin < B.Range.Begin ||
           (A.Range.Begin == B.Range.Begin && A.Range.End < B.Range.End);
  });
  std::vector<Piece> Merged;
  for (Piece &P : All) {
    if (!Merged.empty() && P.Range.Begin < Merged.back().Range.End) {
      Piece &Last = Merged.back();
      Last.Range.End = std::max(Last.Range.End, P.Range.End);
      llvm::append_range(Last.Decls, P.Decls);
    } else {
      Merged.push_back(std::move(P));
    }
  }
  All = std::move(Merged);
}

/// Explicit instantiations are no pieces: slices write their own.
static bool isPieceless(const Decl *D) {
  if (D->isImplicit() ||
      isa<EmptyDecl, StaticAssertDecl, UsingDirectiveDecl, FileScopeAsmDecl>(D))
    return true;
  if (const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(D))
    return !Spec->isExplicitSpecialization() &&
           !isa<ClassTemplatePartialSpecializationDecl>(Spec);
  if (const auto *Spec = dyn_cast<VarTemplateSpecializationDecl>(D))
    return !Spec->isExplicitSpecialization() &&
           !isa<VarTemplatePartialSpecializationDecl>(Spec);
  return false;
}

void PieceTable::collect(const DeclContext *Context,
                         std::vector<const Decl *> &Around) {
  for (const Decl *D : Context->decls()) {
    const auto *Linkage = dyn_cast<LinkageSpecDecl>(D);
    if (isa<NamespaceDecl>(D) || (Linkage && Linkage->hasBraces())) {
      Around.push_back(D);
      collect(cast<DeclContext>(D), Around);
      Around.pop_back();
      continue;
    }
    if (const auto *Using = dyn_cast<UsingDirectiveDecl>(D);
        Using && !D->isImplicit() && Unit.isUser(D->getBeginLoc()))
      Directives.push_back({Using, Around});
    if (isPieceless(D) || !Unit.isUser(D->getBeginLoc()))
      continue;
    Piece P;
    P.Context = Around;
    if (Linkage) {
      for (const Decl *Inner : Linkage->decls())
        if (!isPieceless(Inner)) {
          P.Decls.push_back(Inner);
          P.Range = rangeOf(Inner);
        }
    } else {
      P.Decls.push_back(D);
      P.Range = rangeOf(D);
    }
    if (P.Range.Begin < P.Range.End)
      All.push_back(std::move(P));
  }
}

int PieceTable::tokenAt(SourceLocation Loc) const {
  auto It = Index.find(Loc);
  if (It != Index.end())
    return It->second;
  if (Loc.isInvalid() || Tokens.empty())
    return -1;
  // The parser splits '>>'; the second half has no token of its own.
  It = Index.find(Loc.getLocWithOffset(-1));
  if (It != Index.end() && Tokens[It->second].length() > 1)
    return It->second;
  return -1;
}

static const Decl *templated(const Decl *D) {
  if (const auto *T = dyn_cast<TemplateDecl>(D); T && T->getTemplatedDecl())
    return T->getTemplatedDecl();
  if (const auto *Friend = dyn_cast<FriendDecl>(D))
    if (const NamedDecl *Inner = Friend->getFriendDecl())
      return templated(Inner);
  return D;
}

TokenRange PieceTable::rangeOf(const Decl *D) const {
  int First = tokenAt(D->getBeginLoc()), Last = tokenAt(D->getEndLoc());
  if (First < 0 || Last < 0)
    return {};
  unsigned Begin = First, End = Last + 1;
  while (Begin > 0) {
    tok::TokenKind Before = Tokens[Begin - 1].kind();
    if (Before == tok::semi || Before == tok::l_brace || Before == tok::r_brace)
      break;
    if (Before == tok::colon && Begin > 1 &&
        (Tokens[Begin - 2].kind() == tok::kw_public ||
         Tokens[Begin - 2].kind() == tok::kw_private ||
         Tokens[Begin - 2].kind() == tok::kw_protected))
      break;
    --Begin;
  }
  const auto *Function = dyn_cast<FunctionDecl>(templated(D));
  if (Function && Function->doesThisDeclarationHaveABody() &&
      !Function->isExplicitlyDefaulted() && !Function->isDeletedAsWritten())
    return {Begin, End};
  int Depth = 0;
  // `int N(1024);` ends for clang before the parenthesis.
  if (isa<VarDecl>(templated(D)))
    for (unsigned I = First; I < End; ++I)
      Depth += Tokens[I].kind() == tok::l_paren   ? 1
               : Tokens[I].kind() == tok::r_paren ? -1
                                                  : 0;
  for (; End < Tokens.size(); ++End) {
    switch (Tokens[End].kind()) {
    case tok::l_brace:
    case tok::l_paren:
    case tok::l_square:
      ++Depth;
      break;
    case tok::r_brace:
    case tok::r_paren:
    case tok::r_square:
      if (--Depth < 0)
        return {Begin, End};
      break;
    case tok::semi:
      if (Depth == 0)
        return {Begin, End + 1};
      break;
    default:
      break;
    }
  }
  return {Begin, End};
}

TokenRange PieceTable::bodyOf(const FunctionDecl *F) const {
  if (!F->doesThisDeclarationHaveABody() || F->isExplicitlyDefaulted() ||
      F->isDeletedAsWritten() || !F->getBody())
    return {};
  int Begin = tokenAt(F->getBody()->getBeginLoc());
  int End = tokenAt(F->getBody()->getEndLoc());
  if (Begin < 0 || End < Begin)
    return {};
  if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Ctor->inits())
      if (Init->isWritten())
        if (int At = tokenAt(Init->getSourceLocation()); At > 0)
          Begin = std::min(Begin, At - 1);
  // The initialiser's location may be behind its nested name: back to ':'.
  if (Tokens[Begin].kind() != tok::l_brace)
    while (Begin > 0 && Tokens[Begin].kind() != tok::colon)
      --Begin;
  if (Begin > 0 && Tokens[Begin - 1].kind() == tok::kw_try)
    --Begin;
  return {static_cast<unsigned>(Begin), static_cast<unsigned>(End) + 1};
}

TokenRange PieceTable::membersOf(const Decl *Record) const {
  const auto *Tag = dyn_cast<TagDecl>(Record);
  if (!Tag || !Tag->isThisDeclarationADefinition())
    return {};
  int Begin = tokenAt(Tag->getBraceRange().getBegin());
  int End = tokenAt(Tag->getBraceRange().getEnd());
  if (Begin < 0 || End < 0)
    return {};
  // Back over base classes and 'final' to the name: `struct A : B {`.
  int Name = tokenAt(Tag->getLocation());
  if (Name >= 0 && Name < Begin) {
    for (int I = Name, Angle = 0; I < Begin; ++I) {
      tok::TokenKind K = Tokens[I].kind();
      Angle += K == tok::less ? 1 : 0;
      Angle -= K == tok::greater ? 1 : K == tok::greatergreater ? 2 : 0;
      bool Final = K == tok::identifier && I + 1 <= Begin && I > Name &&
                   Tokens[I].text(Unit.SM) == "final";
      if (Angle == 0 && (K == tok::colon || Final)) {
        Begin = I;
        break;
      }
    }
  }
  return {static_cast<unsigned>(Begin), static_cast<unsigned>(End) + 1};
}

int PieceTable::indexOf(const Decl *D) const {
  int At = tokenAt(D->getLocation());
  if (At < 0)
    At = tokenAt(D->getBeginLoc());
  if (At < 0)
    return -1;
  auto It = llvm::upper_bound(
      All, static_cast<unsigned>(At),
      [](unsigned Token, const Piece &P) { return Token < P.Range.Begin; });
  if (It == All.begin())
    return -1;
  --It;
  return static_cast<unsigned>(At) < It->Range.End ? It - All.begin() : -1;
}

bool PieceTable::isInsidePiece(SourceLocation Loc) const {
  const syntax::Token *Next =
      llvm::partition_point(Tokens, [&](const syntax::Token &T) {
        return Unit.SM.isBeforeInTranslationUnit(T.location(), Loc);
      });
  unsigned At = Next - Tokens.begin();
  auto It = llvm::upper_bound(
      All, At, [](unsigned I, const Piece &P) { return I <= P.Range.Begin; });
  return It != All.begin() && At < std::prev(It)->Range.End;
}

SourceLocation PieceTable::locationOf(const Piece &P) const {
  return Unit.SM.getExpansionLoc(Tokens[P.Range.Begin].location());
}

} // namespace cupilot
