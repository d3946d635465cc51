//===- Advice.cpp - What the Roofline Prophet tells the agents -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Advice.h"
#include "CountedFigures.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Evolution/PlanCost.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// The class that most sources name; counts first where they disagree.
static std::optional<Bottleneck>
classOf(ArrayRef<std::pair<std::string, Opinion>> Opinions) {
  for (StringRef Source : {"measured", "counts", "code"})
    for (const auto &[Name, O] : Opinions)
      if (Source == Name && O.Class)
        return O.Class;
  return std::nullopt;
}

/// From the counts of a launch that is not the one that counts: its time says
/// nothing, but on which side it is does not change with the size.
static Opinion opinionOfSample(const CeilingTimes &T, StringRef Name) {
  Opinion O;
  double Longest = std::max(T.memory(), T.compute());
  if (!(Longest > 0))
    return O;
  O.Class = classify(T.memory() / Longest, T.compute() / Longest);
  O.Grounds.push_back(
      formatv("of the smaller launch {0}, at the ceilings memory takes {1:f2} "
              "us, computing {2:f2} us, longest {3}",
              Name, T.memory(), T.compute(), T.longest())
          .str());
  return O;
}

namespace {
/// Makes the advice on one kernel.
class Adviser {
public:
  Adviser(const SearchProblem &P, const CandidateEvaluator &E,
          const Ceilings &C, const KernelResources &R)
      : P(P), E(E), C(C), R(R) {}
  void addTimes(KernelAdvice &A) const;
  void addMetrics(KernelAdvice &A) const;

private:
  size_t heaviest() const { return heaviestWorkload(P); }
  /// The counted launch that stands for the heaviest: itself, if it can be run
  /// here; else the largest one. Nothing where none was.
  std::optional<size_t> sample() const;

  const SearchProblem &P;
  const CandidateEvaluator &E;
  const Ceilings &C;
  const KernelResources &R;
};
} // namespace

size_t heaviestWorkload(const SearchProblem &P) {
  size_t Most = 0;
  auto Rank = [&](size_t I) {
    return std::pair(P.Workloads[I].isTimed(), P.Workloads[I].Weight);
  };
  for (size_t I = 0; I < P.Workloads.size(); ++I)
    if (Rank(I) > Rank(Most))
      Most = I;
  return Most;
}

std::optional<size_t> Adviser::sample() const {
  if (E.originalCounts(heaviest()))
    return heaviest();
  std::optional<size_t> Largest;
  for (size_t I = 0; I < P.Workloads.size(); ++I)
    if (const ExecutionCounts *Counts = E.originalCounts(I))
      if (!Largest || Counts->WarpInstructions >
                          E.originalCounts(*Largest)->WarpInstructions)
        Largest = I;
  return Largest;
}

/// What the operations of a launch cannot take less than, in microseconds. A
/// relaxed contract lets tensor cores make the products.
static double operationsFloor(const SearchProblem &P, const Ceilings &C,
                              const ExecutionCounts &Counts) {
  CeilingTimes T = timesAtCeilings(C, Counts);
  if (P.K.Contract.K == PrecisionContract::Kind::Relaxed && C.TensorGops > 0)
    T.Fp32 = std::min(T.Fp32, 2 * double(Counts.Fp32) / C.TensorGops * 1e-3);
  T.LeastDram = 0;
  return T.floor();
}

/// What the work of a launch may grow with: its threads, alone or times one or
/// two of the integer arguments. Empty where these are not known.
static std::vector<double> measuresOf(const Kernel &K, const Workload &W) {
  Expected<Bindings> B = bindLaunch(W.Shape, K.Scalars, W.Args);
  if (!B) {
    consumeError(B.takeError());
    return {};
  }
  double Threads = 1;
  for (unsigned I = 0; I < 3; ++I)
    Threads *= double(W.Shape.Grid[I]) * double(W.Shape.Block[I]);
  std::vector<double> All{Threads};
  ArrayRef<int64_t> Values = B->Symbols;
  for (size_t I = 0; I < Values.size(); ++I) {
    All.push_back(Threads * double(Values[I]));
    for (size_t J = I; J < Values.size(); ++J)
      All.push_back(Threads * double(Values[I]) * double(Values[J]));
  }
  return All;
}

/// The operations of a launch that was not counted, as those of at least two
/// that were grow; the least where several measures explain these. 0: none
/// does.
static double fittedFloor(size_t Workload, const SearchProblem &P,
                          const CandidateEvaluator &E, const Ceilings &C) {
  constexpr double Off = 0.02;
  const std::vector<double> Wanted = measuresOf(P.K, P.Workloads[Workload]);
  std::vector<std::pair<std::vector<double>, double>> Known;
  for (size_t I = 0; I < P.Workloads.size(); ++I)
    if (const ExecutionCounts *Counts = E.originalCounts(I))
      Known.emplace_back(measuresOf(P.K, P.Workloads[I]),
                         operationsFloor(P, C, *Counts));
  double Least = 0;
  for (size_t M = 0; M < Wanted.size(); ++M) {
    double Low = HUGE_VAL, High = 0, Smallest = HUGE_VAL, Largest = 0;
    for (const auto &[Measures, Time] : Known) {
      const double Size = M < Measures.size() ? Measures[M] : 0;
      const double Each = Size > 0 ? Time / Size : HUGE_VAL;
      Low = std::min(Low, Each);
      High = std::max(High, Each);
      Smallest = std::min(Smallest, Size);
      Largest = std::max(Largest, Size);
    }
    if (!(Largest > Smallest) || !(Low > 0) || High > Low * (1 + Off) ||
        !(Wanted[M] > 0))
      continue;
    const double Time = Low * Wanted[M];
    Least = Least > 0 ? std::min(Least, Time) : Time;
  }
  return Least;
}

/// Of a launch that only the GPU can run: the time of its buffers, if the
/// launches that were counted touch (nearly) all of theirs, and of its
/// operations, if these grow in a way that is seen.
static double floorOf(size_t Workload, const SearchProblem &P,
                      const CandidateEvaluator &E, const Ceilings &C) {
  if (const ExecutionCounts *Counts = E.originalCounts(Workload))
    return std::max(timesAtCeilings(C, *Counts).LeastDram,
                    operationsFloor(P, C, *Counts));
  std::vector<CountedSample> Samples;
  for (size_t I = 0; I < P.Workloads.size(); ++I)
    if (const ExecutionCounts *Counts = E.originalCounts(I))
      Samples.push_back({Counts, P.Workloads[I].bytes()});
  return std::max(leastTimeLike(C, Samples, P.Workloads[Workload].bytes()),
                  fittedFloor(Workload, P, E, C));
}

std::vector<double> floorsOf(const SearchProblem &P,
                             const CandidateEvaluator &Evaluator,
                             const Ceilings &C) {
  std::vector<double> All;
  All.reserve(P.Workloads.size());
  for (size_t I = 0; I < P.Workloads.size(); ++I)
    All.push_back(floorOf(I, P, Evaluator, C));
  return All;
}

void Adviser::addTimes(KernelAdvice &A) const {
  const std::vector<double> Floors = floorsOf(P, E, C);
  const size_t Heaviest = heaviest();
  bool Timed = true, Bounded = true;
  for (auto [I, W] : enumerate(P.Workloads)) {
    if (!W.isTimed())
      continue;
    double Floor = Floors[I];
    Bounded &= Floor > 0;
    A.FloorUs += Floor * double(W.Count);
    double Time = 0;
    if (const ExecutionCounts *Counts = E.originalCounts(I))
      Time = modelTime(P.Gpu, *Counts, R, W.Shape).Microseconds;
    Timed &= Time > 0 && std::isfinite(Time);
    A.OriginalUs += Time * double(W.Count);
    if (I == Heaviest) {
      A.LaunchUs = std::isfinite(Time) ? Time : 0;
      A.LaunchFloorUs = Floor;
    }
  }
  if (!Timed)
    A.OriginalUs = 0;
  if (!Bounded)
    A.FloorUs = 0;
}

void Adviser::addMetrics(KernelAdvice &A) const {
  if (std::optional<size_t> Sample = sample()) {
    const ExecutionCounts &Counts = *E.originalCounts(*Sample);
    const Workload &W = P.Workloads[*Sample];
    ModelledTime T = modelTime(P.Gpu, Counts, R, W.Shape);
    CeilingTimes Times = timesAtCeilings(C, Counts);
    A.Sample = W.Name;
    A.Opinions.push_back({"counts", *Sample == heaviest()
                                        ? opinionOfCounts(T, Times)
                                        : opinionOfSample(Times, W.Name)});
    A.Metrics.push_back({"occupancy",
                         formatv("{0:f0} % of the warps that a multiprocessor "
                                 "can hold",
                                 T.Occupancy * 100)
                             .str(),
                         "modelled"});
  }
  A.Metrics.push_back(
      {"registers", std::to_string(R.Registers) + " per thread", "ptxas"});
  A.Metrics.push_back({"static_shared",
                       std::to_string(R.StaticShared) + " bytes per block",
                       "ptxas"});
  A.Metrics.push_back(
      {"buffers",
       formatv("{0} bytes in all buffers of the launch that counts most",
               P.Workloads[heaviest()].bytes())
           .str(),
       "recorded"});
  A.Class = classOf(A.Opinions);
  A.Relevant = {"occupancy", "registers", "buffers"};
  if (std::optional<size_t> Sample = sample())
    for (const CountedFigure &F : countedFigures()) {
      double Value = double(F.Value(*E.originalCounts(*Sample))) * F.Scale;
      if (!(Value > 0))
        continue;
      A.Metrics.push_back(
          {F.Name, formatv("{0:f0} {1}", Value, F.Unit).str(), "counted"});
      if (matters(F, A.Class))
        A.Relevant.push_back(F.Name);
    }
}

Expected<KernelAdvice> adviseOn(const SearchProblem &P,
                                const CandidateEvaluator &Evaluator,
                                const Ceilings &C) {
  Expected<std::string> Ptx =
      P.Language ? Expected<std::string>(Evaluator.originalPtx().str())
                 : generatePtx(Evaluator.originalBitcode(), P.Arch);
  if (!Ptx)
    return Ptx.takeError();
  Expected<KernelResources> R =
      planResources(*Ptx, P.K.Symbol, P.Arch, P.Flags);
  if (!R)
    return R.takeError();
  Adviser Made(P, Evaluator, C, *R);
  KernelAdvice A;
  Expected<StaticFigures> Static =
      staticFigures(Evaluator.originalBitcode(), P.K.Symbol);
  if (Static)
    A.Opinions.push_back(
        {"code", opinionOfCode(*Static, P.Gpu, C,
                               &P.Workloads[heaviestWorkload(P)].Shape)});
  else if (Error E = absorbFinding(Static.takeError(), [](StringRef) {}))
    return std::move(E);
  Made.addTimes(A);
  Made.addMetrics(A);
  return A;
}

void addMeasurement(KernelAdvice &A, const SearchProblem &P,
                    const CandidateEvaluator &Evaluator, const Ceilings &C,
                    const std::map<std::string, double> &Times,
                    const std::map<std::string, MeasuredLaunch> &Profile) {
  const size_t Heaviest = heaviestWorkload(P);
  const Workload &W = P.Workloads[Heaviest];
  MeasuredLaunch L;
  if (auto Known = Profile.find(W.Name); Known != Profile.end())
    L = Known->second;
  if (auto Known = Times.find(W.Name);
      Known != Times.end() && Known->second > 0) {
    L.Microseconds = A.LaunchUs = Known->second;
    A.IsMeasured = true;
    if (A.LaunchUs < A.LaunchFloorUs) // Then it is no floor.
      A.LaunchFloorUs = 0;
  }
  const ExecutionCounts *Counts = Evaluator.originalCounts(Heaviest);
  if (L.Metrics.empty() && (!Counts || !(L.Microseconds > 0)))
    return;
  A.Opinions.push_back(
      {"measured",
       opinionOfMeasurement(
           L, timesAtCeilings(C, Counts ? *Counts : ExecutionCounts()))});
  A.Class = classOf(A.Opinions);
  for (const auto &[Key, Value] : L.Metrics) {
    A.Metrics.push_back({Key, formatv("{0:f1}", Value).str(), "counter"});
    if (StringRef(Key).ends_with("Throughput"))
      A.Relevant.push_back(Key);
  }
}

std::vector<std::string> KernelAdvice::sentences() const {
  std::vector<std::string> All;
  if (Class) {
    std::string Text =
        "It is bound by " + (*Class == Bottleneck::Middle
                                 ? std::string("memory and computing alike")
                                 : toString(*Class).str());
    for (const auto &[Source, O] : Opinions)
      if (O.Class == Class)
        for (const std::string &Ground : O.Grounds)
          Text += (StringRef(Text).contains(':') ? "; " : ": ") + Ground;
    All.push_back(Text + ".");
  }
  if (!(LaunchUs > 0) && LaunchFloorUs > 0)
    All.push_back(
        formatv("Its data and operations take {0:f2} us at least on this GPU.",
                LaunchFloorUs)
            .str());
  if (LaunchUs > 0 && LaunchFloorUs > 0)
    All.push_back(formatv("A launch takes {0:f2} us ({3}); its work cannot "
                          "take less than {1:f2} us on this GPU, so at most "
                          "{2:f2} times as fast is possible.",
                          LaunchUs, LaunchFloorUs,
                          std::max(1.0, LaunchUs / LaunchFloorUs),
                          IsMeasured ? "measured" : "modelled")
                      .str());
  std::string Figures;
  for (const KernelMetric &M : Metrics)
    if (is_contained(Relevant, M.Name))
      Figures += (Figures.empty() ? "" : "; ") + M.Name + ": " + M.Value;
  if (!Figures.empty())
    All.push_back("One launch of the original" +
                  (Sample.empty() ? "" : " (" + Sample + ")") + ": " + Figures +
                  ".");
  return All;
}

std::vector<std::string> profileOf(const CandidateRecord &R,
                                   const SearchProblem &P,
                                   const CandidateEvaluator &Evaluator,
                                   const KernelAdvice &A) {
  constexpr size_t MostWorkloads = 3;
  std::vector<std::string> Lines;
  if (!R.Evidence)
    return Lines;
  const std::vector<LaunchTimes> Times = R.Evidence->times();
  for (const LaunchTimes &T : ArrayRef(Times).take_front(MostWorkloads))
    if (T.VariantUs > 0)
      Lines.push_back(formatv("{0}: {1:f2} us, the original {2:f2} us ({3})",
                              T.Workload, T.VariantUs, T.OriginalUs,
                              R.Evidence->Gpu ? "measured" : "modelled")
                          .str());
  for (auto [I, Mine] : enumerate(R.Evidence->Work)) {
    if (I >= P.Workloads.size() || Lines.size() >= 2 * MostWorkloads)
      break;
    const ExecutionCounts *Own = Evaluator.originalCounts(I);
    if (!Own || !Mine)
      continue;
    std::string Text;
    for (const CountedFigure &F : countedFigures()) {
      double Now = double(F.Value(*Mine)) * F.Scale,
             Before = double(F.Value(*Own)) * F.Scale;
      if (matters(F, A.Class) && Now != Before)
        Text +=
            (Text.empty() ? "" : "; ") +
            formatv("{0:f0} {1} (original {2:f0})", Now, F.Unit, Before).str();
    }
    Lines.push_back(P.Workloads[I].Name + ": " +
                    (Text.empty() ? "the same counts as the original" : Text));
  }
  return Lines;
}

} // namespace cupilot
