//===- EndCases.cpp - Launches at the ends of a box -----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DomainCases.h"
#include "InputValues.h"
#include "Original.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

/// At most 16, and as even as \p V up to that.
static int64_t leastAlike(int64_t V) {
  constexpr int64_t Most = 16;
  return V <= Most ? V : V % Most ? V % Most : Most;
}

static bool isIn(const DomainBox &Box, const Kernel &K, const GateCase &C) {
  const TriedLaunch L = triedLaunch(K, C);
  return contains(Domain{{Box}}, L.B, L.Args);
}

/// Gives \p C more blocks than its sizes need.
static void crowd(GateCase &C, unsigned Dim, uint64_t Blocks) {
  C.Shape.Grid[Dim] = Blocks;
  if (!is_contained(C.Crowded, Dim))
    C.Crowded.push_back(Dim);
  C.Name += std::string(" grid.") + "xyz"[Dim] + "=" + std::to_string(Blocks);
}

void DomainCases::addSurplus(const GateCase &From) {
  const Values At = Model.baseValues();
  Values Least = At;
  for (int64_t &V : Least)
    V = leastAlike(V);
  auto Add = [&](const Values &V, ArrayRef<GridRule> Rules, uint64_t Times) {
    Entries.push_back(
        {[this, &From, V, Rules, Times]() -> std::optional<GateCase> {
           std::optional<GateCase> C = Model.at(From, V, MostBytes);
           if (!C)
             return std::nullopt;
           for (const GridRule &R : Rules) {
             const uint64_t Blocks = C->Shape.Grid[R.Dim];
             crowd(*C, R.Dim,
                   std::min(uint64_t(MaxGrid[R.Dim]), Times * Blocks + 1));
           }
           return C;
         },
         false, nullptr, nullptr});
  };
  ArrayRef<GridRule> Rules = Model.rules();
  if (Rules.empty())
    return;
  Add(At, Rules, 2);
  for (size_t I = 0; I < Rules.size(); ++I)
    Add(Least, Rules.slice(I, 1), 8);
  if (Rules.size() > 1)
    Add(Least, Rules, 8);
}

Expected<const JudgedCase *>
DomainCases::findAt(const GateCase &From, const Values &V, Admission Admits,
                    function_ref<bool(GateCase &)> Change) {
  // What it touches may follow no polynomial.
  for (bool Roomy : {false, true}) {
    std::optional<GateCase> C = Model.at(From, V, MostBytes, Roomy);
    if (!C || !Admits(*C) || !Change(*C))
      continue;
    if (Roomy)
      C->Name += " roomy";
    double Unbounded = MostCost;
    Expected<const JudgedCase *> J = find(std::move(C), MostCost, Unbounded);
    if (!J || *J)
      return J;
  }
  return nullptr;
}

std::optional<DomainCases::Values>
DomainCases::sizesOf(const Bindings &Launch) const {
  Values V;
  for (const LaunchVar &Var : Model.vars()) {
    std::optional<int64_t> Value = evaluate(Var.expr(), Launch);
    if (!Value)
      return std::nullopt;
    V.push_back(*Value);
  }
  return V;
}

Expected<const JudgedCase *> DomainCases::like(const Bindings &Sizes,
                                               const DomainBox &Box,
                                               Admission Admits) {
  auto From = find_if(drop_begin(Froms), [&](const auto &Each) {
    return isIn(Box, O.kernel(), *Each);
  });
  if (From == Froms.end())
    return nullptr;
  std::optional<Values> V = sizesOf(Sizes);
  if (!V)
    return nullptr;
  return findAt(**From, *V, Admits, [](GateCase &) { return true; });
}

Expected<const JudgedCase *> DomainCases::withOwnBlocks(const Bindings &Launch,
                                                        const DomainBox &Box,
                                                        Admission Admits) {
  std::optional<Values> V = sizesOf(Launch);
  if (!V)
    return nullptr;
  return findAt(*Froms.front(), *V, Admits, [&](GateCase &C) {
    for (unsigned D = 0; D < 3; ++D)
      if (auto Blocks = static_cast<uint64_t>(Launch.Dims[GridX + D]);
          Blocks > C.Shape.Grid[D])
        crowd(C, D, Blocks);
    return isIn(Box, O.kernel(), C);
  });
}

Expected<const JudgedCase *> DomainCases::crowded(ArrayRef<int64_t> Sizes,
                                                  ArrayRef<unsigned> Dims,
                                                  const DomainBox &Box,
                                                  Admission Admits) {
  // The original may not bear the most: it may cost too much.
  constexpr uint64_t Step = 2, LeastShare = 1 << 16;
  for (uint64_t Share = 1; Share <= LeastShare; Share *= Step) {
    bool AnyMore = false;
    Expected<const JudgedCase *> J =
        findAt(*Froms.front(), Values(Sizes), Admits, [&](GateCase &C) {
          for (unsigned Dim : Dims) {
            std::optional<Interval> In = rangeIn(Expr::dim(GridX + Dim), Box);
            const int64_t Most =
                In ? std::clamp<int64_t>(In->Most, 1, MaxGrid[Dim]) : 1;
            const uint64_t More = divideCeil(uint64_t(Most), Share);
            if (More <= C.Shape.Grid[Dim])
              continue;
            AnyMore = true;
            crowd(C, Dim, More);
          }
          return AnyMore && isIn(Box, O.kernel(), C);
        });
    if (!J || *J)
      return J;
    if (!AnyMore)
      break;
  }
  return nullptr;
}

void refill(GateCase &C, const GateCase &From, uint64_t Seed, unsigned Round,
            ArrayRef<int64_t> Lengths, ArrayRef<int64_t> Was) {
  const uint64_t Drawn = drawAt(Seed, 0, Round);
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    // What lies there may have some that are a thousand times as large.
    if (I < From.Buffers.size() && !From.Buffers[I].empty())
      for (size_t At = 0; At < C.Buffers[I].size(); ++At)
        C.Buffers[I][At] = From.Buffers[I][At % From.Buffers[I].size()];
    if (C.Layouts[I].hasIntegers())
      permuteIntegers(C, I, Drawn + I);
    varyCopies(C, I, 0, Drawn);
    if (Round % 4 == 1)
      addSpikes(C, I, Drawn, Lengths);
    if (Round % 4 == 3)
      addPeaks(C, I, Drawn, Round / 4, Lengths, Was);
  }
  if (Round % 4 == 2)
    addTwins(C, Drawn, Round / 4, Lengths);
  C.Name += " content " + std::to_string(Round);
}

Expected<const JudgedCase *>
DomainCases::sized(ArrayRef<int64_t> Sizes, const DomainBox &Box,
                   Admission Admits, uint64_t Threads, bool SameThreads,
                   uint64_t Height, std::optional<unsigned> Content) {
  auto IsIn = [&](GateCase &C) {
    if (!isIn(Box, O.kernel(), C))
      return false;
    if (Content)
      refill(C, *Froms.front(), O.context().Seed, *Content, Sizes,
             Model.baseValues());
    return true;
  };
  return findAt(*Froms.front(), Values(Sizes), Admits, [&](GateCase &C) {
    LaunchShape &S = C.Shape;
    const uint64_t New[2] = {Threads ? Threads : S.Block[0],
                             Height ? Height : S.Block[1]};
    if (New[0] * New[1] * S.Block[2] > MaxBlockThreads)
      return IsIn(C);
    for (unsigned D = 0; D < 2; ++D) {
      const uint64_t Old = std::exchange(S.Block[D], New[D]);
      if (Old == New[D])
        continue;
      const std::string Axis = std::string(".") + "xy"[D] + "=";
      C.Name += " block" + Axis + std::to_string(New[D]);
      if (!SameThreads)
        continue;
      // As far as the box lets it.
      const uint64_t Least = S.Grid[D];
      S.Grid[D] =
          std::min(divideCeil(Least * Old, New[D]), uint64_t(MaxGrid[D]));
      while (S.Grid[D] > Least && !isIn(Box, O.kernel(), C))
        S.Grid[D] = Least + (S.Grid[D] - Least) / 2;
      C.Name += " grid" + Axis + std::to_string(S.Grid[D]);
    }
    return IsIn(C);
  });
}

Expected<const JudgedCase *>
DomainCases::numbered(ArrayRef<std::pair<FloatRef, double>> Numbers,
                      const DomainBox &Box, Admission Admits) {
  return findAt(*Froms.front(), Model.baseValues(), Admits, [&](GateCase &C) {
    for (const auto &[Number, Value] : Numbers) {
      writeFloat(C, Number, Value);
      C.ChangedFloats.push_back(Number);
      raw_string_ostream(C.Name)
          << " " << O.kernel().Params[Number.Param].Name
          << (Number.Offset ? "." + std::to_string(Number.Offset) : "") << "="
          << format("%.9g", Value);
    }
    return isIn(Box, O.kernel(), C);
  });
}

Expected<const JudgedCase *> DomainCases::tight(ArrayRef<int64_t> Sizes,
                                                const DomainBox &Box,
                                                Admission Admits) {
  if (Froms.front()->Shape.Shared == 0)
    return nullptr;
  std::optional<GateCase> C = withLeastShared(*Froms.front(), Values(Sizes));
  if (!C)
    return nullptr;
  if (std::optional<Interval> In = rangeIn(Expr::dim(SharedBytes), Box))
    C->Shape.Shared = std::max(C->Shape.Shared, uint64_t(In->Least));
  if (!Admits(*C) || !isIn(Box, O.kernel(), *C))
    return nullptr;
  double Unbounded = MostCost;
  return find(std::move(C), MostCost, Unbounded);
}

} // namespace cupilot
