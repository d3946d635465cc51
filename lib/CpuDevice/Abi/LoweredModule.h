//===- LoweredModule.h - A lowered module and its tables --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowering, the checks and the instructions of the matrix and asynchronous
// units enter here what they put into the code; the run time looks it up by the
// numbers that the code passes.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_ABI_LOWEREDMODULE_H
#define CUPILOT_LIB_CPUDEVICE_ABI_LOWEREDMODULE_H

#include "DeviceOp.h"
#include "ThreadContext.h"
#include "cupilot/CpuDevice/Decisions.h"
#include "llvm/ADT/DenseMap.h"
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
  bool Exchanges = false;      ///< Has volatile or atomic accesses.
  uint64_t StaticShared = 0;   ///< Bytes, those that the system keeps included.
  uint64_t ReservedShared = 0; ///< Bytes that the system keeps, when used.
  bool Calls = false;      ///< Has calls of functions that were not inlined.
  uint64_t StackSize = 0;  ///< Bytes for each thread.
  uint64_t LocalBytes = 0; ///< Of that, its own variables.
  std::array<uint64_t, 3> Cluster{0, 0, 0}; ///< __cluster_dims__; 0: none.
  uint64_t EntryInstructions = 0; ///< Of a thread that takes no loop, about.
  std::string Unsupported;        ///< What cannot run; empty when all can.
  unsigned FirstBlock = 0, NumBlocks = 0; ///< Its range in Costs.
  /// Source lines of reads and writes, for the other party of a race; the first
  /// is unknown.
  std::vector<std::string> ReadLocations = {""}, WriteLocations = {""};
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
  /// Functions that pointers may lead to, and those that cannot run.
  struct DeviceFunction {
    std::string Symbol;
    uint32_t Type = 0;       ///< Of CallTypes.
    std::string Unsupported; ///< What cannot run; empty when all can.
    bool ByPointer = false;  ///< Its address is taken.
  };
  std::vector<DeviceFunction> Functions;
  /// Types of functions by their text, numbered.
  std::map<std::string, uint32_t> CallTypes;
  /// The functions' types by address, once the code is loaded.
  llvm::DenseMap<uint64_t, uint32_t> TypeAt;
  unsigned FunctionBlocks = 0; ///< The first entries of Costs are theirs.
  /// Where the code decides, and a byte for each of their sides that is 1 once
  /// it was taken. Code is linked to the bytes by DecidedName: they must not
  /// move.
  std::vector<DecisionSite> Decisions;
  std::vector<uint8_t> Decided;
  /// Variables that the program does not see: constants, virtual tables.
  std::vector<Global> Hidden;
};

/// The symbol of LoweredModule::Decided.
inline constexpr char DecidedName[] = "__cupilot_decided";

/// "file.cu:12:3" of an instruction; "" when not known.
std::string locationOf(const llvm::DebugLoc &Loc);
/// Gives the source line of \p Site a number among those of \p K, so that the
/// other party of a race can name it. \p Both: it may read and write.
void numberLocation(AccessSite &Site, LoweredKernel &K, bool Both = false);
/// The number of a new place at \p Loc.
uint32_t addPlace(LoweredModule &Tables, const llvm::DebugLoc &Loc);
/// The site that instrument() gave to a call of an intrinsic or of inline
/// assembly, to be passed on to the run time as a constant; NoSite when it has
/// none.
uint32_t siteOf(const llvm::CallBase &Call);

/// Metadata of volatile and atomic accesses: it decides whether a loop ends
/// that waits for memory; it lies in such a loop.
inline constexpr char PollName[] = "cupilot.poll";
inline constexpr char WaitingName[] = "cupilot.waiting";
/// Metadata of the stores of cooperative groups' own code.
inline constexpr char OfGroupsName[] = "cupilot.groups";

/// The IR type of the part of ThreadContext that compiled code knows, and the
/// numbers of its fields.
llvm::StructType *contextType(llvm::LLVMContext &Context);
enum ContextField : unsigned {
#define CUPILOT_CONTEXT_FIELD(Type, Name) Field##Name,
#include "ThreadContext.def"
};
/// Whether \p Layout puts each field of contextType() where this program's own
/// compiler put it in ThreadContext.
bool contextLayoutAgrees(const llvm::DataLayout &Layout,
                         llvm::LLVMContext &Context);
llvm::Value *contextField(llvm::IRBuilderBase &B, llvm::Function &Entry,
                          ContextField Field, unsigned Index = 0);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_ABI_LOWEREDMODULE_H
