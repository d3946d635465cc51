//===- Mbarrier.h - Barrier objects in shared memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_MBARRIER_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_MBARRIER_H

#include "Abi/DeviceOp.h"

namespace cupilot {

/// An mbarrier object (PTX ISA, "mbarrier"): opaque to programs, 64 bits in
/// shared memory. Here they are, from the lowest: 20 bits pending arrivals, 20
/// bits expected arrivals, 21 bits pending transactions (biased), the parity of
/// the phase, and two bits that tell it from memory nobody initialised.
struct Mbarrier {
  static constexpr uint32_t MaxCount = (1u << 20) - 1;
  uint32_t Pending = 0, Expected = 0;
  int32_t Transactions = 0;
  bool Parity = false; ///< Of the phase that is not complete yet.

  uint64_t encode() const;
  /// Nothing for bits that are no mbarrier.
  static std::optional<Mbarrier> decode(uint64_t Bits);
};

/// Loads the barrier at \p Address for an atomic operation by \p T; a fault
/// when there is none.
Mbarrier loadMbarrier(const OpCall &Call, ThreadContext &T, uint64_t Address);
/// Completes the phase when nothing is pending, and stores.
void storeMbarrier(const OpCall &Call, Mbarrier B, uint64_t Address);
/// \p Count arrivals by \p T.
void arriveAtMbarrier(const OpCall &Call, ThreadContext &T, uint64_t Address,
                      uint32_t Count);
/// The end of \p Bytes of a copy that \p T began.
void completeTransaction(const OpCall &Call, ThreadContext &T, uint64_t Address,
                         uint32_t Bytes);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_MBARRIER_H
