//===- Closure.cpp - What a kernel uses -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClosurePart.h"
#include "Lambdas.h"
#include "cupilot/Admission/DeviceHeaders.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecordLayout.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace cupilot {

bool isDeviceCallable(const FunctionDecl *F) {
  return F->hasAttr<CUDADeviceAttr>() || F->hasAttr<CUDAGlobalAttr>() ||
         F->isConstexpr() || F->isImplicit() || F->isDefaulted();
}

bool shapesClass(const FunctionDecl *F) {
  if (isa<CXXConstructorDecl, CXXDestructorDecl>(F))
    return true;
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && (Method->isVirtual() || Method->isCopyAssignmentOperator() ||
                    Method->isMoveAssignmentOperator());
}

std::string describe(const NamedDecl *D) {
  PrintingPolicy Policy = D->getASTContext().getPrintingPolicy();
  Policy.AnonymousTagLocations = false;
  Policy.SuppressTagKeyword = true;
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  D->getNameForDiagnostic(OS, Policy, /*Qualified=*/true);
  if (const auto *Value = dyn_cast<ValueDecl>(D))
    OS << " : " << Value->getType().getCanonicalType().getAsString(Policy);
  return Text;
}

Need Closure::needOf(const Decl *D) const {
  auto It = Written.find(D->getCanonicalDecl());
  return It == Written.end() ? Need::No : It->second;
}

bool Closure::isNeeded(const NamespaceDecl *N) const {
  return Namespaces.contains(N->getCanonicalDecl());
}

static bool isTransparent(const NamedDecl *D) {
  if (isa<TemplateTypeParmDecl, NonTypeTemplateParmDecl,
          TemplateTemplateParmDecl, ParmVarDecl, ImplicitParamDecl, LabelDecl,
          BindingDecl, BuiltinTemplateDecl, UnresolvedUsingValueDecl,
          UnresolvedUsingTypenameDecl, UnnamedGlobalConstantDecl>(D))
    return true;
  const auto *Var = dyn_cast<VarDecl>(D);
  return Var && Var->isLocalVarDeclOrParm();
}

void Closure::mark(const NamedDecl *D, Need N) {
  if (!D || isTransparent(D))
    return;
  if (const auto *Shadow = dyn_cast<UsingShadowDecl>(D)) {
    if (const auto *Using = dyn_cast<NamedDecl>(Shadow->getIntroducer()))
      mark(Using, N);
    return mark(Shadow->getTargetDecl(), N);
  }
  if (const auto *Namespace = dyn_cast<NamespaceDecl>(D)) {
    NamedNamespaces.insert(Namespace->getCanonicalDecl());
    for (const DeclContext *DC = Namespace; DC; DC = DC->getParent())
      if (const auto *Outer = dyn_cast<NamespaceDecl>(DC))
        Namespaces.insert(Outer->getCanonicalDecl());
    return;
  }
  if (Names && !D->getParentFunctionOrMethod()) {
    if (!Unit.isUser(D->getLocation()))
      *Names += "system ";
    *Names += describe(D) + "\n";
  }
  if (isa<FieldDecl, IndirectFieldDecl>(D))
    return mark(dyn_cast<NamedDecl>(Decl::castFromDeclContext(
                    D->getDeclContext()->getNonTransparentContext())),
                N);
  if (isa<EnumConstantDecl>(D))
    return mark(cast<EnumDecl>(D->getDeclContext()), N);
  // A template by its name: its class may be needed as a declaration only.
  if (const auto *Template = dyn_cast<TemplateDecl>(D);
      Template && Template->getTemplatedDecl() &&
      !isa<ConceptDecl, TypeAliasTemplateDecl>(D))
    return mark(Template->getTemplatedDecl(), N);
  Need &Known = Visited[D->getCanonicalDecl()];
  if (Known >= N)
    return;
  Known = N;
  Queue.push_back({D, N});
}

void Closure::noteDeduction(const ClassTemplateDecl *Template) {
  mark(Template);
  for (const Piece &P : Pieces.pieces())
    for (const Decl *D : P.Decls) {
      if (const auto *FT = dyn_cast<FunctionTemplateDecl>(D))
        D = FT->getTemplatedDecl();
      const auto *Guide = dyn_cast<CXXDeductionGuideDecl>(D);
      if (Guide && Guide->getDeducedTemplate()->getCanonicalDecl() ==
                       Template->getCanonicalDecl())
        mark(Guide);
    }
}

void Closure::collectLambdas(const KernelLambdas &L) {
  if (L.empty())
    return;
  {
    Part P(*this, L.Function, "around lambdas");
    // The class around a member function is made again, with nothing else.
    bool InClass = isa<CXXMethodDecl>(L.Text);
    walkFunctionDeclaration(*this, L.Text, !InClass);
    walkTemplateArguments(*this, L.Function);
    walkFunctionDeclaration(*this, L.Function, !InClass);
  }
  for (const NeededLambda &Each : L.Around) {
    Part P(*this, L.Function, "lambda around");
    walkFunctionDeclaration(*this, Each.Expr->getCallOperator(), false);
    if (Each.Written != Each.Expr)
      walkFunctionDeclaration(*this, Each.Written->getCallOperator(), false);
    for (const LambdaCapture &Capture : Each.Expr->explicit_captures())
      if (Capture.capturesVariable())
        if (const auto *V = dyn_cast<VarDecl>(Capture.getCapturedVar());
            V && V->isInitCapture())
          walkExpression(*this, V->getInit());
  }
  for (const NeededLambda &Each : L.All) {
    Part P(*this, L.Function, "lambda");
    walkExpression(*this, Each.Expr);
    if (Each.Written != Each.Expr)
      walkExpression(*this, Each.Written);
  }
  for (const VarDecl *V : L.Locals) {
    Part P(*this, L.Function, "local");
    P.add(V->getName() + " : " + V->getType().getCanonicalType().getAsString());
    walkType(*this, V->getType());
    if (const Expr *Init = constantOf(V))
      walkExpression(*this, Init);
  }
}

/// The class of the member function around the lambdas \p L is needed as a
/// whole where it, or one around it, is needed at all: no slice can hold it
/// twice. True when that is news.
bool Closure::needLambdaClass(const KernelLambdas &L) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(L.Text);
  if (!Method || LambdaMember)
    return false;
  bool Needed = L.UsesThis;
  for (const DeclContext *DC = Method->getDeclContext(); !DC->isFileContext();
       DC = DC->getParent())
    Needed |= needOf(cast<CXXRecordDecl>(DC)) != Need::No;
  if (!Needed)
    return false;
  LambdaMember = Method->getCanonicalDecl();
  Part P(*this, Method, "member around lambdas");
  mark(Method->getParent());
  walkFunctionDeclaration(*this, Method);
  return true;
}

llvm::Error Closure::collect(const FunctionDecl *Kernel,
                             const KernelLambdas &Lambdas) {
  mark(Kernel);
  collectLambdas(Lambdas);
  do {
    while (!Queue.empty()) {
      Item Next = Queue.back();
      Queue.pop_back();
      process(Next);
    }
  } while (resolveLeftovers() || needLambdaClass(Lambdas));
  findSharedVariables();
  return Refusal ? findingError(*Refusal) : llvm::Error::success();
}

void Closure::findSharedVariables() {
  if (InternalVariables.empty())
    return;
  forEachVariableUse(Unit, [&](const FunctionDecl *User, const VarDecl *V) {
    V = V->getCanonicalDecl();
    if (InternalVariables.contains(V) && isDeviceCallable(User) &&
        !Visited.count(User->getCanonicalDecl()))
      SharedVariables.insert(V);
  });
}

bool Closure::resolveLeftovers() {
  for (unsigned I = 0; I < WrittenRecords.size(); ++I) {
    for (const Decl *Member : WrittenRecords[I]->decls()) {
      if (const auto *FT = dyn_cast<FunctionTemplateDecl>(Member))
        Member = FT->getTemplatedDecl();
      const auto *Method = dyn_cast<CXXMethodDecl>(Member);
      if (Method && isDeviceCallable(Method) &&
          DependentNames.count(Method->getDeclName().getAsString()))
        mark(Method);
    }
  }
  auto Known = [&](const NamedDecl *D) {
    D = D->getUnderlyingDecl();
    if (const auto *T = dyn_cast<TemplateDecl>(D); T && T->getTemplatedDecl())
      D = T->getTemplatedDecl();
    return needOf(D) != Need::No || Visited.count(D->getCanonicalDecl());
  };
  // A name whose every use was discarded must be declared all the same.
  // Operators need not.
  for (auto &Candidates : std::exchange(Unresolved, {}))
    if (Candidates.front()->getDeclName().getNameKind() !=
            DeclarationName::CXXOperatorName &&
        llvm::none_of(Candidates, Known))
      for (const NamedDecl *D : Candidates)
        if (!D->getParentFunctionOrMethod())
          mark(D, Need::Declaration);
  return !Queue.empty();
}

void Closure::process(const Item &I) {
  if (const auto *F = dyn_cast<FunctionDecl>(I.D))
    return processFunction(F, I.N);
  // What is local to a function is walked with the function.
  if (I.D->getParentFunctionOrMethod())
    return;
  if (const auto *R = dyn_cast<CXXRecordDecl>(I.D))
    return processRecord(R, I.N);
  if (const auto *V = dyn_cast<VarDecl>(I.D))
    return processVariable(V);
  if (const auto *E = dyn_cast<EnumDecl>(I.D))
    return processEnum(E);
  processOther(I.D);
}

void Closure::needPiecesOf(const Decl *D) {
  int I = Pieces.indexOf(D);
  if (I < 0 || !NeededPieces.insert(I).second)
    return;
  // What shares tokens with it comes along.
  for (const Decl *Sibling : Pieces.pieces()[I].Decls)
    if (const auto *Named = dyn_cast<NamedDecl>(Sibling))
      if (Sibling != D && Pieces.pieces()[I].Decls.size() > 1)
        mark(Named);
}

void Closure::needWritten(const NamedDecl *D, Need N) {
  Need &Known = Written[D->getCanonicalDecl()];
  Known = std::max(Known, N);
  for (const DeclContext *DC = D->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *Namespace = dyn_cast<NamespaceDecl>(DC))
      Namespaces.insert(Namespace->getCanonicalDecl());
}

void Closure::needParent(const Decl *D) {
  if (const auto *Parent = dyn_cast<CXXRecordDecl>(D->getDeclContext()))
    mark(Parent);
}

/// The declaration of \p D in a header that variants may include, if there is
/// one: glob.h declares size_t once more.
static const NamedDecl *admittedDeclaration(const ParsedUnit &Unit,
                                            const NamedDecl *D) {
  const IncludeDirective *Own = Unit.includeOf(D->getLocation());
  if (!Own || isDeviceHeader(Own->Name))
    return D;
  for (const Decl *Other : D->redecls()) {
    SourceLocation At = Other->getLocation();
    if (At.isInvalid() || Unit.isUser(At))
      continue;
    // Nothing is to be included for what the compiler's own headers declare.
    const IncludeDirective *Include = Unit.includeOf(At);
    if (!Include || isDeviceHeader(Include->Name))
      return cast<NamedDecl>(Other);
  }
  return D;
}

void Closure::needInclude(const NamedDecl *D) {
  D = admittedDeclaration(Unit, D);
  if (const IncludeDirective *Include = Unit.includeOf(D->getLocation()))
    Includes.insert(Include);
  if (D->getLocation().isValid() && !Unit.isCudaHeader(D->getLocation()))
    StandardLibrary = true;
  for (const DeclContext *DC = D->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *Namespace = dyn_cast<NamespaceDecl>(DC))
      Namespaces.insert(Namespace->getCanonicalDecl());
}

void Closure::processFunction(const FunctionDecl *F, Need N) {
  const FunctionDecl *Pattern = F->getTemplateInstantiationPattern();
  if (F->getParentFunctionOrMethod()) {
    // A generic lambda's call operator; others are part of the text around.
    if (Pattern && F->hasBody())
      walkFunctionBody(*this, F->getDefinition());
    return;
  }
  const FunctionDecl *W = Pattern ? Pattern : F;
  const FunctionDecl *Definition = F->getDefinition();
  if (!Unit.isUser(W->getLocation())) {
    needInclude(W);
    walkTemplateArguments(*this, F);
    // Instances of system templates may call back into the user's code.
    if ((Pattern || F->isImplicit()) && Definition && Definition->hasBody())
      walkFunctionBody(*this, Definition);
    return;
  }
  if (isa<CXXMethodDecl>(F)) {
    needParent(F);
    needParent(W);
  }
  bool WithBody = N == Need::Definition && isDeviceCallable(F);
  if (F->isImplicit()) {
    if (WithBody && Definition) {
      Part P(*this, F, "implicit");
      walkFunctionBody(*this, Definition);
    }
    return;
  }
  needWritten(W, N);
  for (const FunctionDecl *Redecl : W->redecls()) {
    const auto *Lexical =
        dyn_cast<CXXRecordDecl>(Redecl->getLexicalDeclContext());
    if (Lexical && !isa<CXXMethodDecl>(Redecl)) {
      // A friend: the class matters only if it holds the definition.
      if (!Redecl->isThisDeclarationADefinition())
        continue;
      mark(Lexical);
    }
    bool OutOfLine = Redecl->isOutOfLine() && isa<CXXMethodDecl>(Redecl);
    if (OutOfLine && N != Need::Definition)
      continue;
    needPiecesOf(Redecl);
    Part P(*this, Redecl, "declaration");
    walkFunctionDeclaration(*this, Redecl);
  }
  if (F->getTemplateSpecializationKind() == TSK_ExplicitSpecialization) {
    // Of a member of a class template: what stands in the class.
    const FunctionTemplateDecl *Primary = F->getPrimaryTemplate();
    while (Primary && Primary->getInstantiatedFromMemberTemplate())
      Primary = Primary->getInstantiatedFromMemberTemplate();
    if (Primary)
      mark(Primary->getTemplatedDecl(), Need::Declaration);
    mark(F->getInstantiatedFromMemberFunction(), Need::Declaration);
    if (isa<CXXMethodDecl>(F))
      needPiecesOf(F);
  }
  if (WithBody)
    if (const FunctionDecl *Text = W->getDefinition();
        Text && Text->hasBody()) {
      Part P(*this, Text, "body");
      walkFunctionBody(*this, Text);
    }
  if (Pattern) {
    Part P(*this, F, "instance");
    walkTemplateArguments(*this, F);
    walkFunctionDeclaration(*this, F);
    if (WithBody && Definition && Definition->hasBody())
      walkFunctionBody(*this, Definition);
  }
  if (WithBody && !Definition && !F->isDefined() && F->isUsed(false) &&
      !F->isPureVirtual() && !F->isDefaulted() && F->getBuiltinID() == 0)
    refuse("it calls '" + describe(F) + "', which is declared at " +
           Unit.at(F->getLocation()) +
           " but defined in another unit; define it in a header that this unit "
           "includes");
}

void Closure::processOther(const NamedDecl *D) {
  if (!Unit.isUser(D->getLocation()))
    return needInclude(D);
  needParent(D);
  needWritten(D, Need::Definition);
  for (const Decl *Redecl : D->redecls())
    needPiecesOf(Redecl);
  Part P(*this, D, "declaration");
  if (const auto *Using = dyn_cast<UsingDecl>(D)) {
    // The targets that are used are marked by their users.
    for (const UsingShadowDecl *Shadow : Using->shadows())
      if (Using->shadow_size() == 1)
        mark(Shadow->getTargetDecl(), Need::Declaration);
    return;
  }
  walkDeclaration(*this, D);
}

} // namespace cupilot
