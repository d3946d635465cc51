//===- VerifySlice.h - A slice's device code against the unit's -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_VERIFYSLICE_H
#define CUPILOT_LIB_FRONTEND_VERIFYSLICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

struct DeviceCode;
struct Kernel;
struct KernelIdentity;

/// Refuses the slices of \p Kernels that do not compile alone to the build
/// identity that the kernel has in the unit, whose code is \p Unit. \p Builds
/// gets the unit's identities. Where a kernel has none, or uses variables that
/// other code of the unit may write, its optimised code is compared as well.
llvm::Error verifySlices(std::vector<Kernel> &Kernels, DeviceCode &Unit,
                         llvm::StringRef File,
                         llvm::ArrayRef<std::string> Flags,
                         llvm::MutableArrayRef<KernelIdentity> Builds);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_VERIFYSLICE_H
