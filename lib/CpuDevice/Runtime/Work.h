//===- Work.h - What streams and graphs do -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_WORK_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_WORK_H

#include "Device.h"
#include <chrono>
#include <variant>
#include <vector>

/// An event's time; or, when it was recorded in a capturing stream, the place
/// in that graph.
struct CUevent_st {
  bool Timing = true, Recorded = false;
  std::chrono::steady_clock::time_point Time;
  cudaGraph_t Graph = nullptr;
  cudaStream_t Stream = nullptr; ///< The one that the capture began in.
  std::vector<cudaGraphNode_t> Nodes;
};

namespace cupilot {

/// A kernel with a copy of its arguments.
struct KernelWork {
  const void *Function = nullptr;
  LaunchShape Shape;
  std::vector<std::vector<uint8_t>> Args;
  /// The arguments as the launch functions take them, into Args.
  std::vector<void *> pointers();
};

/// Depth planes of Height rows of Width bytes.
struct CopyWork {
  char *To = nullptr;
  const char *From = nullptr;
  size_t ToPitch = 0, ToSlice = 0, FromPitch = 0, FromSlice = 0; ///< Bytes.
  size_t Width = 0, Height = 1, Depth = 1;
  cudaMemcpyKind Kind = cudaMemcpyDefault;
};

/// Sets Depth planes of Height rows of Width elements to a value.
struct FillWork {
  char *To = nullptr;
  size_t Pitch = 0, Slice = 0; ///< Bytes.
  unsigned Value = 0, ElementSize = 1;
  size_t Width = 0, Height = 1, Depth = 1;
};

struct HostWork {
  cudaHostFn_t Function = nullptr;
  void *Data = nullptr;
};

struct EventWork {
  cudaEvent_t Event = nullptr;
  bool Record = true; ///< Otherwise wait: it was recorded before.
};

struct ChildWork {
  cudaGraph_t Graph = nullptr; ///< Owned by the node.
};

struct AllocWork {
  void *Pointer = nullptr;
  size_t Size = 0;
};
struct FreeWork {
  void *Pointer = nullptr;
};

using Work = std::variant<std::monostate, KernelWork, CopyWork, FillWork,
                          HostWork, EventWork, ChildWork, AllocWork, FreeWork>;

/// Does \p W at once.
cudaError_t execute(Work &W);
/// Does it, or adds it to the graph that \p Stream is being captured to.
cudaError_t submit(cudaStream_t Stream, Work W);
/// True while work of \p Stream goes to a graph.
bool isCapturing(cudaStream_t Stream);
/// cudaErrorStreamCaptureUnsupported while it does; the capture is lost then.
cudaError_t refuseCapture(cudaStream_t Stream);

/// A kernel's work with its arguments copied.
cudaError_t makeKernelWork(const void *Function, const LaunchShape &Shape,
                           void **Args, KernelWork &Result);
/// A copy of \p Size bytes.
CopyWork linearCopy(void *To, const void *From, size_t Size,
                    cudaMemcpyKind Kind);
/// The copy that \p Params describe; cudaErrorInvalidValue for none.
cudaError_t makeCopy(const cudaMemcpy3DParms &Params, CopyWork &Result);
cudaError_t makeFill(const cudaMemsetParams &Params, FillWork &Result);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_WORK_H
