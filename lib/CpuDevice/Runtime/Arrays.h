//===- Arrays.h - CUDA arrays -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_ARRAYS_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_ARRAYS_H

#include <cuda_runtime_api.h>

/// Texture memory: rows of elements, kept in order here (a GPU's order is its
/// own secret). Height and Depth are 0 for arrays of fewer dimensions.
struct cudaArray {
  char *Data = nullptr;
  size_t Width = 0, Height = 0, Depth = 0; ///< Elements; layers are depth.
  size_t ElementSize = 0, Pitch = 0;       ///< Bytes.
  cudaChannelFormatDesc Format{};
  unsigned Flags = 0;
  size_t slice() const { return Pitch * (Height ? Height : 1); }
  size_t bytes() const { return slice() * (Depth ? Depth : 1); }
};

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_ARRAYS_H
