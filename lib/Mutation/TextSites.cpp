//===- TextSites.cpp - Where a text can have a fault -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextSites.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;
using llvm::StringRef;
using llvm::Twine;

namespace cupilot {

const VarDecl *namedVariable(const clang::Expr *E) {
  const auto *Name = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  return Name ? dyn_cast<VarDecl>(Name->getDecl()) : nullptr;
}

bool isConstant(const clang::Expr *E, const ASTContext &Ctx) {
  return !E->isValueDependent() && E->isEvaluatable(Ctx);
}

std::optional<TextDimension> dimensionOf(const clang::Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *Pseudo = dyn_cast<PseudoObjectExpr>(E))
    E = Pseudo->getSyntacticForm()->IgnoreParenImpCasts();
  const auto *Property = dyn_cast<MSPropertyRefExpr>(E);
  if (!Property)
    return std::nullopt;
  const clang::Expr *Base = Property->getBaseExpr()->IgnoreParenImpCasts();
  if (const auto *Same = dyn_cast<OpaqueValueExpr>(Base))
    Base = Same->getSourceExpr();
  const VarDecl *Register = Base ? namedVariable(Base) : nullptr;
  if (!Register || !Register->getIdentifier())
    return std::nullopt;
  unsigned None = ~0u;
  unsigned Kind = llvm::StringSwitch<unsigned>(Register->getName())
                      .Case("threadIdx", 0)
                      .Case("blockIdx", 1)
                      .Case("blockDim", 2)
                      .Case("gridDim", 3)
                      .Default(None);
  StringRef Axis = Property->getPropertyDecl()->getName();
  if (Kind == None || Axis.size() != 1 || !StringRef("xyz").contains(Axis))
    return std::nullopt;
  return TextDimension{Kind, unsigned(Axis[0] - 'x')};
}

namespace {
/// The variables that are given another value after their definition.
class ChangeFinder : public RecursiveASTVisitor<ChangeFinder> {
public:
  explicit ChangeFinder(llvm::DenseSet<const VarDecl *> &Changed)
      : Changed(Changed) {}
  bool VisitBinaryOperator(const clang::BinaryOperator *E) {
    if (E->isAssignmentOp())
      Changed.insert(namedVariable(E->getLHS()));
    return true;
  }
  bool VisitUnaryOperator(const clang::UnaryOperator *E) {
    if (E->isIncrementDecrementOp() || E->getOpcode() == UO_AddrOf)
      Changed.insert(namedVariable(E->getSubExpr()));
    return true;
  }

private:
  llvm::DenseSet<const VarDecl *> &Changed;
};
} // namespace

void TextSites::enter(const FunctionDecl &F, bool OfKernel) {
  Function = &F;
  IsKernel = OfKernel;
  Name.clear();
  llvm::raw_string_ostream OS(Name);
  F.getNameForDiagnostic(OS, Ctx.getPrintingPolicy(), /*Qualified=*/true);
  ChangeFinder(Changed).TraverseStmt(F.getBody());
}

std::optional<StringRef> TextSites::textOf(SourceRange Range) const {
  const SourceManager &SM = Ctx.getSourceManager();
  for (SourceLocation End : {Range.getBegin(), Range.getEnd()})
    if (End.isInvalid() || !End.isFileID() ||
        SM.getFileID(End) != SM.getMainFileID())
      return std::nullopt;
  bool Invalid = false;
  StringRef Text = Lexer::getSourceText(CharSourceRange::getTokenRange(Range),
                                        SM, Ctx.getLangOpts(), &Invalid);
  if (Invalid || Text.empty())
    return std::nullopt;
  return Text;
}

/// In one line, and not too long: it is part of a key.
static std::string forKey(const Twine &Of) {
  constexpr size_t Most = 40;
  std::string Text;
  for (char C : Of.str()) {
    bool Space = C == ' ' || C == '\n' || C == '\t' || C == '\r';
    if (!Space)
      Text += C == '`' ? '\'' : C;
    else if (!Text.empty() && Text.back() != ' ')
      Text += ' ';
  }
  if (Text.size() > Most)
    Text = Text.substr(0, Most) + "...";
  return Text;
}

Mutation *TextSites::add(SourceRange Range, StringRef Operator,
                         const Twine &Before, const Twine &After,
                         const Twine &Text, SourceLocation At) {
  std::optional<StringRef> Old = textOf(Range);
  if (!Old)
    return nullptr;
  const SourceManager &SM = Ctx.getSourceManager();
  TextMutation T;
  T.Offset = SM.getFileOffset(Range.getBegin());
  T.Length = Old->size();
  T.Text = Text.str();
  if (T.Text == *Old || !Made.insert({T.Offset, T.Length, T.Text}).second)
    return nullptr;
  if (At.isInvalid() || !At.isFileID())
    At = Range.getBegin();
  T.M.Index = All.size();
  T.M.File = llvm::sys::path::filename(SM.getFilename(At)).str();
  T.M.Line = SM.getSpellingLineNumber(At);
  T.M.Column = SM.getSpellingColumnNumber(At);
  T.M.Function = Name;
  T.M.Operator = Operator.str();
  T.M.Before = forKey(Before);
  T.M.After = forKey(After);
  T.M.OfText = true;
  All.push_back(std::move(T));
  return &All.back().M;
}

static std::optional<uint64_t> mostOfOperation(const TextSites &S,
                                               const clang::BinaryOperator &E) {
  constexpr uint64_t Large = uint64_t(1) << 32; // Products of two fit.
  std::optional<uint64_t> L = S.mostOf(E.getLHS()), R = S.mostOf(E.getRHS());
  switch (E.getOpcode()) {
  case BO_And:
    return L && R ? std::min(*L, *R) : L ? L : R;
  case BO_Rem:
    // What is negative lies out of bounds as an index.
    return R && *R ? std::optional(*R - 1) : std::nullopt;
  case BO_Sub: // Likewise.
  case BO_Div:
  case BO_Shr:
    return L;
  case BO_Add:
  case BO_Xor:
  case BO_Or:
    return L && R && *L < Large && *R < Large ? std::optional(*L + *R)
                                              : std::nullopt;
  case BO_Mul:
    return L && R && *L < Large && *R < Large ? std::optional(*L * *R)
                                              : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<uint64_t> TextSites::mostOf(const clang::Expr *E) const {
  E = E->IgnoreParenImpCasts();
  clang::Expr::EvalResult Value;
  if (!E->isValueDependent() && E->EvaluateAsInt(Value, Ctx)) {
    llvm::APSInt V = Value.Val.getInt();
    if (V.isNegative())
      return std::nullopt;
    return V.getLimitedValue();
  }
  if (std::optional<TextDimension> D = dimensionOf(E)) {
    bool OfBlock = D->Kind == 0 || D->Kind == 2;
    return uint64_t((OfBlock ? MaxBlock : MaxGrid)[D->Axis]);
  }
  if (const auto *Operation = dyn_cast<clang::BinaryOperator>(E))
    return mostOfOperation(*this, *Operation);
  const VarDecl *V = namedVariable(E);
  if (!V)
    return std::nullopt;
  if (auto It = Bounds.find(V); It != Bounds.end())
    return It->second;
  if (!V->hasInit() || !V->isLocalVarDecl() || Changed.contains(V))
    return std::nullopt;
  return mostOf(V->getInit());
}

} // namespace cupilot
