//===- JudgementBatch.h - Variants as requests to a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a search and `cupilot judge` ask of a GPU for one kernel, and what its
// answers mean. Answers are JSON objects by the ids of requests, so that they
// can be kept (docs/Runner.md).
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_GPUJUDGE_JUDGEMENTBATCH_H
#define CUPILOT_GPUJUDGE_JUDGEMENTBATCH_H

#include "cupilot/Evaluation/Gate.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/GpuJudge/GpuVerdict.h"
#include "cupilot/Roofline/Prophet.h"

namespace cupilot {

/// What variants are compared with. The kernel must outlive the batch.
struct GpuOriginal {
  const Kernel *K = nullptr;
  std::string Bitcode; ///< Clang's, for the layout of what it takes.
  std::string Ptx;     ///< The code that is built.
  std::vector<Workload> Workloads;
  std::string DataFolder, Arch;
  std::vector<std::string> Flags; ///< Of the compilation: whose ptxas is used.
  /// Workloads that the cpu device cannot run: they are compared on scaled
  /// inputs too, here.
  std::vector<bool> GpuOnly = {};
  /// Launches beyond those of the gate (Gate::largeLaunches()).
  std::vector<LargeLaunch> Large = {};
};

struct GpuCandidate {
  std::string Id;  ///< Letters and digits: requests are named after it.
  std::string Ptx; ///< Of its kernels.
  LaunchPlan Plan;
  Guard When;
};

/// One kernel's requests.
class JudgementBatch {
public:
  /// Assembles the original. Errors as those of assemble() and addCase().
  static llvm::Expected<std::unique_ptr<JudgementBatch>>
  create(GpuOriginal From);

  /// The GPU's ceilings, as the request "ceilings".
  void addCeilings();
  /// Comparisons, outputs of small launches, and times, on each workload that
  /// the guard admits: "ID-w0-compare", "-run", "-time".
  llvm::Error addJudgement(const GpuCandidate &V);
  /// Of these the comparisons and times alone, for what has yet to be gated.
  llvm::Error addScreening(const GpuCandidate &V);
  /// Comparisons of all of \p All, and times by successive halving
  /// (docs/Runner.md, "Races"): "ID-w0-compare", "ID-w0-time0", "-time1", ...
  llvm::Error addRace(llvm::StringRef Race, llvm::ArrayRef<GpuCandidate> All);
  /// compute-sanitizer and counters on the first workloads; without a variant,
  /// those of the original: "ID-w0-sanitize", "-profile".
  llvm::Error addAcceptance(const GpuCandidate *V, llvm::StringRef Id);

  /// Counters of the timed workloads, of the sets \p Sets (Profile/Metrics.def;
  /// all if empty): "ID-w0-profile". Without a variant, of the original.
  llvm::Error addProfile(const GpuCandidate *V, llvm::StringRef Id,
                         const std::vector<std::string> &Sets);
  /// Times of the original alone: "o-w0-time".
  llvm::Error addOriginalTimes();

  /// Comparisons on the large launches that the guard admits:
  /// "ID-large0-compare". Without a variant, of the original with itself: who
  /// does not bear a launch, or makes something else each time, says nothing.
  llvm::Error addLarge(const GpuCandidate *V, llvm::StringRef Id);

  /// The time of the launch that counts most, on floating-point inputs of
  /// another kind: "ID-w0-other-values".
  llvm::Error addOtherValues(const GpuCandidate &V);

  GpuBatch &batch() { return B; }
  const GpuOriginal &from() const { return From; }

private:
  JudgementBatch(GpuOriginal From, KernelLayout Types);
  llvm::Expected<std::string> image(llvm::StringRef Ptx);
  llvm::Expected<unsigned> caseOf(size_t Workload);
  llvm::Expected<std::optional<runner::Request>>
  request(const GpuCandidate &V, size_t Workload, llvm::StringRef Image);
  llvm::Expected<std::string> variantImage(const GpuCandidate *V);
  llvm::Expected<std::optional<runner::Request>>
  alone(const GpuCandidate *V, size_t Workload, llvm::StringRef Image);
  llvm::Error addRequests(const GpuCandidate &V, bool Screening);
  llvm::Error addHeat(llvm::StringRef Race, const GpuCandidate &V,
                      llvm::StringRef Image, unsigned Level);
  llvm::Expected<unsigned> largeCase(size_t Index);

  GpuOriginal From;
  GpuBatch B;
  std::string OriginalImage;
  std::map<size_t, unsigned> Cases, LargeCases;
  /// Cases of scaled inputs: name and index, by workload.
  std::map<size_t, std::vector<std::pair<std::string, unsigned>>> Scaled;
};

/// Results by the ids of requests, without the samples of timings.
llvm::json::Object byId(const runner::Batch &B, GpuResults Results);

/// What a GPU says of a variant on one workload.
struct GpuLaunch {
  std::string Workload;
  bool Asked = false;         ///< False: the guard keeps it out.
  bool Right = false;         ///< It gave the original's results, also timed.
  bool OriginalFails = false; ///< Nothing can be said: the original does.
  std::optional<GateFinding> Wrong; ///< Why it is not right.
  std::optional<runner::Call> Call; ///< Nothing: it was not timed.
  GpuRatio Ratio;
  double OriginalUs = 0, VariantUs = 0;
  unsigned Compared = 0; ///< Launches whose results were compared.
};

/// Reads the judgement of the variant \p Id. Resource error: a request failed
/// for a reason that is neither program's.
llvm::Expected<std::vector<GpuLaunch>>
readJudgement(const llvm::json::Object &Results, const GpuOriginal &From,
              llvm::StringRef Id);

/// What the requests of addLarge() say of the variant \p Id. Launches of which
/// nothing can be said are left out.
std::vector<ComparedLaunch> readLarge(const llvm::json::Object &Results,
                                      const GpuOriginal &From,
                                      llvm::StringRef Id);

/// The workload whose launches have most to read and write; nothing where no
/// time counts.
std::optional<size_t> launchThatCounts(llvm::ArrayRef<Workload> All);

/// What the request of addOtherValues() says; nothing where it has no time.
std::optional<OtherValues> readOtherValues(const llvm::json::Object &Results,
                                           const GpuOriginal &From,
                                           llvm::StringRef Id);

/// The outputs of the request ID-WORKLOAD-run; nothing where it returned none.
/// Resource error: their files are not there.
llvm::Expected<std::optional<std::pair<DeviceResults, DeviceResults>>>
readOutputs(const llvm::json::Object &Results, const GpuOriginal &From,
            size_t Workload, llvm::StringRef Id, llvm::StringRef Folder);

/// The name of the GPU that answered; "" where nobody did.
std::string gpuName(const llvm::json::Object &Results);
/// What the request "ceilings" found; where it failed, those that \p Described
/// implies if it describes this GPU, else none (all rates 0).
Ceilings gpuCeilings(const llvm::json::Object &Results,
                     const GpuDescription *Described);

/// How far a variant came in a race.
struct GpuRank {
  unsigned Levels = 0; ///< On which it was timed.
  double Ratio = 0;    ///< On the last of them; 0: it is wrong, or has no time.
  std::optional<GateFinding> Wrong;
};

/// What the requests of addRace() say of its variants \p Ids. Errors as of
/// readJudgement.
llvm::Expected<std::vector<GpuRank>> readRace(const llvm::json::Object &Results,
                                              const GpuOriginal &From,
                                              llvm::ArrayRef<std::string> Ids);

/// What the answers of a batch come to for one variant.
struct GpuJudgement {
  GpuVerdict Verdict;
  std::optional<GateFinding> Wrong; ///< It is to be rejected.
  /// A workload whose time was not found in its budget.
  std::optional<std::string> Untimed;
  /// A workload that has become slower: "w0: x0.900 (0.890 to 0.910)".
  std::optional<std::string> Slower;
};

/// Judges the variant \p Id by \p Results; \p Work is what it does on each
/// workload, where that is known, \p Margin the least speed-up that counts. An
/// original that fails on the GPU is a finding; other errors as of
/// readJudgement.
llvm::Expected<GpuJudgement>
judgeAnswers(const llvm::json::Object &Results, const GpuOriginal &From,
             llvm::StringRef Id, const Ceilings &Limits,
             llvm::ArrayRef<std::optional<ExecutionCounts>> Work,
             double Margin);

/// What the requests of addProfile() and addAcceptance() say of \p Id, by
/// workload; what has no counters says why. \p Times are those of its launches.
std::map<std::string, MeasuredLaunch>
readProfiles(const llvm::json::Object &Results, const GpuOriginal &From,
             llvm::StringRef Id, const std::map<std::string, double> &Times);

/// Medians of the original in \p Results by workload, whoever asked for them.
std::map<std::string, double> originalTimes(const llvm::json::Object &Results,
                                            llvm::ArrayRef<Workload> Workloads);

/// What compute-sanitizer said of the request ID-WORKLOAD-sanitize; nothing
/// where it was not asked.
std::optional<SanitizerVerdict> readSanitizer(const llvm::json::Object &Results,
                                              llvm::StringRef Id,
                                              llvm::StringRef Workload);
/// What its tools found of the variant \p Id and not of the original "o". With
/// \p Clusters racecheck has no say: it does not see what mbarriers of several
/// blocks order (benchmarks/runner/cluster-exchange.cu), which the gate's own
/// check does.
std::optional<GateFinding> sanitizerFinding(const llvm::json::Object &Results,
                                            llvm::StringRef Id,
                                            llvm::StringRef Workload,
                                            bool Clusters);

} // namespace cupilot

#endif // CUPILOT_GPUJUDGE_JUDGEMENTBATCH_H
