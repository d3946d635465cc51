//===- SliceWriter.cpp - Text of a slice -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceWriter.h"
#include "Lambdas.h"
#include "SliceText.h"
#include "cupilot/Frontend/KernelInfo.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace clang;

namespace cupilot {

namespace {
using ContextChain = std::vector<const Decl *>;

/// A part of the slice, at the place where it stood in the unit.
struct Chunk {
  SourceLocation At;
  std::string Text;
  bool IsDirective = false; ///< Stands at global scope, on lines of its own.
  ContextChain Context = {};
  size_t Order = 0;
};

std::string openingOf(const Decl *D) {
  if (const auto *Namespace = dyn_cast<NamespaceDecl>(D)) {
    std::string Name = Namespace->getNameAsString();
    return (Namespace->isInline() ? "inline namespace" : "namespace") +
           (Name.empty() ? "" : " " + Name) + " {";
  }
  return cast<LinkageSpecDecl>(D)->getLanguage() == LinkageSpecLanguageIDs::C
             ? "extern \"C\" {"
             : "extern \"C++\" {";
}

/// Whether clang knew the size of what the reference type \p T names, an
/// instance of a class template, when it came to the end of \p F.
bool isKnownAt(QualType T, const FunctionDecl *F, const SourceManager &SM) {
  const auto *Record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      T->isReferenceType() ? T.getNonReferenceType()->getAsCXXRecordDecl()
                           : nullptr);
  return Record && Record->isCompleteDefinition() &&
         Record->getPointOfInstantiation().isValid() &&
         SM.isBeforeInTranslationUnit(Record->getPointOfInstantiation(),
                                      F->getEndLoc());
}

/// What stands before the function \p D so that clang knows of the types behind
/// its references what it knew in the unit, where other code may have asked
/// first: their size and alignment are in the code. Functions that are not
/// inline are emitted where they stand.
std::string knownTypes(const Decl *D, const SourceManager &SM) {
  const auto *F = dyn_cast<FunctionDecl>(D);
  if (!F || !F->doesThisDeclarationHaveABody() || F->isDependentContext() ||
      F->isInlined() || !F->isExternallyVisible())
    return "";
  std::vector<QualType> Types = {F->getReturnType()};
  for (const ParmVarDecl *P : F->parameters())
    Types.push_back(P->getType());
  std::string Text;
  for (QualType T : Types)
    if (isKnownAt(T, F, SM))
      Text += "static_assert(sizeof(" +
              T.getNonReferenceType()
                  .getCanonicalType()
                  .getUnqualifiedType()
                  .getAsString(codePolicy(F->getASTContext())) +
              ") > 0, \"\");\n";
  return Text;
}

class SliceWriter {
public:
  SliceWriter(const ParsedUnit &Unit, const PieceTable &Pieces, Closure &C)
      : Unit(Unit), SM(Unit.SM), Pieces(Pieces), C(C) {}

  llvm::Error addPieces(const FunctionDecl *Kernel) {
    const FunctionDecl *Pattern = Kernel->getTemplateInstantiationPattern();
    int Own = Pieces.indexOf(Pattern ? Pattern : Kernel->getDefinition());
    for (unsigned I : C.pieces()) {
      const Piece &P = Pieces.pieces()[I];
      llvm::Expected<PieceText> Text =
          textOf(P, Unit, C, Pieces, static_cast<int>(I) == Own);
      if (!Text)
        return Text.takeError();
      llvm::append_range(Copied, Text->Copied);
      if (llvm::any_of(P.Decls, [&](const Decl *D) {
            return llvm::is_contained(C.sharedVariables(),
                                      D->getCanonicalDecl());
          }))
        // Other code of the unit may write it: it must not be folded.
        Text->Text.insert(0, StringRef(Text->Text).starts_with("[[")
                                 ? "[[gnu::used]] "
                                 : "__attribute__((used)) ");
      for (const Decl *D : P.Decls)
        Text->Text.insert(0, knownTypes(D, SM));
      Chunks.push_back(
          {Pieces.locationOf(P), std::move(Text->Text), false, P.Context});
    }
    if (AfterLambdas && !AfterLambdas->Text.empty())
      Chunks.push_back(*AfterLambdas);
    return llvm::Error::success();
  }

  llvm::Error addLambdas(const KernelLambdas &L, const FunctionDecl *Kernel) {
    if (L.empty())
      return llvm::Error::success();
    HasLambdas = true;
    auto CopyOf = [&](TokenRange Range) -> llvm::Expected<std::string> {
      Piece Part;
      Part.Range = Range;
      llvm::Expected<PieceText> Text =
          textOf(Part, Unit, C, Pieces, /*Expand=*/false);
      if (!Text)
        return Text.takeError();
      llvm::append_range(Copied, Text->Copied);
      return std::move(Text->Text);
    };
    const FunctionDecl *Member = C.lambdaMember();
    llvm::Expected<LambdaText> Text =
        lambdaText(L, Unit, Pieces, Kernel, Member != nullptr, CopyOf);
    if (!Text)
      return Text.takeError();
    C.setLambdaBody(std::move(Text->Body));
    const Piece &Around = Pieces.pieces()[Pieces.indexOf(L.Text)],
                &First =
                    Member ? Pieces.pieces()[Pieces.indexOf(Member)] : Around;
    // The class, of the same place, comes between the two.
    Chunks.insert(Chunks.begin(),
                  {Pieces.locationOf(First), std::move(Text->Before), false,
                   First.Context});
    AfterLambdas = {Pieces.locationOf(Around), std::move(Text->After), false,
                    Around.Context};
    return llvm::Error::success();
  }

  void addMacrosAndIncludes() {
    Includes = C.includes();
    std::set<const MacroInfo *> Done;
    for (const MacroUse &Use : Unit.Log.Uses)
      if (isCopied(Use.At))
        needMacro(Use, Done);
    // The user's macros decide what system headers declare.
    for (const MacroUse &Use : Unit.Log.Uses) {
      if (Unit.isUser(Use.At) || !isUsers(Use.Info->getDefinitionLoc()))
        continue;
      const IncludeDirective *Through = Unit.includeOf(Use.At);
      if (Through && Includes.count(Through))
        needMacro(Use, Done);
    }
    std::set<std::string> Names;
    for (const IncludeDirective *Include : Includes)
      if (Names.insert(Include->Name).second)
        Chunks.push_back(
            {Include->Hash, "#include <" + Include->Name + ">", true});
  }

  void addDirectives() {
    for (const PragmaUse *Use : pragmaUsesAround(Unit, Pieces, C))
      Chunks.push_back({Use->At, pragmaText(Unit, Use->At), true});
    for (const DirectivePiece &D : Pieces.directives()) {
      const NamespaceDecl *Named = D.D->getNominatedNamespace();
      if (!C.isNeeded(Named))
        continue;
      needNamespace(Named, SM.getExpansionLoc(D.D->getBeginLoc()));
      Chunks.push_back(
          {SM.getExpansionLoc(D.D->getBeginLoc()),
           "using namespace " + Named->getQualifiedNameAsString() + ";", false,
           D.Context});
    }
    for (const NamespaceDecl *Named : C.namedNamespaces())
      needNamespace(Named);
  }

  std::string finish(const FunctionDecl *Kernel) {
    for (size_t I = 0; I < Chunks.size(); ++I)
      Chunks[I].Order = I;
    llvm::sort(Chunks, [&](const Chunk &A, const Chunk &B) {
      return A.At == B.At ? A.Order < B.Order
                          : SM.isBeforeInTranslationUnit(A.At, B.At);
    });
    std::string Text;
    ContextChain Open;
    bool AfterDirective = false;
    for (const Chunk &Next : Chunks) {
      enter(Next.IsDirective ? ContextChain() : Next.Context, Open, Text);
      if (!Text.empty() && !(AfterDirective && Next.IsDirective))
        Text += "\n";
      Text += Next.Text + "\n";
      AfterDirective = Next.IsDirective;
    }
    unsigned Counter = 0;
    for (const VarDecl *V : C.hostVariables()) {
      // The host of the unit writes it: without that use it would be folded.
      enter(contextOf(V), Open, Text);
      Text += "\n[[maybe_unused]] static const void *const cupilotHostUse" +
              std::to_string(Counter++) + " = (const void *)&" +
              nameInContext(V) + ";\n";
    }
    // The function around a lambda names the kernel's instance.
    std::string Instantiation = HasLambdas ? "" : instantiationOf(Kernel);
    if (!Instantiation.empty()) {
      enter(contextOf(Kernel), Open, Text);
      Text += "\n" + Instantiation + "\n";
    }
    enter({}, Open, Text);
    return Text;
  }

private:
  bool isUsers(SourceLocation Loc) const {
    return Unit.isUser(Loc) || Unit.isCommandLine(Loc);
  }

  bool isCopied(SourceLocation Loc) const {
    auto [File, Offset] = SM.getDecomposedLoc(SM.getExpansionLoc(Loc));
    return llvm::any_of(Copied, [&](const FileInterval &I) {
      return I.File == File && I.Begin <= Offset && Offset < I.End;
    });
  }

  void needMacro(const MacroUse &Use, std::set<const MacroInfo *> &Done) {
    const MacroInfo *Info = Use.Info;
    if (Info->isBuiltinMacro() || !Done.insert(Info).second)
      return;
    SourceLocation At = Info->getDefinitionLoc();
    if (!isUsers(At)) {
      if (const IncludeDirective *Include = Unit.includeOf(At))
        Includes.insert(Include);
      return;
    }
    if (!isCopied(At))
      Chunks.push_back({At, "#define " + definitionOf(*Info), true});
    auto Known = Unit.Log.MacroIndex.find(Info);
    if (Known == Unit.Log.MacroIndex.end())
      return;
    SourceLocation Undef = Unit.Log.Macros[Known->second].Undef;
    if (Undef.isValid() && !isCopied(Undef))
      Chunks.push_back({Undef, "#undef " + Use.Name, true});
  }

  /// From the name to the end of the replacement, as written.
  std::string definitionOf(const MacroInfo &Info) const {
    SourceLocation Begin = Info.getDefinitionLoc();
    SourceLocation End = Lexer::getLocForEndOfToken(
        Info.getDefinitionEndLoc(), 0, SM, Unit.Ctx.getLangOpts());
    unsigned From = SM.getFileOffset(Begin), To = SM.getFileOffset(End);
    return SM.getBufferData(SM.getFileID(Begin)).slice(From, To).str();
  }

  ContextChain contextOf(const Decl *D) const {
    ContextChain Chain;
    for (const DeclContext *DC = D->getDeclContext(); DC; DC = DC->getParent())
      if (const auto *Namespace = dyn_cast<NamespaceDecl>(DC))
        Chain.insert(Chain.begin(), Namespace);
    return Chain;
  }

  static bool sameContext(const Decl *A, const Decl *B) {
    if (isa<NamespaceDecl>(A) && isa<NamespaceDecl>(B))
      return A->getCanonicalDecl() == B->getCanonicalDecl();
    return isa<LinkageSpecDecl>(A) && isa<LinkageSpecDecl>(B) &&
           openingOf(A) == openingOf(B);
  }

  static void enter(const ContextChain &Wanted, ContextChain &Open,
                    std::string &Text) {
    size_t Common = 0;
    while (Common < Wanted.size() && Common < Open.size() &&
           sameContext(Wanted[Common], Open[Common]))
      ++Common;
    if (Open.size() > Common)
      Text += "\n";
    while (Open.size() > Common) {
      Text += "}\n";
      Open.pop_back();
    }
    if (Wanted.size() > Common && !Text.empty())
      Text += "\n";
    for (size_t I = Common; I < Wanted.size(); ++I) {
      Text += openingOf(Wanted[I]) + "\n";
      Open.push_back(Wanted[I]);
    }
  }

  /// A namespace that is named (\p At a place) must exist, also when nothing in
  /// it is needed or its first needed part comes later.
  void needNamespace(const NamespaceDecl *Named,
                     SourceLocation At = SourceLocation()) {
    const NamespaceDecl *First = Named->getCanonicalDecl();
    if (!Unit.isUser(First->getLocation()) || !Announced.insert(First).second)
      return;
    for (unsigned I : C.pieces())
      for (const Decl *D : Pieces.pieces()[I].Context)
        if (sameContext(D, First) &&
            (At.isInvalid() || SM.isBeforeInTranslationUnit(
                                   Pieces.locationOf(Pieces.pieces()[I]), At)))
          return;
    ContextChain Chain = contextOf(First);
    Chain.push_back(First);
    Chunks.push_back(
        {SM.getExpansionLoc(First->getBeginLoc()), "", false, Chain});
  }

  std::string nameInContext(const VarDecl *V) const {
    if (const auto *R = dyn_cast<CXXRecordDecl>(V->getDeclContext()))
      return R->getNameAsString() + "::" + V->getNameAsString();
    return V->getNameAsString();
  }

  const ParsedUnit &Unit;
  const SourceManager &SM;
  const PieceTable &Pieces;
  Closure &C;
  bool HasLambdas = false;
  std::optional<Chunk> AfterLambdas;
  std::vector<Chunk> Chunks;
  std::vector<FileInterval> Copied;
  std::set<const IncludeDirective *> Includes;
  std::set<const NamespaceDecl *> Announced;
};
} // namespace

llvm::Expected<std::string> writeSlice(const ParsedUnit &Unit,
                                       const PieceTable &Pieces, Closure &C,
                                       const FunctionDecl *Kernel,
                                       const KernelLambdas &Lambdas) {
  SliceWriter Writer(Unit, Pieces, C);
  if (llvm::Error E = Writer.addLambdas(Lambdas, Kernel))
    return std::move(E);
  if (llvm::Error E = Writer.addPieces(Kernel))
    return std::move(E);
  Writer.addMacrosAndIncludes();
  Writer.addDirectives();
  return Writer.finish(Kernel);
}

} // namespace cupilot
