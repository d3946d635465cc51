//===- NarrowFormats.cpp - Numbers of 8, 6 and 4 bits -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NarrowFormats.h"
#include "llvm/ADT/StringSwitch.h"
#include <bit>
#include <cmath>

using namespace llvm;

namespace cupilot {

NarrowFormat narrowFormat(StringRef Type) {
  return StringSwitch<NarrowFormat>(Type)
      .Case("e5m2x2", NarrowFormat::E5M2)
      .Case("e2m3x2", NarrowFormat::E2M3)
      .Case("e3m2x2", NarrowFormat::E3M2)
      .Case("e2m1x2", NarrowFormat::E2M1)
      .Case("ue8m0x2", NarrowFormat::UE8M0)
      .Default(NarrowFormat::E4M3);
}

Value *finiteOnly(IRBuilderBase &B, Value *X) {
  Type *T = X->getType();
  APFloat Largest = APFloat::getLargest(T->getScalarType()->getFltSemantics());
  Value *Infinite = B.createIsFPClass(X, fcInf);
  return B.CreateSelect(Infinite,
                        B.CreateBinaryIntrinsic(Intrinsic::copysign,
                                                ConstantFP::get(T, Largest), X),
                        X);
}

/// Sign, exponent and mantissa of the signed formats.
struct NarrowLayout {
  unsigned ExponentBits, MantissaBits;
  int Bias;
  unsigned Largest; ///< Code of the largest finite number.
  unsigned Nan;     ///< Code that NaN becomes; 4 and 6 bits have no NaN.
};

static NarrowLayout layoutOf(NarrowFormat Format) {
  switch (Format) {
  case NarrowFormat::E4M3:
    return {4, 3, 7, 0x7e, 0x7f};
  case NarrowFormat::E5M2:
    return {5, 2, 15, 0x7b, 0x7f};
  case NarrowFormat::E2M3:
    return {2, 3, 1, 0x1f, 0x1f};
  case NarrowFormat::E3M2:
    return {3, 2, 3, 0x1f, 0x1f};
  default:
    return {2, 1, 1, 0x7, 0x7};
  }
}

static double magnitude(unsigned Code, const NarrowLayout &L) {
  unsigned Exponent = Code >> L.MantissaBits,
           Mantissa = Code & ((1u << L.MantissaBits) - 1);
  double Whole = Exponent ? Mantissa + (1u << L.MantissaBits) : Mantissa;
  return std::ldexp(Whole, static_cast<int>(std::max(Exponent, 1u)) - L.Bias -
                               static_cast<int>(L.MantissaBits));
}

static uint32_t toScale(float X, uint32_t Flags) {
  uint32_t Bits = std::bit_cast<uint32_t>(X) & 0x7fffffff;
  uint32_t Exponent = Bits >> 23, Mantissa = Bits & 0x7fffff;
  if (Exponent == 255 && Mantissa)
    return 255;
  // Code 0 is 2^-127, which as float32 is subnormal.
  if ((Flags & NarrowRoundUp) && Mantissa > (Exponent ? 0 : 0x400000u))
    ++Exponent;
  return Exponent == 255 && (Flags & NarrowFinite) ? 254 : Exponent;
}

} // namespace cupilot

using namespace cupilot;

extern "C" {

uint32_t cupilot_rt_to_narrow(float X, uint32_t Number, uint32_t Flags) {
  auto Format = static_cast<NarrowFormat>(Number);
  if (Format == NarrowFormat::UE8M0)
    return toScale(X, Flags);
  NarrowLayout L = layoutOf(Format);
  if (std::isnan(X))
    return L.Nan;
  uint32_t Sign = std::signbit(X) ? 1u << (L.ExponentBits + L.MantissaBits) : 0;
  double Absolute = std::fabs(X);
  if (Absolute >= magnitude(L.Largest, L))
    return Sign | L.Largest;
  // The codes of positive numbers are in the numbers' order.
  unsigned Low = 0, High = L.Largest;
  while (High - Low > 1) {
    unsigned Middle = (Low + High) / 2;
    (magnitude(Middle, L) <= Absolute ? Low : High) = Middle;
  }
  double Below = Absolute - magnitude(Low, L),
         Above = magnitude(High, L) - Absolute;
  bool Up = Above < Below || (Above == Below && (Low & 1));
  return Sign | (Up ? High : Low);
}

float cupilot_rt_from_narrow(uint32_t Code, uint32_t Number) {
  auto Format = static_cast<NarrowFormat>(Number);
  if (Format == NarrowFormat::UE8M0)
    return Code == 255 ? NAN : std::ldexp(1.0f, static_cast<int>(Code) - 127);
  NarrowLayout L = layoutOf(Format);
  unsigned SignBit = 1u << (L.ExponentBits + L.MantissaBits);
  unsigned Absolute = Code & (SignBit - 1);
  double Value = magnitude(Absolute, L);
  if (Format == NarrowFormat::E4M3 && Absolute == 0x7f)
    Value = NAN;
  if (Format == NarrowFormat::E5M2 && Absolute >= 0x7c)
    Value = Absolute == 0x7c ? INFINITY : NAN;
  return static_cast<float>(Code & SignBit ? -Value : Value);
}

} // extern "C"
