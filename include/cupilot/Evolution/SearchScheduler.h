//===- SearchScheduler.h - Searches that run at once -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches of several kernels, each in a process of its own, share what there
// is little of. Turns decide when something is done, never what: the same
// searches come to the same end in any order.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_SEARCHSCHEDULER_H
#define CUPILOT_EVOLUTION_SEARCHSCHEDULER_H

#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace cupilot {

/// What searches take turns for.
enum class SharedResource {
  Call, ///< To a model.
  Job,  ///< The judgement of a candidate, which keeps a core busy.
  Card  ///< A batch on the GPUs of this machine.
};
inline constexpr size_t SharedResources = 3;

/// Holds a resource while it lives.
class Turn {
public:
  Turn() = default;
  explicit Turn(int FD) : FD(FD) {}
  Turn(Turn &&Other) noexcept : FD(std::exchange(Other.FD, -1)) {}
  Turn &operator=(Turn &&) = delete;
  ~Turn();

private:
  int FD = -1; ///< Closed at its end, also by the system.
};

/// How the process of one search, with all its threads and copies, waits for
/// its turns. Of a search that runs alone it is always its turn.
class SearchTurns {
public:
  SearchTurns() = default;
  explicit SearchTurns(int FD) : FD(FD) {}
  Turn wait(SharedResource R) const;

private:
  int FD = -1; ///< To the scheduler, who owns it.
};

/// Whose turn it is. Each search gets of the time in proportion to what it may
/// gain; who was not there gets nothing for the past.
class FairTurns {
public:
  /// \p Most at a time; no limit where it is nothing. \p Gains by search.
  FairTurns(std::optional<unsigned> Most, std::vector<double> Gains);
  /// The search \p Of waits at the time \p Now (seconds); \p Id is any new
  /// number.
  void ask(uint64_t Id, size_t Of, double Now);
  /// Who asked, or had a turn, does not need it any more.
  void end(uint64_t Id, double Now);
  /// Whose turn begins; nothing while nobody waits or all are taken.
  std::optional<uint64_t> next(double Now);

private:
  struct Asker {
    uint64_t Id;
    size_t Of;
    std::optional<double> Since; ///< Of its turn; nothing: it waits.
  };
  double had(size_t Of, double Now) const;

  std::optional<unsigned> Most;
  std::vector<double> Gains;
  std::vector<double> Had;   ///< Seconds by gain, of turns that have ended.
  double Least = 0;          ///< Of who had the last turn: nobody begins below.
  std::vector<Asker> Askers; ///< In the order in which they came.
};

/// Deals out turns, in a process of its own.
class SearchScheduler {
public:
  /// How many turns there are at a time; no limit where it is nothing.
  using Limits = std::array<std::optional<unsigned>, SharedResources>;
  /// \p Gains: by search. This process must not have threads yet.
  static llvm::Expected<std::unique_ptr<SearchScheduler>>
  start(const Limits &Most, const std::vector<double> &Gains);
  ~SearchScheduler();
  SearchTurns turnsOf(size_t Search) const { return SearchTurns(Ends[Search]); }

private:
  SearchScheduler(pid_t Pid, std::vector<int> Ends)
      : Pid(Pid), Ends(std::move(Ends)) {}
  pid_t Pid;
  std::vector<int> Ends; ///< By search.
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_SEARCHSCHEDULER_H
