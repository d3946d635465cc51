//===- AsyncCopy.h - Copies that have begun and not landed -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An asynchronous copy reads its source when it is issued and writes its
// destination as late as the program allows: when a wait demands it. Code that
// forgets to wait finds what was there before. Oldest copies land first; what
// is still open when the block ends is dropped.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_ASYNCCOPY_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_ASYNCCOPY_H

#include "Abi/DeviceOp.h"
#include "AsyncReduce.h"
#include "Execute/Scheduler.h"
#include "Wgmma.h"
#include <deque>
#include <memory>
#include <vector>

namespace cupilot {

/// \p Size bytes of a copy's data, from \p From on, for \p To.
struct AsyncPiece {
  uint64_t To = 0;
  uint32_t From = 0, Size = 0;
};

/// One copy on its way.
struct AsyncCopy {
  BlockState *Block = nullptr;  ///< Of the thread that issued it.
  uint32_t Linear = 0;          ///< That thread's index.
  const DeviceOp *Op = nullptr; ///< The instruction that issued it.
  uint64_t Sequence = 0;        ///< Of the thread's copies.
  uint64_t Group = 0;           ///< The thread's groups before it.
  std::vector<char> Data;
  std::vector<AsyncPiece> Pieces;
  ReduceOp Reduction = ReduceOp::None; ///< red.async: what the data does to
  ReduceType Type = ReduceType::B32;   ///< the destination's numbers.

  /// Writes the destination; \p T waits for it.
  void land(ThreadContext &T) const;
};

/// Something that happens to an mbarrier when it is waited for.
struct AsyncArrival {
  AsyncCopy Copy;       ///< Lands first; empty for an arrival alone.
  uint64_t Barrier = 0; ///< Its address.
  uint32_t Bytes = 0;   ///< To complete; 0: an arrival after the thread's
                        ///< copies up to Copy.Sequence.
};

/// A copy out of shared memory, which a bulk group tracks.
struct BulkStore {
  AsyncCopy Copy; ///< Pieces say where; Data is empty until it is read.
  std::vector<AsyncPiece> Sources; ///< Where Data comes from: To is the place.
  uint32_t DataSize = 0;           ///< Bytes.
  bool Read = false;

  /// Reads the source and checks the destination; \p T waits for it.
  void read(ThreadContext &T);
  /// Writes the destination, without checks.
  void write() const;
};

/// What the threads of a block have begun.
struct AsyncBlock : AsyncState {
  struct PerThread {
    std::deque<AsyncCopy> Copies; ///< Of cp.async.
    uint64_t Issued = 0, Groups = 0;
    std::deque<BulkStore> Stores; ///< Of cp.async.bulk.
    uint64_t StoreGroups = 0;
    ThreadProducts Products; ///< Of wgmma.
  };
  std::vector<std::unique_ptr<PerThread>> Threads; ///< Null: has begun none.
  std::deque<AsyncArrival> Arrivals; ///< At barriers of this block.

  void finish() override;
};

/// The block's state; made when it is first needed.
AsyncBlock &asyncOf(BlockState &Block);
/// The state of one thread, or of the calling one.
AsyncBlock::PerThread &asyncOf(BlockState &Block, uint32_t Linear);
AsyncBlock::PerThread &asyncOf(const OpCall &Call);
/// A copy that the calling thread issues, without data.
AsyncCopy beginCopy(const OpCall &Call);

/// Lands what is bound to the barrier until its phase is not \p Parity.
void landFor(const OpCall &Call, ThreadContext &T, uint64_t Barrier,
             bool Parity);
/// Binds \p Arrival to its barrier, in whichever block of the cluster it lies;
/// \p T issues it.
void bindToBarrier(const OpCall &Call, ThreadContext &T, AsyncArrival Arrival);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_ASYNCCOPY_H
