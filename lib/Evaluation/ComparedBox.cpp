//===- ComparedBox.cpp - A domain of one launch ---------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeriveDomain.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// Whether a launch may hand in the same memory behind both, and it matters.
static bool mayConflict(const Kernel &K, const PointerRef &A,
                        const PointerRef &B) {
  auto Of = [&](const PointerRef &P) -> const KernelParam * {
    return P.Offset == 0 && P.Param < K.Params.size() ? &K.Params[P.Param]
                                                      : nullptr;
  };
  const KernelParam *PA = Of(A), *PB = Of(B);
  if (!PA || !PB)
    return true;
  return !PA->Restrict && !PB->Restrict &&
         !(PA->PointeeConst && PB->PointeeConst);
}

Expected<DomainBox> comparedBox(const Kernel &K, StringRef Original,
                                StringRef Variant, const LaunchPlan &Plan,
                                const Workload &W) {
  Expected<CodeFacts> Own = factsOf(K, Original, K.Symbol, /*OwnLaunch=*/true),
                      Theirs = factsOf(K, Variant, Plan);
  if (!Own || !Theirs)
    return joinErrors(Own ? Error::success() : Own.takeError(),
                      Theirs ? Error::success() : Theirs.takeError());
  CodeFacts Facts = both(std::move(*Own), *Theirs);
  Expected<Bindings> B = bindLaunch(W.Shape, K.Scalars, W.Args);
  if (!B)
    return B.takeError();
  DomainBox Box;
  Box.Seen = DomainBox::By::Gpu;
  auto Is = [&](Expr E, int64_t V) {
    Box.Ranges.push_back({std::move(E), {{V, V}}});
  };
  for (unsigned I = 0; I < K.Scalars.size(); ++I)
    if (Facts.Scalars[I].Used && !Facts.Scalars[I].isData())
      Is(Expr::symbol(I), B->Symbols[I]);
  for (unsigned D = 0; D < NumLaunchDims; ++D)
    if (D != SharedBytes || Facts.Dims[D].Used)
      Is(Expr::dim(D), B->Dims[D]);
  for (const auto &[Number, Use] : Facts.Floats) {
    uint64_t Raw = 0;
    const unsigned Bytes = Number.bits() / 8;
    if (!Use.Used || Number.Param >= W.Args.size() ||
        Number.Offset + Bytes > W.Args[Number.Param].size())
      continue;
    std::memcpy(&Raw, W.Args[Number.Param].data() + Number.Offset, Bytes);
    int64_t Key = floatKey(Raw, Number.bits());
    Box.Floats.push_back({Number, {{Key, Key}}});
  }
  std::vector<const WorkloadPointer *> Known;
  for (size_t I = 0; I < K.Pointers.size(); ++I) {
    const PointerRef &P = K.Pointers[I];
    auto At = find_if(W.Pointers, [&](const WorkloadPointer &Each) {
      return Each.Param == P.Param && Each.Offset == P.Offset;
    });
    Known.push_back(At == W.Pointers.end() ? nullptr : &*At);
    if (!Facts.Pointers[I].Used)
      continue;
    Box.Nulls.push_back({P, !Known.back()});
    if (!Known.back())
      continue;
    constexpr uint64_t WidestAccess = 16;
    uint64_t Aligned =
        MinAlign(MinAlign(W.Buffers[At->Buffer].Alignment, At->BufferOffset),
                 WidestAccess);
    if (Aligned > 1)
      Box.Alignments.push_back({P, static_cast<unsigned>(Aligned)});
  }
  for (size_t I = 0; I < Known.size(); ++I)
    for (size_t J = I + 1; J < Known.size(); ++J) {
      const WorkloadPointer *A = Known[I], *C = Known[J];
      if (!A || !C || !Facts.Pointers[I].Used || !Facts.Pointers[J].Used ||
          !mayConflict(K, K.Pointers[I], K.Pointers[J]))
        continue;
      PairClause Clause{K.Pointers[I], K.Pointers[J], false, {}, {}};
      Clause.Equal =
          A->Buffer == C->Buffer && A->BufferOffset == C->BufferOffset;
      auto Behind = [&](const WorkloadPointer &P) {
        return Extents{Expr::constant(0),
                       Expr::constant(static_cast<int64_t>(
                           W.Buffers[P.Buffer].Size - P.BufferOffset))};
      };
      if (!Clause.Equal) {
        Clause.OfA = Behind(*A);
        Clause.OfB = Behind(*C);
      }
      Box.Pairs.push_back(std::move(Clause));
    }
  return Box;
}

} // namespace cupilot
