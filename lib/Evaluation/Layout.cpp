//===- Layout.cpp - The numbers in buffers and arguments -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Layout.h"
#include "KernelCode.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/TypeFinder.h"
#include "llvm/Support/MemoryBufferRef.h"

using namespace llvm;

namespace cupilot {

bool Layout::hasFloats() const {
  return any_of(Fields,
                [](const LayoutField &F) { return isFloating(F.Kind); });
}

bool Layout::hasIntegers() const {
  return any_of(Fields, [](const LayoutField &F) { return isInteger(F.Kind); });
}

/// Adds the numbers of \p T at \p Offset. False for what holds anything else.
static bool flatten(Type *T, uint64_t Offset, const DataLayout &DL, Layout &L) {
  // A struct of more is no longer a few numbers that belong together.
  constexpr size_t MostFields = 64;
  if (L.Fields.size() > MostFields)
    return false;
  auto Add = [&](ElementKind K) {
    L.Fields.push_back({Offset, K});
    return true;
  };
  if (T->isHalfTy())
    return Add(ElementKind::Half);
  if (T->isBFloatTy())
    return Add(ElementKind::BFloat);
  if (T->isFloatTy())
    return Add(ElementKind::Float);
  if (T->isDoubleTy())
    return Add(ElementKind::Double);
  if (T->isIntegerTy(8))
    return Add(ElementKind::UInt8);
  if (T->isIntegerTy(16))
    return Add(ElementKind::Int16);
  if (T->isIntegerTy(32))
    return Add(ElementKind::Int32);
  if (T->isIntegerTy(64))
    return Add(ElementKind::Int64);
  auto Sequence = [&](Type *Element, uint64_t N) {
    uint64_t Size = DL.getTypeAllocSize(Element);
    for (uint64_t I = 0; I < N; ++I)
      if (L.Fields.size() > MostFields ||
          !flatten(Element, Offset + I * Size, DL, L))
        return false;
    return true;
  };
  if (auto *A = dyn_cast<ArrayType>(T))
    return Sequence(A->getElementType(), A->getNumElements());
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return Sequence(V->getElementType(), V->getNumElements());
  auto *S = dyn_cast<StructType>(T);
  if (!S || S->isOpaque() || !S->isSized())
    return false;
  if (S->hasName() && S->getName().starts_with("union."))
    return false;
  if (S->hasName()) {
    // Their only field is an integer.
    std::optional<ElementKind> Narrow = S->getName() == "struct.__half"
                                            ? ElementKind::Half
                                        : S->getName() == "struct.__nv_bfloat16"
                                            ? std::optional(ElementKind::BFloat)
                                            : std::nullopt;
    if (Narrow)
      return Add(*Narrow);
  }
  const StructLayout *Inner = DL.getStructLayout(S);
  for (unsigned I = 0; I < S->getNumElements(); ++I)
    if (!flatten(S->getElementType(I), Offset + Inner->getElementOffset(I), DL,
                 L))
      return false;
  return true;
}

static Layout ofNumbers(ElementKind K, unsigned N) {
  Layout L;
  L.Stride = sizeOf(K) * N;
  for (unsigned I = 0; I < N; ++I)
    L.Fields.push_back({I * sizeOf(K), K});
  return L;
}

/// The numbers of CUDA's vector types (vector_types.h, cuda_fp16.h).
static std::optional<Layout> builtinLayout(StringRef Type) {
  Type.consume_front("const ");
  Type.consume_front("volatile ");
  Type.consume_front("struct ");
  if (std::optional<ElementKind> K = elementOf(Type))
    return ofNumbers(*K, 1);
  if (Type == "__half2" || Type == "half2")
    return ofNumbers(ElementKind::Half, 2);
  if (Type == "__nv_bfloat162" || Type == "nv_bfloat162")
    return ofNumbers(ElementKind::BFloat, 2);
  if (Type.size() < 2 || Type.back() < '1' || Type.back() > '4')
    return std::nullopt;
  unsigned N = Type.back() - '0';
  static constexpr std::pair<StringRef, ElementKind> Names[] = {
      {"float", ElementKind::Float},    {"double", ElementKind::Double},
      {"char", ElementKind::Int8},      {"uchar", ElementKind::UInt8},
      {"short", ElementKind::Int16},    {"ushort", ElementKind::UInt16},
      {"int", ElementKind::Int32},      {"uint", ElementKind::UInt32},
      {"long", ElementKind::Int64},     {"ulong", ElementKind::UInt64},
      {"longlong", ElementKind::Int64}, {"ulonglong", ElementKind::UInt64}};
  for (auto &[Name, Kind] : Names)
    if (Type.drop_back() == Name)
      return ofNumbers(Kind, N);
  return std::nullopt;
}

/// The kind of \p T as it lies at \p Address; nothing for what is no number.
static std::optional<ElementKind> kindAt(Type *T, const Value *Address) {
  T = T->getScalarType();
  if (T->isIntegerTy(16))
    for (const auto *GEP = dyn_cast<GEPOperator>(Address); GEP;
         GEP = dyn_cast<GEPOperator>(GEP->getPointerOperand()))
      if (const auto *S = dyn_cast<StructType>(GEP->getSourceElementType());
          S && S->hasName()) {
        if (S->getName() == "struct.__half")
          return ElementKind::Half;
        if (S->getName() == "struct.__nv_bfloat16")
          return ElementKind::BFloat;
      }
  Layout L;
  if (!(T->isFloatingPointTy() || T->isIntegerTy()) ||
      !flatten(T, 0, DataLayout(""), L))
    return std::nullopt;
  return L.Fields.front().Kind;
}

/// What the code takes the bytes behind each pointer argument for: the kind of
/// number on which all of its loads and stores agree.
static std::vector<std::optional<ElementKind>>
accessedKinds(const Function &F) {
  std::vector<std::optional<ElementKind>> Kinds(F.arg_size());
  std::vector<bool> Unclear(F.arg_size());
  for (const Instruction &I : instructions(F)) {
    const Value *Address = getLoadStorePointerOperand(&I);
    if (const auto *RMW = dyn_cast<AtomicRMWInst>(&I))
      Address = RMW->getPointerOperand();
    else if (const auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
      Address = Exchange->getPointerOperand();
    if (Address) {
      std::optional<PointerRef> Root = rootOf(Address);
      if (!Root || Root->Offset != 0)
        continue;
      std::optional<ElementKind> Kind = kindAt(
          isa<AtomicCmpXchgInst>(I)
              ? cast<AtomicCmpXchgInst>(I).getCompareOperand()->getType()
          : isa<StoreInst>(I) ? cast<StoreInst>(I).getValueOperand()->getType()
                              : I.getType(),
          Address);
      std::optional<ElementKind> &Known = Kinds[Root->Param];
      Unclear[Root->Param] =
          Unclear[Root->Param] || !Kind || (Known && *Known != *Kind);
      Known = Kind;
      continue;
    }
    // Whoever else gets the pointer may see anything.
    if (const auto *Call = dyn_cast<CallBase>(&I))
      for (const Value *Operand : Call->args())
        if (Operand->getType()->isPointerTy())
          if (std::optional<PointerRef> Root = rootOf(Operand))
            Unclear[Root->Param] = true;
  }
  for (size_t I = 0; I < Kinds.size(); ++I)
    if (Unclear[I])
      Kinds[I] = std::nullopt;
  return Kinds;
}

/// Whether the type of the parameter leaves open what lies behind it.
static bool saysNothing(const KernelParam &P) {
  return P.IsPointer && P.PointeeSize <= 1;
}

/// Fills in what only the code says of pointers to void and to bytes.
static Error addAccessed(const Kernel &K, StringRef Bitcode,
                         KernelLayout &Result) {
  if (none_of(K.Params, saysNothing))
    return Error::success();
  Expected<KernelCode> Code = KernelCode::of(Bitcode);
  if (!Code)
    return Code.takeError();
  const Function *F = Code->kernel(K.Symbol);
  if (!F)
    return Error::success();
  std::vector<std::optional<ElementKind>> Kinds = accessedKinds(*F);
  for (size_t I = 0; I < std::min(Kinds.size(), K.Params.size()); ++I)
    if (saysNothing(K.Params[I]) && Kinds[I] &&
        (K.Params[I].PointeeSize == 0 || sizeOf(*Kinds[I]) > 1))
      Result.Pointees[I] = ofNumbers(*Kinds[I], 1);
  return Error::success();
}

Expected<KernelLayout> layoutOf(const Kernel &K, StringRef Bitcode) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> Parsed = parseBitcode(Bitcode, Context);
  if (!Parsed)
    return Parsed.takeError();
  Module &M = **Parsed;
  const DataLayout &DL = M.getDataLayout();
  KernelLayout Result;
  TypeFinder Types;
  Types.run(M, /*onlyNamed=*/true);
  auto Named = [&](StringRef Name, uint64_t Size) {
    if (std::optional<Layout> Builtin = builtinLayout(Name))
      if (Builtin->Stride == Size)
        return *Builtin;
    Name.consume_front("const ");
    Layout L;
    for (StructType *S : Types)
      for (StringRef Prefix : {"struct.", "class."})
        if (StringRef Own = S->getName(); Own.consume_front(Prefix) &&
                                          Own == Name && S->isSized() &&
                                          DL.getTypeAllocSize(S) == Size) {
          L.Stride = Size;
          if (flatten(S, 0, DL, L))
            return L;
        }
    return Layout();
  };
  Function *F = M.getFunction(K.Symbol);
  Result.NoSpecialValues =
      F && (F->getFnAttribute("no-nans-fp-math").getValueAsBool() ||
            F->getFnAttribute("no-infs-fp-math").getValueAsBool());
  for (auto [I, P] : enumerate(K.Params)) {
    Result.Pointees.push_back(P.IsPointer ? Named(P.Pointee, P.PointeeSize)
                                          : Layout());
    Layout Value;
    if (!P.IsPointer) {
      Type *ByValue = F && I < F->arg_size() && F->getArg(I)->hasByValAttr()
                          ? F->getArg(I)->getParamByValType()
                          : nullptr;
      Value.Stride = P.Size;
      if (std::optional<Layout> Builtin = builtinLayout(P.Type))
        Value = *Builtin;
      else if (!ByValue || !flatten(ByValue, 0, DL, Value))
        Value.Fields.erase(
            remove_if(Value.Fields,
                      [](const LayoutField &F) { return !isFloating(F.Kind); }),
            Value.Fields.end());
    }
    Result.Values.push_back(std::move(Value));
  }
  for (GlobalVariable &G : M.globals()) {
    Type *T = G.getValueType();
    while (auto *A = dyn_cast<ArrayType>(T))
      T = A->getElementType();
    Layout L;
    L.Stride = T->isSized() ? uint64_t(DL.getTypeAllocSize(T)) : 1;
    if (T->isSized() && flatten(T, 0, DL, L))
      Result.Globals[G.getName()] = std::move(L);
  }
  if (Error E = addAccessed(K, Bitcode, Result))
    return std::move(E);
  return Result;
}

} // namespace cupilot
