//===- ApiTensorMap.cpp - Tensor maps, as the driver makes them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cpu device's layout of the opaque CUtensorMap: see TensorMap.h. Programs
// find these functions by cudaGetDriverEntryPoint, or link them.
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/TensorMap.h"
#include <cstdint>
#include <cuda.h>

#if CUDA_VERSION >= 12000
#define CUPILOT_DRIVER_API                                                     \
  extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

CUPILOT_DRIVER_API cuTensorMapEncodeTiled(
    CUtensorMap *Map, CUtensorMapDataType Type, cuuint32_t Rank, void *Address,
    const cuuint64_t *Size, const cuuint64_t *Strides, const cuuint32_t *Box,
    const cuuint32_t *Steps, CUtensorMapInterleave Interleave,
    CUtensorMapSwizzle Swizzle, CUtensorMapL2promotion Promotion,
    CUtensorMapFloatOOBfill Fill) {
  return static_cast<CUresult>(
      cupilot::encodeTiled(Map, Type, Rank, Address, Size, Strides, Box, Steps,
                           Interleave, Swizzle, Promotion, Fill));
}

CUPILOT_DRIVER_API cuTensorMapReplaceAddress(CUtensorMap *Map, void *Address) {
  auto *Own = reinterpret_cast<cupilot::TensorMap *>(Map);
  if (!Own || Own->Tag != cupilot::TensorMap::Magic || !Address ||
      reinterpret_cast<uintptr_t>(Address) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  Own->Address = reinterpret_cast<uintptr_t>(Address);
  return CUDA_SUCCESS;
}

CUPILOT_DRIVER_API
cuTensorMapEncodeIm2col(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                        const cuuint64_t *, const cuuint64_t *, const int *,
                        const int *, cuuint32_t, cuuint32_t, const cuuint32_t *,
                        CUtensorMapInterleave, CUtensorMapSwizzle,
                        CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
#endif
