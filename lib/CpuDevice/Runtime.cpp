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

static uint64_t addressOf(const void *P) {
  return reinterpret_cast<uintptr_t>(P);
}

/// Where \p Address lies in the block's own memory, if there.
static std::optional<AccessSpace> ownSpace(const ThreadContext &T,
                                           uint64_t Address) {
  if (T.Block->sharedOwner(Address))
    return AccessSpace::Shared;
  // The thread's stack: local variables whose address went through memory.
  if (Address >= addressOf(T.StackLimit) - StackReserve &&
      Address < addressOf(T.StackTop))
    return AccessSpace::Local;
  return std::nullopt;
}

static void describeMiss(const ThreadContext &T, uint64_t Address,
                         uint64_t Size, std::string &Detail) {
  raw_string_ostream OS(Detail);
  const BlockState &B = *T.Block;
  uint64_t Shared = addressOf(B.Shared);
  if (Address >= Shared && Address < Shared + B.SharedSize + 4096) {
    OS << Address - Shared << " bytes into the block's " << B.SharedSize
       << " bytes of shared memory";
    return;
  }
  auto Near = B.Memory.nearest(reinterpret_cast<void *>(Address));
  if (Address < 4096) {
    OS << "a null pointer";
  } else if (Near && Address < addressOf(Near->Base) &&
             addressOf(Near->Base) - Address < (64u << 20)) {
    OS << addressOf(Near->Base) - Address << " bytes before the start of a "
       << Near->Size << "-byte buffer";
  } else if (Near && Address >= addressOf(Near->Base) &&
             Address - addressOf(Near->Base) < Near->Size + (64u << 20)) {
    uint64_t End = addressOf(Near->Base) + Near->Size;
    if (Address < End)
      OS << Size << " bytes that begin " << End - Address
         << " bytes before the end of a " << Near->Size << "-byte buffer";
    else
      OS << Address - End << " bytes past the end of a " << Near->Size
         << "-byte buffer";
  } else {
    OS << "no buffer is near";
  }
}

/// Records the fault of a wrong access. Returns normally; the caller escapes.
static void recordMiss(ThreadContext &T, uint64_t Address, uint64_t Size,
                       const AccessSite &Site, StringRef Why) {
  std::string Detail;
  if (Why == "misaligned")
    Detail = "the access needs an address that is a multiple of " +
             itostr(Site.Align);
  else if (Why == "read-only")
    Detail = "the buffer is read-only";
  else
    describeMiss(T, Address, Size, Detail);
  std::string Kind = Why.str();
  Kind += Site.IsAtomic ? " atomic" : Site.IsStore ? " write" : " read";
  T.Block->recordFault(T, Kind, Address, &Site, Detail);
}

/// The reason why the access is wrong, or null. Updates the site's cache.
static const char *checkAccess(ThreadContext &T, uint64_t Address,
                               uint64_t Size, uint32_t SiteIndex) {
  BlockState &B = *T.Block;
  const AccessSite &Site = B.Tables.Sites[SiteIndex];
  if (Size == 0)
    return nullptr;
  if (Site.Align > 1 && Address % Site.Align != 0)
    return "misaligned";
  uint64_t Lo = 0, Length = 0;
  if (const BlockState *Owner = B.sharedOwner(Address)) {
    Lo = addressOf(Owner->Shared);
    Length = Owner->SharedSize;
  } else if (auto Buffer = B.Memory.find(reinterpret_cast<void *>(Address))) {
    if (Buffer->ReadOnly && Site.IsStore)
      return "read-only";
    Lo = addressOf(Buffer->Base);
    Length = Buffer->Size;
  } else {
    return ownSpace(T, Address) ? nullptr : "out-of-bounds";
  }
  if (Address - Lo > Length - std::min(Size, Length) || Size > Length)
    return "out-of-bounds";
  if (Site.Size == Size)
    T.Sites[SiteIndex] = {Lo, Length - Size};
  return nullptr;
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

void cupilot_rt_access(ThreadContext *T, void *Pointer, uint64_t Size,
                       uint32_t Site) {
  const char *Why = checkAccess(*T, addressOf(Pointer), Size, Site);
  if (!Why)
    return;
  recordMiss(*T, addressOf(Pointer), Size, T->Block->Tables.Sites[Site], Why);
  T->Block->escape(*T);
}

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
    std::string Kind = Misaligned ? "misaligned" : "out-of-bounds";
    Kind += Site.IsAtomic ? " atomic" : Site.IsStore ? " write" : " read";
    T->Block->recordFault(*T, Kind, addressOf(Pointer), &Site, Detail);
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
  return T->Block->barrier(*T, static_cast<BarrierKind>(Kind), Id, Count,
                           Predicate, Where);
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
  T->Block->recordFault(*T, "trap", 0, nullptr, "the kernel executed a trap");
  T->Block->escape(*T);
}

void cupilot_rt_exit(ThreadContext *T) { T->Block->escape(*T); }

void cupilot_rt_assert(ThreadContext *T, const char *Message, const char *File,
                       uint32_t Line, const char *Function) {
  T->Block->recordFault(*T, "assertion", 0, nullptr,
                        Twine(File) + ":" + Twine(Line) + ": " + Function +
                            ": Assertion `" + Message + "' failed");
  T->Block->escape(*T);
}

void *cupilot_rt_malloc(ThreadContext *T, uint64_t Size) {
  DeviceMemory &Memory = T->Block->Memory;
  void *Pointer = Memory.Heap.allocate(Size, Memory.Limits.HeapBytes);
  if (Pointer)
    Memory.addBuffer(Pointer, Size);
  return Pointer;
}

void cupilot_rt_free(ThreadContext *T, void *Memory) {
  if (!Memory)
    return;
  if (!T->Block->Memory.Heap.release(Memory)) {
    T->Block->recordFault(*T, "wrong free", addressOf(Memory), nullptr,
                          "malloc in device code did not return this address, "
                          "or it was freed before");
    T->Block->escape(*T);
  }
  T->Block->Memory.freeBuffer(Memory);
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
