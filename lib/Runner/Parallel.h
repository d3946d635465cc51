//===- Parallel.h - Large ranges by several threads -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_PARALLEL_H
#define CUPILOT_LIB_RUNNER_PARALLEL_H

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace cupilot::runner {

/// Elements of a part: parts do not depend on the number of threads.
inline constexpr uint64_t PartOfRange = uint64_t(1) << 21;

/// Calls \p Each(part, from, to) for all parts of [0, Count), on as many
/// threads as there are processors, 16 at most. It must not throw.
template <typename FnT> void eachPart(uint64_t Count, FnT Each) {
  const uint64_t Parts = (Count + PartOfRange - 1) / PartOfRange;
  std::atomic<uint64_t> Next{0};
  auto Work = [&] {
    for (uint64_t I = Next++; I < Parts; I = Next++)
      Each(I, I * PartOfRange, std::min(Count, (I + 1) * PartOfRange));
  };
  const uint64_t Most = std::min<uint64_t>(
      Parts, std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
  std::vector<std::thread> Threads;
  for (uint64_t I = 1; I < Most; ++I)
    Threads.emplace_back(Work);
  Work();
  for (std::thread &T : Threads)
    T.join();
}

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_PARALLEL_H
