//===- LaunchAttempt.h - One variant at a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_LAUNCHATTEMPT_H
#define CUPILOT_LIB_SUBSTITUTE_LAUNCHATTEMPT_H

#include "LaunchBody.h"
#include "LaunchDispatch.h"

namespace cupilot {

/// One variant's part of a stand-in: from its guard to its last launch.
class LaunchAttempt {
public:
  LaunchAttempt(LaunchBody &Code, HostRuntime &Runtime, Launchable &L,
                const LaunchValues &Values)
      : Code(Code), B(Code.B), Runtime(Runtime), L(L), Values(Values) {}
  /// Emits it at Code.B; control goes to \p Original where no variant may run,
  /// and to \p After where this one cannot.
  void emit(llvm::Value *Device, llvm::BasicBlock *Original,
            llvm::BasicBlock *After);

private:
  /// Goes on in a new block where \p Condition holds.
  void unless(llvm::Value *Condition, llvm::BasicBlock *Else,
              const llvm::Twine &Name) {
    llvm::BasicBlock *Then = Code.block(Name);
    B.CreateCondBr(Condition, Then, Else);
    B.SetInsertPoint(Then);
  }
  llvm::Value *laterLaunchesFit(llvm::Value *Device);
  void allocate(llvm::Value *Device, llvm::BasicBlock *After);
  llvm::Value *arguments();

  LaunchBody &Code;
  llvm::IRBuilder<> &B;
  HostRuntime &Runtime;
  Launchable &L;
  const LaunchValues &Values;
  EmittedPlan Plan;
  llvm::SmallVector<llvm::Value *> Maps;
  llvm::Value *Scratch = nullptr; ///< The allocation, when there is one.
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_LAUNCHATTEMPT_H
