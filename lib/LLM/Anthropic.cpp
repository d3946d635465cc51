//===- Anthropic.cpp - Anthropic's messages -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Anthropic API reference, "Messages" and "Streaming messages".
//
//===----------------------------------------------------------------------===//

#include "WireFormat.h"
#include "cupilot/LLM/Schema.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

std::string anthropicBody(const ProviderSpec &Spec, const ChatRequest &R) {
  json::Array Messages;
  for (const ChatMessage &M : R.Messages)
    Messages.push_back(json::Object{
        {"role", M.From == ChatMessage::Role::User ? "user" : "assistant"},
        {"content", json::fixUTF8(M.Text)}});
  json::Object Body{{"model", Spec.Model},
                    {"max_tokens", R.MaxTokens},
                    {"messages", std::move(Messages)}};
  if (std::string System = systemText(Spec, R); !System.empty())
    Body["system"] = json::fixUTF8(System);
  const bool Thinks = !Spec.Effort.empty() && Spec.Effort != "none";
  if (Thinks) {
    Body["thinking"] = json::Object{{"type", "adaptive"}};
    Body["output_config"] = json::Object{{"effort", Spec.Effort}};
  }
  if (Spec.Temperature)
    Body["temperature"] = *Spec.Temperature;
  if (Spec.Stream)
    Body["stream"] = true;
  if (R.Schema && Spec.Schema == ProviderSpec::SchemaMode::Tool) {
    Body["tools"] = json::Array{
        json::Object{{"name", R.SchemaName},
                     {"description", "Give the answer"},
                     {"input_schema", schemaForProvider(*R.Schema)}}};
    // Who thinks must be free to choose.
    if (Thinks)
      Body["tool_choice"] = json::Object{{"type", "auto"}};
    else
      Body["tool_choice"] =
          json::Object{{"type", "tool"}, {"name", R.SchemaName}};
  }
  return formatv("{0}", json::Value(std::move(Body))).str();
}

namespace {
class AnthropicDecoder : public AnswerDecoder {
public:
  Error event(StringRef Event, StringRef Data) override;
  Error whole(const json::Object &O) override;

private:
  void takeUsage(const json::Object *Usage);
  void takeStop(const json::Object &O);
  /// What tools were given; when there is any, it is the answer.
  std::string Tool;
};
} // namespace

void AnthropicDecoder::takeUsage(const json::Object *Usage) {
  if (!Usage)
    return;
  uint64_t Prompt = 0;
  bool Told = false;
  // What came from the cache or went into it is not in input_tokens.
  for (StringRef Key : {"input_tokens", "cache_creation_input_tokens",
                        "cache_read_input_tokens"})
    if (auto N = Usage->getInteger(Key); N && *N >= 0) {
      Prompt += static_cast<uint64_t>(*N);
      Told = true;
    }
  if (Told)
    Answer.PromptTokens = std::max(Answer.PromptTokens, Prompt);
  if (auto N = Usage->getInteger("output_tokens"); N && *N >= 0) {
    Answer.AnswerTokens = static_cast<uint64_t>(*N);
    HasUsage = true;
  }
}

void AnthropicDecoder::takeStop(const json::Object &O) {
  auto Reason = O.getString("stop_reason");
  if (!Reason)
    return;
  Finished = true;
  if (*Reason == "end_turn" || *Reason == "tool_use" ||
      *Reason == "stop_sequence")
    Answer.Finish = "stop";
  else if (*Reason == "max_tokens")
    Answer.Finish = "length";
  else if (*Reason == "refusal")
    Answer.Finish = "refused";
  else
    Answer.Finish = Reason->str();
}

Error AnthropicDecoder::event(StringRef Event, StringRef Data) {
  Expected<json::Object> O = objectFrom(Data);
  if (!O)
    return O.takeError();
  StringRef Type = O->getString("type").value_or(Event);
  if (Type == "error" || !errorMessageIn(*O).empty())
    return errorInStream(*O);
  if (Type == "message_start") {
    if (const json::Object *M = O->getObject("message")) {
      takeUsage(M->getObject("usage"));
      Answer.Model = M->getString("model").value_or("").str();
    }
  } else if (Type == "content_block_delta") {
    if (const json::Object *D = O->getObject("delta")) {
      if (auto Text = D->getString("text"))
        Answer.Text += *Text;
      if (auto Part = D->getString("partial_json"))
        Tool += *Part;
      if (auto Thoughts = D->getString("thinking"))
        ThoughtBytes += Thoughts->size();
    }
  } else if (Type == "message_delta") {
    takeUsage(O->getObject("usage"));
    if (const json::Object *D = O->getObject("delta"))
      takeStop(*D);
    if (Finished && !Tool.empty()) {
      Answer.Text = Tool;
      Tool.clear();
    }
  } else if (Type == "message_stop") {
    Done = true;
  }
  return Error::success();
}

Error AnthropicDecoder::whole(const json::Object &O) {
  if (O.getString("type") == "error" || !errorMessageIn(O).empty())
    return errorInStream(O);
  const json::Array *Content = O.getArray("content");
  if (!Content)
    return providerError(ProviderFault::Malformed,
                         "the server's answer has no content");
  for (const json::Value &Block : *Content)
    if (const json::Object *B = Block.getAsObject()) {
      if (auto Text = B->getString("text"))
        Answer.Text += *Text;
      if (auto Thoughts = B->getString("thinking"))
        ThoughtBytes += Thoughts->size();
      if (const json::Value *Input = B->get("input"))
        Tool = formatv("{0}", *Input).str();
    }
  if (!Tool.empty())
    Answer.Text = Tool;
  Answer.Model = O.getString("model").value_or("").str();
  takeUsage(O.getObject("usage"));
  takeStop(O);
  return Error::success();
}

std::unique_ptr<AnswerDecoder> anthropicDecoder() {
  return std::make_unique<AnthropicDecoder>();
}

} // namespace cupilot
