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
#include <map>

using namespace llvm;

namespace cupilot {

/// What came of calls has messages of its own.
static void addMessage(json::Array &Messages, const ChatMessage &M) {
  for (const ToolOutput &O : M.Outputs)
    Messages.push_back(json::Object{{"role", "tool"},
                                    {"tool_call_id", json::fixUTF8(O.Id)},
                                    {"content", json::fixUTF8(O.Text)}});
  if (M.Text.empty() && !M.Outputs.empty())
    return;
  json::Object One{
      {"role", M.From == ChatMessage::Role::User ? "user" : "assistant"},
      {"content", json::fixUTF8(M.Text)}};
  json::Array Calls;
  for (const ToolUse &U : M.Uses)
    Calls.push_back(json::Object{
        {"id", json::fixUTF8(U.Id)},
        {"type", "function"},
        // Servers read what the model has said, and some refuse what is none.
        {"function",
         json::Object{{"name", json::fixUTF8(U.Name)},
                      {"arguments",
                       formatv("{0}", json::Value(argumentsOf(U))).str()}}}});
  if (!Calls.empty())
    One["tool_calls"] = std::move(Calls);
  if (M.Thoughts.getAsString())
    One["reasoning_content"] = M.Thoughts;
  Messages.push_back(std::move(One));
}

std::string openAIBody(const ProviderSpec &Spec, const ChatRequest &R) {
  json::Array Messages;
  if (std::string System = systemText(Spec, R); !System.empty())
    Messages.push_back(
        json::Object{{"role", "system"}, {"content", json::fixUTF8(System)}});
  for (const ChatMessage &M : R.Messages)
    addMessage(Messages, M);
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
  json::Array Tools;
  for (const ChatTool &T : R.Tools)
    Tools.push_back(
        json::Object{{"type", "function"},
                     {"function", json::Object{{"name", T.Name},
                                               {"description", T.Description},
                                               {"parameters", T.Input}}}});
  if (!Tools.empty())
    Body["tools"] = std::move(Tools);
  return formatv("{0}", json::Value(std::move(Body))).str();
}

static std::string finishWord(StringRef Word) {
  if (Word == "content_filter")
    return "refused";
  if (Word == "tool_calls")
    return "stop";
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
  void takeCalls(const json::Object &Message);
  std::map<int64_t, size_t> Places; ///< Of calls, by the server's index.
  std::string Thoughts;
};
} // namespace

/// Whole calls, or pieces of them.
void OpenAIDecoder::takeCalls(const json::Object &Message) {
  const json::Array *Calls = Message.getArray("tool_calls");
  if (!Calls)
    return;
  for (const json::Value &Each : *Calls) {
    const json::Object *Call = Each.getAsObject();
    const json::Object *F = Call ? Call->getObject("function") : nullptr;
    if (!F)
      continue;
    // Not every server numbers them: then each that has a name is another one.
    size_t At = Answer.Uses.size();
    if (auto Index = Call->getInteger("index"))
      At = Places.try_emplace(*Index, At).first->second;
    else if (!F->getString("name") && At > 0)
      --At;
    if (At == Answer.Uses.size())
      Answer.Uses.emplace_back();
    ToolUse &U = Answer.Uses[At];
    if (auto Id = Call->getString("id"); Id && U.Id.empty())
      U.Id = Id->str();
    if (auto Name = F->getString("name"); Name && U.Name.empty())
      U.Name = Name->str();
    if (auto Text = F->getString("arguments"))
      U.Arguments += *Text;
    else if (const json::Value *Whole = F->get("arguments");
             Whole && Whole->getAsObject())
      U.Arguments = formatv("{0}", *Whole).str();
  }
}

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
    for (StringRef Key : {"reasoning_content", "reasoning"})
      if (auto Text = Message->getString(Key))
        ThoughtBytes += Text->size();
    if (auto Text = Message->getString("reasoning_content"))
      Thoughts += *Text;
    takeCalls(*Message);
    // They are wanted back where there are calls.
    if (!Answer.Uses.empty() && !Thoughts.empty())
      Answer.Thoughts = Thoughts;
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
