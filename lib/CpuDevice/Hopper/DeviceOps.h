//===- DeviceOps.h - The opcodes that the run time executes -----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_DEVICEOPS_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_DEVICEOPS_H

#include "Abi/DeviceOp.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace cupilot {

/// The rule of an opcode that has been split at its points; nothing when it is
/// none of these instructions or one that cannot run.
std::optional<OpRule> findOp(llvm::ArrayRef<llvm::StringRef> Parts);

// The families, each in a file of its own.
std::optional<OpRule> findMma(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findWmma(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findMatrixMove(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findWgmma(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findAsyncCopy(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findBulkCopy(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findMbarrier(llvm::ArrayRef<llvm::StringRef> Parts);
std::optional<OpRule> findWarpMisc(llvm::ArrayRef<llvm::StringRef> Parts);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_DEVICEOPS_H
