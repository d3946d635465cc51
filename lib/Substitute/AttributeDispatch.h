//===- AttributeDispatch.h - Attributes of kernels, for variants too -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_ATTRIBUTEDISPATCH_H
#define CUPILOT_LIB_SUBSTITUTE_ATTRIBUTEDISPATCH_H

#include "LaunchDispatch.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cupilot {

/// True for the run time's functions that set an attribute of a kernel, as a
/// larger limit of dynamic shared memory.
bool setsAttribute(const llvm::Function &Entry);

/// Fills in the body of \p F, which has the type of \p Entry: sets the
/// attribute, and where that worked also for each variant of that kernel that
/// may run on this device. A variant that it does not suit cannot be launched,
/// and then the original runs. \p HostOf emits the address that the program
/// knows a kernel by.
void emitAttributeDispatch(
    HostRuntime &Runtime, llvm::Function &F, llvm::Function &Entry,
    const LaunchableKernels &Kernels,
    llvm::function_ref<llvm::Value *(llvm::IRBuilderBase &, llvm::Function *)>
        HostOf);

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_ATTRIBUTEDISPATCH_H
