//===- Streams.cpp - Streams and events that there are ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Streams.h"
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

cudaStream_t cupilot::makeStream(unsigned Flags, int Priority) {
  Handles &H = Handles::get();
  std::lock_guard Lock(H.Mutex);
  auto *Stream = new CUstream_st();
  Stream->Flags = Flags;
  // Clamped to what there is: 0 and the five levels of an H200.
  Stream->Priority = std::max(-5, std::min(0, Priority));
  Stream->Id = H.NextId++;
  H.Streams.insert(Stream);
  return Stream;
}

bool cupilot::destroyStream(cudaStream_t Stream) {
  Handles &H = Handles::get();
  {
    std::lock_guard Lock(H.Mutex);
    if (H.Streams.erase(Stream) == 0)
      return false;
  }
  delete Stream;
  return true;
}

cudaEvent_t cupilot::makeEvent(bool Timing) {
  Handles &H = Handles::get();
  std::lock_guard Lock(H.Mutex);
  auto *Event = new CUevent_st();
  Event->Timing = Timing;
  H.Events.insert(Event);
  return Event;
}

bool cupilot::isEvent(cudaEvent_t Event) {
  Handles &H = Handles::get();
  std::lock_guard Lock(H.Mutex);
  return H.Events.count(Event) > 0;
}

bool cupilot::destroyEvent(cudaEvent_t Event) {
  Handles &H = Handles::get();
  {
    std::lock_guard Lock(H.Mutex);
    if (H.Events.erase(Event) == 0)
      return false;
  }
  delete Event;
  return true;
}
