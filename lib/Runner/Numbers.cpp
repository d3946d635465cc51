//===- Numbers.cpp - The numbers in buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Numbers.h"
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace cupilot::runner {

namespace {
struct KindInfo {
  std::string_view Word;
  unsigned Size;
};
} // namespace

static constexpr std::array<KindInfo, 12> Kinds = {{{"f16", 2},
                                                    {"bf16", 2},
                                                    {"f32", 4},
                                                    {"f64", 8},
                                                    {"i8", 1},
                                                    {"u8", 1},
                                                    {"i16", 2},
                                                    {"u16", 2},
                                                    {"i32", 4},
                                                    {"u32", 4},
                                                    {"i64", 8},
                                                    {"u64", 8}}};

unsigned sizeOf(NumberKind K) { return Kinds[static_cast<size_t>(K)].Size; }
bool isFloating(NumberKind K) { return K <= NumberKind::F64; }
std::string_view wordOf(NumberKind K) {
  return Kinds[static_cast<size_t>(K)].Word;
}

std::optional<NumberKind> numberKindOf(std::string_view Word) {
  for (size_t I = 0; I < Kinds.size(); ++I)
    if (Kinds[I].Word == Word)
      return static_cast<NumberKind>(I);
  return std::nullopt;
}

std::optional<NumberKind> numberKindOfType(std::string_view Name) {
  static constexpr std::pair<std::string_view, NumberKind> Types[] = {
      {"float", NumberKind::F32},
      {"double", NumberKind::F64},
      {"__half", NumberKind::F16},
      {"half", NumberKind::F16},
      {"_Float16", NumberKind::F16},
      {"__fp16", NumberKind::F16},
      {"__nv_bfloat16", NumberKind::BF16},
      {"nv_bfloat16", NumberKind::BF16},
      {"__bf16", NumberKind::BF16},
      {"char", NumberKind::I8},
      {"signed char", NumberKind::I8},
      {"unsigned char", NumberKind::U8},
      {"short", NumberKind::I16},
      {"unsigned short", NumberKind::U16},
      {"int", NumberKind::I32},
      {"unsigned int", NumberKind::U32},
      {"long", NumberKind::I64},
      {"long long", NumberKind::I64},
      {"unsigned long", NumberKind::U64},
      {"unsigned long long", NumberKind::U64}};
  for (auto [Type, Kind] : Types)
    if (Type == Name)
      return Kind;
  return std::nullopt;
}

template <typename T> static T read(const uint8_t *At) {
  T Value;
  std::memcpy(&Value, At, sizeof(T));
  return Value;
}

template <typename T> static void write(uint8_t *At, T Value) {
  std::memcpy(At, &Value, sizeof(T));
}

static double fromHalf(uint16_t Bits) {
  int Exponent = Bits >> 10 & 31;
  double Fraction = Bits & 1023, Value;
  if (Exponent == 31)
    Value = Fraction == 0 ? INFINITY : NAN;
  else if (Exponent == 0)
    Value = std::ldexp(Fraction, -24);
  else
    Value = std::ldexp(Fraction + 1024, Exponent - 25);
  return Bits >> 15 ? -Value : Value;
}

/// A 16-bit format with \p Digits bits of fraction, to nearest, ties to even.
static uint16_t round16(double Value, int Digits) {
  const int ExponentBits = 15 - Digits, Bias = (1 << (ExponentBits - 1)) - 1;
  const uint16_t Sign = std::signbit(Value) ? 0x8000 : 0;
  const uint16_t Infinite = uint16_t(((1 << ExponentBits) - 1) << Digits);
  double Magnitude = std::fabs(Value);
  if (std::isnan(Value))
    return Sign | Infinite | uint16_t(1 << (Digits - 1));
  if (std::isinf(Value))
    return Sign | Infinite;
  int Exponent = 0;
  std::frexp(Magnitude, &Exponent); // Magnitude in [2^(E-1), 2^E).
  int Lowest = Magnitude == 0 ? 1 - Bias : std::max(Exponent - 1, 1 - Bias);
  // In units of the last place: exact in a double, and so is its rounding.
  double Units = std::nearbyint(std::ldexp(Magnitude, Digits - Lowest));
  // The leading one of a normal number carries into the exponent.
  uint32_t Bits = (uint32_t(Lowest + Bias - 1) << Digits) + uint32_t(Units);
  return Sign | uint16_t(std::min<uint32_t>(Bits, Infinite));
}

int64_t readInteger(NumberKind K, const uint8_t *At) {
  switch (K) {
  case NumberKind::I8:
    return read<int8_t>(At);
  case NumberKind::I16:
    return read<int16_t>(At);
  case NumberKind::U16:
  case NumberKind::F16:
  case NumberKind::BF16:
    return read<uint16_t>(At);
  case NumberKind::I32:
    return read<int32_t>(At);
  case NumberKind::U32:
  case NumberKind::F32:
    return read<uint32_t>(At);
  case NumberKind::I64:
  case NumberKind::U64:
  case NumberKind::F64:
    return read<int64_t>(At);
  default:
    return *At;
  }
}

double readNumber(NumberKind K, const uint8_t *At) {
  switch (K) {
  case NumberKind::F16:
    return fromHalf(read<uint16_t>(At));
  case NumberKind::BF16: {
    uint32_t Bits = uint32_t(read<uint16_t>(At)) << 16;
    float Value;
    std::memcpy(&Value, &Bits, 4);
    return Value;
  }
  case NumberKind::F32:
    return read<float>(At);
  case NumberKind::F64:
    return read<double>(At);
  case NumberKind::U64:
    return static_cast<double>(read<uint64_t>(At));
  default:
    return static_cast<double>(readInteger(K, At));
  }
}

void writeNumber(NumberKind K, uint8_t *At, double Value) {
  switch (K) {
  case NumberKind::F16:
    return write(At, round16(Value, 10));
  case NumberKind::BF16:
    return write(At, round16(Value, 7));
  case NumberKind::F32:
    return write(At, static_cast<float>(Value));
  case NumberKind::F64:
    return write(At, Value);
  default:
    break;
  }
  // Beyond 64 bits a conversion has no defined value.
  writeInteger(K, At, std::fabs(Value) < 0x1p63 ? std::llrint(Value) : 0);
}

void writeInteger(NumberKind K, uint8_t *At, int64_t Value) {
  std::memcpy(At, &Value, sizeOf(K)); // Little endian, as every GPU.
}

uint64_t ulpsBetween(NumberKind K, const uint8_t *A, const uint8_t *B) {
  if (isFloating(K) &&
      (std::isnan(readNumber(K, A)) || std::isnan(readNumber(K, B))))
    return UINT64_MAX;
  int64_t X = readInteger(K, A), Y = readInteger(K, B);
  if (isFloating(K)) { // Sign and magnitude to an order.
    const int64_t Sign = int64_t(uint64_t(1) << (8 * sizeOf(K) - 1));
    auto Ordered = [&](int64_t V) { return V & Sign ? -(V & ~Sign) : V; };
    X = Ordered(X);
    Y = Ordered(Y);
  }
  bool Swapped = K == NumberKind::U64 ? uint64_t(X) < uint64_t(Y) : X < Y;
  return Swapped ? uint64_t(Y) - uint64_t(X) : uint64_t(X) - uint64_t(Y);
}

} // namespace cupilot::runner
