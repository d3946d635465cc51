//===- ProviderSpec.h - What --provider names -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_PROVIDERSPEC_H
#define CUPILOT_LLM_PROVIDERSPEC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>

namespace cupilot {

/// Prices of a model, for a million tokens each, in one currency.
struct Price {
  double Prompt = 0, Answer = 0;
};

/// One --provider: [WEIGHT*]KIND[:WHERE][,KEY=VALUE...]. Of exec, all after
/// the colon is the command.
struct ProviderSpec {
  enum class Protocol { OpenAI, Anthropic, Exec, Spool, Replay };
  /// How a schema is handed over.
  enum class SchemaMode { JsonSchema, JsonObject, Tool, None };

  std::string Kind; ///< "openai", "vllm", "exec" ...
  Protocol P = Protocol::OpenAI;
  std::string Where; ///< URL without a slash at its end, command, folder.
  double Weight = 1; ///< Share of the calls, beside other providers.
  std::string Model;
  std::string KeyVariable; ///< "" for none.
  bool KeyNeeded = false;
  bool AllowPlain = false; ///< Send the key without TLS.
  std::optional<Price> Cost;
  bool Free = false; ///< Runs here: no price is needed.
  SchemaMode Schema = SchemaMode::JsonSchema;
  bool Stream = true;
  std::optional<double> Temperature;
  bool NewTokenLimit = false; ///< "max_completion_tokens", not "max_tokens".
  /// Tokens of an answer, thinking included: no request allows more, and one
  /// that was cut is asked again with more room up to here.
  unsigned MaxTokens = 65536;
  /// The same for single prompts, by name.
  std::map<std::string, unsigned> MaxTokensOf;
  /// Room for thinking that each answer gets besides; nothing: 32,768 with an
  /// effort, else none.
  std::optional<unsigned> ThinkingTokens;
  std::string Effort; ///< How much the model thinks; "": as it does by itself.
  unsigned Jobs = 4;  ///< Calls at once.
  unsigned Retries = 5; ///< After the first attempt.
  double Backoff = 1;   ///< Seconds before the first retry.
  double Connect = 30, Inactivity = 300, Total = 1800; ///< Seconds; 0: none.
  uint64_t MaxBytes = 8 << 20;
  bool StopAtChange = false; ///< Replay: a prompt that differs is an error.

  /// Reads it. Usage errors name the option, never its value: it may be a key.
  static llvm::Expected<ProviderSpec> parse(llvm::StringRef Text);
  /// "openai gpt-5": for logs and evidence.
  std::string name() const;
  /// Tokens that the first answer to \p Prompt may have, of which \p Text are
  /// asked for, and the most that any may have.
  unsigned firstTokens(llvm::StringRef Prompt, unsigned Text) const;
  unsigned mostTokens(llvm::StringRef Prompt) const;
};

} // namespace cupilot

#endif // CUPILOT_LLM_PROVIDERSPEC_H
