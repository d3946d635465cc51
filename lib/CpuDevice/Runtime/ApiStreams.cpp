//===- ApiStreams.cpp - Streams, events, callbacks -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Streams.h"

using namespace cupilot;

CUPILOT_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *Stream,
                                                     unsigned Flags,
                                                     int Priority) {
  if (!Stream || Flags > cudaStreamNonBlocking)
    return checked(cudaErrorInvalidValue);
  if (cudaError_t E = checked())
    return E;
  *Stream = makeStream(Flags, Priority);
  return checked();
}
CUPILOT_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *Stream,
                                                  unsigned Flags) {
  return cudaStreamCreateWithPriority(Stream, Flags, 0);
}
CUPILOT_API cudaError_t cudaStreamCreate(cudaStream_t *Stream) {
  return cudaStreamCreateWithPriority(Stream, cudaStreamDefault, 0);
}
CUPILOT_API cudaError_t cudaStreamDestroy(cudaStream_t Stream) {
  return checked(destroyStream(Stream) ? cudaSuccess
                                       : cudaErrorInvalidResourceHandle);
}
CUPILOT_API cudaError_t cudaStreamSynchronize(cudaStream_t Stream) {
  Device::get().flushOutput();
  return checked(refuseCapture(Stream));
}
CUPILOT_PTSZ(cudaStreamSynchronize)
CUPILOT_API cudaError_t cudaStreamQuery(cudaStream_t Stream) {
  return checked(refuseCapture(Stream));
}
CUPILOT_PTSZ(cudaStreamQuery)
CUPILOT_API cudaError_t cudaStreamWaitEvent(cudaStream_t Stream,
                                            cudaEvent_t Event, unsigned) {
  if (!isEvent(Event))
    return checked(cudaErrorInvalidResourceHandle);
  return checked(submit(Stream, EventWork{Event, /*Record=*/false}));
}
CUPILOT_PTSZ(cudaStreamWaitEvent)
CUPILOT_API cudaError_t cudaStreamGetFlags(cudaStream_t Stream,
                                           unsigned *Flags) {
  CUstream_st *S = streamOf(Stream);
  if (!S || !Flags)
    return checked(S ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *Flags = S->Flags;
  return checked();
}
CUPILOT_PTSZ(cudaStreamGetFlags)
CUPILOT_API cudaError_t cudaStreamGetPriority(cudaStream_t Stream,
                                              int *Priority) {
  CUstream_st *S = streamOf(Stream);
  if (!S || !Priority)
    return checked(S ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *Priority = S->Priority;
  return checked();
}
CUPILOT_PTSZ(cudaStreamGetPriority)
#if CUDART_VERSION >= 12000
CUPILOT_API cudaError_t cudaStreamGetId(cudaStream_t Stream,
                                        unsigned long long *Id) {
  CUstream_st *S = streamOf(Stream);
  if (!S || !Id)
    return checked(S ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *Id = S->Id;
  return checked();
}
CUPILOT_PTSZ(cudaStreamGetId)
#endif
#if CUDART_VERSION >= 12080
CUPILOT_API cudaError_t cudaStreamGetDevice(cudaStream_t Stream, int *Id) {
  CUstream_st *S = streamOf(Stream);
  if (!S || !Id)
    return checked(S ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *Id = 0;
  return checked();
}
CUPILOT_PTSZ(cudaStreamGetDevice)
#endif
CUPILOT_API cudaError_t cudaDeviceGetStreamPriorityRange(int *Least,
                                                         int *Greatest) {
  if (Least)
    *Least = 0;
  if (Greatest)
    *Greatest = -5;
  return checked();
}
// Windows of the L2 cache and the like: hints.
CUPILOT_IGNORE(cudaStreamSetAttribute)
CUPILOT_IGNORE(cudaStreamSetAttribute_ptsz)
CUPILOT_IGNORE(cudaStreamCopyAttributes)
CUPILOT_IGNORE(cudaStreamCopyAttributes_ptsz)
CUPILOT_REFUSE(cudaStreamGetAttribute)
CUPILOT_REFUSE(cudaStreamGetAttribute_ptsz)

// Callbacks run where they are queued: all before them is done.
CUPILOT_API cudaError_t cudaLaunchHostFunc(cudaStream_t Stream,
                                           cudaHostFn_t Function, void *Data) {
  if (!Function)
    return checked(cudaErrorInvalidValue);
  return checked(submit(Stream, HostWork{Function, Data}));
}
CUPILOT_PTSZ(cudaLaunchHostFunc)
CUPILOT_API cudaError_t cudaStreamAddCallback(cudaStream_t Stream,
                                              cudaStreamCallback_t Function,
                                              void *Data, unsigned Flags) {
  if (!Function || Flags != 0)
    return checked(cudaErrorInvalidValue);
  if (cudaError_t E = refuseCapture(Stream))
    return checked(E);
  // Other than a host function, it is told of errors and called nevertheless.
  Function(Stream, Device::get().sticky(), Data);
  return checked();
}
CUPILOT_PTSZ(cudaStreamAddCallback)

// Events.
CUPILOT_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *Event,
                                                 unsigned Flags) {
  if (!Event || Flags > (cudaEventBlockingSync | cudaEventDisableTiming |
                         cudaEventInterprocess))
    return checked(cudaErrorInvalidValue);
  if (Flags & cudaEventInterprocess)
    return unsupported("events shared between processes");
  if (cudaError_t E = checked())
    return E;
  *Event = makeEvent((Flags & cudaEventDisableTiming) == 0);
  return checked();
}
CUPILOT_API cudaError_t cudaEventCreate(cudaEvent_t *Event) {
  return cudaEventCreateWithFlags(Event, cudaEventDefault);
}
CUPILOT_API cudaError_t cudaEventDestroy(cudaEvent_t Event) {
  return checked(destroyEvent(Event) ? cudaSuccess
                                     : cudaErrorInvalidResourceHandle);
}
CUPILOT_API cudaError_t cudaEventRecord(cudaEvent_t Event,
                                        cudaStream_t Stream) {
  if (!isEvent(Event))
    return checked(cudaErrorInvalidResourceHandle);
  return checked(submit(Stream, EventWork{Event, /*Record=*/true}));
}
CUPILOT_PTSZ(cudaEventRecord)
CUPILOT_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t Event,
                                                 cudaStream_t Stream,
                                                 unsigned) {
  return cudaEventRecord(Event, Stream);
}
CUPILOT_PTSZ(cudaEventRecordWithFlags)
CUPILOT_API cudaError_t cudaEventSynchronize(cudaEvent_t Event) {
  Device::get().flushOutput();
  if (!isEvent(Event))
    return checked(cudaErrorInvalidResourceHandle);
  return checked(Event->Graph ? cudaErrorCapturedEvent : cudaSuccess);
}
CUPILOT_API cudaError_t cudaEventQuery(cudaEvent_t Event) {
  if (!isEvent(Event))
    return checked(cudaErrorInvalidResourceHandle);
  return checked(Event->Graph ? cudaErrorCapturedEvent : cudaSuccess);
}
static cudaError_t elapsed(float *Milliseconds, cudaEvent_t From,
                           cudaEvent_t To) {
  if (!isEvent(From) || !isEvent(To))
    return cudaErrorInvalidResourceHandle;
  if (!Milliseconds)
    return cudaErrorInvalidValue;
  if (!From->Timing || !To->Timing || !From->Recorded || !To->Recorded)
    return cudaErrorInvalidResourceHandle;
  *Milliseconds =
      std::chrono::duration<float, std::milli>(To->Time - From->Time).count();
  return cudaSuccess;
}
CUPILOT_API cudaError_t cudaEventElapsedTime(float *Milliseconds,
                                             cudaEvent_t From, cudaEvent_t To) {
  return checked(elapsed(Milliseconds, From, To));
}
CUPILOT_SYMBOL(cudaProfilerStart, cudaSuccess)
CUPILOT_SYMBOL(cudaProfilerStop, cudaSuccess)
