//===- KernelSearch.h - The search of one kernel into a store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_DRIVER_KERNELSEARCH_H
#define CUPILOT_LIB_DRIVER_KERNELSEARCH_H

#include "cupilot/Driver/SearchPlan.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/File.h"
#include <chrono>

namespace cupilot {

/// The searches of a run's kernels into one store.
class KernelSearches {
public:
  /// \p Root: the store's folder; of a dry run one that goes.
  KernelSearches(const EvolveRequest &R, llvm::StringRef Root,
                 WorkloadSet Recorded, ProjectStore Store, Journal J,
                 std::unique_ptr<EvolveAgents> Models, llvm::raw_ostream &Out,
                 llvm::raw_ostream &Log)
      : R(R), Root(Root), Recorded(std::move(Recorded)),
        Store(std::move(Store)), J(std::move(J)), Models(std::move(Models)),
        Out(Out), Log(Log) {}
  /// \p Others: units that define \p K alike. What is kept is judged as they
  /// build it, too. \p Row gets what became of \p K. Errors are no findings
  /// about it: results of a GPU are awaited, a budget is used up, something
  /// outside failed.
  /// \p Most: candidates, or calls to models.
  llvm::Error evolveKernel(SearchedUnit &Unit,
                           llvm::ArrayRef<SearchedUnit *> Others,
                           const Kernel &K, SearchRow &Row,
                           std::optional<unsigned> Most);

  unsigned Accepted = 0;
  unsigned Spent = 0; ///< Candidates, or calls, of the last kernel.
  /// Another compiler could not be run for a kernel of this one, whose builds
  /// have it.
  std::string OthersFailed;
  bool OverBudget = false; ///< Nothing more can be asked in this run.
  /// All candidates of the last kernel.
  std::vector<CandidateRecord> Judged;
  /// SearchOptions::Until of the next kernel.
  std::optional<std::chrono::steady_clock::time_point> Until;
  SearchTurns Turns; ///< Among searches of other kernels.
  /// SearchOptions::Store, where it is not the store's folder.
  std::string Experience;

private:
  llvm::Expected<std::optional<SearchProblem>>
  problemOf(const SearchedUnit &Unit, const Kernel &K, SearchRow &Row);
  llvm::Expected<FileLock> lock(const Kernel &K) const;
  llvm::Expected<std::vector<SeedGenome>> seedsFor(const SearchProblem &P);
  SearchOptions optionsFor(llvm::StringRef Name,
                           llvm::ArrayRef<SeedGenome> Seeds,
                           std::optional<unsigned> Most);
  llvm::Expected<SearchResult>
  searchAloud(const SearchProblem &P, SearchOptions &Options, SearchRow &Row);
  uint64_t callsMade() const;
  llvm::Error supersede(const SearchResult &Result, StoreUpdate &Update);
  /// A compiler's build of a kernel, and whose.
  struct Built {
    BuildCompiler By; ///< With the architecture.
    std::string Identity;
  };
  llvm::Expected<std::vector<Built>>
  buildsOf(SearchedUnit &Unit, const Kernel &K, const std::string &Arch);
  llvm::Error addBuilds(SearchedUnit &Other, const Kernel &K,
                        const GpuDescription &Gpu, std::vector<Built> &Builds);
  llvm::Error store(const SearchProblem &P, llvm::ArrayRef<Built> Builds,
                    SearchResult &Result);
  llvm::Error leaveOut(llvm::Error E, const llvm::Twine &Prefix,
                       SearchRow &Row);

  const EvolveRequest &R;
  std::string Root;
  WorkloadSet Recorded;
  ProjectStore Store;
  Journal J;
  std::unique_ptr<EvolveAgents> Models; ///< Null: rules translate.
  llvm::raw_ostream &Out, &Log;
};

} // namespace cupilot

#endif // CUPILOT_LIB_DRIVER_KERNELSEARCH_H
