//===- DeviceOp.h - Instructions that the run time executes -----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix and asynchronous instructions. Inline PTX and intrinsics become calls
// of a declared function that carries the opcode's name before anything is
// inlined; after optimisation each call becomes one of the run time, with its
// operands in an array of 64-bit words: the predicate, the inputs, the results.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_ABI_DEVICEOP_H
#define CUPILOT_LIB_CPUDEVICE_ABI_DEVICEOP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <string>

namespace cupilot {

struct BlockState;
struct DeviceOp;
struct ThreadContext;

/// One thread's part in an instruction.
struct OpLane {
  ThreadContext *Thread = nullptr;
  const uint64_t *Inputs = nullptr; ///< Registers, extended with zeros.
  uint64_t *Results = nullptr;
};

/// One execution of an instruction by the lanes that take part: one of them,
/// or, for a collective instruction, all of a warp or warpgroup in order.
struct OpCall {
  BlockState &Block;
  const DeviceOp &Op;
  llvm::ArrayRef<OpLane> Lanes;
};

using OpFunction = void (*)(const OpCall &Call);

/// What an opcode means. Found by name, so that a lowered module can be looked
/// at without running it.
struct OpRule {
  OpFunction Run = nullptr;
  /// Lanes that execute it together: 1, 32 or 128.
  uint32_t Group = 1;
  /// Bits of each result register.
  llvm::SmallVector<uint8_t, 8> Results;
  /// The result registers are inputs too, before all others.
  bool Accumulates = false;
  /// Numbers that Run reads; each family has its own order.
  std::array<uint32_t, 12> Shape{};
  /// Inputs that it takes at least and at most.
  uint32_t MinInputs = 0, MaxInputs = 0;
  /// Alignment in bytes that the memory operands need.
  uint32_t ReadAlign = 1, WriteAlign = 1;
  /// ExecutionCounts::Tensor of one execution.
  uint64_t TensorWork = 0;
};

/// One such instruction of a lowered module.
struct DeviceOp {
  std::string Name; ///< The opcode with its modifiers, as in PTX.
  OpRule Rule;
  uint32_t Inputs = 0;
  uint32_t Key = 0; ///< Equal for copies of one instruction of the source.
  uint32_t ReadSite = 0, WriteSite = 0; ///< Of its accesses.
  uint32_t Where = 0;                   ///< Its place, for threads that wait.
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_ABI_DEVICEOP_H
