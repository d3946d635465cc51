//===- Digest.h - Content digests -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_DIGEST_H
#define CUPILOT_SUPPORT_DIGEST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"
#include <string>

namespace cupilot {

/// Collects bytes into one BLAKE3 digest. Every piece is framed by its length,
/// so that ("ab", "c") and ("a", "bc") differ.
class DigestBuilder {
public:
  DigestBuilder &add(llvm::StringRef Bytes);
  DigestBuilder &add(uint64_t Number);
  /// The digest as "b3:" and 64 hexadecimal digits.
  std::string str() const;

private:
  llvm::BLAKE3 Hasher;
};

/// "b3:" and the 64 hexadecimal digits of the BLAKE3 digest of \p Bytes.
std::string digest(llvm::StringRef Bytes);

/// True for "b3:" and 64 lower-case hexadecimal digits.
bool isDigest(llvm::StringRef Text);

/// The first \p Digits hexadecimal digits of \p Digest, without "b3:"; used in
/// file and symbol names.
std::string shortDigest(llvm::StringRef Digest, unsigned Digits = 16);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_DIGEST_H
