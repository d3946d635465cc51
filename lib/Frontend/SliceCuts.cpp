//===- SliceCuts.cpp - What of a piece is left out -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceCuts.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace cupilot {

namespace {
class Cutter {
public:
  Cutter(const Closure &C, const PieceTable &Pieces) : C(C), Pieces(Pieces) {}

  void cutDeclaration(const Decl *D) {
    D = templated(D);
    if (const auto *F = dyn_cast<FunctionDecl>(D)) {
      if (!keepsBody(F))
        cut(Pieces.bodyOf(F), ";");
    } else if (const auto *R = dyn_cast<CXXRecordDecl>(D)) {
      cutRecord(R);
    }
  }

  std::vector<Cut> takeCuts() {
    llvm::sort(Cuts, [](const Cut &A, const Cut &B) {
      return A.Range.Begin < B.Range.Begin;
    });
    return std::move(Cuts);
  }

private:
  static const Decl *templated(const Decl *D) {
    const auto *T = dyn_cast<TemplateDecl>(D);
    return T && T->getTemplatedDecl() ? T->getTemplatedDecl() : D;
  }

  bool keepsBody(const FunctionDecl *F) const {
    return C.needOf(F) == Need::Definition && isDeviceCallable(F);
  }

  void cut(TokenRange R, StringRef Instead) {
    if (R.Begin < R.End)
      Cuts.push_back({R, Instead.str()});
  }

  void cutRecord(const CXXRecordDecl *R) {
    if (!R->isThisDeclarationADefinition())
      return;
    if (C.needOf(R) != Need::Definition)
      return cut(Pieces.membersOf(R), "");
    for (const Decl *Member : R->decls())
      if (!Member->isImplicit())
        cutMember(Member);
  }

  void cutMember(const Decl *Member) {
    if (isa<StaticAssertDecl>(Member))
      return cut(Pieces.rangeOf(Member), "");
    if (const auto *Friend = dyn_cast<FriendDecl>(Member))
      return cutFriend(Friend);
    const Decl *D = templated(Member);
    if (isa<CXXRecordDecl>(D))
      return cutRecord(cast<CXXRecordDecl>(D));
    const auto *Method = dyn_cast<CXXMethodDecl>(D);
    if (Method && Method == C.lambdaMember())
      return putOnDevice(Method, Pieces.rangeOf(Member).Begin);
    if (!Method || keepsBody(Method))
      return;
    if (Method->isVirtual())
      // Without a body it could become the class's key function.
      return cut(Pieces.bodyOf(Method), "{}");
    if (shapesClass(Method) || C.needOf(Method) != Need::No)
      return cut(Pieces.bodyOf(Method), ";");
    cut(Pieces.rangeOf(Member), "");
  }

  /// The member function around a kernel's lambdas, which a slice makes again
  /// for the device; its declaration begins with token \p First.
  void putOnDevice(const CXXMethodDecl *Method, unsigned First) {
    int Inner = Pieces.tokenAt(Method->getInnerLocStart());
    if (Method->getDescribedFunctionTemplate() &&
        Inner > static_cast<int>(First))
      First = Inner;
    // Attributes in brackets come first of all.
    while (Pieces.token(First).kind() == tok::l_square)
      for (int Depth = 0;;) {
        tok::TokenKind Kind = Pieces.token(First++).kind();
        Depth += Kind == tok::l_square;
        Depth -= Kind == tok::r_square;
        if (Depth == 0 || Kind == tok::eof)
          break;
      }
    // With all that the macro gives which begins it: __host__.
    const SourceManager &SM = C.Unit.SM;
    SourceLocation Begin = Pieces.token(First).location();
    std::string Instead = "__device__";
    unsigned End = First;
    do
      Instead += (" " + Pieces.token(End++).text(SM)).str();
    while (Begin.isMacroID() && Pieces.token(End).location().isMacroID() &&
           SM.getExpansionLoc(Pieces.token(End).location()) ==
               SM.getExpansionLoc(Begin));
    cut({First, End}, Instead);
    cut(Pieces.bodyOf(Method), C.lambdaBody().empty() ? "{}" : C.lambdaBody());
  }

  void cutFriend(const FriendDecl *Friend) {
    if (const NamedDecl *Inner = Friend->getFriendDecl()) {
      const Decl *D = templated(Inner);
      if (C.needOf(D) == Need::No)
        return cut(Pieces.rangeOf(Friend), "");
      if (const auto *F = dyn_cast<FunctionDecl>(D); F && !keepsBody(F))
        cut(Pieces.bodyOf(F), ";");
      return;
    }
    const Decl *Named = nullptr;
    if (const TypeSourceInfo *Info = Friend->getFriendType()) {
      if (const auto *Spec =
              Info->getType()->getAs<TemplateSpecializationType>()) {
        if (const TemplateDecl *T = Spec->getTemplateName().getAsTemplateDecl())
          Named = T->getTemplatedDecl();
      } else {
        Named = Info->getType()->getAsTagDecl();
      }
    }
    if (!Named || C.needOf(Named) == Need::No)
      cut(Pieces.rangeOf(Friend), "");
  }

  const Closure &C;
  const PieceTable &Pieces;
  std::vector<Cut> Cuts;
};
} // namespace

std::vector<Cut> cutsOf(const Piece &P, const Closure &C,
                        const PieceTable &Pieces) {
  Cutter Work(C, Pieces);
  for (const Decl *D : P.Decls)
    Work.cutDeclaration(D);
  return Work.takeCuts();
}

} // namespace cupilot
