//===- AgentDialogue.cpp - Improvements with the bench's tools ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a tool tells must be the same in a search that goes on, or that is
// replayed: it holds no times of this machine.
//
//===----------------------------------------------------------------------===//

#include "AgentDialogue.h"
#include "cupilot/Evolution/BenchAnswers.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/LLM/JsonAnswer.h"
#include "cupilot/LLM/Quote.h"
#include "cupilot/LLM/Schema.h"
#include "cupilot/LLM/Secrets.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

DialogueHost::~DialogueHost() = default;

/// What a model may call; what takes part in a search needs no others.
static constexpr Tool DialogueTools[] = {
    Tool::Compile, Tool::Judge,   Tool::Time,      Tool::Profile,
    Tool::Tried,   Tool::Variant, Tool::Knowledge, Tool::Submit};
/// Of one turn.
static constexpr size_t MostCalls = 8, MostOutput = 16000;

//===----------------------------------------------------------------------===//
// The conversation
//===----------------------------------------------------------------------===//

/// How texts call a tool (plainText).
static const json::Value &callSchema() {
  static const json::Value Schema = json::Object{
      {"type", "object"},
      {"properties",
       json::Object{{"tool", json::Object{{"type", "string"}}},
                    {"arguments", json::Object{{"type", "object"}}}}},
      {"required", json::Array{"tool", "arguments"}}};
  return Schema;
}

void AgentDialogue::readText(StringRef Text) {
  if (Expected<json::Value> V = readAnswer(Text, callSchema())) {
    const json::Object &O = *V->getAsObject();
    Calls.push_back(
        {"", textIn(O, "tool"), formatv("{0}", *O.get("arguments")).str()});
    return;
  } else {
    consumeError(V.takeError());
  }
  // Or it answers as if there were no tools.
  for (const ChatTool &T : R.Tools)
    if (T.Name == wordOf(Tool::Submit)) {
      if (Expected<json::Value> V = readAnswer(Text, T.Input))
        Calls.push_back({"", T.Name, formatv("{0}", *V).str()});
      else
        consumeError(V.takeError());
    }
}

bool AgentDialogue::isLastTurn() const {
  return Turn + 1 >= Budget.Turns || Tokens + 2 * LastTokens > Budget.Tokens;
}

void AgentDialogue::end(std::string Why) {
  Over = true;
  Declined = std::move(Why);
}

Error AgentDialogue::ask(Provider &From) {
  R.Step = Prefix + utostr(++Turn);
  if (IsLast)
    erase_if(R.Tools,
             [](const ChatTool &T) { return T.Name != wordOf(Tool::Submit); });
  Expected<ChatAnswer> A = From.ask(R);
  if (!A)
    return A.takeError();
  LastTokens = A->PromptTokens + A->AnswerTokens;
  Tokens += LastTokens;
  Calls = A->Uses;
  FromText = Calls.empty();
  if (FromText)
    readText(A->Text);
  if (A->Finish == "refused") {
    Calls.clear();
    end("the model declined to answer");
    return Error::success();
  }
  ChatMessage Said{ChatMessage::Role::Assistant, A->Text};
  if (!FromText) {
    Said.Uses = Calls;
    Said.Thoughts = std::move(A->Thoughts);
  } else if (StringRef(A->Text).trim().empty()) {
    Said.Text = "(nothing)"; // A provider may refuse a message that is empty.
  }
  R.Messages.push_back(std::move(Said));
  return Error::success();
}

void AgentDialogue::reply(std::vector<ToolOutput> Outputs) {
  if (Over)
    return;
  if (HandedIn)
    Over = true;
  else if (IsLast)
    end("nothing was handed in");
  if (Over)
    return;
  ChatMessage Told{ChatMessage::Role::User, ""};
  if (FromText)
    for (auto [U, O] : zip_equal(Calls, Outputs))
      Told.Text += quoteText((O.IsError ? "what is wrong with the call of "
                                        : "what came of ") +
                                 quoteLine(excerpt(U.Name, 40)),
                             O.Text) +
                   "\n\n";
  else
    Told.Outputs = std::move(Outputs);
  if (Calls.empty())
    Told.Text += "No tool was called. ";
  IsLast = isLastTurn();
  Told.Text += formatv("Turn {0} of {1} has ended; {2} of {3} tokens are used.",
                       Turn, Budget.Turns, Tokens, Budget.Tokens);
  if (GpuSeconds > 0)
    Told.Text += formatv(" {0:f1} s of {1:f1} s of the GPU are used.",
                         GpuSeconds, Budget.GpuSeconds);
  Told.Text +=
      IsLast ? " The next turn is the last: call `submit`." : " Call a tool.";
  R.Messages.push_back(std::move(Told));
}

std::string AgentDialogue::summary() const {
  return formatv("{0} turns, {1} tokens, {2} calls refused", Turn, Tokens,
                 Refused);
}

//===----------------------------------------------------------------------===//
// The tools
//===----------------------------------------------------------------------===//

std::vector<ChatTool> DialogueBench::tools(const json::Value &Answer) const {
  std::vector<ChatTool> All;
  for (Tool T : DialogueTools) {
    json::Object Told = describeTool(T, Answer);
    ChatTool One{wordOf(T).str(), textIn(Told, "description"),
                 std::move(*Told.get("inputSchema"))};
    if (T == Tool::Submit) {
      One.Description = "Hands in the improved variant, and ends the dialogue. "
                        "The whole gate judges it then.";
      One.Input = schemaForProvider(Answer);
    } else {
      // There is one kernel, and nobody waits.
      json::Object &Schema = *One.Input.getAsObject();
      json::Object &Properties = *Schema.getObject("properties");
      for (StringRef Name : {"kernel", "wait_seconds", "depth"})
        Properties.erase(Name);
      json::Array &Required = *Schema.getArray("required");
      if (auto At = find(Required, json::Value("kernel")); At != Required.end())
        Required.erase(At);
    }
    All.push_back(std::move(One));
  }
  return All;
}

Expected<Candidate *> DialogueBench::candidate(AgentDialogue &D,
                                               const json::Object &Arguments) {
  Expected<SubmittedVariant> S = submittedIn(Arguments, P.K, P.Arch);
  if (!S)
    return S.takeError();
  auto Known = D.Known.find(S->Digest);
  if (Known != D.Known.end())
    return &Known->second;
  Expected<Candidate> C =
      Evaluator.prepare(submissionOf(S->Digest), std::move(S->Code));
  if (!C)
    return C.takeError();
  return &D.Known.emplace(S->Digest, std::move(*C)).first->second;
}

/// What was judged is not judged again.
Error DialogueBench::judge(Candidate &C) {
  return C.Record.Outcome == CandidateOutcome::Unjudged ? Host.judgeQuickly(C)
                                                        : Error::success();
}

/// Nothing was found against it, and it was timed.
static bool isRight(const CandidateRecord &R) {
  return R.Ratio > 0 && (R.Outcome == CandidateOutcome::Accepted ||
                         R.Outcome == CandidateOutcome::Slower);
}

void DialogueBench::note(AgentDialogue &D, const json::Object &Arguments,
                         const Candidate &C) const {
  const std::string Name = variantName(C.Record),
                    Outcome = outcomeText(C.Record);
  auto Known =
      find_if(D.Tried, [&](const TriedVariant &T) { return T.Name == Name; });
  if (Known == D.Tried.end())
    D.Tried.push_back({Name, "", Outcome});
  else
    Known->Outcome = Outcome;
  if (isRight(C.Record) && C.Record.Ratio > D.BestRatio) {
    D.BestRatio = C.Record.Ratio;
    D.Best = Arguments;
  }
}

Expected<json::Object> DialogueBench::variant(AgentDialogue &D,
                                              StringRef Name) const {
  const CandidateRecord *R = Host.variant(Name);
  for (const auto &[Digest, C] : D.Known)
    if (!R && variantName(C.Record) == Name)
      R = &C.Record;
  if (!R || !R->Code)
    return findingError("there is no variant '" + Name.take_front(100) +
                        "' with code; 'tried' lists them");
  json::Object O = variantJson(Name, *R->Code, P.K);
  O["outcome"] = json::fixUTF8(outcomeText(*R));
  return O;
}

/// Texts that come with cuPilot; without words, variants of similar kernels.
Expected<json::Object> DialogueBench::lookUp(StringRef Query,
                                             size_t Most) const {
  if (!Query.trim().empty())
    return json::Object{{"passages", Options.LookUp
                                         ? Options.LookUp(Query, Most)
                                         : json::Array()}};
  json::Array Examples;
  for (const PromptExample &E : Options.Examples)
    Examples.push_back(json::Object{{"kernel", json::fixUTF8(E.Kernel)},
                                    {"genome", E.Genome},
                                    {"outcome", E.Outcome},
                                    {"source", json::fixUTF8(E.Source)}});
  return json::Object{{"examples", std::move(Examples)}};
}

Error DialogueBench::handIn(AgentDialogue &D, const json::Object &Arguments) {
  Expected<ModelTranslation> T = translationFrom(
      json::Object(Arguments), P.K, P.Arch,
      Options.Tunables ? ArrayRef(Library) : ArrayRef<LibraryStrategy>());
  if (!T)
    return T.takeError();
  D.HandedIn = std::move(*T);
  return Error::success();
}

Expected<json::Object> DialogueBench::use(AgentDialogue &D, size_t Call, Tool T,
                                          const json::Object &Arguments,
                                          std::vector<GpuCall> &Waiting) {
  const size_t Most = size_t(Arguments.getInteger("most").value_or(5));
  switch (T) {
  case Tool::Knowledge:
    return lookUp(textIn(Arguments, "query"), std::min<size_t>(Most, 20));
  case Tool::Variant:
    return variant(D, textIn(Arguments, "name"));
  case Tool::Tried:
    return json::Object{
        {"candidates", triedFacts(D.Order.Improve->Tried)},
        {"own", triedFacts(D.Tried)},
        {"basis", wordOf(P.OnGpu ? Basis::Measured : Basis::Modelled)}};
  case Tool::Submit:
    if (Error E = handIn(D, Arguments))
      return std::move(E);
    return json::Object{{"outcome", "handed in"}};
  default:
    break;
  }
  if (T == Tool::Profile && !Arguments.get("source")) {
    json::Object O = adviceJson(Advice);
    O["basis"] = wordOf(P.OnGpu ? Basis::Measured : Basis::Modelled);
    return O;
  }
  Expected<Candidate *> Made = candidate(D, Arguments);
  if (!Made)
    return Made.takeError();
  Candidate &C = **Made;
  if (T == Tool::Compile)
    return compiledJson(P, C);
  if (Error E = judge(C))
    return std::move(E);
  note(D, Arguments, C);
  json::Object O;
  const bool ForGpu = P.OnGpu && T != Tool::Judge &&
                      C.Record.Outcome == CandidateOutcome::Passed;
  if (ForGpu && !D.mayUseGpu())
    return findingError("the GPU time of this dialogue is used up; 'compile' "
                        "and 'judge' go on working");
  if (T == Tool::Profile && C.Record.Evidence && C.Record.Evidence->Gate.Passed)
    O["variant"] = textFacts(profileOf(C.Record, P, Evaluator, Advice));
  if (ForGpu) {
    Waiting.push_back(
        {&D, Call, T == Tool::Profile, &C, Arguments, std::move(O)});
    return json::Object();
  }
  addVerdict(O, P, C.Record);
  if (C.Record.Evidence)
    O["resources"] = resourcesJson(P, C);
  markQuick(O, C.Record.Outcome);
  return O;
}

/// Findings are what is wrong with the call.
Expected<json::Object> DialogueBench::serveCall(AgentDialogue &D, size_t Call,
                                                std::vector<GpuCall> &Waiting) {
  const ToolUse &U = D.calls()[Call];
  if (Call >= MostCalls)
    return findingError("a turn has at most " + Twine(MostCalls) + " calls");
  const std::optional<Tool> T = toolOf(U.Name);
  if (!T || !is_contained(DialogueTools, *T)) {
    std::string Names;
    for (Tool Each : DialogueTools)
      Names += (Names.empty() ? "" : ", ") + wordOf(Each).str();
    return findingError("there is no tool '" + excerpt(U.Name, 80) +
                        "'; the tools are: " + Names);
  }
  if (D.HandedIn)
    return findingError("a text was handed in: nothing is done after it");
  const std::vector<ChatTool> &Tools = D.tools();
  const auto Told =
      find_if(Tools, [&](const ChatTool &Each) { return Each.Name == U.Name; });
  if (Told == Tools.end())
    return findingError("this turn is the last: only 'submit' counts");
  Expected<json::Value> V = readAnswer(U.Arguments, Told->Input);
  if (!V)
    return handleErrors(V.takeError(), [&](const ToolError &Fault) -> Error {
      std::string Text = Fault.text();
      StringRef Rest = Text;
      Rest.consume_front("the answer: ");
      return findingError("arguments of '" + U.Name + "': " + Rest);
    });
  return use(D, Call, *T, *V->getAsObject(), Waiting);
}

/// All of one kind in one batch; the same text of two dialogues once.
Error DialogueBench::askGpu(std::vector<GpuCall> &Waiting, bool IsProfile,
                            StringRef Step) {
  std::vector<WaitingCandidate> Asked;
  std::map<std::string, size_t> Places;
  std::vector<GpuCall *> Mine;
  for (GpuCall &Each : Waiting) {
    if (Each.IsProfile != IsProfile)
      continue;
    Mine.push_back(&Each);
    if (Places.try_emplace(Each.C->Record.Genome, Asked.size()).second)
      Asked.push_back({Each.C->Record, *Each.C});
  }
  if (Mine.empty())
    return Error::success();
  std::vector<LaunchProfiles> Profiles;
  Expected<double> Took =
      IsProfile ? Host.profile((Step + "-profile").str(), Asked, Profiles)
                : Host.time((Step + "-time").str(), Asked);
  if (!Took)
    return Took.takeError();
  for (GpuCall *Each : Mine) {
    const size_t At = Places[Each->C->Record.Genome];
    Each->D->GpuSeconds += *Took / double(Mine.size());
    if (IsProfile)
      Each->Said["counters"] = countersJson(ArrayRef(Profiles).slice(At, 1));
  }
  if (!IsProfile)
    for (GpuCall *Each : Mine)
      Each->C->Record = Asked[Places[Each->C->Record.Genome]].Record;
  return Error::success();
}

Error DialogueBench::serve(ArrayRef<AgentDialogue *> All, StringRef Step) {
  std::vector<std::vector<ToolOutput>> Outputs(All.size());
  std::vector<GpuCall> Waiting;
  auto Tell = [](ToolOutput &Output, const json::Object &O) {
    Output.Text = formatv("{0}", json::Value(json::Object(O))).str();
    if (Output.Text.size() > MostOutput)
      Output.Text = excerpt(Output.Text, MostOutput);
  };
  std::map<AgentDialogue *, size_t> Index;
  for (auto [I, D] : enumerate(All)) {
    Index[D] = I;
    Outputs[I].resize(D->calls().size());
    for (size_t Call = 0; Call < Outputs[I].size(); ++Call) {
      ToolOutput &Output = Outputs[I][Call];
      Output.Id = D->calls()[Call].Id;
      Expected<json::Object> Said = serveCall(*D, Call, Waiting);
      if (Said) {
        Tell(Output, *Said);
        continue;
      }
      if (Error E = absorbFinding(Said.takeError(), [&](StringRef Why) {
            Output.Text = excerpt(Why, MostOutput);
          }))
        return E;
      Output.IsError = true;
      ++D->Refused;
    }
  }
  for (bool IsProfile : {false, true})
    if (Error E = askGpu(Waiting, IsProfile, Step))
      return E;
  for (GpuCall &Each : Waiting) {
    addVerdict(Each.Said, P, Each.C->Record);
    markQuick(Each.Said, Each.C->Record.Outcome);
    Tell(Outputs[Index[Each.D]][Each.Call], Each.Said);
    if (!Each.IsProfile)
      note(*Each.D, Each.Arguments, *Each.C);
  }
  for (auto [D, Said] : zip_equal(All, Outputs))
    D->reply(std::move(Said));
  return Error::success();
}

std::optional<ModelTranslation> DialogueBench::result(AgentDialogue &D) const {
  if (D.HandedIn) {
    D.HandedIn->Notes += " (" + D.summary() + ")";
    return std::move(D.HandedIn);
  }
  if (D.Best.empty())
    return std::nullopt;
  // It was right and timed; its author has not said what it has.
  Expected<SubmittedVariant> S = submittedIn(D.Best, P.K, P.Arch);
  if (!S) {
    consumeError(S.takeError());
    return std::nullopt;
  }
  ModelTranslation T;
  T.Code = std::move(S->Code);
  for (const Gene &G : carriedGenome(D.Order.Parents.front()))
    T.CarriedOut.push_back(G.Strategy);
  T.Notes = "the fastest text that it timed: " + D.Declined + " (" +
            D.summary() + ")";
  return T;
}

} // namespace cupilot
