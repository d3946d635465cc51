//===- Bench.h - A program's kernels, and what is done with texts for them -*-
// C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MCP_BENCH_H
#define CUPILOT_MCP_BENCH_H

#include "cupilot/Driver/SearchPlan.h"
#include "cupilot/Evolution/Journal.h"
#include "cupilot/Mcp/Work.h"

namespace cupilot {

/// A kernel of the program, ready for work.
struct BenchKernel {
  SearchItem *Item = nullptr; ///< With a kernel and its unit.
  SearchProblem Problem;
  OriginalCode Code; ///< Of the original, for admission.
  /// Where that is quick (Bench::makeReady): workers begin with it.
  std::unique_ptr<CandidateEvaluator> Evaluator = nullptr;
};

/// The program that a server is about, and its store.
class Bench {
public:
  /// The request of an `evolve` of the program: its store, its source or
  /// project, its workloads (without: the store alone can be looked at), device
  /// and GPU.
  explicit Bench(EvolveRequest R) : R(std::move(R)) {}
  /// Opens or makes the store, and reads the workloads. Nothing is parsed.
  llvm::Error open();

  const EvolveRequest &request() const { return R; }
  std::string journal() const { return Journal::pathIn(R.Store); }
  bool hasGpu() const { return R.Device != "cpu"; }
  bool hasProgram() const {
    return !R.Workloads.empty() && (!R.Input.empty() || R.isProject());
  }

  /// The kernel \p Name: as `kernels` spells it, its symbol, or the name alone
  /// where one kernel has it. Its unit is parsed and compiled when it is first
  /// asked for.
  llvm::Expected<BenchKernel *> kernel(llvm::StringRef Name);

  /// Runs the original here, once, where earlier work has seen that it takes
  /// little time: each worker would do it again.
  void makeReady(BenchKernel &K);

  // What can be looked at.
  llvm::Expected<llvm::json::Object> kernels();
  llvm::Expected<llvm::json::Object> describe(llvm::StringRef Name);
  llvm::Expected<llvm::json::Object>
  tried(llvm::StringRef Name, size_t Most,
        llvm::ArrayRef<std::pair<std::string, WorkStatus>> Work);
  llvm::Expected<llvm::json::Object> variant(llvm::StringRef Name,
                                             llvm::StringRef Variant);

  /// What a worker does: compile, judge, time, profile, similar, submit.
  llvm::Expected<llvm::json::Object>
  work(const WorkRequest &W, llvm::raw_ostream &Log, GpuMeter &Meter);

private:
  struct NamedKernel {
    std::string Name, Symbol;
    double Share = 0;
  };
  llvm::Expected<std::vector<StoredKernel>> stored() const;
  llvm::Expected<std::vector<NamedKernel>> named();
  llvm::Expected<NamedKernel> find(llvm::StringRef Name);
  /// The best variant of the store; nothing without one.
  std::optional<llvm::json::Object> best(llvm::StringRef Symbol,
                                         llvm::StringRef Identity) const;
  std::string factsPath(llvm::StringRef Symbol) const;
  void noteFacts(const SearchProblem &P, const CandidateEvaluator &E,
                 double ReadySeconds) const;
  std::optional<llvm::json::Object> facts(llvm::StringRef Symbol) const;

  EvolveRequest R;
  std::optional<WorkloadSet> Recorded;
  std::string GpuName;
  /// Of a source, all of it; of a project, one for each kernel asked for.
  std::vector<std::unique_ptr<SearchPlan>> Plans;
  std::map<std::string, BenchKernel> Ready; ///< By symbol.
  /// What cannot be worked on: why, and until when nobody tries it again.
  std::map<std::string,
           std::pair<std::string, std::chrono::steady_clock::time_point>>
      Failed;
  llvm::Expected<BenchKernel *> make(const NamedKernel &N);
};

} // namespace cupilot

#endif // CUPILOT_MCP_BENCH_H
