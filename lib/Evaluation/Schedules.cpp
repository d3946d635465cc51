//===- Schedules.cpp - In which turns threads run ---------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In order and in reversed order, a thread runs until it waits: faults that
// need two threads between each other's accesses do not show. Cases with all
// checks are therefore also run in turns, by kernels whose threads exchange
// anything: what is wrong then and right for the original in the same turns is
// the variant's fault.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"
#include "Variant.h"
#include "cupilot/Portable/Random.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace cupilot {

std::array<Schedule, 2> schedulesOf(const GateCase &C, uint64_t Seed) {
  uint64_t State = xxh3_64bits(C.Name) + Seed;
  uint64_t First = splitMix64(State), Second = splitMix64(State);
  return {Schedule{First, 0}, Schedule{Second, 1}};
}

Expected<bool> seesSchedule(const LoadedKernel &K, const PlannedRun &Run) {
  for (const ShapedLaunch &L : Run.Launches) {
    Expected<bool> Sees = K.Module->seesSchedule(L.Symbol);
    if (!Sees || *Sees)
      return Sees;
  }
  return false;
}

static void setSchedule(LoadedKernel &K, const Schedule &S) {
  K.Module->setSchedule(S.Seed, S.ResidentBlocks);
}

/// The switch of \p Checks that ignores \p Fault under \p S; null when none
/// does, or it is off.
static bool *checkOf(BornChecks &Checks, const DeviceFault &Fault,
                     const Schedule &S) {
  bool *Check = &Checks.Schedules;
  if (Fault.Kind == FaultKind::Deadlock && S.ResidentBlocks)
    Check = &Checks.FewResident;
  else if (Fault.Kind == FaultKind::DataRace)
    Check = Fault.Rule == RaceRule::LostUpdate         ? &Checks.LostUpdates
            : Fault.Rule == RaceRule::VolatileOrder    ? &Checks.VolatileOrder
            : Fault.SameValue && Checks.SameValueRaces ? &Checks.SameValueRaces
                                                       : &Checks.ScheduledRaces;
  return *Check ? Check : nullptr;
}

Error OriginalRuns::findScheduleChecks(const GateCase &Base) {
  Expected<bool> Sees =
      seesSchedule(Plain, PlannedRun{{{kernel().Symbol, Base.Shape}}});
  if (!Sees)
    return Sees.takeError();
  if (!*Sees)
    return Error::success(); // Right in one schedule, right in all.
  for (bool Again = true; Again && Checks.Schedules;) {
    Again = false;
    Expected<LoadedKernel> Loaded =
        loadKernel(Setup.Code.runs(), RunMode::Scheduled, Setup.Arch, Checks);
    if (!Loaded)
      return Loaded.takeError();
    Scheduled = std::move(*Loaded);
    for (const Schedule &S : schedulesOf(Base, Setup.Seed)) {
      if (S.ResidentBlocks && !Checks.FewResident)
        continue;
      setSchedule(Scheduled, S);
      Expected<RunResult> R = run(Scheduled, Base);
      if (!R)
        return R.takeError();
      if (!R->Fault)
        continue;
      bool *Check = checkOf(Checks, *R->Fault, S);
      if (!Check)
        Check = &Checks.Schedules;
      *Check = false;
      Again = true;
      Choices.push_back((Twine(Base.Name) + ": the original itself has a " +
                         wordsOf(R->Fault->Kind) +
                         " when threads take turns (" + evidenceOf(*R->Fault) +
                         "); this is not checked")
                            .str());
      break;
    }
  }
  return Error::success();
}

Expected<bool> OriginalRuns::bears(const JudgedCase &J, const Schedule &S) {
  Expected<bool> Sees =
      seesSchedule(Plain, PlannedRun{{{kernel().Symbol, J.Case.Shape}}});
  if (!Sees)
    return Sees.takeError();
  if (!*Sees)
    return true;
  setSchedule(Scheduled, S);
  Expected<RunResult> R = run(Scheduled, J.Case, J.Fill);
  if (!R)
    return R.takeError();
  ErrorRange Unused;
  return !compareRuns(J, *R, kernel().Contract, Unused).has_value();
}

/// Whether no launch that the guard admits has more than \p Limit blocks, as
/// far as launches tell that are \p C with larger numbers.
Expected<bool> VariantRuns::boundsBlocks(const GateCase &C,
                                         uint64_t Limit) const {
  auto Exceeds = [&](const GateCase &Larger) -> Expected<bool> {
    std::optional<GateFinding> Illegal;
    Expected<std::optional<PlannedRun>> Run = shapesOf(Larger, Illegal);
    if (!Run)
      return Run.takeError();
    if (!*Run)
      return false;
    return any_of((*Run)->Launches, [&](const ShapedLaunch &L) {
      return !L.Shape.Cooperative &&
             L.Shape.Grid[0] * L.Shape.Grid[1] * L.Shape.Grid[2] > Limit;
    });
  };
  std::vector<Extent> Extents = {{nullptr, 0}, {nullptr, 1}, {nullptr, 2}};
  for (const ScalarRef &S : O.kernel().Scalars)
    Extents.push_back({&S, 0});
  for (unsigned Log = 1; Log < 31; ++Log) {
    const uint64_t Value = uint64_t(1) << Log;
    GateCase All = C;
    for (const Extent &E : Extents) {
      GateCase One = C;
      for (GateCase *Each : {&One, &All}) {
        if (E.Scalar)
          writeScalar(*Each, *E.Scalar, Value);
        else if (E.GridDim == 0 || Value < 65536)
          Each->Shape.Grid[E.GridDim] =
              Each == &All && E.GridDim > 0 ? C.Shape.Grid[E.GridDim] : Value;
      }
      Expected<bool> More = Exceeds(One);
      if (!More || *More)
        return More ? Expected<bool>(false) : std::move(More);
    }
    Expected<bool> More = Exceeds(All);
    if (!More || *More)
      return More ? Expected<bool>(false) : std::move(More);
  }
  return true;
}

Expected<std::optional<GateFinding>>
VariantRuns::judgeSchedules(const JudgedCase &J, const PlannedRun &Launches,
                            GateVerdict &Verdict) {
  if (!O.checks().Schedules)
    return std::nullopt;
  Expected<bool> Sees = seesSchedule(Plain, Launches);
  if (!Sees)
    return Sees.takeError();
  if (!*Sees)
    return std::nullopt;
  if (!Scheduled.Module) {
    Expected<LoadedKernel> K = loadApart(RunMode::Scheduled, O.checks());
    if (!K)
      return findingOf(K.takeError(), J.Case.Name);
    Scheduled = std::move(*K);
  }
  for (const Schedule &S : schedulesOf(J.Case, O.setup().Seed)) {
    if (S.ResidentBlocks && !O.checks().FewResident)
      continue;
    setSchedule(Scheduled, S);
    RunResult Turns;
    ++Verdict.Checks;
    Expected<std::optional<GateFinding>> Wrong =
        runAndCompare(Scheduled, J, Launches, Turns, Verdict);
    if (!Wrong)
      return Wrong.takeError();
    // Results that depend on the order anyway say nothing.
    if (!*Wrong || (!Turns.Fault && !J.AnyOrder))
      continue;
    Expected<bool> Bears = O.bears(J, S);
    if (!Bears)
      return Bears.takeError();
    if (!*Bears)
      continue;
    if (!S.ResidentBlocks || !Turns.Fault ||
        Turns.Fault->Kind != FaultKind::Deadlock) {
      (**Wrong).Evidence += " (threads take turns)";
      return Wrong;
    }
    // It runs where all of its blocks are resident, as the other schedule
    // shows.
    uint64_t Limit = ~uint64_t(0);
    for (const ShapedLaunch &L : Launches.Launches) {
      Expected<uint64_t> Held = Plain.Module->residentBlocks(L.Symbol, L.Shape);
      if (!Held)
        return Held.takeError();
      Limit = std::min(Limit, *Held);
    }
    ResidentLimit = std::min(ResidentLimit.value_or(Limit), Limit);
    Expected<bool> Bounded = boundsBlocks(J.Case, Limit);
    if (!Bounded)
      return Bounded.takeError();
    if (*Bounded)
      continue;
    (**Wrong).Evidence +=
        "; blocks wait for others that begin later: bound the grid by what the "
        "GPU holds (" +
        std::to_string(Limit) +
        " blocks in this launch) in the plan or the guard, or launch "
        "cooperatively";
    return Wrong;
  }
  return std::nullopt;
}

} // namespace cupilot
