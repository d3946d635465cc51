//===- MlirRules.h - Strategies for kernels that are MLIR -------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_DRIVER_MLIRRULES_H
#define CUPILOT_LIB_DRIVER_MLIRRULES_H

#include "cupilot/Frontend/Rules.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

/// The strategies that rules carry out on gpu.func kernels, in the order of
/// their application.
llvm::ArrayRef<llvm::StringRef> mlirRuleStrategies();

/// Rewrites the slice of \p K, as KernelLanguage::translate. A gene whose
/// precondition the kernel does not meet is a finding: "STRATEGY: reason".
llvm::Expected<Translation>
translateMlirByRules(const Kernel &K, llvm::ArrayRef<Workload> Launches,
                     const Genome &G);

} // namespace cupilot

#endif // CUPILOT_LIB_DRIVER_MLIRRULES_H
