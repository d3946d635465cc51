//===- Runtime.cpp - What compiled device code calls -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C functions with the prefix cupilot_rt_. Functions that may leave by `escape`
// hold no objects with destructors at that point.
//
//===----------------------------------------------------------------------===//

#include "DeviceBuffers.h"
#include "Scheduler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace cupilot;

/// Where \p Address lies in the block's own memory, if there.
std::optional<AccessSpace> cupilot::ownSpace(const ThreadContext &T,
                                             uint64_t Address) {
  if (T.Block->sharedOwner(Address))
    return AccessSpace::Shared;
  // The thread's stack: local variables whose address went through memory.
  if (Address >= addressOf(T.StackLimit) - StackReserve &&
      Address < addressOf(T.StackTop))
    return AccessSpace::Local;
  return std::nullopt;
}

/// Computes in \p T under a rounding mode. The compiler knows nothing of modes:
/// volatile values keep the operation between the two changes.
template <typename T>
static T roundedAs(RoundedOp Op, int Mode, double X, double Y, double Z) {
  volatile double Wide = X;
  volatile T A = static_cast<T>(X), B = static_cast<T>(Y),
             C = static_cast<T>(Z);
  volatile T Result = 0;
  int Before = std::fegetround();
  std::fesetround(Mode);
  switch (Op) {
  case RoundedOp::Add:
    Result = A + B;
    break;
  case RoundedOp::Mul:
    Result = A * B;
    break;
  case RoundedOp::Fma:
    Result = std::fma(A, B, C);
    break;
  case RoundedOp::Div:
    Result = A / B;
    break;
  case RoundedOp::Rcp:
    Result = 1 / A;
    break;
  case RoundedOp::Sqrt:
    Result = std::sqrt(A);
    break;
  case RoundedOp::Convert:
    Result = static_cast<T>(Wide);
    break;
  }
  std::fesetround(Before);
  return Result;
}

extern "C" {

void cupilot_rt_object_fault(ThreadContext *T, void *Pointer, void *Base,
                             uint64_t ObjectSize, uint32_t SiteIndex) {
  const AccessSite &Site = T->Block->Tables.Sites[SiteIndex];
  bool Misaligned = addressOf(Pointer) % Site.Align != 0;
  {
    int64_t Offset = static_cast<int64_t>(addressOf(Pointer) - addressOf(Base));
    std::string Detail =
        Misaligned ? "the access needs an address that is a multiple of " +
                         itostr(Site.Align)
                   : itostr(Offset) + " bytes into a variable of " +
                         itostr(ObjectSize) + " bytes";
    T->Block->recordFault(*T, Misaligned ? misaligned(Site) : outOfBounds(Site),
                          addressOf(Pointer), &Site, Detail);
  }
  T->Block->escape(*T);
}

void cupilot_rt_trace(ThreadContext *T, void *Pointer, uint64_t Size,
                      uint32_t Site) {
  BlockState &B = *T->Block;
  AccessSpace Space = B.Tables.Sites[Site].Space;
  if (Space == AccessSpace::Generic)
    Space = ownSpace(*T, addressOf(Pointer)).value_or(AccessSpace::Global);
  B.Trace->access(T->Linear, Site, addressOf(Pointer), Size, Space);
}

void cupilot_rt_budget(ThreadContext *T) { T->Block->budget(*T); }

uint32_t cupilot_rt_barrier(ThreadContext *T, uint32_t Kind, uint32_t Id,
                            uint32_t Count, uint32_t Predicate,
                            uint32_t Where) {
  return T->Block->barrier(*T, static_cast<BarrierKind>(Kind & ~AlignedBarrier),
                           (Kind & AlignedBarrier) != 0, Id, Count, Predicate,
                           Where);
}

uint64_t cupilot_rt_warp(ThreadContext *T, uint32_t Op, uint32_t Mask,
                         uint64_t Value, uint32_t LaneArg, uint32_t Clamp) {
  return T->Block->warp(*T, static_cast<WarpOp>(Op & 255), Mask, Value, LaneArg,
                        Clamp, Op >> 8);
}

uint32_t cupilot_rt_activemask(ThreadContext *T, uint32_t Where) {
  return T->Block->activeLanes(*T, Where);
}

uint64_t cupilot_rt_clock() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

double cupilot_rt_rounded(uint32_t Op, uint32_t Mode, uint32_t Single, double A,
                          double B, double C) {
  return Single ? roundedAs<float>(static_cast<RoundedOp>(Op),
                                   static_cast<int>(Mode), A, B, C)
                : roundedAs<double>(static_cast<RoundedOp>(Op),
                                    static_cast<int>(Mode), A, B, C);
}

uint32_t cupilot_rt_space(ThreadContext *T, void *Pointer, uint32_t Space) {
  std::optional<AccessSpace> Own = ownSpace(*T, addressOf(Pointer));
  if (Space == 7) // Of any block of the cluster.
    return T->Block->sharedOwner(addressOf(Pointer)) != nullptr;
  if (Space == 3)
    return Own == AccessSpace::Shared;
  if (Space == 5)
    return Own == AccessSpace::Local;
  return Space == 1 && !Own;
}

void cupilot_rt_trap(ThreadContext *T) {
  T->Block->recordFault(*T, FaultKind::Trap, 0, nullptr,
                        "the kernel executed a trap");
  T->Block->escape(*T);
}

void cupilot_rt_exit(ThreadContext *T) { T->Block->escape(*T); }

void cupilot_rt_assert(ThreadContext *T, const char *Message, const char *File,
                       uint32_t Line, const char *Function) {
  T->Block->recordFault(*T, FaultKind::Assertion, 0, nullptr, "");
  T->Block->Fault->Assertion = {Message, File, Function, Line};
  T->Block->escape(*T);
}

void *cupilot_rt_malloc(ThreadContext *T, uint64_t Size, uint32_t Site) {
  auto &Memory = static_cast<DeviceBuffers &>(T->Block->Memory);
  void *Pointer = Memory.Heap.allocate(Size, Memory.Limits.HeapBytes);
  if (!Pointer) {
    if (Size > 0)
      Memory.heapRefused(Size, Site == NoSite
                                   ? StringRef(T->Block->Kernel.Name)
                                   : T->Block->Tables.Sites[Site].Location);
    return nullptr;
  }
  DeviceHeapBlock Block;
  Block.Base = Pointer;
  Block.Size = Size;
  Block.Kernel = T->Block->Kernel.Name;
  if (Site != NoSite)
    Block.Location = T->Block->Tables.Sites[Site].Location;
  for (unsigned I = 0; I < 3; ++I) {
    Block.Block[I] = T->Ctaid[I];
    Block.Thread[I] = T->Tid[I];
  }
  Memory.heapAllocated(std::move(Block));
  return Pointer;
}

void cupilot_rt_free(ThreadContext *T, void *Memory, uint32_t Site) {
  if (!Memory)
    return;
  auto &Buffers = static_cast<DeviceBuffers &>(T->Block->Memory);
  if (!Buffers.Heap.release(Memory)) {
    bool Twice = Buffers.findFreed(Memory).has_value();
    T->Block->recordFault(
        *T, Twice ? FaultKind::DoubleFree : FaultKind::WrongFree,
        addressOf(Memory),
        Site == NoSite ? nullptr : &T->Block->Tables.Sites[Site],
        Twice ? "the memory was freed before"
              : "malloc in device code did not return this address");
    T->Block->escape(*T);
  }
  Buffers.heapFreed(Memory);
  T->Block->forgetSites(); // They may have cached what is freed.
}

/// printf of device code: the arguments lie in a packed buffer, each aligned to
/// its size (CUDA C++ Programming Guide, "Formatted Output").
uint32_t cupilot_rt_printf(ThreadContext *T, const char *Format,
                           const char *Args) {
  std::string Out;
  uint64_t Offset = 0;
  uint32_t Count = 0;
  auto Take = [&](void *To, uint64_t Size) {
    Offset = alignTo(Offset, Align(Size));
    std::memcpy(To, Args + Offset, Size);
    Offset += Size;
  };
  char Buffer[512];
  for (const char *P = Format; *P; ++P) {
    if (*P != '%') {
      Out += *P;
      continue;
    }
    if (P[1] == '%') {
      Out += *P++;
      continue;
    }
    char Spec[64] = "%";
    size_t Length = 1;
    unsigned Longs = 0;
    for (++P;
         *P && Length < 48 && StringRef("-+ #0123456789.*hlzjt").contains(*P);
         ++P) {
      if (*P == '*') {
        int32_t Star = 0;
        Take(&Star, 4);
        Length += std::snprintf(Spec + Length, 12, "%d", Star);
        continue;
      }
      if (*P == 'l' || *P == 'z' || *P == 'j' || *P == 't')
        Longs += *P == 'l' ? 1 : 2;
      else if (*P != 'h')
        Spec[Length++] = *P;
    }
    ++Count;
    char Conversion = *P;
    if (StringRef("fFeEgGaA").contains(Conversion)) {
      double Value = 0;
      Take(&Value, 8);
      Spec[Length++] = Conversion;
      std::snprintf(Buffer, sizeof(Buffer), Spec, Value);
    } else if (Conversion == 's' || Conversion == 'p') {
      void *Value = nullptr;
      Take(&Value, 8);
      Spec[Length++] = Conversion;
      std::snprintf(Buffer, sizeof(Buffer), Spec, Value);
    } else if (StringRef("diouxXc").contains(Conversion)) {
      int64_t Value = 0;
      if (Longs > 0) {
        Take(&Value, 8);
      } else {
        int32_t Narrow = 0;
        Take(&Narrow, 4);
        Value = StringRef("di").contains(Conversion)
                    ? Narrow
                    : static_cast<uint32_t>(Narrow);
      }
      if (Conversion != 'c') {
        Spec[Length++] = 'l';
        Spec[Length++] = 'l';
      }
      Spec[Length++] = Conversion;
      if (Conversion == 'c')
        std::snprintf(Buffer, sizeof(Buffer), Spec, static_cast<int>(Value));
      else
        std::snprintf(Buffer, sizeof(Buffer), Spec,
                      static_cast<long long>(Value));
    } else {
      break;
    }
    Out += Buffer;
  }
  T->Block->Launch.Printed.add(std::move(Out));
  return Count;
}

} // extern "C"
