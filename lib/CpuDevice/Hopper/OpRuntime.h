//===- OpRuntime.h - What device operations use of the run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_OPRUNTIME_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_OPRUNTIME_H

#include "Abi/DeviceOp.h"
#include "Check/Touch.h"
#include "Execute/Scheduler.h"

namespace cupilot {

/// A shared-memory operand as an address of the host. The 32 bits that
/// __cvta_generic_to_shared leaves are enough: shared memory lies around them.
uint64_t sharedAddress(const ThreadContext &T, uint64_t Operand);

/// Checks an access that \p T makes now, or that lands now, against bounds,
/// alignment and all else that is checked. Leaves the kernel when it is wrong.
void touchChecked(const OpCall &Call, ThreadContext &T, uint64_t Address,
                  uint64_t Size, AccessKind Kind, uint64_t Align = 1);

/// \p T has just written for an asynchronous copy: see touchThroughProxy().
void noteLanded(ThreadContext &T, uint64_t Address, uint64_t Size);
/// touchChecked() for what \p T now begins to read by the asynchronous proxy.
void touchThroughProxy(const OpCall &Call, ThreadContext &T, uint64_t Address,
                       uint64_t Size);

/// Checks and returns the memory that \p T reads or writes there; leaves the
/// kernel when the access is wrong.
char *readable(const OpCall &Call, ThreadContext &T, uint64_t Address,
               uint64_t Size);
char *writable(const OpCall &Call, ThreadContext &T, uint64_t Address,
               uint64_t Size);

/// Records a fault of this instruction and leaves the kernel.
[[noreturn]] void fault(const OpCall &Call, ThreadContext &T, FaultKind Kind,
                        uint64_t Address, const llvm::Twine &Detail);

/// Lets other threads run before \p T looks at an mbarrier again.
void waitForMbarrier(const OpCall &Call, ThreadContext &T);
/// The block of the cluster whose shared memory holds \p Address; null: none.
BlockState *sharedOwnerOf(BlockState &Block, uint64_t Address);
/// The address in the shared memory of block \p Rank of the cluster that
/// \p Address has in its own; a fault when the cluster has no such block.
uint64_t sharedInBlock(const OpCall &Call, ThreadContext &T, uint64_t Address,
                       unsigned Rank);
/// Whether [Address, Address + Size) lies in the launch's packed arguments.
bool isLaunchArgument(const OpCall &Call, uint64_t Address, uint64_t Size);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_OPRUNTIME_H
