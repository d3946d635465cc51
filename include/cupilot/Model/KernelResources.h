//===- KernelResources.h - What a kernel takes of a multiprocessor -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_KERNELRESOURCES_H
#define CUPILOT_MODEL_KERNELRESOURCES_H

#include "llvm/Support/JSON.h"
#include <cstdint>

namespace cupilot {

/// What ptxas says of a kernel.
struct KernelResources {
  unsigned Registers = 0;    ///< Per thread.
  uint64_t StaticShared = 0; ///< Bytes.
  uint64_t StackBytes = 0, SpillBytes = 0;
};

llvm::json::Object toJSON(const KernelResources &R);
bool fromJSON(const llvm::json::Value &V, KernelResources &R,
              llvm::json::Path P);

} // namespace cupilot

#endif // CUPILOT_MODEL_KERNELRESOURCES_H
