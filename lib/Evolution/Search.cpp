//===- Search.cpp - The loop of strategy-coordinated evolution -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Search.h"
#include "JudgeAhead.h"
#include "OtherBuild.h"
#include "SearchLoop.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Evolution/ProposedStrategies.h"
#include "cupilot/Evolution/StoredStart.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

//===----------------------------------------------------------------------===//
// How it begins
//===----------------------------------------------------------------------===//

/// The key of everything that decides how the search goes.
static std::string runKey(const SearchProblem &P, const SearchOptions &O) {
  DigestBuilder B;
  B.add(P.K.Digest)
      .add(P.Arch)
      .add(P.Gpu.Name)
      .add(P.Seed)
      .add(O.Population)
      .add(O.Generations);
  if (O.Tune)
    B.add("tune").add(uint64_t(O.Tune));
  B.add(O.Offspring).add(static_cast<uint64_t>(GateVersion));
  B.add(static_cast<uint64_t>(SearchVersion));
  // Where the GPU is does not matter: another spool may go on, or replay.
  if (P.OnGpu)
    B.add("card");
  else if (P.AcceptEstimates)
    B.add("estimates");
  for (const std::string &Genome : O.Begin)
    B.add(Genome);
  if (O.Within > 0)
    B.add(std::to_string(O.Within));
  if (O.Submitted)
    B.add("submitted").add(O.Submitted->Digest);
  if (O.Stored) // Which, the journal knows.
    B.add("stored");
  if (const AgentOptions *A = O.Agents) {
    // Not who answers: another provider may go on with a search.
    B.add("llm").add(uint64_t(A->Rounds)).add(uint64_t(A->MostCalls));
    B.add(uint64_t(A->Roofline) + 2 * A->Prose + 4 * A->CrossCode +
          8 * A->NewStrategies + 16 * !A->Improve + 32 * !A->AskAgain);
    if (A->Dialogue)
      B.add("dialogue")
          .add(uint64_t(A->Dialogue->Turns))
          .add(A->Dialogue->Tokens)
          .add(std::to_string(A->Dialogue->GpuSeconds));
    for (const PromptExample &E : A->Examples)
      B.add(E.Genome).add(E.Source);
  }
  for (const std::string &Flag : P.Flags)
    B.add(Flag);
  if (P.Nvcc)
    B.add(P.Compiler);
  if (P.Language)
    B.add(P.Compiler).add(P.Language->key());
  B.add(CUPILOT_VERSION);
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder Builder = mlir::OpBuilder::atBlockEnd(M->getBody());
  for (const Workload &W : P.Workloads)
    addWorkload(Builder, W);
  B.add(printModule(*M));
  return B.str();
}

/// The channel of recordings that says by which version of the search they
/// were made.
static constexpr StringRef SearchChannel = "search";

/// A recording of another version has no answers to this one's questions.
Error SearchLoop::checkRecording() {
  const AgentOptions *A = Options.Agents;
  if (!A || A->DryRun)
    return Error::success();
  const std::string Place = stepPrefix(Problem.K) + "version";
  if (A->Replayed) {
    auto Known = A->Replayed->find(SearchChannel, Place, nullptr);
    const json::Object *O = Known ? Known->Answer.getAsObject() : nullptr;
    const int64_t Version = O ? O->getInteger("version").value_or(1) : 1;
    if (Version != int64_t(SearchVersion))
      return usageError(
          "the recording '" + A->Replayed->folder() +
              "' has no search of version " + Twine(SearchVersion) + " of '" +
              Problem.K.Name + "' (it has version " + Twine(Version) + ")",
          "replay it with the cupilot that recorded it, or search again with "
          "--record");
  }
  if (!A->Keep)
    return Error::success();
  return A->Keep->put({SearchChannel.str(), Place, json::Object{},
                       json::Object{{"version", SearchVersion}}});
}

Error SearchLoop::begin() {
  if (Error E = checkRecording())
    return E;
  loadDialect(Context);
  Run = runKey(Problem, Options);
  if (!Options.Resume)
    if (Error E = J.restart(Run))
      return E;
  auto Last = J.lastGeneration(Run);
  if (!Last)
    return Last.takeError();
  if (Options.Stored) {
    Expected<std::vector<SubmittedVariant>> Chosen =
        chooseStored(*Options.Stored, J, Run);
    if (!Chosen)
      return Chosen.takeError();
    for (auto [I, S] : enumerate(*Chosen))
      Stored[formatv("g0_s{0}", I).str()] = std::move(S);
  }
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> Library =
      loadLibrary(Context, Options.Strategies);
  if (!Library)
    return Library.takeError();
  Population = std::move(*Library);
  if (Options.Agents)
    if (Error E = addStoredStrategies(*Population, Options.Store, &J, Run))
      return E;
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
  if (Options.Cluster && !(Options.Agents && Options.Agents->DryRun))
    if (Error E = ClusterGate::create(*Options.Cluster, Problem,
                                      Options.Patience.Tell)
                      .moveInto(Cluster))
      return E;
  Limits = ceilingsOf(Problem.Gpu);
  if (Problem.OnGpu) {
    Expected<std::unique_ptr<GpuStepJudge>> Judge = GpuStepJudge::create(
        Problem, *Evaluator, J, Run, Options.Device, Options.Patience);
    if (!Judge)
      return Judge.takeError();
    Gpu = std::move(*Judge);
    if (Error E = measureOriginal())
      return E;
  }
  Ceiling =
      KernelCeiling(Problem.Workloads, floorsOf(Problem, *Evaluator, Limits));
  for (const auto &[Workload, Time] : Measured.Times)
    Ceiling.noteOriginal(Workload, Time);
  Board.emplace(Problem, *Evaluator, Advice, Ceiling, Limits);
  LaunchPlan Same;
  Same.Launches.push_back({});
  Same.Launches.front().Symbol = Problem.K.Symbol;
  Seen[Evaluator->originalDigest().str()].push_back({Same, "the original"});
  Begin = Options.Begin;
  if (Options.Submitted) {
    this->Library = libraryStrategies(Population->getOperation());
    Maker = makeSubmissionMaker(Problem, *Evaluator, *Options.Submitted,
                                this->Library);
  } else if (Options.Agents) {
    if (Error E = beginAgents())
      return E;
  } else {
    this->Library = libraryStrategies(Population->getOperation());
    for (StringRef Name :
         Problem.Language ? Problem.Language->strategies() : ruleStrategies())
      Strategies.push_back(Name.str());
    Maker = makeRuleMaker(*Evaluator, Options.Jobs, Options.TellRefused);
  }
  return beginBreeding();
}

Error SearchLoop::beginBreeding() {
  Class = recordClass(Problem, *Evaluator, Limits);
  Expected<StrategyTallies> Prior =
      priorTallies(J, Options.Store, {Class, Problem.Gpu.Name, "", Run, {}});
  if (!Prior)
    return Prior.takeError();
  BreedingOptions B;
  B.Population = Options.Population;
  B.KeepProved = Options.Agents != nullptr;
  B.Strategies = Strategies;
  B.Begin = Begin;
  B.Favoured = Maker->favoured(strategiesOf(Population->getOperation()));
  Breeding = std::make_unique<Breeder>(Problem, Limits, Ceiling, std::move(B),
                                       std::move(*Prior));
  if (Options.Submitted) {
    KernelOp Kernel = kernel();
    mlir::OpBuilder At = mlir::OpBuilder::atBlockEnd(&Kernel.getBody().front());
    Variant V;
    V.Name = "g0_v0";
    addVariant(At, V, Kernel.getScalars().size());
    return Error::success();
  }
  if (Error E = Breeding->begin(
          *Population,
          [&](ArrayRef<Genome> Genomes, std::vector<bool> &Fits) {
            return Maker->fit(Genomes, Fits);
          },
          unsigned(Stored.size())))
    return E;
  KernelOp Kernel = kernel();
  mlir::OpBuilder At = mlir::OpBuilder::atBlockEnd(&Kernel.getBody().front());
  for (const auto &[Name, S] : Stored) {
    Variant V;
    V.Name = Name;
    V.Genes = S.Genes;
    addVariant(At, V, Kernel.getScalars().size());
  }
  return Error::success();
}

/// An answer of no use ends nothing.
Error SearchLoop::absorbAgent(Error E, StringRef Agent) const {
  Error Rest = absorbFinding(std::move(E), [&](StringRef Why) {
    if (Options.Tell)
      Options.Tell((Agent + ": " + Why).str());
  });
  if (!Options.Agents->DryRun)
    return Rest;
  // What comes next is shown as it would be without this answer.
  consumeError(std::move(Rest));
  return Error::success();
}

/// The strategies that are drawn from, those that living variants have, and
/// what all of these require: without it no genome has them.
std::vector<LibraryStrategy> SearchLoop::chosenStrategies() {
  std::set<std::string> Names(Strategies.begin(), Strategies.end());
  for (VariantOp V : kernel().getBody().getOps<VariantOp>())
    for (const Gene &G : fromAttr(V.getGenome()))
      Names.insert(G.Strategy);
  for (size_t Before = 0; Before != Names.size();) {
    Before = Names.size();
    for (const LibraryStrategy &S : Library)
      if (Names.count(S.Info.Name) != 0)
        Names.insert(S.Info.Requires.begin(), S.Info.Requires.end());
  }
  std::vector<LibraryStrategy> Chosen;
  copy_if(Library, std::back_inserter(Chosen), [&](const LibraryStrategy &S) {
    return Names.count(S.Info.Name) != 0;
  });
  return Chosen;
}

/// Makes what the Manager proposes a part of the library. Genomes with a
/// strategy that the library cannot have are left out.
std::vector<ProposedGenome> SearchLoop::take(ManagerAnswer Said,
                                             const ChoiceRequest &R,
                                             const CallLog &Log) {
  std::set<std::string> Unfit, Shown;
  for (const LibraryStrategy &S : R.Library)
    Shown.insert(S.Info.Name);
  for (LibraryStrategy &S : Said.New) {
    std::string Origin = "proposed for " + Problem.K.Name;
    if (!Log.notes().empty() && !Log.notes().back().Model.empty())
      Origin += " by " + Log.notes().back().Model;
    if (!addStrategy(*Population, S, Origin)) {
      Unfit.insert(S.Info.Name);
      continue;
    }
    if (Options.Tell)
      Options.Tell("SCE Manager: new strategy " + S.Info.Name + ": " +
                   S.Summary);
    Proposed.insert(S.Info.Name);
    Library.push_back(std::move(S));
  }
  erase_if(Said.Genomes, [&](const ProposedGenome &P) {
    return any_of(P.Genes,
                  [&](const Gene &G) { return Unfit.count(G.Strategy) != 0; });
  });
  // Of what the library had the Prophet may not have chosen all.
  for (const ProposedGenome &P : Said.Genomes)
    for (const Gene &G : P.Genes)
      if (!Shown.count(G.Strategy) && !is_contained(Strategies, G.Strategy))
        Strategies.push_back(G.Strategy);
  return std::move(Said.Genomes);
}

/// What Prophet and Manager choose at the beginning. Without an answer the
/// whole library is drawn from, by chance.
Error SearchLoop::choose(CallLog &From) {
  const AgentOptions &A = *Options.Agents;
  PromptKernel Of{Problem.K, Problem.Gpu.Name, Problem.Arch, Problem.Workloads};
  if (Problem.Language)
    Of.Language = Problem.Language->kind();
  ChoiceRequest R = choice(Of, nullptr);
  std::vector<LibraryStrategy> Narrow;
  std::string Prefix = stepPrefix(Problem.K);
  if (A.Roofline) {
    Expected<Prophecies> Said = askProphet(
        From, *A.Prompts, R, Advice, Prefix + ProphetStep.str(), A.Counts);
    if (Said) {
      Strategies = std::move(Said->Strategies);
      Narrow = chosenStrategies();
      R.Library = Narrow;
    } else if (Error E = absorbAgent(Said.takeError(), "Roofline Prophet")) {
      return E;
    }
  }
  Bound = Advice.Class;
  if (const size_t Wanted = toDraw()) {
    Expected<ManagerAnswer> Said =
        askManager(From, *A.Prompts, R, unsigned(Wanted), A.Examples,
                   Prefix + ManagerStep.str(), A.Counts);
    if (Said)
      for (const ProposedGenome &P : take(std::move(*Said), R, From))
        Begin.push_back(genomeText(P.Genes));
    else if (Error E = absorbAgent(Said.takeError(), "SCE Manager"))
      return E;
  }
  return Error::success();
}

/// The journal gets the calls that were made since: those of Prophet and
/// Manager, and of rounds that were cut off, belong to no candidate.
Error SearchLoop::noteCalls() {
  for (const ModelCall &Call : Calls.Notes)
    if (Error E = J.saveCall(Run, Call))
      return E;
  Calls.Notes.clear();
  return Error::success();
}

/// What models need to know before the first genome.
Error SearchLoop::beginAgents() {
  Library = libraryStrategies(Population->getOperation());
  unsigned Arch = capabilityNumber(Problem.Arch);
  erase_if(Library,
           [&](const LibraryStrategy &S) { return S.MinArch > int64_t(Arch); });
  if (Error E = readNotes(Options.Strategies, Library))
    return E;
  for (const LibraryStrategy &S : Library)
    Strategies.push_back(S.Info.Name);
  Expected<KernelAdvice> Made = adviseOn(Problem, *Evaluator, Limits);
  if (!Made)
    return Made.takeError();
  Advice = std::move(*Made);
  addMeasurement(Advice, Problem, *Evaluator, Limits, Measured.Times,
                 Measured.Profile);
  Calls.Most = Options.Agents->MostCalls;
  CallLog Log(*Options.Agents->From);
  Error Chosen = choose(Log);
  Log.addTo(Calls);
  if (Error E = joinErrors(std::move(Chosen), noteCalls()))
    return E;
  Maker = makeModelMaker(Problem, *Evaluator, *Options.Agents, Library, Advice,
                         Calls, *this);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Between two generations
//===----------------------------------------------------------------------===//

/// How many of \p Offspring improve a variant. Prophet and Manager take a call
/// each: half of all are improvements.
static unsigned improvementsAmong(unsigned Offspring) {
  return std::min(Offspring, (Offspring + 3) / 2);
}

/// Rows of the table of what was tried.
static constexpr size_t MostTried = 20;

/// Where no counters can be read, times have to do.
void SearchLoop::tellUnread(ArrayRef<LaunchProfiles> Profiles) const {
  unsigned Unread = 0, All = 0;
  std::string Why;
  for (const LaunchProfiles &Each : Profiles)
    for (const auto &[Workload, M] : Each) {
      ++All;
      if (!M.Metrics.empty())
        continue;
      ++Unread;
      Why = M.NoMetrics;
    }
  if (Unread && Options.Tell)
    Options.Tell(formatv("counters of {0} of {1} launches could not be read: "
                         "{2}",
                         Unread, All, Why)
                     .str());
}

/// What the agents hear of the original before there are candidates.
Error SearchLoop::measureOriginal() {
  if (!Options.Agents || Options.Agents->DryRun)
    return Error::success();
  if (Error E = onGpu(GpuStepJudge::FirstStep, [&] {
        return Gpu->originalFigures().moveInto(Measured);
      }))
    return E;
  tellUnread(Measured.Profile);
  Limits = Measured.Limits;
  return Error::success();
}

/// Counters of the best of which there are none yet. By rules, only where
/// nobody has to carry the batch: it steers nothing but fitness.
Error SearchLoop::profileBest(unsigned Generation) {
  static constexpr size_t MostProfiled = 2;
  if (!Gpu || !(Options.Agents || Gpu->mayScreen()))
    return Error::success();
  std::vector<const Scoreboard::Entry *> Best = Board->elites(MostProfiled);
  erase_if(Best, [&](const Scoreboard::Entry *E) {
    return Board->profile(E->Record) != nullptr;
  });
  if (Best.empty())
    return Error::success();
  std::vector<WaitingCandidate> Asked;
  Asked.reserve(Best.size());
  for (const Scoreboard::Entry *E : Best)
    Asked.push_back({E->Record});
  const std::string Step = "profile" + std::to_string(Generation);
  std::vector<LaunchProfiles> Profiles;
  if (Error E = onGpu(Step, [&] {
        return Gpu->profile(Step, Asked, Bound).moveInto(Profiles);
      }))
    return E;
  tellUnread(Profiles);
  for (auto [E, Of] : zip_equal(Best, Profiles)) {
    std::optional<double> Share;
    if (auto Known = Of.find(Problem.Workloads[heaviestWorkload(Problem)].Name);
        Known != Of.end())
      Share = busiestShare(Known->second);
    if (Share)
      Breeding->measuredUse(E->Name, *Share);
    Board->addProfile(E->Record.Genome, std::move(Of));
  }
  return Error::success();
}

/// What is known after \p Generation.
Standing SearchLoop::standing(unsigned Generation) {
  const bool Figures = Options.Agents->Roofline;
  Standing S;
  S.Generation = Generation;
  S.Measured = Problem.OnGpu;
  S.Before = Bound;
  S.Tried = Board->tried(MostTried);
  for (const Scoreboard::Entry *Best : Board->elites(1)) {
    S.BestGenome =
        Best->Record.Carried.empty() ? "no strategy" : Best->Record.Carried;
    if (!Figures)
      continue;
    S.Best = Board->figures(Best->Record);
    S.Now = Board->opinion(Best->Record);
  }
  for (VariantOp V : kernel().getBody().getOps<VariantOp>())
    if (auto At = Judged.find(V.getSymName().str()); At != Judged.end())
      S.Population.push_back({At->first, carriedGenome(At->second),
                              At->second.Ratio,
                              At->second.Outcome == CandidateOutcome::Accepted,
                              outcomeText(At->second)});
  return S;
}

/// Asks Prophet and Manager again. Where one has no answer, what it said before
/// holds, and the passes cross.
Error SearchLoop::askAgents(Provider &From, unsigned Generation,
                            unsigned Improvements,
                            std::vector<ProposedGenome> &Proposed) {
  const AgentOptions &A = *Options.Agents;
  PromptKernel Of{Problem.K, Problem.Gpu.Name, Problem.Arch, Problem.Workloads};
  if (Problem.Language)
    Of.Language = Problem.Language->kind();
  Standing S = standing(Generation);
  ChoiceRequest R = choice(Of, &S);
  const std::string Prefix = stepPrefix(Problem.K),
                    Number = std::to_string(Generation + 1);
  // Its call is for those of one improvement at least.
  if (A.Roofline && Calls.room(2 * CallsOfQuestion)) {
    CallLog Log(From);
    Expected<Prophecies> Said =
        askProphet(Log, *A.Prompts, R, Advice,
                   Prefix + ProphetStep.str() + Number, A.Counts);
    Log.addTo(Calls);
    if (Said) {
      Strategies = std::move(Said->Strategies);
      Breeding->drawFrom(Strategies);
      // Figures say more than a word.
      if (!S.Now.Class)
        S.Now.Class = Said->Class;
      if (Said->Moved && S.Now.Class != Bound && Options.Tell)
        Options.Tell(("Roofline Prophet: the bottleneck has moved from " +
                      (Bound ? toString(*Bound) : "unknown") + " to " +
                      (S.Now.Class ? toString(*S.Now.Class) : "unknown") +
                      ": " + Said->Reason)
                         .str());
      Bound = S.Now.Class;
    } else if (Error E = absorbAgent(Said.takeError(), "Roofline Prophet")) {
      return E;
    }
  }
  const unsigned Others = Options.Offspring - Improvements;
  if (Others == 0 || !Calls.room((Improvements + 2) * CallsOfQuestion))
    return Error::success();
  const std::vector<LibraryStrategy> Narrow = chosenStrategies();
  R.Library = Narrow;
  CallLog Log(From);
  Expected<ManagerAnswer> Said =
      askManager(Log, *A.Prompts, R, Others, {},
                 Prefix + ManagerStep.str() + Number, A.Counts);
  Log.addTo(Calls);
  if (!Said)
    return absorbAgent(Said.takeError(), "SCE Manager");
  std::vector<ProposedGenome> Genomes = take(std::move(*Said), R, Log);
  Breeding->drawFrom(Strategies);
  for (ProposedGenome &P : Genomes)
    if (!Ordered.count(genomeText(P.Genes)))
      Proposed.push_back(std::move(P));
  return Error::success();
}

/// The fastest, as far as they are nearly as fast as the best.
std::vector<const Scoreboard::Entry *> SearchLoop::nearBest() const {
  static constexpr size_t MostElites = 4;
  static constexpr double Near = 0.7; ///< Of the best one's speed-up.
  std::vector<const Scoreboard::Entry *> Elites = Board->elites(MostElites);
  if (Elites.empty())
    return Elites;
  const double Least = Near * Elites.front()->Record.Ratio;
  erase_if(Elites,
           [&](const Scoreboard::Entry *E) { return E->Record.Ratio < Least; });
  return Elites;
}

/// Orders improvements: half of them of the best, the others of those that are
/// nearly as fast.
Error SearchLoop::addImprovements(unsigned Generation, unsigned Count) {
  const std::vector<const Scoreboard::Entry *> Elites = nearBest();
  KernelOp Kernel = kernel();
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(&Kernel.getBody().front());
  std::map<std::string, unsigned> Asked;
  std::vector<std::string> Names;
  const size_t Others = Elites.size() - 1;
  const std::vector<TriedVariant> Tried = Board->tried(MostTried);
  for (unsigned I = 0; I < Count; ++I) {
    const unsigned Behind = I - std::min(I, (Count + 1) / 2);
    const bool OfBest = I < (Count + 1) / 2 || Others == 0;
    const Scoreboard::Entry &Elite = *Elites[OfBest ? 0 : 1 + Behind % Others];
    Variant V;
    V.Name = formatv("g{0}_i{1}", Generation, I).str();
    V.Genes = carriedGenome(Elite.Record);
    // One that lives on no longer is not named; the journal knows it.
    if (mlir::SymbolTable::lookupSymbolIn(Kernel, Elite.Name))
      V.Parents = {Elite.Name};
    addVariant(B, V, Kernel.getScalars().size());
    ImproveOrder Order;
    Order.Number = ++Asked[Elite.Name];
    Order.Figures = Board->figures(Elite.Record);
    Order.Tried = Tried;
    Improvements[V.Name] = {Elite.Record,
                            improvementOf(Elite.Record, Generation, I),
                            std::move(Order)};
    Names.push_back(Elite.Name);
  }
  for (unsigned I = 0; I < Count; ++I)
    Improvements[formatv("g{0}_i{1}", Generation, I).str()].Order.Count =
        Asked[Names[I]];
  return Error::success();
}

/// What a generation is made of.
Error SearchLoop::breed(unsigned Generation) {
  if (Error E = profileBest(Generation - 1))
    return E;
  if (Error E = Breeding->prune(*Population))
    return E;
  std::vector<ProposedGenome> Proposed;
  unsigned Improved = 0;
  if (const AgentOptions *A = Options.Agents; A && !A->CrossCode) {
    if (A->Improve && !Board->elites(1).empty())
      Improved = improvementsAmong(Options.Offspring);
    Error Asked = A->AskAgain
                      ? askAgents(*A->From, Generation - 1, Improved, Proposed)
                      : Error::success();
    if (Error E = joinErrors(std::move(Asked), noteCalls()))
      return E;
  }
  auto Fit = [&](ArrayRef<Genome> Genomes, std::vector<bool> &Fits) {
    return Maker->fit(Genomes, Fits);
  };
  if (Error E = Breeding->next(*Population, Generation,
                               Options.Offspring - Improved, Fit, Proposed))
    return E;
  return Improved ? addImprovements(Generation, Improved) : Error::success();
}

/// A budget's end is no fault: what was found until then counts.
Error SearchLoop::endOfBudget(Error E) {
  return handleErrors(std::move(E),
                      [&](std::unique_ptr<ProviderError> P) -> Error {
                        if (P->fault() != ProviderFault::Budget)
                          return Error(std::move(P));
                        Ended = {EarlyEnd::Cause::Budget, P->text()};
                        return Error::success();
                      });
}

/// Looks at the clock. What is under way ends as it would.
bool SearchLoop::isOutOfTime() {
  if (!Ended && Options.Until &&
      std::chrono::steady_clock::now() >= *Options.Until)
    Ended = {EarlyEnd::Cause::Time, "its time is over"};
  return Ended && Ended->Why == EarlyEnd::Cause::Time;
}

/// The journal does not hear of what a budget's end, or that of the time, left
/// without its repairs: a search that goes on repairs it first.
Error SearchLoop::save(const CandidateRecord &R) {
  if (!isOverBudget() && (Maker->rounds() == 0 || !isOutOfTime()))
    return J.save(Run, R);
  Unfinished.push_back(R);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// A generation
//===----------------------------------------------------------------------===//

Error SearchLoop::settle(VariantOp V, const CandidateRecord &R,
                         unsigned Generation) {
  Board->add(V.getSymName(), R);
  Ceiling.note(R);
  if (R.Outcome == CandidateOutcome::Unchanged) { // No offspring.
    V.erase();
    if (Options.Progress)
      Options.Progress(Generation, R, Best);
    return Error::success();
  }
  // What the code has goes on, not what was asked for.
  V.setGenomeAttr(toAttr(Context, carriedGenome(R)));
  Breeding->judged(V, R);
  Judged[V.getSymName().str()] = R;
  remember(R);
  if (R.Outcome == CandidateOutcome::Accepted)
    Best = std::max(Best, R.Ratio);
  if (Options.Progress)
    Options.Progress(Generation, R, Best);
  return Error::success();
}

/// The variants that have no outcome; of a genome that was ordered before,
/// none.
Error SearchLoop::collectUnjudged(std::vector<SearchEntry> &Entries) {
  std::vector<SearchEntry> Bred;
  for (VariantOp V :
       make_early_inc_range(kernel().getBody().getOps<VariantOp>())) {
    if (V.getOutcome())
      continue;
    Genome G = fromAttr(V.getGenome());
    std::string Name = V.getSymName().str();
    auto Improves = Improvements.find(Name);
    if (Improves != Improvements.end())
      G = Improves->second.Key;
    else if (Options.Submitted)
      G = submissionOf(Options.Submitted->Digest);
    auto Given = Stored.find(Name);
    if (Given != Stored.end())
      G = submissionOf(Given->second.Digest);
    std::string Reason = Breeder::takeReason(V);
    if (!Ordered.try_emplace(genomeText(G), Name).second) {
      V.erase();
      continue;
    }
    auto Found = J.find(Run, genomeText(G));
    if (!Found)
      return Found.takeError();
    SearchEntry E{V, {std::move(Name), std::move(G), {}}, std::move(*Found)};
    E.Order.Reason = std::move(Reason);
    if (Given != Stored.end()) {
      E.Order.Stored = &Given->second;
      Entries.push_back(std::move(E));
      continue;
    }
    if (Improves != Improvements.end()) {
      E.Order.Improve = std::move(Improves->second.Order);
      E.Order.Parents.push_back(std::move(Improves->second.Elite));
      Entries.push_back(std::move(E));
      continue;
    }
    for (auto Parent : V.getParents().getAsRange<mlir::FlatSymbolRefAttr>())
      if (auto It = Judged.find(Parent.getValue().str()); It != Judged.end())
        E.Order.Parents.push_back(It->second);
    Bred.push_back(std::move(E));
  }
  // What is stored and improvements come first: where calls end, the others are
  // left out.
  for (SearchEntry &E : Bred)
    Entries.push_back(std::move(E));
  for (SearchEntry &E : Entries)
    if (E.Known)
      E.Order.Known = &*E.Known;
  return Error::success();
}

const std::string *SearchLoop::findSame(const CandidateRecord &R) const {
  auto It = Seen.find(R.DeviceDigest);
  if (It == Seen.end() || !R.Code)
    return nullptr;
  for (const auto &[Plan, Genome] : It->second)
    if (Plan == R.Code->Plan)
      return &Genome;
  return nullptr;
}

bool SearchLoop::endAsDuplicate(CandidateRecord &R) const {
  const std::string *Other = findSame(R);
  if (!Other || *Other == R.Genome)
    return false;
  R.end(CandidateOutcome::Duplicate, "the same device code as " + *Other);
  return true;
}

/// Whether \p E is to improve this very code.
static bool isUnchanged(const SearchEntry &E, const CandidateRecord &R) {
  return E.Order.Improve && isSameCode(R, E.Order.Parents.front()) &&
         R.Code->When == E.Order.Parents.front().Code->When;
}

/// Duplicates are not judged, and nothing is when the time is over.
Error SearchLoop::judge(SearchEntry &E) {
  Candidate &C = *E.Made;
  if (C.Record.Outcome == CandidateOutcome::Unjudged &&
      isUnchanged(E, C.Record))
    C.Record.end(CandidateOutcome::Unchanged,
                 "the same device code as the variant that it was to improve");
  if (C.Record.Outcome == CandidateOutcome::Unjudged &&
      !endAsDuplicate(C.Record)) {
    E.TooLate = !E.Ahead && isOutOfTime();
    if (E.TooLate)
      return Error::success();
    if (E.Ahead)
      C.Record = std::move(*E.Ahead);
    else {
      const Turn Mine = Options.Turns.wait(SharedResource::Job);
      if (Error Failure = Evaluator->judge(C))
        return Failure;
    }
  }
  E.Record = C.Record;
  return Error::success();
}

/// All but what is a duplicate already, or will be one of another here.
std::vector<SearchEntry *>
SearchLoop::worthJudging(ArrayRef<SearchEntry *> Entries) {
  std::vector<SearchEntry *> Waiting;
  for (SearchEntry *E : Entries)
    if (E->Made && E->Made->Record.Outcome == CandidateOutcome::Unjudged &&
        !findSame(E->Made->Record) && none_of(Waiting, [&](SearchEntry *Other) {
          return isSameCode(Other->Made->Record, E->Made->Record);
        }))
      Waiting.push_back(E);
  return Waiting;
}

/// What judge() will ask for, beside each other. Here, one alone can as well
/// wait until it is asked for.
Error SearchLoop::judgeAhead(ArrayRef<SearchEntry *> Entries) {
  if (!Cluster && Options.Jobs < 2)
    return Error::success();
  std::vector<SearchEntry *> Waiting = worthJudging(Entries);
  if (Waiting.empty() || (!Cluster && Waiting.size() < 2))
    return Error::success();
  std::vector<const Candidate *> Candidates;
  Candidates.reserve(Waiting.size());
  for (SearchEntry *E : Waiting)
    Candidates.push_back(&*E->Made);
  std::vector<std::optional<CandidateRecord>> Records;
  if (!Cluster)
    Records = cupilot::judgeAhead(*Evaluator, Candidates, Options.Jobs,
                                  Options.Turns, Options.Until);
  else if (Error E =
               Cluster->judge(Candidates, Options.Until).moveInto(Records))
    return E;
  for (auto [E, Record] : zip_equal(Waiting, Records))
    E->Ahead = std::move(Record);
  return Error::success();
}

static bool mayBeRepaired(const SearchEntry &E) {
  return !E.Known && !E.GaveUp && isRepairable(E.Record.Outcome);
}

/// What a compiler finds wrong first, or admission's rule: without the place,
/// which moves with every repair. The outcome says the rest.
static StringRef complaintOf(const CandidateRecord &R) {
  StringRef Text = R.Reason.Text;
  if (R.Outcome == CandidateOutcome::Inadmissible)
    return Text.split(": ").first;
  if (R.Outcome != CandidateOutcome::CompileError)
    return "";
  if (size_t At = Text.find("error: "); At != StringRef::npos)
    Text = Text.drop_front(At);
  return Text.split('\n').first;
}

static bool isSameFault(const CandidateRecord &A, const CandidateRecord &B) {
  auto Key = [](const CandidateRecord &R) {
    return std::tuple(R.Outcome, R.Reason.By, R.Reason.Found,
                      StringRef(R.Reason.Workload), complaintOf(R));
  };
  return Key(A) == Key(B);
}

/// One repair of each that needs one. \p Judge judges those that were made.
Error SearchLoop::repair(MutableArrayRef<SearchEntry> Entries, StringRef Stage,
                         function_ref<Error(ArrayRef<SearchEntry *>)> Judge) {
  std::vector<RevisionOrder> Orders;
  std::vector<SearchEntry *> Asked;
  for (SearchEntry &E : Entries)
    if (!E.Order.Stored &&
        (E.Known || (mayBeRepaired(E) && E.Round < Maker->rounds()))) {
      if (!E.Known)
        ++E.Round;
      Orders.push_back({&E.Order, &E.Record, Stage.str(), E.Round});
      Asked.push_back(&E);
    }
  if (none_of(Asked, [](SearchEntry *E) { return !E->Known; }) &&
      Maker->rounds() == 0)
    return Error::success();
  std::vector<Revision> Made;
  Error Asking = Maker->revise(Orders, Made);
  if (Error E = endOfBudget(joinErrors(std::move(Asking), noteCalls())))
    return E;
  std::vector<SearchEntry> New;
  std::vector<SearchEntry *> Old, ToJudge;
  for (auto [E, R] : zip_equal(Asked, Made)) {
    if (E->Known)
      continue;
    if (R.History)
      E->Record.Made = R.History;
    // The same code again would get the same verdict.
    E->GaveUp = !R.Made || (isSameCode(R.Made->Record, E->Record) &&
                            R.Made->Record.Code->When == E->Record.Code->When);
    if (E->GaveUp)
      continue;
    R.Made->Record.Made = R.History;
    Old.push_back(E);
    New.push_back({E->V, E->Order, std::nullopt, std::move(R.Made)});
  }
  for (SearchEntry &E : New)
    ToJudge.push_back(&E);
  if (Error Failure = Judge(ToJudge))
    return Failure;
  for (auto [E, N] : zip_equal(Old, New)) {
    unsigned Before = progressOf(E->Record.Outcome),
             After = progressOf(N.Record.Outcome);
    bool Timed = After >= progressOf(CandidateOutcome::Slower);
    bool Better =
        After > Before ||
        (After == Before && (!Timed || N.Record.Ratio > E->Record.Ratio));
    // What was told once and did not help will not help again.
    E->GaveUp = After <= Before && isSameFault(N.Record, E->Record);
    if (!Better) {
      E->GaveUp = true;
      continue;
    }
    E->Record = std::move(N.Record);
    E->Made = std::move(N.Made);
  }
  return Error::success();
}

/// The journal gets it, and the population unless it waits for the GPU.
Error SearchLoop::finish(SearchEntry &E, unsigned Generation) {
  if (E.Known) {
    if (isFinal(E.Known->Outcome))
      return settle(E.V, *E.Known, Generation);
    E.Record = *E.Known;
    E.Round = E.Record.Made ? E.Record.Made->repairs() : 0;
    E.Known.reset(); // The GPU has not spoken.
    E.Order.Known = nullptr;
    remember(E.Record);
    return Error::success();
  }
  if (progressOf(E.Record.Outcome) > progressOf(CandidateOutcome::Duplicate))
    endAsDuplicate(E.Record);
  if (!E.Record.Made) {
    E.Record.Made.emplace();
    for (const CandidateRecord &P : E.Order.Parents)
      E.Record.Made->Parents.push_back(P.Genome);
  }
  if (Error Failure = save(E.Record))
    return Failure;
  remember(E.Record);
  if (E.Record.Outcome == CandidateOutcome::Passed)
    return Error::success();
  return settle(E.V, E.Record, Generation);
}

/// Makes some candidates. What the maker does beside each other is its own;
/// everything whose order matters comes after.
Error SearchLoop::make(MutableArrayRef<SearchEntry> Entries) {
  std::vector<CandidateOrder> Orders;
  std::vector<SearchEntry *> Ask;
  for (SearchEntry &E : Entries) {
    if (!E.Order.Stored) {
      Orders.push_back(E.Order);
      Ask.push_back(&E);
    } else if (!E.Known) {
      Expected<Candidate> C = submitted(Problem, *Evaluator, *E.Order.Stored,
                                        E.Order.Genes, "store", Library);
      if (!C)
        return C.takeError();
      E.Made = std::move(*C);
    }
  }
  std::vector<std::optional<Candidate>> Made;
  Error Making = Maker->make(Orders, Made);
  if (Error E = endOfBudget(joinErrors(std::move(Making), noteCalls())))
    return E;
  for (auto [E, C] : zip_equal(Ask, Made))
    E->Made = std::move(C);
  return Error::success();
}

static bool isReady(const SearchEntry &E) {
  return E.Known || (E.Made && !E.TooLate);
}

/// Judges here what was made.
Error SearchLoop::judgeMade(MutableArrayRef<SearchEntry> Entries,
                            unsigned Generation) {
  std::vector<SearchEntry *> ToJudge;
  for (SearchEntry &E : Entries)
    ToJudge.push_back(&E);
  if (Error Failure = judgeAhead(ToJudge))
    return Failure;
  for (SearchEntry &E : Entries) {
    if (E.Made)
      if (Error Failure = judge(E))
        return Failure;
    // Without repairs there is nothing to wait for.
    if (Maker->rounds() == 0 && isReady(E))
      if (Error Failure = finish(E, Generation))
        return Failure;
  }
  if (Maker->rounds() == 0)
    return Error::success();
  for (unsigned Round = 1; Round <= Maker->rounds() && goesOn(); ++Round)
    if (Error Failure = repair(Entries, "repair" + std::to_string(Round),
                               [&](ArrayRef<SearchEntry *> New) -> Error {
                                 if (Error Failure = judgeAhead(New))
                                   return Failure;
                                 for (SearchEntry *E : New)
                                   if (Error Inner = judge(*E))
                                     return Inner;
                                 return Error::success();
                               }))
      return Failure;
  for (SearchEntry &E : Entries)
    if (isReady(E))
      if (Error Failure = finish(E, Generation))
        return Failure;
  return Error::success();
}

Error SearchLoop::evaluate(unsigned Generation) {
  std::vector<SearchEntry> Entries;
  if (Error E = collectUnjudged(Entries))
    return E;
  // Without a GPU's word before, what is made is judged before more is made. A
  // cluster has nodes for all of them, and keeps what it said.
  const size_t Width = Cluster ? Entries.size() : Maker->width();
  auto InTurns =
      [&](function_ref<Error(MutableArrayRef<SearchEntry>)> Do) -> Error {
    for (size_t First = 0; First < Entries.size() && goesOn(); First += Width)
      if (Error E = Do(MutableArrayRef(Entries).slice(
              First, std::min(Width, Entries.size() - First))))
        return E;
    return Error::success();
  };
  const bool Screens = screens();
  if (Screens) {
    if (Error E = InTurns([&](auto Some) { return make(Some); }))
      return E;
    if (Error E = screen(Entries, Generation))
      return E;
  }
  if (Error E = InTurns([&](auto Some) -> Error {
        if (!Screens)
          if (Error Failure = make(Some))
            return Failure;
        return judgeMade(Some, Generation);
      }))
    return E;
  if (!isOverBudget())
    if (Error E = evaluateOnGpu(Generation, Entries))
      return E;
  if (!goesOn())
    return Error::success();
  // Nobody could make these any more.
  for (VariantOp V :
       make_early_inc_range(kernel().getBody().getOps<VariantOp>()))
    if (!V.getOutcome())
      V.erase();
  return J.saveGeneration(Run, Generation, printModule(*Population));
}

//===----------------------------------------------------------------------===//
// What it ends with
//===----------------------------------------------------------------------===//

/// Whether the launches of \p R take hardly longer than the GPU's ceilings let
/// any launches with this work take.
bool SearchLoop::atCeiling(const CandidateRecord &R) const {
  return Options.Within > 0 && R.Outcome == CandidateOutcome::Accepted &&
         Ceiling.share(R) >= 1 - Options.Within;
}

/// Adds what other compilers' code of \p Accepted passed. Another domain makes
/// another entry of the variant.
Error SearchLoop::judgeOthers(ArrayRef<CandidateRecord> Accepted,
                              SearchResult &Result) {
  for (const BuildCompiler &Other : Options.Others) {
    SearchProblem P = Problem;
    P.Flags = Other.Flags;
    P.Nvcc = Other.Nvcc;
    P.Compiler = Other.Name;
    std::string Name = Other.Name;
    if (!Other.Arch.empty() && Other.Arch != P.Arch) {
      P.Arch = Other.Arch;
      Name += " " + Other.Arch;
    }
    const std::string Key = Run + "-" + shortDigest(digest(Name), 8);
    if (!Options.Resume)
      if (Error E = J.restart(Key))
        return E;
    auto OnGpu = [&](StringRef Step, function_ref<Error()> Ask) {
      return askGpu(Key, Step, "also-" + Step.str(), Ask);
    };
    std::vector<OtherProof> Proofs;
    // What the first compiler's code proved stays.
    if (Error E = handleErrors(
            judgeOtherBuild(P, Accepted, Options, J, Key, OnGpu)
                .moveInto(Proofs),
            [&](std::unique_ptr<ToolError> T) -> Error {
              if (T->isA(ResultsAwaited::classID()))
                return Error(std::move(T));
              Result.OtherFailed |= T->code() == ExitCode::Resource;
              if (Options.Tell)
                Options.Tell(Other.Name + " left out: " + T->text());
              return Error::success();
            }))
      return E;
    for (auto &[Index, Proof] : Proofs) {
      const std::string Name = variantName(Accepted[Index]);
      auto First = find_if(Result.Variants,
                           [&](const Variant &V) { return V.Name == Name; });
      if (First == Result.Variants.end()) // No launch was left for the first.
        continue;
      auto Known = find_if(Result.Variants, [&](const Variant &V) {
        return V.Name == Name && V.Where == Proof.Where &&
               V.When->Arch == P.Arch;
      });
      if (Known != Result.Variants.end()) {
        Known->Evidence.push_back(std::move(Proof.Evidence));
        continue;
      }
      Variant V = *First;
      const std::string Source =
          Result.Sources[First - Result.Variants.begin()];
      V.Where = std::move(Proof.Where);
      V.When->Arch = P.Arch;
      V.Fitness = Proof.Ratio;
      V.Evidence = {std::move(Proof.Evidence)};
      Result.Variants.push_back(std::move(V));
      Result.Sources.push_back(Source);
    }
  }
  return Error::success();
}

/// How the text of \p R came to be: of a setting, the text that it is one of.
/// Null: nobody knows.
static const CandidateHistory *authorOf(const CandidateRecord &R,
                                        ArrayRef<CandidateRecord> All) {
  const CandidateHistory *By = R.Made ? &*R.Made : nullptr;
  while (By && By->Stages.size() == 1 && By->Stages.front().Name == TuneStage) {
    const auto *Of = find_if(All, [&](const CandidateRecord &Each) {
      return Each.Genome == By->Parents.front();
    });
    By = Of != All.end() && Of->Made ? &*Of->Made : nullptr;
  }
  return By;
}

/// What a store must have of this search's strategies for \p Name: itself, and
/// those that it names.
void SearchLoop::addProposed(StringRef Name, SearchResult &Result) {
  if (!Proposed.erase(Name.str()))
    return;
  Result.Proposed.push_back(proposedFile(*Population, Name));
  for (const LibraryStrategy &S : Library)
    if (S.Info.Name == Name)
      for (const auto *Others : {&S.Info.Requires, &S.Info.Conflicts})
        for (StringRef Other : *Others)
          addProposed(Other, Result);
}

Expected<SearchResult> SearchLoop::collect() {
  Expected<std::vector<CandidateRecord>> All = J.candidates(Run);
  if (!All)
    return All.takeError();
  for (CandidateRecord &R : Unfinished) {
    auto Known = find_if(*All, [&](const CandidateRecord &Saved) {
      return Saved.Genome == R.Genome;
    });
    if (Known == All->end())
      All->push_back(std::move(R));
    else
      *Known = std::move(R);
  }
  SearchResult Result;
  Result.All = *All;
  Result.Run = Run;
  Result.Ended = Ended;
  Result.Strategies = {Class, Problem.Gpu.Name, Problem.K.Name, Run, {}};
  if (Breeding) // A budget may end before the first genome.
    Result.Strategies.Tallies = Breeding->own();
  std::vector<CandidateRecord> Accepted;
  for (CandidateRecord &R : *All)
    if (R.Outcome == CandidateOutcome::Accepted)
      Accepted.push_back(std::move(R));
  llvm::sort(Accepted, [](const CandidateRecord &A, const CandidateRecord &B) {
    return std::pair(-A.Ratio, A.Genome) < std::pair(-B.Ratio, B.Genome);
  });
  if (Gpu)
    if (Error E = acceptOnGpu(Accepted, Result))
      return std::move(E);
  Accepted.resize(std::min<size_t>(Accepted.size(), Options.Keep));
  // Genomes and parents live in the population's last state or in its text.
  for (const CandidateRecord &R : Accepted) {
    Variant V;
    std::optional<Genome> Known = parseGenome(R.Genome);
    if (!Known)
      return resourceError(
          "the journal contains a genome that cannot be read: " + R.Genome);
    V.Genes = carriedGenome(R);
    V.Name = variantName(R);
    if (!R.Code || !R.Evidence)
      return resourceError("the journal contains a damaged candidate: " +
                           R.Genome);
    V.Plan = R.Code->Plan;
    V.When = R.Code->When;
    Expected<std::optional<Domain>> Where = Evaluator->prove(*Known, R);
    if (!Where)
      return Where.takeError();
    if (!*Where)
      continue;
    V.Where = std::move(*Where);
    V.Source = V.Name + extensionOf(R.Code->Language).str();
    V.Digest = digest(R.Code->Source);
    V.Fitness = R.Ratio;
    V.Outcome = R.Outcome;
    if (const CandidateHistory *By = authorOf(R, Result.All)) {
      V.Prompts = By->prompts();
      if (const ModelCall *Last = By->lastCall())
        V.By = {Last->Provider, Last->Model, ""};
    }
    if (Options.Submitted)
      V.By = Options.Submitted->By;
    for (const auto &[Name, S] : Stored)
      if (genomeText(submissionOf(S.Digest)) == R.Genome) {
        V.By = S.By;
        V.Prompts = S.Prompts;
      }
    V.Evidence.push_back(measurementOf(*R.Evidence, R.Ratio, Problem));
    for (const Gene &G : V.Genes)
      addProposed(G.Strategy, Result);
    Result.Variants.push_back(std::move(V));
    Result.Sources.push_back(R.Code->Source);
  }
  Result.Kept = Result.Variants.size();
  if (Error E = judgeOthers(Accepted, Result))
    return std::move(E);
  return Result;
}

Expected<SearchResult> SearchLoop::run() {
  if (Error E = endOfBudget(begin()))
    return std::move(E);
  if (!Ended)
    if (Error E = endOfBudget(evaluate(0)))
      return std::move(E);
  if (Error E = tune(0))
    return std::move(E);
  for (unsigned G = 1; !Ended && G < Options.Generations; ++G) {
    if (isDone()) {
      Ended = {EarlyEnd::Cause::NearCeiling,
               formatv("the best time is within {0:P0} of what the GPU's "
                       "ceilings allow",
                       Options.Within)};
      break;
    }
    if (Maker->exhausted())
      break;
    if (Error E = endOfBudget(breed(G)))
      return std::move(E);
    if (Ended)
      break;
    if (Error E = endOfBudget(evaluate(G)))
      return std::move(E);
    if (Error E = tune(G))
      return std::move(E);
  }
  if (!Ended && Maker && Maker->exhausted())
    Ended = {EarlyEnd::Cause::CallsMade,
             formatv("{0} of at most {1} calls were made for this kernel",
                     Calls.Used, Calls.Most)};
  return collect();
}

Expected<SearchResult> search(const SearchProblem &Problem,
                              const SearchOptions &Options, Journal &J) {
  return SearchLoop(Problem, Options, J).run();
}

} // namespace cupilot
