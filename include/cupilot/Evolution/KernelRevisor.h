//===- KernelRevisor.h - Variants repaired by language models -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_KERNELREVISOR_H
#define CUPILOT_EVOLUTION_KERNELREVISOR_H

#include "cupilot/Evolution/StrategyTranslator.h"

namespace cupilot {

/// A variant that needs a repair, and why.
struct RevisionRequest {
  std::string Genome;         ///< "unroll{factor=4}".
  const Translation &Variant; ///< Must outlive it.
  std::string Trouble;        ///< "does not compile": what the variant does.
  std::string Errors;         ///< The compiler's, or "".
  std::string Verdict;        ///< The gate's, or "".
  std::vector<std::string> Profile; ///< Sentences with numbers.
  std::vector<std::string> Earlier; ///< What was tried before.
  unsigned Round = 1, Rounds = 3;
  /// Its code with open numbers; null: it has none. Must outlive it.
  const TunableCode *Open = nullptr;
};

/// The plan and the guard in the words of the prompts: "grid [n ceildiv 1024,
/// gy, 1], block ...", with the names of scalarNames(K).
std::string planWords(const LaunchPlan &Plan, const Kernel &K);
std::string guardWords(const Guard &When, const Kernel &K);

/// Both as models answer (prompts/strategy-translator.schema.json); nothing
/// where that form has no word for a pointer, which is a field.
std::optional<llvm::json::Object> planAnswer(const LaunchPlan &Plan,
                                             const Kernel &K);
std::optional<llvm::json::Object> guardAnswer(const Guard &When,
                                              const Kernel &K);

/// Asks for the repair. Nothing when the model gives up: the reason goes to
/// \p Why. Errors as with translateByModel.
llvm::Expected<std::optional<ModelTranslation>>
reviseByModel(Provider &From, const PromptLibrary &Prompts,
              const PromptKernel &P, const RevisionRequest &R,
              llvm::StringRef Step, std::string &Why,
              AnswerCounts *Counts = nullptr);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_KERNELREVISOR_H
