//===- Breeder.cpp - Which genomes come next -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Breeder.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Roofline/Prophet.h"
#include "cupilot/Support/Error.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace cupilot {

double utilisationOf(const CandidateRecord &R, const SearchProblem &P,
                     const Ceilings &C) {
  if (!R.Evidence)
    return 0;
  const std::vector<LaunchTimes> Times = R.Evidence->times();
  double Busy = 0, Total = 0;
  for (auto [Counts, W] : zip(R.Evidence->Work, P.Workloads)) {
    if (!Counts)
      continue;
    for (const LaunchTimes &T : Times) {
      if (T.Workload != W.Name || !(T.VariantUs > 0) ||
          !std::isfinite(T.VariantUs))
        continue;
      Busy += timesAtCeilings(C, *Counts).floor() * double(W.Count);
      Total += T.VariantUs * double(W.Count);
    }
  }
  return Total > 0 ? std::clamp(Busy / Total, 0.0, 1.0) : 0;
}

std::string recordClass(const SearchProblem &P,
                        const CandidateEvaluator &Evaluator,
                        const Ceilings &C) {
  double Memory = 0, Compute = 0;
  for (auto [I, W] : enumerate(P.Workloads))
    if (const ExecutionCounts *Counts = Evaluator.originalCounts(I)) {
      CeilingTimes T = timesAtCeilings(C, *Counts);
      Memory += T.memory() * double(W.Count);
      Compute += T.compute() * double(W.Count);
    }
  double Longest = std::max(Memory, Compute);
  if (!(Longest > 0) || !std::isfinite(Longest))
    return toString(Bottleneck::Middle).str();
  return toString(classify(Memory / Longest, Compute / Longest)).str();
}

Breeder::Breeder(const SearchProblem &P, const Ceilings &C,
                 const KernelCeiling &Ceiling, BreedingOptions Options,
                 StrategyTallies Prior)
    : P(P), C(C), Ceiling(Ceiling), Options(std::move(Options)),
      Prior(std::move(Prior)) {}

static constexpr StringRef ReasonAttr = "cupilot.reason";

std::string Breeder::takeReason(VariantOp V) {
  auto Reason = dyn_cast_or_null<mlir::StringAttr>(V->removeAttr(ReasonAttr));
  return Reason ? Reason.str() : "";
}

static Error runPass(mlir::ModuleOp M, std::unique_ptr<mlir::Pass> Pass) {
  mlir::PassManager Passes(M.getContext());
  Passes.addPass(std::move(Pass));
  if (mlir::failed(Passes.run(M)))
    return resourceError(
        "a pass over the population failed",
        "this is a fault of cupilot; please report it with the journal");
  return Error::success();
}

/// All that is known, for the passes.
std::vector<std::string> Breeder::tallies() const {
  StrategyTallies Sum = Prior;
  for (const StrategyTallies *More : {&Own, &Refused})
    for (const auto &[Name, T] : *More) {
      Sum[Name].Tried += T.Tried;
      Sum[Name].Helped += T.Helped;
    }
  return tallyTexts(Sum);
}

/// The texts of those of \p Known that do not fit.
static std::vector<std::string>
refusedOf(const std::map<std::string, bool> &Known) {
  std::vector<std::string> Refused;
  for (const auto &[Text, Fits] : Known)
    if (!Fits)
      Refused.push_back(Text);
  return Refused;
}

/// Runs \p Passes, which add variants, until all of these fit. The passes are
/// told what does not, and draw the same numbers again.
Error Breeder::draw(mlir::ModuleOp M, GenomesFit Fit,
                    function_ref<Error()> Passes) {
  constexpr unsigned MostRounds = 24;
  constexpr size_t MostGenes = 16; // Of a strategy, asked at once.
  for (unsigned Round = 0;; ++Round) {
    if (Error E = Passes())
      return E;
    if (!Fit)
      return Error::success();
    std::vector<VariantOp> New;
    for (KernelOp Kernel : M.getOps<KernelOp>())
      for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
        if (!V.getOutcome())
          New.push_back(V);
    std::vector<Genome> Questions;
    auto Ask = [&](Genome G) {
      if (Fits.try_emplace(genomeText(G), true).second)
        Questions.push_back(std::move(G));
    };
    auto Answer = [&]() -> Error {
      std::vector<bool> Answers;
      if (Error E = Fit(Questions, Answers))
        return E;
      for (auto [G, Fitting] : zip_equal(Questions, Answers))
        Fits[genomeText(G)] = Fitting;
      return Error::success();
    };
    for (VariantOp V : New)
      Ask(fromAttr(V.getGenome()));
    if (Error E = Answer())
      return E;
    // Where one value of a strategy does not fit, others hardly do.
    std::vector<Genome> Alone;
    for (const Genome &G : Questions)
      if (G.size() == 1 && !Fits[genomeText(G)])
        Alone.push_back(G);
    Questions.clear();
    for (const StrategyInfo &S : strategiesOf(M))
      if (any_of(Alone,
                 [&](const Genome &G) { return G[0].Strategy == S.Name; }))
        for (Gene &G : S.genes(MostGenes))
          Ask({std::move(G)});
    if (Error E = Answer())
      return E;
    auto IsRefused = [&](VariantOp V) {
      return !Fits[genomeText(fromAttr(V.getGenome()))];
    };
    if (none_of(New, IsRefused))
      return Error::success();
    const bool Last = Round == MostRounds;
    for (VariantOp V : New)
      if (!Last || IsRefused(V))
        V.erase();
    if (Last)
      return Error::success();
  }
}

Error Breeder::begin(mlir::ModuleOp M, GenomesFit Fit, unsigned Others) {
  if (Others >= Options.Population)
    return Error::success();
  InitialisePassOptions Initialise;
  Initialise.seed = P.Seed;
  Initialise.population = Options.Population - Others;
  Initialise.strategies.assign(Options.Strategies.begin(),
                               Options.Strategies.end());
  Initialise.genomes.assign(Options.Begin.begin(), Options.Begin.end());
  Initialise.favoured.assign(Options.Favoured.begin(), Options.Favoured.end());
  std::vector<std::string> Known = tallies();
  Initialise.tallies.assign(Known.begin(), Known.end());
  return draw(M, Fit, [&] {
    std::vector<std::string> Refused = refusedOf(Fits);
    Initialise.refused.assign(Refused.begin(), Refused.end());
    return runPass(M, createInitialisePass(Initialise));
  });
}

Error Breeder::prune(mlir::ModuleOp M) {
  rate(M);
  PrunePassOptions Prune;
  Prune.keep = Options.Population;
  Prune.elite = Options.Elite;
  Prune.crowd = Options.Crowd;
  return runPass(M, createPrunePass(Prune));
}

/// The genomes of \p Proposed as they would be tried: valid, none twice, none
/// that lives already.
static std::vector<ProposedGenome> validOf(ArrayRef<ProposedGenome> Proposed,
                                           mlir::ModuleOp M, Random R,
                                           size_t Most) {
  const GenePool Pool(strategiesOf(M.getOperation()));
  std::set<std::string> Seen;
  for (KernelOp Kernel : M.getOps<KernelOp>())
    for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
      Seen.insert(genomeText(Pool.align(fromAttr(V.getGenome()))));
  std::vector<ProposedGenome> Valid;
  for (const ProposedGenome &P : Proposed) {
    if (Valid.size() == Most)
      break;
    Valid.push_back(P);
    Valid.back().Genes = Pool.repair(R, P.Genes);
    if (Valid.back().Genes.empty() ||
        !Seen.insert(genomeText(Valid.back().Genes)).second)
      Valid.pop_back();
  }
  return Valid;
}

Error Breeder::next(mlir::ModuleOp M, unsigned Generation, unsigned Offspring,
                    GenomesFit Fit, ArrayRef<ProposedGenome> Proposed) {
  const std::vector<ProposedGenome> Valid =
      validOf(Proposed, M, Random(P.Seed, "proposed", Generation), Offspring);
  // Parents' genes are passed on whether or not they would be drawn.
  std::vector<std::string> Strategies = Options.Strategies;
  if (!Strategies.empty())
    for (KernelOp Kernel : M.getOps<KernelOp>())
      for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
        for (const Gene &G : fromAttr(V.getGenome()))
          if (!is_contained(Strategies, G.Strategy))
            Strategies.push_back(G.Strategy);
  SelectPassOptions Select;
  Select.seed = P.Seed;
  Select.generation = Generation;
  Select.tournament = Options.Tournament;
  Select.offspring = Offspring - unsigned(Valid.size());
  Select.crowd = Options.Crowd;
  CrossoverPassOptions Crossover;
  Crossover.seed = P.Seed;
  Crossover.generation = Generation;
  Crossover.strategies.assign(Strategies.begin(), Strategies.end());
  MutatePassOptions Mutate;
  Mutate.seed = P.Seed;
  Mutate.generation = Generation;
  Mutate.keep = Options.KeepProved;
  Mutate.strategies.assign(Strategies.begin(), Strategies.end());
  Mutate.favoured.assign(Options.Favoured.begin(), Options.Favoured.end());
  std::vector<std::string> Known = tallies();
  Mutate.tallies.assign(Known.begin(), Known.end());
  auto AddProposed = [&] {
    KernelOp Kernel = *M.getOps<KernelOp>().begin();
    mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(&Kernel.getBody().front());
    for (auto [I, Each] : enumerate(Valid)) {
      Variant V;
      V.Name = formatv("g{0}_v{1}", Generation, Select.offspring + I).str();
      V.Genes = Each.Genes;
      V.Parents = Each.Parents;
      VariantOp Op = addVariant(B, V, Kernel.getScalars().size());
      if (!Each.Reason.empty())
        Op->setAttr(ReasonAttr, B.getStringAttr(Each.Reason));
    }
  };
  return draw(M, Fit, [&]() -> Error {
    std::vector<std::string> Refused = refusedOf(Fits);
    Crossover.refused.assign(Refused.begin(), Refused.end());
    Mutate.refused.assign(Refused.begin(), Refused.end());
    if (Error E = runPass(M, createSelectPass(Select)))
      return E;
    if (Error E = runPass(M, createCrossoverPass(Crossover)))
      return E;
    if (Error E = runPass(M, createMutatePass(Mutate)))
      return E;
    AddProposed();
    return runPass(M, createAlignPass());
  });
}

/// The ceiling over the time, and a share of the use of the unit that limits.
/// Where the ceiling is not known, the shortest time stands for it, so that
/// both have the same weight whatever the speed-up is.
double Breeder::fitness(const Merit &M) const {
  if (!(M.Ratio > 0))
    return 0;
  double Best = 0;
  bool Bounded = true;
  for (const auto &[Name, Other] : Merits) {
    Best = std::max(Best, Other.Ratio);
    Bounded &= !(Other.Ratio > 0) || Other.CeilingShare > 0;
  }
  return (Bounded ? M.CeilingShare : M.Ratio / std::max(Best, M.Ratio)) +
         Options.UtilisationWeight * M.Use;
}

/// Gives each variant the fitness that it has by what is known now.
void Breeder::rate(mlir::ModuleOp M) {
  mlir::Builder B(M.getContext());
  for (KernelOp Kernel : M.getOps<KernelOp>())
    for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
      if (auto At = Merits.find(V.getSymName().str()); At != Merits.end())
        V.setFitnessAttr(B.getF64FloatAttr(fitness(At->second)));
}

void Breeder::measuredUse(StringRef Variant, double Share) {
  if (auto At = Merits.find(Variant.str()); At != Merits.end())
    At->second.Use = std::clamp(Share, 0.0, 1.0);
}

/// A gene has helped where the candidate is accepted and faster than the best
/// of its parents, from whom it did not have it; without parents, where it is
/// accepted. Genes that the best parent had are not put to the test.
void Breeder::count(VariantOp V, const CandidateRecord &R) {
  std::vector<std::string> Genes;
  for (const Gene &G : fromAttr(V.getGenome()))
    Genes.push_back(G.str());
  const std::pair<std::vector<std::string>, double> *Best = nullptr;
  for (auto Parent : V.getParents().getAsRange<mlir::FlatSymbolRefAttr>())
    if (auto It = Judged.find(Parent.getValue().str());
        It != Judged.end() && (!Best || It->second.second > Best->second))
      Best = &It->second;
  bool Helped = R.Outcome == CandidateOutcome::Accepted &&
                (!Best || R.Ratio > Best->second);
  for (const std::string &G : Genes) {
    if (Best && is_contained(Best->first, G))
      continue;
    std::string Name =
        StringRef(G).take_until([](char C) { return C == '{'; }).str();
    StrategyTally &T =
        R.Outcome == CandidateOutcome::Refused ? Refused[Name] : Own[Name];
    ++T.Tried;
    T.Helped += Helped;
  }
  Judged[V.getSymName().str()] = {std::move(Genes), R.Ratio};
}

void Breeder::judged(VariantOp V, const CandidateRecord &R) {
  mlir::Builder B(V.getContext());
  V.setOutcomeAttr(B.getStringAttr(wordOf(R.Outcome)));
  // What failed may still teach: it takes part with a low fitness.
  Merit &Mine = Merits[V.getSymName().str()];
  if (R.Outcome == CandidateOutcome::Accepted ||
      R.Outcome == CandidateOutcome::Slower)
    Mine = {R.Ratio, Ceiling.share(R), utilisationOf(R, P, C)};
  V.setFitnessAttr(B.getF64FloatAttr(fitness(Mine)));
  // Neither says anything of a strategy.
  if (R.Outcome != CandidateOutcome::Duplicate &&
      R.Outcome != CandidateOutcome::NoAnswer)
    count(V, R);
}

} // namespace cupilot
