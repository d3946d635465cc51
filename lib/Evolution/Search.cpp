//===- Search.cpp - The loop of strategy-coordinated evolution -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Search.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <thread>

using namespace llvm;

namespace cupilot {

namespace {
class Search {
public:
  Search(const SearchProblem &Problem, const SearchOptions &Options, Journal &J)
      : Problem(Problem), Options(Options), J(J) {}
  Expected<SearchResult> run();

private:
  Error begin();
  Error evaluate(unsigned Generation);
  Error evaluateOnCard(unsigned Generation,
                       std::vector<std::pair<VariantOp, WaitingCandidate>> W);
  Error settle(VariantOp V, const CandidateRecord &Record, unsigned Generation);
  Error acceptOnCard(std::vector<CandidateRecord> &Accepted,
                     SearchResult &Result);
  void remember(const CandidateRecord &R) {
    if (!R.DeviceDigest.empty())
      Seen.try_emplace(R.DeviceDigest + R.Plan, R.Genome);
  }
  Error pass(std::unique_ptr<mlir::Pass> P);
  Expected<SearchResult> collect();
  KernelOp kernel() { return *Population->getOps<KernelOp>().begin(); }

  const SearchProblem &Problem;
  const SearchOptions &Options;
  Journal &J;
  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> Population;
  std::unique_ptr<CandidateEvaluator> Evaluator;
  std::unique_ptr<CardJudge> Card; ///< Null: times are modelled.
  std::vector<std::string> Strategies;
  std::map<std::string, std::string>
      Seen; ///< Device code and plan to the genome.
  std::string Run;
  double Best = 1;
};
} // namespace

Error Search::pass(std::unique_ptr<mlir::Pass> P) {
  mlir::PassManager Passes(&Context);
  Passes.addPass(std::move(P));
  if (mlir::failed(Passes.run(*Population)))
    return resourceError(
        "a pass over the population failed",
        "this is a fault of cupilot; please report it with the journal");
  return Error::success();
}

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
  for (StringRef Name : ruleStrategies())
    Strategies.push_back(Name.str());
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
  if (Error E = pass(createVerifyLibraryPass()))
    return E;
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
  InitialisePassOptions Initialise;
  Initialise.seed = Problem.Seed;
  Initialise.population = Options.Population;
  Initialise.strategies.assign(Strategies.begin(), Strategies.end());
  return pass(createInitialisePass(Initialise));
}

Error Search::settle(VariantOp V, const CandidateRecord &R,
                     unsigned Generation) {
  mlir::Builder B(&Context);
  V.setOutcomeAttr(B.getStringAttr(R.Outcome));
  // What failed may still teach: it takes part with a low fitness.
  double Fitness =
      R.Outcome == "accepted" || R.Outcome == "slower" ? R.Ratio : 0;
  V.setFitnessAttr(B.getF64FloatAttr(Fitness));
  remember(R);
  if (R.Outcome == "accepted")
    Best = std::max(Best, R.Ratio);
  if (Options.Progress)
    Options.Progress(Generation, R, Best);
  return Error::success();
}

/// Judges the variants that have no outcome. Translation and compilation run
/// beside each other; everything whose order matters comes after.
Error Search::evaluate(unsigned Generation) {
  std::vector<VariantOp> Todo;
  for (VariantOp V : kernel().getBody().getOps<VariantOp>())
    if (!V.getOutcome())
      Todo.push_back(V);
  std::vector<std::pair<VariantOp, WaitingCandidate>> Waiting;
  for (size_t First = 0; First < Todo.size(); First += 2) {
    size_t Count = std::min<size_t>(2, Todo.size() - First);
    std::vector<std::optional<CandidateRecord>> Known(Count);
    std::vector<std::optional<Expected<Candidate>>> Prepared(Count);
    std::vector<std::thread> Threads;
    for (size_t I = 0; I < Count; ++I) {
      Genome G = fromAttr(Todo[First + I].getGenome());
      auto Found = J.find(Run, genomeText(G));
      if (!Found)
        return Found.takeError();
      Known[I] = std::move(*Found);
      if (!Known[I])
        Threads.emplace_back(
            [&, I, G] { Prepared[I].emplace(Evaluator->prepare(G)); });
    }
    for (std::thread &T : Threads)
      T.join();
    Error Failure = Error::success();
    for (size_t I = 0; I < Count; ++I) {
      if (Known[I] && Known[I]->Outcome == "passed") {
        remember(*Known[I]);
        Waiting.push_back({Todo[First + I], {std::move(*Known[I])}});
        continue;
      }
      if (Known[I]) {
        Failure = joinErrors(std::move(Failure),
                             settle(Todo[First + I], *Known[I], Generation));
        continue;
      }
      if (!*Prepared[I]) {
        Failure = joinErrors(std::move(Failure), Prepared[I]->takeError());
        continue;
      }
      Candidate &C = **Prepared[I];
      if (C.Record.Outcome.empty()) {
        if (auto It = Seen.find(C.Record.DeviceDigest + C.Record.Plan);
            It != Seen.end()) {
          C.Record.Outcome = "duplicate";
          C.Record.Reason = "the same device code as " + It->second;
        } else if (Error E = Evaluator->judge(C)) {
          Failure = joinErrors(std::move(Failure), std::move(E));
          continue;
        }
      }
      if (Error E = J.save(Run, C.Record))
        Failure = joinErrors(std::move(Failure), std::move(E));
      else if (C.Record.Outcome == "passed") {
        remember(C.Record);
        CandidateRecord Record = C.Record;
        Waiting.push_back({Todo[First + I], {std::move(Record), std::move(C)}});
      } else
        Failure = joinErrors(std::move(Failure),
                             settle(Todo[First + I], C.Record, Generation));
    }
    if (Failure)
      return Failure;
  }
  if (Error E = evaluateOnCard(Generation, std::move(Waiting)))
    return E;
  return J.saveGeneration(Run, Generation, printModule(*Population));
}

/// Those that passed here, on the card.
Error Search::evaluateOnCard(
    unsigned Generation,
    std::vector<std::pair<VariantOp, WaitingCandidate>> Waiting) {
  if (Waiting.empty())
    return Error::success();
  std::vector<WaitingCandidate> Candidates;
  for (auto &[V, W] : Waiting)
    Candidates.push_back(std::move(W));
  if (Error E = Card->judge("g" + std::to_string(Generation), Candidates))
    return E;
  for (auto [V, C] : zip_equal(make_first_range(Waiting), Candidates)) {
    if (Error E = J.save(Run, C.Record))
      return E;
    if (Error E = settle(V, C.Record, Generation))
      return E;
  }
  return Error::success();
}

/// The last checks of the best, until enough have passed them.
Error Search::acceptOnCard(std::vector<CandidateRecord> &Accepted,
                           SearchResult &Result) {
  std::vector<CandidateRecord> Kept;
  for (CandidateRecord &R : Accepted) {
    if (Kept.size() == Options.Keep)
      break;
    if (Error E = Card->accept(R))
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

Expected<SearchResult> Search::run() {
  if (Error E = begin())
    return std::move(E);
  if (Error E = evaluate(0))
    return std::move(E);
  for (unsigned G = 1; G < Options.Generations; ++G) {
    SelectPassOptions Select;
    Select.seed = Problem.Seed;
    Select.generation = G;
    Select.offspring = Options.Offspring;
    CrossoverPassOptions Crossover;
    Crossover.seed = Problem.Seed;
    Crossover.generation = G;
    Crossover.strategies.assign(Strategies.begin(), Strategies.end());
    MutatePassOptions Mutate;
    Mutate.seed = Problem.Seed;
    Mutate.generation = G;
    Mutate.strategies.assign(Strategies.begin(), Strategies.end());
    PrunePassOptions Prune;
    Prune.keep = Options.Population;
    if (Error E = pass(createPrunePass(Prune)))
      return std::move(E);
    if (Error E = pass(createSelectPass(Select)))
      return std::move(E);
    if (Error E = pass(createCrossoverPass(Crossover)))
      return std::move(E);
    if (Error E = pass(createMutatePass(Mutate)))
      return std::move(E);
    if (Error E = pass(createAlignPass()))
      return std::move(E);
    if (Error E = evaluate(G))
      return std::move(E);
  }
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
    std::optional<Genome> Genes = parseGenome(R.Genome);
    if (!Genes)
      return resourceError("the journal holds a genome that cannot be read: " +
                           R.Genome);
    V.Genes = *Genes;
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
