//===- Scheduler.h - Blocks of threads on one host thread -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host thread (Worker) holds resident clusters; a cluster is one block unless
// the launch says otherwise. Threads run on fibers, one after the other, and
// give the host thread up only where they wait. A thread that ends without
// having waited leaves its fiber to the next thread, so that kernels that never
// wait run as a loop.
//
// When no thread of the resident blocks gets any further, more blocks are
// started, as many as the described GPU would hold; when that does not help
// either, the launch ends with a fault. All of it is decided in steps of the
// scheduler, never by the clock.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_SCHEDULER_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_SCHEDULER_H

#include "BlockObserver.h"
#include "Counting.h"
#include "Fiber.h"
#include "Launch.h"
#include "SharedArena.h"
#include "WideMemory.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cupilot {

class Worker;

/// Copies and products that threads of a block have begun, which the matrix and
/// asynchronous units keep.
struct AsyncState {
  virtual ~AsyncState() = default;
  /// The block has ended: what was read from its shared memory is written.
  virtual void finish() = 0;
};

struct ClusterState;

/// A device thread that has waited at least once, or whose block has such a
/// thread.
struct ThreadState {
  enum class State : uint8_t {
    Fresh,        ///< Has not begun.
    Ready,        ///< Runs, or may run.
    Yielded,      ///< Looks at memory again and again: may run.
    Waiting,      ///< Until Condition holds.
    AtBarrier,    ///< Until the block's barrier is released.
    AtWarp,       ///< Until the lanes of a warp operation are there.
    AtCollective, ///< Until the warp or warpgroup of a device operation is
                  ///< there.
    Done
  };
  State Now = State::Fresh;
  Fiber *On = nullptr;
  uint32_t Where = 0; ///< The place where it waits: LoweredModule::Places.
  llvm::function_ref<bool()> *Condition = nullptr;
  const char *Why = nullptr; ///< What Condition is about, for people.
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
  BarrierKind Kind = BarrierKind::Sync; ///< Of the first arrival ...
  uint32_t Where = 0;                   ///< ... and its place.
};

/// One block that is resident.
struct BlockState {
  BlockState(Worker &Host, ClusterState &Cluster, unsigned Rank);

  // For the run time.

  /// Ends the thread at once.
  [[noreturn]] void escape(ThreadContext &T);
  /// Keeps a fault and stops the launch; the caller escapes. \p Where is a
  /// place, for faults without a memory access.
  void recordFault(const ThreadContext &T, FaultKind Kind, uint64_t Address,
                   const AccessSite *Site, const llvm::Twine &Detail,
                   uint32_t Where = 0);
  /// bar.sync and bar.red (PTX ISA, "barrier{.cta}"). \p Count 0: all threads.
  /// \p Aligned: the lanes of a warp should come together.
  uint32_t barrier(ThreadContext &T, BarrierKind Kind, bool Aligned,
                   uint32_t Id, uint32_t Count, uint32_t Predicate,
                   uint32_t Where);
  /// bar.arrive: counts without waiting.
  void barrierArrive(ThreadContext &T, uint32_t Id, uint32_t Count,
                     uint32_t Where);
  uint64_t warp(ThreadContext &T, WarpOp Op, uint32_t Mask, uint64_t Value,
                uint32_t LaneArg, uint32_t Clamp, uint32_t Where = 0);
  /// Lanes of \p T's warp that execute the __activemask() numbered \p Where
  /// together with it: those that arrive before all of the warp's others end
  /// or wait elsewhere.
  uint32_t activeLanes(ThreadContext &T, uint32_t Where);
  /// Waits until all lanes of the warp or warpgroup that \p Op needs have come;
  /// the last of them runs it. \p Words: predicate, inputs, results.
  void collective(ThreadContext &T, const DeviceOp &Op, const uint64_t *Words);
  /// Waits until \p Condition holds. The scheduler asks it in each round, until
  /// it says true once: it may have effects then. \p Why is a literal that says
  /// what is waited for ("mbarrier").
  void waitUntil(ThreadContext &T, llvm::function_ref<bool()> Condition,
                 const char *Why, uint32_t Where);
  /// Lets other threads run: in loops that look at memory until another thread
  /// has changed it.
  /// \p Why: a literal that says what for, or null; it holds for what the loop
  /// around looks at too, until waitEnded().
  void yield(ThreadContext &T, uint32_t Where, const char *Why = nullptr);
  /// With a ScheduleSeed: may let other threads run. \p Looks: the thread is in
  /// a loop that waits, so that coming here is no progress.
  void takeTurn(ThreadContext &T, bool Looks);
  /// What yield() waited for has happened.
  void waitEnded(ThreadContext &T);
  /// Out of instructions: gets more or ends.
  void budget(ThreadContext &T);
  /// The shared memory that \p Address lies in, of this block or of another of
  /// the cluster; null when none.
  BlockState *sharedOwner(uint64_t Address);
  /// Accesses are looked up again: a buffer is gone.
  void forgetSites() { Sites.assign(Sites.size(), SiteCache()); }

  // For the worker.
  void begin(uint64_t Index);
  void end();
  /// Lets each thread that can run do so once.
  void pass();
  /// The next thread that has not begun, on the fiber of one that has ended.
  bool nextOn(Fiber &F);
  void threadEnded(ThreadContext &T);
  bool done() const { return Ended == NumThreads; }
  unsigned live() const { return NumThreads - Ended; }
  llvm::ArrayRef<ThreadState> threads() const { return Threads; }

  Worker &Host;
  LaunchState &Launch;
  const LoweredModule &Tables;
  const LoweredKernel &Kernel;
  DeviceMemory &Memory;
  const CpuDeviceOptions &Options;
  ClusterState &Cluster;
  const unsigned Rank; ///< In the cluster.
  std::array<uint64_t, 3> Block{};
  std::unique_ptr<WarpTrace> Trace; ///< When counting.
  std::unique_ptr<WideBlock> Wide;  ///< When floats are widened.
  std::unique_ptr<BlockObserver> Observer;
  std::unique_ptr<AsyncState> Async; ///< Null: none has begun.
  std::optional<DeviceFault> Fault;
  uint64_t Switches = 0; ///< How often threads waited, of all its blocks.
  SharedWindow SharedStore;
  char *Shared = nullptr;
  uint64_t SharedSize = 0;

private:
  friend struct ClusterState;
  void prepare(ThreadContext &T, unsigned Linear);
  ThreadState &stateOf(ThreadContext &T);
  void suspend(ThreadContext &T);
  void resume(Fiber &F);
  void startThreads();
  bool arrive(ThreadContext &T, BarrierKind Kind, uint32_t Id, uint32_t Count,
              bool Aligned, uint32_t Where);
  bool wrongArrival(ThreadContext &T, BarrierKind Kind, uint32_t Id,
                    uint32_t Count, bool Aligned, uint32_t Where);
  void releaseBarrier(uint32_t Id);
  bool tryReleaseBarriers();
  llvm::MutableArrayRef<ThreadState> lanesOf(unsigned Warp);
  void completeWarp(unsigned Warp);
  bool laneIsMissing(unsigned Linear, uint32_t Mask, unsigned Lane) const;
  bool releaseActive(unsigned Warp);
  void checkStuck();
  unsigned linearOf(unsigned Turn) const {
    if (!Order.empty())
      return Order[Turn];
    return Options.Reverse ? NumThreads - 1 - Turn : Turn;
  }

  std::vector<SiteCache> Sites;
  std::vector<ThreadState> Threads; ///< Empty until a thread waits.
  std::vector<unsigned> Order; ///< In which they begin; empty: see linearOf().
  std::array<BarrierUnit, 16> Barriers;
  unsigned NumThreads = 0, Begun = 0, Ended = 0;
  unsigned InWarpOps = 0, InActive = 0; ///< Threads that wait in them.
  int64_t Spent = 0;                    ///< Instructions, when limited.
};

/// Where \p Address lies in memory of the block or of the thread, if there.
std::optional<AccessSpace> ownSpace(const ThreadContext &T, uint64_t Address);

/// Blocks that live at the same time and may use each other's shared memory.
struct ClusterState {
  explicit ClusterState(Worker &Host);
  void begin(uint64_t Index);
  void end();
  bool done() const;
  unsigned live() const;

  /// barrier.cluster.arrive and .wait (PTX ISA, "barrier.cluster"). Threads
  /// that have ended count as arrived.
  void arrive(ThreadContext &T);
  void wait(ThreadContext &T, uint32_t Where);

  uint64_t Index = 0; ///< In the order of the grid's clusters.
  std::vector<std::unique_ptr<BlockState>> Blocks;

  /// \p T has ended.
  void leave(ThreadContext &T);

private:
  void release();
  bool Used = false;    ///< A thread came to the barrier.
  uint64_t Phase = 1;   ///< Of the barrier.
  unsigned Pending = 0; ///< Threads that live and have not arrived in it.
};

/// One host thread.
class Worker {
public:
  Worker(LaunchState &Launch, unsigned Number);
  void run();
  static void fiberMain(boost::context::detail::transfer_t From);
  /// The next number of the schedule.
  uint64_t draw();
  /// Whether the thread that runs is to give way, with a ScheduleSeed. Threads
  /// that wait for long do not: their states must repeat to be compared.
  bool switches(bool Looks);

  LaunchState &Launch;
  const unsigned Number;
  FiberPool Fibers;
  /// The thread that has just run got further than looking at memory again.
  bool Progress = false;
  bool Abandoned = false; ///< The running fiber is to be dropped.
  boost::context::detail::fcontext_t Context = nullptr; ///< The scheduler's.
  /// All clusters that ran, for what they counted and found.
  std::vector<std::unique_ptr<ClusterState>> Resident, Spare;

private:
  bool start(bool Idle);
  void round();
  void idle(uint64_t Epoch);
  bool nothingChanges();
  uint64_t waitingState() const;
  void deadlock();

  uint64_t Random = 0;      ///< See ScheduleSeed.
  uint64_t IdleRounds = 0;  ///< Since something changed ...
  uint64_t IdleYields = 0;  ///< ... and what its threads did in them.
  uint64_t LastEpoch = 0;   ///< Of the last idle round.
  uint64_t State = 0;       ///< Of the waiting threads, some rounds ago.
  unsigned Comparisons = 0; ///< With it, still to be made.
  bool CountedIdle = false;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_SCHEDULER_H
