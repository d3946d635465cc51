//===- FatBinary.cpp - NVIDIA's fat binaries --------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/FatBinary.h"
#include <cstring>
#include <lz4.h>
#include <zstd.h>

namespace cupilot {

/// Layout of NVIDIA's fat binaries, as far as it is needed: a header, then
/// entries with headers of their own. Little-endian, as the machines are.
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

template <typename T> static T readAt(std::string_view Bytes, size_t Offset) {
  T Value;
  std::memcpy(&Value, Bytes.data() + Offset, sizeof(T));
  return Value;
}

static Failure broken(const std::string &How) {
  return Failure(FailureKind::WrongUse, "the fat binary is broken: " + How);
}

bool isFatBinary(std::string_view Bytes) {
  return Bytes.size() >= fatbin::HeaderSize &&
         readAt<uint32_t>(Bytes, 0) == fatbin::Magic;
}

uint64_t fatBinarySize(const void *Start) {
  std::string_view Bytes(static_cast<const char *>(Start), fatbin::HeaderSize);
  if (!isFatBinary(Bytes))
    return 0;
  return readAt<uint16_t>(Bytes, fatbin::HeaderLength) +
         readAt<uint64_t>(Bytes, fatbin::TotalBytes);
}

static FatBinaryKind kindOf(uint16_t Number) {
  return Number == fatbin::KindPtx   ? FatBinaryKind::Ptx
         : Number == fatbin::KindElf ? FatBinaryKind::Cubin
                                     : FatBinaryKind::Other;
}

std::optional<Failure> readFatBinary(std::string_view Bytes,
                                     std::vector<FatBinaryEntry> &Entries) {
  Entries.clear();
  if (!isFatBinary(Bytes))
    return broken("it does not begin with a header");
  auto Size = readAt<uint64_t>(Bytes, fatbin::TotalBytes);
  auto Header = readAt<uint16_t>(Bytes, fatbin::HeaderLength);
  if (Header < fatbin::HeaderSize || Header > Bytes.size())
    return broken("its header has " + std::to_string(Header) + " bytes");
  if (Size > Bytes.size() - Header)
    return broken("it is cut off");
  std::string_view Rest = Bytes.substr(Header, Size);
  while (Rest.size() >= fatbin::EntryHeaderSize) {
    std::string Which = "image " + std::to_string(Entries.size() + 1);
    auto HeaderBytes = readAt<uint32_t>(Rest, fatbin::HeaderBytes);
    auto Payload = readAt<uint64_t>(Rest, fatbin::PayloadBytes);
    if (HeaderBytes < fatbin::EntryHeaderSize || HeaderBytes > Rest.size())
      return broken("the header of " + Which + " has " +
                    std::to_string(HeaderBytes) + " bytes");
    if (Payload > Rest.size() - HeaderBytes)
      return broken(Which + " is cut off");
    FatBinaryEntry &E = Entries.emplace_back();
    E.Kind = kindOf(readAt<uint16_t>(Rest, fatbin::Kind));
    E.Stored = Rest.substr(HeaderBytes, Payload);
    if (HeaderBytes >= fatbin::FullHeader) {
      E.Arch = readAt<uint32_t>(Rest, fatbin::Arch);
      auto Flags = readAt<uint64_t>(Rest, fatbin::Flags);
      E.Packed = Flags & fatbin::CompressedLz4 ? FatBinaryEntry::Packing::Lz4
                 : Flags & fatbin::CompressedZstd
                     ? FatBinaryEntry::Packing::Zstd
                     : FatBinaryEntry::Packing::None;
      if (E.Packed != FatBinaryEntry::Packing::None) {
        uint64_t Used = readAt<uint32_t>(Rest, fatbin::CompressedBytes);
        E.PlainBytes = readAt<uint64_t>(Rest, fatbin::PlainBytes);
        if (Used > Payload)
          return broken(Which + " is cut off");
        E.Stored = E.Stored.substr(0, Used);
      }
    }
    Rest.remove_prefix(HeaderBytes + Payload);
  }
  return std::nullopt;
}

std::optional<Failure> FatBinaryEntry::unpack(std::string &Plain) const {
  if (Packed == Packing::None) {
    Plain = Stored;
  } else {
    if (PlainBytes / fatbin::MostRatio > Stored.size() + 4)
      return broken("an image of " + std::to_string(Stored.size()) +
                    " bytes cannot have held " + std::to_string(PlainBytes));
    Plain.assign(PlainBytes, '\0');
    if (Packed == Packing::Lz4) {
      if (PlainBytes > LZ4_MAX_INPUT_SIZE ||
          Stored.size() > LZ4_MAX_INPUT_SIZE ||
          LZ4_decompress_safe(
              Stored.data(), Plain.data(), static_cast<int>(Stored.size()),
              static_cast<int>(Plain.size())) != static_cast<int>(Plain.size()))
        return broken("an image that LZ4 packed is damaged");
    } else {
      size_t Got = ZSTD_decompress(Plain.data(), Plain.size(), Stored.data(),
                                   Stored.size());
      if (ZSTD_isError(Got))
        return broken(std::string("an image that zstd packed is damaged: ") +
                      ZSTD_getErrorName(Got));
      Plain.resize(Got);
    }
  }
  if (Kind == FatBinaryKind::Ptx)
    Plain.resize(Plain.find_last_not_of('\0') + 1);
  return std::nullopt;
}

} // namespace cupilot
