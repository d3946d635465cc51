//===- MatrixTypes.cpp - Element types of matrix instructions -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace cupilot {

std::optional<ElementType> elementType(StringRef Modifier) {
  return StringSwitch<std::optional<ElementType>>(Modifier)
      .Case("f16", ElementType::F16)
      .Case("bf16", ElementType::BF16)
      .Case("tf32", ElementType::TF32)
      .Case("e4m3", ElementType::E4M3)
      .Case("e5m2", ElementType::E5M2)
      .Case("f32", ElementType::F32)
      .Case("f64", ElementType::F64)
      .Case("s8", ElementType::S8)
      .Case("u8", ElementType::U8)
      .Case("s4", ElementType::S4)
      .Case("u4", ElementType::U4)
      .Case("b1", ElementType::B1)
      .Case("s32", ElementType::S32)
      .Default(std::nullopt);
}

unsigned elementBits(ElementType T) {
  switch (T) {
  case ElementType::B1:
    return 1;
  case ElementType::S4:
  case ElementType::U4:
    return 4;
  case ElementType::E4M3:
  case ElementType::E5M2:
  case ElementType::S8:
  case ElementType::U8:
    return 8;
  case ElementType::F16:
  case ElementType::BF16:
    return 16;
  case ElementType::TF32:
  case ElementType::F32:
  case ElementType::S32:
    return 32;
  case ElementType::F64:
    return 64;
  }
  return 0;
}

uint64_t tensorWork(uint64_t M, uint64_t N, uint64_t K, ElementType T) {
  uint64_t Operations = 2 * M * N * K;
  if (T == ElementType::F64)
    return Operations * 15;
  return Operations * std::max(elementBits(T), 8u) / 16;
}

bool isFloat(ElementType T) {
  switch (T) {
  case ElementType::S8:
  case ElementType::U8:
  case ElementType::S4:
  case ElementType::U4:
  case ElementType::B1:
  case ElementType::S32:
    return false;
  default:
    return true;
  }
}

/// A small format with \p Exponent and \p Mantissa bits below its sign.
static double decodeSmall(uint32_t Bits, unsigned Exponent, unsigned Mantissa,
                          bool HasInfinity) {
  uint32_t Fraction = Bits & maskTrailingOnes<uint32_t>(Mantissa);
  uint32_t Power = Bits >> Mantissa & maskTrailingOnes<uint32_t>(Exponent);
  int Bias = static_cast<int>(maskTrailingOnes<uint32_t>(Exponent - 1));
  bool Negative = Bits >> (Exponent + Mantissa) & 1;
  double Value = 0;
  if (HasInfinity && Power == maskTrailingOnes<uint32_t>(Exponent))
    Value = Fraction ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (Power == 0)
    Value = std::ldexp(Fraction, 1 - Bias - static_cast<int>(Mantissa));
  else
    Value =
        std::ldexp(Fraction | 1u << Mantissa,
                   static_cast<int>(Power) - Bias - static_cast<int>(Mantissa));
  return Negative ? -Value : Value;
}

double decodeFloat(ElementType T, uint64_t Bits) {
  switch (T) {
  case ElementType::F16:
    return decodeSmall(Bits & 0xffff, 5, 10, true);
  case ElementType::BF16:
    return bit_cast<float>(static_cast<uint32_t>(Bits) << 16);
  case ElementType::TF32:
    return bit_cast<float>(static_cast<uint32_t>(Bits) & 0xffffe000u);
  case ElementType::E4M3:
    // No infinities; one pattern of each sign is a NaN (OCP FP8).
    if ((Bits & 0x7f) == 0x7f)
      return std::numeric_limits<double>::quiet_NaN();
    return decodeSmall(Bits & 0xff, 4, 3, false);
  case ElementType::E5M2:
    return decodeSmall(Bits & 0xff, 5, 2, true);
  case ElementType::F32:
    return bit_cast<float>(static_cast<uint32_t>(Bits));
  case ElementType::F64:
    return bit_cast<double>(Bits);
  default:
    return static_cast<double>(decodeInteger(T, Bits));
  }
}

uint64_t encodeFloat(ElementType T, double Value) {
  switch (T) {
  case ElementType::F32:
    if (std::isnan(Value))
      return 0x7fffffff; // The canonical NaN of the hardware.
    return bit_cast<uint32_t>(static_cast<float>(Value));
  case ElementType::F64:
    return bit_cast<uint64_t>(Value);
  case ElementType::F16: {
    uint64_t Sign = std::signbit(Value) ? 0x8000 : 0;
    double Size = std::fabs(Value);
    if (std::isnan(Value))
      return 0x7fff; // The canonical NaN of the hardware.
    if (Size >= 65520)
      return Sign | 0x7c00;
    // The last place has this weight; a quotient is rounded to even.
    int Power = Size == 0 ? -24 : std::max(std::ilogb(Size) - 10, -24);
    auto Units =
        static_cast<uint64_t>(std::nearbyint(std::ldexp(Size, -Power)));
    // A carry out of the fraction moves into the exponent by itself.
    return Sign | (static_cast<uint64_t>(Power + 24) * 1024 + Units);
  }
  default:
    return 0; // No instruction has another result type.
  }
}

int64_t decodeInteger(ElementType T, uint64_t Bits) {
  switch (T) {
  case ElementType::S8:
    return static_cast<int8_t>(Bits);
  case ElementType::U8:
    return static_cast<uint8_t>(Bits);
  case ElementType::S4:
    return SignExtend64<4>(Bits & 15);
  case ElementType::U4:
    return static_cast<int64_t>(Bits & 15);
  case ElementType::B1:
    return static_cast<int64_t>(Bits & 1);
  default:
    return static_cast<int32_t>(Bits);
  }
}

} // namespace cupilot
