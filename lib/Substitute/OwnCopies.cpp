//===- OwnCopies.cpp - Functions that other units may have too -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OwnCopies.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace cupilot {

bool isShared(const Function &F) {
  return !F.isDeclaration() && (F.hasLinkOnceLinkage() || F.hasWeakLinkage() ||
                                F.hasAvailableExternallyLinkage());
}

bool hasOwnBody(const Function &F) {
  return !isShared(F) || F.hasWeakODRLinkage();
}

/// A body that the linker may replace by one of another meaning is no one's to
/// copy.
static bool mayCopy(const Function &F) {
  return isShared(F) && !F.isInterposable();
}

OwnCopies makeOwnCopies(Module &M,
                        function_ref<bool(const CallBase &)> Wanted) {
  SetVector<Function *> Affected;
  for (Function &F : M)
    if (mayCopy(F) && any_of(instructions(F), [&](const Instruction &I) {
          auto *Call = dyn_cast<CallBase>(&I);
          return Call && Wanted(*Call);
        }))
      Affected.insert(&F);
  for (size_t I = 0; I < Affected.size(); ++I)
    for (const User *U : Affected[I]->users())
      if (auto *Call = dyn_cast<CallBase>(U);
          Call && Call->getCalledOperand() == Affected[I] &&
          mayCopy(*Call->getFunction()))
        Affected.insert(const_cast<Function *>(Call->getFunction()));

  OwnCopies Copies;
  for (Function *F : Affected) {
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(F, Map);
    Copy->setName(F->getName() + ".cupilot");
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setVisibility(GlobalValue::DefaultVisibility);
    Copy->setComdat(nullptr);
    Copies[F] = Copy;
  }
  for (auto [F, Copy] : Copies)
    for (Use &U : make_early_inc_range(F->uses()))
      if (auto *Call = dyn_cast<CallBase>(U.getUser());
          Call && Call->isCallee(&U) && hasOwnBody(*Call->getFunction()))
        U.set(Copy);
  return Copies;
}

} // namespace cupilot
