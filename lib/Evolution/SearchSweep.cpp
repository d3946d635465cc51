//===- SearchSweep.cpp - Settings of the numbers that code leaves open -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InThreads.h"
#include "SearchLoop.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// The fastest code whose numbers were not tuned yet, if it is nearly as fast
/// as the best. By rules a genome is code whose numbers are its parameters.
std::optional<Sweep> SearchLoop::nextSweep() {
  const std::vector<StrategyInfo> Strategies =
      strategiesOf(Population->getOperation());
  for (const Scoreboard::Entry *E : nearBest()) {
    const CandidateRecord &R = E->Record;
    std::vector<Tunable> Numbers;
    std::string Key;
    if (R.Open) {
      Numbers = R.Open->Numbers;
      Key = R.Open->Source + R.Open->Plan + R.Open->Guard;
    } else if (!Options.Agents) {
      const Genome G = carriedGenome(R);
      Numbers = tunablesOf(G, Strategies);
      for (const Gene &Each : G)
        Key += Each.Strategy + " ";
    }
    if (countSettings(Numbers) < 2 || !Swept.insert(digest(Key)).second)
      continue;
    if (countSettings(Numbers) > MostSettings) {
      if (Options.Tell)
        Options.Tell(formatv("the parameters of {0} have more than {1} "
                             "settings: they are not tuned",
                             R.Genome, MostSettings)
                         .str());
      continue;
    }
    return Sweep{*E, std::move(Numbers)};
  }
  return std::nullopt;
}

/// Adds a setting that is new, and that a recorded launch could run; false
/// where it is not.
Expected<bool> SearchLoop::addSetting(Sweep &S, const Setting &To,
                                      unsigned Generation) {
  const CandidateRecord &Elite = S.Elite.Record;
  const Genome Carried = withSetting(carriedGenome(Elite), S.Numbers, To,
                                     strategiesOf(Population->getOperation()));
  const Genome Key = Elite.Open ? settingOf(Elite, To) : Carried;
  if (Ordered.count(genomeText(Key)))
    return false;
  Expected<Translation> Code =
      Elite.Open ? codeWith(*Elite.Open, To, Problem.K, Problem.Arch)
                 : Evaluator->translate(Key);
  if (!Code) {
    if (Error E = absorbFinding(Code.takeError(), [](StringRef) {}))
      return std::move(E);
    return false;
  }
  Expected<bool> Admitted = Evaluator->isAdmitted(*Code);
  if (!Admitted || !*Admitted)
    return Admitted;
  auto Known = J.find(Run, genomeText(Key));
  if (!Known)
    return Known.takeError();
  SearchEntry E{
      VariantOp(),
      {formatv("g{0}_t{1}", Generation, S.Entries.size()).str(), Key, {}},
      std::move(*Known)};
  E.Order.Parents.push_back(Elite);
  CandidateRecord &R = E.Record;
  R.Genome = genomeText(Key);
  R.Carried = genomeText(Carried);
  R.Open = Elite.Open;
  if (R.Open)
    for (auto [T, Value] : zip_equal(R.Open->Numbers, To))
      T.Value = Value;
  R.Made.emplace().Parents = {Elite.Genome};
  CandidateStage &Stage = R.Made->Stages.emplace_back();
  Stage.Name = TuneStage.str();
  Stage.Notes = settingText(S.Numbers, To);
  Ordered[R.Genome] = E.Order.Name;
  S.Entries.push_back(std::move(E));
  S.Codes.push_back(std::move(*Code));
  return true;
}

Error SearchLoop::drawSettings(Sweep &S, unsigned Generation) {
  constexpr size_t TriesOfOne = 8; // Then plan and guard fit few settings.
  Random R(Problem.Seed, TuneStage, Generation);
  size_t Tries = 0;
  for (const Setting &To : settingsToTry(S.Numbers, R)) {
    if (S.Entries.size() == Options.Tune || ++Tries > TriesOfOne * Options.Tune)
      break;
    if (Error E = addSetting(S, To, Generation).takeError())
      return E;
  }
  return Error::success();
}

/// Compiles what the journal does not know, some beside each other.
Error SearchLoop::makeSettings(Sweep &S) {
  std::vector<std::optional<Expected<Candidate>>> Made(S.Entries.size());
  inThreads(S.Entries.size(), std::max(2u, Options.Jobs), [&](size_t I) {
    if (!S.Entries[I].Known)
      Made[I].emplace(
          Evaluator->prepare(S.Entries[I].Order.Genes, std::move(S.Codes[I])));
  });
  Error Failure = Error::success();
  for (auto [E, C] : zip_equal(S.Entries, Made)) {
    if (!C)
      continue;
    if (!*C) {
      Failure = joinErrors(std::move(Failure), C->takeError());
      continue;
    }
    CandidateRecord &R = (*C)->Record;
    R.Carried = std::move(E.Record.Carried);
    R.Open = std::move(E.Record.Open);
    R.Made = std::move(E.Record.Made);
    (*C)->IsByRules = !R.Open;
    if (R.Open && R.Outcome == CandidateOutcome::Unjudged)
      Failure =
          joinErrors(std::move(Failure), Maker->readGenes(**C, S.Elite.Record));
    E.Made = std::move(**C);
  }
  return Failure;
}

/// Times \p Racers beside the elite on a GPU.
Error SearchLoop::raceSettings(const Sweep &S, MutableArrayRef<Racer> Racers,
                               StringRef Step) {
  std::vector<WaitingCandidate> Waiting{{S.Elite.Record}};
  for (const Racer &Each : Racers)
    Waiting.push_back({Each.E->Record, Each.E->Made});
  std::vector<GpuRank> Ranks;
  if (Error E =
          onGpu(Step, [&] { return Gpu->race(Step, Waiting).moveInto(Ranks); }))
    return E;
  const GpuRank &Own = Ranks.front();
  for (auto [Each, Rank] : zip_equal(Racers, drop_begin(Ranks))) {
    Each.Levels = Rank.Levels;
    Each.Ratio = Rank.Ratio;
    Each.Out = Rank.Wrong || std::pair(Rank.Levels, Rank.Ratio) <=
                                 std::pair(Own.Levels, Own.Ratio);
    if (Rank.Wrong && !Each.E->Known)
      Each.E->Record.reject(Rank.Wrong->Reason == GateReason::NeverAdmitted
                                ? FoundBy::Gate
                                : FoundBy::Gpu,
                            *Rank.Wrong);
  }
  return Error::success();
}

/// The same by modelled times. Who was at the gate before the search was killed
/// comes first.
Error SearchLoop::estimateSettings(const Sweep &S,
                                   MutableArrayRef<Racer> Racers) {
  for (Racer &Each : Racers) {
    if (Each.E->Known) {
      Each.Out = Each.E->Known->Outcome == CandidateOutcome::Outpaced;
      Each.Levels = 1;
      continue;
    }
    if (isOutOfTime())
      return Error::success();
    if (Error Failure = Evaluator->estimate(*Each.E->Made))
      return Failure;
    Each.Ratio = Each.E->Made->Record.Ratio;
    Each.Out = Each.Ratio <= S.Elite.Record.Ratio;
  }
  return Error::success();
}

/// Who is worth the gate: the fastest that are faster than the elite. The
/// others get the outcome of the cheapest check that they fail.
Expected<std::vector<SearchEntry *>>
SearchLoop::rankSettings(Sweep &S, unsigned Generation) {
  static constexpr size_t MostGated = 2;
  std::vector<Racer> Racers;
  for (SearchEntry &E : S.Entries) {
    E.Record = E.Known ? *E.Known : E.Made->Record;
    CandidateRecord &R = E.Record;
    if (!E.Known && R.Outcome == CandidateOutcome::Unjudged)
      endAsDuplicate(R);
    for (const Racer &Other : Racers)
      if (!E.Known && R.Outcome == CandidateOutcome::Unjudged &&
          isSameCode(Other.E->Record, R))
        R.end(CandidateOutcome::Duplicate,
              "the same device code as " + Other.E->Record.Genome);
    if (R.Outcome == CandidateOutcome::Unjudged ||
        R.Outcome == CandidateOutcome::Outpaced ||
        progressOf(R.Outcome) > progressOf(CandidateOutcome::Outpaced))
      Racers.push_back({&E});
  }
  if (!Racers.empty())
    if (Error E =
            Gpu ? raceSettings(S, Racers, (TuneStage + Twine(Generation)).str())
                : estimateSettings(S, Racers))
      return std::move(E);
  llvm::sort(Racers, [](const Racer &A, const Racer &B) {
    return std::tuple(A.Out, B.Levels, -A.Ratio, A.E) <
           std::tuple(B.Out, A.Levels, -B.Ratio, B.E);
  });
  std::vector<SearchEntry *> Best;
  for (const Racer &Each : Racers) {
    if (!Each.Out && Best.size() < MostGated) {
      Best.push_back(Each.E);
      continue;
    }
    CandidateRecord &R = Each.E->Record;
    if (R.Outcome != CandidateOutcome::Unjudged)
      continue;
    R.end(CandidateOutcome::Outpaced);
    R.Ratio = Each.Ratio;
  }
  return Best;
}

/// The verdict of a setting that was worth one goes into the population.
Error SearchLoop::endSetting(SearchEntry &E, StringRef Elite,
                             unsigned Generation) {
  if (progressOf(E.Record.Outcome) <= progressOf(CandidateOutcome::Outpaced)) {
    remember(E.Record);
    if (Options.Progress)
      Options.Progress(Generation, E.Record, Best);
    return Error::success();
  }
  KernelOp Kernel = kernel();
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(&Kernel.getBody().front());
  Variant V;
  V.Name = E.Order.Name;
  V.Genes = carriedGenome(E.Record);
  if (mlir::SymbolTable::lookupSymbolIn(Kernel, Elite))
    V.Parents = {Elite.str()};
  E.V = addVariant(B, V, Kernel.getScalars().size());
  return settle(E.V, E.Record, Generation);
}

/// Gate, and with a GPU its judgement, on fresh rounds.
Error SearchLoop::judgeSettings(const Sweep &S, ArrayRef<SearchEntry *> Best,
                                unsigned Generation) {
  std::vector<SearchEntry *> Fresh, Passed;
  copy_if(Best, std::back_inserter(Fresh),
          [](const SearchEntry *E) { return !E->Known; });
  for (SearchEntry *E : Fresh) {
    E->Made->Record = E->Record; // What was estimated is no verdict.
    E->Made->Record.Ratio = 0;
  }
  if (Error Failure = judgeAhead(Fresh))
    return Failure;
  for (SearchEntry *E : Fresh) {
    if (Error Failure = judge(*E))
      return Failure;
    if (E->TooLate)
      return Error::success();
    if (Error Failure = save(E->Record))
      return Failure;
  }
  for (SearchEntry *E : Best)
    if (E->Record.Outcome == CandidateOutcome::Passed)
      Passed.push_back(E);
  if (Error E = judgeOnGpu((TuneStage + "d" + Twine(Generation)).str(), Passed))
    return E;
  for (SearchEntry *E : Passed)
    if (Error Failure = save(E->Record))
      return Failure;
  for (SearchEntry *E : Best)
    if (Error Failure = endSetting(*E, S.Elite.Name, Generation))
      return Failure;
  return Error::success();
}

/// Tries other numbers in the fastest code that leaves some open. No model is
/// asked.
Error SearchLoop::tune(unsigned Generation) {
  if (Options.Tune == 0 || Ended || isOutOfTime() || isDone())
    return Error::success();
  std::optional<Sweep> S = nextSweep();
  if (!S)
    return Error::success();
  if (Error E = drawSettings(*S, Generation))
    return E;
  if (Error E = makeSettings(*S))
    return E;
  Expected<std::vector<SearchEntry *>> Best = rankSettings(*S, Generation);
  if (!Best)
    return Best.takeError();
  if (isOutOfTime())
    return Error::success();
  for (SearchEntry &E : S->Entries) {
    if (is_contained(*Best, &E))
      continue;
    if (!E.Known)
      if (Error Failure = save(E.Record))
        return Failure;
    if (Error Failure = endSetting(E, S->Elite.Name, Generation))
      return Failure;
  }
  if (Error E = judgeSettings(*S, *Best, Generation))
    return E;
  return J.saveGeneration(Run, Generation, printModule(*Population));
}

} // namespace cupilot
