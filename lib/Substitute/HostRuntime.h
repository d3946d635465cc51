//===- HostRuntime.h - What dispatch code needs at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H
#define CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H

#include "cupilot/Substitute/EmitGuard.h"
#include "llvm/IR/Module.h"

namespace cupilot {

/// What the run time says of one kernel of a variant, on each device.
struct HandleState {
  llvm::GlobalVariable *Handle = nullptr;
  /// [64 x { i32, i32 }]: threads of a block and bytes of dynamic shared memory
  /// at most. Null where nobody asks.
  llvm::GlobalVariable *Limits = nullptr;
  /// The plan chooses its shared memory, so the kernel gets what there is.
  bool Raise = false;
};

/// The state of one variant in a program.
struct VariantState {
  llvm::GlobalVariable *PerDevice =
      nullptr; ///< [64 x i8]: 0 unknown, 1 yes, 2 no.
  llvm::GlobalVariable *Count =
      nullptr;                   ///< Launches, for CUPILOT_RUNTIME=stats.
  llvm::Function *Ask = nullptr; ///< Fills in PerDevice; made when needed.
  unsigned Arch = 0;
};

/// Devices whose answer is remembered; beyond them the original runs.
inline constexpr unsigned MaxDevices = 64;

/// Emits small internal functions into a host module, once each; there is no
/// library to link.
class HostRuntime {
public:
  explicit HostRuntime(llvm::Module &M) : M(M) {}

  /// The state of the variant whose symbol is \p Name; \p Label names it in the
  /// report.
  VariantState createState(llvm::StringRef Name, llvm::StringRef Label,
                           llvm::StringRef Arch);
  /// The state of the kernel with \p Handle.
  HandleState createHandle(llvm::GlobalVariable *Handle, bool Limits,
                           bool Raise);
  /// A counter that the report shows with \p Label.
  llvm::GlobalVariable *createCounter(const llvm::Twine &Name,
                                      llvm::StringRef Label);
  /// An i32: the current device; -1 where only originals may run: an error of
  /// the program is pending, or CUPILOT_RUNTIME is "off".
  llvm::Value *emitDevice(llvm::IRBuilderBase &B);
  /// An i1: \p Device, one of emitDevice's, runs exactly the variant's image.
  /// Asked of the run time once for each device; no allocation.
  llvm::Value *emitReady(llvm::IRBuilderBase &B, VariantState &S,
                         llvm::ArrayRef<HandleState> Handles,
                         llvm::Value *Device);
  /// An i1: \p Device launches the kernel with so many threads in a block, and
  /// so much dynamic shared memory. After emitReady, for a handle with limits.
  llvm::Value *emitFits(llvm::IRBuilderBase &B, const HandleState &H,
                        llvm::Value *Device, llvm::Value *Threads,
                        llvm::Value *Shared);
  /// Adds one to \p Counter, when the program is to report.
  void emitCount(llvm::IRBuilderBase &B, llvm::GlobalVariable *Counter);
  /// An i1: \p Stream is under capture, or cannot tell. A graph may be launched
  /// with other arguments later, which no guard sees. \p Suffix is that of the
  /// launch ("_ptsz" or "").
  llvm::Value *emitCapturing(llvm::IRBuilderBase &B, llvm::Value *Stream,
                             llvm::StringRef Suffix);
  /// \p Bytes of memory on \p Device, the current one, in the order of
  /// \p Stream; null, with no error left, where there is none.
  llvm::Value *emitAllocate(llvm::IRBuilderBase &B, llvm::Value *Bytes,
                            llvm::Value *Stream, llvm::Value *Device,
                            llvm::StringRef Suffix);
  void emitFree(llvm::IRBuilderBase &B, llvm::Value *Pointer,
                llvm::Value *Stream, llvm::StringRef Suffix);
  /// The tensor map \p Plan with these numbers, for this thread until it asks
  /// for the same plan's again; null where the driver makes none.
  llvm::Value *emitTensorMap(llvm::IRBuilderBase &B, const TensorMapPlan &Plan,
                             const EmittedTensorMap &Map);
  void emitClearError(llvm::IRBuilderBase &B);
  /// An internal function with the module's defaults and an empty entry block.
  llvm::Function *createFunction(const llvm::Twine &Name,
                                 llvm::FunctionType *Type);
  /// Emits the report for CUPILOT_RUNTIME=stats.
  void finish();

private:
  llvm::Function *deviceFunction();
  llvm::Function *fitsFunction(bool Raise);
  llvm::Function *modeFunction();
  llvm::Function *countFunction();
  llvm::Function *keepFunction();
  llvm::Function *encoderFunction();
  llvm::Function *tensorMapFunction();
  llvm::Value *emitStatusCall(llvm::IRBuilderBase &B, llvm::StringRef Name,
                              llvm::ArrayRef<llvm::Value *> Args = {});

  llvm::Module &M;
  llvm::Function *Mode = nullptr, *Report = nullptr;
  std::vector<std::pair<std::string, llvm::GlobalVariable *>> Counters;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H
