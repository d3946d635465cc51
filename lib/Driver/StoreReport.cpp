//===- StoreReport.cpp - A store as the report shows it ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/StoreReport.h"
#include "ReportAnswer.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Driver/SearchStories.h"
#include "cupilot/Evolution/Prophecy.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Report/Report.h"
#include "cupilot/Roofline/MeasuredFile.h"
#include "cupilot/Store/GateCounts.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <numeric>
#include <set>

using namespace llvm;

namespace cupilot {

namespace {
/// Code that is shown, wherever it comes from.
struct Shown {
  ReportVariant Row; ///< Without the figures.
  std::string Source;
  LaunchPlan Plan;
  Guard When;
  bool HasCode = false;
};
} // namespace

static void addStored(const StoredKernel &S, std::vector<Shown> &All) {
  for (auto [V, Source] : zip_equal(S.Variants, S.Sources)) {
    Shown Each;
    Each.Row.Name = V.Name;
    Each.Row.Genome = genomeText(V.Genes);
    Each.Row.Verdict = "kept";
    Each.Source = Source;
    Each.Plan = V.Plan.value_or(originalPlan(S.K));
    Each.When = V.When.value_or(Guard());
    if (V.Where)
      Each.Row.Domain = domainText(*V.Where, launchNames(S.K));
    Each.HasCode = true;
    if (!V.Evidence.empty()) {
      Each.Row.Ratio = V.Evidence.front().Ratio;
      Each.Row.Reason = wordOf(V.Evidence.front().Basis).str();
    }
    All.push_back(std::move(Each));
  }
}

/// The candidates of every search of \p S that the journal knows.
static Error addCandidates(const StoredKernel &S, Journal &J,
                           std::vector<Shown> &All) {
  std::set<std::string> Seen;
  for (const Shown &Each : All)
    if (!Each.Row.Genome.empty())
      Seen.insert(Each.Row.Genome);
  Expected<std::vector<std::string>> Runs = runsOf(J, S.K.Digest);
  if (!Runs)
    return Runs.takeError();
  for (const std::string &Run : *Runs) {
    Expected<std::vector<CandidateRecord>> Records = J.candidates(Run);
    if (!Records)
      return Records.takeError();
    for (const CandidateRecord &R : *Records) {
      if (!Seen.insert(R.Genome).second)
        continue;
      Shown Each;
      Each.Row.Name = variantName(R);
      Each.Row.Genome = R.Genome;
      Each.Row.Verdict = wordOf(R.Outcome).str();
      Each.Row.Reason = reasonText(R);
      Each.Row.IsCandidate = true;
      if (R.Ratio > 0)
        Each.Row.Ratio = R.Ratio;
      if (R.Code) {
        Each.Source = R.Code->Source;
        Each.Plan = R.Code->Plan;
        Each.When = R.Code->When;
      }
      // What never was compiled is not compiled here.
      Each.HasCode =
          R.Code && R.Outcome != CandidateOutcome::Duplicate &&
          R.Outcome != CandidateOutcome::Unchanged &&
          progressOf(R.Outcome) > progressOf(CandidateOutcome::Inadmissible);
      All.push_back(std::move(Each));
    }
  }
  return Error::success();
}

static void fill(ReportVariant &Row, const WorkloadFigures &F,
                 const MeasuredLaunch *M) {
  Row.Intensity = F.intensity();
  Row.Operations = F.operations();
  Row.Modelled = F.Time.Microseconds;
  if (std::optional<Bottleneck> Class =
          opinionOfCounts(F.Time, F.Ceiling).Class)
    Row.Class = toString(*Class).str();
  if (M)
    Row.Measured = M->Microseconds;
  Row.FloorUs = F.Ceiling.floor();
  Row.Headroom = headroom(F.Ceiling, M ? M->Microseconds : *Row.Modelled);
}

static std::string describe(const Workload &W) {
  const LaunchShape &L = W.Shape;
  std::string Text =
      formatv("{0}: grid {1}x{2}x{3}, block {4}x{5}x{6}, {7} launch(es)",
              W.Name, L.Grid[0], L.Grid[1], L.Grid[2], L.Block[0], L.Block[1],
              L.Block[2], W.Count);
  if (W.Weight > 0)
    Text += formatv(", {0:f0} % of the kernel time", W.Weight * 100);
  if (W.isForGpuAlone())
    Text += ", run by a GPU alone";
  return Text;
}

/// The drawing of each workload, without variants.
static std::vector<ReportRoofline> rooflinesOf(const StoredKernel &S,
                                               const GpuFacts &Facts,
                                               const CodeFigures &Original) {
  const auto &[Gpu, C, Measured] = Facts;
  std::vector<ReportRoofline> All;
  for (auto [I, W] : enumerate(S.Workloads)) {
    ReportRoofline R;
    R.Workload = describe(W);
    ReportVariant Row;
    Row.Name = Row.Verdict = "original";
    const MeasuredLaunch *M = measuredOn(Measured, S.K, W, "");
    Opinion Code, Counts, Measurement;
    if (Original.Static)
      Code = opinionOfCode(*Original.Static, Gpu, C, &W.Shape);
    else
      Code.Unknown.push_back(Original.NoStatic);
    if (const auto &F = Original.Workloads[I]) {
      fill(Row, *F, M);
      Counts = opinionOfCounts(F->Time, F->Ceiling);
      if (M)
        Measurement = opinionOfMeasurement(*M, F->Ceiling);
    } else {
      R.Unplaced = Original.NoFigures[I];
      Counts.Unknown.push_back(R.Unplaced);
      if (M) {
        Row.Measured = M->Microseconds;
        Measurement = opinionOfMeasurement(*M, {});
      }
    }
    if (!M)
      Measurement.Unknown.push_back("nothing was measured");
    R.Opinions = {{"code", std::move(Code)},
                  {"counts", std::move(Counts)},
                  {"measured", std::move(Measurement)}};
    R.Variants.push_back(std::move(Row));
    All.push_back(std::move(R));
  }
  return All;
}

/// Without figures, where none can be made: \p Why.
static CodeFigures noFigures(size_t Workloads, StringRef Why) {
  CodeFigures F;
  F.NoStatic = Why.str();
  F.Workloads.resize(Workloads);
  F.NoFigures.assign(Workloads, Why.str());
  return F;
}

/// Fills in the drawings of \p K and what they say of its best variants.
static Error show(const StoredKernel &S, const ReportRequest &R, Journal *J,
                  ReportKernel &K, raw_ostream &Log) {
  const GpuFacts &Facts = R.Gpu;
  SearchProblem P;
  P.K = S.K;
  P.Workloads = S.Workloads;
  P.DataFolder = R.Store;
  P.Flags = R.Flags;
  P.Gpu = Facts.Gpu;
  P.Arch = Facts.Gpu.Arch;
  std::vector<Shown> All;
  addStored(S, All);
  if (J)
    if (Error E = addCandidates(S, *J, All))
      return E;
  const bool IsMlir = any_of(S.Builds, [](const BuildEntry &B) {
    return compilerKind(B.Compiler) == CompilerKind::Mlir;
  });
  Expected<std::unique_ptr<Prophecy>> Made =
      IsMlir ? Expected<std::unique_ptr<Prophecy>>(findingError(
                   "it is MLIR, and the store does not have the pipeline that "
                   "makes code of it"))
             : Prophecy::create(P, Facts.C, GpuLaunches::Counted);
  Expected<CodeFigures> Original =
      Made ? (*Made)->original() : Expected<CodeFigures>(Made.takeError());
  bool Counted = bool(Original);
  if (!Original) {
    std::string Text;
    if (Error E = absorbFinding(Original.takeError(), [&](StringRef Why) {
          Text = Why.str();
          Log << S.K.Name << ": not counted: " << Why << "\n";
        }))
      return E;
    K.Why = "its work cannot be counted here: " + Text;
    Original = noFigures(P.Workloads.size(), Text);
  }
  K.Rooflines = rooflinesOf(S, Facts, *Original);
  for (const Shown &Each : All) {
    std::optional<CodeFigures> Figures;
    if (Counted && Each.HasCode) {
      Expected<CodeFigures> Got = (*Made)->of(
          Each.Source, Each.Plan, Each.When,
          Each.Row.IsCandidate ? GpuLaunches::LeftOut : GpuLaunches::Counted);
      if (Got)
        Figures = std::move(*Got);
      else // What the gate rejects may not even run.
        consumeError(Got.takeError());
    }
    for (auto [I, W] : enumerate(P.Workloads)) {
      ReportVariant Row = Each.Row;
      const MeasuredLaunch *M =
          measuredOn(Facts.Measured, S.K, W, Each.Row.Name);
      if (Figures && Figures->Workloads[I])
        fill(Row, *Figures->Workloads[I], M);
      else if (M)
        Row.Measured = M->Microseconds;
      Row.IsOutside =
          Figures && !Figures->Workloads[I] && Figures->NoFigures[I].empty();
      K.Rooflines[I].Variants.push_back(std::move(Row));
    }
  }
  K.Best = bestOf(S, Facts.C.Gpu, K.Rooflines);
  std::vector<size_t> Order(P.Workloads.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](size_t A, size_t B) {
    return std::pair(-P.Workloads[A].Weight, A) <
           std::pair(-P.Workloads[B].Weight, B);
  });
  std::vector<ReportRoofline> Sorted;
  for (size_t I : Order)
    Sorted.push_back(std::move(K.Rooflines[I]));
  K.Rooflines = std::move(Sorted);
  return Error::success();
}

/// Kernels that were searched, and that the store has no variants of.
static Expected<std::vector<StoredKernel>>
searchedInVain(const ReportRequest &R, ArrayRef<StoredKernel> Stored,
               std::map<std::string, std::string> &Why) {
  Expected<std::vector<GateCounts>> Counts = gateCounts(R.Store);
  if (!Counts)
    return Counts.takeError();
  std::vector<StoredKernel> All;
  std::map<std::string, std::pair<unsigned, unsigned>> Sums;
  for (const GateCounts &C : *Counts) {
    if (any_of(Stored,
               [&](const StoredKernel &S) { return S.K.Digest == C.Identity; }))
      continue;
    auto [It, New] = Sums.try_emplace(C.Identity);
    It->second.first += C.Judged;
    It->second.second += C.Passed;
    if (!New)
      continue;
    All.emplace_back();
    All.back().K.Name = C.Kernel;
    All.back().K.Digest = C.Identity;
  }
  for (const auto &[Identity, Sum] : Sums)
    Why[Identity] = formatv("no variant was kept: {0} judged, {1} passed the "
                            "gate",
                            Sum.first, Sum.second);
  return All;
}

Expected<StoreReport> reportOf(const ReportRequest &R, raw_ostream &Log) {
  Expected<ProjectStore> Store = ProjectStore::open(R.Store);
  if (!Store)
    return Store.takeError();
  std::optional<Journal> J;
  if (sys::fs::exists(Journal::pathIn(R.Store))) {
    Expected<Journal> Opened = Journal::open(Journal::pathIn(R.Store));
    if (!Opened)
      return Opened.takeError();
    J.emplace(std::move(*Opened));
  }
  Expected<std::vector<StoredKernel>> Stored = Store->kernels();
  if (!Stored)
    return Stored.takeError();
  std::map<std::string, std::string> InVain;
  Expected<std::vector<StoredKernel>> Others =
      searchedInVain(R, *Stored, InVain);
  if (!Others)
    return Others.takeError();
  append_range(*Stored, std::move(*Others));
  StoreReport Page;
  for (StoredKernel &S : *Stored) {
    if (!R.Only.empty() && !StringRef(S.K.Name).contains(StringRef(R.Only)))
      continue;
    ReportKernel K;
    K.Name = S.K.Name;
    auto Vain = InVain.find(S.K.Digest);
    if (Vain == InVain.end()) {
      K.Contract = contractText(S.K.Contract);
      addShare(S, K);
      if (Error E = Store->readTexts(S))
        return E;
    } else {
      K.Why = Vain->second;
    }
    if (J) {
      Expected<std::vector<SearchStory>> Told = storiesOf(S, *J, R.Store);
      if (!Told)
        return Told.takeError();
      K.Stories = std::move(*Told);
    }
    if (Vain == InVain.end())
      if (Error E = show(S, R, J ? &*J : nullptr, K, Log))
        return E;
    Page.Kernels.push_back(std::move(K));
  }
  if (Page.Kernels.empty())
    return findingError("the store '" + R.Store + "' has no such kernel",
                        "'cupilot store list' lists its kernels");
  Page.Program = answerFor(Page.Kernels, /*IsWhole=*/R.Only.empty());
  return Page;
}

} // namespace cupilot
