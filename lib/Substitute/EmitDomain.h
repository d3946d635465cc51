//===- EmitDomain.h - Domains as IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_EMITDOMAIN_H
#define CUPILOT_LIB_SUBSTITUTE_EMITDOMAIN_H

#include "EmitExpr.h"

namespace cupilot {

/// Emits clauses of domains, each once, however many boxes have it.
class DomainEmitter {
public:
  explicit DomainEmitter(ExprEmitter &Exprs) : Exprs(Exprs), B(Exprs.B) {}

  /// An i1: \p Also holds and the launch lies in a box of \p D. Of several
  /// boxes, one is looked at after the other, what all ask for before them and
  /// pairs of pointers, which cost most, last. The builder is left in another
  /// block then.
  llvm::Value *contains(const Domain &D, llvm::Value *Also);
  /// An i1: clause \p Index of \p Box, counted as in ClauseRef, holds.
  llvm::Value *holds(const DomainBox &Box, size_t Index);

private:
  /// The bytes behind a pointer as i64, and whether they are right.
  struct Span {
    llvm::Value *Begin = nullptr, *End = nullptr, *Right = nullptr;
  };
  llvm::Value *emit(const RangeClause &C);
  llvm::Value *emit(const ResidueClause &C);
  llvm::Value *emit(const FloatClause &C);
  llvm::Value *emit(const NullClause &C);
  llvm::Value *emit(const Alignment &C);
  llvm::Value *emit(const PairClause &C);
  Span span(const PointerRef &P, const Extents &E);
  void tryBox(const DomainBox &Box,
              llvm::function_ref<bool(const DomainBox &, size_t)> IsCommon,
              llvm::BasicBlock *Inside, llvm::BasicBlock *Next);
  llvm::Value *in(llvm::Value *V, llvm::ArrayRef<Interval> All);
  /// \p C, emitted before or now.
  template <typename ClauseT>
  llvm::Value *
  once(std::vector<std::pair<const ClauseT *, llvm::Value *>> &Known,
       const ClauseT &C) {
    for (const auto &[Of, V] : Known)
      if (*Of == C)
        return V;
    llvm::Value *V = emit(C);
    Known.emplace_back(&C, V);
    return V;
  }

  ExprEmitter &Exprs;
  llvm::IRBuilderBase &B;
  std::vector<std::pair<const RangeClause *, llvm::Value *>> Ranges;
  std::vector<std::pair<const ResidueClause *, llvm::Value *>> Residues;
  std::vector<std::pair<const FloatClause *, llvm::Value *>> Floats;
  std::vector<std::pair<const NullClause *, llvm::Value *>> Nulls;
  std::vector<std::pair<const Alignment *, llvm::Value *>> Alignments;
  std::vector<std::pair<const PairClause *, llvm::Value *>> Pairs;
  std::vector<std::tuple<PointerRef, const Extents *, Span>> Spans;
  /// Pointers of the box that are asked not to be null.
  llvm::ArrayRef<NullClause> NotNull;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_EMITDOMAIN_H
