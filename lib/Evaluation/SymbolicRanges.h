//===- SymbolicRanges.h - Between which expressions values lie -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_SYMBOLICRANGES_H
#define CUPILOT_LIB_EVALUATION_SYMBOLICRANGES_H

#include "Dependence.h"

namespace cupilot {

/// The least and the largest value over all threads and turns of loops, as
/// expressions of launch and scalars, for extents that are not negative;
/// nothing where that is not known.
struct SymbolicRange {
  std::optional<Polynomial> Low, High;
  /// The same in all threads.
  bool isExact() const { return Low && High && *Low == *High; }
  static SymbolicRange exactly(std::optional<Polynomial> P) { return {P, P}; }
};

/// The ranges of a kernel's values.
class SymbolicRanges {
public:
  /// Where counters of loops are as their bodies see them.
  explicit SymbolicRanges(const Dependence &Of) : Of(Of) {}
  /// As a block sees them whose innermost loop is \p Inside; null: none. A
  /// counter is beyond its bound where its loop has ended.
  SymbolicRanges(const Dependence &Of, const llvm::Loop *Inside)
      : Of(Of), Inside(Inside) {}
  const SymbolicRange &of(const llvm::Value &V);

  /// A counter of a loop.
  struct Counter {
    std::optional<int64_t> Step;     ///< Where it is a constant.
    const llvm::Value *By = nullptr; ///< What is added, where it is something.
    unsigned Shift = 0; ///< It loses so many bits in a turn instead.
    /// Beyond the last value that the loop's body sees, and how that is
    /// compared.
    std::optional<SymbolicRange> Bound;
    const llvm::Instruction *Test = nullptr; ///< The comparison.
  };
  /// What \p Phi counts, where it begins a loop.
  std::optional<Counter> counterOf(const llvm::PHINode &Phi);
  /// The turns of the loop that \p Header begins, at most.
  std::optional<Polynomial> turnsOf(const llvm::BasicBlock &Header);
  /// What a phi that begins \p L is before.
  SymbolicRange before(const llvm::PHINode &Phi, const llvm::Loop &L) {
    return merged(beforeLoop(Phi, L));
  }

private:
  static llvm::SmallVector<const llvm::Value *>
  beforeLoop(const llvm::PHINode &Phi, const llvm::Loop &L);
  SymbolicRange compute(const llvm::Value &V);
  SymbolicRange binary(const llvm::BinaryOperator &I);
  SymbolicRange leaf(const Leaf &L);
  SymbolicRange merged(llvm::ArrayRef<const llvm::Value *> Values);
  SymbolicRange header(const llvm::PHINode &Phi);
  bool isSeenInside(const llvm::Loop &L, const Counter &C) const;
  SymbolicRange widened(SymbolicRange Begin, const Counter &C);
  SymbolicRange minimum(const llvm::Value &A, const llvm::Value &B, bool Most);
  SymbolicRange remainder(const SymbolicRange &A, const SymbolicRange &B);
  SymbolicRange quotient(const SymbolicRange &A, const SymbolicRange &B);

  const Dependence &Of;
  std::optional<const llvm::Loop *> Inside;
  llvm::DenseMap<const llvm::Value *, SymbolicRange> Known;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_SYMBOLICRANGES_H
