//===- CudaLibraries.h - Libraries that need a GPU --------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_CUDALIBRARIES_H
#define CUPILOT_SUPPORT_CUDALIBRARIES_H

#include "llvm/ADT/StringRef.h"

namespace cupilot {

/// Whether \p File is by its name one of the libraries of CUDA whose functions
/// run code of their own on a GPU: cuBLAS, cuDNN, NCCL and the like.
bool isCudaLibrary(llvm::StringRef File);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_CUDALIBRARIES_H
