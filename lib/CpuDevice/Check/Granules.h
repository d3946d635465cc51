//===- Granules.h - What an access leaves in the shadow -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of the race check for one granule: what another access left,
// whether anything orders the two, and what this one leaves. FastCheck.cpp has
// the common cases as IR.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_GRANULES_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_GRANULES_H

#include "BlockShadow.h"

namespace cupilot {

/// Whether the access that left \p Word is by another thread of this launch and
/// not settled by a barrier of the block.
inline bool isSuspicious(const ThreadContext &T, uint64_t Word) {
  if (Word - T.LaunchLowest >= T.LaunchSpan ||
      Word - T.SegmentLowest < T.SettledSpan)
    return false;
  constexpr uint64_t Clock = word::ClockMask << word::ClockShift;
  return ((Word ^ T.Stamp) & ~Clock) >> word::ThreadShift;
}

/// The same to the end, for a suspicious word: nothing orders the two.
inline bool isUnordered(const ThreadContext &T, uint64_t Word) {
  constexpr uint64_t Clock = word::ClockMask << word::ClockShift;
  if (!(((Word ^ T.Stamp) & ~Clock) >> word::WarpShift) &&
      word::clock(Word) < T.WarpSettled)
    return false; // A lane of the same warp.
  return !T.Extra || !T.Checks->isOver(T, Word);
}

/// Whether accesses with these low bits make a race when one writes.
inline bool isConflict(uint64_t A, uint64_t B) {
  return (A & B & word::Bytes) && !(A & B & word::Atomic);
}

/// Whether \p Word is by the same segment at the same clock.
inline bool isSameClock(const ThreadContext &T, uint64_t Word) {
  return !((Word ^ T.Stamp) >> word::ClockShift);
}
/// And by the same thread.
inline bool isOwn(const ThreadContext &T, uint64_t Word) {
  return !((Word ^ T.Stamp) >> word::ThreadShift);
}
/// And by a lane of the same warp.
inline bool isOwnWarp(const ThreadContext &T, uint64_t Word) {
  return !((Word ^ T.Stamp) >> word::WarpShift);
}

/// The bytes of an unordered write that another thread is known to have
/// written: those of other lanes in it may be this thread's own.
inline uint64_t othersBytes(const ThreadContext &T, uint64_t Word) {
  if (!(Word & word::Last) || word::thread(Word) / 32 != T.Linear / 32 ||
      !T.Checks->isOwnBlock(Word))
    return Word & word::Bytes;
  return word::lastBytes(Word);
}

/// What an access ran into.
struct Race {
  uint64_t Word = 0;
  bool OtherWrote = false;
  bool Known = true; ///< That it was the thread of the word.
};

/// The other party, if what write word \p W stands for makes a race with an
/// access of \p Bytes.
inline void findWriter(ThreadContext &T, uint64_t W, uint64_t Bytes,
                       uint64_t Bits, Race &Found) {
  if (!isSuspicious(T, W) || !isConflict(W, Bits) || !isUnordered(T, W))
    return;
  if (othersBytes(T, W) & Bytes)
    Found = {W, true, (word::lastBytes(W) & Bytes) != 0};
}

/// Notes a read of \p Bytes; returns those that nobody wrote.
inline uint64_t readGranule(ThreadContext &T, Granule &G, uint64_t Bytes,
                            uint64_t Bits, Race &Found) {
  uint64_t W = loadWord(G.Write), R = loadWord(G.Read);
  Bits |= Bytes;
  findWriter(T, W, Bytes, Bits, Found);
  uint64_t Cover = Bits & word::Read & (Bytes << word::ReadShift);
  Bits &= ~word::Read;
  uint64_t New = 0;
  if (isSuspicious(T, R) && isUnordered(T, R) &&
      (!(R & word::Atomic) || (Bits & word::Atomic))) {
    // The first of several readers stays: the one who writes is often among the
    // later ones.
    New = R | Cover;
    if (!((R ^ Bits) & word::Atomic)) {
      if ((R & Bytes) == Bytes)
        New |= word::Several;
      else if (isOwnWarp(T, R) && !(Bits & word::Atomic))
        New |= (Bytes & ~R) << word::MoreShift;
    }
  } else {
    New = T.Stamp | Bits | Cover | (R & word::Read);
    if (isOwn(T, R) && !((R ^ Bits) & word::Atomic))
      New |= R & (word::Bytes | word::Several | word::More);
  }
  if (New != R) {
    if (Cover & ~R)
      while (!__atomic_compare_exchange_n(&G.Read, &R, New | (R & word::Read),
                                          /*weak=*/false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED))
        ;
    else
      storeWord(G.Read, New);
  }
  return W >> word::UnwrittenShift & Bytes;
}

/// The other party, if what read word \p R stands for makes a race with a write
/// of \p Bytes.
inline void findReader(ThreadContext &T, uint64_t R, uint64_t Bytes,
                       uint64_t Bits, Race &Found) {
  uint64_t More = R >> word::MoreShift & word::Bytes & Bytes;
  if (isSuspicious(T, R)) {
    if (!isConflict(R, Bits) && !More)
      return;
    if (!isUnordered(T, R))
      return;
    if (isConflict(R, Bits))
      Found = {R, false, true};
    else if (More && (word::thread(R) / 32 != T.Linear / 32 ||
                      !T.Checks->isOwnBlock(R)))
      Found = {R, false, false}; // A lane of that warp.
    return;
  }
  // This thread read it, and another that it has not met since.
  if (T.LaunchSpan && isOwn(T, R) &&
      ((R & word::Several && isConflict(R, Bits)) || More))
    Found = {R, false, false};
}

/// Notes a write of \p Bytes.
inline void writeGranule(ThreadContext &T, Granule &G, uint64_t Bytes,
                         uint64_t Bits, Race &Found) {
  uint64_t W = loadWord(G.Write), R = loadWord(G.Read);
  Bits |= Bytes;
  findWriter(T, W, Bytes, Bits, Found);
  findReader(T, R, Bytes, Bits, Found);
  Bits &= ~(word::Written ^ (word::Written & Bytes << word::WrittenShift));
  uint64_t Clear = word::Unwritten & ~(Bytes << word::UnwrittenShift);
  auto Next = [&](uint64_t Old) {
    uint64_t New = T.Stamp | Bits | (Old & (word::Written | Clear));
    if (!isOwnWarp(T, Old) || ((Old ^ Bits) & word::Atomic))
      return New;
    uint64_t Before = Old & word::Bytes, Own = Bytes, Last = 0;
    if (isOwn(T, Old)) {
      if (!(Old & word::Last))
        return New | Before;
      // Others wrote beside it. What is its own must stay known.
      Own |= word::lastBytes(Old);
    } else if (Bits & word::Atomic) {
      return New;
    }
    if (!(Before & ~Own))
      return New | Own;
    Last = word::lastNumber(Own);
    return New | Own | (Last ? Before | Last : 0);
  };
  if (Bytes == word::Bytes) {
    if (uint64_t New = Next(W); New != W)
      storeWord(G.Write, New);
    return;
  }
  // Other threads may be about to mark other bytes of the word.
  while (!__atomic_compare_exchange_n(&G.Write, &W, Next(W), /*weak=*/false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

inline Granule &granuleAt(uint64_t Shadow, uint64_t Address) {
  return *reinterpret_cast<Granule *>(Shadow +
                                      Address / GranuleBytes * sizeof(Granule));
}

/// Calls \p Visit with each granule, the bytes of it, and the number of bytes
/// before it.
template <typename FnT>
inline void forGranules(uint64_t Shadow, uint64_t Address, uint64_t Size,
                        FnT Visit) {
  for (uint64_t Done = 0; Done < Size;) {
    uint64_t First = (Address + Done) % GranuleBytes;
    uint64_t Count = std::min(GranuleBytes - First, Size - Done);
    Visit(granuleAt(Shadow, Address + Done),
          ((uint64_t(1) << Count) - 1) << First, Done);
    Done += Count;
  }
}

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_GRANULES_H
