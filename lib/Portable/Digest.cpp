//===- Digest.cpp - Content digests -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/Digest.h"

namespace cupilot {

static constexpr std::string_view Digits = "0123456789abcdef";

DigestBuilder::DigestBuilder() { llvm_blake3_hasher_init(&Hasher); }

DigestBuilder &DigestBuilder::add(std::string_view Bytes) {
  add(uint64_t(Bytes.size()));
  llvm_blake3_hasher_update(&Hasher, Bytes.data(), Bytes.size());
  return *this;
}

DigestBuilder &DigestBuilder::add(uint64_t Number) {
  uint8_t Bytes[sizeof(Number)]; // Little endian.
  for (uint8_t &Byte : Bytes) {
    Byte = uint8_t(Number);
    Number >>= 8;
  }
  llvm_blake3_hasher_update(&Hasher, Bytes, sizeof(Bytes));
  return *this;
}

static std::string render(const llvm_blake3_hasher &Hasher) {
  char Out[LLVM_BLAKE3_OUT_LEN];
  llvm_blake3_hasher_finalize(&Hasher, reinterpret_cast<uint8_t *>(Out),
                              sizeof(Out));
  return "b3:" + hexOf({Out, sizeof(Out)});
}

std::string DigestBuilder::str() const { return render(Hasher); }

std::string digest(std::string_view Bytes) {
  llvm_blake3_hasher Hasher;
  llvm_blake3_hasher_init(&Hasher);
  llvm_blake3_hasher_update(&Hasher, Bytes.data(), Bytes.size());
  return render(Hasher);
}

bool isDigest(std::string_view Text) {
  return Text.size() == 67 && Text.starts_with("b3:") &&
         Text.find_first_not_of(Digits, 3) == std::string_view::npos;
}

std::string shortDigest(std::string_view Digest, size_t Count) {
  if (Digest.starts_with("b3:"))
    Digest.remove_prefix(3);
  return std::string(Digest.substr(0, Count));
}

std::string dataFileName(std::string_view Digest, size_t Count) {
  return shortDigest(Digest, Count) + ".bin";
}

std::string hexOf(std::string_view Bytes) {
  std::string Text;
  Text.reserve(2 * Bytes.size());
  for (unsigned char Byte : Bytes) {
    Text += Digits[Byte >> 4];
    Text += Digits[Byte & 15];
  }
  return Text;
}

bool appendBytesOf(std::string_view Hex, std::string &Bytes) {
  for (size_t I = 0; I + 1 < Hex.size(); I += 2) {
    size_t High = Digits.find(Hex[I]), Low = Digits.find(Hex[I + 1]);
    if (High == Digits.npos || Low == Digits.npos)
      return false;
    Bytes += char(High << 4 | Low);
  }
  return Hex.size() % 2 == 0;
}

} // namespace cupilot
