//===- LoadedVariables.cpp - Integers in device variables -----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedIntegers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include <cstring>
#include <numeric>

using namespace llvm;

namespace cupilot {

/// Whether a program can set \p G: memory of a block is none, and const tables
/// stay as they are. clang calls all of constant memory constant.
static bool isSettable(const GlobalVariable &G) {
  if (G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
    return false;
  return !G.isConstant() ||
         (G.isExternallyInitialized() &&
          G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST);
}

std::vector<LoadedFrom> variablesAt(const Value &Address, const Type &T,
                                    const DataLayout &DL) {
  auto *Element = const_cast<Type *>(T.getScalarType());
  const auto *Vector = dyn_cast<FixedVectorType>(&T);
  const unsigned Count = Vector ? Vector->getNumElements() : 1;
  LoadedFrom From;
  From.Size = static_cast<unsigned>(DL.getTypeStoreSize(Element));
  std::vector<LoadedFrom> Result;
  if (From.Size == 0 || From.Size > 8)
    return Result;
  int64_t Offset = 0;
  uint64_t Step = 0;
  const Value *V = Address.stripPointerCasts();
  while (const auto *GEP = dyn_cast<GEPOperator>(V)) {
    unsigned Bits = DL.getIndexTypeSizeInBits(GEP->getType());
    SmallMapVector<Value *, APInt, 4> Indices;
    APInt Constant(Bits, 0);
    if (!GEP->collectOffset(DL, Bits, Indices, Constant))
      return Result;
    Offset += Constant.getSExtValue();
    for (const auto &[Index, Scale] : Indices)
      Step = std::gcd(Step, Scale.abs().getLimitedValue());
    V = GEP->getPointerOperand()->stripPointerCasts();
  }
  auto Add = [&](const Value *Object, uint64_t First, uint64_t Every) {
    const auto *G = dyn_cast<GlobalVariable>(Object);
    if (!G || !isSettable(*G))
      return;
    From.Variable = G->getName().str();
    From.First = First;
    From.Step = Every;
    Result.push_back(From);
  };
  if (isa<GlobalVariable>(V)) {
    for (unsigned I = 0; I < Count; ++I) {
      int64_t At = Offset + int64_t(I) * From.Size;
      if (Step)
        At = (At % int64_t(Step) + int64_t(Step)) % int64_t(Step);
      if (At >= 0)
        Add(V, static_cast<uint64_t>(At), Step);
    }
    return Result;
  }
  // A pointer that goes along them, or to one of several.
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(V, Objects, nullptr, /*MaxLookup=*/32);
  for (const Value *Object : Objects)
    Add(Object, 0, From.Size);
  return Result;
}

bool LoadedFrom::holds(const LoadedFrom &Other) const {
  if (Variable.empty() || Variable != Other.Variable)
    return *this == Other;
  if (Step == 0)
    return *this == Other;
  return Size == Other.Size && Other.Step % Step == 0 &&
         Other.First % Step == First % Step;
}

/// Calls \p Do with the bytes of each.
template <typename ContentT, typename DoT>
static void forEachAt(const LoadedFrom &From, ContentT Content, DoT Do) {
  for (uint64_t At = From.First; At + From.Size <= Content.size();
       At += From.Step) {
    Do(Content.slice(At, From.Size));
    if (From.Step == 0)
      break;
  }
}

std::vector<int64_t> integersAt(const LoadedFrom &From,
                                ArrayRef<uint8_t> Content) {
  std::vector<int64_t> Values;
  forEachAt(From, Content, [&](ArrayRef<uint8_t> Bytes) {
    uint64_t V = 0;
    std::memcpy(&V, Bytes.data(), Bytes.size());
    Values.push_back(SignExtend64(V, 8 * From.Size));
  });
  return Values;
}

void setIntegersAt(const LoadedFrom &From, ArrayRef<int64_t> Values,
                   MutableArrayRef<uint8_t> Content) {
  forEachAt(From, Content, [&](MutableArrayRef<uint8_t> Bytes) {
    if (Values.empty())
      return;
    std::memcpy(Bytes.data(), &Values.front(), Bytes.size());
    Values = Values.drop_front();
  });
}

} // namespace cupilot
