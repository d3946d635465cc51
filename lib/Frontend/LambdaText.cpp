//===- LambdaText.cpp - A function for a slice's lambdas -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lambdas.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace cupilot {

PrintingPolicy codePolicy(const ASTContext &Ctx) {
  PrintingPolicy Policy = Ctx.getPrintingPolicy();
  Policy.SuppressTagKeyword = true;
  Policy.PrintAsCanonical = true;
  Policy.AnonymousTagLocations = true;
  Policy.Bool = true;
  return Policy;
}

namespace {
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
  for (const NeededLambda &Each : L.Around) {
    TokenRange Head = rangeOf(Each.Written->getBeginLoc(),
                              Each.Written->getBody()->getBeginLoc(), Pieces);
    if (Head.Begin < Head.End)
      --Head.End; // The brace.
    Ranges.push_back(Head);
  }
  return Ranges;
}

namespace {
class LambdaWriter {
public:
  using Copier = llvm::function_ref<llvm::Expected<std::string>(TokenRange)>;
  LambdaWriter(const KernelLambdas &L, const ParsedUnit &Unit,
               const PieceTable &Pieces, const FunctionDecl *Kernel,
               Copier CopyOf)
      : L(L), Unit(Unit), Pieces(Pieces), CopyOf(CopyOf),
        Policy(codePolicy(Unit.Ctx)), Ranges(rangesOf(L, Pieces)) {
    llvm::raw_string_ostream NameStream(Name);
    Kernel->getNameForDiagnostic(NameStream, Policy, /*Qualified=*/true);
    Type = Kernel->getType().getCanonicalType().getAsString(Policy);
  }
  LambdaText write(bool InClass);
  std::optional<std::string> Refusal;

private:
  std::string copy(TokenRange R) {
    if (R.Begin >= R.End) {
      Refusal =
          "the text of a lambda cannot be separated from the code around it";
      return "";
    }
    llvm::Expected<std::string> Text = CopyOf(R);
    if (Text)
      return *Text;
    Refusal = llvm::toString(Text.takeError());
    return "";
  }
  std::string local(const VarDecl *V);
  std::string standIn(const LambdaExpr *E);
  std::string statements(size_t Level);
  std::string function(bool InClass);
  std::string instantiation() const;

  const KernelLambdas &L;
  const ParsedUnit &Unit;
  const PieceTable &Pieces;
  Copier CopyOf;
  PrintingPolicy Policy;
  std::vector<TokenRange> Ranges;
  std::string Name, Type; ///< Of the kernel's instance.
};
} // namespace

/// The declaration of \p V. What is no constant is never read.
std::string LambdaWriter::local(const VarDecl *V) {
  QualType T = V->getType().getNonReferenceType();
  std::string Declared;
  llvm::raw_string_ostream OS(Declared);
  T.print(OS, Policy, V->getName());
  if (const clang::Expr *Init = constantOf(V))
    return std::string(V->isConstexpr() ? "constexpr " : "") + Declared +
           " = " +
           copy(rangeOf(Init->getBeginLoc(), Init->getEndLoc(), Pieces));
  if (V->getType()->isArrayType())
    return Declared;
  return Declared + " = *(" + T.getAsString(Policy) + " *)nullptr";
}

/// A lambda with the parameters of \p E: lambdas of equal parameters are
/// numbered within the function.
std::string LambdaWriter::standIn(const LambdaExpr *E) {
  FunctionTypeLoc Parameters = E->getCallOperator()->getFunctionTypeLoc();
  std::string List = "()";
  if (E->hasExplicitParameters() && Parameters)
    List = copy(
        rangeOf(Parameters.getLParenLoc(), Parameters.getRParenLoc(), Pieces));
  return "(void)[]" + List + " {};\n";
}

/// What stands in the function, or in the body of the lambda around that is
/// number \p Level - 1.
std::string LambdaWriter::statements(size_t Level) {
  const FunctionDecl *Here = L.Function, *Text = L.Text;
  if (Level > 0) {
    Here = L.Around[Level - 1].Expr->getCallOperator();
    Text = L.Around[Level - 1].Written->getCallOperator();
  }
  std::string Indent(2 * Level + 2, ' '), Result;
  for (const VarDecl *V : L.Locals)
    if (V->getDeclContext() == Here)
      Result += Indent + local(V) + ";\n";
  bool Inside = Level < L.Around.size();
  ArrayRef<NeededLambda> Needed = L.All;
  if (Inside)
    Needed = ArrayRef(L.Around).slice(Level, 1);
  unsigned Done = 0;
  for (const LambdaExpr *E : lambdasIn(Text)) {
    if (Done == Needed.size())
      break;
    const auto *It = llvm::find_if(
        Needed, [&](const NeededLambda &N) { return N.Written == E; });
    if (It == Needed.end()) {
      if (llvm::any_of(Needed, [&](const NeededLambda &N) {
            return sameParameters(N.Written, E);
          }))
        Result += Indent + standIn(E);
      continue;
    }
    std::string Own =
        "cupilotLambda" +
        (Inside ? "Around" + std::to_string(Level) : std::to_string(Done));
    ++Done;
    if (Inside) {
      Result += Indent + "auto " + Own + " = " +
                copy(Ranges[1 + L.All.size() + Level]) + " {\n" +
                statements(Level + 1) + Indent + "};\n";
      continue;
    }
    Result += Indent + "auto " + Own + " = " +
              copy(Ranges[1 + (It - Needed.begin())]) + ";\n";
    QualType Closure = Unit.Ctx.getCanonicalTagType(It->Expr->getLambdaClass());
    std::string Printed = Closure.getAsString(Policy);
    Name = replaceAll(Name, Printed, "decltype(" + Own + ")");
    Type = replaceAll(Type, Printed, "decltype(" + Own + ")");
  }
  if (!Inside)
    Result +=
        Indent + "(void)sizeof(CupilotUse<" + Type + ", &" + Name + ">);\n";
  return Result;
}

/// The function as a whole, and a class around it unless the slice has that.
std::string LambdaWriter::function(bool InClass) {
  std::string Text, Classes, ClassEnds;
  const auto *Method = dyn_cast<CXXMethodDecl>(L.Text);
  if (!InClass)
    for (const DeclContext *DC = Method ? Method->getDeclContext() : nullptr;
         DC && !DC->isFileContext(); DC = DC->getParent())
      Classes.insert(0, "struct " + cast<CXXRecordDecl>(DC)->getNameAsString() +
                            " {\n");
  for (size_t I = llvm::count(Classes, '{'); I > 0; --I)
    ClassEnds += "};\n";
  Text += Classes;
  // Behind `template <...>`.
  TokenRange Declared = Ranges.front();
  if (int Inner = Pieces.tokenAt(L.Text->getInnerLocStart());
      L.Text->getDescribedFunctionTemplate() &&
      Inner > static_cast<int>(Declared.Begin)) {
    Text += copy({Declared.Begin, static_cast<unsigned>(Inner)}) + "\n";
    Declared.Begin = Inner;
  }
  if (Method && L.Text->isOutOfLine() && !InClass) {
    NestedNameSpecifierLoc Qualifier = L.Text->getQualifierLoc();
    int First = Pieces.tokenAt(Qualifier.getBeginLoc()),
        Last = Pieces.tokenAt(Qualifier.getEndLoc());
    if (First < static_cast<int>(Declared.Begin) || Last < First ||
        L.Text->getDescribedFunctionTemplate()) {
      Refusal =
          "the text of a lambda cannot be separated from the code around it";
      return "";
    }
    std::string Before =
        First == static_cast<int>(Declared.Begin)
            ? ""
            : copy({Declared.Begin, static_cast<unsigned>(First)});
    Text += (Method->isStatic() ? "static " : "") +
            onDevice(Before + " " +
                     copy({static_cast<unsigned>(Last) + 1, Declared.End})) +
            ";\n" + std::exchange(ClassEnds, "");
  }
  return Text + onDevice(copy(Declared)) + " {\n" + statements(0) + "}\n" +
         ClassEnds;
}

/// What makes the instance of a function template; "" for other functions.
std::string LambdaWriter::instantiation() const {
  if (L.Function == L.Text || !L.Function->getTemplateInstantiationPattern())
    return "";
  std::string Instance;
  llvm::raw_string_ostream OS(Instance);
  L.Function->getNameForDiagnostic(OS, Policy, /*Qualified=*/true);
  OS << "(";
  for (const ParmVarDecl *P : L.Function->parameters())
    OS << (P->getFunctionScopeIndex() ? ", " : "")
       << P->getType().getCanonicalType().getUnqualifiedType().getAsString(
              Policy);
  OS << ")";
  return "template __device__ " +
         L.Function->getReturnType().getCanonicalType().getAsString(Policy) +
         " " + Instance + ";\n";
}

LambdaText LambdaWriter::write(bool InClass) {
  LambdaText Text;
  Text.Before = "template <class F, F *> struct CupilotUse {};\n";
  if (InClass && !L.Text->isOutOfLine())
    Text.Body = "{\n" + statements(0) + "}";
  else
    Text.After = function(InClass);
  Text.After += instantiation();
  return Text;
}

llvm::Expected<LambdaText>
lambdaText(const KernelLambdas &L, const ParsedUnit &Unit,
           const PieceTable &Pieces, const FunctionDecl *Kernel, bool InClass,
           llvm::function_ref<llvm::Expected<std::string>(TokenRange)> CopyOf) {
  LambdaWriter Writer(L, Unit, Pieces, Kernel, CopyOf);
  LambdaText Text = Writer.write(InClass);
  if (Writer.Refusal)
    return findingError(*Writer.Refusal);
  return Text;
}

} // namespace cupilot
