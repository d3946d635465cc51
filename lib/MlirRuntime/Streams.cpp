//===- Streams.cpp - Streams and events of MLIR programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <mutex>
#include <set>

using namespace cupilot::mgpu;

// gpu-to-llvm of LLVM 22 hands a stream on where its users take an event: from
// an async.execute whose last operation is a launch (llvm/llvm-project issue
// 170833). Streams are therefore known, and stand for the work in them.
static std::mutex StreamsLock;
static std::set<void *> Streams;

static bool isStream(void *Handle) {
  std::lock_guard<std::mutex> Guard(StreamsLock);
  return Streams.count(Handle);
}

/// \p Event as a stream, if it is one; else null.
static CUstream streamIn(CUevent Event) {
  return isStream(Event) ? reinterpret_cast<CUstream>(Event) : nullptr;
}

CUPILOT_MGPU CUstream mgpuStreamCreate() {
  ActiveContext Active;
  CUstream Stream = nullptr;
  if (CUresult E = driver().cuStreamCreate(&Stream, CU_STREAM_NON_BLOCKING))
    fail(E, "mgpuStreamCreate");
  std::lock_guard<std::mutex> Guard(StreamsLock);
  Streams.insert(Stream);
  return Stream;
}

CUPILOT_MGPU void mgpuStreamDestroy(CUstream Stream) {
  {
    std::lock_guard<std::mutex> Guard(StreamsLock);
    Streams.erase(Stream);
  }
  if (CUresult E = driver().cuStreamDestroy_v2(Stream))
    fail(E, "mgpuStreamDestroy");
}

CUPILOT_MGPU void mgpuStreamSynchronize(CUstream Stream) {
  ActiveContext Active;
  if (CUresult E = driver().cuStreamSynchronize(Stream))
    fail(E, "mgpuStreamSynchronize: the work before it");
}

CUPILOT_MGPU CUevent mgpuEventCreate() {
  ActiveContext Active;
  CUevent Event = nullptr;
  if (CUresult E = driver().cuEventCreate(&Event, CU_EVENT_DISABLE_TIMING))
    fail(E, "mgpuEventCreate");
  return Event;
}

CUPILOT_MGPU void mgpuEventDestroy(CUevent Event) {
  if (streamIn(Event)) // Others may hold it, too.
    return;
  if (CUresult E = driver().cuEventDestroy_v2(Event))
    fail(E, "mgpuEventDestroy");
}

CUPILOT_MGPU void mgpuEventSynchronize(CUevent Event) {
  if (CUstream Stream = streamIn(Event))
    return mgpuStreamSynchronize(Stream);
  if (CUresult E = driver().cuEventSynchronize(Event))
    fail(E, "mgpuEventSynchronize: the work before it");
}

CUPILOT_MGPU void mgpuEventRecord(CUevent Event, CUstream Stream) {
  ActiveContext Active;
  if (CUresult E = driver().cuEventRecord(Event, Stream))
    fail(E, "mgpuEventRecord");
}

CUPILOT_MGPU void mgpuStreamWaitEvent(CUstream Stream, CUevent Event) {
  CUstream Other = streamIn(Event);
  if (Other) {
    Event = mgpuEventCreate();
    mgpuEventRecord(Event, Other);
  }
  ActiveContext Active;
  if (CUresult E = driver().cuStreamWaitEvent(Stream, Event, 0))
    fail(E, "mgpuStreamWaitEvent");
  if (Other)
    mgpuEventDestroy(Event);
}
