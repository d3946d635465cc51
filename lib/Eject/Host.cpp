//===- Host.cpp - Kernels as host code names them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include "cupilot/Frontend/KernelInfo.h"
#include "cupilot/Frontend/ParsedUnit.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace clang;

namespace cupilot {

std::string ejectType(const ScalarRef &S) {
  std::string Type = S.Bits == 8    ? "char"
                     : S.Bits == 16 ? "short"
                     : S.Bits == 32 ? "int"
                                    : "long long";
  return (S.Signed ? "signed " : "unsigned ") + Type;
}

static PrintingPolicy writtenPolicy(const ParsedUnit &Unit) {
  PrintingPolicy Policy(Unit.Ctx.getPrintingPolicy());
  Policy.SuppressUnwrittenScope = true;
  Policy.SuppressTagKeyword = true;
  Policy.Bool = true;
  return Policy;
}

llvm::Error checkKernel(const ParsedUnit &Unit, const FunctionDecl *F) {
  if (F->getTemplateSpecializationKind() == TSK_ExplicitSpecialization)
    return findingError(
        "it is a specialisation of a template; make it an overload");
  if (F->isVariadic())
    return findingError("it takes any arguments");
  for (const DeclContext *DC = F->getDeclContext(); DC; DC = DC->getParent()) {
    if (isa<FunctionDecl>(DC))
      return findingError(
          "it is a member of a class inside of a function; move it out");
    const auto *R = dyn_cast<CXXRecordDecl>(DC);
    if (!R)
      continue;
    if (isa<ClassTemplateSpecializationDecl>(R) ||
        R->getTemplateInstantiationPattern())
      return findingError(
          "it is a member of a class template; make it a function template "
          "beside the class");
    if (R->getAccess() != AS_none && R->getAccess() != AS_public)
      return findingError("its class is private; make it public");
  }
  if (F->getAccess() != AS_none && F->getAccess() != AS_public)
    return findingError("it is a private member; make it public");
  if (unspeakableArgument(Unit, F, /*Lambdas=*/true))
    return findingError(
        "its template argument has no name that other code can write; use a "
        "named type at namespace level");
  return llvm::Error::success();
}

/// The default argument of \p P as the source has it.
static std::string defaultOf(const ParsedUnit &Unit, const ParmVarDecl *P) {
  if (!P->hasDefaultArg())
    return "";
  CharSourceRange R = CharSourceRange::getTokenRange(P->getDefaultArgRange());
  const LangOptions &Lang = Unit.Ctx.getLangOpts();
  CharSourceRange InFile = Lexer::makeFileCharRange(R, Unit.SM, Lang);
  if (InFile.isInvalid()) // Of a macro: its call.
    InFile = Unit.SM.getExpansionRange(R);
  return Lexer::getSourceText(InFile, Unit.SM, Lang).str();
}

static EjectParams paramsOf(const ParsedUnit &Unit, const FunctionDecl *F) {
  EjectParams Params;
  PrintingPolicy Policy = writtenPolicy(Unit);
  // The launch's own names must not hide the arguments, nor they those.
  std::set<std::string> Taken = {
      "grid",       "block",     "shared",  "stream",    "device",
      "known",      "bytes",     "scratch", "config",    "args",
      "map",        "cluster",   "first",   "fieldAt",   "isZero",
      "modulo",     "gridX",     "gridY",   "gridZ",     "blockX",
      "blockY",     "blockZ",    "Checked", "isAtLeast", "floorDivide",
      "ceilDivide", "isBetween", "isApart", "Bytes",     "numberKey"};
  for (const ParmVarDecl *P : F->parameters()) {
    std::string Name = P->getNameAsString();
    while (Name.empty() || !Taken.insert(Name).second)
      Name = (Name.empty() ? "argument" : Name) +
             std::to_string(Params.Names.size());
    std::string Decl, Type;
    llvm::raw_string_ostream OS(Decl), TypeOS(Type);
    P->getOriginalType().print(OS, Policy, Name);
    P->getType().getUnqualifiedType().print(TypeOS, Policy);
    Params.Names.push_back(Name);
    Params.Types.push_back(Type);
    Params.Decls.push_back(Decl);
    Params.Arguments.push_back(Name + (P->isParameterPack() ? "..." : ""));
    Params.Defaults.push_back(defaultOf(Unit, P));
  }
  return Params;
}

namespace {
/// Spells what lies at an offset of a parameter.
class FieldNamer {
public:
  explicit FieldNamer(const ASTContext &Ctx) : Ctx(Ctx) {}

  /// "w.size.x" for the integer or pointer at \p Offset of \p T, which is
  /// called \p Name; "" when it has no name, or not for everybody.
  std::string name(QualType T, uint64_t Offset, const std::string &Name) const {
    T = T.getCanonicalType();
    if (const ConstantArrayType *Array = Ctx.getAsConstantArrayType(T)) {
      uint64_t Size =
          Ctx.getTypeSizeInChars(Array->getElementType()).getQuantity();
      return Size == 0 ? ""
                       : name(Array->getElementType(), Offset % Size,
                              Name + "[" + std::to_string(Offset / Size) + "]");
    }
    if (const auto *R = T->getAsCXXRecordDecl())
      return R->getDefinition() ? inRecord(R->getDefinition(), Offset, Name)
                                : "";
    return Offset == 0 ? Name : "";
  }

private:
  std::string inRecord(const CXXRecordDecl *R, uint64_t Offset,
                       const std::string &Name) const {
    if (R->isUnion())
      return "";
    const ASTRecordLayout &Layout = Ctx.getASTRecordLayout(R);
    auto Holds = [&](uint64_t Begin, QualType T) {
      uint64_t Size = Ctx.getTypeSizeInChars(T).getQuantity();
      return Begin <= Offset && Offset < Begin + Size;
    };
    for (const FieldDecl *Field : R->fields()) {
      uint64_t Begin = Layout.getFieldOffset(Field->getFieldIndex()) / 8;
      if (Field->isBitField() || !Holds(Begin, Field->getType()))
        continue;
      if (Field->getAccess() != AS_public || Field->isUnnamedBitField())
        return "";
      return name(Field->getType(), Offset - Begin,
                  Field->isAnonymousStructOrUnion()
                      ? Name
                      : Name + "." + Field->getNameAsString());
    }
    for (const CXXBaseSpecifier &Base : R->bases()) {
      const CXXRecordDecl *B = Base.getType()->getAsCXXRecordDecl();
      if (!B || Base.isVirtual() || B->isEmpty())
        continue;
      uint64_t Begin = Layout.getBaseClassOffset(B).getQuantity();
      if (Holds(Begin, Base.getType()))
        return Base.getAccessSpecifier() == AS_public
                   ? inRecord(B->getDefinition(), Offset - Begin, Name)
                   : "";
    }
    return "";
  }
  const ASTContext &Ctx;
};
} // namespace

EjectGroup ejectGroup(const ParsedUnit &Unit, const FunctionDecl *F) {
  EjectGroup G;
  G.Pattern = F;
  if (const FunctionDecl *Pattern = F->getTemplateInstantiationPattern())
    G.Pattern = Pattern->getDefinition() ? Pattern->getDefinition() : Pattern;
  G.IsMember = isa<CXXMethodDecl>(F);
  G.Stem = G.Callee = F->getNameAsString();
  for (const DeclContext *DC = F->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *R = dyn_cast<CXXRecordDecl>(DC)) {
      G.Callee = R->getNameAsString() + "::" + G.Callee;
      G.Stem = R->getNameAsString() + "_" + G.Stem;
    } else if (const auto *N = dyn_cast<NamespaceDecl>(DC);
               N && !N->isAnonymousNamespace() && !N->isInline()) {
      G.Scope = N->getNameAsString() + "::" + G.Scope;
    }
  G.Params = paramsOf(Unit, G.Pattern);
  const FunctionTemplateDecl *T = G.Pattern->getDescribedFunctionTemplate();
  if (!T)
    return G;
  llvm::raw_string_ostream OS(G.Template);
  T->getTemplateParameters()->print(OS, Unit.Ctx, writtenPolicy(Unit),
                                    /*OmitTemplateKW=*/false);
  std::vector<std::string> Args;
  for (const NamedDecl *P : *T->getTemplateParameters())
    Args.push_back(P->getNameAsString() + (P->isParameterPack() ? "..." : ""));
  G.OwnArgs = "<" + llvm::join(Args, ", ") + ">";
  while (llvm::StringRef(G.Template).ends_with(" "))
    G.Template.pop_back();
  return G;
}

EjectHost ejectHost(const ParsedUnit &Unit, const FunctionDecl *F,
                    const EjectKernel &Kernel, const EjectGroup &Group) {
  EjectHost H;
  H.Of = &Kernel;
  H.Args = templateArgumentsOf(F);
  H.Original = Group.Callee + H.Args;
  H.Params = paramsOf(Unit, F);
  FieldNamer Namer(Unit.Ctx);
  auto Spell = [&](unsigned Param, unsigned Offset, const std::string &Type) {
    std::string Text = Namer.name(F->getParamDecl(Param)->getType(), Offset,
                                  H.Params.Names[Param]);
    if (!Text.empty())
      return Text;
    H.ReadsBytes = true;
    return "fieldAt<" + Type + ">(" + H.Params.Names[Param] + ", " +
           std::to_string(Offset) + ")";
  };
  for (const ScalarRef &S : Kernel.K.Scalars)
    H.Scalars.push_back(Spell(S.Param, S.Offset, ejectType(S)));
  for (const PointerRef &P : Kernel.K.Pointers)
    H.Pointers.push_back(Spell(P.Param, P.Offset, "unsigned long long"));
  for (const EjectVariant &V : Kernel.Variants)
    for (const DomainBox &Box :
         V.Where ? V.Where->Boxes : std::vector<DomainBox>())
      for (const FloatClause &C : Box.Floats)
        if (C.Number.Param < F->getNumParams() &&
            llvm::none_of(
                H.Floats,
                [&](const auto &Known) { return Known.first == C.Number; }))
          H.Floats.emplace_back(C.Number,
                                Spell(C.Number.Param, C.Number.Offset,
                                      C.Number.bits() == 64   ? "long long"
                                      : C.Number.bits() == 32 ? "int"
                                                              : "short"));
  return H;
}

} // namespace cupilot
