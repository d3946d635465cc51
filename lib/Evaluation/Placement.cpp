//===- Placement.cpp - Where the buffers of a case lie -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Placement.h"
#include "cupilot/Portable/Random.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <sys/mman.h>

using namespace llvm;

namespace cupilot {

// 16 to 48 TiB: far from where Linux puts anything by itself.
static constexpr uint64_t Lowest = uint64_t(1) << 44, Pages = uint64_t(1) << 33;

bool Placement::decides(uint64_t Address) {
  return Address >= Lowest && Address < Lowest + (Pages << 13);
}

std::unique_ptr<Placement> Placement::create(ArrayRef<uint64_t> Sizes,
                                             uint64_t Band, StringRef Name,
                                             uint64_t Salt) {
  std::unique_ptr<Placement> P(new Placement);
  uint64_t State = xxh3_64bits(Name) + Salt;
  splitMix64(State);
  // The gaps are never touched, so they cost nothing.
  std::vector<size_t> Order(Sizes.size());
  for (size_t I = 0; I < Order.size(); ++I)
    Order[I] = I;
  for (size_t I = Order.size(); I > 1; --I)
    std::swap(Order[I - 1], Order[splitMix64(State) % I]);
  std::vector<uint64_t> Offsets(Sizes.size());
  uint64_t End = 0;
  for (size_t I : Order) {
    End += Band + splitMix64(State) % (1 << 22);
    Offsets[I] = alignTo(End, 256);
    End = Offsets[I] + Sizes[I] + Band + 256;
  }
  P->MapSize = alignTo(std::max<uint64_t>(End, 1), 4096);
  for (unsigned Try = 0; Try < 16 && !P->Map; ++Try) {
    uint64_t At = Lowest + (splitMix64(State) % Pages << 12);
    void *Wanted = reinterpret_cast<void *>(At);
    void *Got = ::mmap(Wanted, P->MapSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                           MAP_FIXED_NOREPLACE,
                       -1, 0);
    if (Got == Wanted)
      P->Map = Got;
    else if (Got != MAP_FAILED)
      ::munmap(Got, P->MapSize);
  }
  if (!P->Map) // Anywhere is better than nowhere.
    P->Map = ::mmap(nullptr, P->MapSize, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (P->Map == MAP_FAILED)
    report_bad_alloc_error("no memory for the buffers of a launch");
  // Whole pages of two MiB fault once instead of 512 times.
  constexpr uint64_t HugePage = uint64_t(1) << 21, Large = 8 * HugePage;
  for (auto [Offset, Size] : zip_equal(Offsets, Sizes)) {
    P->Begins.push_back(static_cast<uint8_t *>(P->Map) + Offset);
    uint64_t From =
        alignTo(reinterpret_cast<uint64_t>(P->Begins.back()), HugePage);
    if (Size >= Large)
      ::madvise(reinterpret_cast<void *>(From),
                alignDown(Size, HugePage) - HugePage, MADV_HUGEPAGE);
  }
  return P;
}

Placement::~Placement() {
  if (Map && Map != MAP_FAILED)
    ::munmap(Map, MapSize);
}

} // namespace cupilot
