//===- Dealer.h - Groups dealt to the GPUs of a host -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_DEALER_H
#define CUPILOT_LIB_RUNNER_DEALER_H

#include "cupilot/Runner/Batch.h"
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

namespace cupilot::runner {

/// Deals groups of requests to GPUs. The longest comes first, so that all end
/// at about the same time: its length is what requests of the same kind on the
/// same case have taken. Those of which nothing is known come before.
class Dealer {
public:
  using Group = std::vector<const Request *>;

  explicit Dealer(std::vector<Group> Groups) : Left(std::move(Groups)) {}
  /// The next group; nothing when all have ended. Waits while the last ones are
  /// under way elsewhere: that GPU may fall out.
  std::optional<Group> take();
  /// \p Of one that was taken took \p Seconds.
  void note(const Request &Of, double Seconds);
  /// A group that was taken has ended.
  void end();
  /// A group that was taken goes to another GPU.
  void giveBack(Group G);

private:
  double secondsOf(const Group &G) const;
  using Kind = std::pair<RequestKind, unsigned>; ///< And its case.
  struct Length {
    double Sum = 0;
    unsigned Count = 0;
  };
  std::vector<Group> Left;
  std::map<Kind, Length> Lengths;
  unsigned Out = 0; ///< Taken, and not ended.
  std::mutex Lock;
  std::condition_variable Changed;
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_DEALER_H
