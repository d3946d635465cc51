//===- WideMemory.cpp - What floats in memory were before rounding --------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WideMemory.h"
#include "Scheduler.h"
#include "llvm/IR/Instructions.h"
#include <atomic>
#include <cmath>
#include <cstring>
#include <sys/mman.h>

using namespace llvm;

namespace cupilot {

static constexpr uint64_t BytesPerSlot = 2;

WideMemory::~WideMemory() {
  for (auto &[Base, R] : Ranges)
    if (R.Slots)
      ::munmap(R.Slots, R.Size / BytesPerSlot * sizeof(double));
}

WideMemory::Range WideMemory::rangeOf(uint64_t Address) {
  std::optional<DeviceBuffer> Buffer =
      Memory.find(reinterpret_cast<const void *>(Address));
  if (!Buffer)
    return {};
  auto Base = reinterpret_cast<uintptr_t>(Buffer->Base);
  {
    std::shared_lock Lock(Mutex);
    if (auto It = Ranges.find(Base); It != Ranges.end())
      return It->second;
  }
  std::unique_lock Lock(Mutex);
  auto [It, New] = Ranges.try_emplace(Base);
  if (New) {
    uint64_t Size = alignTo(Buffer->Size, BytesPerSlot);
    void *Map = ::mmap(nullptr, Size / BytesPerSlot * sizeof(double),
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // Without slots the reference is rounded in memory, and still right.
    It->second = {Base, Size,
                  Map == MAP_FAILED ? nullptr : static_cast<double *>(Map)};
  }
  return It->second;
}

void WideBlock::setShared(const char *Base, uint64_t Size) {
  SharedSlots.resize(divideCeil(Size, BytesPerSlot));
  Shared = {reinterpret_cast<uintptr_t>(Base), Size, SharedSlots.data()};
}

double *WideBlock::find(uint64_t Address) {
  auto Slot = [&](const WideMemory::Range &R) {
    return R.Slots + (Address - R.Base) / BytesPerSlot;
  };
  if (Address - Shared.Base < Shared.Size)
    return Slot(Shared);
  for (const WideMemory::Range &R : Known)
    if (Address - R.Base < R.Size)
      return Slot(R);
  if (WideMemory::Range R = Launch.rangeOf(Address); R.Slots) {
    Known[Oldest++ % Known.size()] = R;
    return Slot(R);
  }
  return &Local[Address]; // A stack; valid until the next insertion.
}

/// Whether \p Wide may round to \p Narrow: within half a unit in the last
/// place, or of the smallest subnormal. What overflows rounds to infinity, and
/// nothing else does: a place that holds infinity and was never stored to has
/// no slot that tells.
static bool roundsTo(double Wide, double Narrow, FloatFormat Format) {
  static constexpr struct {
    double Relative, Absolute, Overflow;
  } Limits[] = {{0x1p-24, 0x1p-150, 0x1.ffffffp127},
                {0x1p-11, 0x1p-25, 0x1.ffep15},
                {0x1p-8, 0x1p-134, 0x1.ffp127}};
  const auto &L = Limits[static_cast<unsigned>(Format)];
  if (std::isinf(Narrow))
    return Narrow > 0 ? Wide >= L.Overflow : Wide <= -L.Overflow;
  return std::fabs(Wide - Narrow) <=
         std::fabs(Narrow) * L.Relative * 1.0001 + L.Absolute;
}

double WideBlock::load(uint64_t Address, double Narrow, FloatFormat Format) {
  double Wide = std::atomic_ref(*find(Address)).load(std::memory_order_relaxed);
  return roundsTo(Wide, Narrow, Format) ? Wide : Narrow;
}

void WideBlock::store(uint64_t Address, double Value) {
  std::atomic_ref(*find(Address)).store(Value, std::memory_order_relaxed);
}

void WideBlock::copy(uint64_t To, uint64_t From, uint64_t Size) {
  for (uint64_t At = 0; At < Size; At += BytesPerSlot) {
    double Value = *find(From + At);
    *find(To + At) = Value;
  }
}

} // namespace cupilot

using namespace cupilot;

extern "C" {

double cupilot_rt_wide_load(ThreadContext *T, void *Pointer, double Narrow,
                            uint32_t Format) {
  return T->Block->Wide->load(reinterpret_cast<uintptr_t>(Pointer), Narrow,
                              static_cast<FloatFormat>(Format));
}

void cupilot_rt_wide_store(ThreadContext *T, void *Pointer, double Value) {
  T->Block->Wide->store(reinterpret_cast<uintptr_t>(Pointer), Value);
}

void cupilot_rt_wide_copy(ThreadContext *T, void *To, void *From,
                          uint64_t Size) {
  T->Block->Wide->copy(reinterpret_cast<uintptr_t>(To),
                       reinterpret_cast<uintptr_t>(From), Size);
}

/// An atomic operation on a float, of whose result nothing is lost. Returns
/// what was there before.
double cupilot_rt_wide_atomic(ThreadContext *T, void *Pointer, uint32_t Op,
                              double Operand) {
  WideBlock &Wide = *T->Block->Wide;
  auto Address = reinterpret_cast<uintptr_t>(Pointer);
  std::lock_guard Lock(Wide.atomics());
  std::atomic_ref Memory(*static_cast<float *>(Pointer));
  double Old = Wide.load(Address, Memory.load(), FloatFormat::Float);
  double New = Operand;
  switch (static_cast<AtomicRMWInst::BinOp>(Op)) {
  case AtomicRMWInst::FAdd:
    New = Old + Operand;
    break;
  case AtomicRMWInst::FSub:
    New = Old - Operand;
    break;
  case AtomicRMWInst::FMax:
    New = std::fmax(Old, Operand);
    break;
  case AtomicRMWInst::FMin:
    New = std::fmin(Old, Operand);
    break;
  default: // An exchange.
    break;
  }
  Memory.store(static_cast<float>(New));
  Wide.store(Address, New);
  return Old;
}

} // extern "C"
