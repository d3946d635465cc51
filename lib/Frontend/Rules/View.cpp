//===- View.cpp - The AST and tokens of a text under rewriting -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RewriteState.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace cupilot {

namespace {
class Finder : public RecursiveASTVisitor<Finder> {
public:
  Finder(ASTContext &Context, llvm::StringRef Symbol)
      : Symbol(Symbol), Mangler(Context.createMangleContext()) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitFunctionDecl(FunctionDecl *F) {
    if (!F->hasAttr<CUDAGlobalAttr>() || F->isDependentContext() ||
        !F->getDefinition())
      return true;
    std::string Name;
    llvm::raw_string_ostream OS(Name);
    if (Mangler->shouldMangleDeclName(F))
      Mangler->mangleName(GlobalDecl(F, KernelReferenceKind::Kernel), OS);
    else
      OS << F->getName();
    if (Name == Symbol)
      Found = F->getDefinition();
    return true;
  }
  const FunctionDecl *Found = nullptr;

private:
  llvm::StringRef Symbol;
  std::unique_ptr<MangleContext> Mangler;
};
} // namespace

llvm::Expected<std::unique_ptr<View>> View::create(const RewriteState &State) {
  llvm::Expected<std::unique_ptr<DeviceUnit>> Unit =
      parseForDevice("kernel.cu", State.Flags, llvm::StringRef(State.Text));
  if (!Unit)
    return Unit.takeError();
  auto V = std::make_unique<View>();
  V->Unit = std::move(*Unit);
  V->Text = State.Text;
  Finder F(V->context(), State.K.Symbol);
  F.TraverseDecl(V->context().getTranslationUnitDecl());
  if (!F.Found)
    return usageError("the slice does not define the kernel '" + State.K.Name +
                      "'");
  // Work on what was written: for an instantiation that is its pattern.
  V->Kernel = F.Found;
  return std::move(V);
}

const CompoundStmt &View::body() const {
  return *cast<CompoundStmt>(Kernel->getBody());
}

std::optional<std::pair<unsigned, unsigned>> View::range(SourceRange R) const {
  SourceManager &SM = Unit->sources();
  if (R.isInvalid() || R.getBegin().isMacroID() || R.getEnd().isMacroID() ||
      SM.getFileID(R.getBegin()) != SM.getMainFileID())
    return std::nullopt;
  SourceLocation End =
      Lexer::getLocForEndOfToken(R.getEnd(), 0, SM, context().getLangOpts());
  return std::pair(SM.getFileOffset(R.getBegin()), SM.getFileOffset(End));
}

std::string View::text(const Stmt &S) const {
  auto R = range(S.getSourceRange());
  return R ? text(R->first, R->second) : "";
}

std::vector<View::Word> View::words(unsigned Begin, unsigned End) const {
  std::vector<Word> Result;
  Lexer Lex(SourceLocation(), context().getLangOpts(), Text.data(),
            Text.data() + Begin, Text.data() + Text.size());
  Token T;
  for (Lex.LexFromRawLexer(T); T.isNot(tok::eof); Lex.LexFromRawLexer(T)) {
    unsigned TokenEnd = Lex.getBufferLocation() - Text.data();
    unsigned TokenBegin = TokenEnd - T.getLength();
    if (TokenBegin >= End)
      break;
    Result.push_back(
        {TokenBegin, TokenEnd, Text.substr(TokenBegin, T.getLength())});
  }
  return Result;
}

bool View::mentions(const char *Name) const {
  return llvm::any_of(words(0, Text.size()),
                      [&](const Word &W) { return W.Text == Name; });
}

/// The tokens of "VARIABLE.x" begin at \p I.
static bool isBuiltin(const std::vector<View::Word> &W, size_t I,
                      const char *Variable) {
  return I + 2 < W.size() && W[I].Text == Variable && W[I + 1].Text == "." &&
         W[I + 2].Text == "x";
}

/// Length in tokens of the global index at \p I; 0 when there is none.
static size_t globalIndexAt(const std::vector<View::Word> &W, size_t I) {
  auto Product = [&](size_t At) -> size_t {
    bool Paren = At < W.size() && W[At].Text == "(";
    size_t P = At + Paren;
    bool Ok =
        (isBuiltin(W, P, "blockIdx") && isBuiltin(W, P + 4, "blockDim")) ||
        (isBuiltin(W, P, "blockDim") && isBuiltin(W, P + 4, "blockIdx"));
    if (!Ok || W[P + 3].Text != "*")
      return 0;
    if (Paren && (P + 7 >= W.size() || W[P + 7].Text != ")"))
      return 0;
    return 7 + 2 * Paren;
  };
  // A factor or a term before or after would change the meaning.
  auto Free = [&](size_t First, size_t Length) {
    bool Before =
        First > 0 && (W[First - 1].Text == "*" || W[First - 1].Text == "/" ||
                      W[First - 1].Text == "%" || W[First - 1].Text == "-");
    size_t After = First + Length;
    bool Behind =
        After < W.size() && (W[After].Text == "*" || W[After].Text == "/" ||
                             W[After].Text == "%" || W[After].Text == ".");
    return !Before && !Behind;
  };
  if (size_t P = Product(I); P && I + P < W.size() && W[I + P].Text == "+" &&
                             isBuiltin(W, I + P + 1, "threadIdx") &&
                             Free(I, P + 4))
    return P + 4;
  if (isBuiltin(W, I, "threadIdx") && I + 3 < W.size() && W[I + 3].Text == "+")
    if (size_t P = Product(I + 4); P && Free(I, P + 4))
      return P + 4;
  return 0;
}

static size_t totalAt(const std::vector<View::Word> &W, size_t I) {
  bool Ok = (isBuiltin(W, I, "gridDim") && isBuiltin(W, I + 4, "blockDim")) ||
            (isBuiltin(W, I, "blockDim") && isBuiltin(W, I + 4, "gridDim"));
  return Ok && W[I + 3].Text == "*" ? 7 : 0;
}

View::IndexUses View::indexUses() const {
  IndexUses Uses;
  std::vector<Word> W = words(0, Text.size());
  for (size_t I = 0; I < W.size(); ++I) {
    if (size_t Length = globalIndexAt(W, I)) {
      Uses.Global.push_back({W[I].Begin, W[I + Length - 1].End});
      I += Length - 1;
    } else if (size_t Length = totalAt(W, I)) {
      Uses.Total.push_back({W[I].Begin, W[I + Length - 1].End});
      I += Length - 1;
    } else if (W[I].Text == "threadIdx" || W[I].Text == "blockIdx" ||
               W[I].Text == "blockDim" || W[I].Text == "gridDim" ||
               W[I].Text == "warpSize") {
      ++Uses.Other;
    }
  }
  return Uses;
}

bool View::isGlobalIndex(const clang::Expr &E) const {
  auto R = range(E.getSourceRange());
  if (!R)
    return false;
  std::vector<Word> W = words(R->first, R->second);
  while (W.size() > 2 && W.front().Text == "(" && W.back().Text == ")" &&
         globalIndexAt(W, 0) != W.size())
    W = std::vector<Word>(W.begin() + 1, W.end() - 1);
  return !W.empty() && globalIndexAt(W, 0) == W.size();
}

std::optional<Expr> View::scalarExpr(const clang::Expr &Node,
                                     const cupilot::Kernel &K) const {
  const clang::Expr *E = Node.IgnoreParenImpCasts();
  if (const auto *Literal = dyn_cast<IntegerLiteral>(E)) {
    if (Literal->getValue().getActiveBits() > 62)
      return std::nullopt;
    return Expr::constant(Literal->getValue().getZExtValue());
  }
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *P = dyn_cast<ParmVarDecl>(Ref->getDecl());
    if (!P || P->getDeclContext() != Kernel)
      return std::nullopt;
    for (auto [Index, S] : llvm::enumerate(K.Scalars))
      if (S.Param == P->getFunctionScopeIndex() && S.Offset == 0)
        return Expr::symbol(Index);
    return std::nullopt;
  }
  const auto *Binary = dyn_cast<BinaryOperator>(E);
  if (!Binary)
    return std::nullopt;
  std::optional<Expr> L = scalarExpr(*Binary->getLHS(), K),
                      R = scalarExpr(*Binary->getRHS(), K);
  if (!L || !R)
    return std::nullopt;
  switch (Binary->getOpcode()) {
  case BO_Add:
    return Expr::binary(Expr::Kind::Add, *L, *R);
  case BO_Mul:
    return Expr::binary(Expr::Kind::Mul, *L, *R);
  case BO_Sub:
    return Expr::binary(Expr::Kind::Add, *L,
                        Expr::binary(Expr::Kind::Mul, *R, Expr::constant(-1)));
  default:
    return std::nullopt;
  }
}

/// True when \p E is a use of \p V.
static bool isUse(const clang::Expr *E, const VarDecl *V) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  return Ref && Ref->getDecl() == V;
}

/// The bound B of `V < B` or (\p Negated) `V >= B`.
static const clang::Expr *boundOf(const clang::Expr *Condition,
                                  const VarDecl *V, bool Negated) {
  const auto *B = dyn_cast<BinaryOperator>(Condition->IgnoreParenImpCasts());
  if (!B)
    return nullptr;
  if (B->getOpcode() == (Negated ? BO_GE : BO_LT) && isUse(B->getLHS(), V))
    return B->getRHS();
  if (B->getOpcode() == (Negated ? BO_LE : BO_GT) && isUse(B->getRHS(), V))
    return B->getLHS();
  return nullptr;
}

static bool isBareReturn(const Stmt *S) {
  if (const auto *C = dyn_cast<CompoundStmt>(S))
    return C->size() == 1 && isBareReturn(*C->body_begin());
  return isa<ReturnStmt>(S);
}

std::optional<View::GuardedIndex> View::guardedIndex() const {
  llvm::SmallVector<const Stmt *> Statements(body().body_begin(),
                                             body().body_end());
  if (Statements.size() < 2)
    return std::nullopt;
  const auto *Decl = dyn_cast<DeclStmt>(Statements[0]);
  const auto *Index = Decl && Decl->isSingleDecl()
                          ? dyn_cast<VarDecl>(Decl->getSingleDecl())
                          : nullptr;
  const auto *If = dyn_cast<IfStmt>(Statements[1]);
  if (!Index || !Index->getInit() || !isGlobalIndex(*Index->getInit()) || !If ||
      If->getElse() || If->getInit() || If->getConditionVariable())
    return std::nullopt;
  GuardedIndex G;
  G.Index = Index;
  G.Init = Index->getInit();
  auto DeclRange = range(Decl->getSourceRange()),
       IfRange = range(If->getSourceRange());
  auto BodyRange = range(body().getSourceRange());
  if (!DeclRange || !IfRange || !BodyRange)
    return std::nullopt;
  G.DeclBegin = DeclRange->first;
  if (const clang::Expr *Bound = boundOf(If->getCond(), Index, false);
      Bound && Statements.size() == 2) {
    auto Then = range(If->getThen()->getSourceRange());
    if (!Then)
      return std::nullopt;
    G.Bound = Bound;
    G.WorkBegin = Then->first;
    // A single statement's semicolon is not part of its range.
    G.WorkEnd = BodyRange->second - 1;
    G.End = G.WorkEnd;
    return G;
  }
  if (const clang::Expr *Bound = boundOf(If->getCond(), Index, true);
      Bound && isBareReturn(If->getThen()) && Statements.size() > 2) {
    auto First = range(Statements[2]->getSourceRange());
    if (!First)
      return std::nullopt;
    G.Bound = Bound;
    G.WorkBegin = First->first;
    G.WorkEnd = BodyRange->second - 1; // Before the closing brace.
    G.End = G.WorkEnd;
    return G;
  }
  return std::nullopt;
}

std::string apply(std::string Text, std::vector<Edit> Edits) {
  llvm::sort(Edits,
             [](const Edit &A, const Edit &B) { return A.Begin > B.Begin; });
  for (const Edit &E : Edits)
    Text.replace(E.Begin, E.End - E.Begin, E.New);
  return Text;
}

llvm::Error refuse(const Gene &G, const llvm::Twine &Reason) {
  return findingError(llvm::Twine(G.Strategy) + ": " + Reason);
}

int64_t valueOf(const Gene &G, llvm::StringRef Param) {
  for (const GeneParam &P : G.Params)
    if (P.Name == Param)
      return P.Value;
  return 0;
}

} // namespace cupilot
