//===- SearchLoop.h - The state of a search -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_SEARCHLOOP_H
#define CUPILOT_LIB_EVOLUTION_SEARCHLOOP_H

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Evolution/Breeder.h"
#include "cupilot/Evolution/ModelMaker.h"
#include "cupilot/Evolution/Search.h"
#include <map>

namespace cupilot {

/// A variant on its way to its verdict.
struct SearchEntry {
  VariantOp V;
  CandidateOrder Order;
  std::optional<CandidateRecord> Known = std::nullopt; ///< From the journal.
  std::optional<Candidate> Made = std::nullopt;
  CandidateRecord Record = {}; ///< Its latest state.
  unsigned Round = 0;          ///< Repairs so far.
  bool GaveUp = false;
};

/// One search, from its beginning or from where its journal ends. Search.cpp
/// has how it begins and goes on, SearchRounds.cpp a generation,
/// SearchOnGpu.cpp what a GPU says, SearchResult.cpp what it ends with.
class SearchLoop {
public:
  SearchLoop(const SearchProblem &Problem, const SearchOptions &Options,
             Journal &J)
      : Problem(Problem), Options(Options), J(J) {}
  llvm::Expected<SearchResult> run();

private:
  llvm::Error begin();
  llvm::Error beginAgents();
  llvm::Error choose(Provider &From);
  llvm::Error evaluate(unsigned Generation);
  llvm::Error orders(std::vector<SearchEntry> &Entries);
  llvm::Error makeAndJudge(llvm::MutableArrayRef<SearchEntry> Entries,
                           unsigned Generation);
  llvm::Error judge(Candidate &C);
  llvm::Error
  repair(llvm::MutableArrayRef<SearchEntry> Entries, llvm::StringRef Stage,
         llvm::function_ref<llvm::Error(llvm::ArrayRef<SearchEntry *>)> Judge);
  llvm::Error finish(SearchEntry &E, unsigned Generation);
  llvm::Error evaluateOnGpu(unsigned Generation,
                            llvm::MutableArrayRef<SearchEntry> Entries);
  llvm::Error onGpu(llvm::StringRef Step,
                    llvm::function_ref<llvm::Error()> Ask);
  llvm::Error judgeOnGpu(llvm::StringRef Step,
                         llvm::ArrayRef<SearchEntry *> Waiting);
  llvm::Error settle(VariantOp V, const CandidateRecord &Record,
                     unsigned Generation);
  llvm::Error acceptOnGpu(std::vector<CandidateRecord> &Accepted,
                          SearchResult &Result);
  llvm::Error noteCalls();
  llvm::Error endOfBudget(llvm::Error E);
  bool atCeiling(const CandidateRecord &R) const;
  void remember(const CandidateRecord &R) {
    if (!R.DeviceDigest.empty())
      Seen.try_emplace(R.DeviceDigest + R.Plan, R.Genome);
  }
  llvm::Error beginBreeding();
  llvm::Expected<SearchResult> collect();
  KernelOp kernel() { return *Population->getOps<KernelOp>().begin(); }

  const SearchProblem &Problem;
  const SearchOptions &Options;
  Journal &J;
  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> Population;
  std::unique_ptr<CandidateEvaluator> Evaluator;
  std::unique_ptr<GpuStepJudge> Gpu; ///< Null: times are modelled.
  std::vector<LibraryStrategy> Library;
  KernelAdvice Advice;
  CallCount Calls;
  std::unique_ptr<CandidateMaker> Maker;
  std::vector<std::string> Strategies, Begin;
  std::map<std::string, std::string>
      Seen; ///< Device code and plan to the genome.
  std::unique_ptr<Breeder> Breeding;
  std::map<std::string, std::string> Ordered; ///< Genome to the variant's name.
  std::map<std::string, CandidateRecord> Judged; ///< By the variant's name.
  std::string Run, Class, Stopped, OverBudget;
  double Best = 1;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_SEARCHLOOP_H
