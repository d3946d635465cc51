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
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace cupilot {

bool CodeFacts::has(StringRef Text) const {
  return StringRef(Words).contains(Text);
}

/// Bytes that "ld.global.nc.v4.f32" moves; 0 for other instructions.
static unsigned globalBytes(StringRef Word) {
  bool Load = Word.consume_front("ld."),
       Store = !Load && Word.consume_front("st.");
  if (!Load && !Store)
    return 0;
  SmallVector<StringRef> Parts;
  Word.split(Parts, '.');
  // Without a space it may be any; those of other spaces say so.
  if (any_of(Parts, [](StringRef P) {
        return P == "shared" || P == "local" || P == "param" || P == "const";
      }))
    return 0;
  unsigned Count = 1, Bits = 0;
  for (StringRef P : Parts) {
    unsigned Number;
    if (StringRef Rest = P;
        Rest.consume_front("v") && !Rest.getAsInteger(10, Number))
      Count = Number;
    else if (StringRef Rest = P; !Rest.empty() && isAlpha(Rest.front()) &&
                                 !Rest.drop_front().getAsInteger(10, Number) &&
                                 StringRef("bsuf").contains(Rest.front()))
      Bits = Number;
  }
  return Count * Bits / 8;
}

CodeFacts codeFacts(StringRef Ptx) {
  CodeFacts F;
  StringSet<> Labels;
  bool InKernel = false;
  for (StringRef Rest = Ptx; !Rest.empty();) {
    auto [Whole, Behind] = Rest.split('\n');
    Rest = Behind;
    StringRef Line = Whole.split("//").first.trim();
    InKernel |= Line == "{";
    if (Line.empty())
      continue;
    if (Line.starts_with("$") && Line.ends_with(":")) {
      Labels.insert(Line.drop_back());
      continue;
    }
    F.Shared |= Line.contains(".shared");
    // A predicate stands before its instruction.
    StringRef Text = Line;
    if (Text.consume_front("@"))
      Text =
          Text.drop_while([](char C) { return C != ' ' && C != '\t'; }).ltrim();
    StringRef Word = Text.take_until(
        [](char C) { return C == ' ' || C == '\t' || C == ';'; });
    if (Word.starts_with(".") || !InKernel) {
      F.Words += (Line + "\n").str();
      continue;
    }
    if (Word.empty() || !isAlpha(Word.front()))
      continue;
    ++F.Instructions;
    F.Words += (Text + "\n").str();
    F.WidestAccess = std::max(F.WidestAccess, globalBytes(Word));
    if (Word.starts_with("bra"))
      F.BackwardBranches +=
          Labels.contains(Text.drop_front(Word.size()).trim(" \t;"));
  }
  return F;
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
  bool Vectors = false;
  for (StringRef Rest = New.Words; !Rest.empty() && !Vectors;) {
    auto [Line, Behind] = Rest.split('\n');
    Rest = Behind;
    StringRef Word =
        Line.take_until([](char C) { return C == ' ' || C == '\t'; });
    Vectors =
        globalBytes(Word) && (Word.contains(".v2.") || Word.contains(".v4.") ||
                              Word.contains(".v8."));
  }
  return unless(Vectors || New.WidestAccess > Old.WidestAccess,
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
