//===- SearchProgress.h - How far a search is -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_SEARCHPROGRESS_H
#define CUPILOT_DRIVER_SEARCHPROGRESS_H

#include "cupilot/Evolution/Search.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace cupilot {

/// Tells of each candidate on a stream: how many there are, how fast they
/// come, how long the rest takes at most, the best so far, what was spent.
class SearchProgress {
public:
  /// \p Cost: what models have cost so far, in the unit of their prices; may be
  /// empty.
  SearchProgress(const SearchOptions &Options, bool OnGpu, bool Verbose,
                 std::function<double()> Cost, llvm::raw_ostream &Log);
  void candidate(unsigned Generation, const CandidateRecord &R, double Best);

private:
  std::string pace() const;

  unsigned Most; ///< Candidates, if none is found twice.
  bool OnGpu, Verbose;
  std::function<double()> Cost;
  llvm::raw_ostream &Log;
  unsigned Number = 0;
  std::chrono::steady_clock::time_point Begin;
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_SEARCHPROGRESS_H
