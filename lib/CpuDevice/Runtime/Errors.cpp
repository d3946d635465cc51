//===- Errors.cpp - Errors of the CUDA run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include <cstdio>
#include <set>

using namespace cupilot;

/// The last error belongs to the host thread, a fault to the process.
static thread_local cudaError_t LastError = cudaSuccess;

cudaError_t cupilot::checked(cudaError_t Error) {
  if (cudaError_t Sticky = Device::get().sticky(); Sticky != cudaSuccess)
    Error = Sticky;
  // An answer to a question, not an error (CUDA Runtime API, cudaEventQuery).
  if (Error != cudaSuccess && Error != cudaErrorNotReady)
    LastError = Error;
  return Error;
}

cudaError_t cupilot::unsupported(const char *Function) {
  static std::mutex Mutex;
  static std::set<std::string> Said;
  {
    std::lock_guard Lock(Mutex);
    if (Said.insert(Function).second)
      std::fprintf(stderr,
                   "cupilot: error: the cpu device does not provide %s\n",
                   Function);
  }
  return checked(cudaErrorNotSupported);
}

cudaError_t cupilot::synchronized() {
  Device::get().flushOutput();
  return checked();
}

/// Names and texts are those of the CUDA Runtime API.
static constexpr struct {
  cudaError_t Error;
  const char *Name, *Text;
} Errors[] = {
#define CUPILOT_ERROR(NAME, TEXT) {NAME, #NAME, TEXT}
    CUPILOT_ERROR(cudaSuccess, "no error"),
    CUPILOT_ERROR(cudaErrorInvalidValue, "invalid argument"),
    CUPILOT_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    CUPILOT_ERROR(cudaErrorInitializationError, "initialization error"),
    CUPILOT_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    CUPILOT_ERROR(cudaErrorProfilerDisabled,
                  "profiler disabled while using external profiling tool"),
    CUPILOT_ERROR(cudaErrorProfilerNotInitialized,
                  "profiler not initialized: call cudaProfilerInitialize()"),
    CUPILOT_ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    CUPILOT_ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    CUPILOT_ERROR(cudaErrorInvalidConfiguration,
                  "invalid configuration argument"),
    CUPILOT_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    CUPILOT_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    CUPILOT_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    CUPILOT_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    CUPILOT_ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    CUPILOT_ERROR(cudaErrorInvalidTextureBinding,
                  "texture is not bound to a pointer"),
    CUPILOT_ERROR(cudaErrorInvalidChannelDescriptor,
                  "invalid channel descriptor"),
    CUPILOT_ERROR(cudaErrorInvalidMemcpyDirection,
                  "invalid copy direction for memcpy"),
    CUPILOT_ERROR(cudaErrorAddressOfConstant,
                  "cannot fetch the address of a constant variable"),
    CUPILOT_ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed"),
    CUPILOT_ERROR(cudaErrorTextureNotBound,
                  "cannot fetch from a texture that is not bound"),
    CUPILOT_ERROR(cudaErrorSynchronizationError,
                  "incorrect use of __syncthreads()"),
    CUPILOT_ERROR(cudaErrorInvalidFilterSetting,
                  "linear filtering not supported for non-float type"),
    CUPILOT_ERROR(
        cudaErrorInvalidNormSetting,
        "read as normalized float not supported for 32-bit non float type"),
    CUPILOT_ERROR(
        cudaErrorMixedDeviceExecution,
        "device emulation mode and device execution mode cannot be mixed"),
    CUPILOT_ERROR(cudaErrorNotYetImplemented, "feature not yet implemented"),
    CUPILOT_ERROR(cudaErrorMemoryValueTooLarge,
                  "memory size or pointer value too large to fit in 32 bit"),
    CUPILOT_ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    CUPILOT_ERROR(
        cudaErrorInsufficientDriver,
        "CUDA driver version is insufficient for CUDA runtime version"),
    CUPILOT_ERROR(cudaErrorCallRequiresNewerDriver,
                  "API call is not supported in the installed CUDA driver"),
    CUPILOT_ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    CUPILOT_ERROR(cudaErrorDuplicateVariableName,
                  "duplicate global variable looked up by string name"),
    CUPILOT_ERROR(cudaErrorDuplicateTextureName,
                  "duplicate texture looked up by string name"),
    CUPILOT_ERROR(cudaErrorDuplicateSurfaceName,
                  "duplicate surface looked up by string name"),
    CUPILOT_ERROR(cudaErrorDevicesUnavailable,
                  "CUDA-capable device(s) is/are busy or unavailable"),
    CUPILOT_ERROR(cudaErrorIncompatibleDriverContext,
                  "incompatible driver context"),
    CUPILOT_ERROR(cudaErrorMissingConfiguration,
                  "__global__ function call is not configured"),
    CUPILOT_ERROR(cudaErrorPriorLaunchFailure,
                  "unspecified launch failure in prior launch"),
    CUPILOT_ERROR(cudaErrorLaunchMaxDepthExceeded,
                  "launch would exceed maximum depth of nested launches"),
    CUPILOT_ERROR(cudaErrorLaunchFileScopedTex,
                  "launch failed because kernel uses unsupported, file-scoped "
                  "textures (texture objects are supported)"),
    CUPILOT_ERROR(cudaErrorLaunchFileScopedSurf,
                  "launch failed because kernel uses unsupported, file-scoped "
                  "surfaces (surface objects are supported)"),
    CUPILOT_ERROR(cudaErrorSyncDepthExceeded,
                  "cudaDeviceSynchronize failed because caller's grid depth "
                  "exceeds cudaLimitDevRuntimeSyncDepth"),
    CUPILOT_ERROR(cudaErrorLaunchPendingCountExceeded,
                  "launch failed because launch would exceed "
                  "cudaLimitDevRuntimePendingLaunchCount"),
    CUPILOT_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    CUPILOT_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    CUPILOT_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    CUPILOT_ERROR(cudaErrorDeviceNotLicensed,
                  "device doesn't have valid Grid license"),
    CUPILOT_ERROR(cudaErrorSoftwareValidityNotEstablished,
                  "integrity checks failed"),
    CUPILOT_ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
    CUPILOT_ERROR(cudaErrorInvalidKernelImage,
                  "device kernel image is invalid"),
    CUPILOT_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    CUPILOT_ERROR(cudaErrorMapBufferObjectFailed,
                  "mapping of buffer object failed"),
    CUPILOT_ERROR(cudaErrorUnmapBufferObjectFailed,
                  "unmapping of buffer object failed"),
    CUPILOT_ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    CUPILOT_ERROR(cudaErrorAlreadyMapped, "resource already mapped"),
    CUPILOT_ERROR(cudaErrorNoKernelImageForDevice,
                  "no kernel image is available for execution on the device"),
    CUPILOT_ERROR(cudaErrorAlreadyAcquired, "resource already acquired"),
    CUPILOT_ERROR(cudaErrorNotMapped, "resource not mapped"),
    CUPILOT_ERROR(cudaErrorNotMappedAsArray, "resource not mapped as array"),
    CUPILOT_ERROR(cudaErrorNotMappedAsPointer,
                  "resource not mapped as pointer"),
    CUPILOT_ERROR(cudaErrorECCUncorrectable,
                  "uncorrectable ECC error encountered"),
    CUPILOT_ERROR(cudaErrorUnsupportedLimit,
                  "limit is not supported on this architecture"),
    CUPILOT_ERROR(
        cudaErrorDeviceAlreadyInUse,
        "exclusive-thread device already in use by a different thread"),
    CUPILOT_ERROR(cudaErrorPeerAccessUnsupported,
                  "peer access is not supported between these two devices"),
    CUPILOT_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    CUPILOT_ERROR(cudaErrorInvalidGraphicsContext,
                  "invalid OpenGL or DirectX context"),
    CUPILOT_ERROR(cudaErrorNvlinkUncorrectable,
                  "uncorrectable NVLink error detected during the execution"),
    CUPILOT_ERROR(cudaErrorJitCompilerNotFound,
                  "PTX JIT compiler library not found"),
    CUPILOT_ERROR(
        cudaErrorUnsupportedPtxVersion,
        "the provided PTX was compiled with an unsupported toolchain."),
    CUPILOT_ERROR(cudaErrorJitCompilationDisabled,
                  "PTX JIT compilation was disabled"),
    CUPILOT_ERROR(cudaErrorUnsupportedExecAffinity,
                  "the provided execution affinity is not supported"),
    CUPILOT_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    CUPILOT_ERROR(cudaErrorFileNotFound, "file not found"),
    CUPILOT_ERROR(cudaErrorSharedObjectSymbolNotFound,
                  "shared object symbol not found"),
    CUPILOT_ERROR(cudaErrorSharedObjectInitFailed,
                  "shared object initialization failed"),
    CUPILOT_ERROR(cudaErrorOperatingSystem,
                  "OS call failed or operation not supported on this OS"),
    CUPILOT_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    CUPILOT_ERROR(cudaErrorIllegalState,
                  "the operation cannot be performed in the present state"),
    CUPILOT_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    CUPILOT_ERROR(cudaErrorNotReady, "device not ready"),
    CUPILOT_ERROR(cudaErrorIllegalAddress,
                  "an illegal memory access was encountered"),
    CUPILOT_ERROR(cudaErrorLaunchOutOfResources,
                  "too many resources requested for launch"),
    CUPILOT_ERROR(cudaErrorLaunchTimeout,
                  "the launch timed out and was terminated"),
    CUPILOT_ERROR(cudaErrorLaunchIncompatibleTexturing,
                  "launch uses incompatible texturing mode"),
    CUPILOT_ERROR(cudaErrorPeerAccessAlreadyEnabled,
                  "peer access is already enabled"),
    CUPILOT_ERROR(cudaErrorPeerAccessNotEnabled,
                  "peer access has not been enabled"),
    CUPILOT_ERROR(cudaErrorSetOnActiveProcess,
                  "cannot set while device is active in this process"),
    CUPILOT_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    CUPILOT_ERROR(cudaErrorAssert, "device-side assert triggered"),
    CUPILOT_ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    CUPILOT_ERROR(
        cudaErrorHostMemoryAlreadyRegistered,
        "part or all of the requested memory range is already mapped"),
    CUPILOT_ERROR(cudaErrorHostMemoryNotRegistered,
                  "pointer does not correspond to a registered memory region"),
    CUPILOT_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    CUPILOT_ERROR(cudaErrorIllegalInstruction,
                  "an illegal instruction was encountered"),
    CUPILOT_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    CUPILOT_ERROR(cudaErrorInvalidAddressSpace,
                  "operation not supported on global/shared address space"),
    CUPILOT_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    CUPILOT_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    CUPILOT_ERROR(cudaErrorCooperativeLaunchTooLarge,
                  "too many blocks in cooperative launch"),
    CUPILOT_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    CUPILOT_ERROR(cudaErrorNotSupported, "operation not supported"),
    CUPILOT_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    CUPILOT_ERROR(
        cudaErrorSystemDriverMismatch,
        "system has unsupported display driver / cuda driver combination"),
    CUPILOT_ERROR(cudaErrorCompatNotSupportedOnDevice,
                  "forward compatibility was attempted on non supported HW"),
    CUPILOT_ERROR(cudaErrorStreamCaptureUnsupported,
                  "operation not permitted when stream is capturing"),
    CUPILOT_ERROR(cudaErrorStreamCaptureInvalidated,
                  "operation failed due to a previous error during capture"),
    CUPILOT_ERROR(
        cudaErrorStreamCaptureMerge,
        "operation would result in a merge of separate capture sequences"),
    CUPILOT_ERROR(cudaErrorStreamCaptureUnmatched,
                  "capture was not ended in the same stream as it began"),
    CUPILOT_ERROR(cudaErrorStreamCaptureUnjoined,
                  "capturing stream has unjoined work"),
    CUPILOT_ERROR(cudaErrorStreamCaptureIsolation,
                  "dependency created on uncaptured work in another stream"),
    CUPILOT_ERROR(cudaErrorStreamCaptureImplicit,
                  "operation would make the legacy stream depend on a "
                  "capturing blocking stream"),
    CUPILOT_ERROR(cudaErrorCapturedEvent,
                  "operation not permitted on an event last recorded in a "
                  "capturing stream"),
    CUPILOT_ERROR(cudaErrorStreamCaptureWrongThread,
                  "attempt to terminate a thread-local capture sequence from "
                  "another thread"),
    CUPILOT_ERROR(cudaErrorTimeout, "wait operation timed out"),
    CUPILOT_ERROR(
        cudaErrorGraphExecUpdateFailure,
        "the graph update was not performed because it included changes which "
        "violated constraints specific to instantiated graph update"),
    CUPILOT_ERROR(
        cudaErrorExternalDevice,
        "an async error has occured in external entity outside of CUDA"),
    CUPILOT_ERROR(
        cudaErrorInvalidClusterSize,
        "a kernel launch error has occurred due to cluster misconfiguration"),
    CUPILOT_ERROR(cudaErrorUnknown, "unknown error"),
// Not in the headers of all versions.
#define CUPILOT_LATER_ERROR(CODE, NAME, TEXT)                                  \
  {static_cast<cudaError_t>(CODE), #NAME, TEXT}
    CUPILOT_LATER_ERROR(
        225, cudaErrorUnsupportedDevSideSync,
        "cudaDeviceSynchronize in device code is not supported"),
    CUPILOT_LATER_ERROR(226, cudaErrorContained, "contained device exception"),
    CUPILOT_LATER_ERROR(402, cudaErrorLossyQuery,
                        "the answer would lose information"),
    CUPILOT_LATER_ERROR(721, cudaErrorTensorMemoryLeak,
                        "tensor memory was not released when the kernel ended"),
    CUPILOT_LATER_ERROR(805, cudaErrorMpsConnectionFailed,
                        "cannot connect to the MPS control daemon or server"),
    CUPILOT_LATER_ERROR(
        806, cudaErrorMpsRpcFailure,
        "a remote call between the MPS server and client failed"),
    CUPILOT_LATER_ERROR(807, cudaErrorMpsServerNotReady,
                        "the MPS server takes no new clients now"),
    CUPILOT_LATER_ERROR(808, cudaErrorMpsMaxClientsReached,
                        "all clients of the MPS server are in use"),
    CUPILOT_LATER_ERROR(
        809, cudaErrorMpsMaxConnectionsReached,
        "all hardware connections of the MPS server are in use"),
    CUPILOT_LATER_ERROR(810, cudaErrorMpsClientTerminated,
                        "the MPS server ended this client"),
    CUPILOT_LATER_ERROR(811, cudaErrorCdpNotSupported,
                        "CUDA dynamic parallelism is not supported"),
    CUPILOT_LATER_ERROR(812, cudaErrorCdpVersionMismatch,
                        "versions of CUDA dynamic parallelism differ"),
    CUPILOT_LATER_ERROR(913, cudaErrorFunctionNotLoaded,
                        "the function has not been loaded"),
    CUPILOT_LATER_ERROR(914, cudaErrorInvalidResourceType,
                        "invalid resource type"),
    CUPILOT_LATER_ERROR(915, cudaErrorInvalidResourceConfiguration,
                        "invalid resource configuration"),
#undef CUPILOT_LATER_ERROR
#undef CUPILOT_ERROR
};

// A fault is told by the calls after it, and by these as one of theirs: the
// launch itself succeeded (seen on an H200 with CUDA 13.0).
CUPILOT_API cudaError_t cudaGetLastError() {
  cudaError_t Error = LastError;
  LastError = cudaSuccess;
  return Error;
}

CUPILOT_API cudaError_t cudaPeekAtLastError() { return LastError; }

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
