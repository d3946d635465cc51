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
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace cupilot {

/// The module's shared variables, used in \p F by instructions only.
static SmallVector<GlobalVariable *> variablesOf(Function &F) {
  SmallVector<Constant *> All;
  for (GlobalVariable &G : F.getParent()->globals())
    if (G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
      All.push_back(&G);
  if (!All.empty())
    convertUsersOfConstantsToInstructions(All, &F);
  SmallVector<GlobalVariable *> Used;
  for (Constant *C : All)
    if (any_of(C->users(), [&](User *U) {
          auto *I = dyn_cast<Instruction>(U);
          return I && I->getFunction() == &F;
        }))
      Used.push_back(cast<GlobalVariable>(C));
  return Used;
}

void SharedLayout::add(GlobalVariable &G) {
  if (G.isDeclaration() || Offsets.count(&G))
    return; // Dynamic arrays lie behind all others.
  const DataLayout &DL = G.getParent()->getDataLayout();
  Size = alignTo(Size,
                 G.getAlign().value_or(DL.getABITypeAlign(G.getValueType())));
  Offsets[&G] = Size;
  Size += DL.getTypeAllocSize(G.getValueType());
  if (G.getName() == ReservedSharedName)
    Reserved = DL.getTypeAllocSize(G.getValueType());
}

SharedLayout layoutShared(ArrayRef<Function *> Functions) {
  SharedLayout Layout;
  for (Function *F : Functions)
    for (GlobalVariable *G : variablesOf(*F))
      Layout.add(*G);
  return Layout;
}

/// Replaces the variables in \p F. \p Dynamic makes the address of the dynamic
/// part.
static void place(Function &F, const SharedLayout &Layout,
                  function_ref<Value *(IRBuilder<> &, Value *)> Dynamic) {
  SmallVector<GlobalVariable *> Used = variablesOf(F);
  if (Used.empty())
    return;
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  Value *Base =
      B.CreateLoad(B.getPtrTy(), contextField(B, F, FieldShared), "shared");
  for (GlobalVariable *G : Used) {
    Value *At = G->isDeclaration()
                    ? Dynamic(B, Base)
                    : B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base,
                                                   Layout.Offsets.lookup(G));
    At = B.CreateAddrSpaceCast(At, G->getType());
    G->replaceUsesWithIf(At, [&](Use &U) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      return I && I->getFunction() == &F;
    });
  }
}

void lowerShared(Function &Entry, LoweredKernel &K, SharedLayout Layout) {
  for (GlobalVariable *G : variablesOf(Entry))
    Layout.add(*G);
  K.StaticShared = alignTo(Layout.Size, 16);
  K.ReservedShared = Layout.Reserved;
  place(Entry, Layout, [&](IRBuilder<> &B, Value *Base) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base, K.StaticShared);
  });
}

void lowerSharedOfFunction(Function &F, const SharedLayout &Layout) {
  place(F, Layout, [&](IRBuilder<> &B, Value *) {
    // It depends on the kernel.
    return B.CreateCall(
        F.getParent()->getOrInsertFunction("cupilot_rt_dynamic_shared",
                                           B.getPtrTy(), B.getPtrTy()),
        {F.getArg(0)});
  });
}

} // namespace cupilot
