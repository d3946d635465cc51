//===- Gate.cpp - The checks before the store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A variant is guilty until proved innocent: it runs on every case in memory
// that holds nothing but the inputs and a NaN pattern, and must end with what
// the original ends with, within the precision contract.
//
//===----------------------------------------------------------------------===//

#include "DeviceReferences.h"
#include "FindDomain.h"
#include "LargeLaunches.h"
#include "Variant.h"
#include "cupilot/Evaluation/Precision.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringSet.h"
#include <chrono>
#include <map>
#include <numeric>

using namespace llvm;

namespace cupilot {

Gate::~Gate() = default;

namespace {
class GateImpl : public Gate {
public:
  explicit GateImpl(std::unique_ptr<OriginalRuns> O)
      : TheOriginal(std::move(O)) {}
  bool isLarge(size_t Index) const override {
    return TheOriginal->setup().Workloads[Index].IsLarge;
  }
  ArrayRef<ExecutionCounts> originalCounts() const override {
    return TheOriginal->counts();
  }
  Expected<std::vector<LargeLaunch>>
  largeLaunches(ArrayRef<Workload> OnGpu, uint64_t MostBytes) override {
    return findLargeLaunches(*TheOriginal, OnGpu, MostBytes);
  }
  Expected<GateVerdict> judge(const GateCode &Variant, const LaunchPlan &Plan,
                              const Guard &When, GateDepth Depth) override;
  Error runOriginalQuickly(double Seconds) override;
  Expected<GateVerdict> count(const GateCode &Variant, const LaunchPlan &Plan,
                              const Guard &When) override;
  Expected<ReferenceVerdict>
  judgeDeviceResults(size_t Index, const DeviceResults &Original,
                     const DeviceResults &Variant) override {
    return References.judge(*TheOriginal, Index, Original, Variant);
  }

private:
  std::vector<size_t> quickCases() const;
  Expected<std::optional<GateFinding>> checkArithmetic(const GateCode &Variant,
                                                       const LaunchPlan &Plan);
  Expected<std::optional<GateCase>> wholeFor(const VariantRuns &V,
                                             const GateCase &Base);
  Expected<std::vector<std::optional<GateCase>>>
  wholesFor(const VariantRuns &V);
  Expected<bool> judgeWhole(VariantRuns &V,
                            ArrayRef<std::optional<GateCase>> Wholes,
                            GateVerdict &Verdict);
  Expected<bool> judgeAdmitted(VariantRuns &V,
                               ArrayRef<std::optional<GateCase>> Wholes,
                               GateVerdict &Verdict);

  std::unique_ptr<OriginalRuns> TheOriginal;
  DeviceReferences References;
  std::optional<DeviceArithmetic>
      Own; ///< The original's; once it is asked for.
  /// Captured launches with other inputs, by workload; what the original does
  /// not bear is null.
  std::map<size_t, std::vector<std::unique_ptr<JudgedCase>>> Varied;
};
} // namespace

Expected<std::optional<GateFinding>>
GateImpl::checkArithmetic(const GateCode &Variant, const LaunchPlan &Plan) {
  if (TheOriginal->kernel().Contract.K == PrecisionContract::Kind::Relaxed)
    return std::nullopt;
  SmallVector<StringRef> Symbols;
  for (const Launch &L : Plan.Launches)
    Symbols.push_back(L.Symbol);
  if (!Own) {
    Expected<DeviceArithmetic> Found =
        DeviceArithmetic::of(TheOriginal->setup().Code.Source,
                             StringRef(TheOriginal->kernel().Symbol));
    if (!Found)
      return Found.takeError();
    Own = std::move(*Found);
  }
  Expected<DeviceArithmetic> Mine =
      DeviceArithmetic::of(Variant.Source, Symbols);
  if (!Mine)
    return Mine.takeError();
  std::optional<NarrowerArithmetic> Narrower = findNarrowerFormats(*Own, *Mine);
  if (!Narrower && !TheOriginal->setup().MayApproximate)
    Narrower = findApproximateArithmetic(*Own, *Mine);
  if (!Narrower)
    return std::nullopt;
  return makeFinding(GateReason::NarrowerArithmetic, "", Narrower->str());
}

/// The captured launch where the guard lets it in, but not \p Base, which
/// stands for it; nothing where it costs too much to be varied.
Expected<std::optional<GateCase>> GateImpl::wholeFor(const VariantRuns &V,
                                                     const GateCase &Base) {
  constexpr double MostCost = 4e8; // In instructions of all threads.
  Expected<bool> In = V.admitted(Base);
  if (!In)
    return In.takeError();
  const ExecutionCounts &Counts = TheOriginal->counts()[Base.Workload];
  if (*In || double(Counts.WarpInstructions) * 32 > MostCost)
    return std::nullopt;
  Expected<GateCase> C = TheOriginal->captured(Base.Workload);
  if (!C)
    return C.takeError();
  In = V.admitted(*C);
  if (!In)
    return In.takeError();
  if (!*In)
    return std::nullopt;
  C->PureOutput = Base.PureOutput;
  return std::optional(std::move(*C));
}

/// wholeFor of each base.
Expected<std::vector<std::optional<GateCase>>>
GateImpl::wholesFor(const VariantRuns &V) {
  std::vector<std::optional<GateCase>> Wholes;
  for (const std::unique_ptr<GateCase> &Base : TheOriginal->bases()) {
    Expected<std::optional<GateCase>> Whole = wholeFor(V, *Base);
    if (!Whole)
      return Whole.takeError();
    Wholes.push_back(std::move(*Whole));
  }
  return Wholes;
}

/// A guard may keep out everything that stands for a large launch. Then the
/// launch itself runs in both orders, with all checks and with other inputs.
/// False: rejected.
Expected<bool> GateImpl::judgeWhole(VariantRuns &V,
                                    ArrayRef<std::optional<GateCase>> Wholes,
                                    GateVerdict &Verdict) {
  constexpr size_t MostInputs = 12;
  for (const std::optional<GateCase> &Whole : Wholes) {
    if (!Whole)
      continue;
    std::vector<std::unique_ptr<JudgedCase>> &Cases = Varied[Whole->Workload];
    if (Cases.empty()) {
      CaseMakers Makers;
      addInputCases(TheOriginal->context(), *Whole, Makers);
      std::vector<GateCase> Made{*Whole};
      Made.front().Ordered = Made.front().Thorough = true;
      for (size_t I = 0; I < std::min(MostInputs, Makers.size()); ++I)
        Made.push_back(Makers[I].Make());
      for (GateCase &C : Made) {
        Expected<std::unique_ptr<JudgedCase>> J =
            TheOriginal->prepare(std::move(C));
        if (!J)
          return J.takeError();
        Cases.push_back(std::move(*J));
      }
    }
    for (const std::unique_ptr<JudgedCase> &J : Cases) {
      if (!J) {
        ++Verdict.Skipped;
        continue;
      }
      Expected<bool> Right = V.judge(*J, Verdict);
      if (!Right || !*Right)
        return Right;
    }
  }
  return true;
}

/// Values for a scalar whose captured value is \p Value, in the order in which
/// they are tried. Guards ask for multiples of what a thread, a warp or a block
/// takes, nearly always powers of two up to a block's most threads: first the
/// next smaller multiple of each, then sizes that are three times a power of
/// two, and the powers themselves.
static SmallVector<uint64_t, 32> valuesBelow(uint64_t Value) {
  constexpr uint64_t MostThreads = 1024;
  SmallVector<uint64_t, 32> Values;
  auto Add = [&](uint64_t New) {
    if (Value > New)
      Values.push_back(New);
  };
  for (uint64_t Step = 1; Step <= MostThreads; Step *= 2)
    if (Value > Step)
      Add((Value - 1) / Step * Step);
  for (uint64_t Small = 96; Small >= 3; Small /= 2)
    Add(Small);
  Add(1);
  for (uint64_t Step = MostThreads; Step > 1; Step /= 2)
    Add(Step);
  return Values;
}

/// A guard such as n mod 4 == 0 may keep out every value of a scalar but the
/// captured one. Adds cases with values that it lets in. False: rejected.
Expected<bool> GateImpl::judgeAdmitted(VariantRuns &V,
                                       ArrayRef<std::optional<GateCase>> Wholes,
                                       GateVerdict &Verdict) {
  constexpr unsigned MostAdded = 2, MostRuns = 4; // For each scalar.
  StringSet<> Tried;
  for (const auto &[Each, Whole] : zip_equal(TheOriginal->bases(), Wholes)) {
    const GateCase *Base = Whole ? &*Whole : Each.get();
    for (const ScalarRef &S : TheOriginal->kernel().Scalars) {
      uint64_t Value = readScalar(*Base, S);
      if (Value < 2 || Value >> 31)
        continue;
      unsigned Added = 0, Runs = 0;
      for (size_t I = 0; I < TheOriginal->count() && !Added; ++I) {
        Expected<const JudgedCase *> J = TheOriginal->get(I);
        if (!J)
          return J.takeError();
        if (!*J || (*J)->Case.Workload != Base->Workload ||
            readScalar((*J)->Case, S) == Value)
          continue;
        Expected<bool> In = V.admitted((*J)->Case);
        if (!In)
          return In.takeError();
        Added += *In;
      }
      if (Added)
        continue;
      for (uint64_t New : valuesBelow(Value)) {
        if (Added == MostAdded || Runs == MostRuns)
          break;
        GateCase C = resized(TheOriginal->context(), *Base, {&S, 0}, New,
                             Fit::None, false);
        C.Ordered = C.Thorough = false;
        Expected<bool> In = V.admitted(C);
        if (!In)
          return In.takeError();
        if (!*In || !Tried.insert(C.Name).second)
          continue;
        ++Runs;
        Expected<std::unique_ptr<JudgedCase>> J =
            TheOriginal->prepare(std::move(C));
        if (!J)
          return J.takeError();
        if (!*J)
          continue;
        ++Added;
        Expected<bool> Right = V.judge(std::move(*J), Verdict);
        if (!Right || !*Right)
          return Right;
      }
    }
  }
  return true;
}

/// The recorded launches, and a few others.
std::vector<size_t> GateImpl::quickCases() const {
  constexpr unsigned MostOthers = 6;
  std::vector<size_t> Some;
  unsigned Others = 0;
  for (size_t I = 0; I < TheOriginal->count(); ++I)
    if (TheOriginal->isRecorded(I) || Others++ < MostOthers)
      Some.push_back(I);
  return Some;
}

Error GateImpl::runOriginalQuickly(double Seconds) {
  const auto Until =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(Seconds);
  for (size_t I : quickCases()) {
    if (std::chrono::steady_clock::now() >= Until)
      break;
    if (Error E = TheOriginal->get(I).takeError())
      return E;
  }
  return Error::success();
}

Expected<GateVerdict> GateImpl::count(const GateCode &Variant,
                                      const LaunchPlan &Plan,
                                      const Guard &When) {
  GateVerdict Verdict;
  Verdict.VariantLaunches.resize(TheOriginal->setup().Workloads.size());
  VariantRuns V(*TheOriginal, Variant, Plan, When);
  Expected<bool> Right = V.count(Verdict);
  if (!Right)
    return Right.takeError();
  return Verdict;
}

Expected<GateVerdict> GateImpl::judge(const GateCode &Variant,
                                      const LaunchPlan &Plan, const Guard &When,
                                      GateDepth Depth) {
  GateVerdict Verdict;
  Verdict.Choices = TheOriginal->choices();
  Verdict.VariantLaunches.resize(TheOriginal->setup().Workloads.size());
  auto Reject = [&](Expected<GateFinding> Found) -> Expected<GateVerdict> {
    if (!Found)
      return Found.takeError();
    Verdict.Findings.push_back(std::move(*Found));
    return std::move(Verdict);
  };
  Expected<std::optional<GateFinding>> Narrower =
      checkArithmetic(Variant, Plan);
  if (!Narrower)
    return Reject(findingOf(Narrower.takeError(), ""));
  if (*Narrower)
    return Reject(std::move(**Narrower));
  VariantRuns V(*TheOriginal, Variant, Plan, When);
  if (Error E = V.load())
    return Reject(findingOf(std::move(E), ""));
  Expected<std::optional<GateFinding>> Memory = V.checkLocalMemory();
  if (!Memory)
    return Reject(findingOf(Memory.takeError(), ""));
  if (*Memory)
    return Reject(std::move(**Memory));
  const bool Quick = Depth == GateDepth::Quick;
  std::vector<size_t> Cases = quickCases();
  if (!Quick) {
    Cases.resize(TheOriginal->count());
    std::iota(Cases.begin(), Cases.end(), 0);
  }
  for (size_t I : Cases) {
    Expected<const JudgedCase *> J = TheOriginal->get(I);
    if (!J)
      return J.takeError();
    if (!*J) {
      ++Verdict.Skipped;
      continue;
    }
    Expected<bool> Right = V.judge(**J, Verdict);
    if (!Right)
      return Right.takeError();
    if (!*Right)
      return Verdict;
  }
  if (Quick) {
    Expected<bool> Counted =
        Verdict.Checks == 0 ? Expected<bool>(true) : V.count(Verdict);
    if (!Counted)
      return Counted.takeError();
    if (Verdict.Checks == 0)
      return Reject(makeFinding(GateReason::NeverAdmitted, "",
                                "the guard admits none of the launches that a "
                                "quick verdict looks at"));
    Verdict.Passed = *Counted && Verdict.Findings.empty();
    return Verdict;
  }
  Expected<bool> Drawn = V.judgeDrawn(Verdict);
  if (!Drawn)
    return Drawn.takeError();
  if (!*Drawn)
    return Verdict;
  Expected<std::vector<std::optional<GateCase>>> Wholes = wholesFor(V);
  if (!Wholes)
    return Wholes.takeError();
  Expected<bool> Right = judgeWhole(V, *Wholes, Verdict);
  if (!Right)
    return Right.takeError();
  if (!*Right)
    return Verdict;
  Right = judgeAdmitted(V, *Wholes, Verdict);
  if (!Right)
    return Right.takeError();
  if (!*Right)
    return Verdict;
  for (size_t I = 0; I < TheOriginal->bases().size(); ++I) {
    Expected<ImpulseProbes *> Probes = TheOriginal->impulseProbes(I);
    if (!Probes)
      return Probes.takeError();
    if (!*Probes)
      continue;
    Expected<bool> Seen = V.judgeImpulses(**Probes, Verdict);
    if (!Seen)
      return Seen.takeError();
    if (!*Seen)
      return Verdict;
  }
  if (Verdict.Checks == 0)
    return Reject(makeFinding(GateReason::NeverAdmitted, "",
                              "the guard admits none of the workloads"));
  Right = V.count(Verdict);
  if (!Right)
    return Right.takeError();
  if (!*Right)
    return Verdict;
  if (Error E = findDomain(*TheOriginal, V, Variant, Plan, Depth, Verdict))
    return std::move(E);
  if (Verdict.Findings.empty())
    Verdict.Passed = true;
  return Verdict;
}

Expected<std::unique_ptr<Gate>> Gate::create(GateSetup Setup) {
  Expected<std::unique_ptr<OriginalRuns>> O =
      OriginalRuns::create(std::move(Setup));
  if (!O)
    return O.takeError();
  return std::make_unique<GateImpl>(std::move(*O));
}

} // namespace cupilot
