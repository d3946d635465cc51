//===- StrategyTranslator.h - Genomes to code, by language models -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_STRATEGYTRANSLATOR_H
#define CUPILOT_EVOLUTION_STRATEGYTRANSLATOR_H

#include "cupilot/Evolution/Tunables.h"
#include "cupilot/LLM/Dialogue.h"
#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

struct ImproveOrder;
struct LibraryStrategy;
struct TriedVariant;
/// What is known of a strategy beside its sentence.
struct PromptNote {
  std::string Strategy; ///< Its name; "": prompts do not say it.
  std::string Text;
};

/// What prompts say of a kernel. What it refers to must outlive it.
struct PromptKernel {
  const Kernel &K;
  llvm::StringRef Gpu;  ///< "NVIDIA H200".
  llvm::StringRef Arch; ///< "sm_90".
  llvm::ArrayRef<Workload> Workloads;
  const GpuDescription *Card = nullptr; ///< Null: no figures of it.
  std::vector<PromptNote> Notes = {};   ///< Of the genes in play.
  /// Whose parameters code may leave open; empty: it may not.
  llvm::ArrayRef<LibraryStrategy> Strategies = {};
  /// Of the kernel. Variants of one that is no CUDA C++ are in its language or
  /// in CUDA C++, as their author chooses.
  SourceLanguage Language = SourceLanguage::Cuda;
};

/// A gene as the prompt shows it.
struct PromptGene {
  std::string Gene;    ///< "unroll{factor=4}"; "": the sentence alone.
  std::string Summary; ///< What its strategy does, in a sentence.
};

/// A variant of another kernel, as an example.
struct PromptExample {
  std::string Kernel, Genome, Outcome;
  std::string Source; ///< "" where it is too long for a prompt.
};

/// The parent whose code the offspring's may begin with.
struct PromptParent {
  std::string Genome, Outcome, Plan, Guard, Source;
  std::vector<std::string> Figures; ///< Its times and counts, as sentences.
  std::string Tunables = {};        ///< tunablesText; "" for none.
  SourceLanguage Language = SourceLanguage::Cuda;
};

/// What prompts call a text: "variant.cu".
std::string fileName(llvm::StringRef Name, SourceLanguage L);

/// gpu, arch, kernel_name, kernel, parameters, workloads, contract
/// (docs/LLM.md): what the agents' prompts have in common.
llvm::json::Object kernelFacts(const PromptKernel &P);

/// \p Texts as facts; what is no UTF-8 in them is replaced.
llvm::json::Array textFacts(llvm::ArrayRef<std::string> Texts);

/// An answer in the form of strategy-translator.schema.json or
/// kernel-revisor.schema.json, as data.
struct ModelTranslation {
  Translation Code;
  std::optional<TunableCode> Open; ///< Of which Code is the present setting.
  std::vector<std::string> CarriedOut; ///< Strategies that the code has.
  std::string Notes;
  std::string Prompt;             ///< Provenance; "" where none was asked.
  std::vector<ChatAnswer> Rounds; ///< What was said for it.
};

/// Source, plan and guard of \p Answer, which fits its schema. Expressions,
/// pointers and conditions that mean nothing for \p K are findings. Launches of
/// kernels with the original's name have its symbol; the others keep the names
/// that the answer has, for nameKernels. Tunables are read where they can be
/// parameters of \p Strategies; those that cannot be tuned are findings. An
/// answer that names no language is in \p Usual.
llvm::Expected<ModelTranslation>
translationFrom(const llvm::json::Value &Answer, const Kernel &K,
                llvm::StringRef Arch,
                llvm::ArrayRef<LibraryStrategy> Strategies = {},
                SourceLanguage Usual = SourceLanguage::Cuda);

/// The strategy that a model names: "unroll" of "`unroll{factor=8}`".
llvm::StringRef strategyIn(llvm::StringRef Text);

/// Puts symbols in the place of names, once the source is compiled: \p Symbols
/// are the mangled kernels that it defines. A name that is none of them, or of
/// several, is a finding.
llvm::Error nameKernels(LaunchPlan &Plan, llvm::ArrayRef<std::string> Symbols);

/// Asks \p Prompt with \p Facts for the code of a variant of \p P; errors as of
/// translateByModel.
llvm::Expected<ModelTranslation>
askForCode(Provider &From, const PromptLibrary &Prompts, llvm::StringRef Prompt,
           const llvm::json::Object &Facts, const PromptKernel &P,
           llvm::StringRef Step, AnswerCounts *Counts);

/// What a variant is to be.
struct TranslationRequest {
  std::vector<PromptGene> Genes;
  std::vector<std::string> Facts; ///< What is known of the original.
  std::vector<PromptExample> Examples;
  std::optional<PromptParent> Parent;
};

/// Asks for the variant that \p R describes. An answer that cannot be used, nor
/// after its repair, is a finding; faults of the provider are its own.
llvm::Expected<ModelTranslation>
translateByModel(Provider &From, const PromptLibrary &Prompts,
                 const PromptKernel &P, const TranslationRequest &R,
                 llvm::StringRef Step, AnswerCounts *Counts = nullptr);

/// A variant that is to be improved, and what is known of it.
struct ImprovementRequest {
  PromptParent Variant;
  std::vector<std::string> Facts; ///< What is known of the original.
  llvm::ArrayRef<LibraryStrategy> Library;
  const ImproveOrder &Order;
  bool Typed = true; ///< Strategies are shown with names and parameters.
};

/// Asks for a faster version of a variant, by whatever strategies. Errors as
/// above.
/// What fills in the prompt "improve".
llvm::json::Object improvementFacts(const PromptKernel &P,
                                    const ImprovementRequest &R);
llvm::Expected<ModelTranslation>
improveByModel(Provider &From, const PromptLibrary &Prompts,
               const PromptKernel &P, const ImprovementRequest &R,
               llvm::StringRef Step, AnswerCounts *Counts = nullptr);

/// \p Library as prompts show it.
llvm::json::Array strategyFacts(llvm::ArrayRef<LibraryStrategy> Library);
/// \p Tried as prompts show it.
llvm::json::Array triedFacts(llvm::ArrayRef<TriedVariant> Tried);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_STRATEGYTRANSLATOR_H
