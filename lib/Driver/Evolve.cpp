//===- Evolve.cpp - The search of a program's kernels ---------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Evolve.h"
#include "KernelSearch.h"
#include "SearchesAtOnce.h"
#include "cupilot/Driver/BudgetSplit.h"
#include "cupilot/Evolution/ModelMaker.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace llvm;

namespace cupilot {

bool EvolveRequest::isModule() const {
  return sys::path::extension(Input) == ".mlir";
}

Error SearchSize::check() const {
  for (auto &[Name, Value] : {std::pair("--population", Population),
                              std::pair("--generations", Generations)})
    if (Value && (*Value == 0 || *Value > 10000))
      return usageError(Twine(Name) + "=" + Twine(*Value) + " is out of range",
                        "give a number from 1 to 10000");
  if (Tune.value_or(0) > 1000)
    return usageError("--tune=" + Twine(*Tune) + " is out of range",
                      "give a number from 0 to 1000");
  return Error::success();
}

void SearchSize::applyTo(SearchOptions &Options) const {
  Options.Population = Population.value_or(Options.Population);
  Options.Generations = Generations.value_or(Options.Generations);
  const bool Models = Options.Agents && Options.Agents->Tunables;
  Options.Tune =
      Options.Agents && !Models ? 0 : Tune.value_or(Models ? UsualTune : 0);
  if (Options.Agents)
    Options.Offspring = std::min(Options.Offspring, Options.Population);
  if (!Steady || Options.Generations <= 1)
    return;
  constexpr unsigned AtATime = 2;
  unsigned Offspring = (Options.Generations - 1) * Options.Offspring;
  Options.Generations = 1 + (Offspring + AtATime - 1) / AtATime;
  Options.Offspring = AtATime;
}

void SearchSize::limit(SearchOptions &Options, unsigned Candidates) {
  Options.Population = std::clamp(Candidates, 1u, Options.Population);
  Options.Offspring = std::max(1u, Options.Offspring);
  Options.Generations =
      1 + (Candidates - std::min(Candidates, Options.Population)) /
              Options.Offspring;
}

/// Searches one kernel after the other. What goes wrong with one holds up no
/// others: of those that wait for a GPU, all batches are written. Who answers
/// is the same for all, so faults of models end the run.
static Error searchAll(const EvolveRequest &R,
                       MutableArrayRef<SearchItem> Items,
                       KernelSearches &Search, raw_ostream &Log) {
  std::optional<BudgetSplit> Budget, Time;
  std::vector<double> Shares;
  for (const SearchItem &I : Items)
    if (I.K)
      Shares.push_back(I.Row.Share);
  // Two questions choose; one more, with its repair, makes a candidate.
  if (R.Budget)
    Budget.emplace(*R.Budget, Shares, R.Models ? 4 : 1);
  // In less, nothing is found.
  if (R.MaxSeconds)
    Time.emplace(*R.MaxSeconds, Shares, 10);
  Error First = Error::success();
  unsigned Awaiting = 0;
  bool Ends = false;
  auto Keep = [&](Error E) { // The others were told.
    if (First)
      consumeError(std::move(E));
    else
      First = std::move(E);
  };
  for (SearchItem &I : Items) {
    if (!I.K)
      continue;
    if (Ends) {
      I.Row.Why = "the run ended before its turn";
      continue;
    }
    std::optional<unsigned> Most;
    if (Budget) {
      Most = Budget->next();
      if (*Most == 0) {
        I.Row.Why = "--budget is spent on kernels with larger shares";
        continue;
      }
      Log << I.K->Name << ": at most " << *Most
          << (R.Models ? " call(s)" : " candidate(s)")
          << " of --budget=" << *R.Budget << "\n";
    }
    const auto Begin = std::chrono::steady_clock::now();
    if (Time) {
      const unsigned Seconds = Time->next();
      if (Seconds == 0) {
        I.Row.Why = "--max-seconds is spent on kernels with larger shares";
        continue;
      }
      Search.Until = Begin + std::chrono::seconds(Seconds);
    }
    Error E = Search.evolveKernel(*I.Unit, I.Others, *I.K, I.Row, Most);
    if (Budget)
      Budget->spend(Search.Spent);
    if (Time)
      Time->spend(unsigned(std::chrono::ceil<std::chrono::seconds>(
                               std::chrono::steady_clock::now() - Begin)
                               .count()));
    if (!E)
      continue;
    const bool Waits = E.isA<ResultsAwaited>();
    Ends = Search.OverBudget || E.isA<ProviderError>();
    std::string Text;
    E = handleErrors(std::move(E), [&](std::unique_ptr<ToolError> T) -> Error {
      Text = T->text();
      return Error(std::move(T));
    });
    I.Row.leaveOut(Text);
    if (Waits) {
      ++Awaiting;
      Log << "  " << Text << "\n";
    } else if (!Ends) {
      Log << "  left out: " << Text << "\n";
    }
    Keep(std::move(E));
  }
  if (Awaiting > 1)
    Log << "  " << Awaiting << " kernels are waiting for results\n";
  return First;
}

static Error searchInOrder(const EvolveRequest &R, StringRef Root,
                           StringRef Experience, const WorkloadSet &Recorded,
                           MutableArrayRef<SearchItem> Items,
                           ProjectStore Store, SearchTotals &Totals,
                           raw_ostream &Out, raw_ostream &Log) {
  Expected<Journal> J = Journal::open(Journal::pathIn(Root));
  if (!J)
    return J.takeError();
  std::unique_ptr<EvolveAgents> Models;
  if (R.Models)
    if (Error E =
            EvolveAgents::open(*R.Models, Root, R.Resume).moveInto(Models))
      return E;
  KernelSearches Search(R, Root, Recorded, std::move(Store), std::move(*J),
                        std::move(Models), Out, Log);
  Search.Experience = Experience;
  Error Failed = searchAll(R, Items, Search, Log);
  Totals = {Search.Accepted, Search.OthersFailed};
  return Failed;
}

/// What strategies did before this run, as a folder beside the journal: the
/// searches of a run do not learn from each other, so that their order decides
/// nothing. A run that goes on finds what it had.
static Expected<std::string> experienceOf(const EvolveRequest &R,
                                          ArrayRef<SearchItem> Items,
                                          StringRef Root) {
  DigestBuilder Name;
  for (const SearchItem &I : Items)
    if (I.K)
      Name.add(I.K->Digest);
  const std::string Folder =
      (Root + "/journal.sqlite.before-" + shortDigest(Name.str(), 8)).str();
  if (!R.Resume)
    sys::fs::remove_directories(Folder);
  if (sys::fs::exists(Folder))
    return Folder;
  // Whole or not at all: it is renamed into place.
  const std::string New = Folder + ".new";
  sys::fs::remove_directories(New);
  if (Error E = ensureDirectory(New + "/strategies"))
    return std::move(E);
  Expected<std::vector<std::string>> Files =
      filesIn((Root + "/strategies").str());
  if (!Files)
    return Files.takeError();
  for (const std::string &Path : *Files) {
    const std::string To =
        New + "/strategies/" + sys::path::filename(Path).str();
    if (std::error_code EC = sys::fs::copy_file(Path, To))
      return resourceError("cannot copy '" + Path + "' to '" + To +
                           "': " + EC.message());
  }
  if (std::error_code EC = sys::fs::rename(New, Folder))
    return resourceError("cannot rename '" + New + "': " + EC.message());
  return Folder;
}

static SearchTable tableOf(const SearchPlan &Plan,
                           const WorkloadSet &Recorded) {
  SearchTable Table;
  for (const SearchItem &I : Plan.Items)
    Table.Rows.push_back(I.Row);
  Table.Unchosen = Plan.Unchosen;
  Table.UnchosenShare = Plan.UnchosenShare;
  if (all_of(Recorded.All, [](const Workload &W) {
        return W.WeightBasis == Basis::Measured;
      }))
    Table.ShareBasis = Basis::Measured;
  return Table;
}

Error evolve(const EvolveRequest &R, raw_ostream &Out, raw_ostream &Log) {
  if (R.Device != "cpu" && !GpuDevice::isOne(R.Device))
    return usageError("unknown device '" + R.Device + "'",
                      "--device=cpu, " + GpuDevice::Known);
  if (Error E = joinErrors(R.Size.check(), R.Choice.check()))
    return E;
  if (R.Models)
    if (Error E = R.Models->check())
      return E;
  std::string Root = R.Store;
  std::optional<TemporaryDirectory> Passing;
  if (R.isDryRun()) {
    Expected<TemporaryDirectory> Made =
        TemporaryDirectory::create("cupilot-dry-run");
    if (!Made)
      return Made.takeError();
    Passing.emplace(std::move(*Made));
    Root = Passing->file("store");
  }
  Expected<WorkloadSet> Recorded = WorkloadSet::load(R.Workloads);
  if (!Recorded)
    return Recorded.takeError();
  Expected<SearchPlan> Plan = SearchPlan::of(R, *Recorded, Log);
  if (!Plan)
    return Plan.takeError();
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(Root);
  if (!Store)
    return Store.takeError();
  std::string Experience;
  const size_t Kernels = count_if(
      Plan->Items, [](const SearchItem &I) { return I.K.has_value(); });
  if (Kernels > 1 && !R.isDryRun())
    if (Error E = experienceOf(R, Plan->Items, Root).moveInto(Experience))
      return E;
  // What a search has found may not steer another one.
  if (R.AtOnce > 1)
    for (const std::string &Like : R.Like)
      if (sys::fs::equivalent(Like, Root))
        return usageError("--like names the store that is searched into, where "
                          "kernels appear while others are searched",
                          "remove --at-once, or name a copy of the store");
  SearchTotals Totals;
  Error Failed =
      R.AtOnce > 1 && Kernels > 1 && !R.isDryRun()
          ? searchAtOnce(R, Root, Experience, *Recorded, Plan->Items, Totals,
                         Log)
          : searchInOrder(R, Root, Experience, *Recorded, Plan->Items,
                          std::move(*Store), Totals, Out, Log);
  if (!R.isDryRun()) {
    SearchTable Table = tableOf(*Plan, *Recorded);
    if (R.Json)
      Out << formatv("{0:2}\n", json::Value(Table.toJSON()));
    else
      Table.print(Out);
    Out.flush();
  }
  if (Failed)
    return Failed;
  if (!R.MaxSeconds && !Experience.empty()) // Nothing is left to go on with.
    sys::fs::remove_directories(Experience);
  if (!Totals.OthersFailed.empty())
    return resourceError("another compiler could not be run, so the store has "
                         "variants for builds by " +
                             Totals.OthersFailed + " only",
                         "correct that, and add the others' with cupilot "
                         "refresh");
  if (Totals.Accepted == 0 && !R.isDryRun())
    return findingError("no variant was accepted",
                        "-v says why each candidate was dropped");
  return Error::success();
}

} // namespace cupilot
