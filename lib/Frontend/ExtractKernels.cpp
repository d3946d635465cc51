//===- ExtractKernels.cpp - The kernels of a translation unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceWriter.h"
#include "cupilot/Frontend/Kernel.h"
#include "cupilot/Support/Digest.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecordLayout.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;
using llvm::Expected;

namespace cupilot {

namespace {
/// Kernels with a body, in source order; instantiations after their template.
class KernelFinder : public RecursiveASTVisitor<KernelFinder> {
public:
  explicit KernelFinder(const ParsedUnit &Unit) : Unit(Unit) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->hasAttr<CUDAGlobalAttr>() && F->isThisDeclarationADefinition() &&
        !F->isDependentContext() && !isSystem(Unit, F->getLocation()))
      Kernels.push_back(F);
    return true;
  }
  std::vector<const FunctionDecl *> Kernels;

private:
  const ParsedUnit &Unit;
};

class Describer {
public:
  explicit Describer(const ParsedUnit &Unit)
      : Unit(Unit), Context(Unit.context()), Policy(Context.getLangOpts()) {
    Policy.SuppressTagKeyword = true;
    Policy.FullyQualifiedName = true;
  }
  Kernel describe(const FunctionDecl &F);

private:
  void collectFields(Kernel &K, QualType T, unsigned Param, uint64_t Offset);

  const ParsedUnit &Unit;
  ASTContext &Context;
  PrintingPolicy Policy;
};
} // namespace

/// Integers and pointers of a parameter, at any depth of by-value structs.
void Describer::collectFields(Kernel &K, QualType T, unsigned Param,
                              uint64_t Offset) {
  T = T.getCanonicalType();
  if (T->isPointerType()) {
    K.Pointers.push_back({Param, unsigned(Offset)});
    return;
  }
  if (T->isIntegralOrEnumerationType()) {
    uint64_t Bits = Context.getTypeSize(T);
    if (Bits <= 64)
      K.Scalars.push_back({Param, unsigned(Offset), unsigned(Bits),
                           T->isSignedIntegerOrEnumerationType()});
    return;
  }
  const auto *Record = T->getAsCXXRecordDecl();
  if (!Record || Record->isUnion() || Record->isInvalidDecl())
    return;
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(Record);
  for (const CXXBaseSpecifier &Base : Record->bases())
    if (!Base.isVirtual())
      collectFields(
          K, Base.getType(), Param,
          Offset +
              Layout.getBaseClassOffset(Base.getType()->getAsCXXRecordDecl())
                  .getQuantity());
  for (const FieldDecl *Field : Record->fields())
    if (!Field->isBitField())
      collectFields(K, Field->getType(), Param,
                    Offset + Layout.getFieldOffset(Field->getFieldIndex()) / 8);
}

Kernel Describer::describe(const FunctionDecl &F) {
  Kernel K;
  llvm::raw_string_ostream Name(K.Name);
  F.getNameForDiagnostic(Name, Policy, /*Qualified=*/true);
  Name << "(";
  std::unique_ptr<MangleContext> Mangler(Context.createMangleContext());
  llvm::raw_string_ostream Symbol(K.Symbol);
  GlobalDecl Global(&F, KernelReferenceKind::Kernel);
  if (Mangler->shouldMangleDeclName(&F))
    Mangler->mangleName(Global, Symbol);
  else
    Symbol << F.getName();
  PresumedLoc Loc = Unit.sources().getPresumedLoc(
      Unit.sources().getExpansionLoc(F.getLocation()));
  K.File = Loc.getFilename();
  K.Line = Loc.getLine();
  for (const ParmVarDecl *P : F.parameters()) {
    QualType T = P->getType();
    KernelParam Param;
    Param.Name = P->getNameAsString();
    Param.Type = T.getAsString(Policy);
    Param.Size = Context.getTypeSizeInChars(T).getQuantity();
    if (T->isPointerType()) {
      QualType Pointee = T->getPointeeType();
      Param.IsPointer = true;
      Param.PointeeConst = Pointee.isConstQualified();
      Param.Restrict = T.isRestrictQualified();
      Param.Pointee = Pointee.getUnqualifiedType().getAsString(Policy);
      Param.PointeeSize =
          Pointee->isVoidType() || Pointee->isIncompleteType()
              ? 0
              : Context.getTypeSizeInChars(Pointee).getQuantity();
    }
    unsigned Index = K.Params.size();
    Name << (Index ? ", " : "") << Param.Type;
    K.Params.push_back(std::move(Param));
    collectFields(K, T, Index, 0);
  }
  Name << ")";
  Closure Uses = closureOf(F, Unit);
  K.Refusal = Uses.Refusal;
  if (F.getFormalLinkage() == Linkage::Internal)
    K.Refusal = "it is static or in an anonymous namespace, so that no other "
                "file can name it";
  SliceText Slice = writeSlice(F, Uses, Unit);
  K.Digest = DigestBuilder()
                 .add(K.Name)
                 .add(static_cast<uint64_t>(K.Contract.K))
                 .add(Slice.Tokens)
                 .str();
  if (K.Refusal.empty())
    K.Slice = std::move(Slice.Text);
  return K;
}

Expected<std::vector<Kernel>>
extractKernels(llvm::StringRef File, llvm::ArrayRef<std::string> Flags) {
  Expected<std::unique_ptr<ParsedUnit>> Unit = parseForDevice(File, Flags);
  if (!Unit)
    return Unit.takeError();
  KernelFinder Finder(**Unit);
  Finder.TraverseDecl((*Unit)->context().getTranslationUnitDecl());
  Describer D(**Unit);
  std::vector<Kernel> Kernels;
  for (const FunctionDecl *F : Finder.Kernels)
    Kernels.push_back(D.describe(*F));
  return Kernels;
}

} // namespace cupilot
