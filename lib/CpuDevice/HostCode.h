//===- HostCode.h - Parts of modules as host code ---------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOSTCODE_H
#define CUPILOT_LIB_CPUDEVICE_HOSTCODE_H

#include "PartCache.h"

namespace cupilot {

/// The part that all kernels are in, and the one of the variables that kernels
/// in parts of their own have in common. No kernel has such names.
inline constexpr llvm::StringRef WholeName = "<all>",
                                 VariablesName = "<variables>";

/// Lowers and compiles one part in this process.
llvm::Expected<CompiledPart> compilePart(ModuleSource &Source,
                                         llvm::StringRef Name,
                                         const CpuDeviceOptions &Options);
/// The same in a process with the limits Options.Apart. What becomes of that is
/// a HostCodeError.
llvm::Expected<CompiledPart> compilePartApart(ModuleSource &Source,
                                              llvm::StringRef Name,
                                              const CpuDeviceOptions &Options);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOSTCODE_H
