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

/// A text, or blocks where there are others.
static json::Value contentOf(const ChatMessage &M) {
  if (M.Uses.empty() && M.Outputs.empty())
    return json::fixUTF8(M.Text);
  json::Array Blocks;
  if (const json::Array *Thoughts = M.Thoughts.getAsArray())
    Blocks = *Thoughts;
  for (const ToolOutput &O : M.Outputs)
    Blocks.push_back(json::Object{{"type", "tool_result"},
                                  {"tool_use_id", json::fixUTF8(O.Id)},
                                  {"content", json::fixUTF8(O.Text)},
                                  {"is_error", O.IsError}});
  if (!M.Text.empty())
    Blocks.push_back(
        json::Object{{"type", "text"}, {"text", json::fixUTF8(M.Text)}});
  for (const ToolUse &U : M.Uses)
    Blocks.push_back(json::Object{{"type", "tool_use"},
                                  {"id", json::fixUTF8(U.Id)},
                                  {"name", json::fixUTF8(U.Name)},
                                  {"input", argumentsOf(U)}});
  return Blocks;
}

std::string anthropicBody(const ProviderSpec &Spec, const ChatRequest &R) {
  json::Array Messages;
  for (const ChatMessage &M : R.Messages)
    Messages.push_back(json::Object{
        {"role", M.From == ChatMessage::Role::User ? "user" : "assistant"},
        {"content", contentOf(M)}});
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
  if (!R.Tools.empty()) {
    json::Array Tools;
    for (const ChatTool &T : R.Tools)
      Tools.push_back(json::Object{{"name", T.Name},
                                   {"description", T.Description},
                                   {"input_schema", T.Input}});
    Body["tools"] = std::move(Tools);
  }
  return formatv("{0}", json::Value(std::move(Body))).str();
}

namespace {
class AnthropicDecoder : public AnswerDecoder {
public:
  explicit AnthropicDecoder(bool HasTools) : HasTools(HasTools) {}
  Error event(StringRef Event, StringRef Data) override;
  Error whole(const json::Object &O) override;

private:
  void takeUsage(const json::Object *Usage);
  void takeStop(const json::Object &O);
  void beginBlock(const json::Object &Block);
  void addToBlock(const json::Object &Delta);
  void endBlocks();

  const bool HasTools;
  /// What tools were given; when there is any, it is the answer.
  std::string Tool;
  /// Of a stream with tools, in their order.
  std::vector<json::Object> Blocks;
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

void AnthropicDecoder::beginBlock(const json::Object &Block) {
  Blocks.push_back(Block);
  if (Block.getString("type") == "tool_use")
    Blocks.back()["input"] = "";
}

void AnthropicDecoder::addToBlock(const json::Object &Delta) {
  if (Blocks.empty())
    return;
  // The keys of a delta are those of its block, but for the arguments'.
  for (const auto &[From, To] :
       {std::pair("thinking", "thinking"), std::pair("signature", "signature"),
        std::pair("partial_json", "input")})
    if (auto Text = Delta.getString(From)) {
      json::Value &Whole = Blocks.back()[To];
      Whole = (Whole.getAsString().value_or("") + *Text).str();
    }
}

/// Calls, and the thoughts that are wanted back with what came of them.
void AnthropicDecoder::endBlocks() {
  json::Array Thoughts;
  for (const json::Object &Block : Blocks) {
    const StringRef Type = Block.getString("type").value_or("");
    if (Type == "thinking" || Type == "redacted_thinking")
      Thoughts.push_back(json::Object(Block));
    const json::Value *Input = Block.get("input");
    if (Type != "tool_use" || !Input)
      continue;
    auto Text = Input->getAsString();
    Answer.Uses.push_back({Block.getString("id").value_or("").str(),
                           Block.getString("name").value_or("").str(),
                           Text ? (Text->empty() ? "{}" : Text->str())
                                : formatv("{0}", *Input).str()});
  }
  if (!Answer.Uses.empty() && !Thoughts.empty())
    Answer.Thoughts = std::move(Thoughts);
  Blocks.clear();
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
  } else if (Type == "content_block_start" && HasTools) {
    if (const json::Object *Block = O->getObject("content_block"))
      beginBlock(*Block);
  } else if (Type == "content_block_delta") {
    if (const json::Object *D = O->getObject("delta")) {
      if (auto Text = D->getString("text"))
        Answer.Text += *Text;
      if (HasTools)
        addToBlock(*D);
      else if (auto Part = D->getString("partial_json"))
        Tool += *Part;
      if (auto Thoughts = D->getString("thinking"))
        ThoughtBytes += Thoughts->size();
    }
  } else if (Type == "message_delta") {
    takeUsage(O->getObject("usage"));
    if (const json::Object *D = O->getObject("delta"))
      takeStop(*D);
    if (Finished && HasTools)
      endBlocks();
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
      if (HasTools)
        Blocks.push_back(*B);
      else if (const json::Value *Input = B->get("input"))
        Tool = formatv("{0}", *Input).str();
    }
  endBlocks();
  if (!Tool.empty())
    Answer.Text = Tool;
  Answer.Model = O.getString("model").value_or("").str();
  takeUsage(O.getObject("usage"));
  takeStop(O);
  return Error::success();
}

std::unique_ptr<AnswerDecoder> anthropicDecoder(bool HasTools) {
  return std::make_unique<AnthropicDecoder>(HasTools);
}

} // namespace cupilot
