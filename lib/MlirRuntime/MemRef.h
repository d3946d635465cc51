//===- MemRef.h - Memrefs as MLIR programs pass them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MLIRRUNTIME_MEMREF_H
#define CUPILOT_LIB_MLIRRUNTIME_MEMREF_H

#include <cstdint>

namespace cupilot::mgpu {

/// The descriptor of a ranked memref, as its lowering to LLVM lays it out.
struct MemRef {
  void *Allocated;
  char *Aligned;
  int64_t Offset;     ///< In elements, as all below.
  int64_t Numbers[1]; ///< Sizes, then strides: as many as the rank, each.

  int64_t size(int64_t Dim) const { return Numbers[Dim]; }
  int64_t stride(int64_t Dim, int64_t Rank) const {
    return Numbers[Rank + Dim];
  }
  char *data(int64_t ElementSize) const {
    return Aligned + Offset * ElementSize;
  }
};

} // namespace cupilot::mgpu

#endif // CUPILOT_LIB_MLIRRUNTIME_MEMREF_H
