//===- Api.cpp - The CUDA run time's functions -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and meanings are those of the CUDA Runtime API reference. Streams run
// in order and at once; what is missing here is a link error in the program.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <chrono>
#include <cstring>

using namespace cupilot;

#define CUPILOT_API __attribute__((visibility("default")))

struct CUevent_st {
  std::chrono::steady_clock::time_point Time;
};
struct CUstream_st {
  int Unused;
};

/// Calls after a fault of device code report it, as on a GPU.
static cudaError_t checked(cudaError_t Error = cudaSuccess) {
  Device &D = Device::get();
  return D.fail(D.Sticky != cudaSuccess ? D.Sticky : Error);
}

extern "C" {

// Memory.
CUPILOT_API cudaError_t cudaMalloc(void **Pointer, size_t Size) {
  std::lock_guard Lock(Device::get().Mutex);
  return checked(Device::get().allocate(Pointer, Size));
}
CUPILOT_API cudaError_t cudaMallocAsync(void **Pointer, size_t Size,
                                        cudaStream_t) {
  return cudaMalloc(Pointer, Size);
}
CUPILOT_API cudaError_t cudaMallocManaged(void **Pointer, size_t Size,
                                          unsigned) {
  return cudaMalloc(Pointer, Size);
}
CUPILOT_API cudaError_t cudaMallocHost(void **Pointer, size_t Size) {
  std::lock_guard Lock(Device::get().Mutex);
  return checked(Device::get().allocate(Pointer, Size, /*Host=*/true));
}
CUPILOT_API cudaError_t cudaHostAlloc(void **Pointer, size_t Size, unsigned) {
  return cudaMallocHost(Pointer, Size);
}
CUPILOT_API cudaError_t cudaMallocPitch(void **Pointer, size_t *Pitch,
                                        size_t Width, size_t Height) {
  *Pitch = (Width + 511) / 512 * 512;
  return cudaMalloc(Pointer, *Pitch * Height);
}
CUPILOT_API cudaError_t cudaFree(void *Pointer) {
  std::lock_guard Lock(Device::get().Mutex);
  return checked(Device::get().release(Pointer));
}
CUPILOT_API cudaError_t cudaFreeAsync(void *Pointer, cudaStream_t) {
  return cudaFree(Pointer);
}
CUPILOT_API cudaError_t cudaFreeHost(void *Pointer) {
  std::lock_guard Lock(Device::get().Mutex);
  return checked(Device::get().release(Pointer, /*Host=*/true));
}
CUPILOT_API cudaError_t cudaHostGetDevicePointer(void **Device, void *Host,
                                                 unsigned) {
  *Device = Host;
  return checked();
}
CUPILOT_API cudaError_t cudaHostRegister(void *Pointer, size_t Size, unsigned) {
  Device::get().Memory->addBuffer(Pointer, Size);
  return checked();
}
CUPILOT_API cudaError_t cudaHostUnregister(void *Pointer) {
  Device::get().Memory->removeBuffer(Pointer);
  return checked();
}

/// The device side of a copy must lie in an allocation.
static bool inside(const void *Pointer, size_t Size) {
  auto Buffer = Device::get().Memory->find(Pointer);
  return Buffer && static_cast<const char *>(Pointer) + Size <=
                       static_cast<const char *>(Buffer->Base) + Buffer->Size;
}

CUPILOT_API cudaError_t cudaMemcpy(void *To, const void *From, size_t Size,
                                   cudaMemcpyKind Kind) {
  std::lock_guard Lock(Device::get().Mutex);
  if (Size == 0)
    return checked();
  bool ToDevice =
      Kind == cudaMemcpyHostToDevice || Kind == cudaMemcpyDeviceToDevice;
  bool FromDevice =
      Kind == cudaMemcpyDeviceToHost || Kind == cudaMemcpyDeviceToDevice;
  if (!To || !From || (ToDevice && !inside(To, Size)) ||
      (FromDevice && !inside(From, Size)))
    return checked(cudaErrorInvalidValue);
  std::memmove(To, From, Size);
  return checked();
}
CUPILOT_API cudaError_t cudaMemcpyAsync(void *To, const void *From, size_t Size,
                                        cudaMemcpyKind Kind, cudaStream_t) {
  return cudaMemcpy(To, From, Size, Kind);
}
CUPILOT_API cudaError_t cudaMemcpy2D(void *To, size_t ToPitch, const void *From,
                                     size_t FromPitch, size_t Width,
                                     size_t Height, cudaMemcpyKind Kind) {
  for (size_t Row = 0; Row < Height; ++Row)
    if (cudaError_t E = cudaMemcpy(
            static_cast<char *>(To) + Row * ToPitch,
            static_cast<const char *>(From) + Row * FromPitch, Width, Kind))
      return E;
  return checked();
}
CUPILOT_API cudaError_t cudaMemcpy2DAsync(void *To, size_t ToPitch,
                                          const void *From, size_t FromPitch,
                                          size_t Width, size_t Height,
                                          cudaMemcpyKind Kind, cudaStream_t) {
  return cudaMemcpy2D(To, ToPitch, From, FromPitch, Width, Height, Kind);
}
CUPILOT_API cudaError_t cudaMemset(void *To, int Value, size_t Size) {
  std::lock_guard Lock(Device::get().Mutex);
  if (Size > 0 && !inside(To, Size))
    return checked(cudaErrorInvalidValue);
  std::memset(To, Value, Size);
  return checked();
}
CUPILOT_API cudaError_t cudaMemsetAsync(void *To, int Value, size_t Size,
                                        cudaStream_t) {
  return cudaMemset(To, Value, Size);
}
CUPILOT_API cudaError_t cudaMemset2D(void *To, size_t Pitch, int Value,
                                     size_t Width, size_t Height) {
  for (size_t Row = 0; Row < Height; ++Row)
    if (cudaError_t E =
            cudaMemset(static_cast<char *>(To) + Row * Pitch, Value, Width))
      return E;
  return checked();
}
CUPILOT_API cudaError_t cudaMemGetInfo(size_t *Free, size_t *Total) {
  *Total = size_t(141) << 30;
  *Free = *Total;
  for (auto [Base, Size] : Device::get().allocations())
    *Free -= Size;
  return checked();
}

// Symbols.
CUPILOT_API cudaError_t cudaGetSymbolAddress(void **Address,
                                             const void *Symbol) {
  return checked(Device::get().variable(Symbol, Address, nullptr));
}
CUPILOT_API cudaError_t cudaGetSymbolSize(size_t *Size, const void *Symbol) {
  return checked(Device::get().variable(Symbol, nullptr, Size));
}
CUPILOT_API cudaError_t cudaMemcpyToSymbol(const void *Symbol, const void *From,
                                           size_t Size, size_t Offset,
                                           cudaMemcpyKind) {
  void *Address = nullptr;
  size_t Length = 0;
  if (cudaError_t E = Device::get().variable(Symbol, &Address, &Length))
    return E;
  if (Offset + Size > Length)
    return checked(cudaErrorInvalidValue);
  std::memmove(static_cast<char *>(Address) + Offset, From, Size);
  return checked();
}
CUPILOT_API cudaError_t cudaMemcpyToSymbolAsync(const void *Symbol,
                                                const void *From, size_t Size,
                                                size_t Offset, cudaMemcpyKind K,
                                                cudaStream_t) {
  return cudaMemcpyToSymbol(Symbol, From, Size, Offset, K);
}
CUPILOT_API cudaError_t cudaMemcpyFromSymbol(void *To, const void *Symbol,
                                             size_t Size, size_t Offset,
                                             cudaMemcpyKind) {
  void *Address = nullptr;
  size_t Length = 0;
  if (cudaError_t E = Device::get().variable(Symbol, &Address, &Length))
    return E;
  if (Offset + Size > Length)
    return checked(cudaErrorInvalidValue);
  std::memmove(To, static_cast<char *>(Address) + Offset, Size);
  return checked();
}
CUPILOT_API cudaError_t cudaMemcpyFromSymbolAsync(void *To, const void *Symbol,
                                                  size_t Size, size_t Offset,
                                                  cudaMemcpyKind K,
                                                  cudaStream_t) {
  return cudaMemcpyFromSymbol(To, Symbol, Size, Offset, K);
}

// Streams and events.
CUPILOT_API cudaError_t cudaStreamCreate(cudaStream_t *Stream) {
  *Stream = new CUstream_st{0};
  return checked();
}
CUPILOT_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *Stream,
                                                  unsigned) {
  return cudaStreamCreate(Stream);
}
CUPILOT_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *Stream,
                                                     unsigned, int) {
  return cudaStreamCreate(Stream);
}
CUPILOT_API cudaError_t cudaStreamDestroy(cudaStream_t Stream) {
  delete Stream;
  return checked();
}
CUPILOT_API cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return checked();
}
CUPILOT_API cudaError_t cudaStreamQuery(cudaStream_t) { return checked(); }
CUPILOT_API cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t,
                                            unsigned) {
  return checked();
}
CUPILOT_API cudaError_t cudaStreamIsCapturing(cudaStream_t,
                                              cudaStreamCaptureStatus *Status) {
  *Status = cudaStreamCaptureStatusNone;
  return checked();
}
CUPILOT_API cudaError_t cudaStreamIsCapturing_ptsz(
    cudaStream_t Stream, cudaStreamCaptureStatus *Status) {
  return cudaStreamIsCapturing(Stream, Status);
}
CUPILOT_API cudaError_t cudaEventCreate(cudaEvent_t *Event) {
  *Event = new CUevent_st{};
  return checked();
}
CUPILOT_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *Event, unsigned) {
  return cudaEventCreate(Event);
}
CUPILOT_API cudaError_t cudaEventDestroy(cudaEvent_t Event) {
  delete Event;
  return checked();
}
CUPILOT_API cudaError_t cudaEventRecord(cudaEvent_t Event, cudaStream_t) {
  Event->Time = std::chrono::steady_clock::now();
  return checked();
}
CUPILOT_API cudaError_t cudaEventSynchronize(cudaEvent_t) { return checked(); }
CUPILOT_API cudaError_t cudaEventQuery(cudaEvent_t) { return checked(); }
CUPILOT_API cudaError_t cudaEventElapsedTime(float *Milliseconds,
                                             cudaEvent_t From, cudaEvent_t To) {
  *Milliseconds =
      std::chrono::duration<float, std::milli>(To->Time - From->Time).count();
  return checked();
}

// The device.
CUPILOT_API cudaError_t cudaDeviceSynchronize() { return checked(); }
CUPILOT_API cudaError_t cudaDeviceReset() { return checked(); }
CUPILOT_API cudaError_t cudaGetDeviceCount(int *Count) {
  *Count = 1;
  return checked();
}
CUPILOT_API cudaError_t cudaGetDevice(int *Id) {
  *Id = 0;
  return checked();
}
CUPILOT_API cudaError_t cudaSetDevice(int Id) {
  return checked(Id == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
CUPILOT_API cudaError_t cudaSetDeviceFlags(unsigned) { return checked(); }
CUPILOT_API cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) {
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return checked();
}
CUPILOT_API cudaError_t cudaRuntimeGetVersion(int *Version) {
  *Version = CUDART_VERSION;
  return checked();
}
CUPILOT_API cudaError_t cudaDriverGetVersion(int *Version) {
  return cudaRuntimeGetVersion(Version);
}
CUPILOT_API cudaError_t cudaPointerGetAttributes(
    cudaPointerAttributes *Attributes, const void *Pointer) {
  std::memset(Attributes, 0, sizeof(*Attributes));
  bool Known = Device::get().Memory->find(Pointer).has_value();
  Attributes->type = Known ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  Attributes->devicePointer = Known ? const_cast<void *>(Pointer) : nullptr;
  return checked();
}

// Functions.
CUPILOT_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *Attributes,
                                              const void *Function) {
  Device &D = Device::get();
  std::lock_guard Lock(D.Mutex);
  auto It = D.Functions.find(Function);
  if (It == D.Functions.end())
    return checked(cudaErrorInvalidDeviceFunction);
  CpuModule *Module = D.load(*It->second.Module);
  if (!Module)
    return checked(cudaErrorNoKernelImageForDevice);
  std::memset(Attributes, 0, sizeof(*Attributes));
  unsigned Arch = Module->arch();
  Attributes->binaryVersion = static_cast<int>(Arch);
  Attributes->ptxVersion = static_cast<int>(Arch);
  Attributes->maxThreadsPerBlock = 1024;
  Attributes->maxDynamicSharedSizeBytes = 227 * 1024;
  return checked();
}
CUPILOT_API cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute,
                                             int) {
  return checked();
}
CUPILOT_API cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) {
  return checked();
}
CUPILOT_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *Blocks, const void *, int Threads, size_t Shared) {
  int ByThreads = Threads > 0 ? 2048 / Threads : 0;
  int ByShared =
      Shared > 0 ? static_cast<int>(228 * 1024 / (Shared + 1024)) : 32;
  *Blocks = std::min({ByThreads, ByShared, 32});
  return checked();
}
CUPILOT_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *Blocks, const void *F, int Threads, size_t Shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(Blocks, F, Threads,
                                                       Shared);
}

// Errors.
CUPILOT_API cudaError_t cudaGetLastError() {
  Device &D = Device::get();
  cudaError_t Error = D.Sticky != cudaSuccess ? D.Sticky : D.Last;
  D.Last = cudaSuccess;
  return Error;
}
CUPILOT_API cudaError_t cudaPeekAtLastError() {
  Device &D = Device::get();
  return D.Sticky != cudaSuccess ? D.Sticky : D.Last;
}
static const struct {
  cudaError_t Error;
  const char *Name, *Text;
} Errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice",
     "invalid device ordinal"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
     "invalid device function"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorNoDevice, "cudaErrorNoDevice",
     "no CUDA-capable device is detected"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
     "invalid resource handle"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure",
     "unspecified launch failure"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
    {cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration",
     "__global__ function call is not configured"},
};
CUPILOT_API const char *cudaGetErrorName(cudaError_t Error) {
  for (const auto &E : Errors)
    if (E.Error == Error)
      return E.Name;
  return "unrecognized error code";
}
CUPILOT_API const char *cudaGetErrorString(cudaError_t Error) {
  for (const auto &E : Errors)
    if (E.Error == Error)
      return E.Text;
  return "unrecognized error code";
}
CUPILOT_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
CUPILOT_API cudaError_t cudaProfilerStop() { return cudaSuccess; }

} // extern "C"
