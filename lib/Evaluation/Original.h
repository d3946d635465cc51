//===- Original.h - The original's results, before anything is judged -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_ORIGINAL_H
#define CUPILOT_LIB_EVALUATION_ORIGINAL_H

#include "BranchCoverage.h"
#include "DomainCases.h"
#include "ImpulseProbes.h"
#include "LoadedIntegers.h"
#include "Schedules.h"

namespace cupilot {

/// The original on every case. Each case is run once, when it is asked for the
/// first time; what comes of it does not depend on when that is.
class OriginalRuns {
public:
  /// No launch of a domain costs more, in instructions of all threads.
  static constexpr double LargestCost = 4e8;
  static llvm::Expected<std::unique_ptr<OriginalRuns>> create(GateSetup Setup);

  /// A case to come, and how variants are run on it.
  size_t count() const { return Entries.size(); }
  /// Whether the case \p Index is a recorded launch, or stands for one.
  bool isRecorded(size_t Index) const { return Entries[Index].Recorded; }
  /// The case \p Index with the original's results; null when the original
  /// does not bear it.
  llvm::Expected<const JudgedCase *> get(size_t Index);
  /// Runs the original on another case; null when it does not bear it.
  llvm::Expected<std::unique_ptr<JudgedCase>> prepare(GateCase C);
  /// Makes the float64 run of a far case. False: it was there.
  llvm::Expected<bool> findReference(const JudgedCase &J);
  /// Whether the original, too, is right on \p J when its threads take turns
  /// so.
  llvm::Expected<bool> bears(const JudgedCase &J, const Schedule &S);
  /// Fills in J.Shaken. False: nothing in \p J is a double, or it was there.
  llvm::Expected<bool> findShaken(const JudgedCase &J);
  /// Fills in J.Sensitivity.
  llvm::Error findSensitivity(const JudgedCase &J);
  /// Fills in J.Touched.
  llvm::Error findTouched(const JudgedCase &J);
  /// Runs the original as it is.
  llvm::Expected<RunResult> run(const GateCase &C) { return run(Plain, C); }
  /// The same, with RunResult::Coverage.
  llvm::Expected<RunResult> runCovered(const GateCase &C);
  /// What a launch of the original takes, in instructions of all threads;
  /// below 0 where it faults.
  llvm::Expected<double> costOf(const GateCase &C);
  /// The same of a launch that may be huge: TooMuch where it takes more than
  /// the launches of a domain may.
  llvm::Expected<double> estimate(const GateCase &C, bool Deep);
  llvm::Expected<double> estimate(const GateCase &C, LoadedKernel &K,
                                  double MostSteps, unsigned Blocks);
  /// The launches that say how far a variant of the base \p Index is right;
  /// null where the original does not bear the base.
  llvm::Expected<DomainCases *> domainCases(size_t Index);
  /// The same for a variant of which the guard may keep the base out: then from
  /// a launch that it admits, as small as there is one.
  llvm::Expected<DomainCases *> domainCases(size_t Index,
                                            DomainCases::Admission Admits);
  /// The decisions of the original's code; none are added.
  const BranchCoverage &decisions() const { return *Decisions; }
  /// What the original's code does with its arguments.
  llvm::Expected<const CodeFacts *> facts();
  /// Impulses at every place of the base case \p Index; null when the original
  /// does not bear it.
  llvm::Expected<ImpulseProbes *> impulseProbes(size_t Index);
  /// The launches that variations start from, one for each of the first two
  /// workloads.
  llvm::ArrayRef<std::unique_ptr<GateCase>> bases() const { return Bases; }

  /// What a run of base \p Index takes, in instructions of all threads.
  double baseCost(size_t Index) const { return BaseStates[Index].Cost; }

  const GateSetup &setup() const { return Setup; }
  const Kernel &kernel() const { return *Setup.Original; }
  const CaseContext &context() const { return *Context; }
  const BornChecks &checks() const { return Checks; }
  llvm::ArrayRef<ExecutionCounts> counts() const { return Counts; }
  /// What the largest workload takes, in instructions of all threads.
  double mostCost() const { return MostCost; }
  /// GateSetup::NoFloat64.
  bool inOwnPrecision() const { return !Setup.NoFloat64.empty(); }
  const LoadedKernel &plain() const { return Plain; }
  llvm::ArrayRef<std::string> choices() const { return Choices; }
  /// Workload \p Index as it was captured.
  llvm::Expected<GateCase> captured(size_t Index) const {
    return capturedCase(Setup, Types, Index);
  }
  /// Device variables that the original knows, as they start.
  llvm::ArrayRef<std::pair<std::string, Bytes>> variables() const {
    return Plain.Initial;
  }

private:
  explicit OriginalRuns(GateSetup Setup) : Setup(std::move(Setup)) {}
  llvm::Error load();
  llvm::Error addWorkload(size_t Index);
  llvm::Error findChecks(const GateCase &Base);
  llvm::Error findScheduleChecks(const GateCase &Base);
  llvm::Expected<RunResult> run(LoadedKernel &K, const GateCase &C,
                                uint8_t Fill = Poison);
  llvm::Expected<std::vector<bool>> findPureOutputs(const GateCase &C,
                                                    const RunResult &First);
  llvm::Expected<bool> movesContent(const GateCase &C, const RunResult &First,
                                    size_t I);
  llvm::Error addRefilled(JudgedCase &J);
  bool hasOtherBlock(const GateCase &C) const;
  llvm::Error takeUntouched(GateCase &C);
  llvm::Error loadForRelaxed();
  /// Runs the original with doubles that are rounded by the coins of \p Seed.
  llvm::Expected<RunResult> runShaken(const GateCase &C, uint8_t Fill,
                                      uint64_t Seed);
  /// Runs the original in float64 with rounded operands: to nearest, or by the
  /// coins of \p Seed.
  llvm::Expected<RunResult> runRounded(const JudgedCase &J, uint64_t Seed);
  llvm::Expected<bool> findRounds(const JudgedCase &J);
  /// Fills in AsExact and Lean.
  llvm::Error findRounding(JudgedCase &J);
  llvm::Expected<GateCase> reduced(const GateCase &C, double Cost,
                                   bool BySample, double LeastOfBlock);
  llvm::Expected<std::optional<GateCase>>
  admittedCase(size_t Index, DomainCases::Admission Admits);

  struct Entry {
    std::function<GateCase()> Make;
    bool Recorded = false; ///< As it was, or the one that stands for it.
    bool Prepared = false;
    std::unique_ptr<JudgedCase> Judged;
  };

  GateSetup Setup;
  uint64_t Code = 0; ///< A digest of what the original does.
  KernelLayout Types;
  std::optional<CaseContext> Context;
  std::vector<LoadedIntegers> Loaded; ///< What decides something.
  LoadedKernel Plain, Reversed, Wide, Counting, Checked, Covered;
  /// Notes decisions, where what is built is not what clang makes of the
  /// source; else Plain does.
  LoadedKernel Deciding;
  std::array<LoadedKernel, 2> Estimating; ///< By depth; when needed.
  LoadedKernel EstimatingRecorded;        ///< Of launches as recorded.
  LoadedKernel Scheduled;
  std::optional<CodeFacts> Facts; ///< Once they are asked for.
  std::optional<BranchCoverage> Decisions;
  LoadedKernel Shaken;  ///< When a double first asks for it.
  LoadedKernel Rounded; ///< Under a relaxed contract.
  /// Whether any operand is rounded there; once it is known.
  std::optional<bool> Rounds;
  BornChecks Checks;
  double MostCost = 0; ///< Of a workload, in instructions of all threads.
  struct AdmittedBase {
    bool Fails = false;
    std::unique_ptr<JudgedCase> Base;
    std::unique_ptr<DomainCases> Cases;
  };
  struct BaseState {
    size_t Entry;
    double Cost; ///< Of a run, in instructions of all threads.
    std::unique_ptr<ImpulseProbes> Probes;
    std::unique_ptr<DomainCases> Domain;
    std::map<std::string, AdmittedBase> Admitted; ///< By the case's name.
  };
  std::vector<std::unique_ptr<GateCase>> Bases;
  std::vector<BaseState> BaseStates; ///< Beside Bases.
  std::vector<Entry> Entries;
  std::vector<ExecutionCounts> Counts;
  std::vector<std::string> Choices;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_ORIGINAL_H
