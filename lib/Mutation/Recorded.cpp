//===- Recorded.cpp - Recorded values as constants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is right for the recorded launches alone: an argument, or a dimension of
// the launch, that is the constant which it was there.
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// Argument \p Index as a constant; null where launches differ.
static Constant *recordedArgument(ArrayRef<Workload> Recorded, unsigned Index,
                                  Type *Of) {
  const std::vector<uint8_t> *Bytes = nullptr;
  for (const Workload &W : Recorded) {
    if (Index >= W.Args.size() || (Bytes && *Bytes != W.Args[Index]))
      return nullptr;
    Bytes = &W.Args[Index];
  }
  uint64_t Raw = 0;
  if (!Bytes || Bytes->size() > sizeof(Raw))
    return nullptr;
  std::memcpy(&Raw, Bytes->data(), Bytes->size());
  if (Of->isIntegerTy() && Of->getIntegerBitWidth() <= 8 * Bytes->size())
    return ConstantInt::get(Of, APInt(64, Raw).trunc(Of->getIntegerBitWidth()));
  if (Of->isFloatTy() || Of->isDoubleTy())
    return ConstantFP::get(Of->getContext(),
                           APFloat(Of->getFltSemantics(),
                                   APInt(Of->getPrimitiveSizeInBits(), Raw)));
  return nullptr;
}

static std::string textOf(const Constant *C) {
  if (auto *Integer = dyn_cast<ConstantInt>(C))
    return toString(Integer->getValue(), 10, Integer->getBitWidth() > 1);
  SmallString<16> Text;
  cast<ConstantFP>(C)->getValueAPF().toString(Text);
  return Text.str().str();
}

void addRecorded(Function &Kernel, ArrayRef<Workload> Recorded, Sites &S) {
  if (Recorded.empty())
    return;
  for (Argument &A : Kernel.args()) {
    Constant *Known = recordedArgument(Recorded, A.getArgNo(), A.getType());
    if (!Known)
      continue;
    // Clang stores each into a variable, whose first use has a line.
    for (User *U : A.users())
      if (auto *Store = dyn_cast<StoreInst>(U);
          Store && localVariable(Store->getPointerOperand()))
        for (User *Use : Store->getPointerOperand()->users())
          if (auto *Load = dyn_cast<LoadInst>(Use))
            S.add(*Load, "recorded", "argument " + Twine(A.getArgNo()),
                  textOf(Known), [Load, Known] {
                    Load->replaceAllUsesWith(Known);
                    Load->eraseFromParent();
                  });
  }
}

void addRecordedDimension(CallInst &Call, StringRef Name, unsigned Value,
                          Sites &S) {
  S.add(Call, "recorded", Name, Twine(Value), [&Call, Value] {
    Call.replaceAllUsesWith(ConstantInt::get(Call.getType(), Value));
    Call.eraseFromParent();
  });
}

} // namespace cupilot
