//===- ModelMaker.cpp - Candidates by language models -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/ModelMaker.h"
#include "AgentCalls.h"
#include "AgentDialogue.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Evolution/CodeCrossover.h"
#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Evolution/KernelRevisor.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <thread>

using namespace llvm;

namespace cupilot {

/// So many prompts are enough to see that a model answers rubbish.
static constexpr size_t FirstPrompts = 8;
static constexpr StringLiteral DialoguePrompt = "improve-dialogue";

namespace {
/// What came of one question.
struct Reply {
  explicit Reply(Provider &From) : Log(From) {}
  CallLog Log;
  std::optional<ModelTranslation> Answer;
  std::string NoAnswer; ///< Why there is none.
};

class ModelMaker : public CandidateMaker {
public:
  ModelMaker(const SearchProblem &P, const CandidateEvaluator &Evaluator,
             const AgentOptions &Options,
             const std::vector<LibraryStrategy> &Library,
             const KernelAdvice &Advice, CallCount &Calls, DialogueHost &Host)
      : P(P), Evaluator(Evaluator), Options(Options), Library(Library),
        Advice(Advice), Calls(Calls), Prefix(stepPrefix(P.K)),
        Bench(P, Evaluator, Host, Options, Library, Advice) {}
  size_t width() const override { return 1000; }
  unsigned rounds() const override { return Options.Rounds; }
  bool exhausted() const override { return Exhausted; }
  Error make(ArrayRef<CandidateOrder> Orders,
             std::vector<std::optional<Candidate>> &Made) override;
  Error revise(ArrayRef<RevisionOrder> Orders,
               std::vector<Revision> &Made) override;
  Error readGenes(Candidate &C, const CandidateRecord &Elite) override;

private:
  struct Item {
    const CandidateOrder *Order;
    const CandidateRecord *Before = nullptr; ///< Of a repair.
    StringRef Stage;
    unsigned Round = 0;
    std::unique_ptr<Reply> Answered = nullptr;
    std::unique_ptr<AgentDialogue> Talk = nullptr;
    bool Done = false; ///< The question has its answer, or has none.
    std::optional<Candidate> Made = std::nullopt;
    std::optional<CandidateHistory> History = std::nullopt;
  };
  Error run(std::vector<Item> &Items);
  Error readOriginal();
  Error ask(Item &I, AskPlace Place);
  Error askUntilAnswered(ArrayRef<Item *> Asked, StringRef Name);
  Error takeTurn(Item &I);
  void endDialogue(Item &I);
  bool isDialogue(const Item &I) const {
    return Options.Dialogue && I.Order->Improve && !I.Before;
  }
  unsigned mostCalls(const Item &I) const {
    return isDialogue(I) ? Options.Dialogue->Turns : CallsOfQuestion;
  }
  Expected<std::optional<ModelTranslation>> translate(Item &I);
  Expected<std::optional<ModelTranslation>> repair(Item &I);
  Error compile(MutableArrayRef<Item *> Some);
  Expected<Candidate> candidateOf(Item &I);
  Error checkUsable(ArrayRef<Item *> Asked);
  PromptKernel kernel(const Genome &InPlay = {}) const;
  Expected<ModelTranslation> improve(Item &I, StringRef Step);
  ImprovementRequest improvement(const CandidateOrder &O) const;
  Genome possibleGenes(const CandidateOrder &O,
                       ArrayRef<std::string> CarriedOut) const;
  PromptParent promptOf(const CandidateRecord &R) const;
  std::vector<PromptGene> genesOf(const Genome &G) const;
  std::vector<PromptExample> exampleFor(const Genome &G) const;
  Expected<std::optional<PromptParent>> parentOf(const CandidateOrder &O) const;
  std::vector<std::string> facts() const {
    return Options.Roofline ? Advice.sentences() : std::vector<std::string>();
  }

  const SearchProblem &P;
  const CandidateEvaluator &Evaluator;
  const AgentOptions &Options;
  const std::vector<LibraryStrategy> &Library;
  const KernelAdvice &Advice;
  CallCount &Calls;
  const std::string Prefix;
  DialogueBench Bench;
  std::string OriginalPtx;
  bool Exhausted = false;
  unsigned Usable = 0; ///< Answers that could be used.
};
} // namespace

/// With what is known of the strategies \p InPlay.
PromptKernel ModelMaker::kernel(const Genome &InPlay) const {
  PromptKernel Of{P.K, P.Gpu.Name, P.Arch, P.Workloads, &P.Gpu, {}};
  if (P.Language)
    Of.Language = P.Language->kind();
  else if (Options.Tunables) // In CUDA C++, they are constants before it.
    Of.Strategies = Library;
  for (const LibraryStrategy &S : Library)
    if (!S.Notes.empty() && any_of(InPlay, [&](const Gene &G) {
          return G.Strategy == S.Info.Name;
        }))
      Of.Notes.push_back({Options.Prose ? "" : S.Info.Name, S.Notes});
  return Of;
}

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

PromptParent ModelMaker::promptOf(const CandidateRecord &R) const {
  const Translation &Code = *R.Code;
  PromptParent Parent{
      Options.Prose ? "" : genomeText(carriedGenome(R)),
      formatv("{0:f2} times as fast as the original", R.Ratio).str(),
      planWords(Code.Plan, P.K),
      guardWords(Code.When, P.K),
      Code.Source,
      {}};
  Parent.Language = Code.Language;
  if (R.Open && Options.Tunables) {
    Parent.Plan = R.Open->Plan;
    Parent.Guard = R.Open->Guard;
    Parent.Source = R.Open->Source;
    Parent.Tunables = tunablesText(R.Open->Numbers);
  }
  return Parent;
}

/// The one parent's code, with free choice of strategies.
ImprovementRequest ModelMaker::improvement(const CandidateOrder &O) const {
  PromptParent Variant = promptOf(O.Parents.front());
  if (Options.Roofline)
    Variant.Figures = O.Improve->Figures;
  return {std::move(Variant), facts(), Library, *O.Improve, !Options.Prose};
}

Expected<ModelTranslation> ModelMaker::improve(Item &I, StringRef Step) {
  const CandidateOrder &O = *I.Order;
  return improveByModel(I.Answered->Log, *Options.Prompts,
                        kernel(carriedGenome(O.Parents.front())),
                        improvement(O), Step, Options.Counts);
}

/// The prompt of one answer, and how the bench is used until there is one.
Error ModelMaker::takeTurn(Item &I) {
  if (!I.Talk) {
    const CandidateOrder &O = *I.Order;
    Expected<ChatRequest> First = Options.Prompts->render(
        "improve", improvementFacts(kernel(carriedGenome(O.Parents.front())),
                                    improvement(O)));
    if (!First)
      return First.takeError();
    const DialogueBudget &Budget = *Options.Dialogue;
    Expected<ChatRequest> How = Options.Prompts->render(
        DialoguePrompt,
        json::Object{{"turns", Budget.Turns},
                     {"tokens", Budget.Tokens},
                     {"gpu_seconds", P.OnGpu ? json::Value(Budget.GpuSeconds)
                                             : json::Value(nullptr)}});
    if (!How)
      return How.takeError();
    First->System += "\n\n" + How->System;
    First->Messages.front().Text += "\n\n" + How->Messages.front().Text;
    // Name and version are the dialogue's, the digest is of both texts.
    First->Prompt = (StringRef(How->Prompt).rsplit(' ').first + " b3:" +
                     shortDigest(digest(How->Prompt + "\n" + First->Prompt)))
                        .str();
    First->Step = (Prefix + O.Name + "/" + I.Stage).str();
    std::vector<ChatTool> Tools = Bench.tools(*First->Schema);
    First->Schema.reset();
    I.Talk = std::make_unique<AgentDialogue>(O, Budget, std::move(*First),
                                             std::move(Tools));
  }
  return I.Talk->ask(I.Answered->Log);
}

void ModelMaker::endDialogue(Item &I) {
  I.Answered->Answer = Bench.result(*I.Talk);
  if (!I.Answered->Answer)
    I.Answered->NoAnswer = I.Talk->Declined + " (" + I.Talk->summary() + ")";
  if (Options.Counts)
    Options.Counts->add(DialoguePrompt, {1, I.Talk->Refused > 0,
                                         !I.Answered->Answer.has_value()});
  I.Done = true;
}

/// The faster parent. Strategies are crossed, but what is proved of a parent's
/// code need not be invented again.
Expected<std::optional<PromptParent>>
ModelMaker::parentOf(const CandidateOrder &O) const {
  const CandidateRecord *Best = nullptr;
  for (const CandidateRecord &R : O.Parents)
    if (R.Code && R.Ratio > 0 && (!Best || R.Ratio > Best->Ratio))
      Best = &R;
  if (!Best || Options.CrossCode)
    return std::nullopt;
  PromptParent Parent = promptOf(*Best);
  if (Options.Roofline)
    Parent.Figures = profileOf(*Best, P, Evaluator, Advice);
  return std::optional(std::move(Parent));
}

/// The example that has most of the strategies of \p G, of equals the nearest
/// kernel's; none where it has none of them. Code is long, and a second one
/// teaches less.
std::vector<PromptExample> ModelMaker::exampleFor(const Genome &G) const {
  auto Shared = [&](const PromptExample &E) {
    Genome Has = parseGenome(E.Genome).value_or(Genome());
    return count_if(G, [&](const Gene &Each) {
      return any_of(Has, [&](const Gene &Other) {
        return Other.Strategy == Each.Strategy;
      });
    });
  };
  const PromptExample *Best = nullptr;
  ptrdiff_t Most = 0;
  for (const PromptExample &E : Options.Examples)
    if (!E.Source.empty() && Shared(E) > Most) {
      Best = &E;
      Most = Shared(E);
    }
  return Best ? std::vector<PromptExample>{*Best}
              : std::vector<PromptExample>();
}

Expected<std::optional<ModelTranslation>> ModelMaker::translate(Item &I) {
  const CandidateOrder &O = *I.Order;
  std::string Step = Prefix + O.Name + "/" + I.Stage.str();
  if (O.Improve) {
    Expected<ModelTranslation> T = improve(I, Step);
    if (!T)
      return T.takeError();
    return std::optional(std::move(*T));
  }
  std::vector<const CandidateRecord *> WithCode;
  for (const CandidateRecord &R : O.Parents)
    if (R.Code)
      WithCode.push_back(&R);
  // Twice the same parent is nothing to cross.
  if (Options.CrossCode && WithCode.size() == 2 &&
      WithCode[0]->Code->Source != WithCode[1]->Code->Source) {
    std::vector<CodeParent> Parents;
    Parents.reserve(WithCode.size());
    for (const CandidateRecord *R : WithCode)
      Parents.push_back({*R->Code, R->Outcome, R->Ratio});
    Expected<ModelTranslation> T =
        crossCodeByModel(I.Answered->Log, *Options.Prompts, kernel(), Parents,
                         facts(), Step, Options.Counts);
    if (!T)
      return T.takeError();
    return std::optional(std::move(*T));
  }
  Expected<std::optional<PromptParent>> Parent = parentOf(O);
  if (!Parent)
    return Parent.takeError();
  Expected<ModelTranslation> T = translateByModel(
      I.Answered->Log, *Options.Prompts, kernel(O.Genes),
      // Whoever has a parent's code needs no other kernel's.
      {genesOf(O.Genes), facts(),
       *Parent ? std::vector<PromptExample>() : exampleFor(O.Genes),
       std::move(*Parent)},
      Step, Options.Counts);
  if (!T)
    return T.takeError();
  return std::optional(std::move(*T));
}

/// All that the gate found, not its first finding alone.
static std::string findingsText(const CandidateRecord &R) {
  static constexpr size_t MostFindings = 6;
  std::string Text = reasonText(R);
  if (!R.Evidence)
    return Text;
  ArrayRef<GateFinding> Findings = R.Evidence->Gate.Findings;
  for (const GateFinding &F :
       Findings.take_front(MostFindings).drop_front(Findings.empty() ? 0 : 1))
    Text += ("\n" + wordOf(F.Reason) + " (" + F.Workload + "): " + F.Evidence)
                .str();
  return Text;
}

Expected<std::optional<ModelTranslation>> ModelMaker::repair(Item &I) {
  const CandidateRecord &R = *I.Before;
  if (!R.Code)
    return findingError("there is no code to repair");
  RevisionRequest Q{I.Order->Improve ? R.Carried : R.Genome,
                    *R.Code,
                    meaningOf(R.Outcome).str(),
                    "",
                    "",
                    {},
                    {}};
  if (Options.Prose) {
    Q.Genome.clear();
    for (const PromptGene &G :
         genesOf(I.Order->Improve ? carriedGenome(R) : I.Order->Genes))
      Q.Genome += (Q.Genome.empty() ? "" : ". ") + G.Summary;
  }
  // Of what was judged it hears the verdict, else what the compiler said.
  if (progressOf(R.Outcome) >= progressOf(CandidateOutcome::Rejected))
    Q.Verdict = findingsText(R);
  else
    Q.Errors = reasonText(R);
  if (R.Outcome == CandidateOutcome::Slower && Options.Roofline) {
    Q.Profile = profileOf(R, P, Evaluator, Advice);
    append_range(Q.Profile, Advice.sentences());
  }
  if (R.Made)
    for (const CandidateStage &S : R.Made->Stages)
      if (!S.Trouble.empty())
        Q.Earlier.push_back(S.Trouble);
  Q.Round = I.Round;
  Q.Rounds = Options.Rounds;
  if (R.Open && Options.Tunables)
    Q.Open = &*R.Open;
  Genome InPlay = I.Order->Genes;
  append_range(InPlay, carriedGenome(R));
  return reviseByModel(I.Answered->Log, *Options.Prompts, kernel(InPlay), Q,
                       Prefix + I.Order->Name + "/" + I.Stage.str(),
                       I.Answered->NoAnswer, Options.Counts);
}

/// One question. What the model cannot answer is no error.
Error ModelMaker::ask(Item &I, AskPlace Place) {
  if (!I.Answered)
    I.Answered = std::make_unique<Reply>(*Options.From);
  I.Answered->Log.at(Place);
  if (isDialogue(I))
    return takeTurn(I);
  Expected<std::optional<ModelTranslation>> T =
      I.Before ? repair(I) : translate(I);
  if (T)
    I.Answered->Answer = std::move(*T);
  else if (Error E = absorbFinding(T.takeError(), [&](StringRef Why) {
             I.Answered->NoAnswer = Why.str();
           }))
    return E;
  I.Done = true;
  return Error::success();
}

/// Dialogues take their turns together: what their models want is done when all
/// have said it, so that it is the same however fast each one is.
Error ModelMaker::askUntilAnswered(ArrayRef<Item *> Asked, StringRef Name) {
  std::vector<Item *> Open(Asked.begin(), Asked.end());
  for (unsigned Turn = 1; !Open.empty(); ++Turn) {
    if (Error E = askAll(Open.size(), [&](AskPlace Place) {
          return ask(*Open[Place.Index], Place);
        }))
      return E;
    std::vector<AgentDialogue *> Talking;
    for (Item *I : Open)
      if (I->Talk)
        Talking.push_back(I->Talk.get());
    if (Error E =
            Bench.serve(Talking, formatv("talk-{0}-turn{1}", Name, Turn).str()))
      return E;
    for (Item *I : Open)
      if (I->Talk && I->Talk->isOver())
        endDialogue(*I);
    erase_if(Open, [](const Item *I) { return I->Done; });
  }
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

/// Genes that the code of an answer may have.
Genome ModelMaker::possibleGenes(const CandidateOrder &O,
                                 ArrayRef<std::string> CarriedOut) const {
  if (!O.Improve)
    return Options.CrossCode && O.Parents.size() == 2 ? unionOf(O.Parents)
                                                      : O.Genes;
  const Genome Before = carriedGenome(O.Parents.front());
  Genome All = genesNamed(CarriedOut, Before, Library);
  for (const Gene &G : Before)
    if (none_of(All,
                [&](const Gene &Mine) { return Mine.Strategy == G.Strategy; }))
      All.push_back(G);
  return All;
}

/// Compiles the answer, and asks the code which genes it has.
Expected<Candidate> ModelMaker::candidateOf(Item &I) {
  const Reply &Answered = *I.Answered;
  const CandidateOrder &O = *I.Order;
  Candidate C;
  C.Record.Genome = genomeText(O.Genes);
  std::vector<DeniedGene> Denied;
  const Genome Asked = O.Improve ? carriedGenome(O.Parents.front()) : O.Genes;
  C.Record.Carried = genomeText(Asked);
  if (Answered.Answer) {
    Expected<Candidate> Made =
        Evaluator.prepare(O.Genes, Answered.Answer->Code);
    if (!Made)
      return Made.takeError();
    C = std::move(*Made);
    C.Record.Carried = genomeText(Asked);
    if (C.Record.Outcome == CandidateOutcome::Unjudged && !Options.Prose) {
      HandshakeResult R = shakeHands(
          possibleGenes(O, Answered.Answer->CarriedOut),
          &Answered.Answer->CarriedOut, {P, OriginalPtx, C}, Library);
      C.Record.Carried = genomeText(R.Carried);
      Denied = std::move(R.Denied);
    }
    if (Answered.Answer->Open) {
      C.Record.Open = Answered.Answer->Open;
      const ArrayRef<Tunable> Numbers = C.Record.Open->Numbers;
      C.Record.Carried =
          genomeText(withSetting(carriedGenome(C.Record), Numbers,
                                 presentSetting(Numbers), infosOf(Library)));
    }
  } else {
    C.Record.end(CandidateOutcome::NoAnswer, Answered.NoAnswer);
  }
  CandidateStage Stage{
      I.Stage.str(),
      Answered.Log.notes(),
      std::move(Denied),
      Answered.Answer ? Answered.Answer->Notes : Answered.NoAnswer,
      std::nullopt,
      ""};
  if (Answered.Answer)
    Stage.CarriedOut = Answered.Answer->CarriedOut;
  CandidateHistory History;
  if (const CandidateRecord *Before = I.Before) {
    // What the stage was to mend.
    Stage.Trouble = (wordOf(Before->Outcome) + ": " +
                     StringRef(reasonText(*Before)).take_front(500))
                        .str();
    if (Before->Made)
      History.Stages = Before->Made->Stages;
  }
  for (const CandidateRecord &R : O.Parents)
    History.Parents.push_back(R.Genome);
  History.Reason = O.Reason;
  History.Stages.push_back(std::move(Stage));
  I.History = History;
  C.Record.Made = std::move(History);
  return C;
}

/// Compiles two at a time, as with rules.
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
    Usable += I->Answered->Answer.has_value();
  if (Usable > 0 || Asked.empty() || Asked.front()->Before)
    return Error::success();
  return resourceError(
      "none of the first " + Twine(Asked.size()) + " answers for '" + P.K.Name +
          "' could be used: " + Asked.front()->Answered->NoAnswer,
      "the recording contains the answers; continue with another model, a new "
      "--record folder and --resume");
}

Error ModelMaker::readOriginal() {
  if (!OriginalPtx.empty())
    return Error::success();
  if (P.Language) {
    OriginalPtx = Evaluator.originalPtx().str();
    return Error::success();
  }
  return generatePtx(Evaluator.originalBitcode(), P.Arch).moveInto(OriginalPtx);
}

/// Genes whose numbers are open may show in one setting and not in another.
Error ModelMaker::readGenes(Candidate &C, const CandidateRecord &Elite) {
  if (Error E = readOriginal())
    return E;
  Genome Possible = carriedGenome(Elite);
  std::vector<std::string> Named;
  if (Elite.Made)
    for (const CandidateStage &S : Elite.Made->Stages)
      if (S.CarriedOut)
        Named = *S.CarriedOut;
  const ArrayRef<Tunable> Numbers = C.Record.Open->Numbers;
  std::vector<std::string> Open;
  for (const Tunable &T : Numbers)
    Open.push_back(T.Strategy);
  for (Gene &G : genesNamed(Open, Possible, Library))
    if (none_of(Possible,
                [&](const Gene &Mine) { return Mine.Strategy == G.Strategy; }))
      Possible.push_back(std::move(G));
  const Setting Now = presentSetting(Numbers);
  const std::vector<StrategyInfo> Strategies = infosOf(Library);
  HandshakeResult R =
      shakeHands(withSetting(std::move(Possible), Numbers, Now, Strategies),
                 &Named, {P, OriginalPtx, C}, Library);
  C.Record.Carried =
      genomeText(withSetting(std::move(R.Carried), Numbers, Now, Strategies));
  C.Record.Made->Stages.back().CarriedOut = std::move(Named);
  C.Record.Made->Stages.back().Denied = std::move(R.Denied);
  return Error::success();
}

/// Asks for all, in waves of as many as the limit of calls surely allows.
Error ModelMaker::run(std::vector<Item> &Items) {
  if (Error E = readOriginal())
    return E;
  for (size_t Next = 0; Next < Items.size();) {
    size_t End = Next;
    unsigned Most = 0;
    while (End < Items.size() && Calls.room(Most + mostCalls(Items[End])) &&
           (Usable > 0 || End - Next < FirstPrompts))
      Most += mostCalls(Items[End++]);
    if (End == Next) {
      Exhausted = true;
      return Error::success();
    }
    std::vector<Item *> Asked;
    for (Item &I : MutableArrayRef(Items).slice(Next, End - Next)) {
      if (!I.Order->Known) {
        Asked.push_back(&I);
        continue;
      }
      const CandidateRecord &Known = *I.Order->Known;
      Calls.Used += Known.Made ? Known.Made->callsOf(I.Stage) : 0;
      Usable += Known.Outcome != CandidateOutcome::NoAnswer;
    }
    std::unique_ptr<ProviderError> Over;
    Error Failed =
        handleErrors(askUntilAnswered(Asked, Items[Next].Order->Name),
                     [&](std::unique_ptr<ProviderError> P) -> Error {
                       if (P->fault() != ProviderFault::Budget)
                         return Error(std::move(P));
                       Over = std::move(P);
                       return Error::success();
                     });
    for (Item *I : Asked)
      if (I->Answered) // Else another one's failure came first.
        I->Answered->Log.addTo(Calls);
    if (Failed)
      return Failed;
    // What was answered before a budget's end is made all the same.
    if (Over)
      erase_if(Asked, [](const Item *I) { return !I->Done; });
    else if (Error E = checkUsable(Asked))
      return E;
    if (Error E = compile(Asked))
      return E;
    if (Over)
      return Error(std::move(Over));
    Next = End;
  }
  return Error::success();
}

Error ModelMaker::make(ArrayRef<CandidateOrder> Orders,
                       std::vector<std::optional<Candidate>> &Made) {
  std::vector<Item> Items;
  for (const CandidateOrder &O : Orders)
    Items.push_back({&O, nullptr, O.Improve ? "improve" : "translate"});
  Error Failed = run(Items);
  Made.reserve(Items.size());
  for (Item &I : Items)
    Made.push_back(std::move(I.Made));
  return Failed;
}

Error ModelMaker::revise(ArrayRef<RevisionOrder> Orders,
                         std::vector<Revision> &Made) {
  std::vector<Item> Items;
  for (const RevisionOrder &O : Orders)
    Items.push_back({O.Order, O.Judged, O.Stage, O.Round});
  Error Failed = run(Items);
  for (Item &I : Items) {
    Revision R;
    R.History = std::move(I.History);
    if (I.Made && I.Made->Record.Outcome != CandidateOutcome::NoAnswer)
      R.Made = std::move(I.Made);
    Made.push_back(std::move(R));
  }
  return Failed;
}

std::unique_ptr<CandidateMaker> makeModelMaker(
    const SearchProblem &P, const CandidateEvaluator &Evaluator,
    const AgentOptions &Options, const std::vector<LibraryStrategy> &Library,
    const KernelAdvice &Advice, CallCount &Calls, DialogueHost &Host) {
  return std::make_unique<ModelMaker>(P, Evaluator, Options, Library, Advice,
                                      Calls, Host);
}

} // namespace cupilot
