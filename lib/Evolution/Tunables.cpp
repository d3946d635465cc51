//===- Tunables.cpp - Numbers that code leaves open -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Tunables.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>
#include <limits>

using namespace llvm;

namespace cupilot {

uint64_t countSettings(ArrayRef<Tunable> Numbers) {
  uint64_t Product = 1;
  for (const Tunable &T : Numbers)
    Product = std::min<uint64_t>(
        Product * std::min<uint64_t>(T.Values.size(), MostSettings + 1),
        MostSettings + 1);
  return Product;
}

static const StrategyInfo::Param *paramOf(StringRef Name,
                                          const StrategyInfo &S) {
  for (const StrategyInfo::Param &P : S.Params)
    if (P.Name == Name)
      return &P;
  return nullptr;
}

/// What is wrong with \p T; "" for nothing.
static std::string faultOf(const Tunable &T,
                           ArrayRef<LibraryStrategy> Strategies) {
  if (T.Values.empty())
    return "it has no values";
  for (int64_t V : T.Values)
    if (V < 0 || V > std::numeric_limits<int32_t>::max())
      return formatv("{0} is no number from 0 to 2^31 - 1", V).str();
  if (!is_contained(T.Values, T.Value))
    return formatv("{0} is none of its values", T.Value).str();
  const auto *S = find_if(Strategies, [&](const LibraryStrategy &Each) {
    return Each.Info.Name == T.Strategy;
  });
  if (S == Strategies.end())
    return "there is no strategy '" + T.Strategy + "'";
  // A number for which the strategy has no parameter is no part of a genome.
  const StrategyInfo::Param *P = paramOf(T.Param, S->Info);
  if (P && P->Values.empty())
    return "the parameter '" + T.Param + "' of '" + T.Strategy +
           "' is no number";
  return "";
}

Error checkTunables(ArrayRef<Tunable> Numbers, const Kernel &K,
                    ArrayRef<LibraryStrategy> Strategies) {
  StringSet<> Taken{"gx", "gy",     "gz",  "bx",       "by",
                    "bz", "shared", "mod", "floordiv", "ceildiv"};
  Taken.insert_range(scalarNames(K));
  for (const KernelParam &P : K.Params)
    Taken.insert(P.Name);
  for (const Tunable &T : Numbers) {
    std::string Fault = faultOf(T, Strategies);
    if (!Taken.insert(T.Name).second)
      Fault = "the name means something else";
    if (!Fault.empty())
      return findingError("tunables: '" + T.Name + "': " + Fault);
  }
  if (countSettings(Numbers) > MostSettings)
    return findingError("tunables: their domains have more than " +
                        Twine(MostSettings) + " settings together");
  return Error::success();
}

Setting presentSetting(ArrayRef<Tunable> Numbers) {
  Setting Now;
  for (const Tunable &T : Numbers)
    Now.push_back(T.Value);
  return Now;
}

std::vector<Setting> settingsToTry(ArrayRef<Tunable> Numbers, Random &R) {
  const Setting Now = presentSetting(Numbers);
  std::vector<Setting> All;
  auto Add = [&](Setting S) {
    if (S != Now && !is_contained(All, S))
      All.push_back(std::move(S));
  };
  for (auto [I, T] : enumerate(Numbers)) {
    const auto At = find(T.Values, T.Value);
    Setting S = Now;
    if (At != T.Values.end() && At + 1 != T.Values.end()) {
      S[I] = *(At + 1);
      Add(S);
    }
    if (At != T.Values.begin() && At != T.Values.end()) {
      S[I] = *(At - 1);
      Add(S);
    }
  }
  const size_t Near = All.size();
  const uint64_t Count = std::min(countSettings(Numbers), MostSettings);
  std::vector<Setting> Far;
  for (uint64_t Index = 0; Index < Count; ++Index) {
    Setting S;
    uint64_t Rest = Index;
    for (const Tunable &T : Numbers) {
      S.push_back(T.Values[Rest % T.Values.size()]);
      Rest /= T.Values.size();
    }
    if (S != Now && !is_contained(ArrayRef(All).take_front(Near), S))
      Far.push_back(std::move(S));
  }
  for (size_t I = Far.size(); I > 1; --I)
    std::swap(Far[I - 1], Far[R.below(I)]);
  append_range(All, Far);
  return All;
}

std::string settingText(ArrayRef<Tunable> Numbers, const Setting &To) {
  std::string Text;
  for (auto [T, Value] : zip_equal(Numbers, To))
    Text += formatv("{0}{1} = {2}", Text.empty() ? "" : ", ", T.Name, Value);
  return Text;
}

std::string tunablesText(ArrayRef<Tunable> Numbers) {
  std::string Text;
  for (const Tunable &T : Numbers)
    Text += formatv(
        "{0}{1} = {2} of [{3}] ({4}.{5})", Text.empty() ? "" : "; ", T.Name,
        T.Value,
        join(map_range(T.Values, [](int64_t V) { return itostr(V); }), ", "),
        T.Strategy, T.Param);
  return Text;
}

static const StrategyInfo *infoOf(StringRef Strategy,
                                  ArrayRef<StrategyInfo> Strategies) {
  const auto *S = find_if(Strategies, [&](const StrategyInfo &Each) {
    return Each.Name == Strategy;
  });
  return S == Strategies.end() ? nullptr : S;
}

std::vector<Tunable> tunablesOf(const Genome &G,
                                ArrayRef<StrategyInfo> Strategies) {
  std::vector<Tunable> All;
  for (const Gene &Each : G)
    if (const StrategyInfo *S = infoOf(Each.Strategy, Strategies))
      for (const GeneParam &Has : Each.Params)
        if (const StrategyInfo::Param *P = paramOf(Has.Name, *S);
            P && P->Values.size() > 1)
          All.push_back({Each.Strategy + "." + Has.Name, Each.Strategy,
                         Has.Name, P->Values, Has.Value});
  return All;
}

Genome withSetting(Genome G, ArrayRef<Tunable> Numbers, const Setting &To,
                   ArrayRef<StrategyInfo> Strategies) {
  // Of several that are one parameter (the sides of a tile) the first counts.
  for (size_t I = Numbers.size(); I-- > 0;) {
    const Tunable &T = Numbers[I];
    const int64_t Wanted = To[I];
    for (Gene &Each : G) {
      const StrategyInfo *S = Each.Strategy == T.Strategy
                                  ? infoOf(T.Strategy, Strategies)
                                  : nullptr;
      const StrategyInfo::Param *P = S ? paramOf(T.Param, *S) : nullptr;
      if (!P || P->Values.empty())
        continue;
      const int64_t Nearest =
          *llvm::min_element(P->Values, [&](int64_t A, int64_t B) {
            return std::abs(A - Wanted) < std::abs(B - Wanted);
          });
      for (GeneParam &Has : Each.Params)
        if (Has.Name == T.Param)
          Has.Value = Nearest;
    }
  }
  return G;
}

} // namespace cupilot
