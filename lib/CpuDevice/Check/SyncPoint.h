//===- SyncPoint.h - What threads tell each other through memory -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A happens-before relation in the small. Every thread has a clock. A sync
// point is a place (an atomic variable, an mbarrier, a hardware barrier) at
// which a thread publishes how far it, and all that it knows, has come; who
// looks there later knows that much. Knowledge is a list of sync points, each
// with the length that its log had when it was read, so that it is not copied.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_SYNCPOINT_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_SYNCPOINT_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace cupilot {

class SyncPoint;

/// The log of a sync point up to a length.
struct SyncView {
  const SyncPoint *Point = nullptr;
  uint32_t Length = 0;
};

/// What a thread or a block learned from sync points: one view of each.
class Knowledge {
public:
  bool empty() const { return Views.empty(); }
  void learn(SyncView View);
  void learn(const Knowledge &Other);
  void clear() { Views.clear(); }
  /// Whether an access by \p Thread of \p Block when its clock was \p Clock is
  /// known to be over. The reader is a thread of \p Reader.
  bool covers(uint64_t Reader, uint64_t Block, uint32_t Thread,
              uint64_t Clock) const;
  const llvm::SmallVector<SyncView, 2> &views() const { return Views; }

private:
  llvm::SmallVector<SyncView, 2> Views;
};

/// Clocks of the threads of a block; shared by the logs that mention it.
using ThreadClocks = std::shared_ptr<const std::vector<uint64_t>>;

/// One place. Guarded by the launch's mutex.
class SyncPoint {
public:
  /// For tell(): all threads of the block.
  static constexpr uint32_t AllThreads = 1024;

  uint32_t length() const { return Length; }
  /// Accesses of \p Thread of \p Block before its clock was \p Clock are over;
  /// for threads of other blocks only if \p Device.
  void tell(uint64_t Block, uint32_t Thread, uint64_t Clock, bool Device);
  void tell(uint64_t Block, ThreadClocks Clocks, bool Device);
  void tell(const Knowledge &Known);

private:
  friend class Knowledge;
  struct Entry {
    uint32_t Position;
    bool Device;
    uint64_t Clock;
  };
  struct ManyEntry {
    uint32_t Position;
    bool Device;
    ThreadClocks Clocks;
  };
  struct ViewEntry {
    uint32_t Position, Length;
  };
  bool told(uint32_t Limit, uint64_t Reader, uint64_t Block, uint32_t Thread,
            uint64_t Clock) const;

  uint32_t Length = 0;
  llvm::DenseMap<uint64_t, llvm::SmallVector<Entry, 1>> Single;
  llvm::DenseMap<uint64_t, llvm::SmallVector<ManyEntry, 1>> Many;
  llvm::DenseMap<const SyncPoint *, llvm::SmallVector<ViewEntry, 1>> Views;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_SYNCPOINT_H
