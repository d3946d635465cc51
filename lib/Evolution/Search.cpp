//===- Search.cpp - The loop of strategy-coordinated evolution -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Search.h"
#include "AgentCalls.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Evolution/Breeder.h"
#include "cupilot/Evolution/ModelMaker.h"
#include "cupilot/Evolution/SceManager.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace cupilot {

namespace {
/// A variant on its way to its verdict.
struct Entry {
  VariantOp V;
  CandidateOrder Order;
  std::optional<CandidateRecord> Known = std::nullopt; ///< From the journal.
  std::optional<Candidate> Made = std::nullopt;
  CandidateRecord Record = {}; ///< Its latest state.
  unsigned Round = 0;          ///< Repairs so far.
  bool GaveUp = false;
};

class Search {
public:
  Search(const SearchProblem &Problem, const SearchOptions &Options, Journal &J)
      : Problem(Problem), Options(Options), J(J) {}
  Expected<SearchResult> run();

private:
  Error begin();
  Error beginAgents();
  Error choose();
  Error evaluate(unsigned Generation);
  Error orders(std::vector<Entry> &Entries);
  Error makeAndJudge(MutableArrayRef<Entry> Entries, unsigned Generation);
  Error judge(Candidate &C);
  Error repair(MutableArrayRef<Entry> Entries, StringRef Stage,
               function_ref<Error(ArrayRef<Entry *>)> Judge);
  Error finish(Entry &E, unsigned Generation);
  Error evaluateOnCard(unsigned Generation, MutableArrayRef<Entry> Entries);
  Error onCard(StringRef Step, function_ref<Error()> Ask);
  Error judgeOnCard(StringRef Step, ArrayRef<Entry *> Waiting);
  Error settle(VariantOp V, const CandidateRecord &Record, unsigned Generation);
  Error acceptOnCard(std::vector<CandidateRecord> &Accepted,
                     SearchResult &Result);
  Error endOfBudget(Error E);
  bool atCeiling(const CandidateRecord &R) const;
  void remember(const CandidateRecord &R) {
    if (!R.DeviceDigest.empty())
      Seen.try_emplace(R.DeviceDigest + R.Plan, R.Genome);
  }
  Error beginBreeding();
  Expected<SearchResult> collect();
  KernelOp kernel() { return *Population->getOps<KernelOp>().begin(); }

  const SearchProblem &Problem;
  const SearchOptions &Options;
  Journal &J;
  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> Population;
  std::unique_ptr<CandidateEvaluator> Evaluator;
  std::unique_ptr<CardJudge> Card; ///< Null: times are modelled.
  std::vector<LibraryStrategy> Library;
  KernelAdvice Advice;
  CallCount Calls;
  std::unique_ptr<CandidateMaker> Maker;
  std::vector<std::string> Strategies, Begin;
  std::map<std::string, std::string>
      Seen; ///< Device code and plan to the genome.
  std::unique_ptr<Breeder> Breeding;
  std::map<std::string, std::string> Ordered; ///< Genome to the variant's name.
  std::map<std::string, CandidateRecord> Judged; ///< By the variant's name.
  std::string Run, Class, Stopped, OverBudget;
  double Best = 1;
};
} // namespace

/// The key of everything that decides how the search goes.
static std::string runKey(const SearchProblem &P, const SearchOptions &O) {
  DigestBuilder B;
  B.add(P.K.Digest)
      .add(P.Arch)
      .add(P.Gpu.Name)
      .add(P.Seed)
      .add(O.Population)
      .add(O.Generations);
  B.add(O.Offspring).add(static_cast<uint64_t>(GateVersion));
  if (P.OnCard)
    B.add(O.Device);
  for (const std::string &Genome : O.Begin)
    B.add(Genome);
  if (O.Within > 0)
    B.add(std::to_string(O.Within));
  if (const AgentOptions *A = O.Agents) {
    // Not who answers: another provider may go on with a search.
    B.add("llm").add(uint64_t(A->Rounds)).add(uint64_t(A->MostCalls));
    B.add(uint64_t(A->Roofline) + 2 * A->Prose + 4 * A->CrossCode);
    for (const PromptExample &E : A->Examples)
      B.add(E.Genome).add(E.Source);
  }
  for (const std::string &Flag : P.Flags)
    B.add(Flag);
  B.add(CUPILOT_VERSION);
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder Builder = mlir::OpBuilder::atBlockEnd(M->getBody());
  for (const Workload &W : P.Workloads)
    addWorkload(Builder, W);
  B.add(printModule(*M));
  return B.str();
}

Error Search::begin() {
  loadDialect(Context);
  Run = runKey(Problem, Options);
  if (!Options.Resume)
    if (Error E = J.restart(Run))
      return E;
  auto Last = J.lastGeneration(Run);
  if (!Last)
    return Last.takeError();
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> Library =
      loadLibrary(Context, Options.Strategies);
  if (!Library)
    return Library.takeError();
  Population = std::move(*Library);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(Population->getBody());
  addKernel(B, Problem.K, "");
  mlir::PassManager Passes(&Context);
  Passes.addPass(createVerifyLibraryPass());
  if (mlir::failed(Passes.run(*Population)))
    return usageError("the strategy library '" + Options.Strategies +
                      "' is broken");
  Expected<std::unique_ptr<CandidateEvaluator>> Made =
      CandidateEvaluator::create(Problem);
  if (!Made)
    return Made.takeError();
  Evaluator = std::move(*Made);
  if (Problem.OnCard) {
    Expected<std::unique_ptr<CardJudge>> Judge = CardJudge::create(
        Problem, *Evaluator, J, Run, Options.Device, Options.Patience);
    if (!Judge)
      return Judge.takeError();
    Card = std::move(*Judge);
  }
  LaunchPlan Same;
  Same.Launches.push_back({});
  Same.Launches.front().Symbol = Problem.K.Symbol;
  Seen[Evaluator->originalDigest().str() + formatv("{0}", toJSON(Same)).str()] =
      "the original";
  Begin = Options.Begin;
  if (Options.Agents) {
    if (Error E = beginAgents())
      return E;
  } else {
    for (StringRef Name : ruleStrategies())
      Strategies.push_back(Name.str());
    Maker = makeRuleMaker(*Evaluator);
  }
  return beginBreeding();
}

Error Search::beginBreeding() {
  const Ceilings C = ceilingsOf(Problem.Gpu);
  Class = recordClass(Problem, *Evaluator, C);
  Expected<StrategyTallies> Prior =
      priorTallies(J, Options.Store, {Class, Problem.Gpu.Name, "", Run, {}});
  if (!Prior)
    return Prior.takeError();
  BreedingOptions B;
  B.Population = Options.Population;
  B.Offspring = Options.Offspring;
  B.Strategies = Strategies;
  B.Begin = Begin;
  Breeding =
      std::make_unique<Breeder>(Problem, C, std::move(B), std::move(*Prior));
  return Breeding->begin(*Population);
}

/// What Prophet and Manager choose. An answer of no use ends nothing: then the
/// whole library is drawn from, by chance.
Error Search::choose() {
  const AgentOptions &A = *Options.Agents;
  CallLog Log(*A.From);
  PromptKernel Of{Problem.K, Problem.Gpu.Name, Problem.Arch, Problem.Workloads};
  ChoiceRequest R{Of, A.Roofline ? &Advice : nullptr, Library, Options.Within};
  std::vector<LibraryStrategy> Narrow;
  auto Absorb = [&](Error E, StringRef What) -> Error {
    Error Rest = absorbFinding(std::move(E), [&](StringRef Why) {
      if (Options.Tell)
        Options.Tell((What + ": " + Why).str());
    });
    if (!A.DryRun)
      return Rest;
    // What comes next is shown as it would be without this answer.
    consumeError(std::move(Rest));
    return Error::success();
  };
  std::string Prefix = stepPrefix(Problem.K);
  if (A.Roofline) {
    Expected<std::vector<std::string>> Chosen =
        askProphet(Log, *A.Prompts, R, Advice, Prefix + "prophet", A.Counts);
    if (Chosen) {
      Strategies = std::move(*Chosen);
      copy_if(Library, std::back_inserter(Narrow),
              [&](const LibraryStrategy &S) {
                return is_contained(Strategies, S.Info.Name);
              });
      R.Library = Narrow;
    } else if (Error E = Absorb(Chosen.takeError(), "Roofline Prophet")) {
      return E;
    }
  }
  if (Begin.size() < Options.Population) {
    Expected<std::vector<std::string>> Genomes = askManager(
        Log, *A.Prompts, R, unsigned(Options.Population - Begin.size()),
        A.Examples, Prefix + "manager", A.Counts);
    if (Genomes)
      append_range(Begin, *Genomes);
    else if (Error E = Absorb(Genomes.takeError(), "SCE Manager"))
      return E;
  }
  Calls.Used += Log.calls();
  return Error::success();
}

/// What models need to know before the first genome.
Error Search::beginAgents() {
  Library = libraryStrategies(Population->getOperation());
  unsigned Arch = 0;
  StringRef(Problem.Arch)
      .drop_front(3)
      .take_while([](char C) { return isDigit(C); })
      .getAsInteger(10, Arch);
  erase_if(Library,
           [&](const LibraryStrategy &S) { return S.MinArch > int64_t(Arch); });
  for (const LibraryStrategy &S : Library)
    Strategies.push_back(S.Info.Name);
  Expected<KernelAdvice> Made =
      adviseOn(Problem, *Evaluator, ceilingsOf(Problem.Gpu));
  if (!Made)
    return Made.takeError();
  Advice = std::move(*Made);
  Calls.Most = Options.Agents->MostCalls;
  if (Error E = choose())
    return E;
  Maker = makeModelMaker(Problem, *Evaluator, *Options.Agents, Library, Advice,
                         Calls);
  return Error::success();
}

Error Search::settle(VariantOp V, const CandidateRecord &R,
                     unsigned Generation) {
  // What the code has goes on, not what was asked for.
  V.setGenomeAttr(toAttr(Context, carriedGenome(R)));
  Breeding->judged(V, R);
  Judged[V.getSymName().str()] = R;
  remember(R);
  if (R.Outcome == "accepted")
    Best = std::max(Best, R.Ratio);
  if (Options.Progress)
    Options.Progress(Generation, R, Best);
  return Error::success();
}

/// The variants that have no outcome; of a genome that was ordered before,
/// none.
Error Search::orders(std::vector<Entry> &Entries) {
  for (VariantOp V :
       make_early_inc_range(kernel().getBody().getOps<VariantOp>())) {
    if (V.getOutcome())
      continue;
    Genome G = fromAttr(V.getGenome());
    std::string Name = V.getSymName().str();
    if (!Ordered.try_emplace(genomeText(G), Name).second) {
      V.erase();
      continue;
    }
    auto Found = J.find(Run, genomeText(G));
    if (!Found)
      return Found.takeError();
    Entry E{V, {std::move(Name), std::move(G), {}}, std::move(*Found)};
    for (auto Parent : V.getParents().getAsRange<mlir::FlatSymbolRefAttr>())
      if (auto It = Judged.find(Parent.getValue().str()); It != Judged.end())
        E.Order.Parents.push_back(It->second);
    Entries.push_back(std::move(E));
  }
  for (Entry &E : Entries)
    if (E.Known)
      E.Order.Known = &*E.Known;
  return Error::success();
}

/// Duplicates are not judged.
Error Search::judge(Candidate &C) {
  if (!C.Record.Outcome.empty())
    return Error::success();
  if (auto It = Seen.find(C.Record.DeviceDigest + C.Record.Plan);
      It != Seen.end() && It->second != C.Record.Genome) {
    C.Record.Outcome = "duplicate";
    C.Record.Reason = "the same device code as " + It->second;
    return Error::success();
  }
  return Evaluator->judge(C);
}

/// How far a candidate came.
static unsigned rankOf(const CandidateRecord &R) {
  return StringSwitch<unsigned>(R.Outcome)
      .Case("accepted", 6)
      .Case("passed", 5)
      .Case("slower", 4)
      .Case("gate", 3)
      .Case("duplicate", 2)
      .Cases({"compile-error", "inadmissible"}, 1)
      .Default(0);
}

static bool mayBeRepaired(const Entry &E) {
  return !E.Known && !E.GaveUp &&
         is_contained({"compile-error", "inadmissible", "gate", "slower"},
                      E.Record.Outcome);
}

/// One repair of each that needs one. \p Judge judges those that were made.
Error Search::repair(MutableArrayRef<Entry> Entries, StringRef Stage,
                     function_ref<Error(ArrayRef<Entry *>)> Judge) {
  std::vector<RevisionOrder> Orders;
  std::vector<Entry *> Asked;
  for (Entry &E : Entries)
    if (E.Known || (mayBeRepaired(E) && E.Round < Maker->rounds())) {
      if (!E.Known)
        ++E.Round;
      Orders.push_back({&E.Order, &E.Record, Stage.str(), E.Round});
      Asked.push_back(&E);
    }
  if (none_of(Asked, [](Entry *E) { return !E->Known; }) &&
      Maker->rounds() == 0)
    return Error::success();
  Expected<std::vector<Revision>> Made = Maker->revise(Orders);
  if (!Made)
    return Made.takeError();
  std::vector<Entry> New;
  std::vector<Entry *> Old, ToJudge;
  for (auto [E, R] : zip_equal(Asked, *Made)) {
    if (E->Known)
      continue;
    if (!R.History.empty())
      E->Record.Made = R.History;
    // The same code again would get the same verdict.
    E->GaveUp = !R.Made || (!R.Made->Record.DeviceDigest.empty() &&
                            R.Made->Record.DeviceDigest + R.Made->Record.Plan ==
                                E->Record.DeviceDigest + E->Record.Plan &&
                            R.Made->Record.Guard == E->Record.Guard);
    if (E->GaveUp)
      continue;
    R.Made->Record.Made = R.History;
    Old.push_back(E);
    New.push_back({E->V, E->Order, std::nullopt, std::move(R.Made)});
  }
  for (Entry &E : New)
    ToJudge.push_back(&E);
  if (Error Failure = Judge(ToJudge))
    return Failure;
  for (auto [E, N] : zip_equal(Old, New)) {
    unsigned Before = rankOf(E->Record), After = rankOf(N.Record);
    bool Better =
        After > Before ||
        (After == Before && (After < 4 || N.Record.Ratio > E->Record.Ratio));
    // What was told once and did not help will not help again.
    E->GaveUp = After <= Before && N.Record.Reason == E->Record.Reason;
    if (!Better) {
      E->GaveUp = true;
      continue;
    }
    E->Record = std::move(N.Record);
    E->Made = std::move(N.Made);
  }
  return Error::success();
}

/// How many repairs \p R has behind it.
static unsigned repairsOf(const CandidateRecord &R) {
  Expected<json::Value> V = json::parse(R.Made);
  if (!V) {
    consumeError(V.takeError());
    return 0;
  }
  const json::Object *O = V->getAsObject();
  const json::Array *Stages = O ? O->getArray("stages") : nullptr;
  return Stages && !Stages->empty() ? unsigned(Stages->size() - 1) : 0;
}

/// The journal gets it, and the population unless it waits for the card.
Error Search::finish(Entry &E, unsigned Generation) {
  if (E.Known) {
    if (E.Known->Outcome != "passed")
      return settle(E.V, *E.Known, Generation);
    E.Record = *E.Known;
    E.Round = repairsOf(E.Record);
    E.Known.reset(); // The card has not spoken.
    E.Order.Known = nullptr;
    remember(E.Record);
    return Error::success();
  }
  if (auto It = Seen.find(E.Record.DeviceDigest + E.Record.Plan);
      It != Seen.end() && It->second != E.Record.Genome &&
      rankOf(E.Record) > 2) {
    E.Record.Outcome = "duplicate";
    E.Record.Reason = "the same device code as " + It->second;
  }
  if (E.Record.Made.empty()) {
    json::Array Parents;
    for (const CandidateRecord &P : E.Order.Parents)
      Parents.push_back(P.Genome);
    E.Record.Made =
        formatv("{0}",
                json::Value(json::Object{{"parents", std::move(Parents)}}))
            .str();
  }
  if (Error Failure = J.save(Run, E.Record))
    return Failure;
  remember(E.Record);
  if (E.Record.Outcome == "passed")
    return Error::success();
  return settle(E.V, E.Record, Generation);
}

/// Makes and judges some candidates here. What the maker does beside each other
/// is its own; everything whose order matters comes after.
Error Search::makeAndJudge(MutableArrayRef<Entry> Entries,
                           unsigned Generation) {
  std::vector<CandidateOrder> Orders;
  for (Entry &E : Entries)
    Orders.push_back(E.Order);
  Expected<std::vector<std::optional<Candidate>>> Made = Maker->make(Orders);
  if (!Made)
    return Made.takeError();
  auto JudgeHere = [&](Entry &E) -> Error {
    if (Error Failure = judge(*E.Made))
      return Failure;
    E.Record = E.Made->Record;
    return Error::success();
  };
  for (auto [E, C] : zip_equal(Entries, *Made)) {
    E.Made = std::move(C);
    if (E.Made)
      if (Error Failure = JudgeHere(E))
        return Failure;
    // Without repairs there is nothing to wait for.
    if (Maker->rounds() == 0 && (E.Known || E.Made))
      if (Error Failure = finish(E, Generation))
        return Failure;
  }
  if (Maker->rounds() == 0)
    return Error::success();
  for (unsigned Round = 1; Round <= Maker->rounds(); ++Round)
    if (Error Failure = repair(Entries, "repair" + std::to_string(Round),
                               [&](ArrayRef<Entry *> New) -> Error {
                                 for (Entry *E : New)
                                   if (Error Inner = JudgeHere(*E))
                                     return Inner;
                                 return Error::success();
                               }))
      return Failure;
  for (Entry &E : Entries)
    if (E.Known || E.Made)
      if (Error Failure = finish(E, Generation))
        return Failure;
  return Error::success();
}

Error Search::evaluate(unsigned Generation) {
  std::vector<Entry> Entries;
  if (Error E = orders(Entries))
    return E;
  for (size_t First = 0; First < Entries.size(); First += Maker->width())
    if (Error E = makeAndJudge(
            MutableArrayRef(Entries).slice(
                First, std::min(Maker->width(), Entries.size() - First)),
            Generation))
      return E;
  if (Error E = evaluateOnCard(Generation, Entries))
    return E;
  // Nobody could make these any more.
  for (VariantOp V :
       make_early_inc_range(kernel().getBody().getOps<VariantOp>()))
    if (!V.getOutcome())
      V.erase();
  return J.saveGeneration(Run, Generation, printModule(*Population));
}

/// The channel of recordings that a card's answers lie in.
static constexpr StringRef DeviceChannel = "device";

/// Asks the card; its answer goes to the recording, or comes from it.
Error Search::onCard(StringRef Step, function_ref<Error()> Ask) {
  const AgentOptions *A = Options.Agents;
  std::string Place = stepPrefix(Problem.K) + Step.str();
  if (A && A->Replayed)
    if (auto Known = A->Replayed->find(DeviceChannel, Place, nullptr)) {
      const json::Object *O = Known->Answer.getAsObject();
      const json::Object *Results = O ? O->getObject("results") : nullptr;
      if (!Results)
        return usageError("the recording '" + A->Replayed->folder() +
                              "' holds a broken answer of a card to '" + Place +
                              "'",
                          "restore it, or search again with a provider");
      BatchRecord B{O->getString("batch").value_or("").str(),
                    formatv("{0}", json::Value(json::Object(*Results))).str()};
      if (Error E = J.saveBatch(Run, Step, B))
        return E;
    }
  if (Error E = Ask())
    return E;
  if (!A || !A->Keep)
    return Error::success();
  Expected<std::optional<BatchRecord>> B = J.findBatch(Run, Step);
  if (!B)
    return B.takeError();
  if (!*B || (*B)->Results.empty())
    return Error::success();
  Expected<json::Value> Results = json::parse((*B)->Results);
  if (!Results)
    return Results.takeError();
  return A->Keep->put(
      {DeviceChannel.str(), Place, json::Object{{"batch", (*B)->Id}},
       json::Object{{"batch", (*B)->Id}, {"results", std::move(*Results)}}});
}

/// Those that passed here, on the card.
Error Search::judgeOnCard(StringRef Step, ArrayRef<Entry *> Waiting) {
  if (Waiting.empty())
    return Error::success();
  std::vector<WaitingCandidate> Candidates;
  for (Entry *E : Waiting)
    Candidates.push_back({std::move(E->Record), std::move(E->Made)});
  Error Failure = onCard(Step, [&] { return Card->judge(Step, Candidates); });
  for (auto [E, C] : zip_equal(Waiting, Candidates)) {
    E->Record = std::move(C.Record);
    E->Made = std::move(C.Made);
  }
  return Failure;
}

Error Search::evaluateOnCard(unsigned Generation,
                             MutableArrayRef<Entry> Entries) {
  std::vector<Entry *> Waiting;
  for (Entry &E : Entries)
    if (E.Record.Outcome == "passed")
      Waiting.push_back(&E);
  std::string Step = "g" + std::to_string(Generation);
  if (Error E = judgeOnCard(Step, Waiting))
    return E;
  for (unsigned Round = 1; Round <= Maker->rounds(); ++Round) {
    std::string Number = std::to_string(Round);
    if (Error E = repair(Entries, "card" + Number,
                         [&](ArrayRef<Entry *> New) -> Error {
                           std::vector<Entry *> Passed;
                           for (Entry *E : New) {
                             if (Error Failure = judge(*E->Made))
                               return Failure;
                             E->Record = E->Made->Record;
                             if (E->Record.Outcome == "passed")
                               Passed.push_back(E);
                           }
                           return judgeOnCard(Step + "r" + Number, Passed);
                         }))
      return E;
  }
  for (Entry *E : Waiting) {
    if (Error Failure = J.save(Run, E->Record))
      return Failure;
    if (Error Failure = settle(E->V, E->Record, Generation))
      return Failure;
  }
  return Error::success();
}

/// Whether the launches of \p R take hardly longer than the GPU's ceilings let
/// any launches with this work take.
bool Search::atCeiling(const CandidateRecord &R) const {
  if (!(Options.Within > 0) || !(Advice.FloorUs > 0) || R.Outcome != "accepted")
    return false;
  Expected<json::Value> Evidence = json::parse(R.Evidence);
  if (!Evidence) {
    consumeError(Evidence.takeError());
    return false;
  }
  const json::Object *O = Evidence->getAsObject();
  const json::Object *OnCard = O ? O->getObject("card") : nullptr;
  const json::Array *Times = OnCard ? OnCard->getArray("workloads")
                             : O    ? O->getArray("modelled")
                                    : nullptr;
  if (!Times || Times->size() != Problem.Workloads.size())
    return false;
  double Total = 0;
  for (auto [T, W] : zip_equal(*Times, Problem.Workloads))
    Total +=
        T.getAsObject()->getNumber("variant_us").value_or(0) * double(W.Count);
  return Total > 0 && Advice.FloorUs >= Total * (1 - Options.Within);
}

/// The last checks of the best, until enough have passed them.
Error Search::acceptOnCard(std::vector<CandidateRecord> &Accepted,
                           SearchResult &Result) {
  std::vector<CandidateRecord> Kept;
  for (CandidateRecord &R : Accepted) {
    if (Kept.size() == Options.Keep)
      break;
    if (Error E =
            onCard(CardJudge::finalStep(R), [&] { return Card->accept(R); }))
      return E;
    // In the journal it stays what it was in its generation, so that a search
    // that is resumed goes the same way; the evidence says what came later.
    CandidateRecord Saved = R;
    Saved.Outcome = "accepted";
    Saved.Reason.clear();
    if (Error E = J.save(Run, Saved))
      return E;
    if (R.Outcome == "accepted") {
      Kept.push_back(std::move(R));
      continue;
    }
    ++Result.Rejected;
    for (CandidateRecord &Known : Result.All)
      if (Known.Genome == R.Genome)
        Known = R;
    if (Options.Progress)
      Options.Progress(Options.Generations, R, Best);
  }
  Accepted = std::move(Kept);
  Result.Measured = Card->measured();
  return Error::success();
}

/// A budget's end is no fault: what was found until then counts.
Error Search::endOfBudget(Error E) {
  return handleErrors(std::move(E),
                      [&](std::unique_ptr<ProviderError> P) -> Error {
                        if (P->fault() != ProviderFault::Budget)
                          return Error(std::move(P));
                        OverBudget = Stopped = P->text();
                        return Error::success();
                      });
}

Expected<SearchResult> Search::run() {
  if (Error E = endOfBudget(begin()))
    return std::move(E);
  if (OverBudget.empty())
    if (Error E = endOfBudget(evaluate(0)))
      return std::move(E);
  for (unsigned G = 1; OverBudget.empty() && G < Options.Generations; ++G) {
    if (any_of(Judged,
               [&](const auto &Each) { return atCeiling(Each.second); }))
      Stopped = formatv("the best time is within {0:P0} of what the GPU's "
                        "ceilings allow",
                        Options.Within)
                    .str();
    else
      Stopped = Maker->exhausted();
    if (!Stopped.empty())
      break;
    if (Error E = Breeding->next(*Population, G))
      return std::move(E);
    if (Error E = endOfBudget(evaluate(G)))
      return std::move(E);
  }
  if (Stopped.empty() && Maker)
    Stopped = Maker->exhausted();
  return collect();
}

std::string variantName(const CandidateRecord &R) {
  return "v_" + shortDigest(digest(R.Genome), 8);
}

/// The evidence in the store's form. On a card with a launch that the cpu
/// device cannot run, no version of the gate was passed: it is 0.
static Measurement measurementOf(const json::Object &Evidence, double Ratio,
                                 const SearchProblem &P) {
  Measurement M{P.Gpu.Name,
                "modelled",
                Ratio,
                Ratio,
                Ratio,
                unsigned(GateVersion),
                unsigned(Evidence.getInteger("checks").value_or(0)),
                "clang-22",
                P.Arch,
                Evidence.getString("canonical").value_or("").str()};
  const json::Object *Card = Evidence.getObject("card");
  if (!Card)
    return M;
  M.Device = Card->getString("device").value_or("").str();
  M.Basis = "measured";
  M.Low = Card->getNumber("low").value_or(Ratio);
  M.High = Card->getNumber("high").value_or(Ratio);
  M.Checks += unsigned(Card->getInteger("compared").value_or(0));
  if (const json::Array *All = Card->getArray("workloads"))
    for (const json::Value &V : *All)
      if (V.getAsObject()->getBoolean("card_only").value_or(false))
        M.Gate = 0;
  return M;
}

Expected<SearchResult> Search::collect() {
  Expected<std::vector<CandidateRecord>> All = J.candidates(Run);
  if (!All)
    return All.takeError();
  SearchResult Result;
  Result.All = *All;
  Result.Run = Run;
  Result.Stopped = Stopped;
  Result.Strategies = {Class, Problem.Gpu.Name, Problem.K.Name, Run, {}};
  if (Breeding) // A budget may end before the first genome.
    Result.Strategies.Tallies = Breeding->own();
  Result.OverBudget = !OverBudget.empty();
  std::vector<CandidateRecord> Accepted;
  for (CandidateRecord &R : *All) {
    ++Result.Evaluated;
    Result.Refused += R.Outcome == "refused";
    Result.Duplicates += R.Outcome == "duplicate";
    Result.Rejected += R.Outcome == "gate" || R.Outcome == "inadmissible";
    if (R.Outcome == "accepted")
      Accepted.push_back(std::move(R));
  }
  llvm::sort(Accepted, [](const CandidateRecord &A, const CandidateRecord &B) {
    return std::pair(-A.Ratio, A.Genome) < std::pair(-B.Ratio, B.Genome);
  });
  if (Card)
    if (Error E = acceptOnCard(Accepted, Result))
      return std::move(E);
  Accepted.resize(std::min<size_t>(Accepted.size(), Options.Keep));
  // Genomes and parents live in the population's last state or in its text.
  for (const CandidateRecord &R : Accepted) {
    Variant V;
    if (!parseGenome(R.Genome))
      return resourceError("the journal holds a genome that cannot be read: " +
                           R.Genome);
    V.Genes = carriedGenome(R);
    V.Name = variantName(R);
    json::Path::Root Root;
    LaunchPlan Plan;
    Guard When;
    Expected<json::Value> PlanJson = json::parse(R.Plan),
                          GuardJson = json::parse(R.Guard),
                          Evidence = json::parse(R.Evidence);
    if (!PlanJson || !GuardJson || !Evidence ||
        !fromJSON(*PlanJson, Plan, Root) || !fromJSON(*GuardJson, When, Root)) {
      for (auto *E : {&PlanJson, &GuardJson, &Evidence})
        if (!*E)
          consumeError(E->takeError());
      return resourceError("the journal holds a broken candidate: " + R.Genome);
    }
    V.Plan = Plan;
    V.When = When;
    V.Source = V.Name + ".cu";
    V.Digest = digest(R.Source);
    V.Fitness = R.Ratio;
    V.Outcome = R.Outcome;
    V.Evidence.push_back(
        measurementOf(*Evidence->getAsObject(), R.Ratio, Problem));
    Result.Variants.push_back(std::move(V));
    Result.Sources.push_back(R.Source);
  }
  return Result;
}

Expected<SearchResult> search(const SearchProblem &Problem,
                              const SearchOptions &Options, Journal &J) {
  return Search(Problem, Options, J).run();
}

} // namespace cupilot
