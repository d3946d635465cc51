//===- Toolbox.cpp - The tools at work -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mcp/Toolbox.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/LLM/Schema.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Json.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace llvm;

namespace cupilot {

/// Of the schema with the forms of plans and guards.
static constexpr StringRef AnswerPrompt = "strategy-translator";
static constexpr StringRef ImprovePrompt = "agent-improve",
                           ReviewPrompt = "agent-review";
static constexpr size_t MostSource = size_t(1) << 20;
static constexpr double MostWait = 20;

static std::string digestOf(const json::Object &O) {
  return digest(formatv("{0}", json::Value(json::Object(O))).str());
}

Expected<std::unique_ptr<Toolbox>> Toolbox::open(const McpOptions &O) {
  Expected<PromptLibrary> Prompts =
      PromptLibrary::open(PromptLibrary::shippedFolder(), "");
  if (!Prompts)
    return Prompts.takeError();
  std::unique_ptr<Toolbox> T(new Toolbox(O, std::move(*Prompts)));
  if (Error E = T->TheBench.open())
    return std::move(E);
  Toolbox *Self = T.get();
  T->Work = std::make_unique<WorkFolder>(
      T->TheBench.journal() + ".mcp", O.Work,
      [Self](const WorkRequest &W, raw_ostream &Log, GpuMeter &Meter) {
        return Self->TheBench.work(W, Log, Meter);
      },
      [Self](StringRef Handle, const WorkStatus &S) {
        const WorkRequest &W = S.Request;
        ToolCall Call{secondsOfClock(),
                      W.Client,
                      W.Model,
                      wordOf(W.Tool).str(),
                      W.Kernel,
                      digestOf(W.Arguments),
                      Handle.str(),
                      wordOf(S.State).str(),
                      S.State == WorkState::Done ? digestOf(S.Result) : "",
                      S.Seconds,
                      S.GpuSeconds,
                      /*IsWork=*/true,
                      /*IsFree=*/true};
        Self->note(Call);
      });
  return std::move(T);
}

void Toolbox::note(const ToolCall &Call) const {
  Expected<Journal> J = Journal::open(TheBench.journal());
  Error Failure = J ? J->saveToolCall(Call) : J.takeError();
  // The client is served all the same; people see it.
  handleAllErrors(std::move(Failure), [](const ErrorInfoBase &E) {
    errs() << "cupilot mcp: " << E.message() << "\n";
  });
}

json::Array Toolbox::describe() const {
  json::Value Answer = nullptr;
  if (Expected<const PromptTemplate *> P = Prompts.find(AnswerPrompt))
    Answer = (*P)->Schema;
  else
    consumeError(P.takeError());
  json::Array All;
  for (Tool T : allTools())
    All.push_back(describeTool(T, Answer));
  return All;
}

//===----------------------------------------------------------------------===//
// Budgets
//===----------------------------------------------------------------------===//

static Expected<ToolTotals> totalsIn(StringRef Path) {
  Expected<Journal> J = Journal::open(Path);
  if (!J)
    return J.takeError();
  return J->toolTotals();
}

Error Toolbox::checkBudget(Tool T) const {
  if (isFree(T))
    return Error::success();
  if (!O.Budget.Calls && !O.Budget.GpuSeconds)
    return Error::success();
  Expected<ToolTotals> Used = totalsIn(TheBench.journal());
  if (!Used)
    return Used.takeError();
  if (O.Budget.Calls && Used->Calls >= *O.Budget.Calls)
    return resourceError(
        formatv("the budget of {0} calls of this store is used up",
                *O.Budget.Calls),
        "'status', 'result' and 'cancel' go on working; a person can start "
        "the server with a larger --max-calls");
  if (O.Budget.GpuSeconds && TheBench.hasGpu() && usesGpu(T) &&
      Used->GpuSeconds >= *O.Budget.GpuSeconds)
    return resourceError(
        formatv("the budget of {0} s of GPU time of this store is used up",
                *O.Budget.GpuSeconds),
        "tools that only look go on working; a person can start the server "
        "with a larger --max-gpu-seconds");
  return Error::success();
}

void Toolbox::addBudget(json::Object &To) const {
  Expected<ToolTotals> Used = totalsIn(TheBench.journal());
  if (!Used) {
    consumeError(Used.takeError());
    return;
  }
  json::Object Budget{{"calls", int64_t(Used->Calls)},
                      {"gpu_seconds", Used->GpuSeconds}};
  if (O.Budget.Calls)
    Budget["most_calls"] = int64_t(*O.Budget.Calls);
  if (O.Budget.GpuSeconds)
    Budget["most_gpu_seconds"] = *O.Budget.GpuSeconds;
  To["budget"] = std::move(Budget);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static json::Object toJSON(StringRef Handle, const WorkStatus &S) {
  json::Object Row{{"handle", Handle.str()},
                   {"tool", wordOf(S.Request.Tool)},
                   {"kernel", json::fixUTF8(S.Request.Kernel)},
                   {"client", json::fixUTF8(S.Request.Client)},
                   {"state", wordOf(S.State)},
                   {"seconds", S.Seconds},
                   {"gpu_seconds", S.GpuSeconds}};
  if (!S.Said.empty())
    Row["said"] = json::fixUTF8(S.Said);
  if (S.State == WorkState::Done)
    Row["result"] = json::Object(S.Result);
  if (S.State == WorkState::Failed) {
    Row["error"] = json::fixUTF8(S.Error);
    if (!S.Hint.empty())
      Row["hint"] = json::fixUTF8(S.Hint);
  }
  return Row;
}

/// Interrupted work is gone on with.
Expected<WorkStatus> Toolbox::statusOf(StringRef Handle) {
  Expected<WorkStatus> S = Work->status(Handle);
  if (!S || S->State != WorkState::Interrupted || !TheBench.hasProgram())
    return S;
  if (Expected<BenchKernel *> K = TheBench.kernel(S->Request.Symbol); !K)
    return K.takeError();
  Expected<bool> GoesOn = Work->resume(Handle);
  if (!GoesOn)
    return GoesOn.takeError();
  return Work->status(Handle);
}

ToolAnswer Toolbox::standing(StringRef Handle, bool &IsOver) {
  Expected<WorkStatus> S = statusOf(Handle);
  IsOver = !S || S->isOver();
  if (!S)
    return answered(S.takeError());
  ToolAnswer A = answered(toJSON(Handle, *S));
  if (S->State == WorkState::Failed)
    A.Problem = S->Error + (S->Hint.empty() ? "" : "\n" + S->Hint);
  return A;
}

void Toolbox::abandon(StringRef Handle) {
  consumeError(Work->cancel(Handle).takeError());
}

Expected<ToolReply> Toolbox::begin(Tool T, const json::Object &Arguments,
                                   const McpClient &Who) {
  Expected<BenchKernel *> K = TheBench.kernel(textIn(Arguments, "kernel"));
  if (!K)
    return K.takeError();
  if (T == Tool::Judge || T == Tool::Time || T == Tool::Profile)
    TheBench.makeReady(**K);
  const Kernel &Of = (*K)->Problem.K;
  WorkRequest W;
  W.Tool = T;
  W.Kernel = Of.Name;
  W.Symbol = Of.Symbol;
  W.Identity = Of.Digest;
  W.Arguments = Arguments;
  W.Arguments.erase("wait_seconds");
  W.Client = Who.Name;
  W.Model = Who.Model;
  Expected<std::string> Handle = Work->begin(W);
  if (!Handle)
    return Handle.takeError();
  // What takes long has a handle at once.
  const bool IsLong =
      T == Tool::Submit || T == Tool::Tune ||
      (T == Tool::Judge && textIn(Arguments, "depth") == "whole");
  ToolReply Reply;
  Reply.Handle = *Handle;
  Reply.WaitSeconds =
      Arguments.getNumber("wait_seconds").value_or(IsLong ? 0 : MostWait);
  return Reply;
}

Expected<json::Object> Toolbox::workList() {
  constexpr size_t MostListed = 100;
  json::Array All;
  std::vector<std::string> Handles = Work->handles();
  for (const std::string &Handle :
       ArrayRef(Handles).take_back(std::min(Handles.size(), MostListed))) {
    Expected<WorkStatus> S = Work->status(Handle);
    if (!S)
      return S.takeError();
    json::Object Row = toJSON(Handle, *S);
    Row.erase("result");
    All.push_back(std::move(Row));
  }
  return json::Object{{"work", std::move(All)}};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

ToolAnswer Toolbox::answered(Expected<json::Object> Made) const {
  ToolAnswer A;
  if (Made) {
    A.Structured = std::move(*Made);
    addBudget(A.Structured);
    return A;
  }
  handleAllErrors(
      Made.takeError(),
      [&](const ToolError &T) {
        A.Problem = T.text() + (T.hint().empty() ? "" : "\n" + T.hint());
      },
      [&](const ErrorInfoBase &Other) { A.Problem = Other.message(); });
  return A;
}

Expected<json::Object> Toolbox::variant(StringRef Kernel, StringRef Name) {
  if (!Name.starts_with("h_"))
    return TheBench.variant(Kernel, Name);
  Expected<WorkStatus> S = Work->status(Name);
  if (!S)
    return S.takeError();
  const WorkRequest &W = S->Request;
  if (!W.Arguments.get("source"))
    return usageError("the work '" + Name + "' has no text");
  json::Object O{{"name", Name.str()},
                 {"kernel", json::fixUTF8(W.Kernel)},
                 {"source", textIn(W.Arguments, "source")}};
  for (const char *Key : {"plan", "guard", "notes"})
    if (const json::Value *V = W.Arguments.get(Key))
      O[Key] = *V;
  return O;
}

Expected<ToolReply> Toolbox::reply(Tool T, const json::Object &Arguments,
                                   const McpClient &Who) {
  json::Value Answer = nullptr;
  if (Expected<const PromptTemplate *> P = Prompts.find(AnswerPrompt))
    Answer = (*P)->Schema;
  else
    return P.takeError();
  if (Error E = checkSchema(json::Object(Arguments),
                            *describeTool(T, Answer).get("inputSchema")))
    return handleErrors(std::move(E), [&](const ToolError &Fault) -> Error {
      std::string Text = Fault.text();
      StringRef Rest = Text;
      Rest.consume_front("the answer: ");
      return usageError("arguments of '" + wordOf(T) + "': " + Rest,
                        "tools/list shows the schema");
    });
  if (textIn(Arguments, "source").size() > MostSource)
    return usageError("the source is longer than 1 MiB",
                      "a variant is one kernel with what it needs");
  if (Error E = checkBudget(T))
    return std::move(E);
  const std::string Kernel = textIn(Arguments, "kernel"),
                    Handle = textIn(Arguments, "handle");
  const size_t Most = size_t(
      Arguments.getInteger("most").value_or(T == Tool::Knowledge ? 5 : 100));
  auto Now = [&](Expected<json::Object> Made) -> Expected<ToolReply> {
    if (!Made)
      return Made.takeError();
    ToolReply Reply;
    Reply.Answer = ToolAnswer{std::move(*Made), ""};
    return Reply;
  };
  switch (T) {
  case Tool::Kernels:
    return Now(TheBench.kernels());
  case Tool::Kernel:
    return Now(TheBench.describe(Kernel));
  case Tool::Tried: {
    std::vector<std::pair<std::string, WorkStatus>> All;
    for (const std::string &Each : Work->handles())
      if (Expected<WorkStatus> S = Work->status(Each))
        All.emplace_back(Each, std::move(*S));
      else
        consumeError(S.takeError());
    return Now(TheBench.tried(Kernel, Most, All));
  }
  case Tool::Variant:
    return Now(variant(Kernel, textIn(Arguments, "name")));
  case Tool::Knowledge:
    if (!textIn(Arguments, "query").empty())
      return Now(json::Object{
          {"passages", Known.passages(textIn(Arguments, "query"), Most)}});
    if (Kernel.empty())
      return usageError("neither words nor a kernel were given",
                        "give 'query', or 'kernel'");
    return begin(T, Arguments, Who);
  case Tool::Compile:
  case Tool::Judge:
  case Tool::Time:
  case Tool::Profile:
  case Tool::Tune:
  case Tool::Submit:
    return begin(T, Arguments, Who);
  case Tool::Status: {
    if (Handle.empty())
      return Now(workList());
    Expected<WorkStatus> S = statusOf(Handle);
    if (!S)
      return S.takeError();
    json::Object Row = toJSON(Handle, *S);
    Row.erase("result");
    return Now(json::Object{{"work", json::Array{std::move(Row)}}});
  }
  case Tool::Result: {
    if (Expected<WorkStatus> S = statusOf(Handle); !S)
      return S.takeError();
    ToolReply Reply;
    Reply.Handle = Handle;
    Reply.WaitSeconds = Arguments.getNumber("wait_seconds").value_or(0);
    return Reply;
  }
  case Tool::Cancel: {
    Expected<bool> Ended = Work->cancel(Handle);
    if (!Ended)
      return Ended.takeError();
    Expected<WorkStatus> S = Work->status(Handle);
    if (!S)
      return S.takeError();
    return Now(toJSON(Handle, *S));
  }
  }
  llvm_unreachable("all tools do something");
}

ToolReply Toolbox::call(Tool T, const json::Object &Arguments,
                        const McpClient &Who) {
  const auto Begin = std::chrono::steady_clock::now();
  ToolCall Call;
  Call.Time = secondsOfClock();
  Call.Client = Who.Name;
  Call.Model = Who.Model;
  Call.Tool = wordOf(T).str();
  Call.Kernel = textIn(Arguments, "kernel").substr(0, 500);
  Call.Arguments = digestOf(Arguments);
  Call.IsFree = isFree(T);
  Expected<ToolReply> Made = reply(T, Arguments, Who);
  ToolReply Reply;
  if (Made) {
    Reply = std::move(*Made);
    Call.Handle = Reply.Handle;
    Call.Outcome = Reply.Answer ? "done" : "pending";
    if (Reply.Answer)
      Call.Result = digestOf(Reply.Answer->Structured);
  } else {
    Call.Outcome = "refused";
    Reply.Answer = answered(Made.takeError());
    Call.Result = digest(Reply.Answer->Problem);
  }
  Call.Seconds = secondsSince(Begin);
  note(Call);
  if (Reply.Answer && Reply.Answer->Problem.empty())
    addBudget(Reply.Answer->Structured);
  return Reply;
}

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

json::Array Toolbox::prompts() const {
  return json::Array{
      json::Object{
          {"name", ImprovePrompt},
          {"title", "Make a kernel faster"},
          {"description", "The kernel, its launches, the rules for "
                          "variants, and how the tools are used"},
          {"arguments", json::Array{json::Object{
                            {"name", "kernel"},
                            {"description", "as the tool 'kernels' spells it"},
                            {"required", true}}}}},
      json::Object{{"name", ReviewPrompt},
                   {"title", "Review what agents left in the store"},
                   {"description", "What to look at before variants are "
                                   "committed"},
                   {"arguments", json::Array{}}}};
}

Expected<std::string> Toolbox::prompt(StringRef Name,
                                      const json::Object &Arguments) {
  json::Object Facts;
  if (Name == ImprovePrompt) {
    Expected<BenchKernel *> K = TheBench.kernel(textIn(Arguments, "kernel"));
    if (!K)
      return K.takeError();
    const SearchProblem &P = (*K)->Problem;
    Facts = kernelFacts({P.K, P.Gpu.Name, P.Arch, P.Workloads, &P.Gpu});
  } else if (Name == ReviewPrompt) {
    Facts["store"] = O.Bench.Store;
  } else {
    return usageError("there is no prompt '" + Name.take_front(100) + "'",
                      "prompts/list lists all");
  }
  Expected<ChatRequest> R = Prompts.render(Name, Facts);
  if (!R)
    return R.takeError();
  std::string Text = R->System;
  for (const ChatMessage &M : R->Messages)
    Text += "\n\n" + M.Text;
  return Text;
}

} // namespace cupilot
