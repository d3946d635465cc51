//===- BulkCopy.h - Bulk copies of Hopper -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_BULKCOPY_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_BULKCOPY_H

#include "AsyncCopy.h"

namespace cupilot {

/// Order of the numbers in OpRule::Shape of bulk copies.
enum BulkField : unsigned {
  BulkRank, ///< Of the tensor; 0: plain bytes.
  BulkMulticast,
  BulkHint,
  BulkReduction,
  BulkType,
  BulkNaturalSource ///< The source is shared memory of this block.
};

/// Binds a copy into shared memory to its barrier, once for each block that
/// \p Mask names when the copy is multicast.
void sendToBarrier(const OpCall &Call, AsyncCopy Copy, uint64_t Bytes,
                   uint64_t Barrier, std::optional<uint32_t> Mask);
/// Adds a copy out of shared memory to the calling thread's open group.
void addStore(const OpCall &Call, BulkStore Store);

// TensorCopy.cpp.
void runTensorLoad(const OpCall &Call);
void runTensorStore(const OpCall &Call);
void runTensorPrefetch(const OpCall &Call);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_BULKCOPY_H
