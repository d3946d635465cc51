//===- Wgmma.h - Products that have begun -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async runs beside its threads (PTX ISA, "Asynchronous wgmma
// Proxy"). The cpu device computes the product at once; what a thread may not
// do before wgmma.wait_group is found by checks: compiled code asks before it
// uses an accumulator, and the operands in shared memory count as read until
// the wait.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_WGMMA_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_WGMMA_H

#include <cstdint>
#include <deque>

namespace cupilot {

struct BlockState;
struct DeviceOp;
struct OpCall;
struct ThreadContext;

/// A product of a warpgroup as one of its threads has it.
struct Product {
  const DeviceOp *Op = nullptr;
  uint64_t Number = 0;   ///< Of the thread's products, from 1.
  uint64_t Group = 0;    ///< The thread's groups before it.
  uint64_t A = 0, B = 0; ///< Matrix descriptors.
  bool SharedA = false, TransA = false, TransB = false;
};

/// What a thread has begun.
struct ThreadProducts {
  std::deque<Product> Open;
  uint64_t Issued = 0, Done = 0, Groups = 0;
  bool Fenced = false; ///< By wgmma.fence, since the registers were its own.
};

/// Begins or ends the reading of the product's matrices in shared memory: at
/// the end \p T, of whichever warp, has read them.
void readOperands(const OpCall &Issued, ThreadContext &T, const Product &P,
                  bool Ends);

// WgmmaGroups.cpp.
void beginProduct(const OpCall &Call, const Product &P);
void runWgmmaFence(const OpCall &Call);
void runWgmmaCommit(const OpCall &Call);
void runWgmmaWait(const OpCall &Call);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_WGMMA_H
