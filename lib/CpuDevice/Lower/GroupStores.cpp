//===- GroupStores.cpp - Stores of cooperative groups' own code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of several warps let all lanes of a warp store what the warp agreed on
// at one place of their scratch memory (cooperative_groups.h,
// collectives_scheme). That is CUDA's business, and not the program's race.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace cupilot {

/// Whether a function lies in the namespace, or in a function of it, by its
/// mangled name. A function that only has one of its types in its name does
/// not.
static bool isOfGroups(StringRef Name) {
  if (!Name.consume_front("_Z"))
    return false;
  while (Name.consume_front("Z"))
    ;
  if (!Name.consume_front("N"))
    return false;
  Name = Name.drop_while([](char C) { return StringRef("rVKRO").contains(C); });
  return Name.starts_with("18cooperative_groups");
}

void markGroupStores(Module &M) {
  for (Function &F : M)
    if (isOfGroups(F.getName()))
      for (Instruction &I : instructions(F))
        if (isa<StoreInst>(I))
          I.setMetadata(OfGroupsName, MDNode::get(M.getContext(), {}));
}

} // namespace cupilot
