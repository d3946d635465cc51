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
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class Function;
class IRBuilderBase;
class Module;
class Value;
} // namespace llvm

namespace cupilot {

struct BlockState;
struct DeviceOp;
struct LoweredKernel;
struct LoweredModule;
struct PtxStatement;
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

/// The rule of an opcode that has been split at its points; nothing when it is
/// none of these instructions or one that cannot run.
std::optional<OpRule> findOp(llvm::ArrayRef<llvm::StringRef> Parts);

// The families, each in a file of its own.
std::optional<OpRule> findMma(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findWmma(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findMatrixMove(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findWgmma(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findAsyncCopy(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findBulkCopy(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findMbarrier(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findWarpMisc(llvm::ArrayRef<llvm::StringRef> Parts);

/// Emits the call that stands for an instruction until lowerDeviceOps.
/// \p Predicate may be null; \p Inputs are integers of at most 64 bits. Returns
/// the results in 64 bits each.
llvm::SmallVector<llvm::Value *>
emitDeviceOp(llvm::IRBuilderBase &B, llvm::StringRef Name, const OpRule &Rule,
             llvm::Value *Predicate, llvm::ArrayRef<llvm::Value *> Inputs);
/// Emits one statement of inline PTX. Nothing when it is none of these
/// instructions; false when its operands are wrong. \p Read gives an operand as
/// an integer of so many bits, or null; \p Write sets a register.
std::optional<bool> emitOpStatement(
    llvm::IRBuilderBase &B, const PtxStatement &S,
    llvm::function_ref<llvm::Value *(llvm::StringRef, unsigned)> Read,
    llvm::function_ref<bool(llvm::StringRef, llvm::Value *)> Write);
/// Turns the intrinsics of this kind into such calls. Others stay.
void lowerOpIntrinsics(llvm::Module &M);
/// Turns the calls in \p F, whose first argument is the thread's context, into
/// ones of the run time.
void lowerDeviceOps(llvm::Function &F, LoweredModule &Tables, LoweredKernel &K);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_ABI_DEVICEOP_H
