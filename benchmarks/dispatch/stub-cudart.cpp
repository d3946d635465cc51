//===- stub-cudart.cpp - A run time that returns at once -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the dispatch calls of the CUDA run time, doing nothing: what is left is
// the dispatch's own time. Answers are those of one GPU, sm_90.
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <cuda.h>
#include <cuda_runtime_api.h>

extern "C" {
void **__cudaRegisterFatBinary(void *Wrapper) {
  return static_cast<void **>(Wrapper);
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 1; }
int __cudaRegisterFunction(void **, const void *, char *, const char *, int,
                           void *, void *, void *, void *, int *) {
  return 0;
}
static dim3 Grid, Block;
unsigned __cudaPushCallConfiguration(dim3 G, dim3 B, size_t, void *) {
  Grid = G;
  Block = B;
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *G, dim3 *B, size_t *Shared,
                                       void *Stream) {
  *G = Grid;
  *B = Block;
  *Shared = 0;
  *static_cast<cudaStream_t *>(Stream) = nullptr;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(void **Kernel, const void *Function) {
  *Kernel = const_cast<void *>(Function);
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(const void *, dim3, dim3, void **, size_t,
                               cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t,
                             cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *,
                                void **) {
  return cudaSuccess;
}
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetDevice(int *Device) {
  *Device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *Value, cudaDeviceAttr, int) {
  *Value = 232448;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) {
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *Attributes,
                                  const void *) {
  std::memset(Attributes, 0, sizeof(*Attributes));
  Attributes->binaryVersion = Attributes->ptxVersion = 90;
  Attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *S) {
  *S = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
alignas(256) static char Memory[1 << 20];
cudaError_t cudaMalloc(void **Pointer, size_t) {
  *Pointer = Memory;
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void **Pointer, size_t, cudaStream_t) {
  *Pointer = Memory;
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void *, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *Pool, int) {
  *Pool = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr,
                                    void *Value) {
  std::memset(Value, 0, 8);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) {
  return cudaSuccess;
}
static CUresult encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                       const cuuint64_t *, const cuuint64_t *,
                       const cuuint32_t *, const cuuint32_t *,
                       CUtensorMapInterleave, CUtensorMapSwizzle,
                       CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_SUCCESS;
}
cudaError_t
cudaGetDriverEntryPointByVersion(const char *, void **Function, unsigned,
                                 unsigned long long,
                                 cudaDriverEntryPointQueryResult *Result) {
  *Function = reinterpret_cast<void *>(&encode);
  *Result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
}
