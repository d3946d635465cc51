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
#ifndef CUPILOT_LIB_CPUDEVICE_SHADOWWORDS_H
#define CUPILOT_LIB_CPUDEVICE_SHADOWWORDS_H

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
inline constexpr uint64_t Segments = 1u << 22;
inline constexpr unsigned ThreadShift = 32; ///< In its block.
inline constexpr uint64_t ThreadMask = 1023;
/// What of its segment the thread had behind it: see BlockShadow.
inline constexpr unsigned ClockShift = 22;
inline constexpr uint64_t ClockMask = 1023;
inline constexpr uint64_t Bytes = 15; ///< Those of the four that were touched.
inline constexpr uint64_t Atomic = 1u << 4; ///< Or volatile.

// The write word only.
inline constexpr unsigned UnwrittenShift = 6;
inline constexpr uint64_t Unwritten = uint64_t(15) << UnwrittenShift;
inline constexpr unsigned WrittenShift = 10; ///< Coverage.
inline constexpr uint64_t Written = uint64_t(15) << WrittenShift;
inline constexpr unsigned WriteLocationShift = 14;
inline constexpr uint64_t WriteLocations = 256;

// The read word only.
/// Another thread read the bytes as well, when nothing ordered the two.
inline constexpr uint64_t Several = 1u << 5;
inline constexpr unsigned ReadShift = 6; ///< Coverage.
inline constexpr uint64_t Read = uint64_t(15) << ReadShift;
inline constexpr unsigned ReadLocationShift = 10;
inline constexpr uint64_t ReadLocations = 4096;

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

#endif // CUPILOT_LIB_CPUDEVICE_SHADOWWORDS_H
