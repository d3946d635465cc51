//===- Numbers.h - The numbers in buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RUNNER_NUMBERS_H
#define CUPILOT_RUNNER_NUMBERS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::runner {

/// A number as it lies in memory.
enum class NumberKind {
  F16,
  BF16,
  F32,
  F64,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64
};

unsigned sizeOf(NumberKind K);
bool isFloating(NumberKind K);
std::string_view wordOf(NumberKind K);
/// "f32", "bf16", "u8"; nothing for other words.
std::optional<NumberKind> numberKindOf(std::string_view Word);
/// The same of a type's name: "float", "__half", "unsigned int".
std::optional<NumberKind> numberKindOfType(std::string_view Name);

/// The number at \p At; 64-bit integers lose what a double does not hold.
double readNumber(NumberKind K, const uint8_t *At);
/// Rounds to nearest, ties to even; integers wrap.
void writeNumber(NumberKind K, uint8_t *At, double Value);
/// The same without rounding, for integers; of floating-point numbers the bits.
int64_t readInteger(NumberKind K, const uint8_t *At);
void writeInteger(NumberKind K, uint8_t *At, int64_t Value);
/// How many numbers of the format lie between two of one kind; the largest
/// number where one is NaN.
uint64_t ulpsBetween(NumberKind K, const uint8_t *A, const uint8_t *B);

/// A number in an element.
struct Field {
  uint64_t Offset = 0;
  NumberKind Kind = NumberKind::U8;
};

/// The elements of a buffer: numbers, vectors or structs of numbers, of which
/// padding is no part. Without fields nothing is known of its bytes.
struct Elements {
  uint64_t Stride = 1;
  std::vector<Field> Fields;
  static Elements of(NumberKind K) { return {sizeOf(K), {{0, K}}}; }
};

/// A number may be off by Absolute + Relative * (|original| + Floor * rms),
/// where rms is the root mean square of the original's numbers in its field.
/// With Norm other than 0, no field of a buffer may have a larger
/// |candidate - original| / |original|, by Euclidean norms.
struct Tolerance {
  double Absolute = 0, Relative = 0, Floor = 0, Norm = 0;
  bool isExact() const { return Absolute == 0 && Relative == 0; }
};

/// The \p Size bytes that \p Generator makes: "f32 uniform seed=1 low=-1". The
/// same on every machine. \p Variation other than 0 gives others of the kind,
/// where it draws numbers. Failure: bad-generator.
std::vector<uint8_t> generate(std::string_view Generator, uint64_t Size,
                              uint64_t Variation = 0);
/// The same into memory that holds zeros.
void generateInto(std::string_view Generator, uint8_t *To, uint64_t Size,
                  uint64_t Variation = 0);

} // namespace cupilot::runner

#endif // CUPILOT_RUNNER_NUMBERS_H
