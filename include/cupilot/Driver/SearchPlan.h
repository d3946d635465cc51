//===- SearchPlan.h - Which kernels a run searches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_SEARCHPLAN_H
#define CUPILOT_DRIVER_SEARCHPLAN_H

#include "cupilot/Driver/BuildCompilers.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/Evolve.h"
#include "cupilot/Driver/SearchTable.h"

namespace cupilot {

/// A unit whose kernels are searched.
struct SearchedUnit {
  SearchedUnit(llvm::StringRef Source, UnitCommand Command,
               std::vector<BuildCompiler> Compilers)
      : Command(std::move(Command)), Compilers(std::move(Compilers)),
        Identities(Source) {}

  UnitCommand Command;
  std::vector<BuildCompiler> Compilers; ///< Not empty.
  BuildIdentities Identities;
  /// Of kernels that are no CUDA C++, besides which Compilers is one that has
  /// the name of what makes their code.
  std::optional<LanguageUnit> Other = std::nullopt;
};

/// A kernel of the run: what is searched, or why it is not.
struct SearchItem {
  SearchRow Row;
  std::optional<Kernel> K; ///< Nothing: the row says why.
  SearchedUnit *Unit = nullptr;
  std::vector<SearchedUnit *> Others = {}; ///< That define it alike.
};

/// What a run searches.
struct SearchPlan {
  /// The kernels of \p R's source or project that \p Recorded launches.
  static llvm::Expected<SearchPlan> of(const EvolveRequest &R,
                                       const WorkloadSet &Recorded,
                                       llvm::raw_ostream &Log);

  /// The largest share first, equal ones as they came.
  std::vector<SearchItem> Items;
  std::vector<std::unique_ptr<SearchedUnit>> Units;
  unsigned Unchosen = 0; ///< Kernels that the user did not want.
  double UnchosenShare = 0;

  void add(SearchItem I) {
    auto Later = [](double Share, const SearchItem &Other) {
      return Share > Other.Row.Share;
    };
    Items.insert(llvm::upper_bound(Items, I.Row.Share, Later), std::move(I));
  }
};

/// What is searched for \p K, which has a slice, and on what it is judged. An
/// unknown GPU is a usage error.
llvm::Expected<SearchProblem> searchProblem(const EvolveRequest &R,
                                            const WorkloadSet &Recorded,
                                            const SearchedUnit &Unit,
                                            const Kernel &K);

} // namespace cupilot

#endif // CUPILOT_DRIVER_SEARCHPLAN_H
