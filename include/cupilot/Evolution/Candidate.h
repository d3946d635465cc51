//===- Candidate.h - From genome to verdict -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_CANDIDATE_H
#define CUPILOT_EVOLUTION_CANDIDATE_H

#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Evolution/Journal.h"
#include "cupilot/Evolution/KernelLanguage.h"
#include "cupilot/Frontend/Rules.h"
#include "cupilot/Launcher/NvccUse.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Config.h"

namespace cupilot {

struct StrategyInfo;

/// A compiler that builds the program.
struct BuildCompiler {
  /// In evidence: "nvcc-13.0"; "" for an nvcc that does not say its version.
  std::string Name = CUPILOT_CLANG;
  /// For clang, which reads all sources, whoever builds.
  std::vector<std::string> Flags;
  std::optional<NvccUse> Nvcc = std::nullopt; ///< Nothing: clang.
  std::string Arch = {}; ///< That it builds for; "": the search's.
  /// Flags, and what they do not say to ptxas.
  std::vector<std::string> flagsWithPtxas() const {
    std::vector<std::string> All = Flags;
    if (Nvcc)
      llvm::append_range(All, Nvcc->ptxasFlags());
    return All;
  }
};

/// What is searched for, and on what it is judged.
struct SearchProblem {
  Kernel K;
  std::vector<Workload> Workloads; ///< Of this kernel.
  std::string DataFolder;          ///< Of the workloads.
  /// Of the kernel's compilation by clang, which reads all sources, whoever
  /// builds.
  std::vector<std::string> Flags;
  /// Who builds: its code is what is judged, timed and named in evidence.
  /// Nothing: clang.
  std::optional<NvccUse> Nvcc = std::nullopt;
  std::string Compiler = CUPILOT_CLANG; ///< Its name in evidence.
  /// What the kernel is written in, and who makes code of that; null: CUDA C++.
  std::shared_ptr<const KernelLanguage> Language = nullptr;
  std::string Arch = "sm_90";
  GpuDescription Gpu; ///< Whose time is modelled.
  uint64_t Seed = 1;
  double Margin = 1.02; ///< Least speed-up that counts.
  /// A modelled speed-up counts by itself, also where its interval reaches
  /// below the margin.
  bool AcceptEstimates = false;
  ProcessLimits Compilation; ///< Of each candidate.
  /// Times are measured on a GPU, later: the cost model is not asked, and
  /// workloads that the cpu device cannot run are left to the GPU.
  bool OnGpu = false;
  /// Bytes of a launch that is too large for the gate; 0: a GPU compares none.
  uint64_t LargeBytes = UsualLargeBytes;
};

/// A genome made into code: what can be had without running it.
struct Candidate {
  CandidateRecord Record; ///< Unjudged while nothing has stopped it.
  std::string Bitcode;    ///< By clang, or by the kernel's language.
  /// Bitcode of the code of nvcc or of the kernel's language; "" where clang
  /// builds.
  std::string Built;
  std::string Ptx;        ///< Of who builds.
  std::string Identity;   ///< Build identity of Built.
  bool IsByRules = false; ///< The rules are known to make its text.
  GateCode code() const { return {Bitcode, Built}; }
};

/// Admits and compiles a translation, for who has no evaluator: \p Original is
/// the code of P.K. Only broken tools are errors.
llvm::Expected<Candidate> compileCandidate(const SearchProblem &P,
                                           const OriginalCode &Original,
                                           TextCompiler &Compiler,
                                           const Genome &G, Translation T);
/// What ptxas says of each kernel of \p C's plan; of those that it refuses,
/// nothing.
std::map<std::string, KernelResources> resourcesOf(const SearchProblem &P,
                                                   const Candidate &C);

/// Judges candidates of one kernel. `prepare` may run on several threads.
class CandidateEvaluator {
public:
  /// Compiles the original; an original that does not compile or that faults
  /// on its own workloads is an error.
  static llvm::Expected<std::unique_ptr<CandidateEvaluator>>
  create(const SearchProblem &Problem);
  virtual ~CandidateEvaluator();

  /// Digest of the original's device code.
  virtual llvm::StringRef originalDigest() const = 0;
  /// Modelled time of the original over all workloads, in microseconds.
  virtual double originalTime() const = 0;
  /// By rules. That one of them refuses is a finding.
  virtual llvm::Expected<Translation> translate(const Genome &G) const = 0;
  /// Of the genes of \p Strategies that shape blocks, those that fill the GPU
  /// best, as Gene::str writes them.
  virtual std::vector<std::string>
  favoured(llvm::ArrayRef<StrategyInfo> Strategies) const = 0;
  /// Translate, admit, compile. Only broken tools are errors; a genome that
  /// fails has an outcome and a reason in its record.
  virtual llvm::Expected<Candidate> prepare(const Genome &G) const = 0;
  /// The same for what was translated before: the genome is only a name.
  virtual llvm::Expected<Candidate> prepare(const Genome &G,
                                            Translation T) const = 0;
  /// Gate and cost model: fills in outcome, ratio and evidence. For a GPU the
  /// outcome is Passed, and there are no modelled times.
  virtual llvm::Error judge(Candidate &C) = 0;
  /// The same on the recorded launches and a few others: for people and models
  /// who are at work on a text. Accepted then means no more than that nothing
  /// speaks against it; there is no domain, and prove() alone makes one.
  virtual llvm::Error judgeQuickly(Candidate &C) = 0;
  /// Gate::runOriginalQuickly, for judgeQuickly().
  virtual llvm::Error runOriginalQuickly(double Seconds) = 0;

  /// The gate on \p C with the largest launches; launches of the variant by
  /// workload. Passed without a check where the GPU alone judges.
  virtual llvm::Expected<GateVerdict> verdict(const Candidate &C) = 0;
  /// judge() with the largest launches; the verdict is left in the evidence.
  /// What is slower by its modelled time does not go through the gate, unless
  /// \p EvenSlower asks for it.
  virtual llvm::Error judgeToKeep(Candidate &C, bool EvenSlower) = 0;
  /// Whether a recorded launch that counts may run \p T by its guard, and has
  /// a plan that is legal.
  virtual llvm::Expected<bool> isAdmitted(const Translation &T) const = 0;
  /// Fills in the modelled ratio of \p C by its counts, without the gate; 0
  /// where it cannot run. Not for a GPU.
  virtual llvm::Error estimate(Candidate &C) = 0;
  /// Where \p C may run by its verdict \p V, which is passed, and the workloads
  /// \p Compared, whose results a GPU found right: what the gate proved, and
  /// these launches where they lie outside, and as far as \p Large goes.
  /// Nothing where no launch is left.
  virtual llvm::Expected<std::optional<Domain>>
  domain(const Candidate &C, const GateVerdict &V,
         llvm::ArrayRef<std::string> Compared,
         llvm::ArrayRef<ComparedLaunch> Large) = 0;
  /// Gate::largeLaunches(); none where the GPU alone judges.
  virtual llvm::Expected<std::vector<LargeLaunch>> largeLaunches() = 0;
  /// Where \p R, which was accepted, may run: both once more.
  llvm::Expected<std::optional<Domain>> prove(const Genome &G,
                                              const CandidateRecord &R);

  /// Device code of the original: clang's bitcode, and PTX of who builds.
  virtual llvm::StringRef originalBitcode() const = 0;
  virtual llvm::StringRef originalPtx() const = 0;
  /// By workload: whether the cpu device cannot run it. All false without a
  /// GPU.
  virtual llvm::ArrayRef<bool> gpuOnly() const = 0;
  /// Counts of the original on a workload; null where the GPU alone runs it.
  virtual const ExecutionCounts *originalCounts(size_t Workload) const = 0;
  /// Gate::judgeDeviceResults.
  virtual llvm::Expected<ReferenceVerdict>
  judgeDeviceResults(size_t Workload, const DeviceResults &Original,
                     const DeviceResults &Variant) = 0;
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_CANDIDATE_H
