//===- HostLaunches.cpp - The launches in a unit's source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Frontend/HostLaunches.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Substitute/LaunchForms.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"

using namespace clang;
using namespace llvm;

namespace cupilot {

namespace {
class LaunchVisitor : public RecursiveASTVisitor<LaunchVisitor> {
public:
  LaunchVisitor(ASTContext &Ctx, HostLaunches &Found)
      : Ctx(Ctx), Names(Ctx.createMangleContext()), Found(Found) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool TraverseFunctionDecl(FunctionDecl *D) {
    return within(D, [&] { return Base::TraverseFunctionDecl(D); });
  }
  bool TraverseCXXMethodDecl(CXXMethodDecl *D) {
    return within(D, [&] { return Base::TraverseCXXMethodDecl(D); });
  }
  bool TraverseCXXConstructorDecl(CXXConstructorDecl *D) {
    return within(D, [&] { return Base::TraverseCXXConstructorDecl(D); });
  }
  bool TraverseCXXDestructorDecl(CXXDestructorDecl *D) {
    return within(D, [&] { return Base::TraverseCXXDestructorDecl(D); });
  }
  bool TraverseCXXConversionDecl(CXXConversionDecl *D) {
    return within(D, [&] { return Base::TraverseCXXConversionDecl(D); });
  }
  bool TraverseLambdaExpr(LambdaExpr *E) {
    // Its operator(), which is not a declaration of its own in the tree.
    return within(E->getCallOperator(),
                  [&] { return Base::TraverseLambdaExpr(E); });
  }

  /// A branch that a constant condition never takes is not compiled.
  bool TraverseIfStmt(IfStmt *S) {
    clang::Expr::EvalResult Value;
    const clang::Expr *Cond = S->getCond();
    if (!Cond || Cond->isValueDependent() || S->isConsteval() ||
        !Cond->EvaluateAsInt(Value, Ctx))
      return Base::TraverseIfStmt(S);
    bool Taken = Value.Val.getInt().getBoolValue(), Outer = NeverTaken;
    auto Branch = [&](Stmt *Body, bool Dead) {
      NeverTaken = Outer || Dead;
      bool Result = TraverseStmt(Body);
      NeverTaken = Outer;
      return Result;
    };
    return TraverseStmt(S->getInit()) && TraverseStmt(S->getCond()) &&
           Branch(S->getThen(), !Taken) && Branch(S->getElse(), Taken);
  }

  bool VisitCallExpr(CallExpr *E) {
    if (!Function || Function->isDependentContext() ||
        Ctx.getSourceManager().isInSystemHeader(E->getExprLoc()))
      return true;
    if (auto *Launch = dyn_cast<CUDAKernelCallExpr>(E)) {
      add(E, "<<<>>>", Launch->getCallee());
      return true;
    }
    const FunctionDecl *Callee = E->getDirectCallee();
    if (!Callee || !Callee->getIdentifier())
      return true;
    StringRef Name = Callee->getName();
    Name.consume_back("_ptsz");
    if (Name == "cudaLaunchKernel" || Name == "cudaLaunchCooperativeKernel")
      add(E, Name, E->getNumArgs() ? E->getArg(0) : nullptr);
    else if ((Name == "cudaLaunchKernelExC" || Name == "cudaLaunchKernelEx") &&
             E->getNumArgs() > 1)
      add(E, Name, E->getArg(1));
    else if (keptLaunchForm(Name))
      add(E, Name, nullptr);
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *D) {
    if (!D->hasAttr<CUDAGlobalAttr>() || D->isDependentContext() ||
        !D->isThisDeclarationADefinition())
      return true;
    HostKernel K;
    K.Symbol = nameOf(D);
    std::tie(K.File, K.Line) = placeOf(D->getLocation());
    Found.Kernels.push_back(std::move(K));
    Kernels.push_back(D);
    return true;
  }

  /// Which kernels the pointers may hold, once all are known.
  void matchPointers() {
    for (auto [Launch, Type] : Pointers)
      for (auto [Index, D] : enumerate(Kernels))
        if (Ctx.hasSameFunctionTypeIgnoringExceptionSpec(Type, D->getType()))
          Found.Launches[Launch].MayBe.push_back(Found.Kernels[Index].Symbol);
  }

private:
  using Base = RecursiveASTVisitor<LaunchVisitor>;

  template <typename Body> bool within(const FunctionDecl *D, Body Traverse) {
    const FunctionDecl *Outer = std::exchange(Function, D);
    bool Result = Traverse();
    Function = Outer;
    return Result;
  }

  std::pair<std::string, unsigned> placeOf(SourceLocation Loc) const {
    const SourceManager &SM = Ctx.getSourceManager();
    PresumedLoc At = SM.getPresumedLoc(SM.getExpansionLoc(Loc));
    return At.isValid() ? std::pair<std::string, unsigned>(At.getFilename(),
                                                           At.getLine())
                        : std::pair<std::string, unsigned>("", 0);
  }

  std::string nameOf(const FunctionDecl *D) {
    std::string Name;
    raw_string_ostream OS(Name);
    GlobalDecl G(D);
    if (auto *C = dyn_cast<CXXConstructorDecl>(D))
      G = GlobalDecl(C, Ctor_Base);
    else if (auto *X = dyn_cast<CXXDestructorDecl>(D))
      G = GlobalDecl(X, Dtor_Base);
    else if (D->hasAttr<CUDAGlobalAttr>())
      G = GlobalDecl(D, KernelReferenceKind::Kernel);
    if (Names->shouldMangleDeclName(D))
      Names->mangleName(G, OS);
    else
      OS << D->getName();
    return Name;
  }

  /// The kernel that \p E names, if it does.
  const FunctionDecl *kernelOf(const clang::Expr *E) {
    for (;;) {
      E = E->IgnoreParenCasts();
      auto *U = dyn_cast<clang::UnaryOperator>(E);
      if (!U || U->getOpcode() != UO_AddrOf)
        break;
      E = U->getSubExpr();
    }
    auto *Ref = dyn_cast<DeclRefExpr>(E);
    auto *F = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
    return F && F->hasAttr<CUDAGlobalAttr>() ? F : nullptr;
  }

  void add(const CallExpr *E, StringRef Form, const clang::Expr *Kernel) {
    // Only the device runs it.
    if (Function->hasAttr<CUDAGlobalAttr>() ||
        (Function->hasAttr<CUDADeviceAttr>() &&
         !Function->hasAttr<CUDAHostAttr>()))
      return;
    HostLaunch L;
    std::tie(L.File, L.Line) = placeOf(E->getExprLoc());
    L.Form = Form.str();
    L.Function = nameOf(Function);
    if (const FunctionDecl *K = Kernel ? kernelOf(Kernel) : nullptr)
      L.Kernel = nameOf(K);
    L.Dead = NeverTaken ||
             (!Function->isUsed(false) && !Ctx.DeclMustBeEmitted(Function));
    QualType Pointee =
        Kernel ? Kernel->getType()->getPointeeType() : QualType();
    if (L.Kernel.empty() && !Pointee.isNull() && Pointee->isFunctionType())
      Pointers.push_back({Found.Launches.size(), Pointee});
    Found.Launches.push_back(std::move(L));
  }

  ASTContext &Ctx;
  std::unique_ptr<MangleContext> Names;
  HostLaunches &Found;
  /// In the order of Found.Kernels.
  std::vector<const FunctionDecl *> Kernels;
  /// Launches through pointers, and what these point to.
  std::vector<std::pair<size_t, QualType>> Pointers;
  const FunctionDecl *Function = nullptr;
  bool NeverTaken = false;
};

class Consumer : public ASTConsumer {
public:
  explicit Consumer(HostLaunches &Found) : Found(Found) {}
  void HandleTranslationUnit(ASTContext &Ctx) override {
    LaunchVisitor V(Ctx, Found);
    V.TraverseDecl(Ctx.getTranslationUnitDecl());
    V.matchPointers();
  }

private:
  HostLaunches &Found;
};

class Action : public ASTFrontendAction {
public:
  explicit Action(HostLaunches &Found) : Found(Found) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &,
                                                 StringRef) override {
    return std::make_unique<Consumer>(Found);
  }

private:
  HostLaunches &Found;
};
} // namespace

Expected<HostLaunches> hostLaunches(StringRef File,
                                    ArrayRef<std::string> Flags) {
  Expected<std::shared_ptr<CompilerInvocation>> Invocation =
      cudaInvocation(File, Flags, {"--cuda-host-only", "-fsyntax-only"});
  if (!Invocation)
    return Invocation.takeError();
  HostLaunches Found;
  Action A(Found);
  if (Error E = runAction(std::move(*Invocation), A))
    return usageError("'" + File + "' does not parse:\n" +
                      toString(std::move(E)));
  return Found;
}

} // namespace cupilot
