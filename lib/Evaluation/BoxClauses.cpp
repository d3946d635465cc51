//===- BoxClauses.cpp - What a box says of its launches -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoxMaker.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace llvm;

namespace cupilot {

void BoxMaker::addRanges(DomainBox &Box) const {
  for (auto [Index, Value] : zip_equal(F.Flags, C.Flags))
    Box.Ranges.push_back({Expr::symbol(Index), {{Value, Value}}});
  auto HullOf = [&](const Expr &E) -> std::optional<Interval> {
    auto At = find(Coordinates, E);
    if (At == Coordinates.end())
      return std::nullopt;
    return Hull[At - Coordinates.begin()];
  };
  for (size_t I = 0; I < Coordinates.size(); ++I) {
    if (Idle[I])
      continue;
    RangeClause Clause{Coordinates[I], {}};
    if (Listed[I]) {
      std::set<int64_t> Values;
      for (const Point &P : Right)
        Values.insert(P.At[I]);
      for (int64_t V : Values)
        Clause.In.push_back({V, V});
    } else {
      Clause.In.push_back(Hull[I]);
    }
    // A product of two that has no more than its factors allow says nothing.
    const Expr &E = Coordinates[I];
    const bool Bounded = hasLeast(I) || Listed[I];
    if (!Bounded && E.K == Expr::Kind::Mul && isVariable(E.Operands[0]) &&
        isVariable(E.Operands[1])) {
      std::optional<Interval> A = HullOf(E.Operands[0]),
                              B = HullOf(E.Operands[1]);
      if (A && B && A->Least >= 0 && B->Least >= 0) {
        int64_t Most;
        if (!MulOverflow(A->Most, B->Most, Most) && Most <= Hull[I].Most)
          continue;
      }
    }
    // Products are bounded above: what is smaller was tried in its factors.
    if (!Bounded)
      Clause.In.front().Least = std::numeric_limits<int64_t>::min();
    Box.Ranges.push_back(std::move(Clause));
  }
}

void BoxMaker::addResidues(DomainBox &Box) const {
  constexpr size_t EnoughClasses = 4;
  std::set<std::pair<size_t, int64_t>> Done;
  for (const ModulusFact &Fact : F.Facts.Moduli) {
    auto At = find(Coordinates, Fact.E);
    if (Fact.Modulus < 2 || At == Coordinates.end() || !isVariable(Fact.E))
      continue;
    size_t I = At - Coordinates.begin();
    if (!Done.insert({I, Fact.Modulus}).second || Listed[I] ||
        Hull[I].Least == Hull[I].Most)
      continue;
    const std::set<int64_t> Rests = restsOf(I, Fact.Modulus);
    bool IsListed = ListedRests.count({I, Fact.Modulus});
    size_t Wanted =
        std::min<size_t>(EnoughClasses, static_cast<size_t>(Fact.Modulus));
    // What is below the modulus has no rest of 0.
    bool HasZero = Rests.count(0) || Hull[I].Most < Fact.Modulus;
    if (!IsListed && HasZero && Rests.size() >= Wanted)
      continue;
    if (!IsListed && Rests.size() > MostRests)
      continue;
    Box.Residues.push_back(
        {Fact.E, Fact.Modulus, {Rests.begin(), Rests.end()}});
  }
}

/// The keys at which a number changes its class: zeros, infinities, and the
/// constants that either code compares it with.
static std::vector<int64_t> classEnds(const DomainFrame &F,
                                      const FloatRef &Number) {
  const unsigned Bits = Number.bits();
  uint64_t Infinity = 0;
  switch (Number.Type) {
  case FloatRef::Format::Half:
    Infinity = 0x7c00;
    break;
  case FloatRef::Format::BFloat:
    Infinity = 0x7f80;
    break;
  case FloatRef::Format::Float:
    Infinity = 0x7f800000;
    break;
  case FloatRef::Format::Double:
    Infinity = 0x7ff0000000000000;
    break;
  }
  auto High = static_cast<int64_t>(Infinity);
  std::vector<int64_t> Ends{-High - 1, -1, 0, High};
  for (const FloatThresholdFact &T : F.Facts.FloatThresholds) {
    if (!(T.Number == Number) || (Bits != 32 && Bits != 64))
      continue;
    uint64_t Raw = 0;
    if (Bits == 32) {
      float Value = static_cast<float>(T.Value);
      std::memcpy(&Raw, &Value, sizeof(Value));
    } else {
      std::memcpy(&Raw, &T.Value, sizeof(T.Value));
    }
    Ends.push_back(floatKey(Raw, Bits));
  }
  llvm::sort(Ends);
  Ends.erase(llvm::unique(Ends), Ends.end());
  return Ends;
}

void BoxMaker::addFloats(DomainBox &Box) const {
  for (const auto &[Index, Each] : enumerate(F.Facts.Floats)) {
    const auto &[Number, Use] = Each;
    if (!Use.Used)
      continue;
    std::set<int64_t> Good, Bad;
    if (auto Known = WrongNumbers.find(Index); Known != WrongNumbers.end())
      Bad = Known->second;
    for (const TriedLaunch *L : Launches)
      if (int64_t Key = keyOf(*L, Number); !L->Wrong && !Bad.count(Key))
        Good.insert(Key);
    std::vector<int64_t> Ends = classEnds(F, Number);
    auto ClassOf = [&](int64_t Key) {
      auto At = llvm::lower_bound(Ends, Key);
      bool IsEnd = At != Ends.end() && *At == Key;
      return 2 * (At - Ends.begin()) + (IsEnd ? 1 : 0);
    };
    FloatClause Clause{Number, {}};
    for (int64_t Key : Good) {
      std::vector<Interval> &In = Clause.In;
      // Within a class, what lies between two that are right is right, unless
      // one between them is not.
      bool Joins = !In.empty() && ClassOf(In.back().Most) == ClassOf(Key) &&
                   none_of(Bad, [&](int64_t B) {
                     return In.back().Most < B && B < Key;
                   });
      // Neighbours, as -0 and 0 are, make one interval, too.
      Joins |= !In.empty() && In.back().Most + 1 == Key;
      if (Joins)
        In.back().Most = Key;
      else
        In.push_back({Key, Key});
    }
    Box.Floats.push_back(std::move(Clause));
  }
}

void BoxMaker::addPointers(DomainBox &Box) const {
  ArrayRef<PointerRef> Pointers = F.K->Pointers;
  for (size_t I = 0; I < Pointers.size(); ++I)
    if (F.Facts.Pointers[I].Used)
      Box.Nulls.push_back({Pointers[I], C.Null[I]});
  auto IsRight = [&](const TriedLaunch *L) {
    return !L->Wrong && alignedBy(*L) > WrongShift;
  };
  for (size_t I = 0; I < Pointers.size(); ++I) {
    if (!F.Facts.Pointers[I].Used || C.Null[I])
      continue;
    // Every address of the cases is a multiple of what is asked for here.
    constexpr uint64_t WidestAccess = 16;
    uint64_t All = WidestAccess;
    for (const TriedLaunch *L : Launches)
      if (IsRight(L))
        while (All > 1 && addressOf(*L, Pointers[I]) % All)
          All /= 2;
    if (All > F.Natural[I])
      Box.Alignments.push_back({Pointers[I], static_cast<unsigned>(All)});
  }
  std::vector<KnownTouch> Known;
  Known.reserve(Right.size());
  for (const Point &P : Right)
    Known.push_back({P.L, P.IsAnchor});
  std::vector<Expr> Variables;
  for (const Expr &E : Coordinates)
    if (isVariable(E))
      Variables.push_back(E);
  for (auto [I, Pair] : enumerate(F.Pairs)) {
    auto [A, B] = Pair;
    if (C.Null[A] || C.Null[B])
      continue;
    PairClause Clause{Pointers[A], Pointers[B], C.Equal[I], {}, {}};
    if (!Clause.Equal) {
      Clause.OfA = touchedIn(F, A, Known, Variables);
      Clause.OfB = touchedIn(F, B, Known, Variables);
    }
    Box.Pairs.push_back(std::move(Clause));
  }
}

} // namespace cupilot
