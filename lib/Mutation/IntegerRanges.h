//===- IntegerRanges.h - What integers of a kernel can be -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MUTATION_INTEGERRANGES_H
#define CUPILOT_LIB_MUTATION_INTEGERRANGES_H

#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include <map>
#include <memory>
#include <set>

namespace cupilot {

/// Bounds of integers in code before optimisation, by the limits of a launch
/// (CUDA C++ Programming Guide, "Compute Capabilities"), by types, and by
/// comparisons that guard a use. What memory and arguments hold is not bounded.
class IntegerRanges {
public:
  /// All numbers that \p V can be, and perhaps more. \p V is an integer.
  llvm::ConstantRange of(const llvm::Value *V);

private:
  llvm::ConstantRange ofCall(const llvm::CallInst &Call);
  llvm::ConstantRange ofLoad(const llvm::LoadInst &Load);
  void solve(const llvm::Function &F);
  llvm::ConstantRange guarded(const llvm::LoadInst &Load,
                              const llvm::AllocaInst &Variable);
  llvm::ConstantRange ofOperation(const llvm::Value *V);
  const llvm::DominatorTree &tree(const llvm::Function &F);

  std::map<const llvm::Function *, std::unique_ptr<llvm::DominatorTree>> Trees;
  std::map<const llvm::AllocaInst *, llvm::ConstantRange> Variables;
  std::set<const llvm::Function *> Solved; ///< Its variables are known.
  std::map<const llvm::Value *, llvm::ConstantRange> Found;
};

} // namespace cupilot

#endif // CUPILOT_LIB_MUTATION_INTEGERRANGES_H
