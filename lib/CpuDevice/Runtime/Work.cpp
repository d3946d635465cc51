//===- Work.cpp - What streams and graphs do -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Work.h"
#include "Arrays.h"
#include "Graph.h"
#include <cstring>

using namespace cupilot;

std::vector<void *> KernelWork::pointers() {
  std::vector<void *> Result;
  Result.reserve(Args.size());
  for (std::vector<uint8_t> &Arg : Args)
    Result.push_back(Arg.data());
  return Result;
}

cudaError_t cupilot::makeKernelWork(const void *Function,
                                    const LaunchShape &Shape, void **Args,
                                    KernelWork &Result) {
  std::vector<uint64_t> Sizes;
  if (cudaError_t E = Device::get().paramSizes(Function, Sizes))
    return E;
  Result = {Function, Shape, {}};
  for (size_t I = 0; I < Sizes.size(); ++I) {
    if (!Args)
      return cudaErrorInvalidValue;
    const auto *Bytes = static_cast<const uint8_t *>(Args[I]);
    Result.Args.emplace_back(Bytes, Bytes + Sizes[I]);
  }
  return cudaSuccess;
}

cudaError_t cupilot::makeCopy(const cudaMemcpy3DParms &P, CopyWork &Result) {
  // The extent counts elements where an array takes part, else bytes.
  size_t Element = 1;
  CopyWork C;
  auto Side = [&](const cudaArray *Array, const cudaPitchedPtr &Pointer,
                  const cudaPos &Pos, size_t &Pitch, size_t &Slice) -> char * {
    if (Array) {
      Pitch = Array->Pitch;
      Slice = Array->slice();
      Element = Array->ElementSize;
      return Array->Data + Pos.z * Slice + Pos.y * Pitch + Pos.x * Element;
    }
    Pitch = Pointer.pitch;
    Slice = Pointer.pitch * Pointer.ysize;
    return static_cast<char *>(Pointer.ptr) + Pos.z * Slice + Pos.y * Pitch +
           Pos.x;
  };
  if (!P.srcArray == !P.srcPtr.ptr || !P.dstArray == !P.dstPtr.ptr)
    return cudaErrorInvalidValue;
  C.From = Side(P.srcArray, P.srcPtr, P.srcPos, C.FromPitch, C.FromSlice);
  C.To = Side(P.dstArray, P.dstPtr, P.dstPos, C.ToPitch, C.ToSlice);
  C.Width = P.extent.width * Element;
  C.Height = P.extent.height;
  C.Depth = P.extent.depth;
  C.Kind = P.kind;
  auto Leaves = [&](const cudaArray *A, const cudaPos &Pos) {
    return A && (Pos.x + P.extent.width > A->Width ||
                 Pos.y + P.extent.height > std::max<size_t>(A->Height, 1) ||
                 Pos.z + P.extent.depth > std::max<size_t>(A->Depth, 1));
  };
  if (Leaves(P.srcArray, P.srcPos) || Leaves(P.dstArray, P.dstPos))
    return cudaErrorInvalidValue;
  Result = C;
  return cudaSuccess;
}

cudaError_t cupilot::makeFill(const cudaMemsetParams &P, FillWork &Result) {
  if (!P.dst ||
      (P.elementSize != 1 && P.elementSize != 2 && P.elementSize != 4) ||
      P.width == 0 || P.height == 0)
    return cudaErrorInvalidValue;
  Result = {static_cast<char *>(P.dst),
            P.pitch,
            0,
            P.value,
            P.elementSize,
            P.width,
            P.height};
  return cudaSuccess;
}

namespace {
struct Executor {
  cudaError_t operator()(std::monostate) { return cudaSuccess; }

  cudaError_t operator()(KernelWork &K) {
    std::vector<void *> Args = K.pointers();
    return Device::get().launch(K.Function, K.Shape, Args.data());
  }

  cudaError_t operator()(CopyWork &C) {
    if (C.Width == 0 || C.Height == 0 || C.Depth == 0)
      return cudaSuccess;
    Device &D = Device::get();
    bool ToDevice = C.Kind == cudaMemcpyHostToDevice ||
                    C.Kind == cudaMemcpyDeviceToDevice,
         FromDevice = C.Kind == cudaMemcpyDeviceToHost ||
                      C.Kind == cudaMemcpyDeviceToDevice;
    if (!C.To || !C.From || C.Kind < cudaMemcpyHostToHost ||
        C.Kind > cudaMemcpyDefault)
      return C.To && C.From ? cudaErrorInvalidMemcpyDirection
                            : cudaErrorInvalidValue;
    size_t Rows = C.Height > 1 || C.Depth > 1 ? C.Height : 1;
    if (Rows > 1 && (C.Width > C.ToPitch || C.Width > C.FromPitch))
      return cudaErrorInvalidPitchValue;
    // The whole range is looked at first: nothing is copied by a wrong call.
    auto Reach = [&](size_t Pitch, size_t Slice) {
      return (C.Depth - 1) * Slice + (C.Height - 1) * Pitch + C.Width;
    };
    if (!D.holds(C.To, Reach(C.ToPitch, C.ToSlice), ToDevice) ||
        !D.holds(C.From, Reach(C.FromPitch, C.FromSlice), FromDevice))
      return cudaErrorInvalidValue;
    for (size_t Z = 0; Z < C.Depth; ++Z)
      for (size_t Y = 0; Y < C.Height; ++Y)
        D.copy(C.To + Z * C.ToSlice + Y * C.ToPitch,
               C.From + Z * C.FromSlice + Y * C.FromPitch, C.Width);
    return cudaSuccess;
  }

  cudaError_t operator()(FillWork &F) {
    if (F.Width == 0 || F.Height == 0 || F.Depth == 0)
      return cudaSuccess;
    Device &D = Device::get();
    size_t Row = F.Width * F.ElementSize;
    if (F.Height > 1 && Row > F.Pitch)
      return cudaErrorInvalidValue;
    if (!D.holds(F.To, (F.Depth - 1) * F.Slice + (F.Height - 1) * F.Pitch + Row,
                 /*MustBeKnown=*/true))
      return cudaErrorInvalidValue;
    for (size_t Z = 0; Z < F.Depth; ++Z)
      for (size_t Y = 0; Y < F.Height; ++Y)
        D.fill(F.To + Z * F.Slice + Y * F.Pitch, F.Value, F.ElementSize,
               F.Width);
    return cudaSuccess;
  }

  cudaError_t operator()(HostWork &H) {
    // Without any lock: it may wait for another thread.
    H.Function(H.Data);
    return cudaSuccess;
  }

  cudaError_t operator()(EventWork &E) {
    if (E.Record) {
      E.Event->Time = std::chrono::steady_clock::now();
      E.Event->Recorded = true;
      E.Event->Graph = nullptr;
    }
    return cudaSuccess;
  }

  cudaError_t operator()(ChildWork &C) { return runGraph(*C.Graph); }

  cudaError_t operator()(AllocWork &A) {
    // The address is the node's for good; the memory belongs to the graph.
    return Device::get().find(A.Pointer).first ? cudaSuccess
                                               : cudaErrorInvalidValue;
  }

  cudaError_t operator()(FreeWork &) { return cudaSuccess; }
};
} // namespace

CopyWork cupilot::linearCopy(void *To, const void *From, size_t Size,
                             cudaMemcpyKind Kind) {
  CopyWork C;
  C.To = static_cast<char *>(To);
  C.From = static_cast<const char *>(From);
  C.Width = Size;
  C.Kind = Kind;
  return C;
}

cudaError_t cupilot::execute(Work &W) {
  if (cudaError_t Sticky = Device::get().sticky(); Sticky != cudaSuccess)
    return Sticky;
  return std::visit(Executor(), W);
}

cudaError_t cupilot::submit(cudaStream_t Stream, Work W) {
  bool Captured = false;
  cudaError_t Error = captureWork(Stream, W, Captured);
  return Captured || Error != cudaSuccess ? Error : execute(W);
}
