//===- FatBinary.h - NVIDIA's fat binaries ----------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PORTABLE_FATBINARY_H
#define CUPILOT_PORTABLE_FATBINARY_H

#include "cupilot/Portable/Failure.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot {

enum class FatBinaryKind : uint8_t {
  Ptx,   ///< Text.
  Cubin, ///< Machine code: an ELF file.
  Other  ///< What only other tools read (LTO's IR).
};

/// One image of a fat binary. The bytes are the binary's.
struct FatBinaryEntry {
  FatBinaryKind Kind = FatBinaryKind::Other;
  unsigned Arch = 0; ///< Compute capability times ten: 90.
  enum class Packing : uint8_t { None, Lz4, Zstd } Packed = Packing::None;
  std::string_view Stored; ///< As it lies there, perhaps packed.
  uint64_t PlainBytes = 0; ///< Of what is packed.

  /// Sets \p Plain to the image, unpacked; PTX without the zeros behind it.
  /// Damage is wrong use.
  std::optional<Failure> unpack(std::string &Plain) const;
};

/// True where \p Bytes begin as a fat binary does.
bool isFatBinary(std::string_view Bytes);

/// Length in bytes of the fat binary at \p Start, as its header says; 0 where
/// none begins there. At least 16 bytes must be readable.
uint64_t fatBinarySize(const void *Start);

/// Sets \p Entries to the images of a fat binary, in its order. One that is cut
/// off or damaged is wrong use, and says where.
std::optional<Failure> readFatBinary(std::string_view Bytes,
                                     std::vector<FatBinaryEntry> &Entries);

} // namespace cupilot

#endif // CUPILOT_PORTABLE_FATBINARY_H
