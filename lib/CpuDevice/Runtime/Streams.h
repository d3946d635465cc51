//===- Streams.h - Streams and events that there are ------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_STREAMS_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_STREAMS_H

#include "Graph.h"

namespace cupilot {

/// A new stream; \p Priority is clamped to what there is.
cudaStream_t makeStream(unsigned Flags, int Priority);
/// False for a handle that is no stream, or one that always exists.
bool destroyStream(cudaStream_t Stream);

cudaEvent_t makeEvent(bool Timing);
bool isEvent(cudaEvent_t Event);
/// False for a handle that is no event.
bool destroyEvent(cudaEvent_t Event);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_STREAMS_H
