//===- Admission.cpp - What a variant's text may hold -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Admission/Admission.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

/// Headers that device code may need; none of them defines host behaviour.
static bool isAllowedHeader(StringRef Name) {
  static const char *const Exact[] = {"cmath",
                                      "math.h",
                                      "cstdint",
                                      "stdint.h",
                                      "cfloat",
                                      "float.h",
                                      "climits",
                                      "limits.h",
                                      "cstddef",
                                      "stddef.h",
                                      "cassert",
                                      "assert.h",
                                      "cstdio",
                                      "stdio.h",
                                      "type_traits",
                                      "utility",
                                      "limits",
                                      "mma.h",
                                      "cuda.h",
                                      "cuda_runtime.h",
                                      "cuda_runtime_api.h",
                                      "device_launch_parameters.h",
                                      "cooperative_groups.h",
                                      "vector_types.h",
                                      "vector_functions.h",
                                      "math_constants.h"};
  for (StringRef Each : Exact)
    if (Name == Each)
      return true;
  for (StringRef Prefix :
       {"cuda_fp", "cuda_bf16", "cuda_pipeline", "cuda_awbarrier",
        "cooperative_groups/", "cuda/", "cub/"})
    if (Name.starts_with(Prefix))
      return !Name.contains("..");
  return false;
}

namespace {
class Rules : public PPCallbacks {
public:
  Rules(CompilerInstance &CI, std::vector<AdmissionFinding> &Findings)
      : SM(CI.getSourceManager()), Findings(Findings) {}

  void InclusionDirective(SourceLocation Hash, const Token &, StringRef Name,
                          bool, CharSourceRange, OptionalFileEntryRef,
                          StringRef, StringRef, const clang::Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    if (own(Hash) && !isAllowedHeader(Name))
      add("include", Hash,
          "#include of '" + Name.str() +
              "', which is not on the list of headers for device code");
  }
  void EmbedDirective(SourceLocation Hash, StringRef Name, bool,
                      OptionalFileEntryRef,
                      const LexEmbedParametersResult &) override {
    if (own(Hash))
      add("embed", Hash, "#embed of '" + Name.str() + "'");
  }
  void PragmaDirective(SourceLocation Loc, PragmaIntroducerKind) override {
    if (!own(Loc))
      return;
    // The words behind "#pragma", as the text has them.
    StringRef Text(SM.getCharacterData(SM.getSpellingLoc(Loc)));
    Text = Text.take_until([](char C) { return C == '\n'; }).ltrim("# ");
    Text.consume_front("pragma");
    Text.consume_front("_Pragma(\"");
    Text = Text.ltrim();
    if (!Text.starts_with("unroll") && !Text.starts_with("nounroll"))
      add("pragma", Loc, "a pragma other than '#pragma unroll': " + Text.str());
  }
  void MacroExpands(const Token &Name, const MacroDefinition &,
                    SourceRange Range, const MacroArgs *) override {
    StringRef Text = Name.getIdentifierInfo()->getName();
    if (own(Range.getBegin()) &&
        (Text == "__DATE__" || Text == "__TIME__" || Text == "__FILE__" ||
         Text == "__TIMESTAMP__" || Text == "__COUNTER__"))
      add("environment", Range.getBegin(),
          Text.str() +
              " makes the code depend on where or when it is compiled");
  }

  bool own(SourceLocation Loc) const {
    return Loc.isValid() &&
           SM.getFileID(SM.getExpansionLoc(Loc)) == SM.getMainFileID();
  }
  void add(StringRef Rule, SourceLocation Loc, std::string Message) {
    Findings.push_back(
        {Rule.str(), SM.getExpansionLineNumber(Loc), std::move(Message)});
  }

private:
  SourceManager &SM;
  std::vector<AdmissionFinding> &Findings;
};

class DeclRules : public RecursiveASTVisitor<DeclRules> {
public:
  DeclRules(Rules &R, ASTContext &Context) : R(R), Context(Context) {}

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (!R.own(F->getLocation()) || F->isImplicit())
      return true;
    bool Device = F->hasAttr<CUDADeviceAttr>() ||
                  F->hasAttr<CUDAGlobalAttr>() || F->isConstexpr();
    bool Member = isa<CXXMethodDecl>(F) && !F->hasAttr<CUDAHostAttr>();
    bool HostOnly = F->hasAttr<CUDAHostAttr>() && !F->hasAttr<CUDADeviceAttr>();
    if (HostOnly || (!Device && !Member && F->isThisDeclarationADefinition()))
      R.add("host-function", F->getLocation(),
            "'" + F->getNameAsString() +
                "' is a host function; a variant holds device code only");
    attributes(F);
    return true;
  }
  bool VisitVarDecl(VarDecl *V) {
    if (!R.own(V->getLocation()) || !V->isFileVarDecl())
      return true;
    attributes(V);
    bool Device = V->hasAttr<CUDADeviceAttr>() ||
                  V->hasAttr<CUDAConstantAttr>() ||
                  V->hasAttr<CUDASharedAttr>();
    if (!Device && !V->isConstexpr() && !V->getType().isConstQualified())
      R.add("host-variable", V->getLocation(),
            "'" + V->getNameAsString() + "' is a variable of the host");
    const Expr *Init = V->getInit();
    if (!Device && Init && !Init->isValueDependent() &&
        !Init->isConstantInitializer(Context, false))
      R.add("dynamic-init", V->getLocation(),
            "'" + V->getNameAsString() +
                "' is initialised by code that runs before main");
    return true;
  }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *A) {
    if (R.own(A->getAsmLoc()))
      R.add("file-asm", A->getAsmLoc(), "assembly outside of a function");
    return true;
  }

private:
  void attributes(Decl *D) {
    for (const Attr *A : D->attrs())
      if (isa<ConstructorAttr, DestructorAttr, AliasAttr, IFuncAttr,
              SectionAttr, UsedAttr, WeakAttr>(A) &&
          !A->isImplicit())
        R.add("attribute", D->getLocation(),
              std::string("the attribute '") + A->getSpelling() +
                  "' reaches outside of the kernel");
  }
  Rules &R;
  ASTContext &Context;
};

class Consumer : public ASTConsumer {
public:
  explicit Consumer(Rules &R) : R(R) {}
  void HandleTranslationUnit(ASTContext &Context) override {
    DeclRules Visitor(R, Context);
    for (Decl *D : Context.getTranslationUnitDecl()->decls())
      if (R.own(D->getLocation()))
        Visitor.TraverseDecl(D);
  }

private:
  Rules &R;
};
} // namespace

std::unique_ptr<ASTConsumer>
createAdmissionConsumer(CompilerInstance &CI,
                        std::vector<AdmissionFinding> &Findings) {
  auto Owned = std::make_unique<Rules>(CI, Findings);
  Rules &R = *Owned;
  CI.getPreprocessor().addPPCallbacks(std::move(Owned));
  return std::make_unique<Consumer>(R);
}

} // namespace cupilot
