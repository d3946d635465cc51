//===- OwnCopies.h - Functions that other units may have too -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_OWNCOPIES_H
#define CUPILOT_LIB_SUBSTITUTE_OWNCOPIES_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class CallBase;
class Function;
class Module;
} // namespace llvm

namespace cupilot {

/// True when the linker may take another unit's body for \p F (templates,
/// inline functions).
bool isShared(const llvm::Function &F);

/// True when the body of \p F is this unit's to change: what no other unit has,
/// and explicit instantiations, of which a program has at most one each
/// ([temp.explicit]) and which others call here.
bool hasOwnBody(const llvm::Function &F);

/// A shared function, and this unit's own copy of it.
using OwnCopies = llvm::MapVector<llvm::Function *, llvm::Function *>;

/// Gives the unit internal copies of all shared functions (but of weak ones,
/// which another unit may replace) from which a call
/// that \p Wanted picks can be reached by calls through shared functions alone,
/// and lets the unit's own calls go to them. The shared functions stay as they
/// are, so that the order of linking decides nothing. Uses of their addresses
/// stay theirs.
OwnCopies
makeOwnCopies(llvm::Module &M,
              llvm::function_ref<bool(const llvm::CallBase &)> Wanted);

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_OWNCOPIES_H
