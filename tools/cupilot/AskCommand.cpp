//===- AskCommand.cpp - cupilot ask -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One prompt, filled in from a file of facts: what the agents send, to be seen
// and tried by hand.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "ProviderOptions.h"
#include "cupilot/LLM/Dialogue.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Nesting.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

static cl::SubCommand Sub("ask", "Send one prompt, or show what it would send");
static cl::opt<std::string> Name(cl::Positional, cl::sub(Sub),
                                 cl::value_desc("PROMPT"),
                                 cl::desc("The prompt; none lists them"));
static cl::opt<std::string>
    FactsFile("facts", cl::sub(Sub), cl::value_desc("FILE"),
              cl::desc("JSON object that fills the prompt in"));
static cl::opt<std::string> Step("step", cl::sub(Sub), cl::value_desc("NAME"),
                                 cl::desc("Name of the call in recordings"));
static cl::opt<unsigned> AnswerTokens("answer-tokens", cl::sub(Sub),
                                      cl::init(16384), cl::value_desc("N"),
                                      cl::desc("Most tokens of the answer "
                                               "(default 16384)"));
static cl::opt<bool> DryRun("dry-run", cl::sub(Sub),
                            cl::desc("Print what would be sent, and send "
                                     "nothing"));
static ProviderOptions Providers(Sub, /*Resume=*/true);

static const char Examples[] =
    "  cupilot ask\n"
    "  cupilot ask roofline-prophet --facts facts.json --dry-run\n"
    "  cupilot ask roofline-prophet --facts facts.json --provider "
    "openai,model=NAME --record calls\n"
    "  cupilot ask roofline-prophet --facts facts.json --provider "
    "replay:calls\n\n"
    "In FILE, {\"quote\": LABEL, \"file\": PATH} stands for a file's text in a "
    "quote; docs/LLM.md\n"
    "lists the facts of each prompt. Exit status 1: no usable answer.\n";

/// Reads the files that quotes name, relative to that of the facts.
static Error readQuotes(json::Value &V, StringRef Folder) {
  if (json::Array *A = V.getAsArray()) {
    for (json::Value &Item : *A)
      if (Error E = readQuotes(Item, Folder))
        return E;
    return Error::success();
  }
  json::Object *O = V.getAsObject();
  if (!O)
    return Error::success();
  auto Label = O->getString("quote"), File = O->getString("file");
  if (O->size() == 2 && Label && File) {
    SmallString<128> Path(*File);
    if (sys::path::is_relative(Path)) {
      Path = Folder;
      sys::path::append(Path, *File);
    }
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    V = quotedFact(*Label, *Text);
    return Error::success();
  }
  for (auto &[Key, Item] : *O)
    if (Error E = readQuotes(Item, Folder))
      return E;
  return Error::success();
}

static Expected<json::Object> facts() {
  if (FactsFile.empty())
    return json::Object();
  Expected<std::string> Text = readFile(FactsFile);
  if (!Text)
    return Text.takeError();
  Expected<json::Value> V = parseJson(*Text);
  if (!V)
    return usageError("'" + FactsFile +
                      "' is no JSON: " + toString(V.takeError()));
  if (!V->getAsObject())
    return usageError("'" + FactsFile + "' is no JSON object");
  if (Error E = readQuotes(*V, sys::path::parent_path(FactsFile)))
    return std::move(E);
  if (!V->getAsObject())
    return usageError("'" + FactsFile + "' is a quote and no object of facts");
  return std::move(*V->getAsObject());
}

static Error list(const PromptLibrary &Prompts) {
  for (const std::string &One : Prompts.names()) {
    Expected<const PromptTemplate *> T = Prompts.find(One);
    if (!T)
      return T.takeError();
    outs() << (*T)->provenance() << "  " << (*T)->File << "\n";
  }
  return Error::success();
}

static Error run(const TrailingArgs &) {
  Expected<PromptLibrary> Prompts = Providers.prompts();
  if (!Prompts)
    return Prompts.takeError();
  if (Name.empty())
    return list(*Prompts);
  Expected<json::Object> Facts = facts();
  if (!Facts)
    return Facts.takeError();
  Expected<ChatRequest> Request = Prompts->render(Name, *Facts);
  if (!Request)
    return Request.takeError();
  Request->MaxTokens = AnswerTokens;
  Request->Step = Step;
  std::unique_ptr<Session> Asked;
  if (Providers.given() || !DryRun) {
    Expected<std::unique_ptr<Session>> S =
        Providers.open(Providers.resume(), DryRun);
    if (!S)
      return S.takeError();
    Asked = std::move(*S);
  }
  if (DryRun) {
    outs() << "prompt: " << Request->Prompt << "\n";
    if (Asked)
      outs() << Asked->describe(*Request);
    outs() << textOf(*Request);
    return Error::success();
  }
  Expected<StructuredAnswer> A = askStructured(
      *Asked, *Prompts, {Name, *Facts, Step, AnswerTokens, nullptr});
  errs() << Asked->summary() << "\n";
  if (!A)
    return A.takeError();
  const ChatAnswer &Last = A->Rounds.back();
  errs() << "prompt " << A->Prompt << ", " << Last.Provider
         << formatv(", {0:f1} s", Last.Seconds)
         << (A->Rounds.size() > 1 ? ", repaired" : "") << "\n";
  outs() << formatv("{0:2}\n", A->Value);
  return Error::success();
}

static Command Registered(Sub, Examples, run);
