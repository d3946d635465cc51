//===- Lambdas.cpp - Lambdas among a kernel's template arguments -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lambdas.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace clang;

namespace cupilot {

namespace {
/// The lambdas directly in a function, and the variables it declares.
class LambdaFinder : public DynamicRecursiveASTVisitor {
public:
  explicit LambdaFinder(const FunctionDecl *F) : F(F) {}
  bool VisitLambdaExpr(LambdaExpr *E) override {
    if (E->getLambdaClass()->getParentFunctionOrMethod() == F)
      Found.push_back(E);
    return true;
  }
  std::vector<const LambdaExpr *> Found;

private:
  const FunctionDecl *F;
};

/// Variables of the functions around that a lambda refers to.
class LocalFinder : public DynamicRecursiveASTVisitor {
public:
  LocalFinder(const KernelLambdas &L, llvm::SetVector<const VarDecl *> &Locals)
      : L(L), Locals(Locals) {
    ShouldVisitImplicitCode = true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *E) override {
    if (const auto *V = dyn_cast<VarDecl>(E->getDecl()))
      add(V);
    else if (isa<BindingDecl>(E->getDecl()))
      CapturesBinding = true;
    return true;
  }
  bool VisitCXXThisExpr(CXXThisExpr *E) override {
    const auto *Method = dyn_cast<CXXMethodDecl>(L.Function);
    // A class inside of the lambda has its own.
    UsesThis |= Method && Method->getParent()->getCanonicalDecl() ==
                              E->getType()
                                  ->getPointeeType()
                                  ->getAsCXXRecordDecl()
                                  ->getCanonicalDecl();
    return true;
  }
  void add(const VarDecl *V) {
    if (isa<ParmVarDecl>(V) || V->isInitCapture() || V->isStaticLocal() ||
        !L.isAround(V->getDeclContext()) || !Locals.insert(V))
      return;
    if (const clang::Expr *Init = constantOf(V))
      TraverseStmt(const_cast<clang::Expr *>(Init));
  }
  void addCapture(const LambdaCapture &Capture) {
    UsesThis |= Capture.capturesThis();
    if (!Capture.capturesVariable())
      return;
    if (isa<BindingDecl>(Capture.getCapturedVar()))
      CapturesBinding = true;
    else if (const auto *V = dyn_cast<VarDecl>(Capture.getCapturedVar());
             V && V->isInitCapture())
      TraverseStmt(const_cast<clang::Expr *>(V->getInit()));
    else if (V)
      add(V);
  }
  bool UsesThis = false, CapturesBinding = false;

private:
  const KernelLambdas &L;
  llvm::SetVector<const VarDecl *> &Locals;
};

void addClosures(QualType T, llvm::SetVector<const CXXRecordDecl *> &Found);

void addClosures(const TemplateArgument &Arg,
                 llvm::SetVector<const CXXRecordDecl *> &Found) {
  if (Arg.getKind() == TemplateArgument::Pack)
    for (const TemplateArgument &Each : Arg.pack_elements())
      addClosures(Each, Found);
  else if (Arg.getKind() == TemplateArgument::Type)
    addClosures(Arg.getAsType(), Found);
}

void addClosures(QualType T, llvm::SetVector<const CXXRecordDecl *> &Found) {
  const CXXRecordDecl *R = T.getCanonicalType()->getAsCXXRecordDecl();
  if (R && R->isLambda())
    Found.insert(R);
  else if (const auto *Spec =
               dyn_cast_or_null<ClassTemplateSpecializationDecl>(R))
    for (const TemplateArgument &Arg : Spec->getTemplateArgs().asArray())
      addClosures(Arg, Found);
}

llvm::Error refusal(const Twine &Why) {
  return findingError("a template argument of it is a lambda that no other "
                      "file can hold: " +
                          Why,
                      "use a named type at namespace level");
}

/// That of \p Written which \p E is an instance of; null when there is none.
const LambdaExpr *writtenAs(const LambdaExpr *E,
                            ArrayRef<const LambdaExpr *> Written) {
  const auto *It = llvm::find_if(Written, [&](const LambdaExpr *Other) {
    return Other->getBeginLoc() == E->getBeginLoc();
  });
  return It == Written.end() ? nullptr : *It;
}
} // namespace

std::vector<const LambdaExpr *> lambdasIn(const FunctionDecl *F) {
  LambdaFinder Finder(F);
  if (F->getDefinition() && F->getDefinition()->getBody())
    Finder.TraverseStmt(F->getDefinition()->getBody());
  return std::move(Finder.Found);
}

bool KernelLambdas::isAround(const DeclContext *DC) const {
  return DC == Function || llvm::any_of(Around, [&](const NeededLambda &Each) {
           return DC == Each.Expr->getCallOperator();
         });
}

const clang::Expr *constantOf(const VarDecl *V) {
  bool Constant = V->getInit() && !V->getType()->isDependentType() &&
                  !V->getInit()->isValueDependent() &&
                  V->mightBeUsableInConstantExpressions(V->getASTContext()) &&
                  V->evaluateValue();
  return Constant ? V->getInit() : nullptr;
}

/// A finding for a method that cannot be made again for its lambdas, in a class
/// that has nothing else.
static llvm::Error checkMember(const CXXMethodDecl *Method) {
  if (Method->isVirtual() || Method->isOverloadedOperator() ||
      isa<CXXConstructorDecl, CXXDestructorDecl, CXXConversionDecl>(Method))
    return refusal(
        "it stands in a constructor, an operator or a virtual function");
  for (const DeclContext *DC = Method->getDeclContext(); !DC->isFileContext();
       DC = DC->getParent()) {
    const auto *R = dyn_cast<CXXRecordDecl>(DC);
    if (DC->isFunctionOrMethod() || (R && !R->getIdentifier()))
      return refusal("it stands in a member function of a class without a name "
                     "of its own");
    if (R && (R->isUnion() || R->getDescribedClassTemplate() ||
              isa<ClassTemplateSpecializationDecl>(R)))
      return refusal(
          "it stands in a member function of a class template or a union");
  }
  return llvm::Error::success();
}

/// The call operators of the lambdas around \p Where, outermost first, and in
/// \p Function the function that is around all of them.
static llvm::Expected<std::vector<const CXXMethodDecl *>>
operatorsAround(const DeclContext *Where, const FunctionDecl *&Function) {
  std::vector<const CXXMethodDecl *> Operators;
  for (;; Where = Operators.front()->getParent()->getParentFunctionOrMethod()) {
    Function = Where ? dyn_cast<FunctionDecl>(Decl::castFromDeclContext(Where))
                     : nullptr;
    if (!Function)
      return refusal("it stands outside of functions");
    const auto *Method = dyn_cast<CXXMethodDecl>(Function);
    if (!Method || !Method->getParent()->isLambda())
      return Operators;
    if (Method->getPrimaryTemplate())
      return refusal("it stands in a generic lambda");
    Operators.insert(Operators.begin(), Method);
  }
}

llvm::Expected<KernelLambdas> lambdasOf(const ParsedUnit &Unit,
                                        const PieceTable &Pieces,
                                        const FunctionDecl *Kernel) {
  llvm::SetVector<const CXXRecordDecl *> Closures;
  if (const TemplateArgumentList *Own = Kernel->getTemplateSpecializationArgs())
    for (const TemplateArgument &Arg : Own->asArray())
      addClosures(Arg, Closures);
  for (const DeclContext *DC = Kernel->getDeclContext(); DC;
       DC = DC->getParent())
    if (const auto *R = dyn_cast<CXXRecordDecl>(DC))
      addClosures(QualType(Unit.Ctx.getCanonicalTagType(R)), Closures);
  KernelLambdas L;
  if (Closures.empty())
    return L;
  const DeclContext *Where = Closures.front()->getParentFunctionOrMethod();
  for (const CXXRecordDecl *R : Closures)
    if (R->getParentFunctionOrMethod() != Where)
      return refusal("another one stands in another function");
  llvm::Expected<std::vector<const CXXMethodDecl *>> Operators =
      operatorsAround(Where, L.Function);
  if (!Operators)
    return Operators.takeError();
  const FunctionDecl *Pattern = L.Function->getTemplateInstantiationPattern();
  L.Text = (Pattern ? Pattern : L.Function)->getDefinition();
  if (!L.Text || !L.Text->getBody() || !Unit.isUser(L.Text->getLocation()))
    return refusal("the function around it is not the user's");
  if (const auto *Method = dyn_cast<CXXMethodDecl>(L.Text))
    if (llvm::Error E = checkMember(Method))
      return std::move(E);
  int Piece = Pieces.indexOf(L.Text);
  if (Piece < 0 || Pieces.pieces()[Piece].Decls.size() != 1)
    return refusal("the function around it is made by a macro with others");

  std::vector<const LambdaExpr *> Here = lambdasIn(L.Function),
                                  There = lambdasIn(L.Text);
  for (const CXXMethodDecl *Operator : *Operators) {
    auto Outer = llvm::find_if(Here, [&](const LambdaExpr *E) {
      return E->getCallOperator() == Operator;
    });
    const LambdaExpr *Written =
        Outer == Here.end() ? nullptr : writtenAs(*Outer, There);
    if (!Written)
      return refusal("the text of the lambda around it was not found");
    L.Around.push_back({*Outer, Written});
    Here = lambdasIn(Operator);
    There = lambdasIn(Written->getCallOperator());
  }
  llvm::SetVector<const VarDecl *> Locals;
  LocalFinder Finder(L, Locals);
  for (const NeededLambda &Each : L.Around)
    for (const LambdaCapture &Capture : Each.Expr->explicit_captures())
      Finder.addCapture(Capture);
  for (const LambdaExpr *E : Here) {
    if (!Closures.contains(E->getLambdaClass()))
      continue;
    const LambdaExpr *Written = writtenAs(E, There);
    if (!Written)
      return refusal("its text was not found");
    L.All.push_back({E, Written});
    Finder.TraverseStmt(const_cast<LambdaExpr *>(E));
    for (const LambdaCapture &Capture : E->captures())
      if (Capture.capturesVariable())
        if (const auto *V = dyn_cast<VarDecl>(Capture.getCapturedVar()))
          Finder.add(V);
  }
  if (L.All.size() != Closures.size())
    return refusal("its text was not found");
  if (Finder.CapturesBinding)
    return refusal("it captures a structured binding");
  L.UsesThis = Finder.UsesThis;
  L.Locals.assign(Locals.begin(), Locals.end());
  for (const VarDecl *V : L.Locals) {
    const auto *R = V->getType()->getAsCXXRecordDecl();
    if (R && (R->isLambda() || R->getParentFunctionOrMethod()))
      return refusal("it captures a value of a type without a name");
  }
  llvm::sort(L.Locals, [&](const VarDecl *A, const VarDecl *B) {
    return Unit.SM.isBeforeInTranslationUnit(A->getLocation(),
                                             B->getLocation());
  });
  return L;
}

} // namespace cupilot
