//===- CodeCrossover.cpp - Two variants' code as one -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/CodeCrossover.h"
#include "cupilot/Evolution/KernelRevisor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

Expected<ModelTranslation>
crossCodeByModel(Provider &From, const PromptLibrary &Prompts,
                 const PromptKernel &P, ArrayRef<CodeParent> Parents,
                 ArrayRef<std::string> Facts, StringRef Step,
                 AnswerCounts *Counts) {
  json::Object O = kernelFacts(P);
  json::Array List;
  for (const CodeParent &Parent : Parents)
    List.push_back(json::Object{
        {"outcome", Parent.Ratio > 0
                        ? formatv("{0:f2} times as fast", Parent.Ratio).str()
                        : wordOf(Parent.Outcome).str()},
        {"plan", planWords(Parent.Code.Plan, P.K)},
        {"guard", guardWords(Parent.Code.When, P.K)},
        {"source", quotedFact(fileName("variant", Parent.Code.Language),
                              Parent.Code.Source)}});
  O["parents"] = std::move(List);
  O["has_facts"] = !Facts.empty();
  O["facts"] = textFacts(Facts);
  return askForCode(From, Prompts, "code-crossover", O, P, Step, Counts);
}

} // namespace cupilot
