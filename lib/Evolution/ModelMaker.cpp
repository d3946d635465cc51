//===- ModelMaker.cpp - Candidates by language models -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/ModelMaker.h"
#include "AgentCalls.h"
#include "RecordStory.h"
#include "cupilot/Evolution/CodeCrossover.h"
#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Evolution/KernelRevisor.h"
#include "cupilot/GpuJudge/DeviceCode.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <thread>

using namespace llvm;

namespace cupilot {

/// An answer and its repair.
static constexpr unsigned CallsOfQuestion = 2;
/// So many prompts are enough to see that a model answers rubbish.
static constexpr size_t FirstPrompts = 8;

namespace {
/// What came of one question.
struct Told {
  explicit Told(Provider &From) : Log(From) {}
  CallLog Log;
  std::optional<ModelTranslation> Answer;
  std::string Why; ///< There is none.
};

class ModelMaker : public CandidateMaker {
public:
  ModelMaker(const SearchProblem &P, const CandidateEvaluator &Evaluator,
             const AgentOptions &Options, ArrayRef<LibraryStrategy> Library,
             const KernelAdvice &Advice, CallCount &Calls)
      : P(P), Evaluator(Evaluator), Options(Options), Library(Library),
        Advice(Advice), Calls(Calls), Prefix(stepPrefix(P.K)) {}
  size_t width() const override { return 1000; }
  unsigned rounds() const override { return Options.Rounds; }
  std::string exhausted() const override { return Exhausted; }
  Expected<std::vector<std::optional<Candidate>>>
  make(ArrayRef<CandidateOrder> Orders) override;
  Expected<std::vector<Revision>>
  revise(ArrayRef<RevisionOrder> Orders) override;

private:
  struct Item {
    const CandidateOrder *Order;
    const CandidateRecord *Before = nullptr; ///< Of a repair.
    StringRef Stage;
    unsigned Round = 0;
    std::unique_ptr<Told> Said = nullptr;
    std::optional<Candidate> Made = std::nullopt;
    std::string History = {};
  };
  Error run(std::vector<Item> &Items);
  Error ask(Item &I);
  Expected<std::optional<ModelTranslation>> translate(Item &I);
  Expected<std::optional<ModelTranslation>> repair(Item &I);
  Error compile(MutableArrayRef<Item *> Some);
  Expected<Candidate> candidateOf(Item &I);
  Error checkUsable(ArrayRef<Item *> Asked);
  PromptKernel kernel() const { return {P.K, P.Gpu.Name, P.Arch, P.Workloads}; }
  std::vector<PromptGene> genesOf(const Genome &G) const;
  Expected<std::optional<PromptParent>> parentOf(const CandidateOrder &O) const;
  std::vector<std::string> facts() const {
    return Options.Roofline ? Advice.sentences() : std::vector<std::string>();
  }

  const SearchProblem &P;
  const CandidateEvaluator &Evaluator;
  const AgentOptions &Options;
  const std::vector<LibraryStrategy> Library;
  const KernelAdvice &Advice;
  CallCount &Calls;
  const std::string Prefix;
  std::string Exhausted, OriginalPtx;
  unsigned Usable = 0; ///< Answers that could be used.
};
} // namespace

std::vector<PromptGene> ModelMaker::genesOf(const Genome &G) const {
  std::vector<PromptGene> Genes;
  for (const Gene &Each : G) {
    auto S = find_if(Library, [&](const LibraryStrategy &S) {
      return S.Info.Name == Each.Strategy;
    });
    Genes.push_back({Options.Prose ? "" : Each.str(),
                     S == Library.end() ? "" : S->Summary});
  }
  return Genes;
}

/// The faster parent. Strategies are crossed, but what is proved of a parent's
/// code need not be invented again.
Expected<std::optional<PromptParent>>
ModelMaker::parentOf(const CandidateOrder &O) const {
  const CandidateRecord *Best = nullptr;
  for (const CandidateRecord &R : O.Parents)
    if (!R.Source.empty() && R.Ratio > 0 && (!Best || R.Ratio > Best->Ratio))
      Best = &R;
  if (!Best || Options.CrossCode)
    return std::nullopt;
  Expected<Translation> T = translationOf(*Best);
  if (!T)
    return T.takeError();
  PromptParent Parent{
      Options.Prose ? "" : genomeText(carriedGenome(*Best)),
      formatv("{0:f2} times as fast as the original", Best->Ratio).str(),
      planWords(T->Plan, P.K),
      guardWords(T->When, P.K),
      T->Source,
      {}};
  if (Options.Roofline)
    Parent.Figures = profileOf(*Best, P, Evaluator, Advice);
  return std::optional(std::move(Parent));
}

Expected<std::optional<ModelTranslation>> ModelMaker::translate(Item &I) {
  const CandidateOrder &O = *I.Order;
  std::string Step = Prefix + O.Name + "/" + I.Stage.str();
  std::vector<const CandidateRecord *> WithCode;
  for (const CandidateRecord &R : O.Parents)
    if (!R.Source.empty())
      WithCode.push_back(&R);
  // Twice the same parent is nothing to cross.
  if (Options.CrossCode && WithCode.size() == 2 &&
      WithCode[0]->Source != WithCode[1]->Source) {
    std::vector<CodeParent> Parents;
    for (const CandidateRecord *R : WithCode) {
      Expected<Translation> T = translationOf(*R);
      if (!T)
        return T.takeError();
      Parents.push_back({std::move(*T), R->Outcome, R->Ratio});
    }
    Expected<ModelTranslation> T =
        crossCodeByModel(I.Said->Log, *Options.Prompts, kernel(), Parents,
                         facts(), Step, Options.Counts);
    if (!T)
      return T.takeError();
    return std::optional(std::move(*T));
  }
  Expected<std::optional<PromptParent>> Parent = parentOf(O);
  if (!Parent)
    return Parent.takeError();
  Expected<ModelTranslation> T = translateByModel(
      I.Said->Log, *Options.Prompts, kernel(),
      {genesOf(O.Genes), facts(), Options.Examples, std::move(*Parent)}, Step,
      Options.Counts);
  if (!T)
    return T.takeError();
  return std::optional(std::move(*T));
}

Expected<std::optional<ModelTranslation>> ModelMaker::repair(Item &I) {
  const CandidateRecord &R = *I.Before;
  Expected<Translation> T = translationOf(R);
  if (!T)
    return T.takeError();
  RevisionRequest Q{R.Genome, *T, troubleOf(R), "", "", {}, {}};
  if (Options.Prose) {
    Q.Genome.clear();
    for (const PromptGene &G : genesOf(I.Order->Genes))
      Q.Genome += (Q.Genome.empty() ? "" : ". ") + G.Summary;
  }
  bool Judged = R.Outcome == "gate" || R.Outcome == "slower";
  (Judged ? Q.Verdict : Q.Errors) = Judged ? verdictOf(R) : R.Reason;
  if (R.Outcome == "slower" && Options.Roofline) {
    Q.Profile = profileOf(R, P, Evaluator, Advice);
    append_range(Q.Profile, Advice.sentences());
  }
  Q.Earlier = earlierOf(R);
  Q.Round = I.Round;
  Q.Rounds = Options.Rounds;
  return reviseByModel(I.Said->Log, *Options.Prompts, kernel(), Q,
                       Prefix + I.Order->Name + "/" + I.Stage.str(),
                       I.Said->Why, Options.Counts);
}

/// One question. What the model cannot answer is no error.
Error ModelMaker::ask(Item &I) {
  I.Said = std::make_unique<Told>(*Options.From);
  Expected<std::optional<ModelTranslation>> T =
      I.Before ? repair(I) : translate(I);
  if (!T)
    return absorbFinding(T.takeError(),
                         [&](StringRef Why) { I.Said->Why = Why.str(); });
  I.Said->Answer = std::move(*T);
  return Error::success();
}

/// Genes of both parents, the first one's values where both have them.
static Genome unionOf(ArrayRef<CandidateRecord> Parents) {
  Genome All;
  for (const CandidateRecord &R : Parents)
    for (Gene &G : carriedGenome(R))
      if (none_of(All, [&](const Gene &Other) {
            return Other.Strategy == G.Strategy;
          }))
        All.push_back(std::move(G));
  return All;
}

/// Compiles the answer, and asks the code which genes it has.
Expected<Candidate> ModelMaker::candidateOf(Item &I) {
  const Told &Said = *I.Said;
  const CandidateOrder &O = *I.Order;
  Candidate C;
  C.Record.Genome = C.Record.Carried = genomeText(O.Genes);
  json::Array Denied;
  if (Said.Answer) {
    Expected<Candidate> Made = Evaluator.prepare(O.Genes, Said.Answer->Code);
    if (!Made)
      return Made.takeError();
    C = std::move(*Made);
    if (C.Record.Outcome.empty() && !Options.Prose) {
      bool Crossed = Options.CrossCode && O.Parents.size() == 2;
      HandshakeResult R =
          shakeHands(Crossed ? unionOf(O.Parents) : O.Genes,
                     &Said.Answer->CarriedOut, {P, OriginalPtx, C}, Library);
      C.Record.Carried = genomeText(R.Carried);
      for (const DeniedGene &D : R.Denied)
        Denied.push_back(json::Object{{"gene", D.Gene}, {"why", D.Why}});
    }
  } else {
    C.Record.Outcome = "no-answer";
    C.Record.Reason = Said.Why;
  }
  json::Array Parents, Stages;
  for (const CandidateRecord &R : O.Parents)
    Parents.push_back(R.Genome);
  json::Object Stage{
      {"stage", I.Stage},
      {"calls", json::Array(Said.Log.notes())},
      {"denied", std::move(Denied)},
      {"notes", json::fixUTF8(Said.Answer ? Said.Answer->Notes : Said.Why)}};
  if (Said.Answer)
    Stage["carried_out"] = textFacts(Said.Answer->CarriedOut);
  if (I.Before) {
    // What the stage was to mend.
    Stage["trouble"] = json::fixUTF8(I.Before->Outcome + ": " +
                                     I.Before->Reason.substr(0, 500));
    if (Expected<json::Value> V = json::parse(I.Before->Made)) {
      if (const json::Object *Old = V->getAsObject())
        if (const json::Array *List = Old->getArray("stages"))
          Stages = *List;
    } else {
      consumeError(V.takeError());
    }
  }
  Stages.push_back(std::move(Stage));
  I.History =
      formatv("{0}", json::Value(json::Object{{"parents", std::move(Parents)},
                                              {"stages", std::move(Stages)}}))
          .str();
  C.Record.Made = I.History;
  return C;
}

/// Two beside each other, as rules do.
Error ModelMaker::compile(MutableArrayRef<Item *> Some) {
  Error Failure = Error::success();
  for (size_t First = 0; First < Some.size(); First += 2) {
    size_t Count = std::min<size_t>(2, Some.size() - First);
    std::vector<std::optional<Expected<Candidate>>> Made(Count);
    std::vector<std::thread> Threads;
    Threads.reserve(Count);
    for (size_t I = 0; I < Count; ++I)
      Threads.emplace_back(
          [&, I] { Made[I].emplace(candidateOf(*Some[First + I])); });
    for (std::thread &T : Threads)
      T.join();
    for (size_t I = 0; I < Count; ++I)
      if (*Made[I])
        Some[First + I]->Made = std::move(**Made[I]);
      else
        Failure = joinErrors(std::move(Failure), Made[I]->takeError());
  }
  return Failure;
}

/// A model that answers nothing of use is not paid for longer.
Error ModelMaker::checkUsable(ArrayRef<Item *> Asked) {
  for (const Item *I : Asked)
    Usable += I->Said->Answer.has_value();
  if (Usable > 0 || Asked.empty() || Asked.front()->Before)
    return Error::success();
  return resourceError(
      "none of the first " + Twine(Asked.size()) + " answers for '" + P.K.Name +
          "' could be used: " + Asked.front()->Said->Why,
      "the recording holds what was said; go on with another model, a new "
      "--record folder and --resume");
}

/// Asks for all, in waves of as many as the limit of calls surely allows.
Error ModelMaker::run(std::vector<Item> &Items) {
  if (OriginalPtx.empty()) {
    Expected<std::string> Ptx =
        generatePtx(Evaluator.originalBitcode(), P.Arch);
    if (!Ptx)
      return Ptx.takeError();
    OriginalPtx = std::move(*Ptx);
  }
  for (size_t Next = 0; Next < Items.size();) {
    size_t End = Next;
    while (End < Items.size() &&
           Calls.room(unsigned(End - Next + 1) * CallsOfQuestion) &&
           (Usable > 0 || End - Next < FirstPrompts))
      ++End;
    if (End == Next) {
      Exhausted = formatv("{0} of at most {1} calls were made for this kernel",
                          Calls.Used, Calls.Most)
                      .str();
      return Error::success();
    }
    std::vector<Item *> Asked;
    for (Item &I : MutableArrayRef(Items).slice(Next, End - Next)) {
      if (!I.Order->Known) {
        Asked.push_back(&I);
        continue;
      }
      Calls.Used += callsOf(*I.Order->Known, I.Stage);
      Usable += I.Order->Known->Outcome != "no-answer";
    }
    Error Failed =
        askAll(Asked.size(), [&](size_t I) { return ask(*Asked[I]); });
    for (Item *I : Asked)
      if (I->Said) // Else another one's failure came first.
        I->Said->Log.addTo(Calls);
    if (Failed)
      return Failed;
    if (Error E = checkUsable(Asked))
      return E;
    if (Error E = compile(Asked))
      return E;
    Next = End;
  }
  return Error::success();
}

Expected<std::vector<std::optional<Candidate>>>
ModelMaker::make(ArrayRef<CandidateOrder> Orders) {
  std::vector<Item> Items;
  for (const CandidateOrder &O : Orders)
    Items.push_back({&O, nullptr, "translate"});
  if (Error E = run(Items))
    return std::move(E);
  std::vector<std::optional<Candidate>> Made;
  Made.reserve(Items.size());
  for (Item &I : Items)
    Made.push_back(std::move(I.Made));
  return Made;
}

Expected<std::vector<Revision>>
ModelMaker::revise(ArrayRef<RevisionOrder> Orders) {
  std::vector<Item> Items;
  for (const RevisionOrder &O : Orders)
    Items.push_back({O.Order, O.Judged, O.Stage, O.Round});
  if (Error E = run(Items))
    return std::move(E);
  std::vector<Revision> All;
  for (Item &I : Items) {
    Revision R;
    R.History = std::move(I.History);
    if (I.Made && I.Made->Record.Outcome != "no-answer")
      R.Made = std::move(I.Made);
    All.push_back(std::move(R));
  }
  return All;
}

std::unique_ptr<CandidateMaker>
makeModelMaker(const SearchProblem &P, const CandidateEvaluator &Evaluator,
               const AgentOptions &Options, ArrayRef<LibraryStrategy> Library,
               const KernelAdvice &Advice, CallCount &Calls) {
  return std::make_unique<ModelMaker>(P, Evaluator, Options, Library, Advice,
                                      Calls);
}

} // namespace cupilot
