//===- Dialogue.h - A prompt, a structured answer, one repair -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_DIALOGUE_H
#define CUPILOT_LLM_DIALOGUE_H

#include "cupilot/LLM/Prompts.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <mutex>

namespace cupilot {

/// An answer that fits its prompt's schema.
struct StructuredAnswer {
  llvm::json::Value Value = nullptr;
  std::string Prompt;             ///< Provenance: name, version, digest.
  std::vector<ChatAnswer> Rounds; ///< One, or two with a repair.
};

/// How answers turned out, by prompt. May be used by several threads.
class AnswerCounts {
public:
  struct Counts {
    unsigned Asked = 0, Repaired = 0, Failed = 0;
  };
  void add(llvm::StringRef Prompt, const Counts &C);
  std::map<std::string, Counts> all() const;

private:
  mutable std::mutex Guard;
  std::map<std::string, Counts> ByPrompt;
};

struct Question {
  llvm::StringRef Prompt;          ///< Of the library.
  const llvm::json::Object &Facts; ///< What fills it in.
  std::string Step;                ///< ChatRequest::Step.
  unsigned MaxTokens = 16384;      ///< Of each answer.
  /// What the schema cannot say; a finding is what is wrong with the answer.
  llvm::function_ref<llvm::Error(const llvm::json::Value &)> Check = nullptr;
};

/// Asks. An answer that cannot be read or does not fit is sent back once, with
/// what is wrong with it (the prompt "repair", the step's name with "/repair");
/// if the second does not fit either, or the model declines, it is a finding
/// and a counted failure. Faults of providers are returned as they are.
llvm::Expected<StructuredAnswer> askStructured(Provider &From,
                                               const PromptLibrary &Prompts,
                                               const Question &Q,
                                               AnswerCounts *Counts = nullptr);

} // namespace cupilot

#endif // CUPILOT_LLM_DIALOGUE_H
