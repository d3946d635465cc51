//===- Lowering.h - NVPTX modules made ready for the CPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_LOWER_LOWERING_H
#define CUPILOT_LIB_CPUDEVICE_LOWER_LOWERING_H

#include "Abi/DeviceOp.h"
#include "Abi/ThreadContext.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
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
  /// Variables that the program does not see: constants, virtual tables.
  std::vector<Global> Hidden;
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
/// Marks the stores of cooperative groups' own code with OfGroupsName.
void markGroupStores(llvm::Module &M);
inline constexpr char OfGroupsName[] = "cupilot.groups";
/// Follows what local variables hold before they are set, in code whose
/// variables are registers where they can be and which is not optimised yet:
/// when a branch, an address, or a computed value that is stored depends on it,
/// that is a fault.
void checkUninitialized(llvm::Function &F, LoweredModule &Tables);
/// Adds bounds checks, access traces and counters to an entry.
void instrument(llvm::Function &Entry, LoweredModule &Tables, LoweredKernel &K,
                const CpuDeviceOptions &Options);
/// Replaces NVVM intrinsics and inline assembly of an entry. Returns what it
/// cannot run, or "".
std::string lowerIntrinsics(llvm::Function &Entry, LoweredModule &Tables,
                            LoweredKernel &K);
/// The part of a block's shared memory that the system keeps.
inline constexpr char ReservedSharedName[] = "__cupilot_reserved_shared";
/// Where shared variables lie in the block's memory.
struct SharedLayout {
  llvm::MapVector<llvm::GlobalVariable *, uint64_t> Offsets;
  uint64_t Size = 0, Reserved = 0; ///< Bytes.
  void add(llvm::GlobalVariable &G);
};
/// The places of the variables that functions use: the same in all kernels that
/// call any.
SharedLayout layoutShared(llvm::ArrayRef<llvm::Function *> Functions);
/// Gives the other variables of an entry their place, and all their addresses.
void lowerShared(llvm::Function &Entry, LoweredKernel &K, SharedLayout Layout);
void lowerSharedOfFunction(llvm::Function &F, const SharedLayout &Layout);
/// Gives the functions that are left besides \p Entries the thread's context as
/// their first argument, and passes it in all calls. Returns them.
std::vector<llvm::Function *>
keepFunctions(llvm::Module &M, llvm::ArrayRef<llvm::Function *> Entries);
/// Drops what optimisation found out about \p F and the functions it calls: it
/// no longer holds once the context is used.
void forgetInferred(llvm::Function &F);
/// Checks calls through pointers, the depth of the stack, and that code which
/// the compiler took for unreachable is not reached.
void guardCalls(llvm::Function &F, LoweredModule &Tables, bool IsEntry);
/// Enters \p F into the tables.
void addFunction(llvm::Function &F, LoweredModule &Tables,
                 llvm::StringRef Unsupported);
/// Lets \p F, the one entered last, only say that it cannot run.
void refuseFunction(llvm::Function &F, LoweredModule &Tables);
/// What a function that \p Entry calls directly cannot run; "" when nothing.
/// \p CallsAny says whether it calls any.
std::string reachedUnsupported(llvm::Function &Entry,
                               const LoweredModule &Tables, bool &CallsAny);
/// Bytes of \p F's variables whose size is known.
uint64_t frameSize(const llvm::Function &F);
/// Bytes of stack for threads that run \p Entry.
uint64_t entryStack(const llvm::Function &Entry, bool Calls);
/// Lets other threads run in loops that wait for them.
void addYields(llvm::Function &F, LoweredModule &Tables, LoweredKernel &K);
/// Completes that, once everything else is lowered: counts the writes of such
/// loops.
void finishYields(llvm::Function &F);
/// Gives integer division the results that a GPU gives where the host traps.
void lowerDivisions(llvm::Function &F);

/// "file.cu:12:3" of an instruction; "" when not known.
std::string locationOf(const llvm::DebugLoc &Loc);
/// Gives the source line of \p Site a number among those of \p K, so that the
/// other party of a race can name it. \p Both: it may read and write.
void numberLocation(AccessSite &Site, LoweredKernel &K, bool Both = false);
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
  FieldStackTop,
  FieldStamp,
  FieldLaunchLowest,
  FieldLaunchSpan,
  FieldSegmentLowest,
  FieldSettledSpan,
  FieldExtra,
  FieldOpenStamp
};
llvm::Value *contextField(llvm::IRBuilderBase &B, llvm::Function &Entry,
                          ContextField Field, unsigned Index = 0);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_LOWER_LOWERING_H
