//===- Variant.h - A variant under the gate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_VARIANT_H
#define CUPILOT_LIB_EVALUATION_VARIANT_H

#include "DeriveDomain.h"
#include "LoadedIntegers.h"
#include "Original.h"

namespace cupilot {

/// One variant and the modules that it is run as.
class VariantRuns {
public:
  VariantRuns(OriginalRuns &O, const GateCode &Code, const LaunchPlan &Plan,
              const Guard &When)
      : O(O), Code(Code), Plan(Plan), When(When) {}
  llvm::Error load();

  /// Whether it would run on \p C, were the buffers as far apart and as aligned
  /// as they are in a run.
  llvm::Expected<bool> admitted(const GateCase &C) const;
  /// The same; a launch of which that cannot be said is none.
  bool admits(const GateCase &C) const {
    llvm::Expected<bool> Yes = admitted(C);
    if (Yes)
      return *Yes;
    llvm::consumeError(Yes.takeError());
    return false;
  }
  /// Runs it on \p J and adds what came of it. False: rejected.
  llvm::Expected<bool> judge(const JudgedCase &J, GateVerdict &Verdict);
  /// The same with a case that nobody else has.
  llvm::Expected<bool> judge(std::unique_ptr<JudgedCase> J,
                             GateVerdict &Verdict);
  /// Runs it on \p J, which asks how far it is right: being wrong there is no
  /// reason to reject it. False: it is wrong there.
  llvm::Expected<bool> explore(const JudgedCase &J, GateVerdict &Verdict);
  /// Sides of decisions that it took where it was right, and the original's on
  /// the same launches.
  const BranchCoverage &taken() const { return *Taken; }
  const BranchCoverage &takenByOriginal() const { return *TakenByOriginal; }
  /// The launches that it ran on, by judge() and explore().
  llvm::ArrayRef<TriedLaunch> tried() const { return Tried; }
  /// Notes what the original touches in launches on which it is right, those so
  /// far and those to come, as far as clauses of pairs of \p F hang on it.
  llvm::Error noteTouched(const DomainFrame &F);
  /// Runs it on cases that are drawn by its own code. False: rejected.
  llvm::Expected<bool> judgeDrawn(GateVerdict &Verdict);
  /// Runs it with impulses at every place. False: rejected.
  llvm::Expected<bool> judgeImpulses(ImpulseProbes &Probes,
                                     GateVerdict &Verdict);
  /// What of local memory is beyond the budget.
  llvm::Expected<std::optional<GateFinding>> checkLocalMemory() const {
    return compareLocalMemory(O.plain(), O.kernel().Symbol, Plain, Plan);
  }
  /// Bounds that it has for integers in memory, and the original does not,
  /// which no case passed on which it was right.
  llvm::ArrayRef<LoadedBound> untestedBounds() const { return Untested; }
  /// Blocks that the described GPU holds at a time, at most, of launches in
  /// which blocks wait for others that may begin later: with more, the variant
  /// hangs. Nothing where no case has such blocks.
  std::optional<uint64_t> residentLimit() const { return ResidentLimit; }
  /// What a launch costs beside what the instructions of the original do: where
  /// threads of either code wait for others, that is most of it. Of the
  /// launches so far.
  double costFactor() const;
  uint64_t salt() const { return Salt; }
  /// Counts of the captured workloads that the guard admits. False: rejected.
  llvm::Expected<bool> count(GateVerdict &Verdict);

private:
  /// The launches of the plan; nothing where the guard keeps the case out.
  /// \p Illegal gets what the guard admits although it is no launch.
  llvm::Expected<std::optional<PlannedRun>>
  shapesOf(const GateCase &C, std::optional<GateFinding> &Illegal) const {
    return plannedRun(O.kernel(), Plan, When, C, Illegal);
  }
  /// What one case says.
  struct Attempt {
    bool KeptOut = false;       ///< By the guard; the original runs.
    bool IllegalLaunch = false; ///< That the guard admits.
    std::optional<GateFinding> Wrong;
  };
  llvm::Expected<Attempt> attempt(const JudgedCase &J, GateVerdict &Verdict);
  /// Adds a launch that \p J is, and it ran on.
  llvm::Error addTried(TriedLaunch L, const JudgedCase &J);
  llvm::Error noteTouched(TriedLaunch &L, const JudgedCase &J) const;
  /// What a plain run notes: of all decisions, those of what is built.
  const llvm::BitVector *wantedOfRuns() const;
  /// Adds the sides that were taken in the run of \p J, which was right.
  llvm::Error noteDecisions(const LoadedKernel &Ran, const JudgedCase &J,
                            const PlannedRun &Launches);
  llvm::Expected<std::optional<GateFinding>>
  judgeThoroughly(const JudgedCase &J, const PlannedRun &Launches,
                  const RunResult &Forward, GateVerdict &Verdict);
  llvm::Expected<std::optional<GateFinding>>
  judgeSchedules(const JudgedCase &J, const PlannedRun &Launches,
                 GateVerdict &Verdict);
  llvm::Expected<bool> boundsBlocks(const GateCase &C, uint64_t Limit) const;
  llvm::Expected<std::optional<GateFinding>>
  judgeCoverage(const JudgedCase &J, const PlannedRun &Launches,
                const RunResult &Checked, GateVerdict &Verdict);
  llvm::Expected<bool> addsNothing(const JudgedCase &J, const RunResult &Got,
                                   size_t Buffer,
                                   const llvm::BitVector &Extra) const;
  llvm::Expected<std::optional<GateFinding>>
  runAndCompare(LoadedKernel &K, const JudgedCase &J,
                const PlannedRun &Launches, RunResult &Got,
                GateVerdict &Verdict);

  /// The whole comparison on \p C; nothing also when the original does not
  /// bear it.
  llvm::Expected<std::optional<GateFinding>>
  judgeWithImpulses(const GateCase &C, const PlannedRun &Launches,
                    RunResult &Got, GateVerdict &Verdict);
  llvm::Expected<GateFinding> narrowDown(const JudgedCase &Base,
                                         std::vector<Impulse> Impulses,
                                         const PlannedRun &Launches,
                                         GateFinding Wrong, RunResult Got,
                                         GateVerdict &Verdict);

  /// What runs of it, or \p Bitcode, in a process of its own: who wrote it is
  /// not known.
  llvm::Expected<LoadedKernel> loadApart(RunMode Mode,
                                         BornChecks Checks) const {
    return loadApart(Code.runs(), Mode, std::move(Checks));
  }
  llvm::Expected<LoadedKernel> loadApart(llvm::StringRef Bitcode, RunMode Mode,
                                         BornChecks Checks) const;

  OriginalRuns &O;
  const GateCode &Code;
  const LaunchPlan &Plan;
  const Guard &When;
  uint64_t Salt = 0; ///< A digest of what it does.
  LoadedKernel Plain;
  /// Notes decisions, as the original's does.
  LoadedKernel Deciding;
  LoadedKernel Reversed, Checked, Far, Scheduled; ///< When needed.
  std::vector<TriedLaunch> Tried;
  std::vector<std::unique_ptr<JudgedCase>> OwnCases;
  /// Those that were right before there was a frame, by their place in Tried.
  std::vector<std::pair<size_t, const JudgedCase *>> Unnoted;
  const DomainFrame *Frame = nullptr; ///< Once noteTouched() got one.
  std::optional<BranchCoverage> Taken, TakenByOriginal;
  std::optional<uint64_t> ResidentLimit;
  double Steps = 0, Switches = 0; ///< For costFactor().
  unsigned DeepSensitivities = 0; ///< Asked for so far.
  std::vector<LoadedBound> Untested;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_VARIANT_H
