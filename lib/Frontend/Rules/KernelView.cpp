//===- KernelView.cpp - The parsed kernel of a text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelView.h"
#include "cupilot/Frontend/ParsedUnit.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;

namespace cupilot {

KernelView::KernelView(ASTContext &Ctx, const FunctionDecl &Fn,
                       const RewriteState &State)
    : Ctx(Ctx), SM(Ctx.getSourceManager()), Fn(Fn),
      Body(*cast<CompoundStmt>(Fn.getBody())), K(State.K), Text(State.Text),
      Parents(Fn.getBody()) {}

const FunctionDecl &KernelView::pattern() const {
  const FunctionDecl *Pattern = Fn.getTemplateInstantiationPattern();
  return Pattern ? *Pattern : Fn;
}

std::optional<std::pair<unsigned, unsigned>>
KernelView::range(SourceRange R) const {
  if (R.isInvalid())
    return std::nullopt;
  CharSourceRange File = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(R), SM, Ctx.getLangOpts());
  if (File.isInvalid() || SM.getFileID(File.getBegin()) != SM.getMainFileID())
    return std::nullopt;
  return std::pair(SM.getFileOffset(File.getBegin()),
                   SM.getFileOffset(File.getEnd()));
}

std::optional<std::pair<unsigned, unsigned>>
KernelView::statementRange(const Stmt &S) const {
  auto R = range(S.getSourceRange());
  if (!R)
    return std::nullopt;
  if (!isa<CompoundStmt>(S)) {
    size_t End = Text.find_first_not_of(" \t\r\n", R->second);
    if (End != std::string::npos && Text[End] == ';')
      R->second = End + 1;
  }
  return R;
}

std::optional<unsigned> KernelView::offset(SourceLocation Loc) const {
  if (Loc.isInvalid() || Loc.isMacroID() ||
      SM.getFileID(Loc) != SM.getMainFileID())
    return std::nullopt;
  return SM.getFileOffset(Loc);
}

std::optional<std::string> KernelView::text(const Stmt &S) const {
  auto R = range(S.getSourceRange());
  if (!R)
    return std::nullopt;
  return Text.substr(R->first, R->second - R->first);
}

bool KernelView::inSlice(SourceLocation Loc) const {
  return Loc.isValid() &&
         SM.getFileID(SM.getExpansionLoc(Loc)) == SM.getMainFileID();
}

std::string KernelView::at(SourceLocation Loc) const {
  return "line " + std::to_string(SM.getExpansionLineNumber(Loc));
}

std::string KernelView::freshName(llvm::StringRef Base) const {
  std::string Name = ("cupilot_" + Base).str();
  for (unsigned N = 2; Text.find(Name) != std::string::npos; ++N)
    Name = ("cupilot_" + Base).str() + std::to_string(N);
  return Name;
}

static bool declares(const Stmt *S, llvm::StringRef Name) {
  if (!S)
    return false;
  if (const auto *Decls = dyn_cast<DeclStmt>(S))
    for (const Decl *D : Decls->decls())
      if (const auto *Named = dyn_cast<NamedDecl>(D);
          Named && Named->getIdentifier() && Named->getName() == Name)
        return true;
  return llvm::any_of(S->children(),
                      [&](const Stmt *Child) { return declares(Child, Name); });
}

bool KernelView::hasLocal(llvm::StringRef Name) const {
  return declares(&Body, Name);
}

std::string KernelView::typeText(QualType T) const {
  PrintingPolicy Policy(Ctx.getLangOpts());
  return T.getCanonicalType().getUnqualifiedType().getAsString(Policy);
}

std::optional<LaunchVariable> launchVariable(const clang::Expr *E) {
  const auto *Object = dyn_cast<PseudoObjectExpr>(E->IgnoreParens());
  if (!Object || !Object->getResultExpr())
    return std::nullopt;
  const auto *Call = dyn_cast<CallExpr>(Object->getResultExpr());
  const auto *Method =
      Call ? dyn_cast_or_null<CXXMethodDecl>(Call->getCalleeDecl()) : nullptr;
  if (!Method || !Method->getIdentifier() ||
      !Method->getParent()->getIdentifier())
    return std::nullopt;
  llvm::StringRef Name = Method->getName(), Of = Method->getParent()->getName();
  if (!Name.consume_front("__fetch_builtin_") || Name.size() != 1 ||
      Name[0] < 'x' || Name[0] > 'z')
    return std::nullopt;
  using Kind = LaunchVariable::Kind;
  unsigned Dim = Name[0] - 'x';
  if (Of == "__cuda_builtin_threadIdx_t")
    return LaunchVariable{Kind::Thread, Dim};
  if (Of == "__cuda_builtin_blockIdx_t")
    return LaunchVariable{Kind::Block, Dim};
  if (Of == "__cuda_builtin_blockDim_t")
    return LaunchVariable{Kind::BlockSize, Dim};
  if (Of == "__cuda_builtin_gridDim_t")
    return LaunchVariable{Kind::GridSize, Dim};
  return std::nullopt;
}

const clang::Expr *peel(const clang::Expr *E) {
  while (true) {
    E = E->IgnoreParens();
    if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E);
        Cast && (Cast->getCastKind() == CK_LValueToRValue ||
                 Cast->getCastKind() == CK_NoOp))
      E = Cast->getSubExpr();
    else if (const auto *Full = dyn_cast<FullExpr>(E))
      E = Full->getSubExpr();
    else if (const auto *Subst = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
      E = Subst->getReplacement();
    else if (const auto *Temporary = dyn_cast<MaterializeTemporaryExpr>(E))
      E = Temporary->getSubExpr();
    else
      return E;
  }
}

const VarDecl *variableOf(const clang::Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(peel(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

namespace {
class KernelFinder : public RecursiveASTVisitor<KernelFinder> {
public:
  KernelFinder(ASTContext &Ctx, llvm::StringRef Symbol)
      : Symbol(Symbol), Mangler(Ctx.createMangleContext()),
        SM(Ctx.getSourceManager()) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool TraverseDecl(Decl *D) {
    // The headers of the toolkit hold thousands of functions and no kernel.
    if (D && !isa<TranslationUnitDecl>(D) && D->getLocation().isValid() &&
        SM.isInSystemHeader(D->getLocation()))
      return true;
    return RecursiveASTVisitor::TraverseDecl(D);
  }
  bool TraverseStmt(Stmt *) { return true; }
  bool VisitFunctionDecl(FunctionDecl *F) {
    if (!F->hasAttr<CUDAGlobalAttr>() || F->isDependentContext() ||
        !F->isThisDeclarationADefinition() || !F->getBody())
      return true;
    std::string Name;
    llvm::raw_string_ostream OS(Name);
    if (Mangler->shouldMangleDeclName(F))
      Mangler->mangleName(GlobalDecl(F, KernelReferenceKind::Kernel), OS);
    else
      OS << F->getName();
    if (Name == Symbol)
      Found = F;
    return !Found;
  }
  const FunctionDecl *Found = nullptr;

private:
  llvm::StringRef Symbol;
  std::unique_ptr<MangleContext> Mangler;
  SourceManager &SM;
};
} // namespace

llvm::Error withKernel(const RewriteState &State,
                       llvm::function_ref<llvm::Error(KernelView &)> Use) {
  llvm::Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-rules");
  if (!Dir)
    return Dir.takeError();
  std::string File = Dir->file("kernel.cu");
  if (llvm::Error E = writeFileAtomic(File, State.Text))
    return E;
  auto Parsed = [&](ParsedUnit &Unit) -> llvm::Error {
    KernelFinder Finder(Unit.Ctx, State.K.Symbol);
    // What was read from a precompiled header holds no kernel.
    for (Decl *D : Unit.Ctx.getTranslationUnitDecl()->noload_decls())
      Finder.TraverseDecl(D);
    if (!Finder.Found)
      return usageError("the slice does not define the kernel '" +
                        State.K.Name + "'");
    if (!isa<CompoundStmt>(Finder.Found->getBody()))
      return findingError("the body of '" + State.K.Name +
                          "' is not a plain block");
    KernelView View(Unit.Ctx, *Finder.Found, State);
    // New text must mean what it says.
    for (const char *Name : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
      if (View.hasLocal(Name) ||
          llvm::any_of(Finder.Found->parameters(), [&](const ParmVarDecl *P) {
            return P->getName() == Name;
          }))
        return findingError(llvm::Twine("the kernel has a variable '") + Name +
                            "' of its own");
    for (const char *Name : {"x", "y", "z", "w", "unroll", "threadIdx",
                             "blockIdx", "blockDim", "gridDim"})
      if (Unit.PP.isMacroDefined(Name))
        return findingError(llvm::Twine("the slice defines a macro '") + Name +
                            "'");
    return Use(View);
  };
  // Nobody knows the temporary folder, and no two runs have the same.
  return llvm::handleErrors(withParsedText(File, State.Flags, Parsed),
                            [&](std::unique_ptr<ToolError> E) -> llvm::Error {
                              if (E->code() != ExitCode::Usage)
                                return llvm::Error(std::move(E));
                              std::string Text = E->text();
                              for (size_t At = 0;
                                   (At = Text.find(File)) != std::string::npos;)
                                Text.replace(At, File.size(), "kernel.cu");
                              return usageError(Text);
                            });
}

} // namespace cupilot
