//===- Launch.h - One launch, as its host threads share it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_LAUNCH_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_LAUNCH_H

#include "Abi/LoweredModule.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include <atomic>
#include <deque>
#include <mutex>

namespace cupilot {

class WideMemory;
struct LaunchObserver;

using EntryFunction = void (*)(ThreadContext *, char *);

/// What device printf wrote: a FIFO of bounded size, as on a GPU, of which the
/// oldest records are dropped (CUDA C++ Programming Guide, "Formatted Output").
class PrintBuffer {
public:
  explicit PrintBuffer(uint64_t Limit) : Limit(Limit) {}
  void add(std::string Record);
  /// All that is left, in the order in which it was written.
  std::string take();

private:
  const uint64_t Limit;
  std::mutex Mutex;
  std::deque<std::string> Records;
  uint64_t Size = 0;
};

/// What the host threads of one launch share.
struct LaunchState {
  LaunchState(const LoweredModule &Tables, const LoweredKernel &Kernel,
              EntryFunction Entry, DeviceMemory &Memory, char *Args,
              const CpuDeviceOptions &Options, const LaunchShape &Shape);
  ~LaunchState();
  LaunchState(const LaunchState &) = delete;
  LaunchState &operator=(const LaunchState &) = delete;

  /// Runs all of it. The result says what was found, printed and counted.
  LaunchResult run();

  /// The next cluster to start. \p Idle says that those which run wait, perhaps
  /// for clusters that have not begun: then the residency of the GPU is the
  /// limit, and in reversed order the first cluster comes, since programs may
  /// rely on low numbers to be started. False when none may start.
  bool takeCluster(bool Idle, uint64_t &Index);
  /// Called when a cluster has ended.
  void clusterEnded() { --Resident; }
  /// Takes \p Count instructions from the launch's budget.
  bool spend(int64_t Count);

  const LoweredModule &Tables;
  const LoweredKernel &Kernel;
  const EntryFunction Entry;
  DeviceMemory &Memory;
  char *const Args;
  const CpuDeviceOptions &Options;
  const LaunchShape Shape;
  WideMemory *Wide = nullptr;
  LaunchObserver *Observer = nullptr; ///< Null: nobody watches.
  uint64_t Blocks, ClusterBlocks, Clusters;
  uint64_t First = 0;   ///< Cluster that runs.
  uint64_t Runs, Step;  ///< Clusters to run, and the distance between them.
  uint64_t MaxResident; ///< Clusters.
  uint64_t Together;    ///< Clusters that a worker starts at once.
  int64_t FirstBudget;  ///< Instructions that a thread begins with.
  uint64_t StackSize;
  char *Workspace = nullptr; ///< Of cooperative launches.
  PrintBuffer Printed;

  // Who still gets further.
  unsigned Workers = 1;
  std::atomic<bool> Stop = false;
  std::atomic<uint64_t> Epoch = 0; ///< Counts rounds that changed something.
  std::atomic<unsigned> Idle = 0;  ///< Workers that wait.
  /// The epoch in which each worker could do nothing; Finished when it never
  /// will again.
  static constexpr uint64_t Finished = ~0ull;
  std::vector<std::atomic<uint64_t>> IdleIn;
  std::atomic<uint64_t> Resident = 0, Begun = 0;

private:
  uint64_t takeShuffled(bool Idle);
  std::atomic<uint64_t> FromFront = 0, FromBack = 0;
  uint64_t Random = 0;        ///< See ScheduleSeed.
  std::vector<uint64_t> Next; ///< The first that have not begun, of which any
                              ///< may come; rising.
  std::atomic<int64_t> Left;
};

/// Blocks of \p Kernel that the described GPU holds at a time, as far as
/// threads, blocks and shared memory bound it.
uint64_t residentBlocks(const LoweredKernel &Kernel, const LaunchShape &Shape,
                        const CpuDeviceOptions &Options);

/// A usage error for a launch that CUDA does not admit.
llvm::Error checkShape(const LaunchShape &Shape, const LoweredKernel &Kernel,
                       const CpuDeviceOptions &Options);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_LAUNCH_H
