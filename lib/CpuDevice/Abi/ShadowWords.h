//===- ShadowWords.h - What is kept for four bytes of memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sixteen bytes for each aligned four bytes of memory: who wrote them last, and
// who read them. Which of the four bytes is meant, which of them nobody has
// written, and which launches read or wrote, are bits of the same words, so the
// checks together take four times the memory that they look after.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_ABI_SHADOWWORDS_H
#define CUPILOT_LIB_CPUDEVICE_ABI_SHADOWWORDS_H

#include <cstdint>

namespace cupilot {

/// The shadow of four bytes. Read and written with relaxed atomics.
struct Granule {
  uint64_t Write = 0, Read = 0;
};
inline constexpr uint64_t GranuleBytes = 4;
/// Bytes of shadow for each byte of memory.
inline constexpr uint64_t ShadowFactor = sizeof(Granule) / GranuleBytes;

/// Fields of both words. A stamp is a word with only the upper three.
namespace word {
/// The segment: a stretch of the life of a block, or of a warp, in one launch.
inline constexpr unsigned SegmentShift = 42;
inline constexpr uint64_t Segments = (1u << 22) - 1; ///< Their numbers.
/// What of its segment the thread had behind it: see BlockShadow.
inline constexpr unsigned ClockShift = 32;
inline constexpr uint64_t ClockMask = 1023;
inline constexpr unsigned ThreadShift = 22; ///< In its block.
inline constexpr uint64_t ThreadMask = 1023;
inline constexpr unsigned WarpShift = ThreadShift + 5;
inline constexpr uint64_t Bytes = 15; ///< Those of the four that were touched.
inline constexpr uint64_t Atomic = 1u << 4; ///< Or volatile.

// The write word only.
inline constexpr unsigned UnwrittenShift = 5;
inline constexpr uint64_t Unwritten = uint64_t(15) << UnwrittenShift;
inline constexpr unsigned WrittenShift = 9; ///< Coverage.
inline constexpr uint64_t Written = uint64_t(15) << WrittenShift;
/// Not zero: lanes of one warp wrote, at one clock, each another part of the
/// bytes; the number says which of them are the thread's own: see lastBytes().
inline constexpr unsigned LastShift = 13;
inline constexpr uint64_t Last = uint64_t(7) << LastShift;
inline constexpr unsigned WriteLocationShift = 16;
inline constexpr uint64_t WriteLocations = 64;

// The read word only.
/// Another thread read the bytes as well, when nothing ordered the two.
inline constexpr uint64_t Several = 1u << 5;
inline constexpr unsigned ReadShift = 6; ///< Coverage.
inline constexpr uint64_t Read = uint64_t(15) << ReadShift;
/// Bytes that other lanes of the warp read at the same clock.
inline constexpr unsigned MoreShift = 10;
inline constexpr uint64_t More = uint64_t(15) << MoreShift;
inline constexpr unsigned ReadLocationShift = 14;
inline constexpr uint64_t ReadLocations = 256;

/// The bytes that the thread of a write word wrote itself.
inline uint64_t lastBytes(uint64_t Word) {
  constexpr uint64_t Parts[8] = {0, 1, 2, 4, 8, 3, 12, 0};
  uint64_t Part = Parts[Word >> LastShift & 7];
  return Part ? Part : Word & Bytes;
}
/// The number for a part of the bytes; 0 when it has none.
inline uint64_t lastNumber(uint64_t Part) {
  constexpr uint64_t Numbers[16] = {0, 1, 2, 5, 3, 0, 0, 0,
                                    4, 0, 0, 0, 6, 0, 0, 0};
  return Numbers[Part & Bytes] << LastShift;
}

inline uint64_t segment(uint64_t Word) { return Word >> SegmentShift; }
inline uint32_t thread(uint64_t Word) {
  return static_cast<uint32_t>(Word >> ThreadShift & ThreadMask);
}
inline uint32_t clock(uint64_t Word) {
  return static_cast<uint32_t>(Word >> ClockShift & ClockMask);
}
inline uint64_t stamp(uint64_t Segment, uint64_t Thread, uint64_t Clock) {
  return Segment << SegmentShift | Thread << ThreadShift | Clock << ClockShift;
}
/// What stays when a launch's races are forgotten.
inline constexpr uint64_t LastingWrite = Unwritten | Written;
inline constexpr uint64_t LastingRead = Read;
} // namespace word

inline uint64_t loadWord(const uint64_t &Word) {
  return __atomic_load_n(&Word, __ATOMIC_RELAXED);
}
inline void storeWord(uint64_t &Word, uint64_t Value) {
  __atomic_store_n(&Word, Value, __ATOMIC_RELAXED);
}

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_ABI_SHADOWWORDS_H
