//===- LoweredModule.cpp - A lowered module and its tables ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoweredModule.h"
#include "ShadowWords.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/Path.h"
#include <cstddef>

using namespace llvm;

namespace cupilot {

/// The IR type of a field of type \p T.
template <typename T> static Type *typeOf(LLVMContext &C) {
  if constexpr (std::is_pointer_v<T>)
    return PointerType::get(C, 0);
  else if constexpr (std::is_integral_v<T>)
    return IntegerType::get(C, 8 * sizeof(T));
  else
    return ArrayType::get(typeOf<typename T::value_type>(C),
                          std::tuple_size_v<T>);
}

StructType *contextType(LLVMContext &C) {
  if (StructType *Known = StructType::getTypeByName(C, "cupilot.thread"))
    return Known;
  return StructType::create(C,
                            {
#define CUPILOT_CONTEXT_FIELD(Type, Name)                                      \
  typeOf<decltype(ThreadContext::Name)>(C),
#include "ThreadContext.def"
                            },
                            "cupilot.thread");
}

bool contextLayoutAgrees(const DataLayout &Layout, LLVMContext &C) {
  static constexpr uint64_t Offsets[] = {
#define CUPILOT_CONTEXT_FIELD(Type, Name) offsetof(ThreadContext, Name),
#include "ThreadContext.def"
  };
  const StructLayout *Own = Layout.getStructLayout(contextType(C));
  for (auto [Field, Offset] : enumerate(Offsets))
    if (Own->getElementOffset(Field).getFixedValue() != Offset)
      return false;
  return true;
}

Value *contextField(IRBuilderBase &B, Function &Entry, ContextField Field,
                    unsigned Index) {
  StructType *Type = contextType(Entry.getContext());
  SmallVector<Value *, 3> Path = {B.getInt32(0), B.getInt32(Field)};
  if (Type->getElementType(Field)->isArrayTy())
    Path.push_back(B.getInt32(Index));
  return B.CreateInBoundsGEP(Type, Entry.getArg(0), Path);
}

std::string locationOf(const DebugLoc &Debug) {
  // Headers of the compiler and of CUDA are left for the place that calls into
  // them.
  const DILocation *Loc = Debug.get();
  auto IsSystem = [](const DILocation *L) {
    StringRef Name = L->getFilename();
    return Name.starts_with("/usr/") || Name.contains("/clang/") ||
           Name.contains("/cccl/") || Name.contains("/cuda/include/");
  };
  while (Loc && Loc->getInlinedAt() && (IsSystem(Loc) || Loc->getLine() == 0))
    Loc = Loc->getInlinedAt();
  if (!Loc || Loc->getLine() == 0)
    return "";
  return (sys::path::filename(Loc->getFilename()) + ":" +
          Twine(Loc->getLine()) + ":" + Twine(Loc->getColumn()))
      .str();
}

uint32_t addPlace(LoweredModule &Tables, const DebugLoc &Loc) {
  Tables.Places.push_back(locationOf(Loc));
  return Tables.Places.size() - 1;
}

/// The number of a source line in \p List; 0 when there is none, or no room.
static uint16_t numberOf(std::vector<std::string> &List,
                         const std::string &Location, uint64_t Room) {
  for (size_t I = 0; I < List.size(); ++I)
    if (List[I] == Location)
      return I;
  if (List.size() >= Room)
    return 0;
  List.push_back(Location);
  return List.size() - 1;
}

void numberLocation(AccessSite &Site, LoweredKernel &K, bool Both) {
  if (K.Entry.empty())
    return; // A function of several kernels.
  if (Site.IsStore || Both)
    Site.WriteLocation =
        numberOf(K.WriteLocations, Site.Location, word::WriteLocations);
  if (!Site.IsStore || Both)
    Site.ReadLocation =
        numberOf(K.ReadLocations, Site.Location, word::ReadLocations);
}

uint32_t siteOf(const CallBase &Call) {
  if (MDNode *Node = Call.getMetadata("cupilot.site"))
    return mdconst::extract<ConstantInt>(Node->getOperand(0))->getZExtValue();
  return NoSite;
}

} // namespace cupilot
