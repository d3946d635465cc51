//===- DeviceCost.h - What instructions cost a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of what the assembler makes of LLVM's instructions. Units and
// rates: CUDA C++ Best Practices Guide, "Throughput of Native Arithmetic
// Instructions", 9.0.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_DEVICECOST_H
#define CUPILOT_SUPPORT_DEVICECOST_H

#include "llvm/ADT/DenseMap.h"
#include <cstdint>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class LoopInfo;
class Value;
} // namespace llvm

namespace cupilot {

/// Instructions of one thread by the unit that runs them.
struct DeviceCost {
  uint32_t Fp32 = 0, Fp64 = 0, Fp16 = 0, Integer = 0, Special = 0, Control = 0,
           Conversion = 0, Shuffle = 0, Memory = 0;
  uint32_t total() const {
    return Fp32 + Fp64 + Fp16 + Integer + Special + Control + Conversion +
           Shuffle + Memory;
  }
  DeviceCost &operator+=(const DeviceCost &Other);
};

/// What \p I costs a thread. Parts of a machine instruction with others cost
/// nothing: the product of a fused multiplication and addition, an address that
/// an access adds up itself, what only changes a register's type.
DeviceCost deviceCost(const llvm::Instruction &I);

/// Whether the address of the load \p I follows from what it loaded before, as
/// in a list: such loads of a thread never overlap.
bool followsItself(const llvm::Instruction &I);

/// What one turn of a block adds to the longest chain of its thread.
struct DeviceChain {
  uint32_t Cycles = 0; ///< Of dependent instructions, global memory left out.
  uint32_t Waits = 0;  ///< For global memory, one after the other.
};

/// The chains of \p F's blocks. Loads that need neither each other nor a store
/// before them are waited for together, also across branches: a thread stops
/// where a value is used. What lies at \p Parameters, if anything, is an
/// operand that nobody waits for.
llvm::DenseMap<const llvm::BasicBlock *, DeviceChain>
deviceChains(const llvm::Function &F, const llvm::LoopInfo &Loops,
             const llvm::Value *Parameters = nullptr);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_DEVICECOST_H
