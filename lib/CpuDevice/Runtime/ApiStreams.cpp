//===- ApiStreams.cpp - Streams, events, callbacks -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Graph.h"
#include <cstring>
#include <set>

using namespace cupilot;

namespace {
/// Handles that were made and not yet destroyed.
struct Handles {
  std::mutex Mutex;
  std::set<CUstream_st *> Streams;
  std::set<CUevent_st *> Events;
  unsigned long long NextId = 2;
  CUstream_st Legacy, PerThread;
  static Handles &get() {
    static Handles &Only = *new Handles(); // Outlives the program's statics.
    return Only;
  }
};
} // namespace

CUstream_st *cupilot::streamOf(cudaStream_t Handle) {
  Handles &H = Handles::get();
  if (Handle == nullptr || Handle == cudaStreamLegacy)
    return &H.Legacy;
  if (Handle == cudaStreamPerThread)
    return &H.PerThread;
  std::lock_guard Lock(H.Mutex);
  return H.Streams.count(Handle) ? Handle : nullptr;
}

std::vector<CUstream_st *> cupilot::capturingStreams(cudaGraph_t Graph) {
  Handles &H = Handles::get();
  std::lock_guard Lock(H.Mutex);
  std::vector<CUstream_st *> Result;
  for (CUstream_st *S : H.Streams)
    if (S->Graph == Graph)
      Result.push_back(S);
  if (H.PerThread.Graph == Graph)
    Result.push_back(&H.PerThread);
  return Result;
}

static bool isEvent(cudaEvent_t Event) {
  Handles &H = Handles::get();
  std::lock_guard Lock(H.Mutex);
  return H.Events.count(Event) > 0;
}

CUPILOT_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *Stream,
                                                     unsigned Flags,
                                                     int Priority) {
  if (!Stream || Flags > cudaStreamNonBlocking)
    return checked(cudaErrorInvalidValue);
  if (cudaError_t E = checked())
    return E;
  Handles &H = Handles::get();
  std::lock_guard Lock(H.Mutex);
  *Stream = new CUstream_st();
  (*Stream)->Flags = Flags;
  // Clamped to what there is: 0 and the five levels of an H200.
  (*Stream)->Priority = std::max(-5, std::min(0, Priority));
  (*Stream)->Id = H.NextId++;
  H.Streams.insert(*Stream);
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
  Handles &H = Handles::get();
  {
    std::lock_guard Lock(H.Mutex);
    if (H.Streams.erase(Stream) == 0)
      return checked(cudaErrorInvalidResourceHandle);
  }
  delete Stream;
  return checked();
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
  Handles &H = Handles::get();
  std::lock_guard Lock(H.Mutex);
  *Event = new CUevent_st();
  (*Event)->Timing = (Flags & cudaEventDisableTiming) == 0;
  H.Events.insert(*Event);
  return checked();
}
CUPILOT_API cudaError_t cudaEventCreate(cudaEvent_t *Event) {
  return cudaEventCreateWithFlags(Event, cudaEventDefault);
}
CUPILOT_API cudaError_t cudaEventDestroy(cudaEvent_t Event) {
  Handles &H = Handles::get();
  {
    std::lock_guard Lock(H.Mutex);
    if (H.Events.erase(Event) == 0)
      return checked(cudaErrorInvalidResourceHandle);
  }
  delete Event;
  return checked();
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
