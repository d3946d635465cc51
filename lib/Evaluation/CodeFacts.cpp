//===- CodeFacts.cpp - What device code does with its input -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeFacts.h"
#include "FactCollector.h"
#include "Polynomial.h"

using namespace llvm;

namespace cupilot {

static Error collect(const PreparedCode &Code, const Kernel &K,
                     StringRef Symbol, const LaunchTerms &Terms,
                     CodeFacts &Found) {
  Expected<Function *> F = Code.kernel(Symbol);
  if (!F)
    return F.takeError();
  Dependence Of(**F, K, Terms);
  FactCollector(Of, Found).run();
  return Error::success();
}

Expected<CodeFacts> factsOf(const Kernel &K, StringRef Bitcode,
                            ArrayRef<std::string> Symbols, bool OwnLaunch) {
  Expected<PreparedCode> Code = prepareCode(Bitcode);
  if (!Code)
    return Code.takeError();
  LaunchTerms Terms = OwnLaunch ? ownLaunch() : LaunchTerms();
  CodeFacts Found;
  for (const std::string &Symbol : Symbols)
    if (Error E = collect(*Code, K, Symbol, Terms, Found))
      return std::move(E);
  return Found;
}

/// Tiles by which a plan divides sizes.
static void addTiles(const Expr &E, CodeFacts &Found) {
  for (const Expr &O : E.Operands)
    addTiles(O, Found);
  if (E.K != Expr::Kind::CeilDiv && E.K != Expr::Kind::FloorDiv &&
      E.K != Expr::Kind::Mod)
    return;
  if (E.Operands[1].K == Expr::Kind::Constant)
    noteModulus(Found, Polynomial::of(E.Operands[0]), E.Operands[1].Value, "");
}

Expected<CodeFacts> factsOf(const Kernel &K, StringRef Bitcode,
                            const LaunchPlan &Plan) {
  Expected<PreparedCode> Code = prepareCode(Bitcode);
  if (!Code)
    return Code.takeError();
  CodeFacts Found;
  for (const Launch &L : Plan.Launches)
    if (Error E = collect(*Code, K, L.Symbol, termsOf(L), Found))
      return std::move(E);
  for (const Launch &L : Plan.Launches)
    for (const Expr &Blocks : L.Grid)
      addTiles(Blocks, Found);
  return Found;
}

template <class T>
static void addNew(std::vector<T> &To, const std::vector<T> &From,
                   function_ref<bool(const T &, const T &)> Same) {
  for (const T &New : From)
    if (none_of(To, [&](const T &Old) { return Same(Old, New); }))
      To.push_back(New);
}

static void join(ValueUse &To, const ValueUse &From) {
  To.Used |= From.Used;
  To.Decides |= From.Decides;
  To.Addresses |= From.Addresses;
  To.Narrowed |= From.Narrowed;
}

static bool isSame(const ModulusFact &L, const ModulusFact &R) {
  return L.E == R.E && L.Modulus == R.Modulus;
}
static bool isSame(const ThresholdFact &L, const ThresholdFact &R) {
  return L.E == R.E && L.Value == R.Value;
}
static bool isSame(const FloatThresholdFact &L, const FloatThresholdFact &R) {
  return L.Number == R.Number && L.Value == R.Value;
}

CodeFacts onlyInBuilt(const CodeFacts &Built, const CodeFacts &Sources) {
  // Loops are unrolled so often at most, and end with rests of it.
  constexpr int64_t MostUnrolled = 16;
  CodeFacts Only;
  Only.Floats = Built.Floats;
  auto Add = [](auto &To, const auto &From, const auto &Known) {
    copy_if(From, std::back_inserter(To), [&](const auto &F) {
      return none_of(Known, [&](const auto &K) { return isSame(F, K); });
    });
  };
  Add(Only.Moduli, Built.Moduli, Sources.Moduli);
  Add(Only.Thresholds, Built.Thresholds, Sources.Thresholds);
  Add(Only.FloatThresholds, Built.FloatThresholds, Sources.FloatThresholds);
  erase_if(Only.Moduli,
           [](const ModulusFact &M) { return M.Modulus <= MostUnrolled; });
  erase_if(Only.Thresholds, [](const ThresholdFact &T) {
    return std::abs(T.Value) <= MostUnrolled;
  });
  return Only;
}

CodeFacts both(CodeFacts A, const CodeFacts &B) {
  A.Scalars.resize(std::max(A.Scalars.size(), B.Scalars.size()));
  A.Pointers.resize(std::max(A.Pointers.size(), B.Pointers.size()));
  for (size_t I = 0; I < B.Scalars.size(); ++I)
    join(A.Scalars[I], B.Scalars[I]);
  for (size_t I = 0; I < B.Pointers.size(); ++I)
    join(A.Pointers[I], B.Pointers[I]);
  for (auto [To, From] : zip(A.Dims, B.Dims))
    join(To, From);
  for (const auto &[Number, Use] : B.Floats) {
    auto At = find_if(A.Floats, [&](auto &F) { return F.first == Number; });
    if (At == A.Floats.end())
      A.Floats.push_back({Number, Use});
    else
      join(At->second, Use);
  }
  addNew<Expr>(A.Products, B.Products,
               [](const Expr &L, const Expr &R) { return L == R; });
  auto Same = [](const auto &L, const auto &R) { return isSame(L, R); };
  addNew<ModulusFact>(A.Moduli, B.Moduli, Same);
  addNew<ThresholdFact>(A.Thresholds, B.Thresholds, Same);
  addNew<FloatThresholdFact>(A.FloatThresholds, B.FloatThresholds, Same);
  A.Narrowings.insert(A.Narrowings.end(), B.Narrowings.begin(),
                      B.Narrowings.end());
  return A;
}

} // namespace cupilot
