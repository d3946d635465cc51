//===- Lowering.h - NVPTX modules made ready for the CPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_LOWERING_H
#define CUPILOT_LIB_CPUDEVICE_LOWERING_H

#include "DeviceOp.h"
#include "ThreadContext.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <map>

namespace cupilot {

/// One kernel after lowering.
struct LoweredKernel {
  std::string Name;
  std::string Entry; ///< void Entry(ThreadContext *, char *PackedArgs).
  std::vector<uint64_t> ParamSizes, ParamOffsets; ///< In the packed arguments.
  bool NeedsFibers = false;    ///< Has barriers or warp operations.
  bool Yields = false;         ///< Has loops that wait for memory to change.
  uint64_t StaticShared = 0;   ///< Bytes, those that the system keeps included.
  uint64_t ReservedShared = 0; ///< Bytes that the system keeps, when used.
  uint64_t StackSize = 0;      ///< Bytes for each thread.
  uint64_t EntryInstructions = 0; ///< Of a thread that takes no loop, about.
  std::string Unsupported;        ///< What cannot run; empty when all can.
  unsigned FirstBlock = 0, NumBlocks = 0; ///< Its range in Costs.
};

/// A lowered module's tables.
struct LoweredModule {
  unsigned Arch = 0; ///< Compute capability times ten, from the target CPU.
  std::vector<LoweredKernel> Kernels;
  std::vector<AccessSite> Sites;
  std::vector<BlockCost> Costs;
  std::vector<DeviceOp> Ops;
  struct Global {
    std::string Symbol;
    uint64_t Size = 0;
    bool Visible = false;
  };
  std::vector<Global> Globals;
  /// Where threads may wait: "file.cu:12:3" or ""; the first is no place.
  std::vector<std::string> Places = {""};
};

/// Turns \p M, an NVPTX module, into one for the host: entries per kernel, all
/// device functions inlined, optimised as device code would be, then checked
/// and counted as \p Options ask.
llvm::Expected<LoweredModule> lowerModule(llvm::Module &M,
                                          const CpuDeviceOptions &Options);

// The steps, in their order. Each lies in a file of its own.

/// Replaces libdevice calls by the host's mathematics and folds __nvvm_reflect.
void lowerLibdevice(llvm::Module &M, const CpuDeviceOptions &Options);
/// True for a libdevice function that the host's libm has too.
bool isHostMathematics(const llvm::Function &F);
/// Turns NVVM intrinsics that access memory into plain instructions.
void lowerMemoryIntrinsics(llvm::Module &M);
/// Turns inline PTX that is understood into plain IR; leaves the rest.
void lowerInlineAsm(llvm::Module &M);
/// Computes all narrower floating-point arithmetic of \p F in float64; memory
/// keeps its types.
void widenFloats(llvm::Function &F);
/// Adds bounds checks, access traces and counters to an entry.
void instrument(llvm::Function &Entry, LoweredModule &Tables, LoweredKernel &K,
                const CpuDeviceOptions &Options);
/// Replaces NVVM intrinsics and inline assembly of an entry. Returns what it
/// cannot run, or "".
std::string lowerIntrinsics(llvm::Function &Entry, LoweredModule &Tables,
                            LoweredKernel &K);
/// Gives shared variables their place in the block's memory.
void lowerShared(llvm::Function &Entry, LoweredKernel &K);

/// "file.cu:12:3" of an instruction; "" when not known.
std::string locationOf(const llvm::DebugLoc &Loc);
/// The number of a new place at \p Loc.
uint32_t addPlace(LoweredModule &Tables, const llvm::DebugLoc &Loc);

/// The IR type of ThreadContext, and field numbers in it.
llvm::StructType *contextType(llvm::LLVMContext &Context);
enum ContextField : unsigned {
  FieldTid,
  FieldCtaid,
  FieldNtid,
  FieldNctaid,
  FieldShared,
  FieldDynShared,
  FieldLinear,
  FieldSites,
  FieldBlockCounts,
  FieldBudget,
  FieldBlock,
  FieldWarpPredicate,
  FieldChanges,
  FieldStackLimit,
  FieldStackTop
};
llvm::Value *contextField(llvm::IRBuilderBase &B, llvm::Function &Entry,
                          ContextField Field, unsigned Index = 0);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_LOWERING_H
