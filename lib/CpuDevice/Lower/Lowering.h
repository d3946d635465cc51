//===- Lowering.h - NVPTX modules made ready for the CPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_LOWER_LOWERING_H
#define CUPILOT_LIB_CPUDEVICE_LOWER_LOWERING_H

#include "Abi/LoweredModule.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace cupilot {

/// Named metadata of modules that bitcodeOfPtx made.
inline constexpr char MadeOfPtxName[] = "cupilot.ptx";

/// Whether \p M is one: its code runs as it stands.
inline bool isMadeOfPtx(const llvm::Module &M) {
  return M.getNamedMetadata(MadeOfPtxName) != nullptr;
}

class BodyLowering;
class PtxStatement;

/// Turns \p M, an NVPTX module, into one for the host: entries per kernel, all
/// device functions inlined, optimised as device code would be, then checked
/// and counted as \p Options ask.
llvm::Expected<LoweredModule> lowerModule(llvm::Module &M,
                                          const CpuDeviceOptions &Options);

/// The tables of lowerModule as far as they say what cannot run. \p M is of no
/// use afterwards.
llvm::Expected<LoweredModule> describeModule(llvm::Module &M,
                                             const CpuDeviceOptions &Options);
/// The same for a module that has nothing but variables.
LoweredModule lowerVariables(llvm::Module &M);
/// Removes lists of what the compiler or others use: they hold address space
/// casts of device variables that COFF and ELF know nothing of.
void dropUsedLists(llvm::Module &M);
/// Enters where the arguments of \p Kernel lie among its packed arguments.
void layoutParameters(const llvm::Function &Kernel, const llvm::DataLayout &DL,
                      LoweredKernel &K);

// The steps, in their order. Each lies in a file of its own.

/// Folds __nvvm_reflect and, where floats are widened, replaces libdevice calls
/// by the host's mathematics. Otherwise they run libdevice's own code.
void lowerLibdevice(llvm::Module &M, const CpuDeviceOptions &Options);
/// The host's functions that the optimiser may call in device code.
const llvm::TargetLibraryInfoImpl &hostLibrary();
/// True for a mathematical function among these.
bool isOfHostLibrary(const llvm::Function &F);
/// Turns NVVM intrinsics that access memory into plain instructions.
void lowerMemoryIntrinsics(llvm::Module &M);
/// Computes all narrower floating-point arithmetic of \p F in float64; memory
/// keeps its types.
void widenFloats(llvm::Function &F);
/// Adds the variable RoundingSeedName.
void addRoundingSeed(llvm::Module &M);
/// Loads it where \p F begins.
llvm::Value *loadRoundingSeed(llvm::Function &F);
/// Puts what \p Make makes of \p I, behind it, in the place of \p I elsewhere.
void replaceByMade(llvm::Instruction &I,
                   llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &)> Make);
/// Rounds the operands of products of \p F, which is widened, as
/// CpuDeviceOptions::ProductBits says. Constants and what follows from the
/// arguments of a launch alone keep all their bits.
void roundProducts(llvm::Function &F, unsigned Bits);
/// Rounds what \p F, which is widened, computes in double up or down by coins,
/// as CpuDeviceOptions::RoundAtRandom says.
void roundAtRandom(llvm::Function &F);
/// \p Bits, of 64-bit integers, such that each bit of the result hangs on all
/// of them.
llvm::Value *mixedBits(llvm::IRBuilderBase &B, llvm::Value *Bits);
/// Marks the stores of cooperative groups' own code with OfGroupsName.
void markGroupStores(llvm::Module &M);
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
/// Code that cannot be reached is, where the source does what it must not: it
/// ends the thread there with a fault. The host's code would go on with
/// whatever lies behind it. To be called again where an optimisation may have
/// found more.
void reportEnds(llvm::Function &F, LoweredModule &Tables);
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
/// Lets code tell which sides of its decisions it takes, where \p Options ask
/// for that.
void seeDecisions(llvm::Module &M, LoweredModule &Tables,
                  const CpuDeviceOptions &Options);
/// Turns that into stores to the tables.
void lowerDecisions(llvm::Function &F, LoweredModule &Tables);
/// Lets other threads run in loops that wait for them.
void addYields(llvm::Function &F, LoweredModule &Tables, LoweredKernel &K);
/// Marks with PollName what loops look at that wait for memory. To be called
/// before the optimiser turns loops around: of what it then puts before a loop,
/// nobody sees any more that it belongs there.
void markPolls(llvm::Function &F);
/// Completes that, once everything else is lowered: counts the writes of such
/// loops.
void finishYields(llvm::Function &F);
/// Gives NaN that are computed the bits that a GPU computes, where they show.
void canonicalNans(llvm::Function &F);
/// Makes exchanges of bits of atomic operations on floating point; with
/// \p OneNan the NaN that they compute are a GPU's.
void lowerFloatAtomics(llvm::Function &F, bool OneNan);
/// Gives integer division the results that a GPU gives where the host traps.
void lowerDivisions(llvm::Function &F);

// Instructions that the run time executes.

/// Emits the call that stands for an instruction until lowerDeviceOps.
/// \p Predicate may be null; \p Inputs are integers of at most 64 bits. Returns
/// the results in 64 bits each.
llvm::SmallVector<llvm::Value *>
emitDeviceOp(llvm::IRBuilderBase &B, llvm::StringRef Name, const OpRule &Rule,
             llvm::Value *Predicate, llvm::ArrayRef<llvm::Value *> Inputs);
/// Emits one statement of inline PTX; see ForeignStatement.
std::optional<bool> emitOpStatement(BodyLowering &Asm, const PtxStatement &S);
/// Turns the intrinsics of this kind into such calls. Others stay.
void lowerOpIntrinsics(llvm::Module &M);
/// Turns the calls in \p F, whose first argument is the thread's context, into
/// ones of the run time.
void lowerDeviceOps(llvm::Function &F, LoweredModule &Tables, LoweredKernel &K);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_LOWER_LOWERING_H
