//===- Handshake.cpp - Which genes code really has -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a strategy looks like in code stands in the library (shown_by): here are
// the facts and probes that it can name. A gene is denied only where code with
// it cannot look so; a strategy without signs stays when the model names it.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Ptx/Print.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;

namespace cupilot {

bool CodeFacts::has(StringRef Text) const {
  return StringRef(Words).contains(Text);
}

static bool isShared(ptx::Space S) {
  return S == ptx::Space::Shared || S == ptx::Space::SharedCta ||
         S == ptx::Space::SharedCluster;
}

static unsigned vectorSize(const ptx::Instruction &I) {
  return I.has("v8") ? 8 : I.has("v4") ? 4 : I.has("v2") ? 2 : 1;
}

/// Bytes that "ld.global.nc.v4.f32" moves; 0 for other instructions.
static unsigned globalBytes(const ptx::Instruction &I) {
  if (I.Opcode != "ld" && I.Opcode != "st")
    return 0;
  unsigned Bits = 0;
  for (std::string_view Modifier : I.Modifiers) {
    // Without a space it may be any; those of other spaces say so.
    if (std::optional<ptx::Space> S = ptx::spaceOf(Modifier);
        S && *S != ptx::Space::Global)
      return 0;
    if (std::optional<ptx::Type> T = ptx::typeOf(Modifier))
      Bits = ptx::bitsOf(*T);
  }
  return vectorSize(I) * Bits / 8;
}

namespace {
/// Collects facts of one module.
class FactReader {
public:
  void read(const ptx::Module &M);
  CodeFacts F;

private:
  void read(const ptx::Function &Each);
  void read(ptx::Instruction I);
  void read(ptx::Declaration D);

  std::set<std::string_view> Labels; ///< Of the function, up to here.
};
} // namespace

void FactReader::read(ptx::Instruction I) {
  ++F.Instructions;
  unsigned Bytes = globalBytes(I);
  F.WidestAccess = std::max(F.WidestAccess, Bytes);
  F.Vectors |= Bytes != 0 && vectorSize(I) > 1;
  for (std::string_view Modifier : I.Modifiers)
    if (std::optional<ptx::Space> S = ptx::spaceOf(Modifier))
      F.Shared |= isShared(*S);
  if (I.Opcode == "bra" && !I.Operands.empty())
    F.BackwardBranches += Labels.contains(I.Operands.front().Name);
  // A predicate is no part of the instruction.
  I.Guard = {};
  F.Words += ptx::print(ptx::Statement{std::move(I), {}}) + "\n";
}

void FactReader::read(ptx::Declaration D) {
  for (ptx::Variable &V : D.Variables) {
    F.Shared |= isShared(V.In);
    V.Initial = {};
  }
  F.Words += ptx::print(ptx::Statement{std::move(D), {}}) + "\n";
}

void FactReader::read(const ptx::Function &Each) {
  Labels.clear();
  ptx::Function Head;
  Head.Name = Each.Name;
  Head.IsKernel = Each.IsKernel;
  Head.Link = Each.Link;
  Head.Results = Each.Results;
  Head.Parameters = Each.Parameters;
  Head.Tunings = Each.Tunings;
  F.Words += ptx::print(ptx::Item{std::move(Head), {}});
  for (const ptx::Statement &S : Each.Body) {
    if (const auto *I = S.as<ptx::Instruction>())
      read(*I);
    else if (const auto *L = S.as<ptx::Label>())
      Labels.insert(L->Name);
    else if (const auto *D = S.as<ptx::Declaration>())
      read(*D);
  }
}

void FactReader::read(const ptx::Module &M) {
  F.Known = true;
  for (const ptx::Item &Each : M.Items) {
    if (const auto *Code = Each.as<ptx::Function>())
      read(*Code);
    else if (const auto *D = Each.as<ptx::Declaration>())
      read(*D);
  }
}

CodeFacts codeFacts(StringRef Ptx) {
  FactReader Reader;
  ptx::Diagnostic Why;
  if (std::optional<ptx::Module> M = ptx::readModule(Ptx.str(), Why))
    Reader.read(*M);
  return std::move(Reader.F);
}

namespace {
/// One candidate's hands.
class Handshake {
public:
  Handshake(const HandshakeCode &Code)
      : P(Code.P), Plan(Code.Variant.Record.Code->Plan),
        Source(Code.Variant.Record.Code->Source),
        Old(codeFacts(Code.OriginalPtx)), New(codeFacts(Code.Variant.Ptx)) {}
  /// Why the gene cannot be there; nothing when it may. May put its values
  /// right.
  std::optional<std::string> denies(Gene &G, const LibraryStrategy &S) const;

private:
  using Denial = std::optional<std::string>;
  Denial denies(PlanFact F) const;
  Denial denies(CodeProbe Probe, Gene &G, const LibraryStrategy &S) const;
  Denial instructions(ArrayRef<mlir::StringAttr> Any) const;
  Denial blockThreads(Gene &G, const LibraryStrategy &S) const;
  Denial widerAccess() const;
  /// Threads (or blocks) of all launches of the plan, and of the original, on
  /// the first workload that can be reckoned.
  std::optional<std::pair<double, double>> sizes(bool Blocks) const;

  const SearchProblem &P;
  const LaunchPlan &Plan;
  StringRef Source;
  const CodeFacts Old, New;
};
} // namespace

/// Nothing where \p Shown, else \p Why not.
static std::optional<std::string> unless(bool Shown, const Twine &Why) {
  if (Shown)
    return std::nullopt;
  return Why.str();
}

std::optional<std::string>
Handshake::instructions(ArrayRef<mlir::StringAttr> Any) const {
  if (!New.Known)
    return std::nullopt;
  auto Patterns =
      map_range(Any, [](mlir::StringAttr A) { return A.getValue(); });
  return unless(any_of(Patterns, [&](StringRef T) { return New.has(T); }),
                "no " + join(Patterns, ", ") + " in the device code");
}

std::optional<std::pair<double, double>> Handshake::sizes(bool Blocks) const {
  for (const Workload &W : P.Workloads) {
    Expected<Bindings> B = bindLaunch(W.Shape, P.K.Scalars, W.Args);
    if (!B) {
      consumeError(B.takeError());
      continue;
    }
    double Before = 1, After = 0;
    for (unsigned I = 0; I < 3; ++I)
      Before *=
          double(W.Shape.Grid[I]) * (Blocks ? 1 : double(W.Shape.Block[I]));
    bool Known = true;
    for (const Launch &L : Plan.Launches) {
      double Size = 1;
      for (unsigned I = 0; I < 3; ++I) {
        std::optional<int64_t> G = evaluate(L.Grid[I], *B),
                               T = evaluate(L.Block[I], *B);
        Known &= G && T;
        Size *= double(G.value_or(0)) * (Blocks ? 1 : double(T.value_or(0)));
      }
      // The others prepare or combine: the largest one does the work.
      After = std::max(After, Size);
    }
    if (Known)
      return std::pair(Before, After);
  }
  return std::nullopt;
}

std::optional<std::string>
Handshake::blockThreads(Gene &G, const LibraryStrategy &S) const {
  GeneParam *Threads = G.Params.empty() ? nullptr : &G.Params.front();
  std::vector<int64_t> Sizes;
  for (const Launch &L : Plan.Launches) {
    if (L.Block == Launch().Block)
      continue;
    std::optional<int64_t> First = evaluate(L.Block[0], Bindings()),
                           Product = First;
    for (unsigned I = 1; I < 3; ++I)
      if (std::optional<int64_t> Size = evaluate(L.Block[I], Bindings());
          Size && Product)
        *Product *= *Size;
      else
        Product.reset();
    // Sizes that depend on the launch have no one number.
    if (!First || *First <= 0 || !Product || *Product <= 0)
      return std::nullopt;
    if (Threads && (*First == Threads->Value || *Product == Threads->Value))
      return std::nullopt;
    Sizes.push_back(*Product);
    Sizes.push_back(*First);
  }
  if (Sizes.empty())
    return "the plan's blocks are those of the original";
  for (const StrategyInfo::Param &Domain : S.Info.Params)
    for (int64_t Size : Sizes)
      if (Threads && Domain.Name == Threads->Name &&
          is_contained(Domain.Values, Size)) {
        Threads->Value = Size;
        return std::nullopt;
      }
  return "the plan's blocks have " + std::to_string(Sizes.front()) + " threads";
}

std::optional<std::string> Handshake::widerAccess() const {
  // How many elements a register holds is not to be seen: of widths nothing
  // is said.
  return unless(New.Vectors || New.WidestAccess > Old.WidestAccess,
                "no access to global memory is wider than the original's " +
                    Twine(Old.WidestAccess) + " bytes");
}

std::optional<std::string> Handshake::denies(PlanFact F) const {
  auto AnyLaunch = [&](auto Has) { return any_of(Plan.Launches, Has); };
  switch (F) {
  case PlanFact::MoreLaunches:
    return unless(Plan.Launches.size() > 1, "the plan has one launch");
  case PlanFact::MoreBlocks: {
    auto Blocks = sizes(/*Blocks=*/true);
    return unless(!Blocks || Blocks->second > Blocks->first,
                  "no more blocks are launched");
  }
  case PlanFact::FewerThreads: {
    auto Threads = sizes(/*Blocks=*/false);
    return unless(!Threads || Threads->second < Threads->first,
                  "no fewer threads are launched");
  }
  case PlanFact::ResidentBlocks: {
    auto Blocks = sizes(/*Blocks=*/true);
    double Most = double(P.Gpu.Multiprocessors) * P.Gpu.MaxBlocksPerSM;
    return unless(!Blocks || Blocks->second <= Most,
                  "more blocks are launched than the GPU can hold");
  }
  case PlanFact::Cluster:
    return unless(AnyLaunch([](const Launch &L) { return !!L.Cluster; }),
                  "the plan launches no clusters");
  case PlanFact::Scratch:
    return unless(!Plan.Scratch.empty(), "the plan has no scratch buffer");
  case PlanFact::TensorMap:
    return unless(!Plan.TensorMaps.empty(), "the plan has no tensor map");
  }
  llvm_unreachable("a fact without a reader");
}

std::optional<std::string> Handshake::denies(CodeProbe Probe, Gene &G,
                                             const LibraryStrategy &S) const {
  // Nothing is denied that cannot be seen.
  if (!New.Known || !Old.Known)
    return std::nullopt;
  switch (Probe) {
  case CodeProbe::SharedMemory:
    return unless(New.Shared, "the device code has no shared memory");
  case CodeProbe::WiderAccess:
    return widerAccess();
  case CodeProbe::MoreUnrolled:
    // The original's loops may have been unrolled by the compiler, too: where
    // the source asks for it, the number of instructions says nothing.
    return unless(Source.contains("unroll") ||
                      New.Instructions > Old.Instructions ||
                      New.BackwardBranches < Old.BackwardBranches ||
                      Old.BackwardBranches == 0,
                  "the source does not ask for it, there are as many loops as "
                  "in the original, and no more instructions");
  case CodeProbe::BlockThreads:
    return blockThreads(G, S);
  case CodeProbe::InlineAssembly:
    return unless(Source.contains("asm"), "the source has no inline PTX");
  }
  llvm_unreachable("a probe without a reader");
}

std::optional<std::string> Handshake::denies(Gene &G,
                                             const LibraryStrategy &S) const {
  for (SignAttr Sign : S.ShownBy) {
    SmallVector<std::string> Missing;
    // True when one of the alternatives is there.
    auto Shows = [&](Denial D) {
      if (D)
        Missing.push_back(std::move(*D));
      return !D;
    };
    if (any_of(Sign.getPlan(), [&](PlanFact F) { return Shows(denies(F)); }) ||
        any_of(Sign.getProbes(),
               [&](CodeProbe Each) { return Shows(denies(Each, G, S)); }) ||
        (!Sign.getInstructions().empty() &&
         Shows(instructions(Sign.getInstructions()))))
      continue;
    return join(Missing, ", and ");
  }
  return std::nullopt;
}

HandshakeResult shakeHands(const Genome &Asked,
                           const std::vector<std::string> *CarriedOut,
                           const HandshakeCode &Code,
                           ArrayRef<LibraryStrategy> Library) {
  Handshake Hands(Code);
  HandshakeResult R;
  auto Find = [&](StringRef Name) -> const LibraryStrategy * {
    for (const LibraryStrategy &S : Library)
      if (S.Info.Name == Name)
        return &S;
    return nullptr;
  };
  for (const Gene &Each : Asked) {
    Gene G = Each;
    // Models write "unroll" as well as "unroll{factor=4}".
    bool Named = !CarriedOut || any_of(*CarriedOut, [&](StringRef Text) {
      return Text.take_until([](char C) { return C == '{' || C == '('; })
                 .trim(" \t`'\"@") == G.Strategy;
    });
    std::optional<std::string> Why;
    if (!Named)
      Why = "the model does not name it";
    else if (const LibraryStrategy *S = Find(G.Strategy))
      Why = Hands.denies(G, *S);
    if (Why)
      R.Denied.push_back({Each.str(), std::move(*Why)});
    else
      R.Carried.push_back(std::move(G));
  }
  // What cannot stand alone goes with what it stands on.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (size_t I = 0; I < R.Carried.size(); ++I) {
      const LibraryStrategy *S = Find(R.Carried[I].Strategy);
      if (!S)
        continue;
      auto Missing = find_if(S->Info.Requires, [&](const std::string &Name) {
        return none_of(R.Carried, [&](const Gene &Other) {
          return Other.Strategy == Name;
        });
      });
      if (Missing == S->Info.Requires.end())
        continue;
      R.Denied.push_back({R.Carried[I].str(), "it requires " + *Missing});
      R.Carried.erase(R.Carried.begin() + I);
      Changed = true;
      break;
    }
  }
  return R;
}

} // namespace cupilot
