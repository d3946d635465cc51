//===- LaunchMemory.h - Buffers of launches, large ones too -----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MUTATION_LAUNCHMEMORY_H
#define CUPILOT_LIB_MUTATION_LAUNCHMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace cupilot {

/// What a buffer holds: the drawn bytes, over and over up to its size.
struct BufferContent {
  std::vector<uint8_t> Drawn; ///< Whole pages where it repeats.
  uint64_t Size = 0;          ///< Bytes.
  bool repeats() const { return Size > Drawn.size(); }
  /// Bytes from \p NewSize on are left out.
  void cut(uint64_t NewSize);
};

/// Bytes [From, To) of a buffer.
struct ByteRange {
  uint64_t From = 0, To = 0;
};

/// Memory that a run may change. Content that repeats is mapped many times, and
/// copied by the pages that are written: what no block touches costs nothing.
class LaunchMemory {
public:
  /// Without a content, \p Size bytes of 0xff.
  static LaunchMemory create(const BufferContent &Content);
  static LaunchMemory scratch(uint64_t Size);
  LaunchMemory() = default;
  LaunchMemory(LaunchMemory &&Other) noexcept;
  LaunchMemory &operator=(LaunchMemory &&Other) noexcept;
  ~LaunchMemory();
  /// Aligned to 256 bytes; null where there was no room for it.
  uint8_t *base() const { return Base; }
  uint64_t size() const { return Size; }
  /// The pages that may have been written; all of a buffer that is not mapped.
  std::vector<ByteRange> written() const;

private:
  std::vector<uint8_t> Storage;
  uint8_t *Base = nullptr;
  uint64_t Size = 0, Mapped = 0; ///< Bytes that are mapped; 0: Storage.
};

/// What any of two or more runs wrote: the union of the written pages.
std::vector<ByteRange> writtenByAny(llvm::ArrayRef<const LaunchMemory *> Runs);
/// Those bytes, side by side.
std::vector<uint8_t> gather(const LaunchMemory &M,
                            llvm::ArrayRef<ByteRange> Ranges);
/// Where byte \p At of what gather() returned lies in the buffer.
uint64_t placeOf(llvm::ArrayRef<ByteRange> Ranges, uint64_t At);
/// Whether both hold the same in \p Ranges.
bool equalIn(const LaunchMemory &A, const LaunchMemory &B,
             llvm::ArrayRef<ByteRange> Ranges);

} // namespace cupilot

#endif // CUPILOT_LIB_MUTATION_LAUNCHMEMORY_H
