//===- Reach.cpp - What a name of a PTX module stands on --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Reach.h"
#include <unordered_set>

namespace cupilot::ptx {

namespace {
class Reach {
public:
  explicit Reach(const Module &M) : M(M) {}
  void name(std::string_view Name) {
    if (!Name.empty() && M.find(Name) && Seen.insert(Name).second)
      Names.push_back(Name);
  }
  void operand(const Operand &O);
  void item(const Item &I);

  std::vector<std::string_view> Names;

private:
  const Module &M;
  std::unordered_set<std::string_view> Seen;
};
} // namespace

void Reach::operand(const Operand &O) {
  name(O.Name);
  for (const Operand &Part : O.Parts)
    operand(Part);
}

void Reach::item(const Item &I) {
  if (const auto *A = I.as<Alias>())
    name(A->Of);
  if (const auto *D = I.as<Declaration>())
    for (const Variable &V : D->Variables)
      for (const InitialAddress &A : V.Initial.Addresses)
        name(A.Name);
  const auto *F = I.as<Function>();
  if (!F)
    return;
  for (const Statement &S : F->Body) {
    if (const auto *Each = S.as<Instruction>())
      for (const Operand &O : Each->Operands)
        operand(O);
    else if (const auto *T = S.as<Targets>(); T && T->OfCalls)
      for (std::string_view Each : T->Names)
        name(Each);
  }
}

std::vector<std::string_view> reachOf(const Module &M, std::string_view Name) {
  Reach R(M);
  R.name(Name);
  for (size_t I = 0; I < R.Names.size(); ++I)
    R.item(*M.find(R.Names[I]));
  return std::move(R.Names);
}

} // namespace cupilot::ptx
