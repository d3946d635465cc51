//===- TensorMaps.cpp - Tensor maps of MLIR programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "MemRef.h"

using namespace cupilot::mgpu;

#if CUDA_VERSION >= 12000
#include <array>
#include <cstring>
#include <map>
#include <mutex>

static constexpr int64_t MostDims = 5;

/// Bytes of an element; 0 for types that are not whole bytes.
static uint64_t elementSize(int64_t Type) {
  switch (Type) {
  case CU_TENSOR_MAP_DATA_TYPE_UINT8:
    return 1;
  case CU_TENSOR_MAP_DATA_TYPE_UINT16:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
  case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    return 2;
  case CU_TENSOR_MAP_DATA_TYPE_UINT32:
  case CU_TENSOR_MAP_DATA_TYPE_INT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
  case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
  case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
    return 4;
  case CU_TENSOR_MAP_DATA_TYPE_UINT64:
  case CU_TENSOR_MAP_DATA_TYPE_INT64:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
    return 8;
  default:
    return 0;
  }
}

/// \p Map in memory of the device. Programs never free it: equal ones share it.
static void *onDevice(const CUtensorMap &Map) {
  static std::mutex Lock;
  static std::map<std::pair<int, std::array<char, sizeof(CUtensorMap)>>,
                  CUdeviceptr>
      Maps;
  std::array<char, sizeof(CUtensorMap)> Bytes;
  std::memcpy(Bytes.data(), &Map, sizeof(Map));
  std::lock_guard<std::mutex> Guard(Lock);
  CUdeviceptr &Memory = Maps[{defaultDevice(), Bytes}];
  if (!Memory) {
    if (CUresult E = driver().cuMemAlloc_v2(&Memory, sizeof(Map)))
      fail(E, "mgpuTensorMapEncodeTiledMemref: memory for the map");
    if (CUresult E = driver().cuMemcpyHtoD_v2(Memory, &Map, sizeof(Map)))
      fail(E, "mgpuTensorMapEncodeTiledMemref: a copy of the map");
  }
  return reinterpret_cast<void *>(Memory);
}

CUPILOT_MGPU void *mgpuTensorMapEncodeTiledMemref(
    int64_t Rank, MemRef *Tensor, int64_t Type, int64_t Interleave,
    int64_t Swizzle, int64_t Promotion, int64_t Fill, const int64_t *BoxDims) {
  static const char Caller[] = "mgpuTensorMapEncodeTiledMemref";
  if (!driver().cuTensorMapEncodeTiled)
    fail(std::string(Caller) + ": the driver knows no tensor maps",
         "they need the driver of CUDA 12.0 or newer");
  uint64_t Element = elementSize(Type);
  if (Rank < 1 || Rank > MostDims || !Element)
    fail(std::string(Caller) + ": tensor maps have 1 to 5 dimensions and "
                               "elements of whole bytes");
  if (Tensor->stride(Rank - 1, Rank) != 1)
    fail(std::string(Caller) + ": the elements of a row are not adjacent",
         "the last stride of the memref must be 1");
  // CUDA counts dimensions from the innermost one, and does not name its
  // stride.
  uint64_t Sizes[MostDims], Strides[MostDims];
  uint32_t Box[MostDims], Steps[MostDims];
  for (int64_t I = 0; I < Rank; ++I) {
    int64_t Dim = Rank - 1 - I;
    Sizes[I] = static_cast<uint64_t>(Tensor->size(Dim));
    Box[I] = static_cast<uint32_t>(BoxDims[Dim]);
    Steps[I] = 1;
    if (I)
      Strides[I - 1] =
          static_cast<uint64_t>(Tensor->stride(Dim, Rank)) * Element;
  }
  ActiveContext Active;
  CUtensorMap Map = {};
  if (CUresult E = driver().cuTensorMapEncodeTiled(
          &Map, static_cast<CUtensorMapDataType>(Type),
          static_cast<uint32_t>(Rank),
          Tensor->data(static_cast<int64_t>(Element)), Sizes, Strides, Box,
          Steps, static_cast<CUtensorMapInterleave>(Interleave),
          static_cast<CUtensorMapSwizzle>(Swizzle),
          static_cast<CUtensorMapL2promotion>(Promotion),
          static_cast<CUtensorMapFloatOOBfill>(Fill)))
    fail(
        E, Caller,
        "the driver's rules: an address that is a multiple of 16, strides that "
        "are multiples of 16 bytes, boxes of at most 256 elements a side, and "
        "at most the swizzle's bytes a row");
  return onDevice(Map);
}
#else
CUPILOT_MGPU void *mgpuTensorMapEncodeTiledMemref() {
  fail("mgpuTensorMapEncodeTiledMemref: this cuPilot was built with CUDA "
       "headers that know no tensor maps",
       "build it with those of CUDA 12.0 or newer (-DCUPILOT_CUDA_PATH=DIR)");
}
#endif
