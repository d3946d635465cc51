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
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringExtras.h"

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
      : SM(CI.getSourceManager()), LO(CI.getLangOpts()), Findings(Findings) {}

  void InclusionDirective(SourceLocation Hash, const Token &, StringRef Name,
                          bool, CharSourceRange Written,
                          OptionalFileEntryRef File, StringRef, StringRef,
                          const clang::Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    if (!own(Hash)) {
      // An allowed header may include what a macro names: not one of ours.
      SourceLocation Begin = Written.getBegin();
      if (Begin.isMacroID() && spelledHere(Begin))
        add("include", Begin,
            "a macro that makes a header include '" + Name.str() + "'");
      return;
    }
    if (!isAllowedHeader(Name))
      add("include", Hash,
          "#include of '" + Name.str() +
              "', which is not on the list of headers for device code");
    else if (OptionalFileEntryRef Main =
                 SM.getFileEntryRefForID(SM.getMainFileID());
             File && Main && File->getDir() == Main->getDir())
      add("include", Hash,
          "#include of '" + Name.str() +
              "' finds a file beside the variant, not the system's header");
  }
  void HasInclude(SourceLocation Loc, StringRef Name, bool,
                  OptionalFileEntryRef, SrcMgr::CharacteristicKind) override {
    if (own(Loc))
      add("environment", Loc,
          "__has_include of '" + Name.str() +
              "' makes the code depend on where it is compiled");
  }
  void HasEmbed(SourceLocation Loc, StringRef Name, bool,
                OptionalFileEntryRef) override {
    if (own(Loc))
      add("embed", Loc, "__has_embed of '" + Name.str() + "'");
  }
  void Ident(SourceLocation Loc, StringRef) override {
    if (own(Loc))
      add("pragma", Loc, "#ident puts text into the object");
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
    std::string Name = pragmaName(SM.getSpellingLoc(Loc));
    if (Name != "unroll" && Name != "nounroll")
      add("pragma", Loc,
          "a pragma other than '#pragma unroll'" +
              (Name.empty() ? "" : ": '" + Name + "'"));
  }
  void MacroExpands(const Token &Name, const MacroDefinition &,
                    SourceRange Range, const MacroArgs *) override {
    StringRef Text = Name.getIdentifierInfo()->getName();
    // The assert of the system's header may name its file.
    if (own(Range.getBegin()) && spelledHere(Name.getLocation()) &&
        (Text == "__DATE__" || Text == "__TIME__" || Text == "__FILE__" ||
         Text == "__FILE_NAME__" || Text == "__BASE_FILE__" ||
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
  /// True when the text at \p Loc comes from the variant itself, or is made by
  /// pasting, which could join anything.
  bool spelledHere(SourceLocation Loc) const {
    SourceLocation Spelling = SM.getSpellingLoc(Loc);
    return SM.getFileID(Spelling) == SM.getMainFileID() ||
           SM.isWrittenInScratchSpace(Spelling);
  }
  /// The first word behind "#pragma" or in _Pragma's string; lexed, since line
  /// splices, comments and digraphs may stand in between.
  std::string pragmaName(SourceLocation Loc) const {
    auto [File, Offset] = SM.getDecomposedLoc(Loc);
    StringRef Buffer = SM.getBufferData(File);
    Lexer Raw(SM.getLocForStartOfFile(File), LO, Buffer.begin(),
              Buffer.begin() + Offset, Buffer.end());
    Token T;
    auto Next = [&] {
      Raw.LexFromRawLexer(T);
      return Lexer::getSpelling(T, SM, LO);
    };
    std::string Text = Next();
    if (T.is(tok::hash))
      return Next() == "pragma" ? Next() : "";
    if (Text != "_Pragma" || Next() != "(")
      return "";
    Text = Next();
    if (T.isNot(tok::string_literal) || !StringRef(Text).starts_with("\""))
      return "";
    return StringRef(Text)
        .drop_front()
        .ltrim()
        .take_while([](char C) { return llvm::isAlnum(C) || C == '_'; })
        .str();
  }
  SourceManager &SM;
  const LangOptions &LO;
  std::vector<AdmissionFinding> &Findings;
};

/// What of inline assembly reaches out of its function: directives other than
/// .reg, and braces that close the function. "" when nothing does.
static std::string escape(StringRef Assembly) {
  int Depth = 0;
  bool Start = true; // Of a statement.
  for (size_t I = 0; I < Assembly.size(); ++I) {
    StringRef Rest = Assembly.substr(I);
    if (Rest.starts_with("//") || Rest.starts_with("/*")) {
      size_t End = Rest[1] == '/' ? Rest.find('\n') : Rest.find("*/", 2);
      if (End == StringRef::npos)
        return "a comment without an end";
      I += End + (Rest[1] == '*');
      continue;
    }
    char C = Rest.front();
    if (llvm::isSpace(C))
      continue;
    if (C == '"')
      return "a string";
    if (Start && C == '.') {
      StringRef Word = Rest.take_until(
          [](char C) { return llvm::isSpace(C) || C == ';' || C == '{'; });
      if (Word != ".reg")
        return "the directive '" + Word.str() + "'";
    }
    Depth += C == '{';
    Depth -= C == '}';
    if (Depth < 0)
      return "a brace that closes the function";
    Start = C == '{' || C == '}' || C == ';' || C == ':';
  }
  return Depth == 0 ? "" : "a brace without an end";
}

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
    if (HostOnly || (!Device && !Member && !F->isDeleted() &&
                     F->isThisDeclarationADefinition()))
      R.add("host-function", F->getLocation(),
            "'" + F->getNameAsString() +
                "' is a host function; a variant holds device code only");
    return true;
  }
  bool VisitVarDecl(VarDecl *V) {
    if (!R.own(V->getLocation()))
      return true;
    if (V->isStaticLocal() && !V->hasAttr<CUDASharedAttr>() &&
        !V->hasAttr<CUDAConstantAttr>() && !V->isConstexpr() &&
        !V->getType().isConstQualified())
      R.add("state", V->getLocation(),
            "'" + V->getNameAsString() +
                "' keeps its value from one launch to the next");
    if (!V->isFileVarDecl())
      return true;
    bool Device = V->hasAttr<CUDADeviceAttr>() ||
                  V->hasAttr<CUDAConstantAttr>() ||
                  V->hasAttr<CUDASharedAttr>();
    if (!Device && !V->isConstexpr() && !V->getType().isConstQualified())
      R.add("host-variable", V->getLocation(),
            "'" + V->getNameAsString() + "' is a variable of the host");
    const Expr *Init = V->getInit();
    bool Destroyed = !V->getType()->isDependentType() &&
                     V->needsDestruction(Context) != QualType::DK_none;
    if (!Device && Init && !Init->isValueDependent() &&
        (Destroyed || !Init->isConstantInitializer(Context, false)))
      R.add("dynamic-init", V->getLocation(),
            "'" + V->getNameAsString() +
                "' is initialised by code that runs before main, or destroyed "
                "by code that runs after it");
    return true;
  }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *A) {
    if (R.own(A->getAsmLoc()))
      R.add("file-asm", A->getAsmLoc(), "assembly outside of a function");
    return true;
  }

  bool VisitGCCAsmStmt(GCCAsmStmt *A) {
    // Of templates too: the text does not depend on their arguments.
    if (auto *Text = dyn_cast<StringLiteral>(A->getAsmStringExpr())) {
      if (std::string Why = escape(Text->getString()); !Why.empty())
        R.add("asm", A->getAsmLoc(), "inline assembly with " + Why);
    } else {
      R.add("asm", A->getAsmLoc(), "inline assembly that is no plain string");
    }
    return true;
  }
  bool VisitMSAsmStmt(MSAsmStmt *A) {
    R.add("asm", A->getAsmLoc(), "assembly for the host");
    return true;
  }
  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *E) {
    R.add("launch", E->getBeginLoc(), "a kernel that launches kernels");
    return true;
  }
  bool VisitSourceLocExpr(SourceLocExpr *E) {
    if (E->getIdentKind() == SourceLocIdentKind::File ||
        E->getIdentKind() == SourceLocIdentKind::FileName ||
        E->getIdentKind() == SourceLocIdentKind::SourceLocStruct)
      R.add("environment", E->getLocation(),
            E->getBuiltinStr().str() +
                " makes the code depend on where it is compiled");
    return true;
  }
  bool VisitDecl(Decl *D) {
    if (!R.own(D->getLocation()))
      return true;
    for (const Attr *A : D->attrs())
      if (isa<ConstructorAttr, DestructorAttr, AliasAttr, IFuncAttr,
              SectionAttr, UsedAttr, RetainAttr, WeakAttr, WeakRefAttr,
              WeakImportAttr, SelectAnyAttr, CommonAttr, AsmLabelAttr,
              AnnotateAttr, InitPriorityAttr, TargetAttr, NoConvergentAttr,
              DiagnoseAsBuiltinAttr, BuiltinAliasAttr>(A) &&
          !A->isImplicit())
        R.add("attribute", D->getLocation(),
              std::string("the attribute '") + A->getSpelling() +
                  "' reaches outside of the kernel");
    return true;
  }

private:
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
