//===- StoreFiles.h - What lies where in a project store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_STORE_STOREFILES_H
#define CUPILOT_LIB_STORE_STOREFILES_H

#include "cupilot/Store/ProjectStore.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace cupilot {

/// A folder for each source and what it was built as: what was found for other
/// flags stays.
std::string kernelFolder(const StoredKernel &S);
/// The folders of all kernels of the store \p Root, in order.
llvm::Expected<std::set<std::string>> kernelFolders(llvm::StringRef Root);
/// The file of the original: CUDA, or MLIR for kernels that mlir-opt built.
std::string originalName(const StoredKernel &S);
/// The text of a build file.
std::string renderRecord(const BuildRecord &R);
/// Calls \p Use with all contents that \p W names.
void eachBuffer(Workload &W, llvm::function_ref<void(WorkloadBuffer &)> Use);

} // namespace cupilot

#endif // CUPILOT_LIB_STORE_STOREFILES_H
