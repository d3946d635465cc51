//===- Counting.cpp - Traces of warps -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Counting.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace cupilot {

void WarpTrace::beginBlock(unsigned NumThreads) {
  Threads = NumThreads;
  Blocks.assign(uint64_t(Threads) * stride(), 0);
  Occurrences.assign(uint64_t(Threads) * Tables.Sites.size(), 0);
  Accesses.assign((Threads + 31) / 32, {});
  for (auto &Warp : Accesses)
    Warp.resize(Tables.Sites.size());
}

void WarpTrace::access(unsigned Thread, unsigned Site, uint64_t Address,
                       uint64_t Size, AccessSpace Space) {
  uint32_t &Occurrence =
      Occurrences[uint64_t(Thread) * Tables.Sites.size() + Site];
  std::vector<WarpAccess> &List = Accesses[Thread / 32][Site];
  if (List.size() <= Occurrence)
    List.resize(Occurrence + 1);
  WarpAccess &Access = List[Occurrence++];
  Access.Space = Space;
  Access.Size = Size;
  Access.Address[Access.Lanes++ % 32] = Address;
}

void WarpTrace::barrier(unsigned Thread) {
  if (Thread % 32 == 0)
    ++Counts.Barriers;
}

/// Distinct 32-byte sectors of one warp access.
static void collectSectors(ArrayRef<uint64_t> Addresses, uint64_t Size,
                           SmallVectorImpl<uint64_t> &Sectors) {
  for (uint64_t Address : Addresses)
    for (uint64_t Sector = Address / 32;
         Sector <= (Address + std::max<uint64_t>(Size, 1) - 1) / 32; ++Sector)
      Sectors.push_back(Sector);
  llvm::sort(Sectors);
  Sectors.erase(llvm::unique(Sectors), Sectors.end());
}

/// Passes through shared memory that one warp access takes: 32 banks of four
/// bytes; wide accesses go in halves or quarters of a warp (CUDA C++
/// Programming Guide, "Shared Memory").
static uint64_t wavefronts(ArrayRef<uint64_t> Addresses, uint64_t Size) {
  size_t Group = Size >= 16 ? 8 : Size >= 8 ? 16 : 32;
  uint64_t Total = 0;
  for (size_t First = 0; First < Addresses.size(); First += Group) {
    SmallVector<uint64_t, 64> Words;
    for (uint64_t Address :
         Addresses.slice(First, std::min(Group, Addresses.size() - First)))
      for (uint64_t Word = Address / 4;
           Word <= (Address + std::max<uint64_t>(Size, 1) - 1) / 4; ++Word)
        Words.push_back(Word);
    llvm::sort(Words);
    Words.erase(llvm::unique(Words), Words.end());
    std::array<uint64_t, 32> Banks{};
    for (uint64_t Word : Words)
      ++Banks[Word % 32];
    Total += *llvm::max_element(Banks);
  }
  return Total;
}

void WarpTrace::settle(const WarpAccess &Access, const AccessSite &Site) {
  unsigned Lanes = std::min<uint32_t>(Access.Lanes, 32);
  ArrayRef<uint64_t> Addresses(Access.Address.data(), Lanes);
  if (Site.IsAtomic)
    Counts.AtomicOps += Lanes;
  switch (Access.Space) {
  case AccessSpace::Local:
    ++Counts.LocalAccesses;
    return;
  case AccessSpace::Shared:
    ++Counts.SharedAccesses;
    Counts.SharedWavefronts += wavefronts(Addresses, Access.Size);
    return;
  case AccessSpace::Constant:
    return; // The constant cache serves them.
  default:
    break;
  }
  SmallVector<uint64_t, 128> Touched;
  collectSectors(Addresses, Access.Size, Touched);
  (Site.IsStore ? Counts.GlobalStores : Counts.GlobalLoads) += 1;
  (Site.IsStore ? Counts.GlobalStoreSectors : Counts.GlobalLoadSectors) +=
      Touched.size();
  if (Site.IsAtomic)
    for (uint64_t Address : Addresses)
      ++Atomics[Address / 32];
  uint8_t Use = Site.IsAtomic ? Read | Written : Site.IsStore ? Written : Read;
  for (uint64_t Sector : Touched)
    Sectors[Sector] |= Use;
}

void WarpTrace::endBlock() {
  for (auto &Warp : Accesses)
    for (auto [Site, List] : enumerate(Warp))
      for (const WarpAccess &Access : List)
        settle(Access, Tables.Sites[Site]);
  Accesses.clear();
  Counts.Threads += Threads;
  Counts.Warps += (Threads + 31) / 32;
  for (unsigned First = 0; First < Threads; First += 32)
    for (unsigned B = 0; B < stride(); ++B) {
      const BlockCost &Cost =
          Tables.Costs[B < Tables.FunctionBlocks
                           ? B
                           : Kernel.FirstBlock + B - Tables.FunctionBlocks];
      uint64_t Sum = 0, Most = 0;
      for (unsigned T = First; T < std::min(First + 32, Threads); ++T) {
        uint64_t Times = Blocks[uint64_t(T) * stride() + B];
        Sum += Times;
        Most = std::max(Most, Times);
      }
      Counts.Fp32 += Sum * Cost.Fp32;
      Counts.Fp64 += Sum * Cost.Fp64;
      Counts.Fp16 += Sum * Cost.Fp16;
      Counts.Integer += Sum * Cost.Integer;
      Counts.Special += Sum * Cost.Special;
      Counts.Control += Sum * Cost.Control;
      Counts.Conversion += Sum * Cost.Conversion;
      Counts.Shuffle += Sum * Cost.Shuffle;
      // A warp runs a block as often as the lane that runs it most: exact for
      // structured divergence.
      Counts.WarpInstructions += Most * Cost.total();
      Counts.DependentLoads += Most * Cost.DependentLoads;
      Counts.ChainCycles += Most * Cost.Chain.Cycles;
      Counts.Waits += Most * Cost.Chain.Waits;
    }
}

} // namespace cupilot
