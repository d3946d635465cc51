//===- Timing.h - Two programs timed against each other -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_TIMING_H
#define CUPILOT_LIB_RUNNER_TIMING_H

#include "Flush.h"
#include "LoadedProgram.h"
#include <functional>
#include <random>

namespace cupilot::runner {

/// Four times of a round, in the order in which they were taken, in
/// microseconds for one run of a program.
struct Round {
  unsigned Set = 0;
  bool CandidateFirst = false; ///< B A A B instead of A B B A.
  std::array<double, 4> Times{};
};

/// By the GPU's clock and by the host's, with warm caches; back to back where a
/// run does not change what the next one starts from.
struct SteadyTime {
  double Events = 0, Wall = 0; ///< Microseconds for one run.
};

/// Original and candidate with several sets of buffers that both use in turn:
/// same addresses, same values, the cache emptied before each run.
class Timing {
public:
  /// \p Files: for each set the files of the buffers; for the first one as many
  /// sets are made as memory allows, one at least.
  Timing(const Gpu &G, const Program &Original, const Program &Candidate,
         const Case &C, const ImageFiles &Images,
         const std::vector<std::vector<std::string>> &Files,
         const std::vector<std::string> &VariableFiles, uint64_t Seed);
  unsigned sets() const { return unsigned(Sets.size()); }
  unsigned repeats() const { return Repeats; }
  const char *flushKind() const { return Flush.kind(); }

  /// Runs both a few times and finds how many runs make one time.
  void warmUp();
  /// One round. \p After is called after each of the four times, with the
  /// program (0, 1) and the set whose buffers still hold its results.
  Round round(const std::function<void(unsigned Slot, unsigned Program,
                                       unsigned Set)> &After);
  SteadyTime steady(unsigned Program);
  /// The time between two events with nothing in between: what each time holds
  /// too much at least.
  double emptyTime();
  /// Copies what \p Program left in the buffers of \p Set that programs write;
  /// the copies stay on the GPU until the next ones.
  void snapshot(unsigned Program, unsigned Set);
  /// Copy of buffer \p I; null for one that is only read.
  const BandedMemory *copied(unsigned Program, unsigned I) const {
    return Copies[Program][I].get();
  }

private:
  double runs(unsigned Program, unsigned Set, unsigned Count);

  const Gpu &G;
  std::vector<std::unique_ptr<DeviceCase>> Sets;
  std::array<std::unique_ptr<LoadedProgram>, 2> Programs;
  std::array<std::vector<BoundProgram>, 2> Bound; ///< By program and set.
  CacheFlush Flush;
  std::array<std::vector<std::unique_ptr<BandedMemory>>, 2> Copies;
  std::vector<std::pair<Handle, Handle>> Events;
  unsigned Repeats = 1, NextSet = 0;
  bool Repeatable = true; ///< Runs need nothing restored.
  std::mt19937_64 Random;
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_TIMING_H
