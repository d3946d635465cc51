//===- FatBinaryTest.cpp - NVIDIA's fat binaries ----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/FatBinary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"
#include <lz4.h>

using namespace cupilot;
using namespace llvm;

namespace {

/// An image with a header of 64 bytes.
std::string image(uint16_t Kind, uint32_t Arch, uint64_t Flags,
                  std::string Payload, uint64_t Plain) {
  char Head[64] = {};
  support::endian::write16le(Head, Kind);
  support::endian::write32le(Head + 4, sizeof(Head));
  support::endian::write32le(Head + 16, static_cast<uint32_t>(Payload.size()));
  while (Payload.size() % 8 != 0)
    Payload += '\0';
  support::endian::write64le(Head + 8, Payload.size());
  support::endian::write32le(Head + 28, Arch);
  support::endian::write64le(Head + 40, Flags);
  support::endian::write64le(Head + 56, Plain);
  return std::string(Head, sizeof(Head)) + Payload;
}

std::string binary(const std::string &Images) {
  char Head[16] = {};
  support::endian::write32le(Head, 0xBA55ED50);
  support::endian::write16le(Head + 4, 1);
  support::endian::write16le(Head + 6, sizeof(Head));
  support::endian::write64le(Head + 8, Images.size());
  return std::string(Head, sizeof(Head)) + Images;
}

std::string lz4(const std::string &Text) {
  std::string Packed(LZ4_compressBound(static_cast<int>(Text.size())), '\0');
  Packed.resize(LZ4_compress_default(Text.data(), Packed.data(),
                                     static_cast<int>(Text.size()),
                                     static_cast<int>(Packed.size())));
  return Packed;
}

std::string zstd(const std::string &Text) {
  SmallVector<uint8_t, 0> Packed;
  compression::zstd::compress(arrayRefFromStringRef(Text), Packed);
  return toStringRef(Packed).str();
}

std::string errorOf(const std::string &Bytes) {
  Expected<std::vector<FatBinaryEntry>> Entries = readFatBinary(Bytes);
  if (!Entries)
    return toString(Entries.takeError());
  for (const FatBinaryEntry &E : *Entries)
    if (Expected<std::string> Text = contentsOf(E); !Text)
      return toString(Text.takeError());
  return "none";
}

const std::string Text = std::string(500, 'x') + ".version 9.0";

TEST(FatBinary, ImagesOfAllPackings) {
  std::string Bytes = binary(image(2, 80, 0x11, "\177ELF machine code", 0) +
                             image(1, 80, 0x11, Text, 0) +
                             image(1, 90, 0x2011, lz4(Text), Text.size()) +
                             image(1, 100, 0x8011, zstd(Text), Text.size()) +
                             image(64, 90, 0x11, "something else", 0));
  ASSERT_TRUE(isFatBinary(Bytes));
  EXPECT_EQ(fatBinarySize(Bytes.data()), Bytes.size());
  Expected<std::vector<FatBinaryEntry>> Entries = readFatBinary(Bytes + "more");
  ASSERT_TRUE(bool(Entries)) << toString(Entries.takeError());
  ASSERT_EQ(Entries->size(), 5u);
  EXPECT_EQ((*Entries)[0].Kind, FatBinaryKind::Cubin);
  EXPECT_EQ((*Entries)[4].Kind, FatBinaryKind::Other);
  for (unsigned I : {1, 2, 3}) {
    EXPECT_EQ((*Entries)[I].Kind, FatBinaryKind::Ptx);
    EXPECT_EQ((*Entries)[I].Arch, 70 + 10 * I);
    Expected<std::string> Plain = contentsOf((*Entries)[I]);
    ASSERT_TRUE(bool(Plain)) << toString(Plain.takeError());
    EXPECT_EQ(*Plain, Text);
  }
}

TEST(FatBinary, Damage) {
  EXPECT_FALSE(isFatBinary("PTX"));
  EXPECT_EQ(errorOf("no header at all"),
            "the fat binary is broken: it does not begin with a header");
  std::string Good = binary(image(1, 90, 0x2011, lz4(Text), Text.size()));
  EXPECT_EQ(errorOf(Good), "none");
  // Cut off anywhere.
  for (size_t Size = 16; Size < Good.size(); ++Size)
    EXPECT_EQ(errorOf(Good.substr(0, Size)),
              "the fat binary is broken: it is cut off");
  auto With = [&](size_t At, uint32_t Value) {
    std::string Bad = Good;
    support::endian::write32le(Bad.data() + At, Value);
    return errorOf(Bad);
  };
  EXPECT_EQ(With(16 + 4, 7),
            "the fat binary is broken: the header of image 1 has 7 bytes");
  EXPECT_EQ(With(16 + 8, 1 << 30),
            "the fat binary is broken: image 1 is cut off");
  EXPECT_EQ(With(16 + 16, 1 << 30),
            "the fat binary is broken: image 1 is cut off");
  EXPECT_EQ(With(16 + 56, 100),
            "the fat binary is broken: an image that LZ4 packed is damaged");
  // No memory is asked for what cannot be.
  EXPECT_NE(With(16 + 60, 1 << 30).find("cannot have held"), std::string::npos);
  std::string Zstd = binary(image(1, 90, 0x8011, zstd(Text), Text.size()));
  Zstd[16 + 64 + 9] = static_cast<char>(~Zstd[16 + 64 + 9]);
  EXPECT_NE(errorOf(Zstd), "none");
}

} // namespace
