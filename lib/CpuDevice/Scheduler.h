//===- Scheduler.h - Blocks of threads on one host thread -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_SCHEDULER_H
#define CUPILOT_LIB_CPUDEVICE_SCHEDULER_H

#include "Counting.h"
#include "WideMemory.h"
#include <boost/context/detail/fcontext.hpp>
#include <csetjmp>
#include <memory>

namespace cupilot {

using EntryFunction = void (*)(ThreadContext *, char *);

/// A device thread that can wait.
struct Fiber {
  enum class State : uint8_t { Ready, AtBarrier, AtWarp, AtCollective, Done };
  State Now = State::Done;
  boost::context::detail::fcontext_t Context = nullptr;
  uint32_t BarrierResult = 0;
  uint32_t BarrierId = 0;
  // What it brought to a warp operation, and what it takes away.
  WarpOp Op = WarpOp::Sync;
  uint32_t Mask = 0, LaneArg = 0, Clamp = 0, Predicate = 0;
  uint64_t Value = 0, Result = 0;
};

/// A hardware barrier of a block (there are 16).
struct BarrierUnit {
  uint32_t Arrived = 0, Expected = 0; ///< Expected 0: all threads that live.
  uint32_t Popc = 0, And = 1, Or = 0;
  uint32_t Where = 0; ///< Which barrier of the source the first arrival ran.
};

/// One host thread's executor: runs blocks one after the other.
struct BlockState {
  BlockState(const LoweredModule &Tables, const LoweredKernel &Kernel,
             EntryFunction Entry, DeviceMemory &Memory, char *Args,
             const CpuDeviceOptions &Options);
  ~BlockState();
  BlockState(const BlockState &) = delete;
  BlockState &operator=(const BlockState &) = delete;

  /// Runs one block. False after a fault.
  bool run(const LaunchShape &Shape, std::array<uint64_t, 3> Block);

  // For the run time.
  [[noreturn]] void escape(ThreadContext &T);
  void recordFault(const ThreadContext &T, llvm::StringRef Kind,
                   uint64_t Address, const AccessSite *Site,
                   const llvm::Twine &Detail);
  uint32_t barrier(ThreadContext &T, BarrierKind Kind, uint32_t Id,
                   uint32_t Count, uint32_t Predicate, uint32_t Where);
  uint64_t warp(ThreadContext &T, WarpOp Op, uint32_t Mask, uint64_t Value,
                uint32_t LaneArg, uint32_t Clamp);
  /// Waits until all lanes of the warp or warpgroup that \p Op needs have come;
  /// the last of them runs it. \p Words: predicate, inputs, results.
  void collective(ThreadContext &T, const DeviceOp &Op, const uint64_t *Words);
  /// Lanes of \p T's warp that execute the __activemask() numbered \p Where
  /// together with it: those that arrive before all of the warp's others end
  /// or wait elsewhere.
  uint32_t activeLanes(ThreadContext &T, uint32_t Where);

  const LoweredModule &Tables;
  const LoweredKernel &Kernel;
  DeviceMemory &Memory;
  const CpuDeviceOptions &Options;
  std::unique_ptr<WarpTrace> Trace; ///< When counting.
  std::unique_ptr<WideBlock> Wide;  ///< When floats are widened.
  std::optional<DeviceFault> Fault;
  std::string Printed;
  std::vector<char> SharedStore;
  char *Shared = nullptr;
  uint64_t SharedSize = 0;

private:
  void runLoop(unsigned Threads);
  void runFibers(unsigned Threads);
  void prepare(ThreadContext &T, const LaunchShape &Shape, unsigned Linear);
  void suspend(ThreadContext &T);
  void releaseBarrier(uint32_t Id);
  bool tryReleaseBarriers();
  void completeWarp(unsigned Warp);
  bool releaseActive(unsigned Warp);
  static void fiberMain(boost::context::detail::transfer_t From);

  EntryFunction Entry;
  char *Args;
  LaunchShape Shape;
  std::array<uint64_t, 3> Block{};
  std::vector<SiteCache> Sites;
  std::vector<ThreadContext> Contexts;
  std::vector<Fiber> Fibers;
  std::array<BarrierUnit, 16> Barriers;
  unsigned Live = 0;
  boost::context::detail::fcontext_t SchedulerContext = nullptr;
  char *Stacks = nullptr;
  uint64_t StacksSize = 0;
  std::jmp_buf Escape;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_SCHEDULER_H
