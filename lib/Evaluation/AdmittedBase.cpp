//===- AdmittedBase.cpp - A small launch that a guard admits --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Original.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace cupilot {

/// What is made smaller until it costs no more, in instructions of threads.
static constexpr double SmallCost = 1e6;

/// Numbers below \p Value, the smallest first.
static SmallVector<uint64_t, 32> smallerThan(uint64_t Value, uint64_t Least) {
  SmallVector<uint64_t, 32> Values;
  for (unsigned Shift = 40; Shift > 0; --Shift)
    if (uint64_t V = Value >> Shift; V >= Least && !is_contained(Values, V))
      Values.push_back(V);
  return Values;
}

/// The grid of \p C in proportion, where a size was \p Before and is \p Now.
static void tightenGrid(GateCase &C, uint64_t Before, uint64_t Now,
                        DomainCases::Admission Admits) {
  for (uint64_t &Blocks : C.Shape.Grid) {
    uint64_t All = Blocks;
    Blocks = std::max<uint64_t>(divideCeil(All * Now, Before), 1);
    if (!Admits(C))
      Blocks = All;
  }
}

Expected<std::optional<GateCase>>
OriginalRuns::admittedCase(size_t Index, DomainCases::Admission Admits) {
  constexpr unsigned MostRuns = 64;
  Expected<GateCase> Captured = captured(Bases[Index]->Workload);
  if (!Captured)
    return Captured.takeError();
  if (!Admits(*Captured))
    return std::nullopt;
  GateCase Best = std::move(*Captured);
  Expected<double> Cost = estimate(Best, /*Deep=*/true);
  if (!Cost)
    return Cost.takeError();
  if (*Cost < 0 && *Cost != DomainCases::TooMuch)
    return std::nullopt;
  double Now = *Cost < 0 ? LargestCost : *Cost;
  SmallVector<Extent> Extents;
  for (const ScalarRef &S : kernel().Scalars)
    Extents.push_back({&S, 0});
  for (unsigned D : {2, 1, 0})
    Extents.push_back({nullptr, D});
  unsigned Runs = 0;
  for (const Extent &E : Extents) {
    uint64_t Value =
        E.Scalar ? readScalar(Best, *E.Scalar) : Best.Shape.Grid[E.GridDim];
    bool Smaller = Value >> 31 || Now <= SmallCost;
    for (uint64_t Wanted : smallerThan(Value, E.Scalar ? 8 : 1))
      for (Fit F : {Fit::All, Fit::Larger, Fit::Equal, Fit::None}) {
        if (Smaller || Runs == MostRuns)
          break;
        GateCase Try = resized(*Context, Best, E, Wanted, F, true);
        // How much a block does stays, as when the base was made smaller.
        if ((E.Scalar && Try.Shape.Grid == Best.Shape.Grid) || !Admits(Try))
          continue;
        ++Runs;
        Expected<double> Less = estimate(Try, /*Deep=*/true);
        if (!Less)
          return Less.takeError();
        if (*Less < 0 || *Less > 0.75 * Now)
          continue;
        Best = std::move(Try);
        Now = *Less;
        Smaller = true;
      }
    if (E.Scalar && Smaller && Value > 0)
      tightenGrid(Best, Value, readScalar(Best, *E.Scalar), Admits);
  }
  if (Now >= LargestCost)
    return std::nullopt;
  return Best;
}

Expected<DomainCases *>
OriginalRuns::domainCases(size_t Index, DomainCases::Admission Admits) {
  Expected<DomainCases *> Usual = domainCases(Index);
  if (!Usual || Admits(*Bases[Index]))
    return Usual;
  Expected<std::optional<GateCase>> Case = admittedCase(Index, Admits);
  if (!Case)
    return Case.takeError();
  if (!*Case)
    return Usual;
  AdmittedBase &Found = BaseStates[Index].Admitted[(**Case).Name];
  if (Found.Cases || Found.Fails)
    return Found.Cases ? Found.Cases.get() : *Usual;
  Found.Fails = true; // Until it did not.
  GateCase &C = **Case;
  C.Captured = false;
  C.Doubtful = C.Thorough = C.Ordered = true;
  C.PureOutput.clear();
  Expected<std::unique_ptr<JudgedCase>> J = prepare(std::move(C));
  if (!J)
    return J.takeError();
  if (!*J)
    return Usual;
  Expected<const CodeFacts *> Own = facts();
  if (!Own)
    return Own.takeError();
  Expected<std::unique_ptr<DomainCases>> D = DomainCases::of(*this, **J, **Own);
  if (!D)
    return D.takeError();
  Found.Base = std::move(*J);
  Found.Cases = std::move(*D);
  return Found.Cases.get();
}

} // namespace cupilot
