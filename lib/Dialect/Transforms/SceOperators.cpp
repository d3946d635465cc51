//===- SceOperators.cpp - The operators of strategy-coordinated evolution -*-
// C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Initialise, select, cross, mutate, align, prune: seeded and deterministic, so
// that a search that was killed ends as it would have ended.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Model/CandidateOutcome.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <set>

namespace cupilot {
#define GEN_PASS_DEF_INITIALISEPASS
#define GEN_PASS_DEF_SELECTPASS
#define GEN_PASS_DEF_CROSSOVERPASS
#define GEN_PASS_DEF_MUTATEPASS
#define GEN_PASS_DEF_ALIGNPASS
#define GEN_PASS_DEF_PRUNEPASS
#include "cupilot/Dialect/Transforms/Passes.h.inc"
} // namespace cupilot

using namespace mlir;
using namespace cupilot;
using llvm::StringRef;

static constexpr StringRef ParentsAttr = "cupilot.parents";

/// The strategies of \p Library that \p Names lists (all if it is empty),
/// without the genes that are refused alone.
static GenePool poolOf(Operation *Library, ArrayRef<std::string> Names,
                       std::map<std::string, StrategyTally> Tallies = {},
                       ArrayRef<Genome> Refused = {},
                       ArrayRef<std::string> Favoured = {}) {
  std::set<std::string> Alone;
  for (const Genome &G : Refused)
    if (G.size() == 1)
      Alone.insert(G.front().str());
  std::vector<StrategyInfo> Strategies = strategiesOf(Library);
  if (!Names.empty())
    llvm::erase_if(Strategies, [&](const StrategyInfo &S) {
      return !llvm::is_contained(Names, S.Name);
    });
  return GenePool(std::move(Strategies), std::move(Tallies), std::move(Alone),
                  {Favoured.begin(), Favoured.end()});
}

/// What the option `tallies` says; nothing where it is broken.
static std::optional<std::map<std::string, StrategyTally>>
talliesOf(Operation *At, ArrayRef<std::string> Texts) {
  std::map<std::string, StrategyTally> Tallies;
  for (const std::string &Text : Texts) {
    auto T = parseTally(Text);
    if (!T) {
      At->emitOpError() << "'" << Text << "' is not NAME:TRIED:HELPED";
      return std::nullopt;
    }
    Tallies.insert(std::move(*T));
  }
  return Tallies;
}

/// What a list of genomes says; nothing where one of them is broken.
static std::optional<std::vector<Genome>>
genomesIn(Operation *At, ArrayRef<std::string> Texts) {
  std::vector<Genome> All;
  for (const std::string &Text : Texts) {
    std::optional<Genome> G = parseGenome(Text);
    if (!G) {
      At->emitOpError() << "'" << Text << "' is no genome";
      return std::nullopt;
    }
    All.push_back(std::move(*G));
  }
  return All;
}

/// The names of a variant's strategies: of these, several genomes are alike.
static std::string strategiesText(VariantOp V) {
  std::string Text;
  for (const Gene &G : fromAttr(V.getGenome()))
    Text += G.Strategy + ",";
  return Text;
}

static double fitnessOf(VariantOp V) {
  return V.getFitness() ? V.getFitness()->convertToDouble() : -1;
}

/// What is left of \p Fitness among \p Others with the same strategies.
static double crowded(double Fitness, unsigned Others, unsigned Percent) {
  return Fitness * (100 - std::min(50u, Percent * Others)) / 100;
}

/// Whether its code is right and faster than the original.
static bool isProved(VariantOp V) {
  return V.getOutcome() == wordOf(CandidateOutcome::Accepted);
}

static bool isDuplicate(VariantOp V) {
  return V.getOutcome() == wordOf(CandidateOutcome::Duplicate);
}

/// The strategies of the fitter parent of \p V, if that one is proved.
static std::set<std::string> provedOf(VariantOp V, KernelOp Kernel) {
  VariantOp Fitter;
  for (auto Name : V.getParents().getAsRange<FlatSymbolRefAttr>())
    if (auto Parent = dyn_cast_or_null<VariantOp>(
            SymbolTable::lookupSymbolIn(Kernel, Name.getAttr())))
      if (!Fitter || fitnessOf(Parent) > fitnessOf(Fitter))
        Fitter = Parent;
  std::set<std::string> Names;
  if (Fitter && isProved(Fitter))
    for (const Gene &G : fromAttr(Fitter.getGenome()))
      Names.insert(G.Strategy);
  return Names;
}

static std::string purpose(StringRef Pass, KernelOp Kernel) {
  return (Pass + ":" + Kernel.getDigest()).str();
}

static llvm::StringSet<> genomesOf(KernelOp Kernel) {
  llvm::StringSet<> Texts;
  for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
    Texts.insert(genomeText(fromAttr(V.getGenome())));
  return Texts;
}

static void append(KernelOp Kernel, unsigned Generation, unsigned Index,
                   Genome G, std::vector<std::string> Parents) {
  OpBuilder B = OpBuilder::atBlockEnd(&Kernel.getBody().front());
  Variant V;
  V.Name = "g" + std::to_string(Generation) + "_v" + std::to_string(Index);
  V.Genes = std::move(G);
  V.Parents = std::move(Parents);
  addVariant(B, V, Kernel.getScalars().size());
}

/// A variant names only parents that are there; the journal keeps the lineage.
static void forgetMissingParents(KernelOp Kernel) {
  llvm::DenseSet<Attribute> There;
  for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
    There.insert(V.getSymNameAttr());
  for (VariantOp V : Kernel.getBody().getOps<VariantOp>()) {
    llvm::SmallVector<Attribute> Parents(V.getParents().getValue());
    llvm::erase_if(Parents, [&](Attribute P) {
      return !There.contains(cast<FlatSymbolRefAttr>(P).getAttr());
    });
    if (Parents.size() != V.getParents().size())
      V.setParentsAttr(ArrayAttr::get(V.getContext(), Parents));
  }
}

namespace {

struct Initialise : cupilot::impl::InitialisePassBase<Initialise> {
  using InitialisePassBase::InitialisePassBase;
  void runOnOperation() override {
    auto Tallies = talliesOf(getOperation(), std::vector<std::string>(tallies));
    auto Refused = genomesIn(getOperation(), std::vector<std::string>(refused));
    if (!Tallies || !Refused)
      return signalPassFailure();
    GenePool Pool =
        poolOf(getOperation(), std::vector<std::string>(strategies), *Tallies,
               *Refused, std::vector<std::string>(favoured));
    if (Pool.empty())
      return;
    for (KernelOp Kernel : getOperation().getOps<KernelOp>()) {
      Random R(seed, purpose("initialise", Kernel), 0);
      llvm::StringSet<> Seen = genomesOf(Kernel), Tried;
      for (const Genome &G : *Refused)
        Seen.insert(genomeText(G));
      unsigned Index = 0;
      auto Add = [&](Genome G) {
        if (!G.empty() && Index < population &&
            Seen.insert(genomeText(G)).second)
          append(Kernel, 0, Index++, std::move(G), {});
      };
      // What helped elsewhere, with the same random numbers for the rest.
      Random Elsewhere(seed, purpose("begin", Kernel), 0);
      auto Begin = genomesIn(Kernel, std::vector<std::string>(genomes));
      if (!Begin)
        return signalPassFailure();
      for (Genome &G : *Begin)
        Add(Pool.repair(Elsewhere, std::move(G)));
      // Each strategy alone once, so that none goes untried, likely ones first
      // as not all may find room; then mixtures.
      std::vector<const StrategyInfo *> Order;
      for (const StrategyInfo &S : Pool.strategies())
        Order.push_back(&S);
      if (!Tallies->empty()) {
        std::vector<const StrategyInfo *> Drawn;
        Drawn.reserve(5 * Order.size());
        Random Likely(seed, purpose("likely", Kernel), 0);
        for (unsigned Try = 0; Try < 4 * Order.size(); ++Try)
          Drawn.push_back(&Pool.pick(Likely));
        llvm::append_range(Drawn, Order);
        Order = std::move(Drawn);
      }
      for (const StrategyInfo *Each : Order) {
        const StrategyInfo &S = *Each;
        if (!Tried.insert(S.Name).second)
          continue;
        Add(Pool.repair(R, {Pool.randomGene(R, S)}));
      }
      for (unsigned Try = 0; Index < population && Try < 20 * population; ++Try)
        Add(Pool.random(R, 1 + R.below(3)));
    }
  }
};

struct Select : cupilot::impl::SelectPassBase<Select> {
  using SelectPassBase::SelectPassBase;
  void runOnOperation() override {
    Builder B(&getContext());
    for (KernelOp Kernel : getOperation().getOps<KernelOp>()) {
      std::vector<VariantOp> Judged;
      std::map<std::string, unsigned> Alike;
      for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
        if (V.getFitness() && !isDuplicate(V)) {
          Judged.push_back(V);
          ++Alike[strategiesText(V)];
        }
      if (Judged.empty())
        continue;
      Random R(seed, purpose("select", Kernel), generation);
      auto Strength = [&](VariantOp V) {
        return crowded(fitnessOf(V), Alike[strategiesText(V)] - 1, crowd);
      };
      auto Winner = [&] {
        VariantOp Best = Judged[R.below(Judged.size())];
        for (unsigned I = 1; I < tournament; ++I) {
          VariantOp Other = Judged[R.below(Judged.size())];
          if (Strength(Other) > Strength(Best))
            Best = Other;
        }
        return Best;
      };
      llvm::SmallVector<Attribute> Pairs;
      for (unsigned I = 0; I < offspring; ++I) {
        // One after the other: the order of evaluation decides the numbers.
        VariantOp First = Winner();
        VariantOp Second = Winner();
        // Of twins nothing new comes.
        for (unsigned Try = 0;
             Try < 8 && Second.getGenome() == First.getGenome(); ++Try)
          Second = Winner();
        Pairs.push_back(
            B.getArrayAttr({FlatSymbolRefAttr::get(First.getSymNameAttr()),
                            FlatSymbolRefAttr::get(Second.getSymNameAttr())}));
      }
      Kernel->setAttr(ParentsAttr, B.getArrayAttr(Pairs));
    }
  }
};

struct Crossover : cupilot::impl::CrossoverPassBase<Crossover> {
  using CrossoverPassBase::CrossoverPassBase;
  void runOnOperation() override {
    auto Refused = genomesIn(getOperation(), std::vector<std::string>(refused));
    if (!Refused)
      return signalPassFailure();
    GenePool Pool = poolOf(getOperation(), std::vector<std::string>(strategies),
                           {}, *Refused);
    for (KernelOp Kernel : getOperation().getOps<KernelOp>()) {
      auto Pairs = Kernel->getAttrOfType<ArrayAttr>(ParentsAttr);
      if (!Pairs)
        continue;
      Kernel->removeAttr(ParentsAttr);
      Random R(seed, purpose("crossover", Kernel), generation);
      unsigned Index = 0;
      for (Attribute Pair : Pairs) {
        auto Names = cast<ArrayAttr>(Pair).getAsRange<FlatSymbolRefAttr>();
        llvm::SmallVector<VariantOp, 2> Parents;
        for (FlatSymbolRefAttr Name : Names)
          Parents.push_back(dyn_cast_or_null<VariantOp>(
              SymbolTable::lookupSymbolIn(Kernel, Name.getAttr())));
        if (Parents.size() != 2 || !Parents[0] || !Parents[1]) {
          Kernel.emitOpError()
              << "'" << ParentsAttr << "' names variants that are not there";
          return signalPassFailure();
        }
        VariantOp First = Parents[0], Second = Parents[1];
        if (fitnessOf(Second) > fitnessOf(First))
          std::swap(First, Second);
        append(Kernel, generation, Index++,
               Pool.crossover(R, fromAttr(First.getGenome()),
                              fromAttr(Second.getGenome()), isProved(First)),
               {Parents[0].getSymName().str(), Parents[1].getSymName().str()});
      }
    }
  }
};

struct Mutate : cupilot::impl::MutatePassBase<Mutate> {
  using MutatePassBase::MutatePassBase;
  void runOnOperation() override {
    auto Tallies = talliesOf(getOperation(), std::vector<std::string>(tallies));
    auto Refused = genomesIn(getOperation(), std::vector<std::string>(refused));
    if (!Tallies || !Refused)
      return signalPassFailure();
    GenePool Pool =
        poolOf(getOperation(), std::vector<std::string>(strategies), *Tallies,
               *Refused, std::vector<std::string>(favoured));
    if (Pool.empty())
      return;
    for (KernelOp Kernel : getOperation().getOps<KernelOp>()) {
      Random R(seed, purpose("mutate", Kernel), generation);
      llvm::StringSet<> Seen;
      for (const Genome &G : *Refused)
        Seen.insert(genomeText(G));
      for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
        if (V.getOutcome())
          Seen.insert(genomeText(fromAttr(V.getGenome())));
      for (VariantOp V : Kernel.getBody().getOps<VariantOp>()) {
        if (V.getOutcome())
          continue;
        Genome G = fromAttr(V.getGenome());
        // What was judged before teaches nothing: mutate until it is new.
        bool Known = Seen.contains(genomeText(G));
        if (!Known && !R.chance(rate)) {
          Seen.insert(genomeText(G));
          continue;
        }
        const std::set<std::string> Kept =
            keep ? provedOf(V, Kernel) : std::set<std::string>();
        for (unsigned Try = 0; Try < 16; ++Try) {
          G = Pool.mutate(R, std::move(G), Kept);
          if (!G.empty() && !Seen.contains(genomeText(G)))
            break;
        }
        Seen.insert(genomeText(G));
        if (!G.empty())
          V.setGenomeAttr(toAttr(getContext(), G));
      }
    }
  }
};

struct Align : cupilot::impl::AlignPassBase<Align> {
  void runOnOperation() override {
    GenePool Pool = poolOf(getOperation(), {});
    for (KernelOp Kernel : getOperation().getOps<KernelOp>()) {
      llvm::StringSet<> Seen;
      // Judged variants first: an unjudged twin is the one to go.
      for (bool Judged : {true, false})
        for (VariantOp V :
             llvm::make_early_inc_range(Kernel.getBody().getOps<VariantOp>())) {
          if (V.getOutcome().has_value() != Judged)
            continue;
          Genome G = fromAttr(V.getGenome());
          if (!Pool.empty())
            G = Pool.align(std::move(G));
          if (!Seen.insert(genomeText(G)).second && !Judged) {
            V.erase();
            continue;
          }
          if (!G.empty())
            V.setGenomeAttr(toAttr(getContext(), G));
        }
      forgetMissingParents(Kernel);
    }
  }
};

struct Prune : cupilot::impl::PrunePassBase<Prune> {
  using PrunePassBase::PrunePassBase;
  void runOnOperation() override {
    for (KernelOp Kernel : getOperation().getOps<KernelOp>()) {
      // By fitness; of equals the elder stays.
      std::vector<VariantOp> Left;
      for (VariantOp V : Kernel.getBody().getOps<VariantOp>())
        Left.push_back(V);
      std::map<std::string, unsigned> Alike; // Of those that stay.
      for (unsigned Place = 0; Place < keep && !Left.empty(); ++Place) {
        auto Strength = [&](VariantOp V) {
          double Fitness = isDuplicate(V) ? -1 : fitnessOf(V);
          return Place < elite ? Fitness
                               : crowded(Fitness, Alike[strategiesText(V)],
                                         Fitness > 0 ? crowd : 0);
        };
        auto Best = llvm::max_element(Left, [&](VariantOp A, VariantOp B) {
          return Strength(A) < Strength(B);
        });
        ++Alike[strategiesText(*Best)];
        Left.erase(Best);
      }
      for (VariantOp V : Left)
        V.erase();
      forgetMissingParents(Kernel);
    }
  }
};

} // namespace
