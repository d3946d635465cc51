//===- CandidateRecord.h - A candidate and what became of it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_CANDIDATERECORD_H
#define CUPILOT_EVOLUTION_CANDIDATERECORD_H

#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Evolution/Tunables.h"
#include "cupilot/GpuJudge/GpuVerdict.h"
#include "cupilot/Model/CandidateOutcome.h"
#include "cupilot/Model/Genome.h"
#include "cupilot/Model/KernelResources.h"

namespace cupilot {

/// Who found a candidate wrong.
enum class FoundBy { Gate, Gpu, Sanitizer };

/// Why a candidate has its outcome.
struct OutcomeReason {
  std::string Text = {}; ///< For people; "" where the outcome says it all.
  /// Of a rejected candidate: who found what, and in which workload or case
  /// ("" for none).
  FoundBy By = FoundBy::Gate;
  std::optional<GateReason> Found = std::nullopt;
  std::string Workload = {};
  bool operator==(const OutcomeReason &) const = default;
};

/// A launch of a workload by the original and the variant, in microseconds.
struct LaunchTimes {
  std::string Workload;
  double OriginalUs = 0, VariantUs = 0;
};

/// What is known of a candidate that was judged.
struct CandidateEvidence {
  GateVerdict Gate;      ///< Without the variant's launches.
  std::string Canonical; ///< Build identity of its code; "" if it has none.
  /// Counts of each workload; nothing where it does not run here.
  std::vector<std::optional<ExecutionCounts>> Work;
  std::vector<LaunchTimes> Modelled; ///< Empty when a GPU times it.
  /// Between what a GPU is likely to measure the modelled speed-up; 0 where
  /// none is known.
  double Low = 0, High = 0;
  std::optional<GpuVerdict> Gpu;
  /// What ptxas says of each kernel, by symbol; empty for code by rules, and
  /// where there is no ptxas.
  std::map<std::string, KernelResources> Resources = {};
  /// Times of the workloads: a GPU's where there are any, else modelled ones.
  std::vector<LaunchTimes> times() const;
};

/// A question that a model answered.
struct ModelCall {
  std::string Step;   ///< "scale-1a2b3c4d/g0_v1/translate": unique in a run.
  std::string Prompt; ///< Name, version and digest.
  std::string Request, Answer; ///< Digests.
  std::string Provider, Model;
  uint64_t PromptTokens = 0, AnswerTokens = 0;
  double Cost = 0; ///< In the unit of the prices given.
  double Seconds = 0;
};

/// A gene that is not in the code.
struct DeniedGene {
  std::string Gene;
  std::string Why; ///< "no instruction of the kind mma.sync".
};

/// One translation or repair by a model.
struct CandidateStage {
  std::string Name; ///< "translate", "repair1", "card2".
  std::vector<ModelCall> Calls;
  std::vector<DeniedGene> Denied;
  std::string Notes; ///< What the model said, or why there is no answer.
  /// Strategies that the code has, by the model; nothing without an answer.
  std::optional<std::vector<std::string>> CarriedOut;
  std::string Trouble; ///< What a repair was to mend.
};

/// How a candidate was made.
struct CandidateHistory {
  std::vector<std::string> Parents; ///< Genomes.
  std::string Reason = {}; ///< Why the SCE Manager asked for it, and what it
                           ///< dropped; "" for others.
  std::vector<CandidateStage> Stages = {};
  /// Repairs behind it.
  unsigned repairs() const {
    return Stages.empty() ? 0 : unsigned(Stages.size() - 1);
  }
  /// The calls of one stage.
  unsigned callsOf(llvm::StringRef Stage) const;
  /// Name, version and digest of each prompt, in the order of the questions.
  std::vector<std::string> prompts() const;
  /// The last question, whose answer the text is; null: none was asked.
  const ModelCall *lastCall() const;
};

/// One evaluated candidate of a run. A candidate is known by its genome: the
/// same genome is never evaluated twice.
struct CandidateRecord {
  std::string Genome; ///< As text: the key.
  CandidateOutcome Outcome = CandidateOutcome::Unjudged;
  OutcomeReason Reason = {};
  std::string DeviceDigest = {}; ///< Of the optimised device code; "" if none.
  double Ratio = 0; ///< Speed-up, modelled, or measured as the evidence says; 0
                    ///< when not evaluated.
  std::optional<Translation> Code = std::nullopt; ///< Nothing was written.
  std::optional<CandidateEvidence> Evidence = std::nullopt;
  /// The genome that the code really has, as text: parents and statistics go
  /// by it. By rules it is the genome; "" where nothing was carried out.
  std::string Carried = {};
  std::optional<CandidateHistory> Made = std::nullopt;
  /// The code with its numbers open, of which it is one setting.
  std::optional<TunableCode> Open = std::nullopt;

  void end(CandidateOutcome As, std::string Why = {}) {
    Outcome = As;
    Reason = {std::move(Why)};
  }
  /// Rejects it for \p Finding.
  void reject(FoundBy By, const GateFinding &Finding);
};

/// The reason in a sentence: "race (w0): two threads ..."; "" for none.
std::string reasonText(const CandidateRecord &R);

/// The evidence as JSON, as the journal holds it (docs/Evolution.md).
std::string evidenceText(const CandidateEvidence &E);

/// The name of a candidate that enters the store: "v_1a2b3c4d".
std::string variantName(const CandidateRecord &R);

/// The name of a candidate that is to improve \p Elite: what genome it has is
/// read from its code. \p Number counts those of a generation.
Genome improvementOf(const CandidateRecord &Elite, unsigned Generation,
                     unsigned Number);
/// The name of a candidate that has other numbers in the code of \p Elite.
Genome settingOf(const CandidateRecord &Elite, const Setting &To);
/// The name of a candidate that somebody hands in as code: its genome is read
/// from the code. \p Digest is of all that was handed in.
Genome submissionOf(llvm::StringRef Digest);
/// Whether \p G is such a name.
bool isSubmission(const Genome &G);
/// Whether \p G is one of these names, and no genome that code was asked for.
bool isName(const Genome &G);

/// The genome that the code really has.
Genome carriedGenome(const CandidateRecord &R);

/// Whether both are the same device code, launched in the same way.
bool isSameCode(const CandidateRecord &A, const CandidateRecord &B);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_CANDIDATERECORD_H
