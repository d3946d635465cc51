//===- BlockShadow.h - The race check's view of a launch and a block -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread has a clock. It moves on when the thread synchronises: to a value
// above all clocks of those that take part. An access carries the clock of its
// thread; it is over, for another thread, when that has synchronised with the
// thread since: in a barrier of the block (all clocks below BarrierClock), in
// an operation of the warp, or through a sync point.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_BLOCKSHADOW_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_BLOCKSHADOW_H

#include "Abi/LoweredModule.h"
#include "Exchanges.h"
#include "Execute/BlockObserver.h"
#include "Execute/DeviceBuffers.h"
#include "SyncPoint.h"
#include <mutex>

namespace cupilot {

/// What the blocks of one launch share.
class LaunchShadow : public LaunchObserver {
public:
  LaunchShadow(DeviceBuffers &Buffers, const LaunchShape &Shape,
               const LoweredKernel &Kernel, const CpuDeviceOptions &Options,
               llvm::ArrayRef<DeviceBuffer> Objects);
  ~LaunchShadow() override;
  std::unique_ptr<BlockObserver> observeBlocks() override;
  LaunchShadow(const LaunchShadow &) = delete;
  LaunchShadow &operator=(const LaunchShadow &) = delete;

  /// Where a segment lies, and the clock that stands as 0 in it.
  struct Segment {
    uint64_t Block = 0, Base = 0;
  };
  /// The first segment of a block; 0 when races are not checked.
  uint64_t segmentOf(uint64_t Block) const {
    return First && Block < Blocks ? First + Block : 0;
  }
  /// Another segment, or 0 when there are no more: what is done in segment 0 is
  /// not compared with anything.
  uint64_t newSegment(uint64_t Block, uint64_t Base);
  Segment segment(uint64_t Number) const;
  /// Stamps of this launch lie in [lowest(), lowest() + span()).
  uint64_t lowest() const { return First << word::SegmentShift; }
  uint64_t span() const { return Count << word::SegmentShift; }

  /// As DeviceBuffers, and variables of the module.
  std::optional<DeviceBuffers::Shadowed> find(const void *Address);

  DeviceBuffers &Buffers;
  const LaunchShape Shape;
  const LoweredKernel &Kernel;
  const CpuDeviceOptions &Options;

  /// Guards sync points and what threads know of them.
  mutable std::mutex Mutex;
  /// The sync point of an address. Shared memory is that of \p Block.
  SyncPoint &at(uint64_t Address, uint64_t Block);
  SyncPoint *findAt(uint64_t Address, uint64_t Block);

  static constexpr uint64_t NoBlock = ~0ull >> 1;

  /// Places that threads which take turns exchange values through.
  Exchanges &exchanges() { return Exchanged; }

  /// Held by a host thread from the check of an atomic to its end.
  bool *lockFor(uint64_t Address) {
    return &AtomicLocks[Address / 16 % AtomicLocks.size()];
  }

private:
  uint64_t First = 0, Count = 0, Blocks = 0;
  std::array<bool, 1024> AtomicLocks{};
  Exchanges Exchanged;
  DeviceBuffers Objects; ///< Those that are not registered as buffers.
  mutable std::mutex SegmentMutex;
  std::deque<Segment> More; ///< Those after the first of each block.
  std::map<std::pair<uint64_t, uint64_t>, std::unique_ptr<SyncPoint>> Points;
};

/// One block while it runs. Used by its host thread only.
class BlockShadow final : public BlockObserver {
public:
  BlockShadow(LaunchShadow &Launch) : Launch(Launch) {}

  // Called by the scheduler.
  void blockBegins(BlockState &B) override;
  void threadBegins(BlockState &B, ThreadContext &T) override;
  void threadEnds(BlockState &B, ThreadContext &T) override;
  void barrierArrived(BlockState &B, ThreadContext &T, uint32_t Id,
                      uint32_t Count) override;
  void barrierReleased(BlockState &B, uint32_t Id) override;
  void warpCompleted(BlockState &B, unsigned Warp, uint32_t Lanes) override;
  void collectiveCompleted(BlockState &B, unsigned First,
                           unsigned Count) override;
  void clusterReleased(BlockState &B) override;

  void nextBegins(ThreadContext &T) override {
    Contexts[T.Linear - 1] = nullptr;
    Contexts[T.Linear] = &T;
    if (Moved)
      threadBegins(*T.Block, T);
    else
      T.Stamp += uint64_t(1) << word::ThreadShift;
  }

  // Called by accesses.
  /// Whether the access of another thread that left \p Word is over.
  bool isOver(const ThreadContext &T, uint64_t Word) const;
  /// Whether a thread of this block left \p Word.
  bool isOwnBlock(uint64_t Word) const {
    return Launch.segment(word::segment(Word)).Block == Block;
  }
  /// Whether a fence.proxy.async lies between the write that left \p Word and
  /// what \p T does now.
  bool isFenced(const ThreadContext &T, uint64_t Word) const;
  void proxyFence(ThreadContext &T);
  /// An asynchronous copy has just written [\p Address, \p Address + \p Size)
  /// of the block's shared memory.
  void noteLanded(uint64_t Address, uint64_t Size);
  /// The first write there that no fence.proxy.async keeps from what \p T does
  /// now; 0 when there is none. Moves \p Address to it.
  uint64_t findUnfenced(const ThreadContext &T, uint64_t &Address,
                        uint64_t Size) const;
  void fence(ThreadContext &T, bool Device);
  /// \p T is about to store atomically, or volatile: what its fences, and those
  /// that it knows of, had behind them is told.
  void release(ThreadContext &T, uint64_t Address);
  /// \p T has read atomically, or volatile.
  void acquire(ThreadContext &T, uint64_t Address);
  /// Like a release behind a fence for all that came before.
  void publish(ThreadContext &T, uint64_t Address);

  LaunchShadow &launch() const { return Launch; }
  uint64_t blockNumber() const { return Block; }
  /// The block whose shared memory \p Address lies in, or NoBlock: of different
  /// blocks, one after the other, it has the same addresses.
  static uint64_t ownerOf(const ThreadContext &T, uint64_t Address);
  /// Shadow of the block's shared memory: add to four times an address.
  uint64_t sharedOffset() const { return SharedOffset; }
  uint64_t memory() const { return SharedShadow.size() * sizeof(Granule); }

private:
  struct Thread {
    uint64_t Clock = 0;
    uint64_t Segment = 0, Base = 0; ///< See LaunchShadow::Segment.
  };
  struct Warp {
    uint64_t Settled = 0; ///< Clocks below are over for all lanes of the warp.
    /// [reader][other lane], when part of the warp has met.
    std::unique_ptr<std::array<std::array<uint64_t, 32>, 32>> Rows;
  };
  /// What a thread had behind it at its last fence.
  struct Fence {
    uint64_t Own = 0, Barrier = 0, WarpSettled = 0;
  };
  struct ProxyFence {
    Fence Made;
    std::vector<uint64_t> Met; ///< Its row of Warp::Rows, if there is one.
    Knowledge Known;
  };
  /// Whether what \p Other of \p OtherBlock did at \p Clock is over for \p T.
  bool isOver(const ThreadContext &T, uint64_t OtherBlock, uint32_t Other,
              uint64_t Clock) const;
  uint64_t firstGranule() const;
  bool isBehind(const ProxyFence &F, uint32_t By, uint32_t Writer,
                uint64_t Clock) const;
  bool liesBetween(const ThreadContext &T, uint32_t By, uint32_t Writer,
                   uint64_t Clock) const;
  /// All threads that live have met.
  void blockBarrier();
  /// Lanes \p Mask of a warp, of which \p Alive live, have met.
  void warpSync(unsigned Warp, uint32_t Mask, uint32_t Alive);
  /// \p Index goes on from hardware barrier \p Id, which not all came to.
  void leave(uint32_t Index, uint32_t Id);
  void restamp(uint32_t Index);
  void move(uint32_t Index, uint64_t Clock);
  void setExtra();
  void markExtra(ThreadContext &T) {
    T.Extra = 1;
    T.OpenStamp = ~uint64_t(0);
    Moved = true;
  }
  void learn(uint32_t Index, SyncView View);
  void noteFences();
  void tellAll(SyncPoint &Point, uint32_t Index);
  void tellFence(SyncPoint &Point, uint32_t Index, const Fence &F, bool Device);

  LaunchShadow &Launch;
  uint64_t Block = 0;
  unsigned Threads = 0;
  uint64_t SharedOffset = 0;
  std::vector<Granule> SharedShadow;
  std::vector<ThreadContext *> Contexts; ///< Of threads that run; else null.
  std::vector<Thread> All;
  std::vector<Warp> Warps;
  uint64_t BarrierClock = 0;
  bool Split = false; ///< Threads have segments of their own.
  bool Extra = false; ///< See ThreadContext::Extra.
  bool Moved = false; ///< A clock is not 0, or there is something extra.

  // Sync points. Empty until the kernel uses them.
  Knowledge Known;                 ///< Of all threads.
  std::vector<Knowledge> OwnKnown; ///< Of each.
  std::vector<uint32_t> Learners;  ///< Who has some.
  std::vector<Fence> DeviceFences, BlockFences;
  std::vector<std::deque<ProxyFence>> ProxyFences; ///< The last of each thread.
  /// Of shared memory: the write words that asynchronous copies left.
  std::vector<uint64_t> Landed;
  bool FencedSince = false; ///< Since the last barrier of the block.
  /// What the fences before the last barrier had behind them.
  ThreadClocks DeviceFenced, BlockFenced;
  uint64_t DeviceFencedAll = 0, BlockFencedAll = 0;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_BLOCKSHADOW_H
