//===- LoadedIntegers.cpp - Integers in memory that decide -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedIntegers.h"
#include "KernelCode.h"
#include "LoadedWalk.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace cupilot {

std::vector<LoadedIntegers> LoadedWalk::facts() const {
  Roots Turns = 0, Begins = 0, Decides = 0, Addresses = 0;
  SmallPtrSet<const ICmpInst *, 8> InExits;
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<const ICmpInst *> Compares;
    exits(*L, Compares);
    for (const ICmpInst *C : Compares) {
      Roots A = of(C->getOperand(0)), B = of(C->getOperand(1));
      if (!counterIn(C->getOperand(0), *L) && !counterIn(C->getOperand(1), *L))
        continue;
      InExits.insert(C);
      Turns |= A | B;
      Begins |= A & B; // From here to there, both loaded.
    }
  }
  for (const Instruction &I : instructions(F)) {
    if (const auto *C = dyn_cast<ICmpInst>(&I); C && !InExits.contains(C))
      Decides |= of(C->getOperand(0)) | of(C->getOperand(1));
    else if (const auto *Switch = dyn_cast<SwitchInst>(&I))
      Decides |= of(Switch->getCondition());
    else if (const auto *GEP = dyn_cast<GetElementPtrInst>(&I))
      for (const Use &U : GEP->indices())
        Addresses |= of(U.get());
    // The length of a row is the distance of two offsets.
    if (I.getOpcode() == Instruction::Sub)
      Begins |= of(I.getOperand(0)) & of(I.getOperand(1));
  }
  std::vector<LoadedIntegers> Result;
  for (auto [N, P] : enumerate(Pointers)) {
    Roots Bit = Roots(1) << N;
    LoadedIntegers Each{P, (Turns & Bit) != 0, (Begins & Turns & Bit) != 0,
                        (Decides & Bit) != 0, (Addresses & Bit) != 0};
    if (Each.Turns || Each.Decides || Each.Addresses)
      Result.push_back(Each);
  }
  return Result;
}

Expected<std::vector<LoadedIntegers>>
loadedIntegersOf(StringRef Bitcode, ArrayRef<std::string> Symbols) {
  Expected<KernelCode> Code = KernelCode::of(Bitcode);
  if (!Code)
    return Code.takeError();
  std::vector<LoadedIntegers> Result;
  for (const std::string &Symbol : Symbols) {
    const Function *F = Code->kernel(Symbol);
    if (!F)
      continue;
    for (const LoadedIntegers &L : LoadedWalk(*F).facts()) {
      auto It = find_if(Result, [&](const LoadedIntegers &R) {
        return R.Pointer == L.Pointer;
      });
      if (It == Result.end()) {
        Result.push_back(L);
        continue;
      }
      It->Turns |= L.Turns;
      It->Begins |= L.Begins;
      It->Decides |= L.Decides;
      It->Addresses |= L.Addresses;
    }
  }
  return Result;
}

} // namespace cupilot
