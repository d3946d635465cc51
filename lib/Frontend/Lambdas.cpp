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

/// Variables of the function around that a lambda refers to.
class LocalFinder : public DynamicRecursiveASTVisitor {
public:
  LocalFinder(const FunctionDecl *F, llvm::SetVector<const VarDecl *> &Locals)
      : F(F), Locals(Locals) {
    ShouldVisitImplicitCode = true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *E) override {
    if (const auto *V = dyn_cast<VarDecl>(E->getDecl()))
      add(V);
    else if (isa<BindingDecl>(E->getDecl()))
      Refusal = "it captures a structured binding";
    return true;
  }
  bool VisitCXXThisExpr(CXXThisExpr *) override {
    Refusal = "it captures 'this'";
    return true;
  }
  void add(const VarDecl *V) {
    if (V->getDeclContext() != F || isa<ParmVarDecl>(V) || V->isStaticLocal() ||
        !Locals.insert(V))
      return;
    if (const clang::Expr *Init = constantOf(V))
      TraverseStmt(const_cast<clang::Expr *>(Init));
  }
  std::string Refusal;

private:
  const FunctionDecl *F;
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

PrintingPolicy codePolicy(const ASTContext &Ctx) {
  PrintingPolicy Policy = Ctx.getPrintingPolicy();
  Policy.SuppressTagKeyword = true;
  Policy.PrintAsCanonical = true;
  Policy.AnonymousTagLocations = true;
  Policy.Bool = true;
  return Policy;
}

std::string replaceAll(std::string Text, StringRef From, StringRef To) {
  for (size_t At = 0; (At = Text.find(From, At)) != std::string::npos;
       At += To.size())
    Text.replace(At, From.size(), To);
  return Text;
}

bool sameParameters(const LambdaExpr *A, const LambdaExpr *B) {
  const CXXMethodDecl *X = A->getCallOperator(), *Y = B->getCallOperator();
  return llvm::equal(X->parameters(), Y->parameters(),
                     [](const ParmVarDecl *P, const ParmVarDecl *Q) {
                       return P->getType().getCanonicalType() ==
                              Q->getType().getCanonicalType();
                     });
}
} // namespace

const clang::Expr *constantOf(const VarDecl *V) {
  bool Constant = V->getInit() && !V->getType()->isDependentType() &&
                  !V->getInit()->isValueDependent() &&
                  V->mightBeUsableInConstantExpressions(V->getASTContext()) &&
                  V->evaluateValue();
  return Constant ? V->getInit() : nullptr;
}

/// Why \p Method cannot be made again for its lambdas; "" when it can: in a
/// class that has nothing else.
static std::string whyNotMember(const CXXMethodDecl *Method) {
  if (Method->getParent()->isLambda())
    return "it stands in another lambda";
  if (Method->isVirtual() || Method->isOverloadedOperator() ||
      isa<CXXConstructorDecl, CXXDestructorDecl, CXXConversionDecl>(Method))
    return "it stands in a constructor, an operator or a virtual function";
  for (const DeclContext *DC = Method->getDeclContext(); !DC->isFileContext();
       DC = DC->getParent()) {
    const auto *R = dyn_cast<CXXRecordDecl>(DC);
    if (DC->isFunctionOrMethod() || (R && !R->getIdentifier()))
      return "it stands in a member function of a class without a name of its "
             "own";
    if (R && (R->isUnion() || R->getDescribedClassTemplate() ||
              isa<ClassTemplateSpecializationDecl>(R)))
      return "it stands in a member function of a class template or a union";
  }
  return "";
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
  L.Function = dyn_cast_or_null<FunctionDecl>(
      cast_or_null<Decl>(Closures.front()->getParentFunctionOrMethod()));
  if (!L.Function)
    return refusal("it stands outside of functions");
  for (const CXXRecordDecl *R : Closures)
    if (R->getParentFunctionOrMethod() != L.Function)
      return refusal("another one stands in another function");
  const FunctionDecl *Pattern = L.Function->getTemplateInstantiationPattern();
  L.Text = (Pattern ? Pattern : L.Function)->getDefinition();
  if (!L.Text || !L.Text->getBody() || !Unit.isUser(L.Text->getLocation()))
    return refusal("the function around it is not the user's");
  if (const auto *Method = dyn_cast<CXXMethodDecl>(L.Text))
    if (std::string Why = whyNotMember(Method); !Why.empty())
      return refusal(Why);
  int Piece = Pieces.indexOf(L.Text);
  if (Piece < 0 || Pieces.pieces()[Piece].Decls.size() != 1)
    return refusal("the function around it is made by a macro with others");

  LambdaFinder Here(L.Function), There(L.Text);
  Here.TraverseStmt(L.Function->getDefinition()->getBody());
  There.TraverseStmt(L.Text->getBody());
  llvm::SetVector<const VarDecl *> Locals;
  LocalFinder Finder(L.Function, Locals);
  for (const LambdaExpr *E : Here.Found) {
    if (!Closures.contains(E->getLambdaClass()))
      continue;
    auto Written = llvm::find_if(There.Found, [&](const LambdaExpr *Other) {
      return Other->getBeginLoc() == E->getBeginLoc();
    });
    if (Written == There.Found.end())
      return refusal("its text was not found");
    L.All.push_back({E, *Written});
    Finder.TraverseStmt(const_cast<LambdaExpr *>(E));
    for (const LambdaCapture &Capture : E->captures())
      if (Capture.capturesVariable())
        if (const auto *V = dyn_cast<VarDecl>(Capture.getCapturedVar()))
          Finder.add(V);
  }
  if (L.All.size() != Closures.size())
    return refusal("its text was not found");
  if (!Finder.Refusal.empty())
    return refusal(Finder.Refusal);
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

static TokenRange rangeOf(SourceLocation Begin, SourceLocation End,
                          const PieceTable &Pieces) {
  int First = Pieces.tokenAt(Begin), Last = Pieces.tokenAt(End);
  if (First < 0 || Last < First)
    return {};
  return {static_cast<unsigned>(First), static_cast<unsigned>(Last) + 1};
}

/// \p Declaration, a function's from its first specifier on, for the device.
/// nvcc takes no attribute behind the parameters of a definition.
static std::string onDevice(StringRef Declaration) {
  size_t At = 0;
  while (Declaration.substr(At).starts_with("[[")) {
    size_t End = Declaration.find("]]", At);
    if (End == StringRef::npos)
      break;
    At = Declaration.find_first_not_of(" \t\n", End + 2);
  }
  return (Declaration.take_front(At) + "__device__ " +
          Declaration.drop_front(At))
      .str();
}

std::vector<TokenRange> rangesOf(const KernelLambdas &L,
                                 const PieceTable &Pieces) {
  const Piece &P = Pieces.pieces()[Pieces.indexOf(L.Text)];
  unsigned Begin =
      isa<CXXMethodDecl>(L.Text) ? Pieces.rangeOf(L.Text).Begin : P.Range.Begin;
  std::vector<TokenRange> Ranges = {{Begin, Pieces.bodyOf(L.Text).Begin}};
  for (const NeededLambda &Each : L.All)
    Ranges.push_back(rangeOf(Each.Written->getBeginLoc(),
                             Each.Written->getEndLoc(), Pieces));
  return Ranges;
}

std::string
lambdaText(const KernelLambdas &L, const ParsedUnit &Unit,
           const PieceTable &Pieces, const FunctionDecl *Kernel,
           llvm::function_ref<llvm::Expected<std::string>(TokenRange)> CopyOf,
           std::string &Refusal) {
  PrintingPolicy Policy = codePolicy(Unit.Ctx);
  auto Copy = [&](TokenRange R) -> std::string {
    if (R.Begin >= R.End) {
      Refusal = "the text of a lambda cannot be taken apart";
      return "";
    }
    llvm::Expected<std::string> Text = CopyOf(R);
    if (Text)
      return *Text;
    Refusal = llvm::toString(Text.takeError());
    return "";
  };
  std::vector<TokenRange> Ranges = rangesOf(L, Pieces);
  std::string Text = "template <class F, F *> struct CupilotUse {};\n";
  const auto *Method = dyn_cast<CXXMethodDecl>(L.Text);
  std::string Classes;
  for (const DeclContext *DC = Method ? Method->getDeclContext() : nullptr;
       DC && !DC->isFileContext(); DC = DC->getParent())
    Classes.insert(0, "struct " + cast<CXXRecordDecl>(DC)->getNameAsString() +
                          " {\n");
  std::string ClassEnds;
  for (size_t I = llvm::count(Classes, '{'); I > 0; --I)
    ClassEnds += "};\n";
  Text += Classes;
  // Behind `template <...>`.
  TokenRange Declared = Ranges.front();
  if (int Inner = Pieces.tokenAt(L.Text->getInnerLocStart());
      L.Text->getDescribedFunctionTemplate() &&
      Inner > static_cast<int>(Declared.Begin)) {
    Text += Copy({Declared.Begin, static_cast<unsigned>(Inner)}) + "\n";
    Declared.Begin = Inner;
  }
  if (Method && L.Text->isOutOfLine()) {
    NestedNameSpecifierLoc Qualifier = L.Text->getQualifierLoc();
    int First = Pieces.tokenAt(Qualifier.getBeginLoc()),
        Last = Pieces.tokenAt(Qualifier.getEndLoc());
    if (First < static_cast<int>(Declared.Begin) || Last < First ||
        L.Text->getDescribedFunctionTemplate()) {
      Refusal = "the text of a lambda cannot be taken apart";
      return "";
    }
    std::string Before =
        First == static_cast<int>(Declared.Begin)
            ? ""
            : Copy({Declared.Begin, static_cast<unsigned>(First)});
    Text += (Method->isStatic() ? "static " : "") +
            onDevice(Before + " " +
                     Copy({static_cast<unsigned>(Last) + 1, Declared.End})) +
            ";\n" + std::exchange(ClassEnds, "");
  }
  Text += onDevice(Copy(Declared)) + " {\n";
  for (const VarDecl *V : L.Locals) {
    std::string Type = V->getType().getNonReferenceType().getAsString(Policy);
    std::string Declared;
    llvm::raw_string_ostream OS(Declared);
    V->getType().getNonReferenceType().print(OS, Policy, V->getName());
    if (const clang::Expr *Init = constantOf(V))
      Text += "  " + std::string(V->isConstexpr() ? "constexpr " : "") +
              Declared + " = " +
              Copy(rangeOf(Init->getBeginLoc(), Init->getEndLoc(), Pieces)) +
              ";\n";
    else if (V->getType()->isArrayType())
      Text += "  " + Declared + ";\n";
    else
      Text += "  " + Declared + " = *(" + Type + " *)nullptr;\n";
  }
  // Lambdas of equal parameters are numbered within the function.
  LambdaFinder There(L.Text);
  There.TraverseStmt(L.Text->getBody());
  std::string Name, Type;
  llvm::raw_string_ostream NameStream(Name);
  Kernel->getNameForDiagnostic(NameStream, Policy, /*Qualified=*/true);
  Type = Kernel->getType().getCanonicalType().getAsString(Policy);
  unsigned Done = 0;
  for (const LambdaExpr *E : There.Found) {
    if (Done == L.All.size())
      break;
    auto Needed = llvm::find_if(
        L.All, [&](const NeededLambda &N) { return N.Written == E; });
    if (Needed != L.All.end()) {
      std::string Own = "cupilotLambda" + std::to_string(Done++);
      Text += "  auto " + Own + " = " +
              Copy(Ranges[1 + (Needed - L.All.begin())]) + ";\n";
      QualType Closure =
          Unit.Ctx.getCanonicalTagType(Needed->Expr->getLambdaClass());
      std::string Printed = Closure.getAsString(Policy);
      Name = replaceAll(Name, Printed, "decltype(" + Own + ")");
      Type = replaceAll(Type, Printed, "decltype(" + Own + ")");
      continue;
    }
    for (const NeededLambda &N : L.All) {
      if (!sameParameters(N.Written, E))
        continue;
      FunctionTypeLoc Parameters =
          N.Written->getCallOperator()->getFunctionTypeLoc();
      std::string List = "()";
      if (N.Written->hasExplicitParameters() && Parameters)
        List = Copy(rangeOf(Parameters.getLParenLoc(),
                            Parameters.getRParenLoc(), Pieces));
      Text += "  (void)[]" + List + " {};\n";
      break;
    }
  }
  Text += "  (void)sizeof(CupilotUse<" + Type + ", &" + Name + ">);\n}\n" +
          ClassEnds;
  if (L.Function != L.Text && L.Function->getTemplateInstantiationPattern()) {
    std::string Instance;
    llvm::raw_string_ostream OS(Instance);
    L.Function->getNameForDiagnostic(OS, Policy, /*Qualified=*/true);
    OS << "(";
    for (const ParmVarDecl *P : L.Function->parameters())
      OS << (P->getFunctionScopeIndex() ? ", " : "")
         << P->getType().getCanonicalType().getUnqualifiedType().getAsString(
                Policy);
    OS << ")";
    Text += "template __device__ " +
            L.Function->getReturnType().getCanonicalType().getAsString(Policy) +
            " " + Instance + ";\n";
  }
  return Text;
}

} // namespace cupilot
