//===- Widen.h - Narrow floats computed in float64 --------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_LOWER_WIDEN_H
#define CUPILOT_LIB_CPUDEVICE_LOWER_WIDEN_H

#include "Lowering.h"

namespace cupilot {

/// Gives the narrow floating-point values of one function float64 twins.
class Widener {
public:
  explicit Widener(llvm::Function &F) : F(F) {}
  void run();

private:
  /// float, half, bfloat, and vectors of them.
  static bool isNarrow(llvm::Type *T);
  static llvm::Type *wideType(llvm::Type *T);
  /// The float64 value of \p V, for use before \p User.
  llvm::Value *wide(llvm::Value *V, llvm::Instruction *User);
  llvm::Value *widen(llvm::Instruction &I);
  llvm::Value *widenCall(llvm::CallInst &Call, llvm::IRBuilder<> &B);
  llvm::Value *widenAtomic(llvm::AtomicRMWInst &RMW, llvm::IRBuilder<> &B);
  void widenUser(llvm::Instruction &I);
  void finishPhis();
  void roundUses();

  // Of WidenBits.cpp: values that go through memory and through integers.
  /// The twin of the narrow scalar of type \p T that lies \p Offset bytes into
  /// \p Bits; null when it cannot be followed.
  llvm::Value *fromBits(llvm::Value *Bits, uint64_t Offset, llvm::Type *T,
                        unsigned Depth = 0);
  llvm::Value *fromLoad(llvm::LoadInst &Load, uint64_t Offset, llvm::Type *T);
  llvm::Value *fromShuffle(llvm::CallInst &Call, llvm::Type *T, unsigned Depth);
  /// The twin of a bit cast or a load of any shape.
  llvm::Value *fromReinterpreted(llvm::Instruction &I);
  /// Remembers unrounded what \p Store stores.
  void remember(llvm::StoreInst &Store);
  /// Visits the narrow scalars that make up \p Bits, with their byte offsets.
  void eachNarrow(llvm::Value *Bits, uint64_t Offset,
                  llvm::function_ref<void(uint64_t, llvm::Value *)> Visit,
                  unsigned Depth = 0);
  llvm::Value *runtime(llvm::IRBuilder<> &B, llvm::StringRef Name,
                       llvm::Type *Result, llvm::ArrayRef<llvm::Value *> Args);

  llvm::Function &F;
  llvm::DenseMap<llvm::Value *, llvm::Value *> Twins;
  llvm::DenseMap<std::pair<llvm::Value *, uint64_t>, llvm::Value *> Parts;
  llvm::SmallVector<llvm::PHINode *> Phis;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_LOWER_WIDEN_H
