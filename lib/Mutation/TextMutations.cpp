//===- TextMutations.cpp - Single faults in a source's text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/TextMutations.h"
#include "TextSites.h"
#include "cupilot/Frontend/KernelInfo.h"
#include "cupilot/Frontend/ParsedUnit.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
/// Walks through one body as it is written. That of an instance of a template
/// has the types of the instance and the places of the template.
class TextVisitor : public RecursiveASTVisitor<TextVisitor> {
public:
  TextVisitor(TextSites &S, std::vector<const FunctionDecl *> &Called)
      : S(S), Called(Called) {}

  // Sizes of arrays, attributes and pragmas are no steps of a kernel.
  bool TraverseTypeLoc(TypeLoc, bool = true) { return true; }
  bool TraverseAttr(Attr *) { return true; }

  bool VisitBinaryOperator(clang::BinaryOperator *E) {
    addTextBinary(*E, E->getOpcode(), E->getOperatorLoc(), *E->getLHS(),
                  *E->getRHS(), S);
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator *E) {
    addTextUnary(*E, S);
    return true;
  }
  bool VisitConditionalOperator(ConditionalOperator *E) {
    addTextConditional(*E, S);
    return true;
  }
  bool VisitIntegerLiteral(IntegerLiteral *E) { return literal(*E); }
  bool VisitFloatingLiteral(FloatingLiteral *E) { return literal(*E); }
  bool VisitCXXBoolLiteralExpr(CXXBoolLiteralExpr *E) { return literal(*E); }
  bool VisitArraySubscriptExpr(ArraySubscriptExpr *E) {
    addTextIndex(*E, S);
    return true;
  }
  bool VisitMSPropertyRefExpr(MSPropertyRefExpr *E) {
    addTextDimension(*E, S);
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr *E) {
    addTextArgument(*E, S);
    return true;
  }
  bool VisitVarDecl(VarDecl *V) {
    addTextWidth(*V, S);
    return true;
  }
  bool VisitCallExpr(CallExpr *E) {
    if (const FunctionDecl *Callee = E->getDirectCallee())
      Called.push_back(Callee);
    if (const auto *Infix = dyn_cast<CXXOperatorCallExpr>(E)) {
      if (Infix->isInfixBinaryOp())
        addTextBinary(
            *E,
            clang::BinaryOperator::getOverloadedOpcode(Infix->getOperator()),
            Infix->getOperatorLoc(), *E->getArg(0), *E->getArg(1), S);
      return true;
    }
    addTextCall(*E, S);
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    Called.push_back(E->getConstructor());
    return true;
  }

  bool VisitCompoundStmt(CompoundStmt *Body) {
    for (const Stmt *One : Body->body())
      addTextStatement(One, S);
    return true;
  }
  bool VisitIfStmt(IfStmt *If) {
    addTextStatement(If->getThen(), S);
    addTextStatement(If->getElse(), S);
    if (!If->isConstexpr() && !If->isConsteval() && !If->getConditionVariable())
      addTextCondition(If->getCond(), /*Loops=*/false, S);
    return true;
  }
  bool VisitForStmt(ForStmt *Loop) {
    addTextLoop(*Loop, S); // Its bounds count inside of it.
    addTextStatement(Loop->getBody(), S);
    addTextCondition(Loop->getCond(), /*Loops=*/true, S);
    return true;
  }
  bool VisitWhileStmt(WhileStmt *Loop) {
    addTextStatement(Loop->getBody(), S);
    if (!Loop->getConditionVariable())
      addTextCondition(Loop->getCond(), /*Loops=*/true, S);
    return true;
  }
  bool VisitDoStmt(DoStmt *Loop) {
    addTextStatement(Loop->getBody(), S);
    addTextCondition(Loop->getCond(), /*Loops=*/true, S);
    return true;
  }
  bool VisitSwitchCase(SwitchCase *Case) {
    addTextStatement(Case->getSubStmt(), S);
    return true;
  }

private:
  bool literal(const clang::Expr &E) {
    addTextLiteral(E, S);
    return true;
  }

  TextSites &S;
  std::vector<const FunctionDecl *> &Called;
};
} // namespace

/// The kernel first, then what it calls, as far as it is in the same file.
static void visitAll(const FunctionDecl &Kernel, TextSites &S) {
  const SourceManager &SM = S.Ctx.getSourceManager();
  std::vector<const FunctionDecl *> Called = {&Kernel};
  llvm::DenseSet<const FunctionDecl *> Seen;
  for (size_t I = 0; I < Called.size(); ++I) {
    const FunctionDecl *F = nullptr;
    if (!Called[I]->hasBody(F) || !Seen.insert(F).second ||
        SM.getFileID(SM.getExpansionLoc(F->getLocation())) !=
            SM.getMainFileID())
      continue;
    S.enter(*F, /*IsKernel=*/I == 0);
    TextVisitor(S, Called).TraverseStmt(F->getBody());
  }
}

Expected<std::vector<TextMutation>>
listTextMutations(StringRef Path, ArrayRef<std::string> Flags, StringRef Symbol,
                  ArrayRef<Workload> Recorded) {
  std::vector<TextMutation> Found;
  Error Failure = withParsedText(Path, Flags, [&](ParsedUnit &Unit) -> Error {
    for (const FunctionDecl *F : kernelsOf(Unit)) {
      Kernel K;
      describeKernel(Unit, F, K);
      if (K.Symbol != Symbol)
        continue;
      TextSites S(Unit.Ctx, Recorded);
      visitAll(*F, S);
      Found = std::move(S.All);
      return Error::success();
    }
    return usageError("'" + Path + "' has no kernel '" + Symbol + "'");
  });
  if (Failure)
    return std::move(Failure);
  return Found;
}

std::string withMutation(StringRef Text, const TextMutation &M) {
  return (Text.substr(0, M.Offset) + M.Text + Text.substr(M.Offset + M.Length))
      .str();
}

} // namespace cupilot
