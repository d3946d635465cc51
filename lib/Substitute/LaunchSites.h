//===- LaunchSites.h - The launches of a host module -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_LAUNCHSITES_H
#define CUPILOT_LIB_SUBSTITUTE_LAUNCHSITES_H

#include "LaunchDispatch.h"
#include "OwnCopies.h"
#include "cupilot/Substitute/Substitute.h"

namespace cupilot {

/// Stub to the mangled name of its kernel.
using KernelStubs = llvm::MapVector<llvm::Function *, std::string>;

/// The call by which `kernel<<<...>>>(...)` enters a stub, where \p Call begins
/// such a launch (__cudaPushCallConfiguration); else null. Indirect where the
/// kernel is given by a pointer.
llvm::CallBase *launchAfter(llvm::CallBase &Call, const KernelStubs &Stubs);

/// All launches of \p M by the stubs of this unit and by the run time's
/// functions, and what became of them. \p Copies are this unit's own.
std::vector<LaunchSite> findLaunchSites(llvm::Module &M,
                                        const KernelStubs &Stubs,
                                        const LaunchableKernels &Kernels,
                                        const OwnCopies &Copies);

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_LAUNCHSITES_H
