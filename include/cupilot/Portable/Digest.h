//===- Digest.h - Content digests -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BLAKE3 by the functions in plain C that LLVM has. Programs that use LLVM's
// shared library find them there; the others link cupilotBlake3.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PORTABLE_DIGEST_H
#define CUPILOT_PORTABLE_DIGEST_H

#include "llvm-c/blake3.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace cupilot {

/// Collects bytes into one BLAKE3 digest. Every piece is framed by its length,
/// so that ("ab", "c") and ("a", "bc") differ.
class DigestBuilder {
public:
  DigestBuilder();
  DigestBuilder &add(std::string_view Bytes);
  DigestBuilder &add(uint64_t Number);
  /// The digest as "b3:" and 64 hexadecimal digits.
  std::string str() const;

private:
  llvm_blake3_hasher Hasher;
};

/// "b3:" and the 64 hexadecimal digits of the BLAKE3 digest of \p Bytes.
std::string digest(std::string_view Bytes);

/// True for "b3:" and 64 lower-case hexadecimal digits.
bool isDigest(std::string_view Text);

/// The first \p Digits hexadecimal digits of \p Digest, without "b3:"; used in
/// file and symbol names.
std::string shortDigest(std::string_view Digest, size_t Digits = 16);

/// The name of the file for the data that has \p Digest: its digits and ".bin".
std::string dataFileName(std::string_view Digest, size_t Digits = 32);

/// Two lower-case hexadecimal digits for each byte.
std::string hexOf(std::string_view Bytes);
/// Appends the bytes that \p Hex stands for; false, where it has an odd number
/// of digits or others than lower-case ones.
bool appendBytesOf(std::string_view Hex, std::string &Bytes);

} // namespace cupilot

#endif // CUPILOT_PORTABLE_DIGEST_H
