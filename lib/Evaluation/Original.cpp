//===- Original.cpp - The original's results, before anything is judged -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Original.h"
#include "KernelCode.h"
#include "Ranges.h"
#include "Rounding.h"
#include "cupilot/Evaluation/Count.h"
#include "cupilot/Support/Error.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

Expected<RunResult> OriginalRuns::run(LoadedKernel &K, const GateCase &C,
                                      uint8_t Fill) {
  return runCase(K, PlannedRun{{{kernel().Symbol, C.Shape}}}, C, Fill,
                 Plain.Initial);
}

Error OriginalRuns::load() {
  Expected<uint64_t> Digest = codeDigest(Setup.Code.runs());
  if (!Digest)
    return Digest.takeError();
  Code = *Digest;
  Expected<BranchCoverage> Sides = BranchCoverage::create(
      kernel(), Setup.Code.Source, originalPlan(kernel()));
  if (!Sides)
    return Sides.takeError();
  Decisions.emplace(std::move(*Sides));
  BornChecks Noted;
  Noted.Decisions = &Decisions->wanted();
  for (auto [K, Mode] : {std::pair(&Plain, RunMode::Plain),
                         {&Reversed, RunMode::Reversed},
                         {&Wide, RunMode::Wide},
                         {&Counting, RunMode::Counting}}) {
    // Without a float64 run, one as it is stands for it.
    const bool OfSource = Mode == RunMode::Wide && !inOwnPrecision();
    const RunMode As =
        Mode == RunMode::Wide && !OfSource ? RunMode::Plain : Mode;
    const bool Notes = Mode == RunMode::Plain && Setup.Code.Built.empty();
    Expected<LoadedKernel> Loaded =
        loadKernel(OfSource ? Setup.Code.Source : Setup.Code.runs(), As,
                   Setup.Arch, Notes ? Noted : BornChecks(), Code);
    if (!Loaded)
      return Loaded.takeError();
    *K = std::move(*Loaded);
  }
  if (!Setup.Code.Built.empty()) {
    Expected<LoadedKernel> Loaded =
        loadKernel(Setup.Code.Source, RunMode::Plain, Setup.Arch, Noted, Code);
    if (!Loaded)
      return Loaded.takeError();
    Deciding = std::move(*Loaded);
  }
  Expected<KernelLayout> Layouts = layoutOf(kernel(), Setup.Code.Source);
  if (!Layouts)
    return Layouts.takeError();
  Types = std::move(*Layouts);
  Expected<std::vector<LoadedIntegers>> Deciding =
      loadedIntegersOf(Setup.Code.Source, kernel().Symbol);
  if (!Deciding)
    return Deciding.takeError();
  Loaded = std::move(*Deciding);
  Context.emplace(CaseContext{*Setup.Original, Types, Setup.Seed ^ Code});
  return loadForRelaxed();
}

/// Whether a launch wrote a number, other than the poison, that \p Is says yes
/// to. With \p OfBits, integers of 16 bits may be halves and bfloat16, too.
static bool changesTo(const GateCase &C, const RunResult &R,
                      function_ref<bool(double)> Is, bool OfBits) {
  bool Any = false;
  for (size_t I = 0; I < C.Buffers.size() && !Any; ++I) {
    if (R.Buffers[I] == C.Buffers[I])
      continue;
    const Layout &L = C.Layouts[I];
    const Bytes &B = R.Buffers[I];
    for (const LayoutField &F : L.Fields) {
      ElementKind Kind = OfBits && !isFloating(F.Kind) && sizeOf(F.Kind) == 2
                             ? ElementKind::BFloat
                             : F.Kind;
      for (size_t At = F.Offset;
           isFloating(Kind) && !Any && At + sizeOf(F.Kind) <= B.size();
           At += L.Stride)
        Any = Is(readElement(Kind, B.data() + At)) &&
              !std::all_of(B.begin() + At, B.begin() + At + sizeOf(F.Kind),
                           [](uint8_t V) { return V == Poison; });
    }
  }
  return Any;
}

bool OriginalRuns::hasOtherBlock(const GateCase &C) const {
  return none_of(Bases, [&](const std::unique_ptr<GateCase> &Base) {
    return Base->Shape.Block == C.Shape.Block;
  });
}

/// Takes away what the original touches no byte of. Where a size leaves nothing
/// to do, a program may have no memory there.
Error OriginalRuns::takeUntouched(GateCase &C) {
  Expected<RunResult> R = runCovered(C);
  if (!R)
    return R.takeError();
  if (R->Fault || R->Coverage.size() != C.Buffers.size())
    return Error::success();
  for (auto [Content, Touched] : zip_equal(C.Buffers, R->Coverage))
    if (Touched.Read.none() && Touched.Written.none())
      Content.clear();
  return Error::success();
}

Expected<std::unique_ptr<JudgedCase>> OriginalRuns::prepare(GateCase C) {
  if (C.Doubtful)
    moveIntoRange(kernel(), C);
  if (C.Idle)
    if (Error E = takeUntouched(C))
      return std::move(E);
  if (C.Grown) {
    constexpr double MostGrowth = 4;
    Expected<double> Cost = costOf(C);
    if (!Cost)
      return Cost.takeError();
    if (*Cost < 0 || *Cost > MostGrowth * MostCost)
      return nullptr;
  }
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
  J->OwnPrecision = inOwnPrecision();
  J->Case = std::move(C);
  const GateCase &Case = J->Case;
  J->Fill = Case.OtherFill ? OtherPoison : Poison;
  Plain.Module->forgetDecided();
  Expected<RunResult> Final = run(Plain, Case, J->Fill);
  if (!Final)
    return Final.takeError();
  J->Decided = Plain.Module->decided();
  J->Original = std::move(*Final);
  auto IsNaN = [](double V) { return std::isnan(V); };
  // A NaN with a sign has the bits of Poison: a variant that writes it would
  // seem to write nothing.
  if (J->Fill == Poison && !J->Original.Fault &&
      changesTo(Case, J->Original, IsNaN, true)) {
    J->Fill = OtherPoison;
    Expected<RunResult> Again = run(Plain, Case, J->Fill);
    if (!Again)
      return Again.takeError();
    J->Original = std::move(*Again);
  }
  if (Deciding.Module && !J->Original.Fault) {
    Deciding.Module->forgetDecided();
    if (Expected<RunResult> OfSource = run(Deciding, Case, J->Fill); !OfSource)
      return OfSource.takeError();
    J->Decided = Deciding.Module->decided();
  }
  if (J->Original.Fault) {
    if (Case.Doubtful)
      return nullptr;
    return findingError("the original itself faults on workload " + Case.Name +
                        ": " + J->Original.Fault->str());
  }
  auto IsEndless = [](double V) { return !std::isfinite(V); };
  if ((Case.NeedsNaN && !changesTo(Case, J->Original, IsNaN, true)) ||
      (Case.NeedsFinite && changesTo(Case, J->Original, IsEndless, false)))
    return nullptr;
  if (Case.Far) {
    J->Reference = J->Original.Buffers;
    J->HasReference = false;
  } else {
    Expected<RunResult> Reference = run(Wide, Case, J->Fill);
    if (!Reference)
      return Reference.takeError();
    J->Reference =
        Reference->Fault ? J->Original.Buffers : std::move(Reference->Buffers);
    if (Case.Scaled && leavesFormats(*J))
      return nullptr;
    if (Error E = findRounding(*J))
      return std::move(E);
  }
  if (Case.Deep) {
    J->AnyOrder = J->SameBits = true;
  } else if (Case.Doubtful || Case.Ordered) {
    Expected<RunResult> Backwards = run(Reversed, Case, J->Fill);
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
  // Fewer threads may leave parts of what a block shares unwritten: what the
  // original makes of those is chance, and proves nothing.
  const bool MayMissWrites =
      Case.Doubtful && !Case.Deep && Checks.Written && hasOtherBlock(Case);
  if ((Case.Thorough || MayMissWrites) && Checked.Module) {
    // What else the original does itself is no reason to reject a variant.
    Expected<RunResult> R = run(Checked, Case, J->Fill);
    if (!R)
      return R.takeError();
    if (R->Fault && MayMissWrites &&
        reasonOf(R->Fault->Kind) == GateReason::UnwrittenRead)
      return nullptr;
    if (R->Fault)
      J->Case.Thorough = false;
    else if (Case.Thorough)
      J->Coverage = std::move(R->Coverage);
  }
  if (!Case.Doubtful)
    if (Error E = addRefilled(*J))
      return std::move(E);
  return J;
}

Expected<bool> OriginalRuns::findReference(const JudgedCase &J) {
  if (J.HasReference)
    return false;
  J.HasReference = true;
  Expected<RunResult> R = run(Wide, J.Case, J.Fill);
  if (!R)
    return R.takeError();
  if (!R->Fault)
    J.Reference = std::move(R->Buffers);
  return true;
}

Expected<std::unique_ptr<OriginalRuns>> OriginalRuns::create(GateSetup Setup) {
  if (llvm::all_of(Setup.Workloads,
                   [](const Workload &W) { return W.isNotForGate(); }))
    return findingError(
        "the cpu device cannot judge any workload of '" + Setup.Original->Name +
            "': " +
            (Setup.Workloads.empty() ? "there are none"
                                     : "only a GPU runs the given ones"),
        "add smaller launches: docs/Gate.md, \"Large workloads\"");
  if (Error E = checkRangeNames(*Setup.Original))
    return std::move(E);
  if (!Setup.NoFloat64.empty() &&
      Setup.Original->Contract.K == PrecisionContract::Kind::Relaxed)
    return usageError("the contract 'relaxed' counts errors against float64, "
                      "in which '" +
                          Setup.Original->Name +
                          "' cannot be run: " + Setup.NoFloat64,
                      "judge it under 'same'");
  std::unique_ptr<OriginalRuns> O(new OriginalRuns(std::move(Setup)));
  if (Error E = O->load())
    return std::move(E);
  if (O->inOwnPrecision())
    O->Choices.push_back("no float64 run: " + O->Setup.NoFloat64);
  for (size_t I = 0; I < O->Setup.Workloads.size(); ++I)
    if (Error E = O->addWorkload(I))
      return std::move(E);
  if (O->Bases.empty())
    return findingError(
        "the cpu device cannot judge any workload of '" + O->kernel().Name +
            "': they take too long there, and cannot be made smaller",
        "add smaller launches: docs/Gate.md, \"Large workloads\"");
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

Expected<ImpulseProbes *> OriginalRuns::impulseProbes(size_t Index) {
  BaseState &S = BaseStates[Index];
  if (!S.Probes) {
    Expected<const JudgedCase *> Base = get(S.Entry);
    if (!Base)
      return Base.takeError();
    if (!*Base)
      return nullptr;
    Expected<std::unique_ptr<ImpulseProbes>> P =
        ImpulseProbes::plan(*this, **Base, S.Cost);
    if (!P)
      return P.takeError();
    S.Probes = std::move(*P);
  }
  return S.Probes.get();
}

Expected<RunResult> OriginalRuns::runCovered(const GateCase &C) {
  if (!Covered.Module) {
    Expected<LoadedKernel> K =
        loadKernel(Setup.Code.runs(), RunMode::Covered, Setup.Arch, {}, Code);
    if (!K)
      return K.takeError();
    Covered = std::move(*K);
  }
  return run(Covered, C);
}

Error OriginalRuns::findTouched(const JudgedCase &J) {
  if (J.Touched)
    return Error::success();
  Expected<RunResult> R = runCovered(J.Case);
  if (!R)
    return R.takeError();
  J.Touched = touchedBytes(kernel(), J.Case, R->Coverage);
  return Error::success();
}

Expected<double> OriginalRuns::estimate(const GateCase &C, bool Deep) {
  return estimate(C, Estimating[Deep], DomainCases::mostCost(Deep),
                  BornChecks().SampleBlocks);
}

Expected<double> OriginalRuns::estimate(const GateCase &C, LoadedKernel &K,
                                        double MostSteps, unsigned Blocks) {
  if (!K.Module) {
    // What is counted is a sample of the blocks, with their whole loops.
    BornChecks Bound;
    Bound.LaunchSteps = static_cast<uint64_t>(MostSteps);
    Bound.SampleBlocks = Blocks;
    Expected<LoadedKernel> Loaded = loadKernel(
        Setup.Code.runs(), RunMode::Sampled, Setup.Arch, Bound, Code);
    if (!Loaded)
      return Loaded.takeError();
    K = std::move(*Loaded);
  }
  Expected<RunResult> R = run(K, C);
  if (!R)
    return R.takeError();
  if (R->Fault && reasonOf(R->Fault->Kind) == GateReason::Runaway)
    return DomainCases::TooMuch;
  return R->Fault ? -1 : R->Steps;
}

Expected<const CodeFacts *> OriginalRuns::facts() {
  if (!Facts) {
    Expected<CodeFacts> Own =
        factsOf(kernel(), Setup.Code.Source, kernel().Symbol,
                /*OwnLaunch=*/true);
    if (!Own)
      return Own.takeError();
    Facts = std::move(*Own);
  }
  return &*Facts;
}

Expected<DomainCases *> OriginalRuns::domainCases(size_t Index) {
  BaseState &S = BaseStates[Index];
  if (!S.Domain) {
    Expected<const JudgedCase *> Base = get(S.Entry);
    if (!Base)
      return Base.takeError();
    if (!*Base)
      return nullptr;
    Expected<const CodeFacts *> Own = facts();
    if (!Own)
      return Own.takeError();
    Expected<std::unique_ptr<DomainCases>> D =
        DomainCases::of(*this, **Base, **Own);
    if (!D)
      return D.takeError();
    S.Domain = std::move(*D);
  }
  return S.Domain.get();
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
