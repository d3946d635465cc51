//===- LoadedWalk.h - Loaded integers through a kernel ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_LOADEDWALK_H
#define CUPILOT_LIB_EVALUATION_LOADEDWALK_H

#include "LoadedIntegers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace cupilot {

/// Places by their number: bit I stands for the I-th that is loaded from.
using Roots = uint64_t;

/// Follows loaded integers through one kernel.
class LoadedWalk {
public:
  explicit LoadedWalk(const llvm::Function &F)
      : F(F), Dominators(const_cast<llvm::Function &>(F)), Loops(Dominators) {
    findSources();
    spread();
    while (countTurns())
      spread();
  }
  std::vector<LoadedIntegers> facts() const;
  std::vector<LoadedBound> bounds() const;
  /// Bounds of Kind::NarrowSum, for indices and wider results. Those with
  /// constants alone count in an original, which may go on from there; nobody
  /// leaves a type by them.
  std::vector<LoadedBound> narrowSums(bool WithConstants) const;
  /// Where integers from memory are summed up or multiplied with something else
  /// than a constant, and in how many bits; in 64 where pointers are added.
  std::vector<std::pair<LoadedFrom, unsigned>> sums() const;

private:
  void findSources();
  void spread();
  bool countTurns();
  Roots rootBit(const LoadedFrom &From);
  bool isChanged(const LoadedFrom &From) const;
  Roots of(const llvm::Value *V) const { return Data.lookup(V); }
  /// Loaded, or counted up to what was loaded.
  Roots anyOf(const llvm::Value *V) const {
    return Data.lookup(V) | Counted.lookup(V);
  }
  Roots throughMemory(const llvm::Value *Address) const;
  void exits(const llvm::Loop &L,
             llvm::SmallVectorImpl<const llvm::ICmpInst *> &Compares) const;
  bool decides(const llvm::Value *V,
               llvm::SmallPtrSetImpl<const llvm::Value *> &Seen) const;
  /// Whether the floating number \p Number becomes an integer again that
  /// decides something.
  bool returns(const llvm::Value *Number,
               llvm::SmallPtrSetImpl<const llvm::Value *> &Seen) const;
  void addBounds(Roots Of, LoadedBound::Kind K, uint64_t Bound,
                 const llvm::Instruction &I,
                 std::vector<LoadedBound> &To) const;

  const llvm::Function &F;
  llvm::DominatorTree Dominators;
  llvm::LoopInfo Loops;
  std::vector<LoadedFrom> Sources;
  llvm::DenseMap<const llvm::Value *, Roots> Read; ///< What loads read.
  llvm::DenseMap<const llvm::Value *, Roots>
      Data; ///< Values computed from loaded ones.
  llvm::DenseMap<const llvm::Value *, Roots>
      Counted; ///< Loop counters that end at them.
  llvm::DenseMap<const llvm::Value *, Roots> Kept; ///< What variables hold.
};

/// \p V as it is before casts.
const llvm::Value *uncast(const llvm::Value *V);
/// The counter of \p L in \p V: a number of its header, or one that is a fixed
/// step away.
const llvm::PHINode *counterIn(const llvm::Value *V, const llvm::Loop &L);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_LOADEDWALK_H
