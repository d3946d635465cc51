//===- Digest.cpp - Content digests -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace cupilot {

DigestBuilder &DigestBuilder::add(StringRef Bytes) {
  add(static_cast<uint64_t>(Bytes.size()));
  Hasher.update(Bytes);
  return *this;
}

DigestBuilder &DigestBuilder::add(uint64_t Number) {
  char Buffer[sizeof(Number)];
  support::endian::write64le(Buffer, Number);
  Hasher.update(StringRef(Buffer, sizeof(Buffer)));
  return *this;
}

static std::string render(const BLAKE3 &Hasher) {
  BLAKE3 Copy = Hasher;
  BLAKE3Result<> Result = Copy.final();
  return "b3:" + toHex(Result, /*LowerCase=*/true);
}

std::string DigestBuilder::str() const { return render(Hasher); }

std::string digest(StringRef Bytes) {
  BLAKE3 Hasher;
  Hasher.update(Bytes);
  return render(Hasher);
}

bool isDigest(StringRef Text) {
  return Text.consume_front("b3:") && Text.size() == 64 &&
         all_of(Text,
                [](char C) { return isDigit(C) || (C >= 'a' && C <= 'f'); });
}

std::string shortDigest(StringRef Digest, unsigned Digits) {
  Digest.consume_front("b3:");
  return Digest.take_front(Digits).str();
}

} // namespace cupilot
