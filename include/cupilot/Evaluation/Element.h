//===- Element.h - What buffers hold -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_ELEMENT_H
#define CUPILOT_EVALUATION_ELEMENT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace cupilot {

/// A number as it lies in memory.
enum class ElementKind {
  Bytes, ///< Nothing is known: compared bit by bit.
  Half,
  BFloat,
  Float,
  Double,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64
};

/// In bytes.
unsigned sizeOf(ElementKind K);
bool isFloating(ElementKind K);
bool isInteger(ElementKind K);
/// The least floating number of full precision.
double leastNormal(ElementKind K);
/// "f32", "i64", "u8", "bf16", "bytes".
llvm::StringRef wordOf(ElementKind K);
/// The kind of a word, or of a C++ type ("unsigned int"); nothing when it is
/// no number.
std::optional<ElementKind> elementOf(llvm::StringRef Text);

/// The number at \p At; 64-bit integers lose what a double does not hold.
double readElement(ElementKind K, const uint8_t *At);
/// Rounds to nearest; integers wrap.
void writeElement(ElementKind K, uint8_t *At, double Value);
int64_t readInteger(ElementKind K, const uint8_t *At);
void writeInteger(ElementKind K, uint8_t *At, int64_t Value);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_ELEMENT_H
