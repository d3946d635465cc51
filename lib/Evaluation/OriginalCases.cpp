//===- OriginalCases.cpp - The cases of a workload ------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Original.h"
#include "Ranges.h"
#include "cupilot/Support/Error.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// What a variation may cost, in instructions of threads.
static constexpr double VariationCost = 2.5e5;
/// What all variations of a workload may cost together.
static constexpr double VariationsCost = 8e8;
/// Beyond this, the captured launch itself is not run whole.
static constexpr double LargestLaunch = 4e9;
/// Where a GPU runs it, too.
static constexpr double LargestBesideGpu = 2e8;
/// Blocks that run to find out what it costs, and what they may take.
static constexpr unsigned SampledBlocks = 8;
static constexpr double MostSampleSteps = 4e9;

/// Finds the checks that the original passes: what it does itself is no reason
/// to reject a variant.
Error OriginalRuns::findChecks(const GateCase &Base) {
  for (;;) {
    Expected<LoadedKernel> Loaded = loadKernel(
        Setup.Code.runs(), RunMode::Checked, Setup.Arch, Checks, Code);
    if (!Loaded)
      return Loaded.takeError();
    Checked = std::move(*Loaded);
    Expected<RunResult> R = run(Checked, Base);
    if (!R)
      return R.takeError();
    if (!R->Fault)
      return Error::success();
    GateReason Why = reasonOf(R->Fault->Kind);
    if (Why == GateReason::Race && Checks.SameValueRaces &&
        R->Fault->SameValue) {
      Checks.SameValueRaces = false;
    } else if (Why == GateReason::Race && Checks.Races) {
      Checks.Races = false;
    } else if (Why == GateReason::UnwrittenRead && Checks.Written) {
      Checks.Written = false;
    } else if (R->Fault->Kind == FaultKind::BarrierInDivergentCode &&
               Checks.Divergence) {
      Checks.Divergence = false;
    } else {
      // Only these checks are new: without them it ran to its end.
      return Error::success();
    }
    Choices.push_back((Twine(Base.Name) + ": the original itself has a " +
                       wordsOf(R->Fault->Kind) + " (" + evidenceOf(*R->Fault) +
                       "); this is not checked")
                          .str());
  }
}

Expected<double> OriginalRuns::costOf(const GateCase &C) {
  Expected<RunResult> R = run(Counting, C);
  if (!R)
    return R.takeError();
  // A fault says that this is no launch at all.
  return R->Fault ? -1 : double(R->Counts.WarpInstructions) * 32;
}

static double blocksOf(const GateCase &C) {
  return double(C.Shape.Grid[0]) * double(C.Shape.Grid[1]) *
         double(C.Shape.Grid[2]);
}

/// The dimension of the grid along which there are as many threads as a buffer
/// has numbers, \p Rows times something: the grid covers a product, and follows
/// each of its factors.
static std::optional<unsigned> coversProduct(const GateCase &C, uint64_t Rows) {
  for (unsigned D = 0; D < 3; ++D) {
    const uint64_t Threads = C.Shape.Grid[D] * C.Shape.Block[D];
    if (C.Shape.Grid[D] == 1 || Threads <= Rows || Threads % Rows != 0)
      continue;
    for (auto [Content, L] : zip_equal(C.Buffers, C.Layouts))
      if (Content.size() == Threads * L.Stride)
        return D;
  }
  return std::nullopt;
}

/// What a launch costs whose buffers are copied, shadowed and compared, however
/// little of them it touches: in instructions, of which a byte takes about one.
static double handled(const GateCase &C, double Cost) {
  return std::max({Cost, double(bytesOf(C.Buffers)), 1.0});
}

/// A launch like \p C that costs about what is wanted: fewer of what the grid
/// covers, as far as the original bears it. A block does at least
/// \p LeastOfBlock of what it did.
Expected<GateCase> OriginalRuns::reduced(const GateCase &C, double Cost,
                                         bool BySample, double LeastOfBlock) {
  GateCase Best = C;
  SmallVector<Extent> Extents;
  for (const ScalarRef &S : kernel().Scalars)
    Extents.push_back({&S, 0});
  for (unsigned D : {2, 1, 0})
    Extents.push_back({nullptr, D});
  for (const Extent &E : Extents) {
    while (Cost > VariationCost) {
      uint64_t Value =
          E.Scalar ? readScalar(Best, *E.Scalar) : Best.Shape.Grid[E.GridDim];
      uint64_t Steps = 1;
      while (Cost / double(Steps) > VariationCost)
        Steps *= 2;
      uint64_t Wanted = std::max<uint64_t>(Value / Steps, E.Scalar ? 8 : 2);
      if (Value >> 31 || Wanted >= Value)
        break;
      bool Smaller = false;
      for (Fit F : {Fit::All, Fit::Larger, Fit::Equal, Fit::None}) {
        GateCase Try = resized(*Context, Best, E, Wanted, F, true);
        // An inner extent, which decides how much a block does, stays: what is
        // wrong with a variant may show in long rows alone.
        if (E.Scalar && Try.Shape.Grid == Best.Shape.Grid) {
          // Neither factor of a product shrinks to less than a few warps.
          constexpr uint64_t LeastFactor = 64;
          const std::optional<unsigned> D = coversProduct(Best, Value);
          Wanted = std::max(Wanted, LeastFactor);
          if (!D || Wanted >= Value)
            break;
          Try = resized(*Context, Best, E, Wanted, F, true);
          Try.Shape.Grid[*D] = divideCeil(Best.Shape.Grid[*D] * Wanted, Value);
        }
        Expected<double> Now = BySample
                                   ? estimate(Try, EstimatingRecorded,
                                              MostSampleSteps, SampledBlocks)
                                   : costOf(Try);
        if (!Now)
          return Now.takeError();
        if (*Now < 0 || *Now > 0.75 * Cost ||
            *Now / blocksOf(Try) < LeastOfBlock * Cost / blocksOf(Best))
          continue;
        Best = std::move(Try);
        Cost = *Now;
        Smaller = true;
        break;
      }
      if (!Smaller)
        break;
    }
  }
  return Best;
}

/// Takes one from each list in turn, so that a small budget tries all kinds.
static CaseMakers interleaved(ArrayRef<CaseMakers> Lists, size_t Most) {
  CaseMakers Result;
  for (size_t I = 0; Result.size() < Most; ++I) {
    bool Any = false;
    for (const CaseMakers &L : Lists)
      if (I < L.size() && Result.size() < Most) {
        Result.push_back(L[I]);
        Any = true;
      }
    if (!Any)
      break;
  }
  return Result;
}

Error OriginalRuns::addWorkload(size_t Index) {
  Workload &Recorded = Setup.Workloads[Index];
  if (Recorded.isNotForGate()) {
    Counts.emplace_back();
    return Error::success();
  }
  Expected<GateCase> Captured = capturedCase(Setup, Types, Index);
  if (!Captured)
    return Captured.takeError();
  double Cost = 0;
  if (Setup.OnGpu && Recorded.Only != Audience::Gate) {
    Expected<double> Sampled =
        estimate(*Captured, EstimatingRecorded, MostSampleSteps, SampledBlocks);
    if (!Sampled)
      return Sampled.takeError();
    Cost = *Sampled;
    Recorded.IsLarge = Cost > LargestBesideGpu || Cost == DomainCases::TooMuch;
  }
  if (Recorded.IsLarge) {
    Counts.emplace_back();
    Choices.push_back(Captured->Name + ": not run here, for its cost; the GPU "
                                       "compares it");
    if (Cost == DomainCases::TooMuch)
      return Error::success();
  } else {
    Expected<RunResult> Counted = run(Counting, *Captured);
    if (!Counted)
      return Counted.takeError();
    if (Counted->Fault)
      return findingError("the original itself faults on workload " +
                          Captured->Name + ": " + Counted->Fault->str());
    Counts.push_back(Counted->Counts);
    Cost = double(Counted->Counts.WarpInstructions) * 32;
  }
  // One thread of a variant may do all that the original's threads do
  // together, in a clumsy way. It is no matter of time: a verdict must not
  // depend on the machine.
  auto Bound = [&](double Largest) {
    constexpr double Clumsy = 32;
    // Cases have rows of 70,000, some kernels read each seven times, and a
    // compiler may take 40 instructions for a turn.
    constexpr double LeastOfThread = 64e6, LeastOfLaunch = 128e6;
    MostCost = std::max(MostCost, Largest);
    Checks.ThreadSteps = static_cast<uint64_t>(
        std::min<double>(Clumsy * MostCost + LeastOfThread, MostThreadSteps));
    // Some variations have more to do than what was captured.
    Checks.LaunchSteps =
        static_cast<uint64_t>(4 * Clumsy * MostCost + LeastOfLaunch);
  };
  Bound(Recorded.IsLarge ? 0 : Cost);
  auto AddEntry = [&](std::function<GateCase()> Make, bool IsRecorded = false) {
    Entries.emplace_back();
    Entries.back().Make = std::move(Make);
    Entries.back().Recorded = IsRecorded;
  };
  // The variations of one workload say what those of its likes would say.
  constexpr size_t MostVaried = 2;
  if (Bases.size() >= MostVaried) {
    if (Error E = checkRecordedRanges(kernel(), *Captured, {}))
      return E;
    if (!Recorded.IsLarge && Cost <= LargestLaunch)
      AddEntry([C = std::move(*Captured)] { return C; }, /*IsRecorded=*/true);
    return Error::success();
  }
  auto Base = std::make_unique<GateCase>(*Captured);
  if (Cost > VariationCost) {
    constexpr double AsMuch = 0.7;
    Expected<GateCase> Small =
        reduced(*Captured, Cost, Recorded.IsLarge, AsMuch);
    // Where a grid covers the product of two sizes, one that is smaller covers
    // the first rows alone.
    if (Small && Recorded.IsLarge && Small->Name == Captured->Name)
      Small = reduced(*Captured, Cost, Recorded.IsLarge, 0);
    if (!Small)
      return Small.takeError();
    *Base = std::move(*Small);
  }
  bool Whole = Base->Name == Captured->Name;
  if (!Whole) {
    Choices.push_back(Base->Name + ": " + shapeText(Base->Shape) +
                      " stands for " + shapeText(Captured->Shape));
    Base->Doubtful = false;
  } else if (Recorded.IsLarge) { // It cannot be made smaller.
    return Error::success();
  }
  Base->Ordered = Base->Thorough = true;
  Expected<double> BaseCost = costOf(*Base);
  if (!BaseCost)
    return BaseCost.takeError();
  Bound(*BaseCost);
  Expected<RunResult> First = run(Plain, *Base);
  if (!First)
    return First.takeError();
  if (First->Fault)
    return findingError("the original itself faults on workload " + Base->Name +
                        ": " + First->Fault->str());
  Expected<std::vector<bool>> Pure = findPureOutputs(*Base, *First);
  if (!Pure)
    return Pure.takeError();
  Base->PureOutput = std::move(*Pure);
  SmallVector<bool> Written(Base->PureOutput.begin(), Base->PureOutput.end());
  if (Error E = checkRecordedRanges(kernel(), *Captured, Written))
    return E;
  if (Error E = findChecks(*Base))
    return E;
  if (Error E = findScheduleChecks(*Base))
    return E;
  Bases.push_back(std::move(Base));
  BaseStates.push_back({Entries.size(), *BaseCost, nullptr, nullptr, {}});
  const GateCase &B = *Bases.back();
  AddEntry(
      [&B] {
        GateCase C = B;
        C.Leanless = true; // Not what is made from it.
        return C;
      },
      /*IsRecorded=*/true);
  // A few of them whatever a run costs: nothing else shows these faults.
  constexpr size_t AlwaysRelaxed = 12;
  CaseMakers Relaxed;
  addRelaxedCases(*Context, B, Relaxed);
  std::vector<CaseMakers> Lists(8);
  for (size_t I = 0; I < Relaxed.size(); ++I)
    if (I < AlwaysRelaxed)
      AddEntry(std::move(Relaxed[I].Make));
    else
      Lists[7].push_back(std::move(Relaxed[I]));
  addInputCases(*Context, B, Lists[0]);
  addShapeCases(*Context, B, Lists[1]);
  Expected<const CodeFacts *> Own = facts();
  if (!Own)
    return Own.takeError();
  addConstantCases(*Context, B, Lists[2], (*Own)->FloatThresholds);
  addLaunchCases(*Context, B, Lists[3]);
  addAliasCases(*Context, B, Lists[4]);
  addProbeCases(*Context, B, Lists[5]);
  addLengthCases(B, Loaded, variables(), *BaseCost, Lists[6]);
  auto Most = static_cast<size_t>(
      std::clamp(VariationsCost / (4 * handled(B, *BaseCost)), 16.0, 1000.0));
  size_t All = 0;
  for (const CaseMakers &L : Lists)
    All += L.size();
  if (Most < All)
    Choices.push_back(B.Name + ": " + std::to_string(Most) + " of " +
                      std::to_string(All) + " variations, for their cost");
  // Order and checks matter most where shapes are odd.
  constexpr unsigned MostThorough = 10;
  for (size_t List = 0; List < Lists.size(); ++List)
    for (size_t I = 0; I < Lists[List].size(); ++I)
      Lists[List][I].Make = [Make = std::move(Lists[List][I].Make), List, I] {
        GateCase C = Make();
        C.Probe |= List == 5;
        C.Ordered = List == 1 || List == 3 || List == 4;
        C.Thorough = C.Ordered && I < MostThorough;
        return C;
      };
  for (CaseMaker &M : interleaved(Lists, Most))
    AddEntry(std::move(M.Make));
  Captured->PureOutput = B.PureOutput;
  if (!Whole && !Recorded.IsLarge && Cost <= LargestLaunch)
    AddEntry([C = std::move(*Captured)] { return C; }, /*IsRecorded=*/true);
  else if (!Whole && !Recorded.IsLarge)
    Choices.push_back(Captured->Name + ": not run whole, for its cost");
  return Error::success();
}

} // namespace cupilot
