//===- InThreads.h - Steps that run beside each other -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_INTHREADS_H
#define CUPILOT_LIB_EVOLUTION_INTHREADS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace cupilot {

/// Does 0 to \p Count - 1, at most \p AtOnce at a time.
inline void inThreads(size_t Count, size_t AtOnce,
                      llvm::function_ref<void(size_t)> Do) {
  std::vector<std::thread> Threads;
  std::atomic<size_t> Next = 0;
  for (size_t T = 0; T < std::min(AtOnce, Count); ++T)
    Threads.emplace_back([&] {
      for (size_t I; (I = Next++) < Count;)
        Do(I);
    });
  for (std::thread &T : Threads)
    T.join();
}

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_INTHREADS_H
