//===- DriverStreams.cpp - Streams and events of the driver API -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Runtime/Streams.h"

using namespace cupilot;

CUPILOT_DRIVER cuStreamCreate(CUstream *Stream, unsigned Flags) {
  return asDriver(cudaStreamCreateWithFlags(Stream, Flags));
}
CUPILOT_DRIVER cuStreamCreateWithPriority(CUstream *Stream, unsigned Flags,
                                          int Priority) {
  return asDriver(cudaStreamCreateWithPriority(Stream, Flags, Priority));
}
CUPILOT_DRIVER cuStreamDestroy(CUstream Stream) {
  return asDriver(cudaStreamDestroy(Stream));
}
CUPILOT_DRIVER cuStreamSynchronize(CUstream Stream) {
  return asDriver(cudaStreamSynchronize(Stream));
}
CUPILOT_DRIVER_ALIAS(cuStreamSynchronize, cuStreamSynchronize_ptsz)
CUPILOT_DRIVER cuStreamQuery(CUstream Stream) {
  return asDriver(cudaStreamQuery(Stream));
}
CUPILOT_DRIVER_ALIAS(cuStreamQuery, cuStreamQuery_ptsz)
CUPILOT_DRIVER cuStreamWaitEvent(CUstream Stream, CUevent Event,
                                 unsigned Flags) {
  return asDriver(cudaStreamWaitEvent(Stream, Event, Flags));
}
CUPILOT_DRIVER_ALIAS(cuStreamWaitEvent, cuStreamWaitEvent_ptsz)
CUPILOT_DRIVER cuStreamGetFlags(CUstream Stream, unsigned *Flags) {
  return asDriver(cudaStreamGetFlags(Stream, Flags));
}
CUPILOT_DRIVER_ALIAS(cuStreamGetFlags, cuStreamGetFlags_ptsz)
CUPILOT_DRIVER cuStreamGetPriority(CUstream Stream, int *Priority) {
  return asDriver(cudaStreamGetPriority(Stream, Priority));
}
CUPILOT_DRIVER_ALIAS(cuStreamGetPriority, cuStreamGetPriority_ptsz)
CUPILOT_DRIVER cuStreamGetCtx(CUstream, CUcontext *Context) {
  return cuCtxGetCurrent(Context);
}
CUPILOT_DRIVER_ALIAS(cuStreamGetCtx, cuStreamGetCtx_ptsz)
CUPILOT_DRIVER cuLaunchHostFunc(CUstream Stream, CUhostFn Function,
                                void *Data) {
  return asDriver(cudaLaunchHostFunc(Stream, Function, Data));
}
CUPILOT_DRIVER_ALIAS(cuLaunchHostFunc, cuLaunchHostFunc_ptsz)
CUPILOT_DRIVER cuStreamAddCallback(CUstream Stream, CUstreamCallback Function,
                                   void *Data, unsigned Flags) {
  if (!Function || Flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (cudaError_t E = refuseCapture(Stream))
    return asDriver(E);
  Function(Stream, asDriver(Device::get().sticky()), Data);
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER_ALIAS(cuStreamAddCallback, cuStreamAddCallback_ptsz)

CUPILOT_DRIVER cuEventCreate(CUevent *Event, unsigned Flags) {
  return asDriver(cudaEventCreateWithFlags(Event, Flags));
}
CUPILOT_DRIVER cuEventDestroy(CUevent Event) {
  return asDriver(cudaEventDestroy(Event));
}
CUPILOT_DRIVER cuEventRecord(CUevent Event, CUstream Stream) {
  return asDriver(cudaEventRecord(Event, Stream));
}
CUPILOT_DRIVER_ALIAS(cuEventRecord, cuEventRecord_ptsz)
CUPILOT_DRIVER cuEventRecordWithFlags(CUevent Event, CUstream Stream,
                                      unsigned Flags) {
  return asDriver(cudaEventRecordWithFlags(Event, Stream, Flags));
}
CUPILOT_DRIVER_ALIAS(cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz)
CUPILOT_DRIVER cuEventSynchronize(CUevent Event) {
  return asDriver(cudaEventSynchronize(Event));
}
CUPILOT_DRIVER cuEventQuery(CUevent Event) {
  return asDriver(cudaEventQuery(Event));
}
CUPILOT_DRIVER cuEventElapsedTime(float *Milliseconds, CUevent From,
                                  CUevent To) {
  return asDriver(cudaEventElapsedTime(Milliseconds, From, To));
}
#if CUDA_VERSION >= 12080 // Where the name above is that of version 2.
CUPILOT_DRIVER_ALIAS(cuEventElapsedTime, cuEventElapsedTime)
#endif
