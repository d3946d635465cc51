//===- ModuleFile.h - Files of cupilot modules as plain data -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DIALECT_MODULEFILE_H
#define CUPILOT_DIALECT_MODULEFILE_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// The newest format of modules, which those that hold domains have. Since 6
/// words stand bare and empty lists are left out; older ones are read as they
/// are.
inline constexpr int64_t ModuleFormat = 7;
/// That of modules without domains.
inline constexpr int64_t PlainModuleFormat = 6;

/// The kernels of a module, with their slices from the files that it names
/// relative to itself. An unreadable slice is a usage error.
llvm::Expected<std::vector<Kernel>> loadKernels(llvm::StringRef Path);
/// All workloads of the module in \p Path.
llvm::Expected<std::vector<Workload>> loadWorkloads(llvm::StringRef Path);

} // namespace cupilot

#endif // CUPILOT_DIALECT_MODULEFILE_H
