//===- ModuleVariables.cpp - Variables of PTX modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "State Spaces, Types, and Variables": what a variable holds at
// first are bytes and, in some of them, addresses.
//
//===----------------------------------------------------------------------===//

#include "ModuleLowering.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include <map>

using namespace llvm;
using cupilot::ptx::InitialKind;

namespace cupilot {

/// Bytes of one element, with all parts of a vector.
static uint64_t elementBytes(const ptx::Variable &V) {
  uint64_t Bits = ptx::bitsOf(V.Of);
  return Bits == 1 ? 1 : Bits / 8 * V.Vector;
}

std::optional<uint64_t> bytesOf(const ptx::Variable &V) {
  uint64_t Bytes = elementBytes(V);
  for (std::optional<uint64_t> Each : V.Dimensions) {
    bool Overflows = false;
    Bytes = SaturatingMultiply(Bytes, Each.value_or(0), &Overflows);
    if (!Each || Overflows)
      return std::nullopt;
  }
  return Bytes <= (uint64_t(1) << 40) ? std::optional(Bytes) : std::nullopt;
}

GlobalVariable *ModuleLowering::addVariable(const ptx::Variable &V) {
  unsigned Space = 0;
  switch (V.In) {
  case ptx::Space::Global:
    Space = NVPTXAS::ADDRESS_SPACE_GLOBAL;
    break;
  case ptx::Space::Const:
    Space = NVPTXAS::ADDRESS_SPACE_CONST;
    break;
  case ptx::Space::Shared:
    Space = NVPTXAS::ADDRESS_SPACE_SHARED;
    break;
  default: // Textures, and local memory of modules, which functions lack.
    return nullptr;
  }
  bool Shared = V.In == ptx::Space::Shared;
  bool Extern = V.Link == ptx::Linkage::Extern;
  uint64_t Element = elementBytes(V);
  if (Element == 0 || V.Count)
    return nullptr;
  std::optional<uint64_t> Bytes = bytesOf(V);
  // "[]" is as long as what it holds; of dynamic shared memory, as a launch
  // says.
  if (!Bytes && V.Dimensions.size() == 1)
    Bytes = Extern ? 0
                   : Element / V.Vector *
                         count_if(V.Initial.Values, [](const auto &Each) {
                           return Each.Kind != InitialKind::Open &&
                                  Each.Kind != InitialKind::Close;
                         });
  if (!Bytes)
    return nullptr;
  if (Extern && !Shared) // What nobody defines has no address.
    return dyn_cast_or_null<GlobalVariable>(Symbols.lookup(V.Name));
  Type *T = ArrayType::get(Type::getInt8Ty(M.getContext()), *Bytes);
  bool Defined = !Extern && !(Shared && *Bytes == 0);
  bool Visible = Defined && !Shared;
  auto *G = new GlobalVariable(
      M, T, V.In == ptx::Space::Const,
      Defined && !Visible ? GlobalValue::InternalLinkage
                          : GlobalValue::ExternalLinkage,
      !Defined ? nullptr
      : Shared ? static_cast<Constant *>(UndefValue::get(T))
               : Constant::getNullValue(T),
      StringRef(V.Name), nullptr, GlobalValue::NotThreadLocal, Space,
      /*isExternallyInitialized=*/Visible);
  G->setAlignment(Align(V.Align ? V.Align : PowerOf2Ceil(Element)));
  if (!V.Initial.Values.empty())
    Initialised.push_back({G, &V});
  return G;
}

namespace {
/// Lays out an initialiser.
class Contents {
public:
  Contents(const ptx::Variable &V, uint64_t Bytes) : V(V), Raw(Bytes) {}
  /// False for a form that is not known.
  bool read();

  const ptx::Variable &V;
  std::vector<uint8_t> Raw;
  /// Where addresses of 8 bytes lie.
  std::map<uint64_t, const ptx::InitialAddress *> Addresses;

private:
  bool put(uint64_t Value);
  bool put(const ptx::InitialAddress &A);

  uint64_t At = 0, Each = 0;
};
} // namespace

bool Contents::put(uint64_t Value) {
  if (At + Each > Raw.size() || Each > 8)
    return false;
  for (uint64_t I = 0; I < Each; ++I)
    Raw[At + I] = static_cast<uint8_t>(Value >> (8 * I));
  At += Each;
  return true;
}

bool Contents::put(const ptx::InitialAddress &A) {
  if (A.Mask == 0) {
    bool Fits = Each == 8 && At + Each <= Raw.size();
    Addresses[At] = &A;
    At += Each;
    return Fits;
  }
  // One byte of eight, from the lowest.
  auto Byte = static_cast<uint64_t>(countr_zero(A.Mask)) / 8;
  if (Each != 1 || At >= Raw.size() || A.Mask != uint64_t(0xff) << (8 * Byte) ||
      Byte > At)
    return false;
  auto [It, New] = Addresses.try_emplace(At - Byte, &A);
  bool Fits = New ? Byte == 0
                  : It->second->Name == A.Name &&
                        It->second->Offset == A.Offset &&
                        It->second->Generic == A.Generic;
  ++At;
  return Fits;
}

bool Contents::read() {
  Each = elementBytes(V) / V.Vector;
  // Bytes that one brace of each depth spans, and where those begin that are
  // open.
  SmallVector<uint64_t> Spans = {V.Vector * Each}, Begins;
  for (size_t I = V.Dimensions.size(); I-- > 0;)
    Spans.insert(Spans.begin(), Spans.front() * V.Dimensions[I].value_or(
                                                    I == 0 ? Raw.size() : 0));
  if (V.Vector == 1 && !V.Dimensions.empty())
    Spans.pop_back();
  for (const ptx::InitialValue &Value : V.Initial.Values) {
    switch (Value.Kind) {
    case InitialKind::Open:
      if (Begins.size() >= Spans.size())
        return false;
      Begins.push_back(At);
      break;
    case InitialKind::Close:
      if (Begins.empty())
        return false;
      // What is missing is zero.
      At = std::max(At, Begins.size() == 1
                            ? At
                            : Begins.back() + Spans[Begins.size() - 1]);
      Begins.pop_back();
      break;
    case InitialKind::Integer:
      if (!put(Value.Value))
        return false;
      break;
    case InitialKind::Single:
    case InitialKind::Double: {
      uint64_t Bits = Value.Value;
      bool Single = Value.Kind == InitialKind::Single;
      if (V.Of == ptx::Type::F64 && Single)
        Bits = bit_cast<uint64_t>(
            double(bit_cast<float>(static_cast<uint32_t>(Bits))));
      else if (V.Of == ptx::Type::F32 && !Single)
        Bits = bit_cast<uint32_t>(static_cast<float>(bit_cast<double>(Bits)));
      if (!put(Bits))
        return false;
      break;
    }
    case InitialKind::Address:
      if (Value.Value >= V.Initial.Addresses.size() ||
          !put(V.Initial.Addresses[Value.Value]))
        return false;
      break;
    case InitialKind::Field: // Of samplers.
      return false;
    }
  }
  return Begins.empty();
}

Constant *ModuleLowering::initialiser(const ptx::Variable &V, uint64_t Bytes) {
  LLVMContext &C = M.getContext();
  Contents Holds(V, Bytes);
  if (!Holds.read())
    return nullptr;
  auto Plain = [&](uint64_t From, uint64_t To) {
    return ConstantDataArray::get(C,
                                  ArrayRef(Holds.Raw).slice(From, To - From));
  };
  if (Holds.Addresses.empty())
    return Plain(0, Bytes);
  SmallVector<Constant *> Parts;
  uint64_t Done = 0;
  for (auto [At, A] : Holds.Addresses) {
    Constant *Of = Symbols.lookup(A->Name);
    // Shared memory has no address before a launch.
    auto *G = dyn_cast_or_null<GlobalVariable>(Of);
    if (!Of || At < Done || At + 8 > Bytes ||
        (G && G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED))
      return nullptr;
    Of = ConstantExpr::getAddrSpaceCast(Of, PointerType::get(C, 0));
    if (At > Done)
      Parts.push_back(Plain(Done, At));
    Parts.push_back(ConstantExpr::getGetElementPtr(
        Type::getInt8Ty(C), Of,
        ConstantInt::getSigned(Type::getInt64Ty(C), A->Offset)));
    Done = At + 8;
  }
  if (Done < Bytes)
    Parts.push_back(Plain(Done, Bytes));
  return ConstantStruct::getAnon(C, Parts, /*Packed=*/true);
}

void ModuleLowering::addInitialisers() {
  auto Size = [this](const GlobalVariable &G) {
    return M.getDataLayout().getTypeAllocSize(G.getValueType());
  };
  // What is not known is as if it were not declared; so is what refers to it.
  for (size_t Before = 0; Before != Initialised.size();) {
    Before = Initialised.size();
    erase_if(Initialised, [&](const auto &Each) {
      auto [G, V] = Each;
      if (initialiser(*V, Size(*G)))
        return false;
      lack("", V->At,
           "what '" + std::string(V->Name) + "' is initialised with");
      Symbols.erase(V->Name);
      return true;
    });
  }
  for (auto [G, V] : Initialised) {
    Constant *Holds = initialiser(*V, Size(*G));
    auto *New = new GlobalVariable(
        M, Holds->getType(), G->isConstant(), G->getLinkage(), Holds, "", G,
        G->getThreadLocalMode(), G->getAddressSpace(),
        G->isExternallyInitialized());
    New->setAlignment(G->getAlign());
    New->takeName(G);
    G->replaceAllUsesWith(New);
    Symbols[StringRef(V->Name)] = New;
    G->eraseFromParent();
  }
}

} // namespace cupilot
