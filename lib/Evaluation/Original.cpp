//===- Original.cpp - The original's results, before anything is judged -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Original.h"
#include "cupilot/Support/Error.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// What a variation may cost, in instructions of threads.
static constexpr double WantedCost = 2.5e5;
/// What all variations of a workload may cost together.
static constexpr double AllCosts = 8e8;
/// Beyond this, the captured launch itself is not run whole.
static constexpr double LargestLaunch = 4e9;

Expected<RunResult> OriginalRuns::run(LoadedKernel &K, const GateCase &C,
                                      uint8_t Fill) {
  return runCase(K, ShapedLaunch{kernel().Symbol, C.Shape}, C, Fill,
                 Plain.Initial);
}

Error OriginalRuns::load() {
  for (auto [K, Mode] : {std::pair(&Plain, RunMode::Plain),
                         {&Reversed, RunMode::Reversed},
                         {&Wide, RunMode::Wide},
                         {&Counting, RunMode::Counting}}) {
    Expected<LoadedKernel> Loaded =
        loadKernel(Setup.OriginalBitcode, Mode, Setup.Arch);
    if (!Loaded)
      return Loaded.takeError();
    *K = std::move(*Loaded);
  }
  Expected<KernelLayout> Layouts = layoutOf(kernel(), Setup.OriginalBitcode);
  if (!Layouts)
    return Layouts.takeError();
  Types = std::move(*Layouts);
  Context.emplace(CaseContext{*Setup.Original, Types, Setup.Seed});
  return Error::success();
}

/// Whether the kernel moves what buffer \p I holds, such as a sort, or adds to
/// it: a fill of equal bytes would stay as it is, and so would a NaN or a
/// number that is too large to notice.
Expected<bool> OriginalRuns::movesContent(const GateCase &C,
                                          const RunResult &First, size_t I) {
  GateCase Try = C;
  Try.PureOutput.assign(C.Buffers.size(), false);
  uint64_t State = Setup.Seed;
  for (uint8_t &Byte : Try.Buffers[I]) {
    State = State * 6364136223846793005 + 1442695040888963407;
    Byte = State >> 56;
  }
  transformFloats(Try.Buffers[I], C.Layouts[I], [&](uint64_t, double) {
    State = State * 6364136223846793005 + 1442695040888963407;
    return 1 + double(State >> 40) * 0x1p-24;
  });
  Expected<RunResult> R = run(Plain, Try);
  if (!R)
    return R.takeError();
  if (R->Fault)
    return true; // It depends on the content in any case.
  const Bytes &Now = R->Buffers[I], &Before = Try.Buffers[I],
              &Own = First.Buffers[I];
  for (size_t At = 0; At < Now.size(); ++At)
    if (Now[At] != Own[At] && Now[At] != Before[At])
      return true;
  return false;
}

/// A buffer is pure output when what it held before makes no difference. (It
/// may hold the result already, as after an earlier launch.)
Expected<std::vector<bool>>
OriginalRuns::findPureOutputs(const GateCase &C, const RunResult &First) {
  std::vector<bool> Pure(C.Buffers.size(), false);
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    if (First.Buffers[I] == C.Buffers[I] && !mayBeWritten(kernel(), C, I))
      continue;
    // What is also an input must hold its data.
    if (C.Aliased && count_if(C.Pointers, [&](const WorkloadPointer &P) {
                       return P.Buffer == I;
                     }) > 1)
      continue;
    Expected<bool> Moves = movesContent(C, First, I);
    if (!Moves)
      return Moves.takeError();
    if (*Moves)
      continue;
    GateCase Try = C;
    Try.PureOutput.assign(C.Buffers.size(), false);
    Try.PureOutput[I] = true;
    // A byte is left alone, or the same whatever was there.
    bool Same = true;
    Bytes Left;
    for (uint8_t Fill : {Poison, OtherPoison}) {
      if (!Same)
        break;
      Expected<RunResult> Poisoned = run(Plain, Try, Fill);
      if (!Poisoned)
        return Poisoned.takeError();
      Same = !Poisoned->Fault;
      for (size_t K = 0; Same && K < C.Buffers.size(); ++K) {
        const Bytes &P = Poisoned->Buffers[K];
        if (K != I) {
          Same = P == First.Buffers[K];
          continue;
        }
        for (size_t At = 0; Same && At < P.size(); ++At)
          Same = P[At] == First.Buffers[K][At] ||
                 (P[At] == Fill && (Fill == Poison || Left[At] == Poison));
        Left = P;
      }
    }
    Pure[I] = Same;
  }
  return Pure;
}

/// Whether a launch wrote a NaN that is not the poison.
static bool changesToNaN(const GateCase &C, const RunResult &R) {
  bool Any = false;
  for (size_t I = 0; I < C.Buffers.size() && !Any; ++I) {
    if (R.Buffers[I] == C.Buffers[I])
      continue;
    const Layout &L = C.Layouts[I];
    const Bytes &B = R.Buffers[I];
    for (const LayoutField &F : L.Fields)
      for (size_t At = F.Offset;
           isFloating(F.Kind) && !Any && At + sizeOf(F.Kind) <= B.size();
           At += L.Stride)
        Any = std::isnan(readElement(F.Kind, B.data() + At)) &&
              !std::all_of(B.begin() + At, B.begin() + At + sizeOf(F.Kind),
                           [](uint8_t V) { return V == Poison; });
  }
  return Any;
}

Expected<std::unique_ptr<JudgedCase>> OriginalRuns::prepare(GateCase C) {
  if (C.PureOutput.empty()) {
    Expected<RunResult> First = run(Plain, C);
    if (!First)
      return First.takeError();
    if (First->Fault) {
      if (C.Doubtful)
        return nullptr;
      return findingError("the original itself faults on workload " + C.Name +
                          ": " + First->Fault->str());
    }
    Expected<std::vector<bool>> Pure = findPureOutputs(C, *First);
    if (!Pure)
      return Pure.takeError();
    C.PureOutput = std::move(*Pure);
  }
  auto J = std::make_unique<JudgedCase>();
  J->Case = std::move(C);
  const GateCase &Case = J->Case;
  Expected<RunResult> Final = run(Plain, Case);
  if (!Final)
    return Final.takeError();
  J->Original = std::move(*Final);
  if (J->Original.Fault) {
    if (Case.Doubtful)
      return nullptr;
    return findingError("the original itself faults on workload " + Case.Name +
                        ": " + J->Original.Fault->str());
  }
  if (Case.NeedsNaN && !changesToNaN(Case, J->Original))
    return nullptr;
  Expected<RunResult> Reference = run(Wide, Case);
  if (!Reference)
    return Reference.takeError();
  J->Reference =
      Reference->Fault ? J->Original.Buffers : std::move(Reference->Buffers);
  if (Case.Doubtful || Case.Ordered) {
    Expected<RunResult> Backwards = run(Reversed, Case);
    if (!Backwards)
      return Backwards.takeError();
    ErrorRange Unused;
    J->SameBits = !Backwards->Fault &&
                  Backwards->Buffers == J->Original.Buffers &&
                  Backwards->Globals == J->Original.Globals;
    J->AnyOrder =
        J->SameBits ||
        !compareRuns(*J, *Backwards, kernel().Contract, Unused).has_value();
  }
  // A result that depends on the order of the threads proves nothing.
  if (Case.Doubtful && !(Case.Aliased ? J->SameBits : J->AnyOrder))
    return nullptr;
  if (Case.Thorough && Checked.Module) {
    // What the original does itself is no reason to reject a variant.
    Expected<RunResult> R = run(Checked, Case);
    if (!R)
      return R.takeError();
    if (R->Fault)
      J->Case.Thorough = false;
    else
      J->Coverage = std::move(R->Coverage);
  }
  if (!Case.Doubtful)
    if (Error E = addRefilled(*J))
      return std::move(E);
  return J;
}

/// Where the result is Poison, who writes nothing would pass: repeats the case
/// with the other fill.
Error OriginalRuns::addRefilled(JudgedCase &J) {
  const GateCase &C = J.Case;
  bool Hidden = false;
  for (size_t I = 0; I < C.PureOutput.size(); ++I)
    Hidden |= C.PureOutput[I] && is_contained(J.Original.Buffers[I], Poison);
  if (!Hidden)
    return Error::success();
  Expected<RunResult> Again = run(Plain, C, OtherPoison);
  if (!Again)
    return Again.takeError();
  Hidden = false;
  for (size_t I = 0; I < C.PureOutput.size(); ++I) {
    // A byte of a float or two may be Poison, a whole one is a NaN.
    size_t Width = C.Layouts[I].hasFloats() ? 4 : 1;
    for (const LayoutField &F : C.Layouts[I].Fields)
      Width = std::min<size_t>(Width, sizeOf(F.Kind));
    const Bytes &Was = J.Original.Buffers[I], &Is = Again->Buffers[I];
    for (size_t At = 0; C.PureOutput[I] && At + Width <= Was.size();
         At += Width) {
      auto All = [&](const Bytes &B) {
        return std::all_of(B.begin() + At, B.begin() + At + Width,
                           [](uint8_t V) { return V == Poison; });
      };
      Hidden |= All(Was) && All(Is);
    }
  }
  if (!Hidden || Again->Fault)
    return Error::success();
  J.Refilled = std::make_unique<JudgedCase>();
  J.Refilled->Case = C;
  J.Refilled->Case.Name += " refilled";
  J.Refilled->Case.Captured = false;
  J.Refilled->Fill = OtherPoison;
  J.Refilled->Original = std::move(*Again);
  Expected<RunResult> Reference = run(Wide, C, OtherPoison);
  if (!Reference)
    return Reference.takeError();
  J.Refilled->Reference = Reference->Fault ? J.Refilled->Original.Buffers
                                           : std::move(Reference->Buffers);
  return Error::success();
}

/// Finds the checks that the original passes: what it does itself is no reason
/// to reject a variant.
Error OriginalRuns::findChecks(const GateCase &Base) {
  for (;;) {
    Expected<LoadedKernel> Loaded =
        loadKernel(Setup.OriginalBitcode, RunMode::Checked, Setup.Arch, Checks);
    if (!Loaded)
      return Loaded.takeError();
    Checked = std::move(*Loaded);
    Expected<RunResult> R = run(Checked, Base);
    if (!R)
      return R.takeError();
    if (!R->Fault)
      return Error::success();
    GateReason Why = reasonOf(*R->Fault);
    if (Why == GateReason::Race && Checks.SameValueRaces &&
        R->Fault->SameValue) {
      Checks.SameValueRaces = false;
    } else if (Why == GateReason::Race && Checks.Races) {
      Checks.Races = false;
    } else if (Why == GateReason::UnwrittenRead && Checks.Written) {
      Checks.Written = false;
    } else if (R->Fault->Kind == "barrier in divergent code" &&
               Checks.Divergence) {
      Checks.Divergence = false;
    } else {
      // Only these checks are new: without them it ran to its end.
      return Error::success();
    }
    Choices.push_back(Base.Name + ": the original itself has a " +
                      R->Fault->Kind + " (" + R->Fault->str() +
                      "); this is not checked");
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

/// A launch like \p C that costs about what is wanted: fewer of what the grid
/// covers, as far as the original bears it.
Expected<GateCase> OriginalRuns::reduced(const GateCase &C, double Cost) {
  GateCase Best = C;
  SmallVector<Extent> Extents;
  for (const ScalarRef &S : kernel().Scalars)
    Extents.push_back({&S, 0});
  for (unsigned D : {2, 1, 0})
    Extents.push_back({nullptr, D});
  for (const Extent &E : Extents) {
    while (Cost > WantedCost) {
      uint64_t Value =
          E.Scalar ? readScalar(Best, *E.Scalar) : Best.Shape.Grid[E.GridDim];
      uint64_t Steps = 1;
      while (Cost / double(Steps) > WantedCost)
        Steps *= 2;
      uint64_t Wanted = std::max<uint64_t>(Value / Steps, E.Scalar ? 8 : 2);
      if (Value >> 31 || Wanted >= Value)
        break;
      bool Smaller = false;
      for (Fit F : {Fit::All, Fit::Larger, Fit::Equal, Fit::None}) {
        GateCase Try = resized(*Context, Best, E, Wanted, F, true);
        // An inner extent, which decides how much a block does, stays: what is
        // wrong with a variant may show in long rows alone.
        if (E.Scalar && Try.Shape.Grid == Best.Shape.Grid)
          break;
        Expected<double> Now = costOf(Try);
        if (!Now)
          return Now.takeError();
        if (*Now < 0 || *Now > 0.75 * Cost ||
            *Now / blocksOf(Try) < 0.7 * Cost / blocksOf(Best))
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
  Expected<GateCase> Captured = capturedCase(Setup, Types, Index);
  if (!Captured)
    return Captured.takeError();
  Expected<RunResult> Counted = run(Counting, *Captured);
  if (!Counted)
    return Counted.takeError();
  if (Counted->Fault)
    return findingError("the original itself faults on workload " +
                        Captured->Name + ": " + Counted->Fault->str());
  Counts.push_back(Counted->Counts);
  double Cost = double(Counted->Counts.WarpInstructions) * 32;
  // One thread of a variant may do all that the original's threads do
  // together, in a clumsy way. It is no matter of time: a verdict must not
  // depend on the machine.
  constexpr double Clumsy = 32, Least = 1e6;
  MostCost = std::max(MostCost, Cost);
  Checks.ThreadSteps = static_cast<uint64_t>(
      std::min<double>(Clumsy * MostCost + Least, MostThreadSteps));
  // Some variations have more to do than what was captured.
  Checks.LaunchSteps =
      static_cast<uint64_t>(2 * Clumsy * MostCost + 16 * Least);
  auto AddEntry = [&](std::function<GateCase()> Make) {
    Entries.emplace_back();
    Entries.back().Make = std::move(Make);
  };
  // The variations of one workload say what those of its likes would say.
  constexpr size_t MostVaried = 2;
  if (Index >= MostVaried) {
    if (Cost <= LargestLaunch)
      AddEntry([C = std::move(*Captured)] { return C; });
    return Error::success();
  }
  auto Base = std::make_unique<GateCase>(*Captured);
  if (Cost > WantedCost) {
    Expected<GateCase> Small = reduced(*Captured, Cost);
    if (!Small)
      return Small.takeError();
    *Base = std::move(*Small);
  }
  bool Whole = Base->Name == Captured->Name;
  if (!Whole) {
    Choices.push_back(Base->Name + ": " + shapeText(Base->Shape) +
                      " stands for " + shapeText(Captured->Shape));
    Base->Doubtful = false;
  }
  Base->Ordered = Base->Thorough = true;
  Expected<double> BaseCost = costOf(*Base);
  if (!BaseCost)
    return BaseCost.takeError();
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
  if (Error E = findChecks(*Base))
    return E;
  Bases.push_back(std::move(Base));
  BaseStates.push_back({Entries.size(), *BaseCost, nullptr});
  const GateCase &B = *Bases.back();
  AddEntry([&B] { return B; });
  std::vector<CaseMakers> Lists(6);
  addInputCases(*Context, B, Lists[0]);
  addShapeCases(*Context, B, Lists[1]);
  addConstantCases(*Context, B, Lists[2]);
  addLaunchCases(B, Lists[3]);
  addAliasCases(*Context, B, Lists[4]);
  addProbeCases(*Context, B, Lists[5]);
  auto Most = static_cast<size_t>(
      std::clamp(AllCosts / (4 * std::max(*BaseCost, 1.0)), 16.0, 1000.0));
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
        C.Probe = List == 5;
        C.Ordered = List == 1 || List == 3 || List == 4;
        C.Thorough = C.Ordered && I < MostThorough;
        return C;
      };
  for (CaseMaker &M : interleaved(Lists, Most))
    AddEntry(std::move(M.Make));
  Captured->PureOutput = B.PureOutput;
  if (!Whole && Cost <= LargestLaunch)
    AddEntry([C = std::move(*Captured)] { return C; });
  else if (!Whole)
    Choices.push_back(Captured->Name + ": not run whole, for its cost");
  return Error::success();
}

Expected<std::unique_ptr<OriginalRuns>> OriginalRuns::create(GateSetup Setup) {
  std::unique_ptr<OriginalRuns> O(new OriginalRuns(std::move(Setup)));
  if (Error E = O->load())
    return std::move(E);
  for (size_t I = 0; I < O->Setup.Workloads.size(); ++I)
    if (Error E = O->addWorkload(I))
      return std::move(E);
  // An original that cannot be judged says so now.
  for (size_t I = 0; I < O->Entries.size(); ++I) {
    Expected<const JudgedCase *> J = O->get(I);
    if (!J)
      return J.takeError();
    if (I == 0 && *J)
      break;
  }
  return O;
}

Expected<PlaceProbes *> OriginalRuns::places(size_t Index) {
  BaseState &S = BaseStates[Index];
  if (!S.Places) {
    Expected<const JudgedCase *> Base = get(S.Entry);
    if (!Base)
      return Base.takeError();
    if (!*Base)
      return nullptr;
    Expected<std::unique_ptr<PlaceProbes>> P =
        PlaceProbes::plan(*this, **Base, S.Cost);
    if (!P)
      return P.takeError();
    S.Places = std::move(*P);
  }
  return S.Places.get();
}

Expected<const JudgedCase *> OriginalRuns::get(size_t Index) {
  Entry &E = Entries[Index];
  if (!E.Prepared) {
    Expected<std::unique_ptr<JudgedCase>> J = prepare(E.Make());
    if (!J)
      return J.takeError();
    E.Judged = std::move(*J);
    E.Prepared = true;
    E.Make = nullptr;
  }
  return E.Judged.get();
}

} // namespace cupilot
