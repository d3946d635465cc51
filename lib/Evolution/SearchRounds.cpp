//===- SearchRounds.cpp - A generation of a search -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Making, judging and repairing the candidates of a generation, in the order
// that the journal keeps.
//
//===----------------------------------------------------------------------===//

#include "SearchLoop.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

Error SearchLoop::settle(VariantOp V, const CandidateRecord &R,
                         unsigned Generation) {
  // What the code has goes on, not what was asked for.
  V.setGenomeAttr(toAttr(Context, carriedGenome(R)));
  Breeding->judged(V, R);
  Judged[V.getSymName().str()] = R;
  remember(R);
  if (R.Outcome == "accepted")
    Best = std::max(Best, R.Ratio);
  if (Options.Progress)
    Options.Progress(Generation, R, Best);
  return Error::success();
}

/// The variants that have no outcome; of a genome that was ordered before,
/// none.
Error SearchLoop::orders(std::vector<SearchEntry> &Entries) {
  for (VariantOp V :
       make_early_inc_range(kernel().getBody().getOps<VariantOp>())) {
    if (V.getOutcome())
      continue;
    Genome G = fromAttr(V.getGenome());
    std::string Name = V.getSymName().str();
    if (!Ordered.try_emplace(genomeText(G), Name).second) {
      V.erase();
      continue;
    }
    auto Found = J.find(Run, genomeText(G));
    if (!Found)
      return Found.takeError();
    SearchEntry E{V, {std::move(Name), std::move(G), {}}, std::move(*Found)};
    for (auto Parent : V.getParents().getAsRange<mlir::FlatSymbolRefAttr>())
      if (auto It = Judged.find(Parent.getValue().str()); It != Judged.end())
        E.Order.Parents.push_back(It->second);
    Entries.push_back(std::move(E));
  }
  for (SearchEntry &E : Entries)
    if (E.Known)
      E.Order.Known = &*E.Known;
  return Error::success();
}

/// Duplicates are not judged.
Error SearchLoop::judge(Candidate &C) {
  if (!C.Record.Outcome.empty())
    return Error::success();
  if (auto It = Seen.find(C.Record.DeviceDigest + C.Record.Plan);
      It != Seen.end() && It->second != C.Record.Genome) {
    C.Record.Outcome = "duplicate";
    C.Record.Reason = "the same device code as " + It->second;
    return Error::success();
  }
  return Evaluator->judge(C);
}

/// How far a candidate came.
static unsigned rankOf(const CandidateRecord &R) {
  return StringSwitch<unsigned>(R.Outcome)
      .Case("accepted", 6)
      .Case("passed", 5)
      .Case("slower", 4)
      .Case("gate", 3)
      .Case("duplicate", 2)
      .Cases({"compile-error", "inadmissible"}, 1)
      .Default(0);
}

static bool mayBeRepaired(const SearchEntry &E) {
  return !E.Known && !E.GaveUp &&
         is_contained({"compile-error", "inadmissible", "gate", "slower"},
                      E.Record.Outcome);
}

/// One repair of each that needs one. \p Judge judges those that were made.
Error SearchLoop::repair(MutableArrayRef<SearchEntry> Entries, StringRef Stage,
                         function_ref<Error(ArrayRef<SearchEntry *>)> Judge) {
  std::vector<RevisionOrder> Orders;
  std::vector<SearchEntry *> Asked;
  for (SearchEntry &E : Entries)
    if (E.Known || (mayBeRepaired(E) && E.Round < Maker->rounds())) {
      if (!E.Known)
        ++E.Round;
      Orders.push_back({&E.Order, &E.Record, Stage.str(), E.Round});
      Asked.push_back(&E);
    }
  if (none_of(Asked, [](SearchEntry *E) { return !E->Known; }) &&
      Maker->rounds() == 0)
    return Error::success();
  Expected<std::vector<Revision>> Made = Maker->revise(Orders);
  if (Error E = joinErrors(Made.takeError(), noteCalls()))
    return E;
  std::vector<SearchEntry> New;
  std::vector<SearchEntry *> Old, ToJudge;
  for (auto [E, R] : zip_equal(Asked, *Made)) {
    if (E->Known)
      continue;
    if (!R.History.empty())
      E->Record.Made = R.History;
    // The same code again would get the same verdict.
    E->GaveUp = !R.Made || (!R.Made->Record.DeviceDigest.empty() &&
                            R.Made->Record.DeviceDigest + R.Made->Record.Plan ==
                                E->Record.DeviceDigest + E->Record.Plan &&
                            R.Made->Record.Guard == E->Record.Guard);
    if (E->GaveUp)
      continue;
    R.Made->Record.Made = R.History;
    Old.push_back(E);
    New.push_back({E->V, E->Order, std::nullopt, std::move(R.Made)});
  }
  for (SearchEntry &E : New)
    ToJudge.push_back(&E);
  if (Error Failure = Judge(ToJudge))
    return Failure;
  for (auto [E, N] : zip_equal(Old, New)) {
    unsigned Before = rankOf(E->Record), After = rankOf(N.Record);
    bool Better =
        After > Before ||
        (After == Before && (After < 4 || N.Record.Ratio > E->Record.Ratio));
    // What was told once and did not help will not help again.
    E->GaveUp = After <= Before && N.Record.Reason == E->Record.Reason;
    if (!Better) {
      E->GaveUp = true;
      continue;
    }
    E->Record = std::move(N.Record);
    E->Made = std::move(N.Made);
  }
  return Error::success();
}

/// How many repairs \p R has behind it.
static unsigned repairsOf(const CandidateRecord &R) {
  Expected<json::Value> V = json::parse(R.Made);
  if (!V) {
    consumeError(V.takeError());
    return 0;
  }
  const json::Object *O = V->getAsObject();
  const json::Array *Stages = O ? O->getArray("stages") : nullptr;
  return Stages && !Stages->empty() ? unsigned(Stages->size() - 1) : 0;
}

/// The journal gets it, and the population unless it waits for the GPU.
Error SearchLoop::finish(SearchEntry &E, unsigned Generation) {
  if (E.Known) {
    if (E.Known->Outcome != "passed")
      return settle(E.V, *E.Known, Generation);
    E.Record = *E.Known;
    E.Round = repairsOf(E.Record);
    E.Known.reset(); // The GPU has not spoken.
    E.Order.Known = nullptr;
    remember(E.Record);
    return Error::success();
  }
  if (auto It = Seen.find(E.Record.DeviceDigest + E.Record.Plan);
      It != Seen.end() && It->second != E.Record.Genome &&
      rankOf(E.Record) > 2) {
    E.Record.Outcome = "duplicate";
    E.Record.Reason = "the same device code as " + It->second;
  }
  if (E.Record.Made.empty()) {
    json::Array Parents;
    for (const CandidateRecord &P : E.Order.Parents)
      Parents.push_back(P.Genome);
    E.Record.Made =
        formatv("{0}",
                json::Value(json::Object{{"parents", std::move(Parents)}}))
            .str();
  }
  if (Error Failure = J.save(Run, E.Record))
    return Failure;
  remember(E.Record);
  if (E.Record.Outcome == "passed")
    return Error::success();
  return settle(E.V, E.Record, Generation);
}

/// Makes and judges some candidates here. What the maker does beside each other
/// is its own; everything whose order matters comes after.
Error SearchLoop::makeAndJudge(MutableArrayRef<SearchEntry> Entries,
                               unsigned Generation) {
  std::vector<CandidateOrder> Orders;
  for (SearchEntry &E : Entries)
    Orders.push_back(E.Order);
  Expected<std::vector<std::optional<Candidate>>> Made = Maker->make(Orders);
  if (Error E = joinErrors(Made.takeError(), noteCalls()))
    return E;
  auto JudgeHere = [&](SearchEntry &E) -> Error {
    if (Error Failure = judge(*E.Made))
      return Failure;
    E.Record = E.Made->Record;
    return Error::success();
  };
  for (auto [E, C] : zip_equal(Entries, *Made)) {
    E.Made = std::move(C);
    if (E.Made)
      if (Error Failure = JudgeHere(E))
        return Failure;
    // Without repairs there is nothing to wait for.
    if (Maker->rounds() == 0 && (E.Known || E.Made))
      if (Error Failure = finish(E, Generation))
        return Failure;
  }
  if (Maker->rounds() == 0)
    return Error::success();
  for (unsigned Round = 1; Round <= Maker->rounds(); ++Round)
    if (Error Failure = repair(Entries, "repair" + std::to_string(Round),
                               [&](ArrayRef<SearchEntry *> New) -> Error {
                                 for (SearchEntry *E : New)
                                   if (Error Inner = JudgeHere(*E))
                                     return Inner;
                                 return Error::success();
                               }))
      return Failure;
  for (SearchEntry &E : Entries)
    if (E.Known || E.Made)
      if (Error Failure = finish(E, Generation))
        return Failure;
  return Error::success();
}

Error SearchLoop::evaluate(unsigned Generation) {
  std::vector<SearchEntry> Entries;
  if (Error E = orders(Entries))
    return E;
  for (size_t First = 0; First < Entries.size(); First += Maker->width())
    if (Error E = makeAndJudge(
            MutableArrayRef(Entries).slice(
                First, std::min(Maker->width(), Entries.size() - First)),
            Generation))
      return E;
  if (Error E = evaluateOnGpu(Generation, Entries))
    return E;
  // Nobody could make these any more.
  for (VariantOp V :
       make_early_inc_range(kernel().getBody().getOps<VariantOp>()))
    if (!V.getOutcome())
      V.erase();
  return J.saveGeneration(Run, Generation, printModule(*Population));
}

} // namespace cupilot
