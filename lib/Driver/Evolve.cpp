//===- Evolve.cpp - The search of a program's kernels ---------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Evolve.h"
#include "KernelSearch.h"
#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Driver/BudgetSplit.h"
#include "cupilot/Driver/ProjectKernels.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <map>

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
  return Error::success();
}

void SearchSize::applyTo(SearchOptions &Options) const {
  Options.Population = Population.value_or(Options.Population);
  Options.Generations = Generations.value_or(Options.Generations);
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

namespace {
/// A kernel of the run: what is searched, or why it is not.
struct SearchItem {
  SearchRow Row;
  std::optional<Kernel> K; ///< Nothing: the row says why.
  SearchedUnit *Unit = nullptr;
  std::vector<SearchedUnit *> Others = {}; ///< That define it alike.
};

/// What a run searches.
struct SearchPlan {
  /// The largest share first, equal ones as they came.
  std::vector<SearchItem> Items;
  std::vector<std::unique_ptr<SearchedUnit>> Units;
  unsigned Unchosen = 0; ///< Kernels that the user did not want.
  double UnchosenShare = 0;

  void add(SearchItem I) {
    auto Later = [](double Share, const SearchItem &Other) {
      return Share > Other.Row.Share;
    };
    Items.insert(upper_bound(Items, I.Row.Share, Later), std::move(I));
  }
};
} // namespace

static SearchItem leftOut(std::string Name, double Share, StringRef Why) {
  SearchItem I{{std::move(Name), Share}, std::nullopt};
  I.Row.leaveOut(Why);
  return I;
}

/// The kernels of R.Input that are launched, if their names hold R.Only.
static Expected<std::vector<Kernel>> kernelsOfFile(const EvolveRequest &R,
                                                   const WorkloadSet &Recorded,
                                                   raw_ostream &Log) {
  size_t Named = 0, Idle = 0;
  auto IsWanted = [&](const Kernel &K) {
    if (!StringRef(K.Name).contains(R.Only))
      return false;
    ++Named;
    const bool Launched = Recorded.launches(K);
    Idle += !Launched;
    return Launched;
  };
  // Identities are compared for each kernel, so slices need no other proof.
  size_t All = 0;
  Expected<std::vector<Kernel>> Kernels =
      R.isModule()
          ? loadKernels(R.Input)
          : extractKernels(R.Input, R.Command.Flags,
                           {.VerifySlices = false, .Wanted = [&](auto &K) {
                              ++All;
                              return IsWanted(K);
                            }});
  if (!Kernels)
    return Kernels.takeError();
  if (R.isModule()) {
    All = Kernels->size();
    erase_if(*Kernels, [&](const Kernel &K) { return !IsWanted(K); });
  }
  if (Error E = checkChoice(All, Named, R.Input, R.Only))
    return std::move(E);
  if (Kernels->empty())
    return findingError("none of the " + Twine(Named) + " kernel(s) of '" +
                            R.Input + "' is launched in '" + R.Workloads + "'",
                        "record a run that launches them: cupilot capture");
  if (Idle)
    Log << R.Input << ": left out: " << Idle
        << " kernel(s) that the workloads do not launch\n";
  return Kernels;
}

static Expected<SearchPlan> planFile(const EvolveRequest &R,
                                     const WorkloadSet &Recorded,
                                     raw_ostream &Log) {
  Expected<std::vector<BuildCompiler>> Compilers =
      buildCompilers(R.Command, R.Compilers, Log);
  if (!Compilers)
    return Compilers.takeError();
  Expected<std::vector<Kernel>> Kernels = kernelsOfFile(R, Recorded, Log);
  if (!Kernels)
    return Kernels.takeError();
  SearchPlan Plan;
  SearchedUnit *Unit =
      Plan.Units
          .emplace_back(std::make_unique<SearchedUnit>(
              R.isModule() ? "" : R.Input, R.Command, std::move(*Compilers)))
          .get();
  for (Kernel &K : *Kernels) {
    const double Share = Recorded.shareOf(K);
    std::string Name = K.Name;
    if (Share < R.Choice.Least) {
      ++Plan.Unchosen;
      Plan.UnchosenShare += Share;
      continue;
    }
    Plan.add({{std::move(Name), Share}, std::move(K), Unit});
  }
  for (; R.Choice.Top && Plan.Items.size() > *R.Choice.Top; ++Plan.Unchosen) {
    Plan.UnchosenShare += Plan.Items.back().Row.Share;
    Plan.Items.pop_back();
  }
  return Plan;
}

/// Of all kernels of the recording, those that are wanted and that a unit has.
static Expected<std::vector<LaunchedKernel>>
chooseLaunched(const EvolveRequest &R, const WorkloadSet &Recorded,
               ProjectKernels &Project, SearchPlan &Plan) {
  std::vector<LaunchedKernel> Wanted, Chosen;
  std::vector<std::string> Symbols;
  bool Named = false;
  for (LaunchedKernel &L : launchedKernels(Recorded)) {
    const bool IsNamed =
        StringRef(NvccPtx::sourceName(L.Symbol)).contains(R.Only);
    Named |= IsNamed;
    if (!IsNamed || L.Share < R.Choice.Least) {
      ++Plan.Unchosen;
      Plan.UnchosenShare += L.Share;
      continue;
    }
    Symbols.push_back(L.Symbol);
    Wanted.push_back(std::move(L));
  }
  if (!Named)
    return usageError("'" + R.Workloads + "' launches no kernel named '" +
                      R.Only + "'");
  Project.locate(Symbols);
  for (LaunchedKernel &L : Wanted) {
    if (Project.unitsOf(L.Symbol).empty()) {
      Plan.add(leftOut(NvccPtx::sourceName(L.Symbol), L.Share,
                       "no unit of the project defines it"));
    } else if (R.Choice.Top && Chosen.size() == *R.Choice.Top) {
      ++Plan.Unchosen;
      Plan.UnchosenShare += L.Share;
    } else {
      Chosen.push_back(std::move(L));
    }
  }
  return Chosen;
}

static Expected<SearchPlan> planProject(const EvolveRequest &R,
                                        const WorkloadSet &Recorded,
                                        raw_ostream &Log) {
  Expected<ProjectUnits> Read = readProject(R.Project);
  if (!Read)
    return Read.takeError();
  for (const std::string &Gone : Read->Gone)
    Log << Gone << ": left out: there is no such file\n";
  Log << "project: " << Read->Units.size() << " CUDA unit(s) of "
      << Read->Commands << " command(s)\n";
  ProjectKernels Project(std::move(*Read), R.Trailing);
  SearchPlan Plan;
  Expected<std::vector<LaunchedKernel>> Chosen =
      chooseLaunched(R, Recorded, Project, Plan);
  if (!Chosen)
    return Chosen.takeError();
  std::vector<std::string> Symbols;
  for (const LaunchedKernel &L : *Chosen) {
    Symbols.push_back(L.Symbol);
    Log << format("%6.1f%%  ", L.Share * 100) << NvccPtx::sourceName(L.Symbol)
        << "\n"
        << "         in "
        << Project.units()[Project.unitsOf(L.Symbol).front()].Source << "\n";
  }
  // By the unit's number; null with the reason why no compiler builds it.
  std::map<size_t, std::pair<SearchedUnit *, std::string>> Units;
  auto UnitOf = [&](size_t Index) -> std::pair<SearchedUnit *, std::string> {
    const UnitCommand &Command = Project.commandOf(Index);
    Expected<std::vector<BuildCompiler>> Compilers =
        buildCompilers(Command, R.Compilers, Log);
    if (!Compilers)
      return {nullptr, toString(Compilers.takeError())};
    Plan.Units.push_back(std::make_unique<SearchedUnit>(
        Project.units()[Index].Source, Command, std::move(*Compilers)));
    return {Plan.Units.back().get(), ""};
  };
  for (const LaunchedKernel &L : *Chosen) {
    Expected<ProjectKernel> Found = Project.kernelOf(L.Symbol, Symbols);
    if (!Found) {
      std::string Why = toString(Found.takeError());
      Log << NvccPtx::sourceName(L.Symbol) << ": left out: " << Why << "\n";
      Plan.add(leftOut(NvccPtx::sourceName(L.Symbol), L.Share, Why));
      continue;
    }
    auto Known = [&](size_t Index) {
      auto It = Units.find(Index);
      if (It == Units.end())
        It = Units.emplace(Index, UnitOf(Index)).first;
      return It->second;
    };
    const auto [Unit, Why] = Known(Found->Unit);
    if (!Unit) {
      Log << Found->K.Name << ": left out: " << Why << "\n";
      Plan.add(leftOut(Found->K.Name, L.Share, Why));
      continue;
    }
    std::vector<SearchedUnit *> Others;
    for (size_t Index : Found->Others)
      if (SearchedUnit *Other = Known(Index).first)
        Others.push_back(Other);
    std::string Name = Found->K.Name;
    Plan.add({{std::move(Name), L.Share},
              std::move(Found->K),
              Unit,
              std::move(Others)});
  }
  return Plan;
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

static Expected<SearchPlan>
planOf(const EvolveRequest &R, const WorkloadSet &Recorded, raw_ostream &Log) {
  Expected<SearchPlan> Plan = R.isProject() ? planProject(R, Recorded, Log)
                                            : planFile(R, Recorded, Log);
  if (Plan && R.Contract)
    for (SearchItem &I : Plan->Items)
      if (I.K)
        I.K = withContract(std::move(*I.K), *R.Contract);
  return Plan;
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
  Expected<SearchPlan> Plan = planOf(R, *Recorded, Log);
  if (!Plan)
    return Plan.takeError();
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(Root);
  if (!Store)
    return Store.takeError();
  Expected<Journal> J = Journal::open(Root + "/journal.sqlite");
  if (!J)
    return J.takeError();
  std::unique_ptr<EvolveAgents> Models;
  if (R.Models) {
    Expected<std::unique_ptr<EvolveAgents>> Opened =
        EvolveAgents::open(*R.Models, Root, R.Resume);
    if (!Opened)
      return Opened.takeError();
    Models = std::move(*Opened);
  }
  KernelSearches Search(R, Root, *Recorded, std::move(*Store), std::move(*J),
                        std::move(Models), Out, Log);
  Error Failed = searchAll(R, Plan->Items, Search, Log);
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
  if (!Search.OthersFailed.empty())
    return resourceError("another compiler could not be run, so the store has "
                         "variants for builds by " +
                             Search.OthersFailed + " only",
                         "correct that, and add the others' with cupilot "
                         "refresh");
  if (Search.Accepted == 0 && !R.isDryRun())
    return findingError("no variant was accepted",
                        "-v says why each candidate was dropped");
  return Error::success();
}

} // namespace cupilot
