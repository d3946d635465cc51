//===- Link.cpp - One PTX module of several ---------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Link.h"
#include "cupilot/Ptx/Print.h"
#include <algorithm>
#include <unordered_set>

namespace cupilot::ptx {

namespace {
/// What an item gives a name to.
struct Symbol {
  std::string_view Name; ///< "": nothing.
  Linkage Link = Linkage::Internal;
  bool Defines = false;
};
} // namespace

static Symbol symbolOf(const Item &I) {
  if (const auto *F = I.as<Function>())
    return {F->Name, F->Link, F->HasBody};
  if (const auto *A = I.as<Alias>())
    return {A->Name, Linkage::Visible, true};
  if (const auto *D = I.as<Declaration>(); D && !D->Variables.empty()) {
    const Variable &V = D->Variables.front();
    return {V.Name, V.Link, V.Link != Linkage::Extern};
  }
  return {};
}

/// The unit's source files get numbers from \p First on. What names sections
/// goes with them.
static Item renumbered(Item I, uint64_t First) {
  if (auto *File = std::get_if<SourceFile>(&I.Is))
    File->Number += First;
  auto *F = std::get_if<Function>(&I.Is);
  if (!F)
    return I;
  for (Statement &S : F->Body)
    if (auto *L = std::get_if<Location>(&S.Is)) {
      L->File += First;
      L->Function = "";
      L->FunctionOffset = 0;
      L->Inlined = false;
    }
  return I;
}

/// "sm_90a": the number, and with the same number, a letter is more.
static std::pair<unsigned, size_t> rank(std::string_view Target) {
  unsigned Number = 0;
  for (char C : Target)
    if (C >= '0' && C <= '9')
      Number = Number * 10 + static_cast<unsigned>(C - '0');
  return {Number, Target.size()};
}

std::string link(const std::vector<Module> &Units) {
  Version Needs;
  std::string_view Target;
  std::unordered_map<std::string_view, unsigned> Users; // Units, by name.
  std::unordered_set<std::string_view> Defined;
  for (const Module &M : Units) {
    Needs = std::max(Needs, M.Needs);
    for (std::string_view T : M.Target)
      if (T.substr(0, 3) == "sm_" && rank(T) > rank(Target))
        Target = T;
    std::unordered_set<std::string_view> Names;
    for (const Item &I : M.Items) {
      Symbol S = symbolOf(I);
      if (!S.Name.empty() && Names.insert(S.Name).second)
        ++Users[S.Name];
      if (S.Defines && S.Link != Linkage::Internal)
        Defined.insert(S.Name);
    }
  }
  std::string Text = ".version " + std::to_string(Needs.Major) + "." +
                     std::to_string(Needs.Minor) + "\n.target " +
                     std::string(Target) + "\n.address_size 64\n";
  std::unordered_set<std::string_view> Declared, Kept;
  for (size_t Unit = 0; Unit < Units.size(); ++Unit) {
    const Module &M = Units[Unit];
    std::unordered_set<std::string_view> Own;
    for (const Item &I : M.Items)
      if (Symbol S = symbolOf(I);
          !S.Name.empty() && Users[S.Name] > 1 && S.Link == Linkage::Internal)
        Own.insert(S.Name);
    PrintOptions Options;
    Options.Rename = [&](std::string_view Name) {
      std::string Result(Name);
      if (Own.count(Name))
        Result += "$unit" + std::to_string(Unit);
      return Result;
    };
    for (const Item &I : M.Items) {
      if (I.as<Section>())
        continue;
      Symbol S = symbolOf(I);
      bool Shared = !S.Name.empty() && !Own.count(S.Name);
      // One declaration is enough, and none beside a definition of another
      // unit.
      if (Shared && !S.Defines && S.Link == Linkage::Extern &&
          (Defined.count(S.Name) || !Declared.insert(S.Name).second))
        continue;
      if (Shared && S.Defines &&
          (S.Link == Linkage::Weak || S.Link == Linkage::Common) &&
          !Kept.insert(S.Name).second)
        continue;
      // Numbers of files are small; a unit has less than that.
      Text += print(renumbered(I, Unit << 20), Options);
      Text += '\n';
    }
  }
  return Text;
}

} // namespace cupilot::ptx
