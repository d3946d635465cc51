//===- Search.cpp - The loop of strategy-coordinated evolution -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AgentCalls.h"
#include "SearchLoop.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Evolution/SceManager.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

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
  // Where the GPU is does not matter: another spool may go on, or replay.
  if (P.OnGpu)
    B.add("card");
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

Error SearchLoop::begin() {
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
  if (Problem.OnGpu) {
    Expected<std::unique_ptr<GpuStepJudge>> Judge = GpuStepJudge::create(
        Problem, *Evaluator, J, Run, Options.Device, Options.Patience);
    if (!Judge)
      return Judge.takeError();
    Gpu = std::move(*Judge);
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

Error SearchLoop::beginBreeding() {
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
Error SearchLoop::choose(Provider &From) {
  const AgentOptions &A = *Options.Agents;
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
        askProphet(From, *A.Prompts, R, Advice, Prefix + "prophet", A.Counts);
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
        From, *A.Prompts, R, unsigned(Options.Population - Begin.size()),
        A.Examples, Prefix + "manager", A.Counts);
    if (Genomes)
      append_range(Begin, *Genomes);
    else if (Error E = Absorb(Genomes.takeError(), "SCE Manager"))
      return E;
  }
  return Error::success();
}

/// The journal gets the calls that were made since: those of Prophet and
/// Manager, and of rounds that were cut off, belong to no candidate.
Error SearchLoop::noteCalls() {
  for (const json::Value &Note : Calls.Notes)
    if (Error E =
            J.saveCall(Run, Note.getAsObject()->getString("step").value_or(""),
                       formatv("{0}", Note).str()))
      return E;
  Calls.Notes.clear();
  return Error::success();
}

/// What models need to know before the first genome.
Error SearchLoop::beginAgents() {
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
  CallLog Log(*Options.Agents->From);
  Error Chosen = choose(Log);
  Log.addTo(Calls);
  if (Error E = joinErrors(std::move(Chosen), noteCalls()))
    return E;
  Maker = makeModelMaker(Problem, *Evaluator, *Options.Agents, Library, Advice,
                         Calls);
  return Error::success();
}

/// A budget's end is no fault: what was found until then counts.
Error SearchLoop::endOfBudget(Error E) {
  return handleErrors(std::move(E),
                      [&](std::unique_ptr<ProviderError> P) -> Error {
                        if (P->fault() != ProviderFault::Budget)
                          return Error(std::move(P));
                        OverBudget = Stopped = P->text();
                        return Error::success();
                      });
}

Expected<SearchResult> SearchLoop::run() {
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

Expected<SearchResult> search(const SearchProblem &Problem,
                              const SearchOptions &Options, Journal &J) {
  return SearchLoop(Problem, Options, J).run();
}

} // namespace cupilot
