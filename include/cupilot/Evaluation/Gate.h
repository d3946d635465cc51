//===- Gate.h - The checks before the store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_GATE_H
#define CUPILOT_EVALUATION_GATE_H

#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Model/Domain.h"
#include "cupilot/Model/GateReason.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"
#include <memory>

namespace cupilot {

/// Version of the set of checks; evidence carries it.
constexpr int GateVersion = 13;

/// How much is run for a domain.
enum class GateDepth {
  Quick,  ///< The recorded launches and a few others: no proof, and no domain.
  Search, ///< What tells candidates apart.
  Keep    ///< Large launches too, for variants that are about to be kept.
};

/// Device code as the gate takes it: what its source says, and what a compiler
/// other than clang builds of it. What is built is what runs.
struct GateCode {
  GateCode() = default;
  GateCode(std::string Source, std::string Built = {})
      : Source(std::move(Source)), Built(std::move(Built)) {}
  std::string Source; ///< Clang's bitcode: of it are facts of the code, which
                      ///< sides of decisions are taken, and the float64 run.
  std::string Built;  ///< bitcodeOfPtx, of kernels of the same names; "" where
                      ///< clang builds, and Source runs. What it compares with
                      ///< constants and arguments counts, too.
  const std::string &runs() const { return Built.empty() ? Source : Built; }
};

/// What the gate knows before it judges anything.
struct GateSetup {
  const Kernel *Original = nullptr;
  GateCode Code; ///< Of the original's slice.
  std::vector<Workload> Workloads;
  std::string DataFolder; ///< Where the workloads' files lie.
  std::string Arch = "sm_90";
  uint64_t Seed = 1;
  /// The build's options let its compiler approximate quotients, roots and
  /// functions (--use_fast_math): a variant may do so, too, as long as its
  /// errors are as the original's.
  bool MayApproximate = false;
  /// Why Code.Source cannot be run in float64, in the words of a finding: then
  /// the original in its own precision is the measure. "": it can.
  std::string NoFloat64 = {};
  /// A GPU compares the workloads as they are: of those that take long here the
  /// gate judges smaller launches alone, and they are large (isLarge).
  bool OnGpu = false;
  /// What making host code of a variant may take, for each kernel and kind of
  /// run: CpuDeviceOptions::Apart.
  ProcessLimits Limits{};
};

/// One check's outcome.
struct GateFinding {
  GateReason Reason;
  std::string Workload; ///< "w0", "w0 x3", "w0 n=1021" ...
  std::string Evidence; ///< A sentence with the numbers.
};

/// A launch that a verdict rests on.
struct GateRecord {
  std::string Case;     ///< "w0 x3".
  LaunchShape Shape;    ///< Of the original.
  bool KeptOut = false; ///< By the guard: the original runs.
  bool Beyond = false;  ///< It asks how far the variant is right.
  std::optional<GateReason> Rejected = std::nullopt;
};

/// One launch of a plan, and what it did.
struct CountedLaunch {
  std::string Symbol;
  LaunchShape Shape;
  ExecutionCounts Counts;
};

/// Why a domain ends where it does.
struct DomainEnd {
  std::string Case;     ///< "w0 n=4096".
  GateReason Reason;    ///< What is wrong there.
  std::string Evidence; ///< A sentence with the numbers.
  /// Nothing is wrong there: the launch was too expensive to run.
  bool NotRun = false;
};

/// A launch like a workload, but too large for the cpu device: for a GPU. What
/// is in its buffers is described.
struct LargeLaunch {
  std::string Case; ///< "w0 n=67108872".
  Workload Launch;  ///< "large0" ...
};

/// Bytes of the buffers of a large launch, where nobody says how many.
constexpr uint64_t UsualLargeBytes = uint64_t(1) << 30;

/// What a GPU said of a variant on one of these, by its name.
struct ComparedLaunch {
  std::string Launch;
  std::string Case;     ///< LargeLaunch::Case.
  bool Right = false;   ///< All results were as the original's there.
  std::string Evidence; ///< In a sentence, where it was wrong.
};

/// What a verdict's domain was derived from.
struct DomainBasis;

struct GateVerdict {
  bool Passed = false;
  std::vector<GateFinding> Findings; ///< Empty when passed.
  unsigned Checks = 0;               ///< Launches compared.
  unsigned GuardMisses = 0; ///< Cases that the guard kept out (original runs).
  double MaxError = 0;      ///< Largest error against the float64 reference ...
  double OriginalError = 0; ///< ... and the original's own.
  unsigned Skipped = 0; ///< Cases in which the original itself faults or races.
  std::vector<GateRecord> Cases; ///< Those that ran, in order.
  /// How large workloads were made smaller: "w0: rows=16 of 4096".
  std::vector<std::string> Choices;
  /// Where the variant may run; nothing unless it passed.
  std::optional<Domain> Where;
  /// With which a GPU's results widen it; nothing in a verdict that was read.
  std::shared_ptr<const DomainBasis> Basis = nullptr;
  /// Launches beyond the domain on which the variant was wrong.
  std::vector<DomainEnd> Ends;
  /// Workloads that lie outside: builds run the original on them.
  std::vector<std::string> Outside;
  /// What the variant launches for each captured workload; nothing where the
  /// guard does not admit it.
  std::vector<std::optional<std::vector<CountedLaunch>>> VariantLaunches;
};

/// What launch and arguments must fit, as the variant squeezes it into fewer
/// bits than the original; nothing for a verdict that was read.
std::vector<RangeClause> narrowedRanges(const GateVerdict &V);
/// What either code compares with a constant, and the constant, as a range of
/// one number; nothing for a verdict that was read.
std::vector<RangeClause> comparedConstants(const GateVerdict &V);

/// The whole verdict: "verdict", "reason", "workload", "evidence", "findings",
/// "checks", "cases" ...
llvm::json::Object toJSON(const GateVerdict &V);
/// The reverse, without the variant's launches; false for what is broken.
bool fromJSON(const llvm::json::Object &O, GateVerdict &V);

/// What a launch left behind on another device: buffers in the workload's
/// order, empty ones are as they were before it; device variables by name.
struct DeviceResults {
  std::vector<std::vector<uint8_t>> Buffers;
  std::vector<std::pair<std::string, std::vector<uint8_t>>> Globals;
};

/// How results of another device compare with the float64 reference.
struct ReferenceVerdict {
  bool Compared = false; ///< False: there is no reference for that launch.
  std::optional<GateFinding> Finding;
  double MaxError = 0;      ///< The variant's, against float64 ...
  double OriginalError = 0; ///< ... and the original's, both on that device.
};

/// "compared", "error", "original_error", "reason", "finding".
llvm::json::Object toJSON(const ReferenceVerdict &V);
ReferenceVerdict referenceVerdictFrom(const llvm::json::Object &O);

/// The box of \p W alone: its launch, arguments and, as far as buffers go, its
/// pointers. For what a GPU compared. \p Variant and \p Plan are those that ran
/// there.
llvm::Expected<DomainBox> comparedBox(const Kernel &K, llvm::StringRef Original,
                                      llvm::StringRef Variant,
                                      const LaunchPlan &Plan,
                                      const Workload &W);

/// The domain of \p V with what a GPU said of \p All: boxes that reach to
/// launches on which the variant was right there, beside those that the gate
/// proved, and none with a launch on which it was wrong. Nothing where none is
/// left. \p Asked: the launches that \p All names.
llvm::Expected<std::optional<Domain>>
withCompared(const GateVerdict &V, llvm::ArrayRef<LargeLaunch> Asked,
             llvm::ArrayRef<ComparedLaunch> All);
/// Whether the variant of \p V was wrong on a launch in \p Box, which an
/// earlier verdict allowed.
bool wasWrongIn(const GateVerdict &V, const DomainBox &Box);

/// The gate of one kernel. The original's results are computed once.
class Gate {
public:
  /// Errors: broken workloads (usage), an original that the cpu device cannot
  /// run or that faults on its own workloads (finding).
  static llvm::Expected<std::unique_ptr<Gate>> create(GateSetup Setup);
  virtual ~Gate();
  /// Whether workload \p Index is left to the GPU.
  virtual bool isLarge(size_t Index) const = 0;
  /// Counts of the original on each workload; none of large ones.
  virtual llvm::ArrayRef<ExecutionCounts> originalCounts() const = 0;
  /// The top of the ladder, where there is a GPU: launches beyond what is run
  /// here, the same for all variants. \p OnGpu are workloads that a GPU alone
  /// runs; buffers of a launch take up to \p MostBytes. None where nobody knows
  /// what they touch.
  virtual llvm::Expected<std::vector<LargeLaunch>>
  largeLaunches(llvm::ArrayRef<Workload> OnGpu, uint64_t MostBytes) = 0;
  /// Runs every check. A variant that fails is a verdict, not an error.
  virtual llvm::Expected<GateVerdict> judge(const GateCode &Variant,
                                            const LaunchPlan &Plan,
                                            const Guard &When,
                                            GateDepth Depth) = 0;
  /// Runs the original on what Quick runs, ahead of the first verdict: the next
  /// verdicts take what is known. Ends when \p Seconds are over.
  virtual llvm::Error runOriginalQuickly(double Seconds) = 0;
  /// Runs the recorded launches alone, for their counts, and checks no result.
  virtual llvm::Expected<GateVerdict>
  count(const GateCode &Variant, const LaunchPlan &Plan, const Guard &When) = 0;
  /// Holds what a variant left behind on another device against the float64
  /// run of workload \p Index here; its error may be as the original's own
  /// there. Only workloads that were judged whole have a reference.
  virtual llvm::Expected<ReferenceVerdict>
  judgeDeviceResults(size_t Index, const DeviceResults &Original,
                     const DeviceResults &Variant) = 0;
};

} // namespace cupilot

#endif // CUPILOT_EVALUATION_GATE_H
