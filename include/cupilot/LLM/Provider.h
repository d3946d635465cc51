//===- Provider.h - Where answers of language models come from -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_PROVIDER_H
#define CUPILOT_LLM_PROVIDER_H

#include "cupilot/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// A tool that a model may call.
struct ChatTool {
  std::string Name; ///< Letters, digits, '_' and '-'.
  std::string Description;
  llvm::json::Value Input = nullptr; ///< The JSON schema of its arguments.
  bool operator==(const ChatTool &) const = default;
};

/// A call of a tool.
struct ToolUse {
  std::string Id; ///< The provider's.
  std::string Name;
  std::string Arguments; ///< JSON, as the model wrote it: it may be none.
  bool operator==(const ToolUse &) const = default;
};

/// What came of one.
struct ToolOutput {
  std::string Id; ///< ToolUse::Id.
  std::string Text;
  bool IsError = false;
  bool operator==(const ToolOutput &) const = default;
};

/// One turn of a conversation.
struct ChatMessage {
  enum class Role { User, Assistant };
  Role From = Role::User;
  std::string Text;
  std::vector<ToolUse> Uses = {};       ///< An assistant's.
  std::vector<ToolOutput> Outputs = {}; ///< A user's, of all calls before.
  /// An assistant's, in the provider's form: it wants them back with what came
  /// of the calls. Null: none.
  llvm::json::Value Thoughts = nullptr;
  bool operator==(const ChatMessage &) const = default;
};

/// What is asked. Texts are UTF-8.
struct ChatRequest {
  std::string System;
  std::vector<ChatMessage> Messages;
  /// The JSON schema of the answer, for providers that can hold to one.
  std::optional<llvm::json::Value> Schema;
  std::string SchemaName = "answer"; ///< Letters, digits, '_' and '-'.
  unsigned MaxTokens = 16384;        ///< Of the answer, at most.
  /// That the model may call. Providers of texts alone describe them, and how
  /// an answer calls one (plainText).
  std::vector<ChatTool> Tools = {};

  /// Where in a run it is asked ("g1/c3/translate"): the name under which a
  /// recording finds the answer again. Not sent.
  std::string Step;
  /// "strategy-translator 1 b3:...": which prompt made it. Not sent.
  std::string Prompt;
  /// Told, if it is set, whenever a budget has set aside what an attempt may
  /// cost, before the attempt. Not sent.
  std::function<void()> Reserved = nullptr;
};

/// What a provider gets, as text for people, without step and prompt.
std::string textOf(const ChatRequest &R);
/// Calls, as recordings hold them.
llvm::json::Array toJSON(llvm::ArrayRef<ToolUse> Uses);
/// All that decides the answer: system, messages, schema, limit.
llvm::json::Value toJSON(const ChatRequest &R);
/// Digest of that.
std::string digestOf(const ChatRequest &R);

/// What came back.
struct ChatAnswer {
  std::string Text;
  std::vector<ToolUse> Uses = {};       ///< Calls of the request's tools.
  llvm::json::Value Thoughts = nullptr; ///< ChatMessage::Thoughts.
  /// "stop", "length" (cut at the limit), "refused" (the model or a filter
  /// declined), or the provider's own word.
  std::string Finish = "stop";
  /// Of all attempts that gave an answer.
  uint64_t PromptTokens = 0, AnswerTokens = 0;
  uint64_t ThinkingTokens = 0;  ///< Of these: as far as the provider tells.
  bool TokensEstimated = false; ///< The provider did not tell.
  unsigned Limit = 0;           ///< Tokens that it could have; 0: not known.
  double Cost = 0;              ///< In the unit of the prices given.
  double Seconds = 0;           ///< Of the call, with all its attempts.
  unsigned Attempts = 1;
  std::string Provider, Model; ///< Names for people; never keys.
  std::string Effort;          ///< ProviderSpec::Effort.
  bool operator==(const ChatAnswer &) const = default;
};

/// What went wrong with a call.
enum class ProviderFault {
  Refused,    ///< 400, 401, 403 ...: asking again changes nothing.
  Limited,    ///< 429.
  Server,     ///< 5xx, or an error in the stream.
  Connection, ///< None, broken, or the answer was cut off.
  Inactive,   ///< Nothing came for longer than the inactivity limit.
  OutOfTime,  ///< The call's whole time is over.
  TooLarge,   ///< More than the limit for answers.
  Malformed,  ///< Not what the protocol says.
  Redirect,   ///< Not followed: keys stay where they were sent.
  Budget,     ///< The budget does not allow the call.
  NoAnswer    ///< A command, spool or recording has none.
};
llvm::StringRef toString(ProviderFault Fault);

/// A call that failed: exit status 3, but 2 for Refused ones.
class ProviderError : public llvm::ErrorInfo<ProviderError, ToolError> {
public:
  static char ID;
  ProviderError(ProviderFault Fault, const llvm::Twine &Message,
                const llvm::Twine &Hint = "")
      : ErrorInfo(Fault == ProviderFault::Refused ? ExitCode::Usage
                                                  : ExitCode::Resource,
                  Message, Hint),
        Fault(Fault) {}
  ProviderFault fault() const { return Fault; }
  /// Whether the same call may succeed a little later.
  bool worthAnother() const;
  /// Seconds that the server asked to wait.
  std::optional<double> RetryAfter;
  /// Bytes of an answer that had come, and may have been charged.
  uint64_t Received = 0;

private:
  ProviderFault Fault;
};

llvm::Error providerError(ProviderFault Fault, const llvm::Twine &Message,
                          const llvm::Twine &Hint = "");

/// Answers requests. `ask` may be called from several threads at once, and
/// waits where a limit of simultaneous calls is reached.
class Provider {
public:
  virtual ~Provider();
  virtual llvm::Expected<ChatAnswer> ask(const ChatRequest &R) = 0;
  /// Where the request would go and with which settings, in lines for people,
  /// without keys.
  virtual std::string describe(const ChatRequest &R) const = 0;
};

} // namespace cupilot

#endif // CUPILOT_LLM_PROVIDER_H
