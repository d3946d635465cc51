//===- OpenAI.cpp - OpenAI's chat completions -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The protocol that OpenAI, DeepSeek, vLLM, llama.cpp and Ollama share
// (OpenAI API reference, "Create chat completion").
//
//===----------------------------------------------------------------------===//

#include "WireFormat.h"
#include "cupilot/LLM/Schema.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

std::string openAIBody(const ProviderSpec &Spec, const ChatRequest &R) {
  json::Array Messages;
  if (std::string System = systemText(Spec, R); !System.empty())
    Messages.push_back(
        json::Object{{"role", "system"}, {"content", json::fixUTF8(System)}});
  for (const ChatMessage &M : R.Messages)
    Messages.push_back(json::Object{
        {"role", M.From == ChatMessage::Role::User ? "user" : "assistant"},
        {"content", json::fixUTF8(M.Text)}});
  json::Object Body{
      {"messages", std::move(Messages)},
      {Spec.NewTokenLimit ? "max_completion_tokens" : "max_tokens",
       R.MaxTokens}};
  if (!Spec.Model.empty())
    Body["model"] = Spec.Model;
  if (!Spec.Effort.empty())
    Body["reasoning_effort"] = Spec.Effort;
  if (Spec.Temperature)
    Body["temperature"] = *Spec.Temperature;
  if (Spec.Stream) {
    Body["stream"] = true;
    Body["stream_options"] = json::Object{{"include_usage", true}};
  }
  if (R.Schema && Spec.Schema == ProviderSpec::SchemaMode::JsonSchema)
    Body["response_format"] =
        json::Object{{"type", "json_schema"},
                     {"json_schema",
                      json::Object{{"name", R.SchemaName},
                                   {"strict", true},
                                   {"schema", schemaForProvider(*R.Schema)}}}};
  else if (R.Schema && Spec.Schema == ProviderSpec::SchemaMode::JsonObject)
    Body["response_format"] = json::Object{{"type", "json_object"}};
  return formatv("{0}", json::Value(std::move(Body))).str();
}

static std::string finishWord(StringRef Word) {
  if (Word == "content_filter")
    return "refused";
  return Word.str();
}

/// A text, or a list of parts of which some are texts.
static std::string contentOf(const json::Object &Message) {
  if (auto Text = Message.getString("content"))
    return Text->str();
  std::string All;
  if (const json::Array *Parts = Message.getArray("content"))
    for (const json::Value &Part : *Parts)
      if (const json::Object *O = Part.getAsObject())
        if (auto Text = O->getString("text"))
          All += *Text;
  return All;
}

namespace {
class OpenAIDecoder : public AnswerDecoder {
public:
  Error event(StringRef Event, StringRef Data) override;
  Error whole(const json::Object &O) override { return take(O, "message"); }

private:
  Error take(const json::Object &O, StringRef Key);
};
} // namespace

Error OpenAIDecoder::take(const json::Object &O, StringRef Key) {
  if (!errorMessageIn(O).empty())
    return errorInStream(O);
  if (auto Model = O.getString("model"); Model && Answer.Model.empty())
    Answer.Model = Model->str();
  if (const json::Object *Usage = O.getObject("usage")) {
    auto Prompt = Usage->getInteger("prompt_tokens"),
         Made = Usage->getInteger("completion_tokens");
    if (Prompt && Made && *Prompt >= 0 && *Made >= 0) {
      Answer.PromptTokens = static_cast<uint64_t>(*Prompt);
      Answer.AnswerTokens = static_cast<uint64_t>(*Made);
      // Some servers count thinking there, others in the total alone.
      if (auto All = Usage->getInteger("total_tokens");
          All && *All - *Prompt > *Made)
        Answer.AnswerTokens = static_cast<uint64_t>(*All - *Prompt);
      const json::Object *Details =
          Usage->getObject("completion_tokens_details");
      if (auto Thought =
              Details ? Details->getInteger("reasoning_tokens") : std::nullopt;
          Thought && *Thought > 0)
        Answer.ThinkingTokens = static_cast<uint64_t>(*Thought);
      HasUsage = true;
    }
  }
  const json::Array *Choices = O.getArray("choices");
  if (!Choices || Choices->empty()) {
    if (Key == "message")
      return providerError(ProviderFault::Malformed,
                           "the server's answer has no choices");
    // Usage alone comes last; not every server says that it is done.
    Done |= Finished && HasUsage;
    return Error::success();
  }
  const json::Object *Choice = Choices->front().getAsObject();
  const json::Object *Message = Choice ? Choice->getObject(Key) : nullptr;
  if (!Message && Key == "message")
    return providerError(ProviderFault::Malformed,
                         "the server's answer has no message");
  if (Message) {
    for (StringRef Thoughts : {"reasoning_content", "reasoning"})
      if (auto Text = Message->getString(Thoughts))
        ThoughtBytes += Text->size();
    Answer.Text += contentOf(*Message);
    if (auto Refusal = Message->getString("refusal");
        Refusal && !Refusal->empty()) {
      Answer.Text += *Refusal;
      Answer.Finish = "refused";
    }
  }
  if (Choice)
    if (auto Reason = Choice->getString("finish_reason")) {
      Finished = true;
      if (Answer.Finish != "refused")
        Answer.Finish = finishWord(*Reason);
    }
  return Error::success();
}

Error OpenAIDecoder::event(StringRef Event, StringRef Data) {
  if (Data.trim() == "[DONE]") {
    Done = true;
    return Error::success();
  }
  Expected<json::Object> O = objectFrom(Data);
  if (!O)
    return O.takeError();
  return take(*O, "delta");
}

std::unique_ptr<AnswerDecoder> openAIDecoder() {
  return std::make_unique<OpenAIDecoder>();
}

} // namespace cupilot
