//===- Operands.cpp - Tuples of operands ------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands come from a generator that counts: a number depends on the row's
// name, the tuple and the operand alone. Special values are crossed first, as
// many as three quarters of the tuples hold; the rest is random.
//
//===----------------------------------------------------------------------===//

#include "Row.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace ptxrows {

unsigned bitsOf(Kind K) {
  switch (K) {
  case Kind::Bits16:
  case Kind::F16:
  case Kind::BF16:
  case Kind::Narrow:
    return 16;
  case Kind::Bits64:
  case Kind::F64:
  case Kind::Few64:
  case Kind::MatrixF64:
  case Kind::WildF64:
    return 64;
  case Kind::Predicate:
    return 1;
  default:
    return 32;
  }
}

/// SplitMix64's finaliser (Steele, Lea, Flood: "Fast Splittable Pseudorandom
/// Number Generators", 2014).
static uint64_t mixed(uint64_t X) {
  X += 0x9e3779b97f4a7c15;
  X = (X ^ X >> 30) * 0xbf58476d1ce4e5b9;
  X = (X ^ X >> 27) * 0x94d049bb133111eb;
  return X ^ X >> 31;
}

static uint64_t seedOf(const std::string &Name) {
  uint64_t Seed = 0xcbf29ce484222325; // FNV-1a.
  for (unsigned char C : Name)
    Seed = (Seed ^ C) * 0x100000001b3;
  return mixed(Seed);
}

/// A binary format by its bits of exponent and fraction.
struct Format {
  unsigned Exponent, Fraction;
};

static std::vector<uint64_t> specialFloats(Format F) {
  const uint64_t Sign = uint64_t(1) << (F.Exponent + F.Fraction),
                 One = ((uint64_t(1) << (F.Exponent - 1)) - 1) << F.Fraction,
                 Inf = ((uint64_t(1) << F.Exponent) - 1) << F.Fraction,
                 Least = uint64_t(1) << F.Fraction, Quiet = Least >> 1;
  const uint64_t Positive[] = {
      0,           1,           Least - 1, Least, One,         One - 1, One + 1,
      One + Least, One - Least, Inf - 1,   Inf,   Inf | Quiet, Inf | 1};
  std::vector<uint64_t> Values;
  for (uint64_t V : Positive) {
    Values.push_back(V);
    Values.push_back(V | Sign);
  }
  // All ones is what a GPU makes; then 1.5, 2.5, some payload.
  Values.push_back(Sign - 1);
  Values.push_back(One + Quiet);
  Values.push_back(One + Least + (Quiet >> 1));
  Values.push_back(Sign | (One + Quiet));
  Values.push_back(Inf | Quiet | 0x15 | Sign);
  return Values;
}

/// Where conversions to integers and narrower formats change.
static std::vector<uint64_t> limits32() {
  std::vector<uint64_t> Values;
  const float Ends[] = {127,
                        128,
                        255,
                        256,
                        32767,
                        32768,
                        65535,
                        65536,
                        65504,
                        65520,
                        65519.996F,
                        448,
                        464,
                        480,
                        57344,
                        61440,
                        2147483648,
                        4294967296,
                        9.2233720e18F,
                        1.8446744e19F,
                        0.5F,
                        2.5F,
                        3.5F,
                        126.5F,
                        6.0e-8F,
                        2.98e-8F,
                        6.1e-5F,
                        0.015625F,
                        0.0009765625F,
                        6,
                        7,
                        28,
                        30,
                        7.5F,
                        3.3895314e38F,
                        3.39617752e38F,
                        0.2F,
                        16777217.0F,
                        8388608.5F,
                        8388607.5F,
                        5.877e-39F,
                        1.7014118e38F};
  for (float Each : Ends) {
    uint32_t Bits = 0;
    std::memcpy(&Bits, &Each, 4);
    for (uint32_t Next : {Bits - 1, Bits, Bits + 1}) {
      Values.push_back(Next);
      Values.push_back(Next | 0x80000000U);
    }
  }
  return Values;
}

static std::vector<uint64_t> limits64() {
  std::vector<uint64_t> Values;
  for (uint64_t Narrow : limits32()) {
    auto Bits = static_cast<uint32_t>(Narrow);
    float Single = 0;
    std::memcpy(&Single, &Bits, 4);
    double Wide = Single;
    uint64_t Word = 0;
    std::memcpy(&Word, &Wide, 8);
    Values.push_back(Word);
  }
  for (double Each : {2147483647.0, 2147483647.5, 4294967295.0, 4294967295.5,
                      9223372036854774784.0, 18446744073709549568.0,
                      3.4028235677973366e38, 3.4028234663852886e38, 1.4e-45,
                      7.0e-46, 7.1e-46, 65519.999, 1.17549428e-38}) {
    uint64_t Word = 0;
    std::memcpy(&Word, &Each, 8);
    for (uint64_t Next : {Word - 1, Word, Word + 1}) {
      Values.push_back(Next);
      Values.push_back(Next | uint64_t(1) << 63);
    }
  }
  return Values;
}

static std::vector<uint64_t> specialIntegers(unsigned Bits) {
  const uint64_t Top = uint64_t(1) << (Bits - 1), All = Top | (Top - 1);
  std::vector<uint64_t> Values = {0,
                                  1,
                                  2,
                                  3,
                                  All,
                                  All - 1,
                                  All - 2,
                                  Top,
                                  Top - 1,
                                  Top + 1,
                                  Top - 2,
                                  Top >> 1,
                                  127,
                                  128,
                                  255,
                                  256,
                                  All - 127,
                                  All - 128,
                                  0x5555555555555555 & All,
                                  0xaaaaaaaaaaaaaaaa & All};
  if (Bits > 16)
    for (uint64_t V : {0x7fffULL, 0x8000ULL, 0xffffULL, 0x10000ULL,
                       0x80808080ULL, 0x7f7f7f7fULL, 0x80007fffULL,
                       0x01000000ULL, 0x00ffffffULL, 0x00800000ULL})
      Values.push_back(V & All);
  if (Bits > 32)
    for (uint64_t V :
         {0x7fffffffULL, 0x80000000ULL, 0xffffffffULL, 0x100000000ULL,
          0xffffffff80000000ULL, 0xffffffff7fffffffULL})
      Values.push_back(V);
  return Values;
}

/// \p Number small whole numbers side by side; \p Codes is what they look like.
static uint64_t elements(uint64_t Random, const uint16_t (&Codes)[16],
                         unsigned Bits) {
  uint64_t Word = 0;
  for (unsigned I = 0; I * Bits < 32; ++I)
    Word |= uint64_t(Codes[Random >> (4 * I) & 15]) << (Bits * I);
  return Word;
}

static uint64_t matrixValue(Kind K, uint64_t Random) {
  // 0, 1, 2, 3, 4, 0.5, 1.5, -1, -2, -3, -4, -0.5, -0, 0, 1, -1.
  static constexpr uint16_t F16[16] = {
      0,      0x3c00, 0x4000, 0x4200, 0x4400, 0x3800, 0x3e00, 0xbc00,
      0xc000, 0xc200, 0xc400, 0xb800, 0x8000, 0,      0x3c00, 0xbc00};
  static constexpr uint16_t BF16[16] = {
      0,      0x3f80, 0x4000, 0x4040, 0x4080, 0x3f00, 0x3fc0, 0xbf80,
      0xc000, 0xc040, 0xc080, 0xbf00, 0x8000, 0,      0x3f80, 0xbf80};
  static constexpr uint16_t E4M3[16] = {0,    0x38, 0x40, 0x44, 0x48, 0x30,
                                        0x3c, 0xb8, 0xc0, 0xc4, 0xc8, 0xb0,
                                        0x80, 0,    0x38, 0xb8};
  static constexpr uint16_t E5M2[16] = {0,    0x3c, 0x40, 0x42, 0x44, 0x38,
                                        0x3e, 0xbc, 0xc0, 0xc2, 0xc4, 0xb8,
                                        0x80, 0,    0x3c, 0xbc};
  switch (K) {
  case Kind::MatrixF16:
    return elements(Random, F16, 16);
  case Kind::MatrixBF16:
    return elements(Random, BF16, 16);
  case Kind::MatrixE4M3:
    return elements(Random, E4M3, 8);
  case Kind::MatrixE5M2:
    return elements(Random, E5M2, 8);
  case Kind::MatrixTF32: // What is below the format's mantissa is cut off.
    return uint64_t(BF16[Random & 15]) << 16 | (Random >> 8 & 0x1fff);
  case Kind::MatrixF32:
    return uint64_t(BF16[Random & 15]) << 16;
  default: {
    double V = static_cast<double>(static_cast<int64_t>(Random % 129) - 64) / 4;
    uint64_t Word = 0;
    std::memcpy(&Word, &V, 8);
    return Word;
  }
  }
}

/// A matrix's value, and once in 24 words one that is no number or too large.
static uint64_t wildValue(Kind K, uint64_t Random, uint64_t Choice) {
  const auto Tame =
      static_cast<Kind>(static_cast<int>(Kind::MatrixF16) +
                        static_cast<int>(K) - static_cast<int>(Kind::WildF16));
  const uint64_t Word = matrixValue(Tame, Random);
  if (Choice % 24 != 0)
    return Word;
  const unsigned Which = Choice >> 8 & 3; // Infinity twice, NaN, the largest.
  static constexpr uint64_t Values[][4] = {
      {0x7c00, 0xfc00, 0x7e01, 0x7bff},
      {0x7f80, 0xff80, 0x7fc1, 0x7f7f},
      {0x7f800000, 0xff800000, 0x7fc02000, 0x7f000000},
      {0x7f800000, 0xff800000, 0xffc00001, 0x7f000000},
      {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001,
       0x7fe0000000000000},
      {0x7f, 0xff, 0x7e, 0xfe},
      {0x7c, 0xfc, 0x7e, 0x7b}};
  const uint64_t Value =
      Values[static_cast<int>(K) - static_cast<int>(Kind::WildF16)][Which];
  switch (K) {
  case Kind::WildF16:
  case Kind::WildBF16:
    return (Word & 0xffff0000) | Value;
  case Kind::WildE4M3:
  case Kind::WildE5M2:
    return (Word & 0xffff00ff) | Value << 8;
  default:
    return Value;
  }
}

static const std::vector<uint64_t> &specialsOf(Kind K) {
  static const std::vector<uint64_t> Integers[3] = {
      specialIntegers(16), specialIntegers(32), specialIntegers(64)};
  static const std::vector<uint64_t> Half = specialFloats({5, 10}),
                                     Brain = specialFloats({8, 7}),
                                     Single = specialFloats({8, 23}),
                                     Double = specialFloats({11, 52});
  static const std::vector<uint64_t> Amounts = {
      0,  1,  2,  7,  8,   15,  16,  17,  24,  31,         32,        33,
      48, 63, 64, 65, 127, 128, 255, 256, 257, 0x80000000, 0xffffffff};
  static const std::vector<uint64_t> Flags = {0, 1};
  static const std::vector<uint64_t> None;
  switch (K) {
  case Kind::Bits16:
    return Integers[0];
  case Kind::Bits32:
    return Integers[1];
  case Kind::Bits64:
    return Integers[2];
  case Kind::F16:
  case Kind::F16x2:
    return Half;
  case Kind::BF16:
  case Kind::BF16x2:
    return Brain;
  case Kind::F32:
    return Single;
  case Kind::F64:
    return Double;
  case Kind::Predicate:
    return Flags;
  case Kind::Amount:
    return Amounts;
  default:
    return None;
  }
}

/// A number of a format: mostly of any exponent, often near 1 or another.
static uint64_t randomFloat(Format F, uint64_t Random, uint64_t Choice) {
  const unsigned Width = 1 + F.Exponent + F.Fraction;
  uint64_t Bits = Width == 64 ? Random : Random & ((uint64_t(1) << Width) - 1);
  if (Choice % 4 == 0)
    return Bits;
  // Exponents around 1, so that sums overlap.
  uint64_t Mantissa = Bits & ((uint64_t(1) << F.Fraction) - 1),
           Sign = Bits >> (Width - 1) << (Width - 1);
  uint64_t Bias = (uint64_t(1) << (F.Exponent - 1)) - 1;
  uint64_t Spread = Choice % 4 == 1 ? 3 : Choice % 4 == 2 ? 9 : 23;
  Spread = Spread < Bias ? Spread : Bias - 1;
  uint64_t Power = Bias - Spread / 2 + (Choice >> 8) % Spread;
  // Some numbers have few bits.
  if ((Choice >> 40) % 4 == 0)
    Mantissa &= ~((uint64_t(1) << (F.Fraction / 2)) - 1);
  return Sign | Power << F.Fraction | Mantissa;
}

static uint64_t randomInteger(unsigned Bits, uint64_t Random, uint64_t Choice) {
  const uint64_t All = Bits == 64 ? ~uint64_t(0) : (uint64_t(1) << Bits) - 1;
  if (Choice % 3 == 0)
    return Random & All;
  // Short numbers of either sign.
  uint64_t Short = Random >> (64 - 1 - (Choice >> 8) % (Bits - 1));
  return (Choice % 3 == 1 ? Short : ~Short) & All;
}

static uint64_t randomValue(Kind K, uint64_t Random) {
  uint64_t Choice = mixed(Random + 1);
  switch (K) {
  case Kind::Bits16:
  case Kind::Bits32:
  case Kind::Bits64:
    return randomInteger(bitsOf(K), Random, Choice);
  case Kind::F16:
    return randomFloat({5, 10}, Random, Choice);
  case Kind::BF16:
    return randomFloat({8, 7}, Random, Choice);
  case Kind::F16x2:
    return randomFloat({5, 10}, Random, Choice) |
           randomFloat({5, 10}, Random >> 16, Choice >> 4) << 16;
  case Kind::BF16x2:
    return randomFloat({8, 7}, Random, Choice) |
           randomFloat({8, 7}, Random >> 16, Choice >> 4) << 16;
  case Kind::F32:
    return randomFloat({8, 23}, Random, Choice);
  case Kind::F64:
    return randomFloat({11, 52}, Random, Choice);
  case Kind::Predicate:
    return Random & 1;
  case Kind::Amount:
    return Choice % 8 == 0 ? Random & 0xffffffff : Random % 70;
  case Kind::Lane:
    return Random & 31;
  case Kind::Few:
    return Random % 5 * 0x01010101;
  case Kind::Few64:
    return Random % 5 * 0x0100000001000001;
  case Kind::Narrow:
    return Random & 0xffff;
  case Kind::Mantissa:
    return (Random & 0x80ffffff) | 0x3f000000;
  case Kind::WildF16:
  case Kind::WildBF16:
  case Kind::WildTF32:
  case Kind::WildF32:
  case Kind::WildF64:
  case Kind::WildE4M3:
  case Kind::WildE5M2:
    return wildValue(K, Random, Choice);
  default:
    return matrixValue(K, Random);
  }
}

static bool isPair(Kind K) { return K == Kind::F16x2 || K == Kind::BF16x2; }

static uint64_t special(Kind K, uint64_t Index, uint64_t Random) {
  const std::vector<uint64_t> &Values = specialsOf(K);
  uint64_t V = Values[Index % Values.size()];
  return isPair(K) ? V | Values[Random % Values.size()] << 16 : V;
}

/// The negative product of two numbers, so that a sum with it cancels.
static uint64_t cancelling(Kind K, uint64_t A, uint64_t B, uint64_t Random) {
  uint64_t Bits = 0;
  if (K == Kind::F32) {
    float X = 0, Y = 0;
    std::memcpy(&X, &A, 4);
    std::memcpy(&Y, &B, 4);
    X = -X * Y;
    std::memcpy(&Bits, &X, 4);
    return std::isnan(X) ? Random & 0xffffffff : Bits ^ (Random & 1);
  }
  double X = 0, Y = 0;
  std::memcpy(&X, &A, 8);
  std::memcpy(&Y, &B, 8);
  X = -X * Y;
  std::memcpy(&Bits, &X, 8);
  return std::isnan(X) ? Random : Bits ^ (Random & 1);
}

/// All special values of a single operand, those of conversions, too.
static std::vector<uint64_t> listOf(Kind K) {
  std::vector<uint64_t> Values = specialsOf(K);
  std::vector<uint64_t> More;
  if (K == Kind::F32)
    More = limits32();
  if (K == Kind::F64)
    More = limits64();
  Values.insert(Values.end(), More.begin(), More.end());
  return Values;
}

std::vector<uint64_t> operandsOf(const Row &R) {
  const size_t Count = R.Inputs.size();
  std::vector<uint64_t> Words(Tuples * Count);
  const uint64_t Seed = seedOf(R.Name);
  const uint64_t Most = Tuples / 4 * 3;
  uint64_t Product = 1;
  bool Crosses = true;
  std::vector<uint64_t> Only;
  if (Count == 1)
    Only = listOf(R.Inputs[0]);
  for (Kind K : R.Inputs) {
    Product *= std::max<size_t>(specialsOf(K).size(), 1);
    Crosses &= !specialsOf(K).empty() && Product < (uint64_t(1) << 40);
  }
  for (uint64_t I = 0; I < Tuples; ++I) {
    uint64_t *Tuple = &Words[I * Count];
    uint64_t Index = I;
    // More combinations than room: some, spread over all.
    if (Product > Most)
      Index = mixed(Seed + I) % Product;
    bool Special = Crosses && I < std::min(Product, Most);
    for (size_t J = 0; J < Count; ++J) {
      Kind K = R.Inputs[J];
      uint64_t Random = mixed(Seed + mixed(I * 64 + J + 1)),
               Dice = mixed(Random + 2);
      if (Special) {
        Tuple[J] = special(K, Index, Random);
        Index /= specialsOf(K).size();
      } else if (!specialsOf(K).empty() && Dice % 6 == 0) {
        Tuple[J] = special(K, Dice >> 8, Dice >> 32);
      } else {
        Tuple[J] = randomValue(K, Random);
      }
    }
    if (!Special && Count == 3 && R.Inputs[0] == R.Inputs[2] &&
        (R.Inputs[2] == Kind::F32 || R.Inputs[2] == Kind::F64) && I % 3 == 0)
      Tuple[2] =
          cancelling(R.Inputs[2], Tuple[0], Tuple[1], mixed(Seed + I + 7));
    if (Count == 1 && I < Only.size() && !isPair(R.Inputs[0]))
      Tuple[0] = Only[I];
    // All codes of 8 bits, with others beside them.
    if (Count == 1 && R.Inputs[0] == Kind::Narrow)
      Tuple[0] = (I & 255) | ((I * 151 + (I >> 8) * 29) & 255) << 8;
  }
  return Words;
}

} // namespace ptxrows
