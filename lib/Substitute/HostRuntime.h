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
};

/// Emits small internal functions into a host module, once each; there is no
/// library to link.
class HostRuntime {
public:
  explicit HostRuntime(llvm::Module &M) : M(M) {}

  /// The state of the variant whose symbol is \p Name; \p Label names it in the
  /// report.
  VariantState createState(llvm::StringRef Name, llvm::StringRef Label,
                           llvm::StringRef Arch);
  /// A counter that the report shows with \p Label.
  llvm::GlobalVariable *createCounter(const llvm::Twine &Name,
                                      llvm::StringRef Label);
  /// An i1: the current device runs exactly the variant's image, no error of
  /// the program is pending, and CUPILOT_RUNTIME is not "off". Cached per
  /// device; no allocation.
  llvm::Value *emitReady(llvm::IRBuilderBase &B, const VariantState &S,
                         llvm::Value *Handle);
  /// Adds one to \p Counter.
  void emitCount(llvm::IRBuilderBase &B, llvm::GlobalVariable *Counter);
  /// An i1: \p Stream is under capture, or cannot tell. A graph may be launched
  /// with other arguments later, which no guard sees. \p Suffix is that of the
  /// launch ("_ptsz" or "").
  llvm::Value *emitCapturing(llvm::IRBuilderBase &B, llvm::Value *Stream,
                             llvm::StringRef Suffix);
  void emitClearError(llvm::IRBuilderBase &B);
  /// An internal function with the module's defaults and an empty entry block.
  llvm::Function *createFunction(const llvm::Twine &Name,
                                 llvm::FunctionType *Type);
  /// Emits the report for CUPILOT_RUNTIME=stats.
  void finish();

private:
  llvm::Function *readyFunction();
  llvm::Function *modeFunction();
  llvm::Value *emitStatusCall(llvm::IRBuilderBase &B, llvm::StringRef Name);

  llvm::Module &M;
  llvm::Function *Ready = nullptr, *Mode = nullptr, *Report = nullptr;
  std::vector<std::pair<std::string, llvm::GlobalVariable *>> Counters;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H
