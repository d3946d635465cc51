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
#include "cupilot/CpuDevice/InlinePtx.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

std::vector<LoadedIntegers> LoadedWalk::facts() const {
  std::vector<LoadedIntegers> Facts(Sources.size());
  Roots Turns = 0, Begins = 0, Decides = 0, Addresses = 0, Booleans = 0;
  auto Add = [&](Roots R, const Value *Constant) {
    const auto *Number = dyn_cast<ConstantInt>(uncast(Constant));
    for (size_t I = 0; Number && I < Facts.size(); ++I)
      if (R >> I & 1 && Number->getValue().getSignificantBits() <= 64)
        Facts[I].Constants.push_back(Number->getSExtValue());
  };
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
    if (isImplied(I))
      continue;
    if (const auto *M = dyn_cast<MinMaxIntrinsic>(&I)) {
      Roots A = of(M->getLHS()), B = of(M->getRHS());
      Add(A, M->getRHS());
      Add(B, M->getLHS());
      Decides |= A | B;
    } else if (const auto *C = dyn_cast<ICmpInst>(&I)) {
      Roots A = of(C->getOperand(0)), B = of(C->getOperand(1));
      Add(A, C->getOperand(1));
      Add(B, C->getOperand(0));
      if (!InExits.contains(C))
        Decides |= A | B;
    } else if (const auto *Switch = dyn_cast<SwitchInst>(&I)) {
      Roots R = of(Switch->getCondition());
      Decides |= R;
      for (const auto &Case : Switch->cases())
        Add(R, Case.getCaseValue());
    } else if (const auto *GEP = dyn_cast<GetElementPtrInst>(&I)) {
      for (const Use &U : GEP->indices())
        Addresses |= of(U.get());
    } else if (isa<TruncInst>(I) && I.getType()->isIntegerTy(1)) {
      Booleans |= of(I.getOperand(0));
    }
    // The length of a row is the distance of two offsets.
    if (I.getOpcode() == Instruction::Sub)
      Begins |= of(I.getOperand(0)) & of(I.getOperand(1));
  }
  Booleans &= ~(Turns | Decides | Addresses);
  std::vector<LoadedIntegers> Result;
  for (auto [N, From] : enumerate(Sources)) {
    Roots Bit = Roots(1) << N;
    LoadedIntegers Each = std::move(Facts[N]);
    Each.From = From;
    Each.Turns = (Turns & Bit) != 0;
    Each.Begins = (Begins & Turns & Bit) != 0;
    Each.Decides = ((Decides | Booleans) & Bit) != 0;
    Each.Addresses = (Addresses & Bit) != 0;
    Each.Boolean = (Booleans & Bit) != 0;
    Each.Changed = isChanged(From);
    if (Each.Turns || Each.Decides || Each.Addresses)
      Result.push_back(std::move(Each));
  }
  return Result;
}

/// Whether the kernel changes the device variable: it is no input then, but
/// what launches leave to each other.
bool LoadedWalk::isChanged(const LoadedFrom &From) const {
  if (From.Variable.empty())
    return false;
  auto Is = [&](const Value *Address) {
    const auto *G = dyn_cast<GlobalVariable>(getUnderlyingObject(Address, 32));
    return G && G->getName() == From.Variable;
  };
  return any_of(instructions(F), [&](const Instruction &I) {
    if (const auto *Store = dyn_cast<StoreInst>(&I))
      return Is(Store->getPointerOperand());
    return (isa<AtomicRMWInst, AtomicCmpXchgInst>(I)) && Is(I.getOperand(0));
  });
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
      auto It = find_if(
          Result, [&](const LoadedIntegers &R) { return R.From == L.From; });
      if (It == Result.end()) {
        Result.push_back(L);
        continue;
      }
      It->Turns |= L.Turns;
      It->Begins |= L.Begins;
      It->Decides |= L.Decides;
      It->Addresses |= L.Addresses;
      It->Boolean &= L.Boolean;
      It->Changed |= L.Changed;
      append_range(It->Constants, L.Constants);
    }
  }
  return Result;
}

} // namespace cupilot
