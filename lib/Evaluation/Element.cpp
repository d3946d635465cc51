//===- Element.cpp - What buffers hold -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Element.h"
#include "cupilot/Runner/Numbers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

// The runner reads and writes numbers, on GPU machines too; here are those of
// which nothing is known, which count as bytes.
using runner::NumberKind;
static_assert(static_cast<unsigned>(ElementKind::Half) ==
                  static_cast<unsigned>(NumberKind::F16) + 1 &&
              static_cast<unsigned>(ElementKind::UInt64) ==
                  static_cast<unsigned>(NumberKind::U64) + 1);

static NumberKind numberOf(ElementKind K) {
  return K == ElementKind::Bytes
             ? NumberKind::U8
             : static_cast<NumberKind>(static_cast<unsigned>(K) - 1);
}

unsigned sizeOf(ElementKind K) { return runner::sizeOf(numberOf(K)); }

bool isFloating(ElementKind K) { return runner::isFloating(numberOf(K)); }

bool isInteger(ElementKind K) {
  return K != ElementKind::Bytes && !isFloating(K);
}

double leastNormal(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-14;
  case ElementKind::BFloat:
  case ElementKind::Float:
    return 0x1p-126;
  default:
    return 0x1p-1022;
  }
}

StringRef wordOf(ElementKind K) {
  return K == ElementKind::Bytes ? "bytes" : runner::wordOf(numberOf(K));
}

std::optional<ElementKind> elementOf(StringRef Text) {
  Text = Text.trim();
  Text.consume_front("const ");
  Text.consume_front("volatile ");
  std::string_view Name(Text.data(), Text.size());
  std::optional<NumberKind> K = runner::numberKindOf(Name);
  if (!K)
    K = runner::numberKindOfType(Name);
  if (!K)
    return std::nullopt;
  return static_cast<ElementKind>(static_cast<unsigned>(*K) + 1);
}

double readElement(ElementKind K, const uint8_t *At) {
  return runner::readNumber(numberOf(K), At);
}

void writeElement(ElementKind K, uint8_t *At, double Value) {
  runner::writeNumber(numberOf(K), At, Value);
}

int64_t readInteger(ElementKind K, const uint8_t *At) {
  return runner::readInteger(numberOf(K), At);
}

void writeInteger(ElementKind K, uint8_t *At, int64_t Value) {
  runner::writeInteger(numberOf(K), At, Value);
}

} // namespace cupilot
