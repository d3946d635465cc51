//===- Domain.cpp - Where a variant was proved ----------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Domain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <map>

using namespace llvm;

namespace cupilot {

using RawArgs = ArrayRef<std::vector<uint8_t>>;

static uint64_t raw(RawArgs Args, unsigned Param, unsigned Offset,
                    unsigned Bytes) {
  uint64_t Value = 0;
  if (Param < Args.size() && Offset + Bytes <= Args[Param].size())
    std::memcpy(&Value, Args[Param].data() + Offset, Bytes);
  return Value;
}

static uint64_t addressOf(RawArgs Args, const PointerRef &P) {
  return raw(Args, P.Param, P.Offset, 8);
}

static bool in(ArrayRef<Interval> All, int64_t V) {
  return any_of(All, [&](const Interval &I) { return I.contains(V); });
}

static bool holds(const RangeClause &C, const Bindings &B) {
  std::optional<int64_t> V = evaluate(C.E, B);
  return V && in(C.In, *V);
}

static bool holds(const ResidueClause &C, const Bindings &B) {
  std::optional<int64_t> V = evaluate(C.E, B);
  if (!V || C.Modulus < 1)
    return false;
  int64_t Rest = *V % C.Modulus;
  return is_contained(C.In, Rest < 0 ? Rest + C.Modulus : Rest);
}

namespace {
/// The bytes behind a pointer.
struct Span {
  uint64_t Begin, End;
};
} // namespace

/// Nothing where an expression has no value, or the bytes lie across the ends
/// of the address space.
static std::optional<Span> spanOf(uint64_t Base, const Extents &E,
                                  const Bindings &B) {
  std::optional<int64_t> Begin = evaluate(E.Begin, B), End = evaluate(E.End, B);
  if (!Begin || !End || *End < *Begin)
    return std::nullopt;
  Span S{Base + static_cast<uint64_t>(*Begin),
         Base + static_cast<uint64_t>(*End)};
  bool Crosses = (*Begin < 0 ? S.Begin > Base : S.Begin < Base) ||
                 (*End < 0 ? S.End > Base : S.End < Base);
  return Crosses ? std::nullopt : std::optional(S);
}

static bool holds(const PairClause &C, const Bindings &B, RawArgs Args) {
  uint64_t PA = addressOf(Args, C.A), PB = addressOf(Args, C.B);
  if (C.Equal)
    return PA == PB;
  if (PA == 0 || PB == 0)
    return true;
  std::optional<Span> SA = spanOf(PA, C.OfA, B), SB = spanOf(PB, C.OfB, B);
  return SA && SB &&
         (SA->Begin == SA->End || SB->Begin == SB->End ||
          SA->End <= SB->Begin || SB->End <= SA->Begin);
}

bool holds(const DomainBox &Box, size_t Index, const Bindings &B,
           RawArgs Args) {
  if (Index < Box.Ranges.size())
    return holds(Box.Ranges[Index], B);
  Index -= Box.Ranges.size();
  if (Index < Box.Residues.size())
    return holds(Box.Residues[Index], B);
  Index -= Box.Residues.size();
  if (Index < Box.Floats.size()) {
    const FloatClause &C = Box.Floats[Index];
    return in(C.In, floatKey(raw(Args, C.Number.Param, C.Number.Offset,
                                 C.Number.bits() / 8),
                             C.Number.bits()));
  }
  Index -= Box.Floats.size();
  if (Index < Box.Nulls.size()) {
    const NullClause &C = Box.Nulls[Index];
    return (addressOf(Args, C.Pointer) == 0) == C.IsNull;
  }
  Index -= Box.Nulls.size();
  if (Index < Box.Alignments.size()) {
    const Alignment &A = Box.Alignments[Index];
    return (addressOf(Args, A.Pointer) & (A.Bytes - 1)) == 0;
  }
  return holds(Box.Pairs[Index - Box.Alignments.size()], B, Args);
}

static size_t failing(const DomainBox &Box, const Bindings &B, RawArgs Args,
                      size_t &First) {
  size_t Count = 0;
  for (size_t I = Box.size(); I-- > 0;)
    if (!holds(Box, I, B, Args)) {
      ++Count;
      First = I;
    }
  return Count;
}

bool contains(const DomainBox &Box, const Bindings &B, RawArgs Args) {
  for (size_t I = 0; I < Box.size(); ++I)
    if (!holds(Box, I, B, Args))
      return false;
  return true;
}

bool contains(const Domain &D, const Bindings &B, RawArgs Args) {
  return any_of(D.Boxes,
                [&](const DomainBox &Box) { return contains(Box, B, Args); });
}

std::optional<ClauseRef> clauseOutside(const Domain &D, const Bindings &B,
                                       RawArgs Args) {
  std::optional<ClauseRef> Why;
  size_t Fewest = SIZE_MAX;
  for (size_t I = 0; I < D.Boxes.size(); ++I) {
    size_t First = 0, Count = failing(D.Boxes[I], B, Args, First);
    if (Count == 0)
      return std::nullopt;
    if (Count < Fewest) {
      Fewest = Count;
      Why = {I, First};
    }
  }
  return Why;
}

/// Text that orders boxes, whoever saw them.
static std::string contentOf(DomainBox Box) {
  Box.Seen = DomainBox::By::Gate;
  return formatv("{0}", toJSON(Domain{{std::move(Box)}})).str();
}

Domain unite(Domain A, const Domain &B) {
  if (A == B)
    return A;
  // By content, then as the gate's come first.
  std::map<std::pair<std::string, DomainBox::By>, DomainBox> All;
  append_range(A.Boxes, B.Boxes);
  for (DomainBox &Box : A.Boxes) {
    std::string Content = contentOf(Box);
    DomainBox::By Seen = Box.Seen;
    All.try_emplace({std::move(Content), Seen}, std::move(Box));
  }
  A.Boxes.clear();
  StringRef Before;
  for (auto &[Key, Box] : All) {
    if (A.Boxes.empty() || Key.first != Before)
      A.Boxes.push_back(std::move(Box));
    Before = Key.first;
  }
  return A;
}

std::optional<Domain> provedPart(const Domain &D) {
  Domain Proved = D;
  erase_if(Proved.Boxes, [](const DomainBox &Box) {
    return Box.Seen != DomainBox::By::Gate;
  });
  if (Proved.Boxes.empty())
    return std::nullopt;
  return Proved;
}

} // namespace cupilot
