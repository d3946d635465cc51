//===- Score.cpp - How many faults the gate finds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/Score.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Model/LaunchNames.h"
#include "cupilot/Mutation/DomainChecks.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Workers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <chrono>
#include <numeric>
#include <random>
#include <sys/mman.h>

using namespace llvm;

namespace cupilot {

static constexpr StringLiteral OutcomeWords[] = {
    "",        "same-code", "killed",  "survived",
    "crashed", "timeout",   "bounded", "not-compiled"};

StringRef wordOf(MutantOutcome O) {
  return OutcomeWords[static_cast<size_t>(O)];
}

static bool fromJSON(const json::Value &V, MutantOutcome &O, json::Path P) {
  std::optional<StringRef> Word = V.getAsString();
  const auto *At = Word ? find(OutcomeWords, *Word) : std::end(OutcomeWords);
  if (At == std::end(OutcomeWords)) {
    P.report("an unknown outcome");
    return false;
  }
  O = static_cast<MutantOutcome>(At - OutcomeWords);
  return true;
}

json::Value toJSON(const MutantRecord &R) {
  return json::Object{{"kernel", R.Kernel},
                      {"index", R.M.Index},
                      {"file", R.M.File},
                      {"line", R.M.Line},
                      {"column", R.M.Column},
                      {"function", R.M.Function},
                      {"operator", R.M.Operator},
                      {"text", R.M.OfText},
                      {"before", R.M.Before},
                      {"after", R.M.After},
                      {"outcome", wordOf(R.Outcome)},
                      {"reason", R.Reason},
                      {"evidence", R.Evidence},
                      {"inputs", R.Inputs},
                      {"differs", R.Differs},
                      {"difference", R.Difference},
                      {"seconds", R.Seconds},
                      {"verdictSeconds", R.VerdictSeconds},
                      {"domain", R.Domain}};
}

bool fromJSON(const json::Value &V, MutantRecord &R, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("kernel", R.Kernel) && O.map("index", R.M.Index) &&
         O.map("file", R.M.File) && O.map("line", R.M.Line) &&
         O.map("column", R.M.Column) && O.map("function", R.M.Function) &&
         O.mapOptional("text", R.M.OfText) && O.map("operator", R.M.Operator) &&
         O.map("before", R.M.Before) && O.map("after", R.M.After) &&
         O.map("outcome", R.Outcome) && O.map("reason", R.Reason) &&
         O.map("evidence", R.Evidence) && O.map("inputs", R.Inputs) &&
         O.map("differs", R.Differs) && O.map("difference", R.Difference) &&
         O.map("seconds", R.Seconds) &&
         O.mapOptional("verdictSeconds", R.VerdictSeconds) &&
         O.mapOptional("domain", R.Domain);
}

namespace {
/// Flags that worker processes set for their parent.
class SharedFlags {
public:
  explicit SharedFlags(size_t Count) : Count(Count) {
    void *Place = ::mmap(nullptr, Count, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Flags = Place == MAP_FAILED ? nullptr : static_cast<bool *>(Place);
  }
  SharedFlags(const SharedFlags &) = delete;
  SharedFlags &operator=(const SharedFlags &) = delete;
  ~SharedFlags() {
    if (Flags)
      ::munmap(Flags, Count);
  }
  bool ok() const { return Flags; }
  bool &operator[](size_t I) { return Flags[I]; }

private:
  size_t Count;
  bool *Flags;
};

/// What one worker process keeps between mutants.
class Judge {
public:
  Judge(const MutationSubject &Subject, const MutantCode &Original,
        const ScoreOptions &Options)
      : Subject(Subject), Original(Original), Options(Options) {}
  /// \p Passed is set once the gate has accepted the mutant.
  Error judge(MutantRecord &R, bool &Passed);

private:
  Error prepare();
  Expected<std::optional<Domain>> ownDomain();
  Error askInside(MutantRecord &R, const SideVariant &Mutant,
                  const GateVerdict &V);
  Error askIndependently(MutantRecord &R, const SideVariant &Mutant,
                         const std::optional<Domain> &Where);

  const MutationSubject &Subject;
  const MutantCode &Original;
  const ScoreOptions &Options;
  std::unique_ptr<Gate> TheGate; ///< Made in the worker.
  /// Of the original judged as its own variant, once that is known.
  std::optional<std::optional<Domain>> Own;
};
} // namespace

Error Judge::prepare() {
  if (TheGate)
    return Error::success();
  GateSetup Setup;
  Setup.Original = Subject.K;
  Setup.Code = Original.Code;
  Setup.MayApproximate = Subject.MayApproximate;
  Setup.Workloads = Subject.Workloads;
  Setup.DataFolder = ".";
  Setup.Arch = Subject.Arch;
  Expected<std::unique_ptr<Gate>> Made = Gate::create(std::move(Setup));
  if (!Made)
    return Made.takeError();
  TheGate = std::move(*Made);
  return Error::success();
}

/// \p Code in the place of the original.
static SideVariant variantOf(const MutationSubject &Subject, GateCode Code) {
  SideVariant V;
  V.Code = std::move(Code);
  V.Plan.Launches.push_back({});
  V.Plan.Launches[0].Symbol = Subject.K->Symbol;
  V.When.Arch = Subject.Arch;
  return V;
}

Expected<std::optional<Domain>> Judge::ownDomain() {
  if (!Own) {
    SideVariant Itself = variantOf(Subject, Original.Code);
    Expected<GateVerdict> V = TheGate->judge(Itself.Code, Itself.Plan,
                                             Itself.When, GateDepth::Search);
    if (!V)
      return V.takeError();
    if (!V->Passed)
      return findingError(
          "'" + Subject.Name +
          "' is rejected as its own variant: " + V->Findings.front().Evidence);
    Own = std::move(V->Where);
  }
  return *Own;
}

Error Judge::askInside(MutantRecord &R, const SideVariant &Mutant,
                       const GateVerdict &V) {
  Expected<std::optional<Domain>> Whole = ownDomain();
  if (!Whole)
    return Whole.takeError();
  if (!*Whole)
    return Error::success();
  DomainQuestion Q;
  Q.K = Subject.K;
  Q.Original = Original.Code;
  Q.Recorded = Subject.Workloads;
  Q.Inputs = 200;
  Q.Bits = R.M.Bits;
  Q.Narrowed = narrowedRanges(V);
  Q.Constants = comparedConstants(V);
  Q.Seed = Options.Seed + xxh3_64bits(R.key());
  Q.Arch = Subject.Arch;
  Expected<BoundedVerdict> B = judgeBounded(Q, Mutant, *V.Where, **Whole);
  if (!B)
    return B.takeError();
  R.Differs = B->Differs;
  (B->Differs ? R.Difference : R.Evidence) = std::move(B->Why);
  if (B->Caught) {
    R.Outcome = MutantOutcome::Bounded;
    R.Reason = wordOf(R.Outcome).str();
  }
  return Error::success();
}

Error Judge::askIndependently(MutantRecord &R, const SideVariant &Mutant,
                              const std::optional<Domain> &Where) {
  IndependentOptions How;
  How.Inputs = Options.Independent;
  How.Seed = Options.Seed + xxh3_64bits(R.key());
  How.Arch = Subject.Arch;
  How.Inside = Where ? &*Where : nullptr;
  Expected<IndependentResult> I = compareIndependently(
      *Subject.K, Original.Code, Mutant, Subject.Workloads, How);
  if (!I)
    return I.takeError();
  R.Inputs = I->Inputs;
  R.Differs = I->Differs;
  R.Difference = I->Evidence;
  return Error::success();
}

/// The domain of a survivor is not written down: what goes on after an
/// interruption judges it again.
Error Judge::judge(MutantRecord &R, bool &Passed) {
  if (Error E = prepare())
    return E;
  Expected<MutantCode> Made = Subject.Mutants->make(R.M.Index);
  if (!Made)
    return Made.takeError();
  if (!Made->Refusal.empty()) {
    R.Outcome = MutantOutcome::NotCompiled;
    R.Evidence = std::move(Made->Refusal);
    return Error::success();
  }
  if (R.Outcome == MutantOutcome::Open && Made->Digest == Original.Digest) {
    R.Outcome = MutantOutcome::SameCode;
    return Error::success();
  }
  SideVariant Mutant = variantOf(Subject, std::move(Made->Code));
  auto Start = std::chrono::steady_clock::now();
  Expected<GateVerdict> V =
      TheGate->judge(Mutant.Code, Mutant.Plan, Mutant.When, GateDepth::Search);
  if (!V)
    return V.takeError();
  R.VerdictSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  R.Outcome = V->Passed ? MutantOutcome::Survived : MutantOutcome::Killed;
  Passed = V->Passed;
  if (!V->Passed) {
    R.Reason = wordOf(V->Findings.front().Reason).str();
    R.Evidence = V->Findings.front().Workload;
    R.Evidence +=
        (R.Evidence.empty() ? "" : ": ") + V->Findings.front().Evidence;
    return Error::success();
  }
  if (V->Where) {
    R.Domain = domainText(*V->Where, launchNames(*Subject.K));
    if (Error E = askInside(R, Mutant, *V))
      return E;
  }
  if (R.Outcome == MutantOutcome::Survived && Options.Independent > R.Inputs &&
      !R.Differs)
    return askIndependently(R, Mutant, V->Where);
  return Error::success();
}

/// The order in which mutants are taken.
static std::vector<unsigned> shuffled(size_t N, uint64_t Seed) {
  std::vector<unsigned> Order(N);
  std::iota(Order.begin(), Order.end(), 0);
  std::mt19937_64 Engine(Seed);
  for (size_t I = N; I > 1; --I)
    std::swap(Order[I - 1], Order[Engine() % I]);
  return Order;
}

static bool isOpen(const MutantRecord &R, const ScoreOptions &Options) {
  return R.Outcome == MutantOutcome::Open ||
         (R.Outcome == MutantOutcome::Survived && !R.Differs && R.Inputs == 0 &&
          Options.Independent > 0);
}

Expected<std::vector<MutantRecord>> scoreKernel(const MutationSubject &Subject,
                                                const ScoreOptions &Options) {
  Expected<std::vector<Mutation>> All = Subject.Mutants->list();
  if (!All)
    return All.takeError();
  std::vector<MutantRecord> Records;
  for (unsigned I :
       shuffled(All->size(), Options.Seed + xxh3_64bits(Subject.Name))) {
    if ((*All)[I].Unseen)
      continue;
    MutantRecord R;
    R.Kernel = Subject.Name;
    R.M = (*All)[I];
    auto Known = Options.Known.find(R.key() + " " + std::to_string(R.M.Index));
    if (Known != Options.Known.end())
      R = Known->second;
    R.M = (*All)[I];
    Records.push_back(std::move(R));
  }
  if (Options.Parts > 1) { // Who has all looks after those that do not count.
    constexpr size_t Spare = 2;
    std::vector<MutantRecord> Own;
    for (auto [I, R] : enumerate(Records))
      if (I % Options.Parts == Options.Part &&
          (!Options.Limit || I < Options.Limit + Spare))
        Own.push_back(std::move(R));
    Records = std::move(Own);
  }
  // Only those that are open go to the workers; all are told in order.
  std::vector<unsigned> Tasks;
  for (unsigned I = 0; I < Records.size(); ++I)
    if (isOpen(Records[I], Options))
      Tasks.push_back(I);
  MutantCode Original; // Made once, before the workers.
  if (!Tasks.empty())
    if (Error E = Subject.Mutants->original().moveInto(Original))
      return std::move(E);
  Judge State(Subject, Original, Options);
  SharedFlags Passed(std::max<size_t>(1, Records.size()));
  if (!Passed.ok())
    return resourceError("there is no memory for the workers' flags");
  unsigned Counted = 0, Told = 0;
  Error Failure = Error::success();
  auto Full = [&] { return Options.Limit && Counted >= Options.Limit; };
  auto TellUntil = [&](unsigned End, bool New) {
    for (; Told < End && !Full(); ++Told) {
      Counted += Records[Told].counts();
      if (Options.Progress)
        Options.Progress(Records[Told], New && Told + 1 == End);
    }
  };
  auto Job = [&](unsigned Task) -> std::string {
    MutantRecord R = Records[Task];
    auto Start = std::chrono::steady_clock::now();
    if (Error E = State.judge(R, Passed[Task]))
      return "error: " + toString(std::move(E));
    R.Seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
            .count();
    return formatv("{0}", toJSON(R)).str();
  };
  auto Done = [&](size_t Index, const TaskResult &T) {
    unsigned Task = Tasks[Index];
    TellUntil(Task, false);
    if (Full())
      return false;
    MutantRecord &R = Records[Task];
    if (T.K != TaskResult::Kind::Done) {
      // What kills the second question leaves the first one answered.
      bool Judged = R.Outcome == MutantOutcome::Survived || Passed[Task];
      if (Judged)
        R.Outcome = MutantOutcome::Survived;
      (Judged ? R.Difference : R.Evidence) = T.Answer;
      R.Differs |= Judged;
      if (!Judged)
        R.Outcome = T.K == TaskResult::Kind::Crashed ? MutantOutcome::Crashed
                                                     : MutantOutcome::TimedOut;
      R.Reason = wordOf(R.Outcome).str();
    } else if (StringRef Text = T.Answer; Text.consume_front("error: ")) {
      Failure = joinErrors(std::move(Failure),
                           findingError("mutant " + R.key() + ": " + Text));
      return false;
    } else {
      Expected<MutantRecord> Answer = json::parse<MutantRecord>(T.Answer);
      if (!Answer) {
        Failure = joinErrors(std::move(Failure), Answer.takeError());
        return false;
      }
      R = std::move(*Answer);
    }
    TellUntil(Task + 1, true);
    return !Full();
  };
  // The limit bounds what is handed out as well.
  if (Error E = runTasks(Tasks, {Options.Workers, Options.TimeoutSeconds, 48},
                         Job, Done))
    return joinErrors(std::move(Failure), std::move(E));
  if (Failure)
    return std::move(Failure);
  TellUntil(Records.size(), false);
  Records.resize(Told);
  return Records;
}

Expected<std::map<std::string, std::string>> parseEquivalents(StringRef Text,
                                                              StringRef File) {
  std::map<std::string, std::string> Found;
  std::string Open; // The key whose argument goes on.
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    StringRef Item = Line.trim();
    if (!Item.consume_front("- `")) {
      if (Line.starts_with("  ") && !Open.empty())
        Found[Open] += (" " + Item).str();
      else
        Open.clear();
      continue;
    }
    auto [Key, Argument] = Item.split("`:");
    Open = Key.str();
    Found[Open] = Argument.trim().str();
  }
  for (const auto &[Key, Argument] : Found)
    if (StringRef(Argument).trim().empty())
      return usageError("'" + File +
                            "' does not say why no input can tell apart '" +
                            Key + "'",
                        "write - `KEY`: REASON");
  return Found;
}

} // namespace cupilot
