//===- Driver.h - The CUDA driver, found at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_DRIVER_H
#define CUPILOT_TOOLS_CAPTURE_DRIVER_H

#include "cupilot/Capture/Record.h"
#include <cuda.h>
#include <optional>
#include <string>

namespace cupilot::capture {

/// Why something could not be done, for people; nothing where it was.
using Obstacle = std::optional<std::string>;

// Functions by the names that the driver exports. Each pointer is null where
// the driver has no such function.
#define CUPILOT_DRIVER_FUNCTIONS(F)                                            \
  F(cuInit, CUresult(unsigned))                                                \
  F(cuDriverGetVersion, CUresult(int *))                                       \
  F(cuDeviceGetCount, CUresult(int *))                                         \
  F(cuDeviceGet, CUresult(CUdevice *, int))                                    \
  F(cuDeviceGetName, CUresult(char *, int, CUdevice))                          \
  F(cuDeviceGetAttribute, CUresult(int *, CUdevice_attribute, CUdevice))       \
  F(cuDevicePrimaryCtxRetain, CUresult(CUcontext *, CUdevice))                 \
  F(cuCtxSetCurrent, CUresult(CUcontext))                                      \
  F(cuCtxGetCurrent, CUresult(CUcontext *))                                    \
  F(cuCtxGetDevice, CUresult(CUdevice *))                                      \
  F(cuCtxSynchronize, CUresult())                                              \
  F(cuGetErrorName, CUresult(CUresult, const char **))                         \
  F(cuStreamCreate, CUresult(CUstream *, unsigned))                            \
  F(cuStreamQuery, CUresult(CUstream))                                         \
  F(cuStreamQuery_ptsz, CUresult(CUstream))                                    \
  F(cuStreamSynchronize, CUresult(CUstream))                                   \
  F(cuStreamIsCapturing, CUresult(CUstream, CUstreamCaptureStatus *))          \
  F(cuStreamIsCapturing_ptsz, CUresult(CUstream, CUstreamCaptureStatus *))     \
  F(cuStreamGetId, CUresult(CUstream, unsigned long long *))                   \
  F(cuThreadExchangeStreamCaptureMode, CUresult(CUstreamCaptureMode *))        \
  F(cuMemAlloc_v2, CUresult(CUdeviceptr *, size_t))                            \
  F(cuMemFree_v2, CUresult(CUdeviceptr))                                       \
  F(cuMemGetAddressRange_v2, CUresult(CUdeviceptr *, size_t *, CUdeviceptr))   \
  F(cuMemGetInfo_v2, CUresult(size_t *, size_t *))                             \
  F(cuIpcGetMemHandle, CUresult(CUipcMemHandle *, CUdeviceptr))                \
  F(cuIpcOpenMemHandle_v2, CUresult(CUdeviceptr *, CUipcMemHandle, unsigned))  \
  F(cuMemsetD32Async, CUresult(CUdeviceptr, unsigned, size_t, CUstream))       \
  F(cuMemsetD8Async, CUresult(CUdeviceptr, unsigned char, size_t, CUstream))   \
  F(cuMemcpyAsync, CUresult(CUdeviceptr, CUdeviceptr, size_t, CUstream))       \
  F(cuMemcpyHtoD_v2, CUresult(CUdeviceptr, const void *, size_t))              \
  F(cuMemcpyDtoH_v2, CUresult(void *, CUdeviceptr, size_t))                    \
  F(cuPointerGetAttribute, CUresult(void *, CUpointer_attribute, CUdeviceptr)) \
  F(cuFuncGetParamInfo, CUresult(CUfunction, size_t, size_t *, size_t *))      \
  F(cuFuncGetModule, CUresult(CUmodule *, CUfunction))                         \
  F(cuFuncGetName, CUresult(const char **, CUfunction))                        \
  F(cuFuncSetAttribute, CUresult(CUfunction, CUfunction_attribute, int))       \
  F(cuKernelGetParamInfo, CUresult(CUkernel, size_t, size_t *, size_t *))      \
  F(cuKernelGetLibrary, CUresult(CUlibrary *, CUkernel))                       \
  F(cuKernelGetFunction, CUresult(CUfunction *, CUkernel))                     \
  F(cuKernelGetName, CUresult(const char **, CUkernel))                        \
  F(cuLibraryGetGlobal,                                                        \
    CUresult(CUdeviceptr *, size_t *, CUlibrary, const char *))                \
  F(cuModuleGetGlobal_v2,                                                      \
    CUresult(CUdeviceptr *, size_t *, CUmodule, const char *))                 \
  F(cuModuleLoadData, CUresult(CUmodule *, const void *))                      \
  F(cuModuleGetFunction, CUresult(CUfunction *, CUmodule, const char *))       \
  F(cuLaunchKernelEx,                                                          \
    CUresult(const CUlaunchConfig *, CUfunction, void **, void **))            \
  F(cuGraphGetNodes, CUresult(CUgraph, CUgraphNode *, size_t *))               \
  F(cuGraphNodeGetType, CUresult(CUgraphNode, CUgraphNodeType *))              \
  F(cuGraphChildGraphNodeGetGraph, CUresult(CUgraphNode, CUgraph *))           \
  F(cuGraphKernelNodeGetParams_v2,                                             \
    CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *))                          \
  F(cuGraphKernelNodeGetAttribute,                                             \
    CUresult(CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue *))      \
  F(cuGraphMemsetNodeGetParams,                                                \
    CUresult(CUgraphNode, CUDA_MEMSET_NODE_PARAMS *))                          \
  F(cuGraphMemcpyNodeGetParams, CUresult(CUgraphNode, CUDA_MEMCPY3D *))        \
  F(cuGraphGetEdges_v2, CUresult(CUgraph, CUgraphNode *, CUgraphNode *,        \
                                 CUgraphEdgeData *, size_t *))                 \
  F(cuGraphClone, CUresult(CUgraph *, CUgraph))                                \
  F(cuGraphDestroy, CUresult(CUgraph))                                         \
  F(cuMemsetD2D8Async,                                                         \
    CUresult(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream))    \
  F(cuMemsetD2D16Async,                                                        \
    CUresult(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream))   \
  F(cuMemsetD2D32Async,                                                        \
    CUresult(CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream))         \
  F(cuMemcpy3DAsync_v2, CUresult(const CUDA_MEMCPY3D *, CUstream))

struct Driver {
#define F(NAME, TYPE)                                                          \
  using NAME##Type = TYPE;                                                     \
  NAME##Type *NAME = nullptr;
  CUPILOT_DRIVER_FUNCTIONS(F)
#undef F
  /// Loads libcuda.so.1.
  Obstacle load();
  /// "CUDA_ERROR_INVALID_VALUE".
  std::string errorName(CUresult Code) const;
};

/// How a kernel is launched with \p Dims on \p Stream.
struct LaunchConfig {
  explicit LaunchConfig(const Shape &Dims, CUstream Stream = nullptr);
  LaunchConfig(const LaunchConfig &) = delete;
  CUlaunchConfig Values = {};

private:
  CUlaunchAttribute Attributes[2] = {};
};

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_DRIVER_H
