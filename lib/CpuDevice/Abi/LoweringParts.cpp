//===- LoweringParts.cpp - What instrumentation builds with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lower/Lowering.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

StructType *contextType(LLVMContext &C) {
  if (StructType *Known = StructType::getTypeByName(C, "cupilot.thread"))
    return Known;
  Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C),
       *Ptr = PointerType::get(C, 0);
  Type *Three = ArrayType::get(I32, 3);
  return StructType::create(C, {Three, Three, Three, Three, Ptr, I32, I32, Ptr,
                                Ptr,   I64,   Ptr,   I32,   I64, Ptr, Ptr, I64,
                                I64,   I64,   I64,   I64,   I64, I64},
                            "cupilot.thread");
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

} // namespace cupilot
