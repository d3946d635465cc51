//===- Genetics.cpp - Crossover and mutation of strategies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Portable/Digest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace cupilot {

static uint64_t streamSeed(uint64_t Seed, StringRef Purpose,
                           uint64_t Generation) {
  std::string Digest =
      DigestBuilder().add(Seed).add(Purpose).add(Generation).str();
  uint64_t Value = 0;
  StringRef(Digest).substr(3, 16).getAsInteger(16, Value);
  return Value;
}

Random::Random(uint64_t Seed, StringRef Purpose, uint64_t Generation)
    : Engine(streamSeed(Seed, Purpose, Generation)) {}

uint64_t Random::below(uint64_t Bound) {
  // Rejection keeps it exactly uniform.
  uint64_t Limit = Engine.max() - Engine.max() % Bound;
  uint64_t Value = Engine();
  while (Value >= Limit)
    Value = Engine();
  return Value % Bound;
}

std::vector<Gene> StrategyInfo::genes(size_t Most) const {
  std::vector<Gene> All{{Name, {}}};
  for (const Param &P : Params) {
    std::vector<Gene> Longer;
    for (const Gene &G : All)
      for (size_t I = 0; I < std::max(P.Values.size(), P.Words.size()); ++I) {
        if (Longer.size() == Most)
          break;
        Longer.push_back(G);
        Longer.back().Params.push_back({P.Name,
                                        P.Words.empty() ? P.Values[I] : 0,
                                        P.Words.empty() ? "" : P.Words[I]});
      }
    All = std::move(Longer);
  }
  return All;
}

/// Genes of a strategy that are looked at for favoured ones.
static constexpr size_t MostFavoured = 256;

GenePool::GenePool(std::vector<StrategyInfo> All,
                   std::map<std::string, StrategyTally> Tallies,
                   std::set<std::string> Refused,
                   const std::set<std::string> &Favoured)
    : Strategies(std::move(All)), Tallies(std::move(Tallies)),
      Refused(std::move(Refused)) {
  if (!this->Refused.empty())
    erase_if(Strategies, [&](const StrategyInfo &S) {
      return all_of(S.genes(this->Refused.size() + 1), [&](const Gene &G) {
        return this->Refused.count(G.str()) != 0;
      });
    });
  if (Favoured.empty())
    return;
  for (const StrategyInfo &S : Strategies)
    for (Gene &G : S.genes(MostFavoured))
      if (std::string Text = G.str();
          Favoured.count(Text) && !this->Refused.count(Text))
        this->Favoured[S.Name].push_back(std::move(G));
}

const StrategyInfo *GenePool::find(StringRef Name) const {
  auto It = llvm::find_if(
      Strategies, [&](const StrategyInfo &S) { return S.Name == Name; });
  return It == Strategies.end() ? nullptr : &*It;
}

bool GenePool::inConflict(StringRef A, StringRef B) const {
  const StrategyInfo *SA = find(A), *SB = find(B);
  return (SA && is_contained(SA->Conflicts, B)) ||
         (SB && is_contained(SB->Conflicts, A));
}

static bool has(const Genome &G, StringRef Name) {
  return any_of(G, [&](const Gene &Each) { return Each.Strategy == Name; });
}

Genome GenePool::align(Genome G) const {
  Genome Aligned;
  for (const StrategyInfo &S : Strategies)
    for (Gene &Each : G)
      if (Each.Strategy == S.Name) {
        Aligned.push_back(std::move(Each));
        break;
      }
  return Aligned;
}

Gene GenePool::randomGene(Random &R, const StrategyInfo &S) const {
  if (auto It = Favoured.find(S.Name); It != Favoured.end() && R.chance(80))
    return It->second[R.below(It->second.size())];
  auto Draw = [&] {
    Gene G{S.Name, {}};
    for (const StrategyInfo::Param &P : S.Params) {
      if (!P.Words.empty())
        G.Params.push_back({P.Name, 0, P.Words[R.below(P.Words.size())]});
      else
        G.Params.push_back({P.Name, P.Values[R.below(P.Values.size())], ""});
    }
    return G;
  };
  Gene G = Draw();
  for (unsigned Try = 0; Try < 64 && Refused.count(G.str()); ++Try)
    G = Draw();
  return G;
}

Genome GenePool::repair(Random &R, Genome G) const {
  // Conflicts first: dropping a gene may undo a requirement, never the reverse.
  for (size_t I = 0; I < G.size(); ++I)
    for (size_t J = I + 1; J < G.size();) {
      if (!inConflict(G[I].Strategy, G[J].Strategy)) {
        ++J;
        continue;
      }
      if (R.chance(50))
        std::swap(G[I], G[J]);
      G.erase(G.begin() + J);
      J = I + 1; // The gene at I may be another one now.
    }
  // What went stays away: required by another, it would come and go for ever.
  StringSet<> Gone;
  for (size_t I = 0; I < G.size(); ++I) {
    const StrategyInfo *S = find(G[I].Strategy);
    bool Possible = S != nullptr;
    Genome Added;
    for (const std::string &Name :
         S ? ArrayRef<std::string>(S->Requires) : ArrayRef<std::string>()) {
      if (has(G, Name))
        continue;
      const StrategyInfo *Needed = find(Name);
      Possible &=
          Needed && !Gone.contains(Name) && none_of(G, [&](const Gene &Other) {
            return inConflict(Other.Strategy, Name);
          });
      if (Possible)
        Added.push_back(randomGene(R, *Needed));
    }
    if (Possible) {
      append_range(G, Added);
      continue;
    }
    Gone.insert(G[I].Strategy);
    G.erase(G.begin() + I);
    I = static_cast<size_t>(-1); // Others may have required the one that went.
  }
  return align(std::move(G));
}

/// A number from the Beta distribution of \p T, of which nothing was known
/// before: the order statistic of uniform numbers, which needs no function that
/// rounds differently elsewhere. In units of 2^-32.
static uint64_t drawBeta(Random &R, const StrategyTally &T) {
  // More than this says no more, and costs a draw each.
  constexpr uint64_t Most = 62;
  uint64_t Helped = std::min(T.Helped, T.Tried), Tried = T.Tried;
  if (Tried > Most) {
    Helped = Helped * Most / Tried;
    Tried = Most;
  }
  std::vector<uint64_t> Draws(Tried + 1);
  for (uint64_t &Draw : Draws)
    Draw = R.below(uint64_t(1) << 32);
  std::nth_element(Draws.begin(), Draws.begin() + Helped, Draws.end());
  return Draws[Helped];
}

const StrategyInfo &GenePool::pick(Random &R) const {
  if (Tallies.empty())
    return Strategies[R.below(Strategies.size())];
  const StrategyInfo *Best = nullptr;
  uint64_t Most = 0;
  for (const StrategyInfo &S : Strategies) {
    auto Known = Tallies.find(S.Name);
    uint64_t Drawn =
        drawBeta(R, Known == Tallies.end() ? StrategyTally() : Known->second);
    if (!Best || Drawn > Most) {
      Best = &S;
      Most = Drawn;
    }
  }
  return *Best;
}

std::optional<std::pair<std::string, StrategyTally>>
parseTally(StringRef Text) {
  SmallVector<StringRef> Parts;
  Text.split(Parts, ':');
  StrategyTally T;
  if (Parts.size() != 3 || Parts[0].empty() ||
      Parts[1].getAsInteger(10, T.Tried) ||
      Parts[2].getAsInteger(10, T.Helped) || T.Helped > T.Tried)
    return std::nullopt;
  return std::pair(Parts[0].str(), T);
}

std::string tallyText(StringRef Strategy, const StrategyTally &T) {
  return (Strategy + ":" + utostr(T.Tried) + ":" + utostr(T.Helped)).str();
}

Genome GenePool::random(Random &R, unsigned Genes) const {
  Genome G;
  for (unsigned Try = 0; G.empty() && Try < 16; ++Try) {
    for (unsigned I = 0; I < Genes; ++I) {
      const StrategyInfo &S = pick(R);
      if (!has(G, S.Name))
        G.push_back(randomGene(R, S));
    }
    G = repair(R, std::move(G));
  }
  return G;
}

Genome GenePool::crossover(Random &R, const Genome &A, const Genome &B,
                           bool KeepA) const {
  Genome Child;
  for (const StrategyInfo &S : Strategies) {
    auto InA = find_if(A, [&](const Gene &G) { return G.Strategy == S.Name; });
    auto InB = find_if(B, [&](const Gene &G) { return G.Strategy == S.Name; });
    bool FromA = InA != A.end(), FromB = InB != B.end();
    if (FromA && FromB)
      Child.push_back(R.chance(50) ? *InA : *InB);
    else if (FromA && KeepA)
      Child.push_back(*InA);
    else if (FromB && KeepA && any_of(A, [&](const Gene &G) {
               return inConflict(G.Strategy, S.Name);
             }))
      continue;
    else if ((FromA || FromB) && R.chance(50))
      Child.push_back(FromA ? *InA : *InB);
  }
  if (Child.empty())
    Child = A.empty() ? B : A;
  return repair(R, std::move(Child));
}

Genome GenePool::mutate(Random &R, Genome G,
                        const std::set<std::string> &Kept) const {
  uint64_t Kind = R.below(3);
  if (Kind == 0 || G.empty()) { // One more.
    const StrategyInfo &S = pick(R);
    if (!has(G, S.Name) && none_of(Kept, [&](const std::string &Name) {
          return inConflict(Name, S.Name);
        }))
      G.push_back(randomGene(R, S));
    return repair(R, std::move(G));
  }
  size_t Which = R.below(G.size());
  if (Kind == 1 && G.size() > 1 && !Kept.count(G[Which].Strategy)) {
    // One less.
    G.erase(G.begin() + Which);
    return repair(R, std::move(G));
  }
  if (const StrategyInfo *S = find(G[Which].Strategy))
    G[Which] = randomGene(R, *S);
  return repair(R, std::move(G));
}

} // namespace cupilot
