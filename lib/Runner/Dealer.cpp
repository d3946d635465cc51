//===- Dealer.cpp - Groups dealt to the GPUs of a host --------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dealer.h"
#include <algorithm>
#include <limits>

namespace cupilot::runner {

/// Infinite where one of its requests is like none before.
double Dealer::secondsOf(const Group &G) const {
  double Sum = 0;
  for (const Request *R : G) {
    auto Known = Lengths.find({R->Kind, R->Case});
    if (Known == Lengths.end())
      return std::numeric_limits<double>::infinity();
    Sum += Known->second.Sum / Known->second.Count;
  }
  return Sum;
}

std::optional<Dealer::Group> Dealer::take() {
  std::unique_lock Guard(Lock);
  Changed.wait(Guard, [&] { return !Left.empty() || Out == 0; });
  if (Left.empty())
    return std::nullopt;
  // The first of the longest: groups that are alike keep their order.
  auto Longest = std::max_element(Left.begin(), Left.end(),
                                  [&](const Group &A, const Group &B) {
                                    return secondsOf(A) < secondsOf(B);
                                  });
  Group G = std::move(*Longest);
  Left.erase(Longest);
  ++Out;
  return G;
}

void Dealer::note(const Request &Of, double Seconds) {
  std::lock_guard Guard(Lock);
  Length &L = Lengths[{Of.Kind, Of.Case}];
  L.Sum += Seconds;
  ++L.Count;
}

void Dealer::end() {
  std::lock_guard Guard(Lock);
  --Out;
  Changed.notify_all();
}

void Dealer::giveBack(Group G) {
  std::lock_guard Guard(Lock);
  Left.push_back(std::move(G));
  --Out;
  Changed.notify_all();
}

} // namespace cupilot::runner
