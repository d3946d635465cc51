//===- SpecialUnit.cpp - Approximate instructions of a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The unit interpolates: the upper bits of an argument choose an interval, and
// the 16 or 17 bits below them, x, go into a polynomial of second degree with
// integer coefficients (S. Oberman and M. Siu, "A High-Performance
// Area-Efficient Multifunction Interpolator", ARITH 2005). x * x has some 15
// bits; the sum of its parts is cut off part by part.
//
//===----------------------------------------------------------------------===//

#include "SpecialUnit.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ErrorHandling.h"
#include <bit>
#include <cmath>
#include <iterator>

namespace cupilot {

namespace {
/// constant + slope * x + curvature * x * x.
struct UnitRow {
  int32_t Constant, Slope, Curvature;
};

#include "SpecialUnit.inc"

constexpr uint32_t One = 1u << 23, Fraction = One - 1;
constexpr uint32_t Infinity = 0x7f800000, Nan = 0x7fffffff, Sign = 1u << 31;
constexpr float LeastNormal = 0x1p-126f;

/// x * x / 2^19 of 17 bits, of which each bit's part is cut off at 2^-18.
struct Squares {
  uint16_t Of[1u << 17];
  Squares() {
    for (uint32_t X = 0; X < std::size(Of); ++X) {
      uint32_t Sum = 0;
      for (uint32_t Bit = 2; Bit < 17; ++Bit)
        Sum += X >> Bit & 1 ? X >> (18 - Bit) : 0;
      Of[X] = static_cast<uint16_t>(Sum >> 1);
    }
  }
};
uint32_t square(uint32_t X) {
  static const Squares All; // When it is first needed.
  return All.Of[X];
}

int64_t interpolated(const UnitRow &Row, unsigned Shift, uint32_t X,
                     uint32_t Square) {
  return (int64_t(Row.Constant) << Shift) + int64_t(Row.Slope) * X +
         int64_t(Row.Curvature) * Square;
}

unsigned exponentOf(uint32_t Bits) { return Bits >> 23 & 0xff; }
float asFloat(uint32_t Bits) { return std::bit_cast<float>(Bits); }

/// A number of 1.23 bits with a biased exponent; those beyond the format are
/// zero and infinity.
uint32_t packed(int Exponent, uint32_t Mantissa) {
  if (Mantissa == 2 * One) {
    Mantissa = One;
    ++Exponent;
  }
  if (Exponent <= 0)
    return 0;
  return Exponent > 254 ? Infinity
                        : uint32_t(Exponent) << 23 | (Mantissa & Fraction);
}

/// \p Value / 2^\p Places, cut off.
uint32_t normalized(uint64_t Value, int Places) {
  if (Value == 0)
    return 0;
  int Width = std::bit_width(Value);
  uint64_t Mantissa =
      Width > 24 ? Value >> (Width - 24) : Value << (24 - Width);
  return packed(127 + Width - 1 - Places, static_cast<uint32_t>(Mantissa));
}

/// 2^X. Of the argument, 23 places count.
uint32_t ex2(uint32_t Bits) {
  int Exponent = static_cast<int>(exponentOf(Bits));
  bool Negative = Bits & Sign;
  if (Exponent == 255 && (Bits & Fraction))
    return Nan;
  if (Exponent >= 127 + 8)
    return Negative ? 0 : Infinity;
  uint32_t Fixed = (Bits & Fraction) | One;
  int Shift = Exponent - 127;
  if (Exponent == 0 || Shift < -23)
    Fixed = 0;
  else if (Shift >= 0)
    Fixed <<= Shift;
  else
    Fixed >>= -Shift;
  int Whole = static_cast<int>(Fixed >> 23);
  uint32_t Part = Fixed & Fraction;
  if (Negative) {
    Whole = -Whole;
    if (Part) {
      --Whole;
      Part = ~Part & Fraction;
    }
  }
  uint32_t X = Part & 0x1ffff;
  int64_t Sum = interpolated(Ex2Rows[Part >> 17], 13, X, square(X)) + Ex2Offset;
  return packed(127 + Whole, static_cast<uint32_t>(Sum >> 15));
}

uint32_t lg2(uint32_t Bits) {
  if ((Bits & ~Sign) < One)
    return Sign | Infinity;
  if ((Bits & ~Sign) > Infinity || (Bits & Sign))
    return Nan;
  if (Bits == Infinity)
    return Infinity;
  uint32_t X = Bits & 0x1ffff;
  int64_t Sum = 0;
  if (Bits != 127u << 23)
    Sum = (interpolated(Lg2Rows[Bits >> 17 & 0x3f], 12, X, 2 * square(X)) +
           Lg2Offset) >>
          2;
  Sum += (int64_t(exponentOf(Bits)) - 127) * (int64_t(1) << 36);
  return Sum < 0 ? Sign | normalized(static_cast<uint64_t>(~Sum), 36)
                 : normalized(static_cast<uint64_t>(Sum), 36);
}

uint32_t rcp(uint32_t Bits) {
  uint32_t Negative = Bits & Sign;
  Bits &= ~Sign;
  if (Bits > Infinity)
    return Nan;
  if (Bits < One)
    return Negative | Infinity;
  if (Bits == Infinity)
    return Negative;
  uint32_t X = Bits & 0xffff;
  int64_t Sum = interpolated(RcpRows[Bits >> 16 & 0x7f], 13, X, square(2 * X)) +
                RcpOffset;
  return Negative | packed(253 - static_cast<int>(exponentOf(Bits)),
                           static_cast<uint32_t>(Sum >> 15));
}

/// The argument as one of two binades, and half of its exponent.
struct Halved {
  uint32_t Row, X;
  int Exponent;
};
Halved halved(uint32_t Bits) {
  int Exponent = static_cast<int>(exponentOf(Bits)) - 127;
  return {(Bits >> 17 & 0x3f) | (Exponent & 1u) << 6, Bits & 0x1ffff,
          Exponent >> 1};
}

uint32_t rsqrt(uint32_t Bits) {
  if ((Bits & ~Sign) < One)
    return (Bits & Sign) | Infinity;
  if ((Bits & ~Sign) > Infinity || (Bits & Sign))
    return Nan;
  if (Bits == Infinity)
    return 0;
  Halved H = halved(Bits);
  if (H.Row == 0 && H.X == 0)
    return packed(127 - H.Exponent, One);
  int64_t Sum =
      interpolated(RsqrtRows[H.Row], 14, H.X, 4 * square(H.X)) + RsqrtOffset;
  return packed(126 - H.Exponent, static_cast<uint32_t>(Sum >> 16));
}

uint32_t squareRoot(uint32_t Bits) {
  if ((Bits & ~Sign) < One)
    return Bits & Sign;
  if ((Bits & ~Sign) > Infinity || (Bits & Sign))
    return Nan;
  if (Bits == Infinity)
    return Infinity;
  Halved H = halved(Bits);
  int64_t Sum =
      interpolated(SqrtRows[H.Row], 13, H.X, 2 * square(H.X)) + SqrtOffset;
  return packed(127 + H.Exponent, static_cast<uint32_t>(Sum >> 17));
}

/// The product with 1 / (2 * pi), cut off.
float turns(float X) {
  constexpr float Inverse = std::bit_cast<float>(0x3e22f983u);
  double Exact = double(X) * double(Inverse);
  auto Near = static_cast<float>(Exact);
  if (std::fabs(double(Near)) > std::fabs(Exact))
    Near = asFloat(std::bit_cast<uint32_t>(Near) - 1);
  return Near;
}

/// Sine of a number of turns, of which 25 places count; \p Quarters more.
uint32_t sine(uint32_t Bits, unsigned Quarters) {
  int Exponent = static_cast<int>(exponentOf(Bits));
  if (Exponent == 255)
    return Nan;
  uint32_t Negative = Quarters ? 0 : Bits & Sign;
  uint32_t Mantissa = (Bits & Fraction) | One;
  int Shift = Exponent - 127 - 23 + 25;
  uint32_t Fixed = Exponent == 0 || Shift <= -24 ? 0
                   : Shift < 0                   ? Mantissa >> -Shift
                   : Shift < 32                  ? Mantissa << Shift
                                                 : 0;
  unsigned Quadrant = (Fixed >> 23) + Quarters;
  uint32_t Part = Fixed & Fraction;
  if (Quadrant & 1)
    Part = ~Part & Fraction;
  if (Quadrant & 2)
    Negative ^= Sign;
  uint32_t X = Part & 0x1ffff;
  int64_t Sum = interpolated(SinRows[Part >> 17], 11, X, square(X)) + SinOffset;
  return Negative | normalized(static_cast<uint64_t>(Sum), 37);
}

/// The binades from 2^-8 to 2^3: how many rows, as a power of two, and with how
/// many places.
struct TanhBinade {
  uint8_t First, Index, Places;
};
constexpr TanhBinade TanhBinades[] = {
    {0, 0, 43},  {1, 0, 42},  {2, 0, 41},  {3, 1, 40},  {5, 1, 39}, {7, 2, 38},
    {11, 2, 37}, {15, 2, 36}, {19, 3, 37}, {27, 4, 39}, {43, 3, 37}};

uint32_t tanh(uint32_t Bits) {
  uint32_t Negative = Bits & Sign;
  uint32_t Magnitude = Bits & ~Sign;
  if (Magnitude > Infinity)
    return Nan;
  if (Magnitude < (127u - 8) << 23)
    return Bits;
  if (Magnitude >= (127u + 3) << 23)
    return Negative | 127u << 23;
  const TanhBinade &B = TanhBinades[exponentOf(Bits) - (127 - 8)];
  uint32_t Part = (Bits & Fraction) >> (6 - B.Index);
  uint32_t X = Part & 0x1ffff;
  int64_t Sum =
      interpolated(TanhRows[B.First + (Part >> 17)], 15, X, square(X)) +
      TanhOffset;
  return Negative | normalized(static_cast<uint64_t>(Sum), B.Places);
}

// What follows is compiled once for each operation: specialUnit.
LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t unit(UnitOp Op, uint32_t Bits) {
  switch (Op) {
  case UnitOp::Ex2:
    return ex2(Bits);
  case UnitOp::Lg2:
    return lg2(Bits);
  case UnitOp::Rcp:
    return rcp(Bits);
  case UnitOp::Rsqrt:
    return rsqrt(Bits);
  case UnitOp::Sqrt:
    return squareRoot(Bits);
  case UnitOp::Tanh:
    return tanh(Bits);
  default:
    return Nan;
  }
}

LLVM_ATTRIBUTE_ALWAYS_INLINE float unit(UnitOp Op, float X) {
  return asFloat(unit(Op, std::bit_cast<uint32_t>(X)));
}

float flushed(float X) {
  return std::fabs(X) < LeastNormal ? std::copysign(0.0f, X) : X;
}

/// The argument times a power of two, where the unit would flush it or its
/// result, and the result times another.
LLVM_ATTRIBUTE_ALWAYS_INLINE float scaled(UnitOp Op, float X) {
  bool Small = std::fabs(X) < LeastNormal;
  switch (Op) {
  case UnitOp::Ex2: {
    if (!(X < -126))
      return unit(Op, X);
    float Root = unit(Op, X * 0.5f);
    return Root * Root;
  }
  case UnitOp::Lg2:
    return Small ? unit(Op, X * 0x1p24f) - 24 : unit(Op, X);
  case UnitOp::Rsqrt:
    return Small ? unit(Op, X * 0x1p24f) * 0x1p12f : unit(Op, X);
  case UnitOp::Sqrt:
    return Small ? unit(Op, X * 0x1p24f) * 0x1p-12f : unit(Op, X);
  case UnitOp::Rcp:
    if (Small)
      return unit(Op, X * 0x1p24f) * 0x1p24f;
    return std::fabs(X) > 0x1p126f ? unit(Op, X * 0.25f) * 0.25f : unit(Op, X);
  default:
    return unit(Op, X);
  }
}

LLVM_ATTRIBUTE_ALWAYS_INLINE float quotient(bool Full, bool Flush, float X,
                                            float Y) {
  if (Flush) {
    X = flushed(X);
    Y = flushed(Y);
  }
  if (Full && std::fabs(Y) > 0x1p126f) {
    X *= 0.25f;
    Y *= 0.25f;
  } else if (!Flush && std::fabs(Y) < LeastNormal) {
    X *= 0x1p24f;
    Y *= 0x1p24f;
  }
  float Product = X * unit(UnitOp::Rcp, Y);
  return Flush ? flushed(Product) : Product;
}
} // namespace

LLVM_ATTRIBUTE_ALWAYS_INLINE static float single(UnitOp Op, bool Flush, float X,
                                                 float Y) {
  switch (Op) {
  case UnitOp::Sin:
  case UnitOp::Cos:
    return asFloat(sine(std::bit_cast<uint32_t>(turns(flushed(X))),
                        Op == UnitOp::Cos ? 1 : 0));
  case UnitOp::Div:
  case UnitOp::DivFull:
    return quotient(Op == UnitOp::DivFull, Flush, X, Y);
  default:
    return Flush ? unit(Op, X) : scaled(Op, X);
  }
}

/// Cut off to what a half can hold; infinity from 2^16 on.
static float asHalf(float X) {
  float Magnitude = std::fabs(X);
  if (Magnitude >= 0x1p16f)
    return std::copysign(asFloat(Infinity), X);
  uint32_t Bits = std::bit_cast<uint32_t>(X);
  int Exponent = static_cast<int>(exponentOf(Bits)) - 127;
  if (Exponent < -24)
    return std::copysign(0.0f, X);
  int Lost = Exponent < -14 ? 13 - 14 - Exponent : 13;
  return asFloat(Bits >> Lost << Lost);
}

LLVM_ATTRIBUTE_ALWAYS_INLINE static float answered(UnitOp Op, UnitForm Form,
                                                   float X, float Y) {
  float Result =
      single(Op, Form == UnitForm::Flushed || Form == UnitForm::BFloat, X, Y);
  if (std::isnan(Result)) // Has a GPU's bits, on each host.
    return asFloat(Nan);
  if (Form == UnitForm::Half)
    return asHalf(Result);
  if (Form == UnitForm::BFloat)
    return asFloat(std::bit_cast<uint32_t>(Result) & 0xffff0000);
  return Result;
}

float specialUnit(UnitOp Op, UnitForm Form, float X, float Y) {
  switch (Op) {
#define EACH(OP)                                                               \
  case UnitOp::OP:                                                             \
    return answered(UnitOp::OP, Form, X, Y);
    EACH(Ex2)
    EACH(Lg2)
    EACH(Rcp)
    EACH(Rsqrt)
    EACH(Sqrt)
    EACH(Sin)
    EACH(Cos)
    EACH(Tanh)
    EACH(Div)
    EACH(DivFull)
#undef EACH
  }
  llvm_unreachable("no operation of the special unit");
}

double specialUnit(UnitOp Op, double X) {
  auto Bits = static_cast<uint32_t>(std::bit_cast<uint64_t>(X) >> 32);
  constexpr uint32_t Huge = 0x7ff00000, Normal = 1u << 20;
  auto Double = [](uint32_t Upper) {
    return std::bit_cast<double>(uint64_t(Upper) << 32);
  };
  uint32_t Negative = Bits & Sign;
  Bits &= ~Sign;
  if (Bits > Huge)
    return Double(Nan);
  if (Bits < Normal)
    return Double(Negative | Huge);
  if (Negative && Op == UnitOp::Rsqrt)
    return Double(Nan);
  if (Bits == Huge)
    return Double(Negative);
  // The same mantissa near 1 in float32, and for roots the same parity.
  int Exponent = static_cast<int>(Bits >> 20) - 1023;
  int Near = Op == UnitOp::Rsqrt ? Exponent & 1 : 0;
  uint32_t Result = unit(Op, static_cast<uint32_t>(127 + Near) << 23 |
                                 (Bits & (Normal - 1)) << 3);
  int Moved = Op == UnitOp::Rsqrt ? (Exponent - Near) / 2 : Exponent;
  int Upper = static_cast<int>(exponentOf(Result)) - 127 - Moved + 1023;
  return Double(Upper <= 0 ? Negative
                           : Negative | static_cast<uint32_t>(Upper) << 20 |
                                 (Result & Fraction) >> 3);
}

} // namespace cupilot

extern "C" {

float cupilot_rt_unit(uint32_t Op, uint32_t Form, float X, float Y) {
  return cupilot::specialUnit(static_cast<cupilot::UnitOp>(Op),
                              static_cast<cupilot::UnitForm>(Form), X, Y);
}

double cupilot_rt_unit64(uint32_t Op, double X) {
  return cupilot::specialUnit(static_cast<cupilot::UnitOp>(Op), X);
}

} // extern "C"
