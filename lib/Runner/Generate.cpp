//===- Generate.cpp - The content of described buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Portable/Random.h"
#include "cupilot/Runner/Numbers.h"
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

namespace cupilot::runner {

namespace {
struct Recipe {
  NumberKind Kind = NumberKind::F32;
  std::string_view How; ///< "uniform".
  uint64_t Seed = 1;
  double Value = 0;
  std::optional<double> Low, High;
  double Zeros = 0; ///< The share of numbers that are 0 instead.
};
} // namespace

[[noreturn]] static void badRecipe(std::string_view Text,
                                   const std::string &Why) {
  throw Failure(FailureKind::BadGenerator,
                "'" + std::string(Text) +
                    "' is not a generator of contents: " + Why);
}

static std::string quoted(std::string_view Text) {
  return "'" + std::string(Text) + "'";
}

/// All of \p Text as a number.
static bool parseDouble(std::string_view Text, double &Value) {
  std::string Copy(Text);
  char *End = nullptr;
  Value = std::strtod(Copy.c_str(), &End);
  return !Copy.empty() && *End == 0 && !std::isspace(Copy[0]);
}

static bool parseSeed(std::string_view Text, uint64_t &Value) {
  auto [End, Error] =
      std::from_chars(Text.data(), Text.data() + Text.size(), Value);
  return Error == std::errc() && End == Text.data() + Text.size();
}

static void addWord(Recipe &R, std::string_view Text, std::string_view Word) {
  size_t Equal = Word.find('=');
  if (Equal == std::string_view::npos || Equal + 1 == Word.size()) {
    std::string_view How = Word.substr(0, Equal);
    if (!R.How.empty())
      badRecipe(Text, "more than one kind of content, " + quoted(R.How) +
                          " and " + quoted(Word));
    R.How = How;
    return;
  }
  std::string_view Name = Word.substr(0, Equal), Value = Word.substr(Equal + 1);
  double Number = 0;
  if (Name == "seed" ? !parseSeed(Value, R.Seed) : !parseDouble(Value, Number))
    badRecipe(Text, quoted(Value) + " is not a number");
  if (Name == "low") {
    R.Low = Number;
  } else if (Name == "high") {
    R.High = Number;
  } else if (Name == "zeros") {
    if (!(Number >= 0 && Number <= 1))
      badRecipe(Text, "zeros= is a share, from 0 to 1");
    R.Zeros = Number;
  } else if (Name == "value") {
    R.How = "value";
    R.Value = Number;
  } else if (Name != "seed") {
    badRecipe(Text, quoted(Name) + " is not known");
  }
}

static Recipe parseRecipe(std::string_view Text) {
  Recipe R;
  bool First = true;
  for (size_t At = 0; At < Text.size();) {
    size_t End = std::min(Text.find(' ', At), Text.size());
    std::string_view Word = Text.substr(At, End - At);
    At = End + 1;
    if (Word.empty())
      continue;
    if (First) {
      std::optional<NumberKind> Kind = numberKindOf(Word);
      if (!Kind)
        break;
      R.Kind = *Kind;
      First = false;
    } else {
      addWord(R, Text, Word);
    }
  }
  if (First)
    badRecipe(Text, "it does not start with the type of its elements, such as "
                    "f32, f16, i32 or u8");
  if (R.Low && R.High && *R.Low > *R.High)
    badRecipe(Text, "low is above high");
  return R;
}

/// A number in [0, 1), the same with every standard library.
static double draw(std::mt19937_64 &Engine) {
  return static_cast<double>(Engine() >> 11) * 0x1p-53;
}

/// Near to a normal distribution with a variance of 1, without functions whose
/// rounding differs between libraries.
static double drawNormal(std::mt19937_64 &Engine) {
  double Sum = 0;
  for (int I = 0; I < 12; ++I)
    Sum += draw(Engine);
  return Sum - 6;
}

/// 64 bits that follow from \p Seed and a place.
static uint64_t bitsAt(uint64_t Seed, uint64_t Place) {
  uint64_t State = Seed + Place * SplitMixStep;
  return splitMix64(State);
}

/// Near to a normal distribution with a variance of 1: eight numbers of 16 bits
/// together.
static double normalAt(uint64_t Seed, uint64_t Place) {
  int64_t Sum = 0;
  for (uint64_t Half : {2 * Place, 2 * Place + 1})
    for (uint64_t Bits = bitsAt(Seed, Half), I = 0; I < 4; ++I, Bits >>= 16)
      Sum += int64_t(Bits & 0xffff);
  constexpr double Middle = 4 * 65535.0;
  constexpr double Scale = 1.2247448713915889 / 65536; // sqrt(12 / 8)
  return (double(Sum) - Middle) * Scale;
}

std::vector<uint8_t> generate(std::string_view Generator, uint64_t Size,
                              uint64_t Variation) {
  std::vector<uint8_t> Content(Size);
  generateInto(Generator, Content.data(), Size, Variation);
  return Content;
}

void generateInto(std::string_view Generator, uint8_t *To, uint64_t Size,
                  uint64_t Variation) {
  Recipe R = parseRecipe(Generator);
  unsigned Width = sizeOf(R.Kind);
  const uint64_t N = Size / Width;
  std::mt19937_64 Engine(R.Seed + Variation * SplitMixStep);
  bool Floating = isFloating(R.Kind);
  // Which numbers are 0 follows from their places, too.
  const uint64_t ZeroSeed = bitsAt(R.Seed ^ 0x5a65726f73, Variation);
  auto IsZero = [&](uint64_t I) {
    return R.Zeros > 0 && double(bitsAt(ZeroSeed, I) >> 11) * 0x1p-53 < R.Zeros;
  };
  auto Fill = [&](auto Make) {
    for (uint64_t I = 0; I < N; ++I) {
      double Value = Make(I);
      writeNumber(R.Kind, To + I * Width, IsZero(I) ? 0 : Value);
    }
  };
  auto FillParts = [&](auto Make) {
    eachPart(N, [&](uint64_t, uint64_t From, uint64_t End) {
      for (uint64_t I = From; I < End; ++I)
        writeNumber(R.Kind, To + I * Width, IsZero(I) ? 0 : Make(I));
    });
  };
  if (R.How == "zeros" || R.How == "output")
    return;
  if (R.How == "ones") {
    Fill([](uint64_t) { return 1.0; });
  } else if (R.How == "value") {
    Fill([&](uint64_t) { return R.Value; });
  } else if (R.How == "iota") {
    Fill([&](uint64_t I) { return R.Low.value_or(0) + double(I); });
  } else if (R.How == "uniform") {
    double Low = R.Low.value_or(Floating ? -1 : 0),
           High = R.High.value_or(Floating ? 1 : 99);
    // Both ends are integers that may come.
    Fill([&](uint64_t) {
      return Floating ? Low + (High - Low) * draw(Engine)
                      : std::floor(Low + (High - Low + 1) * draw(Engine));
    });
  } else if (R.How == "rand" || R.How == "randn") {
    // Each number follows from its place alone, so that large buffers are made
    // by many threads.
    const uint64_t Seed = bitsAt(R.Seed, Variation);
    double Low = R.Low.value_or(0), High = R.High.value_or(Floating ? 1 : 99);
    if (R.How == "randn")
      FillParts(
          [&](uint64_t I) { return normalAt(Seed, I) * (Floating ? 1 : 30); });
    else
      FillParts([&](uint64_t I) {
        double U = double(bitsAt(Seed, I) >> 40) * 0x1p-24;
        return Floating ? Low + (High - Low) * U
                        : std::floor(Low + (High - Low + 1) * U);
      });
  } else if (R.How == "normal") {
    Fill([&](uint64_t) { return drawNormal(Engine) * (Floating ? 1 : 30); });
  } else if (R.How == "heavy-tailed") {
    Fill([&](uint64_t) {
      double V = drawNormal(Engine);
      return Engine() % 61 == 0 ? V * 300 : V;
    });
  } else if (R.How == "permutation") {
    std::vector<uint64_t> Order(N);
    std::iota(Order.begin(), Order.end(), 0);
    for (uint64_t I = N; I > 1; --I)
      std::swap(Order[I - 1], Order[Engine() % I]);
    Fill([&](uint64_t I) { return double(Order[I]); });
  } else {
    badRecipe(Generator, R.How.empty()
                             ? "it does not say how to fill the buffer"
                             : "unknown kind of content " + quoted(R.How));
  }
}

} // namespace cupilot::runner
