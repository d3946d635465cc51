//===- Provider.cpp - Requests, answers, faults -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Provider.h"
#include "cupilot/Portable/Digest.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

char ProviderError::ID = 0;

Provider::~Provider() = default;

StringRef toString(ProviderFault Fault) {
  switch (Fault) {
  case ProviderFault::Refused:
    return "refused";
  case ProviderFault::Limited:
    return "limited";
  case ProviderFault::Server:
    return "server";
  case ProviderFault::Connection:
    return "connection";
  case ProviderFault::Inactive:
    return "inactive";
  case ProviderFault::OutOfTime:
    return "out-of-time";
  case ProviderFault::TooLarge:
    return "too-large";
  case ProviderFault::Malformed:
    return "malformed";
  case ProviderFault::Redirect:
    return "redirect";
  case ProviderFault::Budget:
    return "budget";
  case ProviderFault::NoAnswer:
    return "no-answer";
  }
  llvm_unreachable("all faults are named");
}

bool ProviderError::worthAnother() const {
  switch (Fault) {
  case ProviderFault::Limited:
  case ProviderFault::Server:
  case ProviderFault::Connection:
  case ProviderFault::Inactive:
  case ProviderFault::Malformed:
    return true;
  default:
    return false;
  }
}

Error providerError(ProviderFault Fault, const Twine &Message,
                    const Twine &Hint) {
  return make_error<ProviderError>(Fault, Message, Hint);
}

std::string textOf(const ChatRequest &R) {
  std::string Text = "==== system\n" + R.System + "\n";
  for (const ChatMessage &M : R.Messages) {
    Text += (M.From == ChatMessage::Role::User ? "==== user\n"
                                               : "==== assistant\n") +
            M.Text + "\n";
    for (const ToolUse &U : M.Uses)
      Text += "==== call of " + U.Name + "\n" + U.Arguments + "\n";
    for (const ToolOutput &O : M.Outputs)
      Text += (O.IsError ? "==== error\n" : "==== result\n") + O.Text + "\n";
    if (M.Thoughts.kind() != json::Value::Null)
      Text += formatv("==== thoughts\n{0}\n", M.Thoughts).str();
  }
  for (const ChatTool &T : R.Tools)
    Text +=
        formatv("==== tool {0}: {1}\n{2:2}\n", T.Name, T.Description, T.Input)
            .str();
  if (R.Schema)
    Text += formatv("==== schema of the answer ({0})\n{1:2}\n", R.SchemaName,
                    *R.Schema)
                .str();
  return Text + formatv("==== at most {0} tokens\n", R.MaxTokens).str();
}

json::Array toJSON(ArrayRef<ToolUse> Uses) {
  json::Array All;
  for (const ToolUse &U : Uses)
    All.push_back(json::Object{{"id", json::fixUTF8(U.Id)},
                               {"name", json::fixUTF8(U.Name)},
                               {"arguments", json::fixUTF8(U.Arguments)}});
  return All;
}

json::Value toJSON(const ChatRequest &R) {
  json::Array Messages;
  for (const ChatMessage &M : R.Messages) {
    json::Object One{
        {"role", M.From == ChatMessage::Role::User ? "user" : "assistant"},
        {"text", json::fixUTF8(M.Text)}};
    if (!M.Uses.empty())
      One["calls"] = toJSON(M.Uses);
    json::Array Outputs;
    for (const ToolOutput &Output : M.Outputs)
      Outputs.push_back(json::Object{{"id", json::fixUTF8(Output.Id)},
                                     {"text", json::fixUTF8(Output.Text)},
                                     {"error", Output.IsError}});
    if (!Outputs.empty())
      One["results"] = std::move(Outputs);
    if (M.Thoughts.kind() != json::Value::Null)
      One["thoughts"] = M.Thoughts;
    Messages.push_back(std::move(One));
  }
  json::Object O{{"system", json::fixUTF8(R.System)},
                 {"messages", std::move(Messages)},
                 {"max_tokens", R.MaxTokens}};
  if (R.Schema)
    O["schema"] = json::Object{{"name", R.SchemaName}, {"schema", *R.Schema}};
  json::Array Tools;
  for (const ChatTool &T : R.Tools)
    Tools.push_back(json::Object{
        {"name", T.Name}, {"description", T.Description}, {"input", T.Input}});
  if (!Tools.empty())
    O["tools"] = std::move(Tools);
  return O;
}

std::string digestOf(const ChatRequest &R) {
  return digest(formatv("{0}", toJSON(R)).str());
}

} // namespace cupilot
