//===- SearchLoop.h - One search, as it goes on -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_SEARCHLOOP_H
#define CUPILOT_LIB_EVOLUTION_SEARCHLOOP_H

#include "AgentCalls.h"
#include "cupilot/Evolution/Breeder.h"
#include "cupilot/Evolution/ClusterGate.h"
#include "cupilot/Evolution/ModelMaker.h"
#include "cupilot/Evolution/SceManager.h"
#include "cupilot/Evolution/Search.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Model/Architecture.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

namespace cupilot {

/// A variant on its way to its verdict.
struct SearchEntry {
  VariantOp V;
  CandidateOrder Order;
  std::optional<CandidateRecord> Known = std::nullopt; ///< From the journal.
  std::optional<Candidate> Made = std::nullopt;
  std::optional<CandidateRecord> Ahead = std::nullopt; ///< Its verdict.
  CandidateRecord Record = {};                         ///< Its latest state.
  unsigned Round = 0;                                  ///< Repairs so far.
  bool GaveUp = false;
  bool TooLate = false; ///< No time was left for its verdict.
};

/// What an ordered variant is to improve.
struct Improvement {
  CandidateRecord Elite;
  Genome Key;
  ImproveOrder Order;
};

/// Settings of one variant's numbers.
struct Sweep {
  Scoreboard::Entry Elite;
  std::vector<Tunable> Numbers;
  std::vector<SearchEntry> Entries = {};
  std::vector<Translation> Codes = {}; ///< Of the entries.
};

/// The stage of candidates that are settings of another one's numbers. Their
/// steps on a GPU begin with it, too: recordings are found by it.
inline constexpr llvm::StringLiteral TuneStage = "tune";

/// A setting that compiles, beside the others.
struct Racer {
  SearchEntry *E;
  unsigned Levels = 0;
  double Ratio = 0;
  bool Out = false; ///< It is wrong, or no faster than the elite.
};

/// One search, from its beginning or from where its journal ends.
class SearchLoop : private DialogueHost {
public:
  SearchLoop(const SearchProblem &Problem, const SearchOptions &Options,
             Journal &J)
      : Problem(Problem), Options(Options), J(J) {}
  llvm::Expected<SearchResult> run();

private:
  const CandidateRecord *variant(llvm::StringRef Name) const override {
    auto At = Judged.find(Name.str());
    return At == Judged.end() ? nullptr : &At->second;
  }
  llvm::Error judgeQuickly(Candidate &C) override {
    const Turn Mine = Options.Turns.wait(SharedResource::Job);
    return Evaluator->judgeQuickly(C);
  }
  llvm::Expected<double> time(llvm::StringRef Step,
                              std::vector<WaitingCandidate> &Waiting) override;
  llvm::Expected<double>
  profile(llvm::StringRef Step, std::vector<WaitingCandidate> &Waiting,
          std::vector<LaunchProfiles> &Profiles) override;
  llvm::Expected<double> metered(llvm::StringRef Step,
                                 llvm::function_ref<llvm::Error()> Ask);
  llvm::Error begin();
  llvm::Error checkRecording();
  llvm::Error beginAgents();
  llvm::Error choose(CallLog &From);
  llvm::Error absorbAgent(llvm::Error E, llvm::StringRef Agent) const;
  ChoiceRequest choice(const PromptKernel &Of, const Standing *So) const {
    const bool Roofline = Options.Agents->Roofline;
    return {Of,
            Roofline ? &Advice : nullptr,
            Library,
            Options.Within,
            So,
            Options.Agents->NewStrategies,
            capabilityNumber(Problem.Arch),
            Library};
  }
  std::vector<ProposedGenome> take(ManagerAnswer Said, const ChoiceRequest &R,
                                   const CallLog &Log);
  std::vector<LibraryStrategy> chosenStrategies();
  llvm::Error measureOriginal();
  llvm::Error profileBest(unsigned Generation);
  void tellUnread(llvm::ArrayRef<LaunchProfiles> Profiles) const;
  llvm::Error breed(unsigned Generation);
  Standing standing(unsigned Generation);
  llvm::Error askAgents(Provider &From, unsigned Generation,
                        unsigned Improvements,
                        std::vector<ProposedGenome> &Proposed);
  llvm::Error addImprovements(unsigned Generation, unsigned Count);
  std::vector<const Scoreboard::Entry *> nearBest() const;
  llvm::Error evaluate(unsigned Generation);
  llvm::Error collectUnjudged(std::vector<SearchEntry> &Entries);
  llvm::Error make(llvm::MutableArrayRef<SearchEntry> Entries);
  llvm::Error judgeMade(llvm::MutableArrayRef<SearchEntry> Entries,
                        unsigned Generation);
  bool screens() const {
    return Gpu && Gpu->mayScreen() && Maker->rounds() == 0;
  }
  llvm::Error screen(llvm::MutableArrayRef<SearchEntry> Entries,
                     unsigned Generation);
  std::vector<SearchEntry *>
  worthJudging(llvm::ArrayRef<SearchEntry *> Entries);
  llvm::Error judgeAhead(llvm::ArrayRef<SearchEntry *> Entries);
  llvm::Error judge(SearchEntry &E);
  llvm::Error
  repair(llvm::MutableArrayRef<SearchEntry> Entries, llvm::StringRef Stage,
         llvm::function_ref<llvm::Error(llvm::ArrayRef<SearchEntry *>)> Judge);
  llvm::Error finish(SearchEntry &E, unsigned Generation);
  llvm::Error evaluateOnGpu(unsigned Generation,
                            llvm::MutableArrayRef<SearchEntry> Entries);
  llvm::Error tune(unsigned Generation);
  std::optional<Sweep> nextSweep();
  llvm::Error drawSettings(Sweep &S, unsigned Generation);
  llvm::Expected<bool> addSetting(Sweep &S, const Setting &To,
                                  unsigned Generation);
  llvm::Error makeSettings(Sweep &S);
  llvm::Expected<std::vector<SearchEntry *>> rankSettings(Sweep &S,
                                                          unsigned Generation);
  llvm::Error raceSettings(const Sweep &S, llvm::MutableArrayRef<Racer> Racers,
                           llvm::StringRef Step);
  llvm::Error estimateSettings(const Sweep &S,
                               llvm::MutableArrayRef<Racer> Racers);
  llvm::Error judgeSettings(const Sweep &S, llvm::ArrayRef<SearchEntry *> Best,
                            unsigned Generation);
  llvm::Error endSetting(SearchEntry &E, llvm::StringRef Elite,
                         unsigned Generation);
  llvm::Error onGpu(llvm::StringRef Step,
                    llvm::function_ref<llvm::Error()> Ask) {
    return askGpu(Run, Step, Step, Ask);
  }
  llvm::Error askGpu(llvm::StringRef Run, llvm::StringRef Step,
                     llvm::StringRef Name,
                     llvm::function_ref<llvm::Error()> Ask);
  llvm::Error judgeOthers(llvm::ArrayRef<CandidateRecord> Accepted,
                          SearchResult &Result);
  llvm::Error
  askOf(llvm::StringRef Step, llvm::ArrayRef<SearchEntry *> Waiting,
        llvm::function_ref<llvm::Error(std::vector<WaitingCandidate> &)> Ask);
  llvm::Error judgeOnGpu(llvm::StringRef Step,
                         llvm::ArrayRef<SearchEntry *> Waiting);
  llvm::Error settle(VariantOp V, const CandidateRecord &Record,
                     unsigned Generation);
  llvm::Error acceptOnGpu(std::vector<CandidateRecord> &Accepted,
                          SearchResult &Result);
  llvm::Error noteCalls();
  llvm::Error endOfBudget(llvm::Error E);
  bool isOverBudget() const {
    return Ended && Ended->Why == EarlyEnd::Cause::Budget;
  }
  bool isOutOfTime();
  bool goesOn() { return !isOverBudget() && !isOutOfTime(); }
  llvm::Error save(const CandidateRecord &R);
  bool atCeiling(const CandidateRecord &R) const;
  bool isDone() const {
    return llvm::any_of(
        Judged, [&](const auto &Each) { return atCeiling(Each.second); });
  }
  void remember(const CandidateRecord &R) {
    if (!R.DeviceDigest.empty() && R.Code && !findSame(R))
      Seen[R.DeviceDigest].push_back({R.Code->Plan, R.Genome});
  }
  /// Who has the device code and the plan of \p R; null where nobody has.
  const std::string *findSame(const CandidateRecord &R) const;
  bool endAsDuplicate(CandidateRecord &R) const;
  llvm::Error beginBreeding();
  size_t toDraw() const {
    return Options.Population -
           std::min<size_t>(Options.Population, Begin.size() + Stored.size());
  }
  void addProposed(llvm::StringRef Name, SearchResult &Result);
  llvm::Expected<SearchResult> collect();
  KernelOp kernel() { return *Population->getOps<KernelOp>().begin(); }

  const SearchProblem &Problem;
  const SearchOptions &Options;
  Journal &J;
  // Processes that judge are copies of this one, which must have no threads.
  mlir::MLIRContext Context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> Population;
  std::unique_ptr<CandidateEvaluator> Evaluator;
  std::unique_ptr<ClusterGate> Cluster; ///< Null: candidates are judged here.
  std::unique_ptr<GpuStepJudge> Gpu;    ///< Null: times are modelled.
  std::vector<LibraryStrategy> Library;
  KernelAdvice Advice;
  GpuOriginalFigures Measured; ///< Empty without a GPU or without models.
  Ceilings Limits;
  KernelCeiling Ceiling;
  std::optional<Scoreboard> Board;
  /// What bounds the best variant, as far as is known.
  std::optional<Bottleneck> Bound;
  /// By the variant's name: what it is to improve.
  std::map<std::string, Improvement> Improvements;
  CallCount Calls;
  std::unique_ptr<CandidateMaker> Maker;
  std::vector<std::string> Strategies, Begin;
  std::set<std::string> Proposed; ///< Strategies, by this search's models.
  /// By the variant's name: what the search began with.
  std::map<std::string, SubmittedVariant> Stored;
  /// What a budget's end left without its repairs.
  std::vector<CandidateRecord> Unfinished;
  /// By the digest of device code: plans, and the genomes that have them.
  std::map<std::string, std::vector<std::pair<LaunchPlan, std::string>>> Seen;
  std::unique_ptr<Breeder> Breeding;
  std::map<std::string, std::string> Ordered; ///< Genome to the variant's name.
  std::map<std::string, CandidateRecord> Judged; ///< By the variant's name.
  std::set<std::string> Swept; ///< Code whose numbers were tuned.
  std::string Run, Class;
  std::optional<EarlyEnd> Ended;
  double Best = 1;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_SEARCHLOOP_H
