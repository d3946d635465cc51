//===- IntrinsicLowering.h - NVVM intrinsics on the host -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_LOWER_INTRINSICLOWERING_H
#define CUPILOT_LIB_CPUDEVICE_LOWER_INTRINSICLOWERING_H

#include "Ptx/DeviceValues.h"
#include "Lowering.h"
#include "llvm/IR/Instructions.h"
#include <optional>

namespace cupilot {

/// Lowers the intrinsics of one entry: what computes from its operands alone
/// lies in IntrinsicValues.cpp, what involves other threads in Intrinsics.cpp.
class IntrinsicLowering {
public:
  IntrinsicLowering(llvm::Function &Entry, LoweredModule &Tables,
                    LoweredKernel &K)
      : Entry(Entry), Tables(Tables), K(K) {}
  std::string run();

private:
  /// What replaces the call; a null llvm::Value inside means "drop it"; nothing
  /// means that there is no rule.
  std::optional<llvm::Value *> lower(llvm::CallInst &Call, llvm::StringRef Name,
                                     llvm::IRBuilder<> &B);
  std::optional<llvm::Value *> lowerSpecialRegister(llvm::StringRef Name,
                                                    llvm::CallInst &Call,
                                                    llvm::IRBuilder<> &B);
  std::optional<llvm::Value *>
  lowerFloat(llvm::StringRef Name, llvm::CallInst &Call, llvm::IRBuilder<> &B);
  std::optional<llvm::Value *> lowerConversion(llvm::StringRef Name,
                                               llvm::CallInst &Call,
                                               llvm::IRBuilder<> &B);
  std::optional<llvm::Value *> lowerInteger(llvm::StringRef Name,
                                            llvm::CallInst &Call,
                                            llvm::IRBuilder<> &B);
  std::optional<llvm::Value *>
  lowerWarp(llvm::StringRef Name, llvm::CallInst &Call, llvm::IRBuilder<> &B);
  std::optional<llvm::Value *>
  lowerPtx(llvm::StringRef Name, llvm::CallInst &Call, llvm::IRBuilder<> &B);
  llvm::Value *reduceFloat(llvm::StringRef Name, llvm::CallInst &Call,
                           llvm::IRBuilder<> &B);
  void lowerOperations();
  llvm::Value *reservedShared(llvm::IRBuilder<> &B);
  llvm::Value *rounded(llvm::StringRef Name, RoundedOp Op, llvm::Type *T,
                       llvm::ArrayRef<llvm::Value *> Args,
                       llvm::IRBuilder<> &B);

  llvm::Value *field(llvm::IRBuilder<> &B, ContextField Field,
                     unsigned Index = 0) {
    return B.CreateLoad(B.getInt32Ty(), contextField(B, Entry, Field, Index));
  }
  llvm::Value *runtime(llvm::IRBuilder<> &B, llvm::StringRef Name,
                       llvm::Type *Result, llvm::ArrayRef<llvm::Value *> Args) {
    llvm::SmallVector<llvm::Type *> Types;
    for (llvm::Value *Arg : Args)
      Types.push_back(Arg->getType());
    return B.CreateCall(
        Entry.getParent()->getOrInsertFunction(
            Name, llvm::FunctionType::get(Result, Types, false)),
        Args);
  }
  llvm::Value *warp(llvm::IRBuilder<> &B, WarpOp Op, llvm::Value *Mask,
                    llvm::Value *Operand, llvm::Value *Lane,
                    llvm::Value *Clamp) {
    K.NeedsFibers = true;
    return runtime(B, "cupilot_rt_warp", B.getInt64Ty(),
                   {Entry.getArg(0),
                    B.getInt32(static_cast<uint32_t>(Op) | place(B) << 8), Mask,
                    Operand, Lane, Clamp});
  }
  llvm::Value *activeMask(llvm::IRBuilder<> &B) {
    K.NeedsFibers = true;
    return runtime(B, "cupilot_rt_activemask", B.getInt32Ty(),
                   {Entry.getArg(0), B.getInt32(place(B))});
  }
  /// Numbers a place of the source where a thread may wait; later passes may
  /// duplicate the call.
  uint32_t place(llvm::IRBuilder<> &B) {
    return addPlace(Tables, B.getCurrentDebugLocation());
  }
  llvm::Function &Entry;
  LoweredModule &Tables;
  LoweredKernel &K;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_LOWER_INTRINSICLOWERING_H
