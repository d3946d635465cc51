//===- Variant.cpp - A variant under the gate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Variant.h"
#include "KernelCode.h"
#include "cupilot/CpuDevice/TensorMap.h"
#include "cupilot/Support/Error.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// Far launches of a variant of which it is asked how far results move.
static constexpr unsigned MostDeepSensitivities = 8;

/// Where there is more to do than in any recorded launch.
static BornChecks widerChecks(const OriginalRuns &O) {
  BornChecks Wider = O.checks();
  constexpr uint64_t Clumsy = 8;
  Wider.LaunchSteps = std::max(
      Wider.LaunchSteps,
      Clumsy * static_cast<uint64_t>(DomainCases::mostCost(/*Deep=*/true)));
  Wider.ThreadSteps = MostThreadSteps;
  return Wider;
}

Expected<LoadedKernel> VariantRuns::loadApart(StringRef Bitcode, RunMode Mode,
                                              BornChecks Checks) const {
  Checks.Apart = O.setup().Limits;
  return loadKernel(Bitcode, Mode, O.setup().Arch, Checks, Salt);
}

Error VariantRuns::load() {
  if (Plan.Launches.empty())
    return findingError("the plan has no launch");
  for (const TensorMapPlan &Map : Plan.TensorMaps)
    if (!is_contained(O.kernel().Pointers, Map.Base))
      return findingError("a tensor map is over none of the kernel's pointers");
  Expected<uint64_t> Digest = codeDigest(Code.runs());
  if (!Digest)
    return Digest.takeError();
  Salt = *Digest;
  Expected<BranchCoverage> Sides =
      BranchCoverage::create(O.kernel(), Code.Source, Plan, Code.Built);
  if (!Sides)
    return Sides.takeError();
  Taken.emplace(std::move(*Sides));
  TakenByOriginal.emplace(O.decisions());
  std::vector<std::string> Symbols;
  Symbols.reserve(Plan.Launches.size());
  for (const Launch &L : Plan.Launches)
    Symbols.push_back(L.Symbol);
  Expected<std::vector<LoadedBound>> Bounds = boundsOnLoaded(
      O.setup().Code.Source, O.kernel().Symbol, Code.Source, Symbols);
  if (!Bounds)
    return Bounds.takeError();
  Untested = std::move(*Bounds);
  // When a loop ends is a decision like others: whether it was seen is known.
  erase_if(Untested, [](const LoadedBound &B) {
    return B.K == LoadedBound::Kind::ConstantTurns;
  });
  const bool IsSource = Code.Built.empty();
  BornChecks Noted = O.checks();
  Noted.Decisions = wantedOfRuns();
  Expected<LoadedKernel> K = loadApart(RunMode::Plain, Noted);
  if (!K)
    return K.takeError();
  Plain = std::move(*K);
  if (IsSource)
    return Error::success();
  Noted = widerChecks(O);
  Noted.Decisions = &Taken->wanted();
  Expected<LoadedKernel> OfSource =
      loadApart(Code.Source, RunMode::Plain, Noted);
  if (!OfSource)
    return OfSource.takeError();
  Deciding = std::move(*OfSource);
  return Error::success();
}

const BitVector *VariantRuns::wantedOfRuns() const {
  const BitVector &Wanted =
      Code.Built.empty() ? Taken->wanted() : Taken->wantedOfBuilt();
  return Wanted.empty() ? nullptr : &Wanted;
}

Error VariantRuns::noteDecisions(const LoadedKernel &Ran, const JudgedCase &J,
                                 const PlannedRun &Launches) {
  BitVector Decided = Ran.Module->decided();
  if (Deciding.Module) {
    Taken->addOfBuilt(Decided);
    Deciding.Module->forgetDecided();
    Expected<RunResult> OfSource =
        runCase(Deciding, Launches, J.Case, J.Fill, O.variables());
    if (!OfSource)
      return OfSource.takeError();
    if (OfSource->Fault) // What is built is right: nothing is known of it.
      return Error::success();
    Decided = Deciding.Module->decided();
  }
  Taken->add(Decided);
  TakenByOriginal->add(J.Decided);
  return Error::success();
}

double VariantRuns::costFactor() const {
  // In instructions: one switch, measured on rows.cu of test/Gate.
  constexpr double SwitchCost = 64;
  return Steps > 0 ? 1 + SwitchCost * Switches / Steps : 1;
}

Expected<bool> VariantRuns::admitted(const GateCase &C) const {
  std::optional<GateFinding> Illegal;
  Expected<std::optional<PlannedRun>> Launches = shapesOf(C, Illegal);
  if (!Launches)
    return Launches.takeError();
  return Launches->has_value();
}

/// A variable of the variant's own that ends changed is memory for the next
/// launch.
static std::optional<GateFinding>
leavesState(const LoadedKernel &K, const RunResult &Got,
            ArrayRef<std::pair<std::string, Bytes>> Known, StringRef Case) {
  for (const auto &[Name, Content] : Got.Globals)
    for (const auto &[Own, Before] : K.Initial)
      if (Own == Name && Content != Before &&
          none_of(Known, [&](const auto &V) { return V.first == Name; }))
        return makeFinding(GateReason::DeviceVariable, Case,
                           "the device variable '" + Name +
                               "', which the original does not have, ends "
                               "with another content");
  return std::nullopt;
}

Expected<std::optional<GateFinding>>
VariantRuns::runAndCompare(LoadedKernel &K, const JudgedCase &J,
                           const PlannedRun &Launches, RunResult &Got,
                           GateVerdict &Verdict) {
  if (std::optional<GateFinding> Much = compareScratch(J, Launches))
    return std::move(Much);
  Expected<RunResult> R = runCase(K, Launches, J.Case, J.Fill, O.variables());
  if (!R) // Its shape is the plan's fault: too much shared memory, a grid that
          // is no multiple of the cluster, ...
    return findingOf(R.takeError(), J.Case.Name, GateReason::Plan);
  Got = std::move(*R);
  ErrorRange Errors;
  std::optional<GateFinding> Wrong =
      compareRuns(J, Got, O.kernel().Contract, Errors);
  if (Wrong && Wrong->Reason == GateReason::Mismatch) {
    Expected<bool> Found = O.findReference(J);
    if (!Found)
      return Found.takeError();
    if (*Found)
      Wrong = compareRuns(J, Got, O.kernel().Contract, Errors);
  }
  if (Wrong && Wrong->Reason == GateReason::Mismatch) {
    Expected<bool> Found = O.findShaken(J);
    if (!Found)
      return Found.takeError();
    if (*Found)
      Wrong = compareRuns(J, Got, O.kernel().Contract, Errors);
  }
  // Eighteen runs: of far launches, where each takes its time, for a few.
  if (Wrong && Wrong->Reason == GateReason::Mismatch && J.Sensitivity.empty() &&
      (!J.Case.Deep || DeepSensitivities++ < MostDeepSensitivities)) {
    if (Error E = O.findSensitivity(J))
      return std::move(E);
    Wrong = compareRuns(J, Got, O.kernel().Contract, Errors);
  }
  if (Wrong && Wrong->Reason == GateReason::Runaway)
    Wrong->Evidence += "; the original's largest launch takes " +
                       std::to_string(static_cast<uint64_t>(O.mostCost()));
  if (!Wrong)
    Wrong = leavesState(K, Got, O.variables(), J.Case.Name);
  Verdict.MaxError = std::max(Verdict.MaxError, Errors.Mine);
  Verdict.OriginalError = std::max(Verdict.OriginalError, Errors.Own);
  return Wrong;
}

Expected<VariantRuns::Attempt> VariantRuns::attempt(const JudgedCase &J,
                                                    GateVerdict &Verdict) {
  Attempt A;
  std::optional<GateFinding> Illegal;
  Expected<std::optional<PlannedRun>> Launches = shapesOf(J.Case, Illegal);
  if (!Launches)
    return Launches.takeError();
  if (Illegal && !J.Case.Doubtful) {
    A.IllegalLaunch = true;
    A.Wrong = std::move(Illegal);
    return A;
  }
  if (!*Launches) {
    A.KeptOut = true; // The original runs.
    return A;
  }
  ++Verdict.Checks;
  RunResult Forward;
  LoadedKernel &Module = J.Case.Far ? Far : Plain;
  if (!Module.Module) {
    BornChecks Wider = widerChecks(O);
    Wider.Decisions = wantedOfRuns();
    Expected<LoadedKernel> K = loadApart(RunMode::Plain, Wider);
    if (!K) {
      Expected<GateFinding> Found = findingOf(K.takeError(), J.Case.Name);
      if (!Found)
        return Found.takeError();
      A.Wrong = std::move(*Found);
      return A;
    }
    Module = std::move(*K);
  }
  Module.Module->forgetDecided();
  Expected<std::optional<GateFinding>> Wrong =
      runAndCompare(Module, J, **Launches, Forward, Verdict);
  if (Wrong && J.Cost > 0) {
    Steps += J.Cost;
    Switches += J.Original.Switches + Forward.Switches;
  }
  if (Wrong && !*Wrong) {
    if (Error E = noteDecisions(Module, J, **Launches))
      return std::move(E);
    erase_if(Untested,
             [&](const LoadedBound &B) { return B.isPassedIn(J.Case); });
  }
  if (Wrong && !*Wrong && J.Refilled) {
    RunResult Refilled;
    ++Verdict.Checks;
    Wrong = runAndCompare(Plain, *J.Refilled, **Launches, Refilled, Verdict);
  }
  if (Wrong && !*Wrong && J.Case.Ordered)
    Wrong = judgeThoroughly(J, **Launches, Forward, Verdict);
  if (!Wrong)
    return Wrong.takeError();
  A.Wrong = std::move(*Wrong);
  return A;
}

Expected<bool> VariantRuns::judge(const JudgedCase &J, GateVerdict &Verdict) {
  if (J.Case.Far) {
    if (Expected<bool> Right = explore(J, Verdict); !Right)
      return Right.takeError();
    return true;
  }
  Expected<Attempt> A = attempt(J, Verdict);
  if (!A)
    return A.takeError();
  GateRecord Record{J.Case.Name, J.Case.Shape};
  Verdict.GuardMisses += A->KeptOut;
  Record.KeptOut = A->KeptOut;
  if (!A->KeptOut && !A->Wrong) {
    TriedLaunch L = triedLaunch(O.kernel(), J.Case);
    L.Recorded = !J.Case.Doubtful;
    if (Error E = addTried(std::move(L), J))
      return std::move(E);
  }
  bool Right = !A->Wrong;
  if (!Right) {
    Record.Rejected = A->Wrong->Reason;
    Verdict.Findings.push_back(std::move(*A->Wrong));
  }
  Verdict.Cases.push_back(std::move(Record));
  return Right;
}

Expected<bool> VariantRuns::explore(const JudgedCase &J, GateVerdict &Verdict) {
  Expected<Attempt> A = attempt(J, Verdict);
  if (!A)
    return A.takeError();
  GateRecord Record{J.Case.Name, J.Case.Shape};
  Record.Beyond = true;
  Record.KeptOut = A->KeptOut;
  if (!A->KeptOut) {
    TriedLaunch L = triedLaunch(O.kernel(), J.Case);
    if (A->Wrong) {
      Record.Rejected = L.Wrong = A->Wrong->Reason;
      L.Evidence = std::move(A->Wrong->Evidence);
    }
    if (Error E = addTried(std::move(L), J))
      return std::move(E);
  }
  Verdict.Cases.push_back(std::move(Record));
  return !A->Wrong;
}

Expected<std::optional<GateFinding>>
VariantRuns::judgeThoroughly(const JudgedCase &J, const PlannedRun &Launches,
                             const RunResult &Forward, GateVerdict &Verdict) {
  // A barrier that is missing shows in one of the two orders.
  if (J.AnyOrder) {
    if (!Reversed.Module) {
      Expected<LoadedKernel> K = loadApart(RunMode::Reversed, O.checks());
      if (!K)
        return findingOf(K.takeError(), J.Case.Name);
      Reversed = std::move(*K);
    }
    RunResult Again;
    ++Verdict.Checks;
    Expected<std::optional<GateFinding>> Wrong =
        runAndCompare(Reversed, J, Launches, Again, Verdict);
    if (!Wrong)
      return Wrong.takeError();
    if (*Wrong) {
      (**Wrong).Evidence += " (last thread first)";
      return Wrong;
    }
    // Atomic sums of few numbers may have the same bits by chance.
    Expected<const JudgedCase *> Base = O.get(0);
    if (!Base)
      return Base.takeError();
    bool Steady = J.SameBits && *Base && (**Base).SameBits;
    for (size_t I = 0; Steady && I < Again.Buffers.size(); ++I)
      if (Again.Buffers[I] != Forward.Buffers[I]) {
        auto At =
            std::mismatch(Again.Buffers[I].begin(), Again.Buffers[I].end(),
                          Forward.Buffers[I].begin());
        return makeFinding(
            GateReason::Nondeterministic, J.Case.Name,
            "buffer " + Twine(I) + ", byte " +
                Twine(At.first - Again.Buffers[I].begin()) +
                " has other bits when the last thread runs first; the "
                "original's stay the same");
      }
  }
  if (!J.Case.Thorough)
    return std::nullopt;
  if (!Checked.Module) {
    Expected<LoadedKernel> K = loadApart(RunMode::Checked, O.checks());
    if (!K)
      return findingOf(K.takeError(), J.Case.Name);
    Checked = std::move(*K);
  }
  RunResult Thorough;
  ++Verdict.Checks;
  Expected<std::optional<GateFinding>> Wrong =
      runAndCompare(Checked, J, Launches, Thorough, Verdict);
  if (!Wrong || *Wrong)
    return Wrong;
  Wrong = judgeCoverage(J, Launches, Thorough, Verdict);
  if (!Wrong || *Wrong)
    return Wrong;
  return judgeSchedules(J, Launches, Verdict);
}

Expected<bool> VariantRuns::count(GateVerdict &Verdict) {
  auto Reject = [&](Error E, StringRef Case) -> Expected<bool> {
    Expected<GateFinding> Found =
        findingOf(std::move(E), Case, GateReason::Plan);
    if (!Found)
      return Found.takeError();
    Verdict.Findings.push_back(std::move(*Found));
    return false;
  };
  Expected<LoadedKernel> Counting = loadApart(RunMode::Counting, O.checks());
  if (!Counting)
    return Reject(Counting.takeError(), "");
  for (size_t I = 0; I < O.setup().Workloads.size(); ++I) {
    if (O.setup().Workloads[I].isForGpuAlone())
      continue;
    Expected<GateCase> C = O.captured(I);
    if (!C)
      return C.takeError();
    std::optional<GateFinding> Illegal;
    Expected<std::optional<PlannedRun>> Launches = shapesOf(*C, Illegal);
    if (!Launches)
      return Launches.takeError();
    if (!*Launches)
      continue;
    Expected<RunResult> R =
        runCase(*Counting, **Launches, *C, Poison, O.variables());
    if (!R)
      return Reject(R.takeError(), C->Name);
    if (R->Fault) { // The launch as captured may not have been run whole.
      Verdict.Findings.push_back(makeFinding(reasonOf(R->Fault->Kind), C->Name,
                                             evidenceOf(*R->Fault)));
      return false;
    }
    Verdict.VariantLaunches[I].emplace();
    for (auto [L, Counts] : zip_equal((*Launches)->Launches, R->LaunchCounts))
      Verdict.VariantLaunches[I]->push_back({L.Symbol, L.Shape, Counts});
  }
  return true;
}

} // namespace cupilot
