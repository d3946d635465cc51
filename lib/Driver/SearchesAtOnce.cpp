//===- SearchesAtOnce.cpp - Searches of several kernels at a time ---------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each search opens store, journal and providers itself: all of them may be
// used by several processes. What one finds out does not reach the others of
// the run, so that it does not matter who is first. The run itself has no
// journal open: SQLite's connections do not bear copies of their process.
//
//===----------------------------------------------------------------------===//

#include "SearchesAtOnce.h"
#include "KernelSearch.h"
#include "cupilot/Driver/BudgetSplit.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/LLM/ProviderSpec.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Json.h"
#include "cupilot/Support/Workers.h"
#include "llvm/Support/FormatVariadic.h"
#include <climits>
#include <limits>
#include <numeric>

using namespace llvm;

namespace cupilot {

namespace {
/// Writes whole lines, with the kernel's name before each.
class NamedLines : public raw_ostream {
public:
  NamedLines(StringRef Kernel, raw_ostream &To)
      : Before("[" + Kernel.take_until([](char C) { return C == '('; }).str() +
               "] "),
        To(To) {
    SetUnbuffered();
  }
  ~NamedLines() override {
    if (!Line.empty())
      To << Before + Line + "\n";
    To.flush();
  }

private:
  void write_impl(const char *Text, size_t Size) override {
    Line.append(Text, Size);
    // One piece each: other processes write there, too.
    for (size_t At; (At = Line.find('\n')) != std::string::npos;) {
      To << Before + Line.substr(0, At + 1);
      To.flush();
      Line.erase(0, At + 1);
    }
  }
  uint64_t current_pos() const override { return 0; }

  std::string Before, Line;
  raw_ostream &To;
};

/// What a kernel's search may spend, whatever the others do.
struct Reserved {
  std::optional<unsigned> Most; ///< Candidates, or calls.
  BudgetLimits Models;
  /// The option whose share is nothing; "": the kernel is searched.
  StringRef spent() const {
    return Most == 0u            ? "--budget"
           : Models.Calls == 0u  ? "--max-calls"
           : Models.Tokens == 0u ? "--max-tokens"
                                 : "";
  }
};
} // namespace

/// All of \p Whole by shares.
static std::vector<unsigned>
splitAll(unsigned Whole, const std::vector<double> &Shares, unsigned Least) {
  BudgetSplit Split(Whole, Shares, Least);
  std::vector<unsigned> All;
  for (size_t I = 0; I < Shares.size(); ++I) {
    All.push_back(Split.next());
    Split.spend(All.back());
  }
  return All;
}

static std::vector<Reserved> reserve(const EvolveRequest &R,
                                     const std::vector<double> &Shares) {
  std::vector<Reserved> All(Shares.size());
  if (R.Budget)
    for (auto [Each, Most] :
         zip_equal(All, splitAll(*R.Budget, Shares, R.Models ? 4 : 1)))
      Each.Most = Most;
  if (!R.Models)
    return All;
  const double Sum = std::accumulate(Shares.begin(), Shares.end(), 0.0);
  const BudgetLimits &Whole = R.Models->Session.Limits;
  if (Whole.Calls)
    for (auto [Each, Calls] : zip_equal(
             All, splitAll(unsigned(std::min<uint64_t>(*Whole.Calls, INT_MAX)),
                           Shares, 1)))
      Each.Models.Calls = Calls;
  for (auto [Each, Share] : zip_equal(All, Shares)) {
    const double Part = Sum > 0 ? Share / Sum : 1.0 / double(Shares.size());
    if (Whole.Tokens)
      Each.Models.Tokens = uint64_t(double(*Whole.Tokens) * Part);
    if (Whole.Cost)
      Each.Models.Cost = *Whole.Cost * Part;
  }
  return All;
}

/// How many of what the searches share may be used at a time.
static Expected<SearchScheduler::Limits> limitsOf(const EvolveRequest &R) {
  SearchScheduler::Limits Most;
  Most[size_t(SharedResource::Job)] = R.Jobs;
  // One runs there, and what is around the other is done here meanwhile.
  if (R.Device == "cuda")
    Most[size_t(SharedResource::Card)] = 2;
  if (!R.Models)
    return Most;
  unsigned Calls = 0;
  for (const std::string &Text : R.Models->Session.Providers) {
    Expected<ProviderSpec> Spec = ProviderSpec::parse(Text);
    if (!Spec)
      return Spec.takeError();
    Calls += Spec->Jobs;
  }
  Most[size_t(SharedResource::Call)] = std::max(1u, Calls);
  return Most;
}

//===----------------------------------------------------------------------===//
// What a search tells the run
//===----------------------------------------------------------------------===//

static json::Object rowJson(const SearchRow &Row) {
  return json::Object{{"ratio", Row.Ratio},
                      {"low", numberJson(Row.Low)},
                      {"high", numberJson(Row.High)},
                      {"measured", Row.RatioBasis == Basis::Measured},
                      {"why", json::fixUTF8(Row.Why)}};
}

static void readRow(const json::Object &O, SearchRow &Row) {
  Row.Ratio = numberIn(O, "ratio");
  Row.Low = numberIn(O, "low");
  Row.High = numberIn(O, "high");
  Row.RatioBasis = O.getBoolean("measured").value_or(false) ? Basis::Measured
                                                            : Basis::Modelled;
  Row.Why = textIn(O, "why");
}

static json::Object errorJson(Error E) {
  json::Object O{{"awaited", E.isA<ResultsAwaited>()}};
  handleAllErrors(
      std::move(E),
      [&](const ToolError &T) {
        O["code"] = int64_t(T.code());
        O["text"] = json::fixUTF8(T.text());
        O["hint"] = json::fixUTF8(T.hint());
      },
      [&](const ErrorInfoBase &Other) {
        O["code"] = int64_t(ExitCode::Resource);
        O["text"] = json::fixUTF8(Other.message());
      });
  return O;
}

static Error errorIn(const json::Object &O) {
  const std::string Text = textIn(O, "text"), Hint = textIn(O, "hint");
  if (O.getBoolean("awaited").value_or(false))
    return make_error<ResultsAwaited>(Text, Hint);
  return make_error<ToolError>(
      static_cast<ExitCode>(
          O.getInteger("code").value_or(int64_t(ExitCode::Resource))),
      Text, Hint);
}

namespace {
/// The searches of a run, each in the process that is its own.
class SearchesAtOnce {
public:
  SearchesAtOnce(const EvolveRequest &R, StringRef Root, StringRef Experience,
                 const WorkloadSet &Recorded, std::vector<SearchItem *> Items,
                 raw_ostream &Log)
      : R(R), Root(Root), Experience(Experience), Recorded(Recorded),
        Items(std::move(Items)), Log(Log) {}
  Error run(SearchTotals &Totals);

private:
  std::string searchOne(unsigned Index);
  Error take(size_t Index, const TaskResult &Said, SearchTotals &Totals);

  const EvolveRequest &R;
  std::string Root, Experience;
  const WorkloadSet &Recorded;
  std::vector<SearchItem *> Items;
  raw_ostream &Log;
  std::vector<Reserved> May;
  std::unique_ptr<SearchScheduler> Scheduler;
  std::optional<std::chrono::steady_clock::time_point> Until;
};
} // namespace

/// In a process of its own: the answer of the task.
std::string SearchesAtOnce::searchOne(unsigned Index) {
  SearchItem &I = *Items[Index];
  NamedLines Lines(I.K->Name, Log);
  json::Object Said;
  auto Search = [&]() -> Error {
    Expected<ProjectStore> Store = ProjectStore::openOrCreate(Root);
    if (!Store)
      return Store.takeError();
    Expected<Journal> J = Journal::open(Journal::pathIn(Root));
    if (!J)
      return J.takeError();
    const SearchTurns Turns = Scheduler->turnsOf(Index);
    std::unique_ptr<EvolveAgents> Models;
    if (R.Models) {
      AgentSettings Settings = *R.Models;
      Settings.Session.Limits = May[Index].Models;
      Settings.Session.StepsOf = stepPrefix(*I.K);
      if (Error E =
              EvolveAgents::open(std::move(Settings), Root, R.Resume, Turns)
                  .moveInto(Models))
        return E;
    }
    KernelSearches Searches(R, Root, Recorded, std::move(*Store), std::move(*J),
                            std::move(Models), nulls(), Lines);
    Searches.Turns = Turns;
    Searches.Until = Until;
    Searches.Experience = Experience;
    Error E =
        Searches.evolveKernel(*I.Unit, I.Others, *I.K, I.Row, May[Index].Most);
    Said["accepted"] = Searches.Accepted;
    Said["others_failed"] = Searches.OthersFailed;
    return E;
  };
  if (Error E = Search()) {
    json::Object Failed = errorJson(std::move(E));
    I.Row.leaveOut(textIn(Failed, "text"));
    Lines << "  left out: " << textIn(Failed, "text") << "\n";
    Said["error"] = std::move(Failed);
  }
  Said["row"] = rowJson(I.Row);
  return formatv("{0}", json::Value(std::move(Said))).str();
}

/// What became of a search; an error is its error.
Error SearchesAtOnce::take(size_t Index, const TaskResult &Said,
                           SearchTotals &Totals) {
  SearchItem &I = *Items[Index];
  Expected<json::Value> V = parseJson(Said.Answer);
  const json::Object *O = V ? V->getAsObject() : nullptr;
  if (Said.K != TaskResult::Kind::Done || !O) {
    consumeError(V.takeError());
    I.Row.leaveOut("its search was " + Said.Answer);
    return resourceError("the search of '" + I.K->Name + "' was " + Said.Answer,
                         "--resume continues it");
  }
  if (const json::Object *Row = O->getObject("row"))
    readRow(*Row, I.Row);
  Totals.Accepted += unsigned(O->getInteger("accepted").value_or(0));
  if (std::string Failed = textIn(*O, "others_failed"); !Failed.empty())
    Totals.OthersFailed = std::move(Failed);
  if (const json::Object *Failed = O->getObject("error"))
    return errorIn(*Failed);
  return Error::success();
}

Error SearchesAtOnce::run(SearchTotals &Totals) {
  std::vector<double> Shares;
  for (const SearchItem *I : Items)
    Shares.push_back(I->Row.Share);
  May = reserve(R, Shares);
  if (R.MaxSeconds)
    Until =
        std::chrono::steady_clock::now() + std::chrono::seconds(*R.MaxSeconds);
  Expected<SearchScheduler::Limits> Most = limitsOf(R);
  if (!Most)
    return Most.takeError();
  if (Error E = SearchScheduler::start(*Most, Shares).moveInto(Scheduler))
    return E;
  std::vector<unsigned> Tasks;
  for (unsigned I = 0; I < Items.size(); ++I) {
    if (StringRef Spent = May[I].spent(); !Spent.empty()) {
      Items[I]->Row.Why =
          (Spent + " is spent on kernels with larger shares").str();
      continue;
    }
    if (May[I].Most)
      Log << Items[I]->K->Name << ": at most " << *May[I].Most
          << (R.Models ? " call(s)" : " candidate(s)")
          << " of --budget=" << *R.Budget << "\n";
    Tasks.push_back(I);
  }
  Error First = Error::success();
  auto Done = [&](size_t Number, const TaskResult &Said) {
    if (Error E = take(Tasks[Number], Said, Totals)) {
      if (First) // It was told.
        consumeError(std::move(E));
      else
        First = std::move(E);
    }
    return true;
  };
  // As long as it takes: searches bound themselves.
  constexpr unsigned Years = std::numeric_limits<int>::max();
  if (Error E = runTasks(
          Tasks, {std::min<unsigned>(R.AtOnce, Tasks.size()), Years, 1},
          [&](unsigned Task) { return searchOne(Task); }, Done))
    First = joinErrors(std::move(First), std::move(E));
  return First;
}

Error searchAtOnce(const EvolveRequest &R, StringRef Root, StringRef Experience,
                   const WorkloadSet &Recorded,
                   MutableArrayRef<SearchItem> Items, SearchTotals &Totals,
                   raw_ostream &Log) {
  std::vector<SearchItem *> Known;
  for (SearchItem &I : Items)
    if (I.K)
      Known.push_back(&I);
  return SearchesAtOnce(R, Root, Experience, Recorded, std::move(Known), Log)
      .run(Totals);
}

} // namespace cupilot
