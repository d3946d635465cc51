//===- BlockObserver.h - Who watches a block run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_BLOCKOBSERVER_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_BLOCKOBSERVER_H

#include <cstdint>
#include <memory>

namespace cupilot {

struct BlockState;
struct ClusterState;
struct ThreadContext;

/// Told by the scheduler what orders the threads of a block. Threads are given
/// by linear index. Nothing may be recorded as a fault from here but by
/// BlockState::recordFault, without escaping.
struct BlockObserver {
  virtual ~BlockObserver() = default;
  /// Shared memory is laid out; no thread has begun.
  virtual void blockBegins(BlockState &) {}
  /// All threads have ended, or the launch was stopped.
  virtual void blockEnds(BlockState &) {}
  /// \p T, whose context was laid out afresh, is about to begin.
  virtual void threadBegins(BlockState &, ThreadContext &) {}
  /// For kernels without barriers: as threadEnds for the thread before \p T, on
  /// whose context it runs, and threadBegins.
  virtual void nextBegins(ThreadContext &) {}
  /// \p T came to barrier \p Id of the block, which takes \p Count threads, or
  /// all when that is 0.
  virtual void barrierArrived(BlockState &, ThreadContext &, uint32_t,
                              uint32_t) {}
  /// All that wait at barrier \p Id go on. Called before they are ready:
  /// BlockState::threads() has them in state AtBarrier.
  virtual void barrierReleased(BlockState &, uint32_t) {}
  /// The lanes \p Lanes of warp \p Warp finish a warp operation together.
  virtual void warpCompleted(BlockState &, unsigned, uint32_t) {}
  /// Threads \p First to \p First + \p Count - 1, a warp or warpgroup, execute
  /// a device operation together.
  virtual void collectiveCompleted(BlockState &, unsigned, unsigned) {}
  /// All threads of the cluster that live have come to its barrier; told to
  /// each of its blocks.
  virtual void clusterReleased(BlockState &) {}
  virtual void threadEnds(BlockState &, ThreadContext &) {}
};

/// Watches a launch.
struct LaunchObserver {
  virtual ~LaunchObserver() = default;
  /// Watches the blocks that one executor runs, one after the other.
  virtual std::unique_ptr<BlockObserver> observeBlocks() = 0;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_BLOCKOBSERVER_H
