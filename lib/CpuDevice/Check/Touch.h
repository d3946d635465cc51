//===- Touch.h - Checks for what the run time does to memory --*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, stores and atomics of device code are instrumented. Instructions that
// the run time carries out (asynchronous copies, tensor cores, mbarriers) call
// these functions themselves. They are cheap when the checks are off.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_TOUCH_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_TOUCH_H

#include "Abi/ThreadContext.h"
#include "cupilot/Model/FaultKind.h"

namespace cupilot {

/// Checks bounds, races and, for reads, written bytes of an access that thread
/// \p T makes, or that is made on its behalf, now. To be called before the
/// access. Leaves by BlockState::escape when it is wrong: hold nothing with a
/// destructor. Memory of the block (shared) and global memory.
void touch(ThreadContext &T, const void *Address, uint64_t Size,
           AccessKind Kind, uint32_t Site = NoSite);

/// Checks that \p Align divides the address, then touch().
void touchAligned(ThreadContext &T, const void *Address, uint64_t Size,
                  uint64_t Align, AccessKind Kind, uint32_t Site = NoSite);

/// What thread \p T did and knows so far becomes known to whoever subscribes to
/// \p Address later: a release, as an arrival at an mbarrier is.
void publish(ThreadContext &T, const void *Address);
/// Thread \p T learns what was published at \p Address: an acquire, as a wait
/// that ends is. To be called when the wait has ended.
void subscribe(ThreadContext &T, const void *Address);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_TOUCH_H
