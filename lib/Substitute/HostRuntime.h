//===- HostRuntime.h - What dispatch code needs at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H
#define CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace cupilot {

/// The state of one variant in a program.
struct VariantState {
  llvm::GlobalVariable *PerDevice =
      nullptr; ///< [64 x i8]: 0 unknown, 1 yes, 2 no.
  llvm::GlobalVariable *Count =
      nullptr; ///< Launches, for CUPILOT_RUNTIME=stats.
  unsigned Arch = 0;
  std::string Label;
};

/// Emits small internal functions into a host module, once each; there is no
/// library to link.
class HostRuntime {
public:
  explicit HostRuntime(llvm::Module &M) : M(M) {}

  VariantState createState(llvm::StringRef Name, llvm::StringRef Label,
                           llvm::StringRef Arch);
  /// An i1: the current device runs exactly the variant's image, and
  /// CUPILOT_RUNTIME is not "off". Cached per device; no allocation.
  llvm::Value *emitReady(llvm::IRBuilderBase &B, const VariantState &S,
                         llvm::Value *Handle);
  void emitCount(llvm::IRBuilderBase &B, const VariantState &S);
  void emitFallback(llvm::IRBuilderBase &B);
  void emitClearError(llvm::IRBuilderBase &B);
  /// Emits the report for CUPILOT_RUNTIME=stats.
  void finish();

private:
  llvm::Function *readyFunction();
  llvm::Function *modeFunction();
  llvm::GlobalVariable *counter(const llvm::Twine &Name);
  llvm::Function *internal(llvm::StringRef Name, llvm::FunctionType *Type);
  void add(llvm::IRBuilderBase &B, llvm::GlobalVariable *Counter);

  llvm::Module &M;
  llvm::Function *Ready = nullptr, *Mode = nullptr, *Report = nullptr;
  llvm::GlobalVariable *Fallbacks = nullptr;
  std::vector<VariantState> States;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H
