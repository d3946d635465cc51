//===- KernelInfo.cpp - Names and parameters of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Frontend/KernelInfo.h"
#include "cupilot/Frontend/ParsedUnit.h"
#include "cupilot/Model/Kernel.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace cupilot {

/// Arrays in by-value arguments are looked at up to this many elements.
static constexpr uint64_t MaxArrayElements = 64;

namespace {
class KernelFinder {
public:
  explicit KernelFinder(const ParsedUnit &Unit) : Unit(Unit) {}

  void look(const DeclContext *Context) {
    for (const Decl *D : Context->decls()) {
      if (const auto *F = dyn_cast<FunctionDecl>(D)) {
        add(F);
      } else if (const auto *FT = dyn_cast<FunctionTemplateDecl>(D)) {
        for (const FunctionDecl *Instance : FT->specializations())
          add(Instance);
      } else if (const auto *CT = dyn_cast<ClassTemplateDecl>(D)) {
        for (const ClassTemplateSpecializationDecl *R : CT->specializations())
          look(R);
      } else if (isa<NamespaceDecl, LinkageSpecDecl>(D) ||
                 (isa<CXXRecordDecl>(D) && !D->isImplicit())) {
        look(cast<DeclContext>(D));
      }
    }
  }

  std::vector<const FunctionDecl *> take() {
    // Instances of one template stay in the order of their instantiation.
    llvm::sort(Found, [&](const Entry &A, const Entry &B) {
      SourceLocation LA = A.F->getLocation(), LB = B.F->getLocation();
      return LA == LB ? A.Order < B.Order
                      : Unit.SM.isBeforeInTranslationUnit(LA, LB);
    });
    std::vector<const FunctionDecl *> Kernels;
    Kernels.reserve(Found.size());
    for (const Entry &E : Found)
      Kernels.push_back(E.F);
    return Kernels;
  }

private:
  void add(const FunctionDecl *F) {
    if (!F->hasAttr<CUDAGlobalAttr>() || F->isDependentContext())
      return;
    const FunctionDecl *Definition = F->getDefinition();
    if (!Definition || !Definition->hasBody() ||
        !Unit.isUser(Definition->getLocation()) ||
        !Seen.insert(Definition->getCanonicalDecl()).second)
      return;
    Found.push_back({Definition, Found.size()});
  }

  const ParsedUnit &Unit;
  llvm::SmallPtrSet<const Decl *, 16> Seen;
  struct Entry {
    const FunctionDecl *F;
    size_t Order;
  };
  std::vector<Entry> Found;
};

/// Finds integers and pointers in the bytes of a parameter.
class FieldFinder {
public:
  FieldFinder(const ParsedUnit &Unit, Kernel &K, unsigned Param)
      : Ctx(Unit.Ctx), K(K), Param(Param) {}

  void look(QualType T, uint64_t Offset) {
    T = T.getCanonicalType();
    if (T->isPointerType()) {
      K.Pointers.push_back({Param, static_cast<unsigned>(Offset)});
    } else if (T->isIntegralOrEnumerationType()) {
      uint64_t Bits = Ctx.getTypeSize(T);
      if (Bits <= 64)
        K.Scalars.push_back({Param, static_cast<unsigned>(Offset),
                             static_cast<unsigned>(Bits),
                             T->isSignedIntegerOrEnumerationType()});
    } else if (const ConstantArrayType *Array = Ctx.getAsConstantArrayType(T)) {
      uint64_t Size =
          Ctx.getTypeSizeInChars(Array->getElementType()).getQuantity();
      if (Array->getZExtSize() <= MaxArrayElements)
        for (uint64_t I = 0; I < Array->getZExtSize(); ++I)
          look(Array->getElementType(), Offset + I * Size);
    } else if (const auto *R = T->getAsCXXRecordDecl()) {
      lookInRecord(R->getDefinition(), Offset);
    }
  }

private:
  void lookInRecord(const CXXRecordDecl *R, uint64_t Offset) {
    // What a union holds is not known.
    if (!R || R->isUnion())
      return;
    const ASTRecordLayout &Layout = Ctx.getASTRecordLayout(R);
    for (const CXXBaseSpecifier &Base : R->bases())
      if (const CXXRecordDecl *B = Base.getType()->getAsCXXRecordDecl();
          B && !Base.isVirtual())
        lookInRecord(B->getDefinition(),
                     Offset + Layout.getBaseClassOffset(B).getQuantity());
    for (const FieldDecl *Field : R->fields())
      if (!Field->isBitField())
        look(Field->getType(),
             Offset + Layout.getFieldOffset(Field->getFieldIndex()) / 8);
  }

  ASTContext &Ctx;
  Kernel &K;
  unsigned Param;
};
} // namespace

std::vector<const FunctionDecl *> kernelsOf(const ParsedUnit &Unit) {
  KernelFinder Finder(Unit);
  Finder.look(Unit.Ctx.getTranslationUnitDecl());
  return Finder.take();
}

static PrintingPolicy namePolicy(const ASTContext &Ctx) {
  PrintingPolicy Policy = Ctx.getPrintingPolicy();
  Policy.AnonymousTagLocations = false;
  Policy.SuppressTagKeyword = true;
  Policy.Bool = true;
  return Policy;
}

/// "(lambda 2 of run<int>)": number and function.
static std::string lambdaName(const CXXRecordDecl *R,
                              const PrintingPolicy &Policy) {
  std::string Name = "(lambda";
  if (const auto *F = dyn_cast_or_null<FunctionDecl>(
          cast_or_null<Decl>(R->getParentFunctionOrMethod()))) {
    llvm::raw_string_ostream OS(Name);
    OS << " " << R->getLambdaManglingNumber() << " of ";
    PrintingPolicy Plain = Policy;
    Plain.AnonymousTagLocations = false;
    const auto *Operator = dyn_cast<CXXMethodDecl>(F);
    if (Operator && Operator->getParent()->isLambda())
      OS << lambdaName(Operator->getParent(), Policy);
    else
      F->getNameForDiagnostic(OS, Plain, /*Qualified=*/true);
  }
  return Name + ")";
}

/// "(lambda at FILE:LINE:COLUMN)" in \p Text is replaced by the number and the
/// function of the lambda: names hold no places.
static void nameLambdas(const ASTContext &Ctx, QualType T,
                        const PrintingPolicy &Policy, std::string &Text) {
  const CXXRecordDecl *R = T.getCanonicalType()->getAsCXXRecordDecl();
  if (const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R))
    for (const TemplateArgument &Arg : Spec->getTemplateArgs().asArray())
      if (Arg.getKind() == TemplateArgument::Type)
        nameLambdas(Ctx, Arg.getAsType(), Policy, Text);
  if (!R || !R->isLambda())
    return;
  QualType Type = Ctx.getCanonicalTagType(R);
  std::string Placed = Type.getAsString(Policy), Name = lambdaName(R, Policy);
  for (size_t At = 0; (At = Text.find(Placed, At)) != std::string::npos;
       At += Name.size())
    Text.replace(At, Placed.size(), Name);
}

static std::string typeName(QualType T, const PrintingPolicy &Policy) {
  return T.getCanonicalType().getAsString(Policy);
}

/// An instance of a function template among template arguments, which clang
/// prints without its own arguments.
static const FunctionDecl *instanceIn(const TemplateArgument &Arg) {
  if (Arg.getKind() != TemplateArgument::Declaration)
    return nullptr;
  const auto *F = dyn_cast<FunctionDecl>(Arg.getAsDecl());
  return F && F->getTemplateSpecializationArgs() ? F : nullptr;
}

static const ClassTemplateSpecializationDecl *instanceOf(QualType T) {
  return dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      T.getCanonicalType()->getAsCXXRecordDecl());
}

/// True when one is among \p Args, or among the arguments of a type there.
static bool holdInstance(llvm::ArrayRef<TemplateArgument> Args) {
  return llvm::any_of(Args, [](const TemplateArgument &Arg) {
    if (Arg.getKind() == TemplateArgument::Pack)
      return holdInstance(Arg.pack_elements());
    const ClassTemplateSpecializationDecl *Spec =
        Arg.getKind() == TemplateArgument::Type ? instanceOf(Arg.getAsType())
                                                : nullptr;
    return instanceIn(Arg) ||
           (Spec && holdInstance(Spec->getTemplateArgs().asArray()));
  });
}

static void printArguments(llvm::raw_ostream &OS,
                           llvm::ArrayRef<TemplateArgument> Args,
                           const PrintingPolicy &Policy, bool &First);

static void printType(llvm::raw_ostream &OS, QualType T,
                      const PrintingPolicy &Policy) {
  const ClassTemplateSpecializationDecl *Spec = instanceOf(T);
  if (!Spec || !holdInstance(Spec->getTemplateArgs().asArray())) {
    OS << typeName(T, Policy);
    return;
  }
  if (T.getCanonicalType().isConstQualified())
    OS << "const ";
  Spec->printNestedNameSpecifier(OS, Policy);
  OS << Spec->getDeclName() << "<";
  bool First = true;
  printArguments(OS, Spec->getTemplateArgs().asArray(), Policy, First);
  OS << ">";
}

static void printArguments(llvm::raw_ostream &OS,
                           llvm::ArrayRef<TemplateArgument> Args,
                           const PrintingPolicy &Policy, bool &First) {
  for (const TemplateArgument &Arg : Args) {
    if (Arg.getKind() == TemplateArgument::Pack) {
      printArguments(OS, Arg.pack_elements(), Policy, First);
      continue;
    }
    OS << (First ? "" : ", ");
    First = false;
    if (const FunctionDecl *Instance = instanceIn(Arg)) {
      OS << "&";
      Instance->getNameForDiagnostic(OS, Policy, /*Qualified=*/true);
    } else if (Arg.getKind() == TemplateArgument::Type) {
      printType(OS, Arg.getAsType(), Policy);
    } else {
      Arg.print(Policy, OS, /*IncludeType=*/false);
    }
  }
}

static void printName(llvm::raw_ostream &OS, const FunctionDecl *F,
                      const PrintingPolicy &Policy) {
  const TemplateArgumentList *Args = F->getTemplateSpecializationArgs();
  if (!Args || !holdInstance(Args->asArray()))
    return F->getNameForDiagnostic(OS, Policy, /*Qualified=*/true);
  F->printNestedNameSpecifier(OS, Policy);
  OS << F->getDeclName() << "<";
  bool First = true;
  printArguments(OS, Args->asArray(), Policy, First);
  OS << ">";
}

static std::string withParameters(const FunctionDecl *F,
                                  const PrintingPolicy &Policy) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printName(OS, F, Policy);
  OS << "(";
  const auto *Type = F->getType()->castAs<FunctionProtoType>();
  for (unsigned I = 0; I < Type->getNumParams(); ++I) {
    OS << (I ? ", " : "");
    printType(OS, Type->getParamType(I).getUnqualifiedType(), Policy);
  }
  OS << ")";
  return Text;
}

static KernelParam describeParameter(const ASTContext &Ctx,
                                     const ParmVarDecl *P,
                                     const PrintingPolicy &Policy) {
  KernelParam Param;
  QualType T = P->getType().getCanonicalType();
  Param.Name = P->getNameAsString();
  Param.Type = typeName(T.getUnqualifiedType(), Policy);
  Param.Size = Ctx.getTypeSizeInChars(T).getQuantity();
  Param.Restrict = T.isRestrictQualified();
  Param.IsPointer = T->isPointerType();
  if (Param.IsPointer) {
    QualType Pointee = T->getPointeeType();
    Param.PointeeConst = Pointee.isConstQualified();
    Param.Pointee = typeName(Pointee.getUnqualifiedType(), Policy);
    if (!Pointee->isIncompleteType() && !Pointee->isFunctionType())
      Param.PointeeSize = Ctx.getTypeSizeInChars(Pointee).getQuantity();
  }
  return Param;
}

static std::string symbolOf(const FunctionDecl *F) {
  std::unique_ptr<MangleContext> Mangler(
      F->getASTContext().createMangleContext());
  if (!Mangler->shouldMangleDeclName(F))
    return F->getNameAsString();
  std::string Symbol;
  llvm::raw_string_ostream OS(Symbol);
  Mangler->mangleName(GlobalDecl(F, KernelReferenceKind::Kernel), OS);
  return Symbol;
}

void describeKernel(const ParsedUnit &Unit, const FunctionDecl *F, Kernel &K) {
  PrintingPolicy Policy = namePolicy(Unit.Ctx);
  PrintingPolicy Placed = Policy;
  Placed.AnonymousTagLocations = true;
  K.Name = withParameters(F, Placed);
  auto Name = [&](const TemplateArgument &Arg, auto &&Self) -> void {
    if (Arg.getKind() == TemplateArgument::Pack)
      for (const TemplateArgument &Each : Arg.pack_elements())
        Self(Each, Self);
    else if (Arg.getKind() == TemplateArgument::Type)
      nameLambdas(Unit.Ctx, Arg.getAsType(), Placed, K.Name);
  };
  if (const TemplateArgumentList *Own = F->getTemplateSpecializationArgs())
    for (const TemplateArgument &Arg : Own->asArray())
      Name(Arg, Name);
  K.Symbol = symbolOf(F);
  PresumedLoc At =
      Unit.SM.getPresumedLoc(Unit.SM.getExpansionLoc(F->getLocation()));
  if (At.isValid()) {
    K.File = At.getFilename();
    K.Line = At.getLine();
  }
  for (unsigned I = 0; I < F->getNumParams(); ++I) {
    K.Params.push_back(describeParameter(Unit.Ctx, F->getParamDecl(I), Policy));
    FieldFinder(Unit, K, I).look(F->getParamDecl(I)->getType(), 0);
  }
}

std::string instantiationOf(const FunctionDecl *F) {
  if (!F->getTemplateInstantiationPattern() ||
      F->getTemplateSpecializationKind() == TSK_ExplicitSpecialization)
    return "";
  PrintingPolicy Policy = namePolicy(F->getASTContext());
  Policy.SuppressUnwrittenScope = true;
  Policy.PrintAsCanonical = true;
  return "template __global__ void " + withParameters(F, Policy) + ";";
}

std::string templateArgumentsOf(const FunctionDecl *F) {
  const TemplateArgumentList *Args = F->getTemplateSpecializationArgs();
  if (!Args)
    return "";
  PrintingPolicy Policy = namePolicy(F->getASTContext());
  Policy.SuppressUnwrittenScope = true;
  Policy.PrintAsCanonical = true;
  std::string Text = "<";
  llvm::raw_string_ostream OS(Text);
  bool First = true;
  printArguments(OS, Args->asArray(), Policy, First);
  return Text + ">";
}

static bool isUnspeakable(const TemplateArgument &Arg, bool Lambdas) {
  auto AnyOf = [&](llvm::ArrayRef<TemplateArgument> Args) {
    return llvm::any_of(Args, [&](const TemplateArgument &Each) {
      return isUnspeakable(Each, Lambdas);
    });
  };
  if (Arg.getKind() == TemplateArgument::Pack)
    return AnyOf(Arg.getPackAsArray());
  if (Arg.getKind() != TemplateArgument::Type)
    return false;
  QualType T = Arg.getAsType().getCanonicalType();
  if (const CXXRecordDecl *R = T->getAsCXXRecordDecl(); R && R->isLambda())
    return Lambdas;
  if (const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
          T->getAsCXXRecordDecl()))
    return AnyOf(Spec->getTemplateArgs().asArray());
  return T->getLinkage() == Linkage::None;
}

std::optional<std::string> unspeakableArgument(const ParsedUnit &Unit,
                                               const FunctionDecl *F,
                                               bool Lambdas) {
  SmallVector<TemplateArgument> Args;
  if (const TemplateArgumentList *Own = F->getTemplateSpecializationArgs())
    llvm::append_range(Args, Own->asArray());
  for (const DeclContext *DC = F->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *R = dyn_cast<ClassTemplateSpecializationDecl>(DC))
      llvm::append_range(Args, R->getTemplateArgs().asArray());
  for (const TemplateArgument &Arg : Args)
    if (isUnspeakable(Arg, Lambdas)) {
      std::string Text;
      llvm::raw_string_ostream OS(Text);
      Arg.print(namePolicy(Unit.Ctx), OS, /*IncludeType=*/false);
      return Text;
    }
  return std::nullopt;
}

} // namespace cupilot
