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
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Json.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace ask_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Name{
      cl::Positional, In, cl::value_desc("PROMPT"),
      cl::desc("Name of the prompt; without it, all prompts are listed")};
  cl::opt<std::string> FactsFile{
      "facts", In, cl::value_desc("FILE"),
      cl::desc("JSON object with the facts that the prompt asks for")};
  cl::opt<std::string> Step{"step", In, cl::value_desc("NAME"),
                            cl::desc("Name of the call in recordings")};
  cl::opt<unsigned> AnswerTokens{
      "answer-tokens", In, cl::init(16384), cl::value_desc("N"),
      cl::desc("Most tokens in the answer (default 16384)")};
  cl::opt<bool> DryRun{"dry-run", In,
                       cl::desc("Print what would be sent without sending it")};
  ProviderOptions Providers{Sub, /*Resume=*/true};
};
} // namespace

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

static Expected<json::Object> facts(StringRef FactsFile) {
  if (FactsFile.empty())
    return json::Object();
  Expected<std::string> Text = readFile(FactsFile);
  if (!Text)
    return Text.takeError();
  Expected<json::Value> V = parseJson(*Text);
  if (!V)
    return usageError("'" + FactsFile +
                      "' is not valid JSON: " + toString(V.takeError()));
  if (!V->getAsObject())
    return usageError("'" + FactsFile + "' is not a JSON object");
  if (Error E = readQuotes(*V, sys::path::parent_path(FactsFile)))
    return std::move(E);
  if (!V->getAsObject())
    return usageError("'" + FactsFile + "' is a quote, not an object of facts");
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

static Error run(const Options &O, const TrailingArgs &) {
  Expected<PromptLibrary> Prompts = O.Providers.prompts();
  if (!Prompts)
    return Prompts.takeError();
  if (O.Name.empty())
    return list(*Prompts);
  Expected<json::Object> Facts = facts(O.FactsFile);
  if (!Facts)
    return Facts.takeError();
  Expected<ChatRequest> Request = Prompts->render(O.Name, *Facts);
  if (!Request)
    return Request.takeError();
  Request->MaxTokens = O.AnswerTokens;
  Request->Step = O.Step;
  std::unique_ptr<Session> Asked;
  if (O.Providers.given() || !O.DryRun) {
    Expected<SessionOptions> Options = O.Providers.session();
    if (!Options)
      return Options.takeError();
    Options->DryRun = O.DryRun;
    Expected<std::unique_ptr<Session>> S = Session::open(*Options);
    if (!S)
      return S.takeError();
    Asked = std::move(*S);
  }
  if (O.DryRun) {
    outs() << "prompt: " << Request->Prompt << "\n";
    if (Asked)
      outs() << Asked->describe(*Request);
    outs() << textOf(*Request);
    return Error::success();
  }
  Expected<StructuredAnswer> A = askStructured(
      *Asked, *Prompts, {O.Name, *Facts, O.Step, O.AnswerTokens, nullptr});
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

static const Command Registered("ask",
                                "Send one prompt, or show what it would send",
                                "", Examples, run);

} // namespace ask_command
