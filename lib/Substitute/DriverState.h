//===- DriverState.h - What the driver tells a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_DRIVERSTATE_H
#define CUPILOT_LIB_SUBSTITUTE_DRIVERSTATE_H

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Function;
class GlobalValue;
class InlineAsm;
} // namespace llvm

namespace cupilot {

/// True for code that reads %envreg registers, by assembly or by intrinsic.
bool isDriverStateAsm(const llvm::InlineAsm &Asm);
bool isDriverStateRead(const llvm::Function &F);

/// True when \p Kernel, whose closure is \p Closure, still reads them once it
/// is optimised (a copy is): as kernels do that wait for other blocks.
bool readsDriverState(const llvm::Function &Kernel,
                      llvm::ArrayRef<const llvm::GlobalValue *> Closure);

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_DRIVERSTATE_H
