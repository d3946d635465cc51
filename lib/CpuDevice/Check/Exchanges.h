//===- Exchanges.h - What threads exchange without a lock -------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Volatile and atomic accesses never race in the sense of Granules.h. Two ways
// to use them are wrong all the same, and are found here when threads take
// turns (CpuDeviceOptions::ScheduleSeed):
//
// - A thread reads a place and stores there later, and nothing orders it with
//   another thread that changes the place: in some schedule that change comes
//   between and is lost.
// - A thread reads volatile what another wrote volatile, and nothing orders the
//   two. Only what a loop that waits looks at, and what any thread accesses
//   atomically, may be read so: such places are what orders others.
//
// A thread that waited until it saw a change is behind that change.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_EXCHANGES_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_EXCHANGES_H

#include "Abi/ThreadContext.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

namespace cupilot {

/// The places that the threads of one launch exchange values through. Used by
/// one host thread.
class Exchanges {
public:
  /// Thread \p T is about to access \p Address.
  void begin(const ThreadContext &T, uint64_t Address, const AccessSite &Site);
  /// It has. \p Kind: of ExchangeKind. Leaves by BlockState::escape when it is
  /// wrong: hold nothing with a destructor.
  void end(ThreadContext &T, uint64_t Address, const AccessSite &Site,
           uint32_t Kind);

private:
  struct Place {
    uint64_t Changes = 0;           ///< How often what lies there changed.
    uint64_t Word = 0;              ///< The stamp of who changed it last ...
    const AccessSite *By = nullptr; ///< ... and where.
    bool Update = false; ///< That was a store after a load by the same thread.
    bool Orders = false; ///< Some thread polls it or accesses it atomically.
  };
  /// What a thread knows of a place: 1 more than Changes was, or 0.
  struct View {
    uint64_t Read = 0, Polled = 0;
    bool Loaded = false; ///< The last read was none of a waiting loop.
  };
  [[noreturn]] void leave(ThreadContext &T, uint64_t Address,
                          const AccessSite &Site, const Place &P,
                          RaceRule Rule);
  void look(ThreadContext &T, uint64_t Address, const AccessSite &Site,
            uint32_t Kind, Place &P, View &Mine);

  std::array<uint8_t, 16> Before{}; ///< What lay there.
  std::deque<Place> Places;
  /// By address, and block for shared memory.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, size_t> Numbers;
  /// By place and thread of the grid.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, View> Views;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_EXCHANGES_H
