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
  Error settle(VariantOp V, const CandidateRecord &Record, unsigned Generation);
  Error pass(std::unique_ptr<mlir::Pass> P);
  Expected<SearchResult> collect();
  KernelOp kernel() { return *Population->getOps<KernelOp>().begin(); }

  const SearchProblem &Problem;
  const SearchOptions &Options;
  Journal &J;
  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> Population;
  std::unique_ptr<CandidateEvaluator> Evaluator;
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
  if (!R.DeviceDigest.empty())
    Seen.try_emplace(R.DeviceDigest + R.Plan, R.Genome);
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
      else
        Failure = joinErrors(std::move(Failure),
                             settle(Todo[First + I], C.Record, Generation));
    }
    if (Failure)
      return Failure;
  }
  return J.saveGeneration(Run, Generation, printModule(*Population));
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
  Accepted.resize(std::min<size_t>(Accepted.size(), Options.Keep));
  // Genomes and parents live in the population's last state or in its text.
  for (const CandidateRecord &R : Accepted) {
    Variant V;
    std::optional<Genome> Genes = parseGenome(R.Genome);
    if (!Genes)
      return resourceError("the journal holds a genome that cannot be read: " +
                           R.Genome);
    V.Genes = *Genes;
    V.Name = "v_" + shortDigest(digest(R.Genome), 8);
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
    const json::Object &O = *Evidence->getAsObject();
    V.Evidence.push_back({Problem.Gpu.Name, "modelled", R.Ratio, R.Ratio,
                          R.Ratio, unsigned(GateVersion),
                          unsigned(O.getInteger("checks").value_or(0)),
                          "clang-22", Problem.Arch,
                          O.getString("canonical").value_or("").str()});
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
