//===- FatBinary.cpp - NVIDIA's fat binaries --------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/FatBinary.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include <lz4.h>

using namespace llvm;
using namespace llvm::support;

namespace cupilot {

/// Layout of NVIDIA's fat binaries, as far as it is needed: a header, then
/// entries with headers of their own. Little-endian.
namespace fatbin {
constexpr uint32_t Magic = 0xBA55ED50;
constexpr size_t HeaderSize = 16, EntryHeaderSize = 16;
constexpr uint16_t KindPtx = 1, KindElf = 2;
// Fields of the header, by offset.
constexpr size_t HeaderLength = 6, TotalBytes = 8;
// Fields of an entry's header, by offset.
constexpr size_t Kind = 0, HeaderBytes = 4, PayloadBytes = 8,
                 CompressedBytes = 16, Arch = 28, Flags = 40, PlainBytes = 56,
                 FullHeader = 64;
constexpr uint64_t CompressedLz4 = 0x2000, CompressedZstd = 0x8000;
/// What a header says of the plain size is allocated before it is checked: no
/// more than a page and what the best compression would give.
constexpr uint64_t MostRatio = 1024;
} // namespace fatbin

static Error broken(const Twine &How) {
  return usageError("the fat binary is broken: " + How);
}

bool isFatBinary(StringRef Bytes) {
  return Bytes.size() >= fatbin::HeaderSize &&
         endian::read32le(Bytes.data()) == fatbin::Magic;
}

uint64_t fatBinarySize(const void *Start) {
  const char *Bytes = static_cast<const char *>(Start);
  if (!isFatBinary(StringRef(Bytes, fatbin::HeaderSize)))
    return 0;
  return endian::read16le(Bytes + fatbin::HeaderLength) +
         endian::read64le(Bytes + fatbin::TotalBytes);
}

static FatBinaryKind kindOf(uint16_t Number) {
  return Number == fatbin::KindPtx   ? FatBinaryKind::Ptx
         : Number == fatbin::KindElf ? FatBinaryKind::Cubin
                                     : FatBinaryKind::Other;
}

Expected<std::vector<FatBinaryEntry>> readFatBinary(StringRef Bytes) {
  if (!isFatBinary(Bytes))
    return broken("it does not begin with a header");
  uint64_t Size = endian::read64le(Bytes.data() + fatbin::TotalBytes);
  uint16_t Header = endian::read16le(Bytes.data() + fatbin::HeaderLength);
  if (Header < fatbin::HeaderSize || Header > Bytes.size())
    return broken("its header has " + Twine(Header) + " bytes");
  if (Size > Bytes.size() - Header)
    return broken("it is cut off");
  std::vector<FatBinaryEntry> Entries;
  StringRef Rest = Bytes.substr(Header, Size);
  while (Rest.size() >= fatbin::EntryHeaderSize) {
    std::string Which = "image " + std::to_string(Entries.size() + 1);
    uint32_t HeaderBytes = endian::read32le(Rest.data() + fatbin::HeaderBytes);
    uint64_t Payload = endian::read64le(Rest.data() + fatbin::PayloadBytes);
    if (HeaderBytes < fatbin::EntryHeaderSize || HeaderBytes > Rest.size())
      return broken("the header of " + Which + " has " + Twine(HeaderBytes) +
                    " bytes");
    if (Payload > Rest.size() - HeaderBytes)
      return broken(Which + " is cut off");
    FatBinaryEntry &E = Entries.emplace_back();
    E.Kind = kindOf(endian::read16le(Rest.data() + fatbin::Kind));
    E.Stored = Rest.substr(HeaderBytes, Payload);
    if (HeaderBytes >= fatbin::FullHeader) {
      E.Arch = endian::read32le(Rest.data() + fatbin::Arch);
      uint64_t Flags = endian::read64le(Rest.data() + fatbin::Flags);
      E.Packed = Flags & fatbin::CompressedLz4 ? FatBinaryEntry::Packing::Lz4
                 : Flags & fatbin::CompressedZstd
                     ? FatBinaryEntry::Packing::Zstd
                     : FatBinaryEntry::Packing::None;
      if (E.Packed != FatBinaryEntry::Packing::None) {
        uint64_t Used = endian::read32le(Rest.data() + fatbin::CompressedBytes);
        E.PlainBytes = endian::read64le(Rest.data() + fatbin::PlainBytes);
        if (Used > Payload)
          return broken(Which + " is cut off");
        E.Stored = E.Stored.take_front(Used);
      }
    }
    Rest = Rest.drop_front(HeaderBytes + Payload);
  }
  return Entries;
}

static Expected<std::string> unpacked(const FatBinaryEntry &E) {
  if (E.Packed == FatBinaryEntry::Packing::None)
    return E.Stored.str();
  if (E.PlainBytes / fatbin::MostRatio > E.Stored.size() + 4)
    return broken("an image of " + Twine(E.Stored.size()) +
                  " bytes cannot have held " + Twine(E.PlainBytes));
  if (E.Packed == FatBinaryEntry::Packing::Lz4) {
    std::string Plain(E.PlainBytes, '\0');
    if (E.PlainBytes > LZ4_MAX_INPUT_SIZE ||
        E.Stored.size() > LZ4_MAX_INPUT_SIZE ||
        LZ4_decompress_safe(
            E.Stored.data(), Plain.data(), static_cast<int>(E.Stored.size()),
            static_cast<int>(Plain.size())) != static_cast<int>(Plain.size()))
      return broken("an image that LZ4 packed is damaged");
    return Plain;
  }
  if (!compression::zstd::isAvailable())
    return usageError("the fat binary is packed by zstd, which this LLVM does "
                      "not support");
  SmallVector<uint8_t, 0> Plain;
  if (Error Why = compression::zstd::decompress(arrayRefFromStringRef(E.Stored),
                                                Plain, E.PlainBytes))
    return broken("an image that zstd packed is damaged: " +
                  toString(std::move(Why)));
  return toStringRef(Plain).str();
}

Expected<std::string> FatBinaryEntry::contents() const {
  Expected<std::string> Plain = unpacked(*this);
  if (Plain && Kind == FatBinaryKind::Ptx)
    Plain->resize(StringRef(*Plain).rtrim('\0').size());
  return Plain;
}

} // namespace cupilot
