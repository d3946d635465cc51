//===- FatBinary.h - NVIDIA's fat binaries ----------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_FATBINARY_H
#define CUPILOT_SUPPORT_FATBINARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
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
  llvm::StringRef Stored;  ///< As it lies there, perhaps packed.
  uint64_t PlainBytes = 0; ///< Of what is packed.

  /// The image, unpacked; PTX without the zeros behind it. Damage is a usage
  /// error.
  llvm::Expected<std::string> contents() const;
};

/// True where \p Bytes begin as a fat binary does.
bool isFatBinary(llvm::StringRef Bytes);

/// Length in bytes of the fat binary at \p Start, as its header says; 0 where
/// none begins there. At least 16 bytes must be readable.
uint64_t fatBinarySize(const void *Start);

/// The images of a fat binary, in its order. One that is cut off or damaged is
/// a usage error that says where.
llvm::Expected<std::vector<FatBinaryEntry>>
readFatBinary(llvm::StringRef Bytes);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_FATBINARY_H
