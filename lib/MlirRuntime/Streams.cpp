//===- Streams.cpp - Streams and events of MLIR programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

using namespace cupilot::mgpu;

CUPILOT_MGPU CUstream mgpuStreamCreate() {
  ActiveContext Active;
  CUstream Stream = nullptr;
  if (CUresult E = driver().cuStreamCreate(&Stream, CU_STREAM_NON_BLOCKING))
    fail(E, "mgpuStreamCreate");
  return Stream;
}

CUPILOT_MGPU void mgpuStreamDestroy(CUstream Stream) {
  if (CUresult E = driver().cuStreamDestroy_v2(Stream))
    fail(E, "mgpuStreamDestroy");
}

CUPILOT_MGPU void mgpuStreamSynchronize(CUstream Stream) {
  ActiveContext Active;
  if (CUresult E = driver().cuStreamSynchronize(Stream))
    fail(E, "mgpuStreamSynchronize: the work before it");
}

CUPILOT_MGPU void mgpuStreamWaitEvent(CUstream Stream, CUevent Event) {
  ActiveContext Active;
  if (CUresult E = driver().cuStreamWaitEvent(Stream, Event, 0))
    fail(E, "mgpuStreamWaitEvent");
}

CUPILOT_MGPU CUevent mgpuEventCreate() {
  ActiveContext Active;
  CUevent Event = nullptr;
  if (CUresult E = driver().cuEventCreate(&Event, CU_EVENT_DISABLE_TIMING))
    fail(E, "mgpuEventCreate");
  return Event;
}

CUPILOT_MGPU void mgpuEventDestroy(CUevent Event) {
  if (CUresult E = driver().cuEventDestroy_v2(Event))
    fail(E, "mgpuEventDestroy");
}

CUPILOT_MGPU void mgpuEventSynchronize(CUevent Event) {
  if (CUresult E = driver().cuEventSynchronize(Event))
    fail(E, "mgpuEventSynchronize: the work before it");
}

CUPILOT_MGPU void mgpuEventRecord(CUevent Event, CUstream Stream) {
  ActiveContext Active;
  if (CUresult E = driver().cuEventRecord(Event, Stream))
    fail(E, "mgpuEventRecord");
}
