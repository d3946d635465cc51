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
  addNew<ModulusFact>(A.Moduli, B.Moduli, [](const auto &L, const auto &R) {
    return L.E == R.E && L.Modulus == R.Modulus;
  });
  addNew<ThresholdFact>(A.Thresholds, B.Thresholds,
                        [](const auto &L, const auto &R) {
                          return L.E == R.E && L.Value == R.Value;
                        });
  addNew<FloatThresholdFact>(
      A.FloatThresholds, B.FloatThresholds, [](const auto &L, const auto &R) {
        return L.Number == R.Number && L.Value == R.Value;
      });
  A.Narrowings.insert(A.Narrowings.end(), B.Narrowings.begin(),
                      B.Narrowings.end());
  return A;
}

} // namespace cupilot
