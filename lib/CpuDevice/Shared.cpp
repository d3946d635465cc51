//===- Shared.cpp - Shared variables in the block's memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace cupilot {

void lowerShared(Function &Entry, LoweredKernel &K) {
  Module &M = *Entry.getParent();
  SmallVector<Constant *> Variables;
  for (GlobalVariable &G : M.globals())
    if (G.getAddressSpace() == 3)
      Variables.push_back(&G);
  if (Variables.empty())
    return;
  convertUsersOfConstantsToInstructions(Variables, &Entry);
  auto UsedHere = [&](GlobalVariable &G) {
    return any_of(G.users(), [&](User *U) {
      auto *I = dyn_cast<Instruction>(U);
      return I && I->getFunction() == &Entry;
    });
  };
  // Static variables first, in module order, then the dynamic part, which all
  // extern arrays share.
  uint64_t End = 0;
  DenseMap<GlobalVariable *, uint64_t> Offsets;
  for (Constant *C : Variables) {
    auto *G = cast<GlobalVariable>(C);
    if (G->isDeclaration() || !UsedHere(*G))
      continue;
    End = alignTo(End, std::max(G->getAlign().valueOrOne(), Align(16)));
    Offsets[G] = End;
    End += M.getDataLayout().getTypeAllocSize(G->getValueType());
  }
  K.StaticShared = alignTo(End, 16);
  IRBuilder<> B(&*Entry.getEntryBlock().getFirstInsertionPt());
  Value *Base =
      B.CreateLoad(B.getPtrTy(), contextField(B, Entry, FieldShared), "shared");
  for (Constant *C : Variables) {
    auto *G = cast<GlobalVariable>(C);
    if (!UsedHere(*G))
      continue;
    uint64_t Offset = G->isDeclaration() ? K.StaticShared : Offsets[G];
    Value *Place = B.CreateAddrSpaceCast(
        B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base, Offset),
        G->getType());
    G->replaceUsesWithIf(Place, [&](Use &U) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      return I && I->getFunction() == &Entry;
    });
  }
}

} // namespace cupilot
