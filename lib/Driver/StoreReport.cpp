//===- StoreReport.cpp - A store as the report shows it
//-----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/StoreReport.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Driver/SearchStories.h"
#include "cupilot/Evolution/Prophecy.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Report/Report.h"
#include "cupilot/Roofline/MeasuredFile.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
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
  Row.Headroom = headroom(F.Ceiling, M ? M->Microseconds : *Row.Modelled);
}

static Error show(const StoredKernel &S, const ReportRequest &R, Journal *J,
                  std::vector<ReportKernel> &Kernels) {
  const auto &[Gpu, C, Measured] = R.Gpu;
  SearchProblem P;
  P.K = S.K;
  P.Workloads = S.Workloads;
  P.DataFolder = R.Store;
  P.Flags = R.Flags;
  P.Gpu = Gpu;
  P.Arch = Gpu.Arch;
  std::vector<Shown> All;
  addStored(S, All);
  if (J)
    if (Error E = addCandidates(S, *J, All))
      return E;
  Expected<std::unique_ptr<Prophecy>> Made = Prophecy::create(P, C);
  if (!Made)
    return Made.takeError();
  Expected<CodeFigures> Original = (*Made)->original();
  if (!Original)
    return Original.takeError();
  size_t First = Kernels.size();
  for (auto [W, F] : zip_equal(P.Workloads, Original->Workloads)) {
    ReportKernel K;
    K.Name = S.K.Name;
    const LaunchShape &L = W.Shape;
    K.Workload = formatv("{0}: grid {1}x{2}x{3}, block {4}x{5}x{6}, {7} "
                         "launch(es), {8:f0} % of the kernel time",
                         W.Name, L.Grid[0], L.Grid[1], L.Grid[2], L.Block[0],
                         L.Block[1], L.Block[2], W.Count, W.Weight * 100);
    ReportVariant Row;
    Row.Name = Row.Verdict = "original";
    const MeasuredLaunch *M = measuredOn(Measured, S.K, W, "");
    Opinion Code, Counts, Measurement;
    if (Original->Static)
      Code = opinionOfCode(*Original->Static, Gpu, C, &W.Shape);
    else
      Code.Unknown.push_back(Original->NoStatic);
    if (F) {
      fill(Row, *F, M);
      Counts = opinionOfCounts(F->Time, F->Ceiling);
      if (M)
        Measurement = opinionOfMeasurement(*M, F->Ceiling);
    }
    if (!M)
      Measurement.Unknown.push_back("nothing was measured");
    K.Opinions = {{"code", std::move(Code)},
                  {"counts", std::move(Counts)},
                  {"measured", std::move(Measurement)}};
    K.Variants.push_back(std::move(Row));
    Kernels.push_back(std::move(K));
  }
  for (const Shown &Each : All) {
    std::optional<CodeFigures> Figures;
    if (Each.HasCode) {
      Expected<CodeFigures> Got =
          (*Made)->of(Each.Source, Each.Plan, Each.When);
      if (Got)
        Figures = std::move(*Got);
      else // What the gate rejects may not even run.
        consumeError(Got.takeError());
    }
    for (size_t I = 0; I < P.Workloads.size(); ++I) {
      ReportVariant Row = Each.Row;
      if (Figures && Figures->Workloads[I])
        fill(Row, *Figures->Workloads[I],
             measuredOn(Measured, S.K, P.Workloads[I], Row.Name));
      Kernels[First + I].Variants.push_back(std::move(Row));
    }
  }
  return Error::success();
}

Expected<StoreReport> reportOf(const ReportRequest &R, raw_ostream &Log) {
  Expected<ProjectStore> Store = ProjectStore::open(R.Store);
  if (!Store)
    return Store.takeError();
  std::optional<Journal> J;
  if (sys::fs::exists(R.Store + "/journal.sqlite")) {
    Expected<Journal> Opened = Journal::open(R.Store + "/journal.sqlite");
    if (!Opened)
      return Opened.takeError();
    J.emplace(std::move(*Opened));
  }
  Expected<std::vector<StoredKernel>> Stored = Store->kernels();
  if (!Stored)
    return Stored.takeError();
  StoreReport Page;
  unsigned Chosen = 0;
  for (StoredKernel &S : *Stored) {
    if (!R.Only.empty() && !StringRef(S.K.Name).contains(StringRef(R.Only)))
      continue;
    ++Chosen;
    if (Error E = Store->readTexts(S))
      return E;
    if (J) {
      Expected<std::vector<SearchStory>> Told = storiesOf(S, *J, R.Store);
      if (!Told)
        return Told.takeError();
      append_range(Page.Stories, std::move(*Told));
    }
    if (Error E = show(S, R, J ? &*J : nullptr, Page.Kernels))
      if (Error Other = absorbFinding(std::move(E), [&](StringRef Why) {
            Log << S.K.Name << ": left out: " << Why << "\n";
          }))
        return Other;
  }
  if (Chosen == 0)
    return findingError("the store '" + R.Store + "' has no such kernel",
                        "'cupilot store list' lists its kernels");
  return Page;
}

} // namespace cupilot
