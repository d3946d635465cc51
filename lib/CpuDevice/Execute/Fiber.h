//===- Fiber.h - Stacks on which device threads run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_FIBER_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_FIBER_H

#include "Abi/ThreadContext.h"
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace cupilot {

class Worker;

/// A stack and the device thread on it. A thread that ends without having
/// waited leaves its fiber to the next one.
struct Fiber {
  boost::context::detail::fcontext_t Context = nullptr; ///< Where it stopped.
  ThreadContext Thread;
  Worker *Owner = nullptr;
  uint64_t ClusterPhase = 0; ///< In which it arrived at the cluster's barrier.
  uint64_t Granted = 0;      ///< Instructions, beyond the first grant.
};

/// The fiber that \p T runs on.
inline Fiber &fiberOf(ThreadContext &T) {
  return *reinterpret_cast<Fiber *>(reinterpret_cast<char *>(&T) -
                                    offsetof(Fiber, Thread));
}

/// A run of stacks of one size, each with a guard page at its low end while the
/// process may have more mappings.
struct StackChunk {
  StackChunk(uint64_t StackSize, unsigned Count);
  ~StackChunk();
  StackChunk(const StackChunk &) = delete;
  StackChunk &operator=(const StackChunk &) = delete;

  uint64_t StackSize;
  unsigned Count;
  char *Base = nullptr;
  unsigned Guarded = 0;
};

/// The fibers of one host thread. Chunks come from and go back to a store of
/// the process, so that short launches do not map memory each time.
class FiberPool {
public:
  FiberPool(Worker &Owner, uint64_t StackSize)
      : Owner(Owner), StackSize(StackSize) {}
  ~FiberPool();

  /// A fiber that is free. Its thread must be prepared.
  Fiber &take();
  /// Its thread has ended in an orderly way: it waits for the next one.
  void giveBack(Fiber &F) { Free.push_back(&F); }
  /// Its thread was abandoned: what is on the stack is dropped.
  void abandon(Fiber &F) {
    F.Context = nullptr;
    Free.push_back(&F);
  }

private:
  Worker &Owner;
  uint64_t StackSize;
  std::vector<std::unique_ptr<StackChunk>> Chunks;
  std::vector<std::unique_ptr<Fiber[]>> Fibers;
  std::vector<Fiber *> Free;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_FIBER_H
