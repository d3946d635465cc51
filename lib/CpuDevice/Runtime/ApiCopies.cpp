//===- ApiCopies.cpp - Copies and fills -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Arrays.h"
#include "Work.h"

using namespace cupilot;

/// Copies block the host, and so show what device printf wrote.
static cudaError_t finish(cudaError_t E) {
  Device::get().flushOutput();
  return checked(E);
}

static CopyWork rows(void *To, size_t ToPitch, const void *From,
                     size_t FromPitch, size_t Width, size_t Height,
                     cudaMemcpyKind Kind) {
  CopyWork C = linearCopy(To, From, Width, Kind);
  C.ToPitch = ToPitch;
  C.FromPitch = FromPitch;
  C.Height = Height;
  return C;
}

static FillWork fill(void *To, size_t Pitch, int Value, size_t Width,
                     size_t Height) {
  FillWork F;
  F.To = static_cast<char *>(To);
  F.Pitch = Pitch;
  F.Value = static_cast<unsigned char>(Value);
  F.Width = Width;
  F.Height = Height;
  return F;
}

CUPILOT_API cudaError_t cudaMemcpyAsync(void *To, const void *From, size_t Size,
                                        cudaMemcpyKind Kind,
                                        cudaStream_t Stream) {
  return checked(submit(Stream, linearCopy(To, From, Size, Kind)));
}
CUPILOT_PTSZ(cudaMemcpyAsync)
CUPILOT_API cudaError_t cudaMemcpy(void *To, const void *From, size_t Size,
                                   cudaMemcpyKind Kind) {
  return finish(submit(nullptr, linearCopy(To, From, Size, Kind)));
}
CUPILOT_PTDS(cudaMemcpy)

CUPILOT_API cudaError_t cudaMemcpy2DAsync(void *To, size_t ToPitch,
                                          const void *From, size_t FromPitch,
                                          size_t Width, size_t Height,
                                          cudaMemcpyKind Kind,
                                          cudaStream_t Stream) {
  return checked(
      submit(Stream, rows(To, ToPitch, From, FromPitch, Width, Height, Kind)));
}
CUPILOT_PTSZ(cudaMemcpy2DAsync)
CUPILOT_API cudaError_t cudaMemcpy2D(void *To, size_t ToPitch, const void *From,
                                     size_t FromPitch, size_t Width,
                                     size_t Height, cudaMemcpyKind Kind) {
  return finish(cudaMemcpy2DAsync(To, ToPitch, From, FromPitch, Width, Height,
                                  Kind, nullptr));
}
CUPILOT_PTDS(cudaMemcpy2D)

CUPILOT_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *P,
                                          cudaStream_t Stream) {
  CopyWork C;
  if (cudaError_t E = P ? makeCopy(*P, C) : cudaErrorInvalidValue)
    return checked(E);
  return checked(submit(Stream, C));
}
CUPILOT_PTSZ(cudaMemcpy3DAsync)
CUPILOT_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *P) {
  return finish(cudaMemcpy3DAsync(P, nullptr));
}
CUPILOT_PTDS(cudaMemcpy3D)

CUPILOT_API cudaError_t cudaMemsetAsync(void *To, int Value, size_t Size,
                                        cudaStream_t Stream) {
  return checked(submit(Stream, fill(To, Size, Value, Size, 1)));
}
CUPILOT_PTSZ(cudaMemsetAsync)
CUPILOT_API cudaError_t cudaMemset(void *To, int Value, size_t Size) {
  return cudaMemsetAsync(To, Value, Size, nullptr);
}
CUPILOT_PTDS(cudaMemset)
CUPILOT_API cudaError_t cudaMemset2DAsync(void *To, size_t Pitch, int Value,
                                          size_t Width, size_t Height,
                                          cudaStream_t Stream) {
  return checked(submit(Stream, fill(To, Pitch, Value, Width, Height)));
}
CUPILOT_PTSZ(cudaMemset2DAsync)
CUPILOT_API cudaError_t cudaMemset2D(void *To, size_t Pitch, int Value,
                                     size_t Width, size_t Height) {
  return cudaMemset2DAsync(To, Pitch, Value, Width, Height, nullptr);
}
CUPILOT_PTDS(cudaMemset2D)
CUPILOT_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr To, int Value,
                                          cudaExtent Extent,
                                          cudaStream_t Stream) {
  FillWork F = fill(To.ptr, To.pitch, Value, Extent.width, Extent.height);
  F.Slice = To.pitch * To.ysize;
  F.Depth = Extent.depth;
  return checked(submit(Stream, F));
}
CUPILOT_PTSZ(cudaMemset3DAsync)
CUPILOT_API cudaError_t cudaMemset3D(cudaPitchedPtr To, int Value,
                                     cudaExtent Extent) {
  return cudaMemset3DAsync(To, Value, Extent, nullptr);
}
CUPILOT_PTDS(cudaMemset3D)

// Device variables.
CUPILOT_API cudaError_t cudaGetSymbolAddress(void **Address,
                                             const void *Symbol) {
  return checked(Device::get().variable(Symbol, Address, nullptr));
}
CUPILOT_API cudaError_t cudaGetSymbolSize(size_t *Size, const void *Symbol) {
  return checked(Device::get().variable(Symbol, nullptr, Size));
}
/// The part of a variable at \p Offset, if [Offset, Offset + Size) is one.
static cudaError_t part(const void *Symbol, size_t Offset, size_t Size,
                        char **Address) {
  void *Base = nullptr;
  size_t Length = 0;
  if (cudaError_t E = Device::get().variable(Symbol, &Base, &Length))
    return E;
  *Address = static_cast<char *>(Base) + Offset;
  return Offset <= Length && Size <= Length - Offset ? cudaSuccess
                                                     : cudaErrorInvalidValue;
}
CUPILOT_API cudaError_t cudaMemcpyToSymbolAsync(const void *Symbol,
                                                const void *From, size_t Size,
                                                size_t Offset,
                                                cudaMemcpyKind Kind,
                                                cudaStream_t Stream) {
  if (Kind != cudaMemcpyHostToDevice && Kind != cudaMemcpyDeviceToDevice &&
      Kind != cudaMemcpyDefault)
    return checked(cudaErrorInvalidMemcpyDirection);
  char *To;
  if (cudaError_t E = part(Symbol, Offset, Size, &To))
    return checked(E);
  return checked(submit(Stream, linearCopy(To, From, Size, Kind)));
}
CUPILOT_PTSZ(cudaMemcpyToSymbolAsync)
CUPILOT_API cudaError_t cudaMemcpyToSymbol(const void *Symbol, const void *From,
                                           size_t Size, size_t Offset,
                                           cudaMemcpyKind Kind) {
  return finish(
      cudaMemcpyToSymbolAsync(Symbol, From, Size, Offset, Kind, nullptr));
}
CUPILOT_PTDS(cudaMemcpyToSymbol)
CUPILOT_API cudaError_t cudaMemcpyFromSymbolAsync(void *To, const void *Symbol,
                                                  size_t Size, size_t Offset,
                                                  cudaMemcpyKind Kind,
                                                  cudaStream_t Stream) {
  if (Kind != cudaMemcpyDeviceToHost && Kind != cudaMemcpyDeviceToDevice &&
      Kind != cudaMemcpyDefault)
    return checked(cudaErrorInvalidMemcpyDirection);
  char *From;
  if (cudaError_t E = part(Symbol, Offset, Size, &From))
    return checked(E);
  return checked(submit(Stream, linearCopy(To, From, Size, Kind)));
}
CUPILOT_PTSZ(cudaMemcpyFromSymbolAsync)
CUPILOT_API cudaError_t cudaMemcpyFromSymbol(void *To, const void *Symbol,
                                             size_t Size, size_t Offset,
                                             cudaMemcpyKind Kind) {
  return finish(
      cudaMemcpyFromSymbolAsync(To, Symbol, Size, Offset, Kind, nullptr));
}
CUPILOT_PTDS(cudaMemcpyFromSymbol)

// From one device to itself: there is no other.
CUPILOT_API cudaError_t cudaMemcpyPeerAsync(void *To, int ToDevice,
                                            const void *From, int FromDevice,
                                            size_t Size, cudaStream_t Stream) {
  if (ToDevice != 0 || FromDevice != 0)
    return checked(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(To, From, Size, cudaMemcpyDeviceToDevice, Stream);
}
CUPILOT_API cudaError_t cudaMemcpyPeer(void *To, int ToDevice, const void *From,
                                       int FromDevice, size_t Size) {
  return cudaMemcpyPeerAsync(To, ToDevice, From, FromDevice, Size, nullptr);
}
CUPILOT_REFUSE(cudaMemcpy3DPeer)
CUPILOT_REFUSE(cudaMemcpy3DPeerAsync)
CUPILOT_REFUSE(cudaMemcpyBatchAsync)
CUPILOT_REFUSE(cudaMemcpy3DBatchAsync)

// Arrays. Offsets and widths count bytes here, as the reference has it.
static cudaArray *array(cudaArray_const_t Array) {
  return const_cast<cudaArray *>(Array);
}
static char *at(cudaArray_const_t Array, size_t X, size_t Y) {
  return Array->Data + Y * Array->Pitch + X;
}
CUPILOT_API cudaError_t cudaMemcpy2DToArrayAsync(
    cudaArray_t To, size_t X, size_t Y, const void *From, size_t FromPitch,
    size_t Width, size_t Height, cudaMemcpyKind Kind, cudaStream_t Stream) {
  if (!To || X + Width > To->Width * To->ElementSize ||
      Y + Height > std::max<size_t>(To->Height, 1))
    return checked(cudaErrorInvalidValue);
  return cudaMemcpy2DAsync(at(To, X, Y), To->Pitch, From, FromPitch, Width,
                           Height, Kind, Stream);
}
CUPILOT_PTSZ(cudaMemcpy2DToArrayAsync)
CUPILOT_API cudaError_t cudaMemcpy2DToArray(cudaArray_t To, size_t X, size_t Y,
                                            const void *From, size_t FromPitch,
                                            size_t Width, size_t Height,
                                            cudaMemcpyKind Kind) {
  return finish(cudaMemcpy2DToArrayAsync(To, X, Y, From, FromPitch, Width,
                                         Height, Kind, nullptr));
}
CUPILOT_PTDS(cudaMemcpy2DToArray)
CUPILOT_API cudaError_t cudaMemcpy2DFromArrayAsync(
    void *To, size_t ToPitch, cudaArray_const_t From, size_t X, size_t Y,
    size_t Width, size_t Height, cudaMemcpyKind Kind, cudaStream_t Stream) {
  if (!From || X + Width > From->Width * From->ElementSize ||
      Y + Height > std::max<size_t>(From->Height, 1))
    return checked(cudaErrorInvalidValue);
  return cudaMemcpy2DAsync(To, ToPitch, at(From, X, Y), From->Pitch, Width,
                           Height, Kind, Stream);
}
CUPILOT_PTSZ(cudaMemcpy2DFromArrayAsync)
CUPILOT_API cudaError_t cudaMemcpy2DFromArray(void *To, size_t ToPitch,
                                              cudaArray_const_t From, size_t X,
                                              size_t Y, size_t Width,
                                              size_t Height,
                                              cudaMemcpyKind Kind) {
  return finish(cudaMemcpy2DFromArrayAsync(To, ToPitch, From, X, Y, Width,
                                           Height, Kind, nullptr));
}
CUPILOT_PTDS(cudaMemcpy2DFromArray)
/// A run of bytes through an array's rows, one part of a row after another.
static cudaError_t stream(cudaArray_const_t Array, size_t X, size_t Y,
                          char *Memory, size_t Size, cudaMemcpyKind Kind,
                          bool ToArray) {
  size_t Row = Array ? Array->Width * Array->ElementSize : 0;
  if (Row == 0 || X >= Row)
    return cudaErrorInvalidValue;
  while (Size > 0) {
    if (Y >= std::max<size_t>(Array->Height, 1))
      return cudaErrorInvalidValue;
    size_t Part = std::min(Size, Row - X);
    char *Place = at(array(Array), X, Y);
    if (cudaError_t E =
            submit(nullptr, ToArray ? linearCopy(Place, Memory, Part, Kind)
                                    : linearCopy(Memory, Place, Part, Kind)))
      return E;
    Memory += Part;
    Size -= Part;
    X = 0;
    ++Y;
  }
  return cudaSuccess;
}
// Deprecated since CUDA 10.1, and still in use.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
CUPILOT_API cudaError_t cudaMemcpyToArray(cudaArray_t To, size_t X, size_t Y,
                                          const void *From, size_t Size,
                                          cudaMemcpyKind Kind) {
  char *Memory = const_cast<char *>(static_cast<const char *>(From));
  return finish(stream(To, X, Y, Memory, Size, Kind, /*ToArray=*/true));
}
CUPILOT_PTDS(cudaMemcpyToArray)
CUPILOT_API cudaError_t cudaMemcpyFromArray(void *To, cudaArray_const_t From,
                                            size_t X, size_t Y, size_t Size,
                                            cudaMemcpyKind Kind) {
  return finish(stream(From, X, Y, static_cast<char *>(To), Size, Kind,
                       /*ToArray=*/false));
}
CUPILOT_PTDS(cudaMemcpyFromArray)
#pragma GCC diagnostic pop
