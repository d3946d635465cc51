//===- Generate.cpp - The content of described buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/Element.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace llvm;

namespace cupilot {

namespace {
struct Recipe {
  ElementKind Kind = ElementKind::Float;
  StringRef How; ///< "uniform".
  uint64_t Seed = 1;
  double Value = 0;
  std::optional<double> Low, High;
};
} // namespace

static Error badRecipe(StringRef Text, const Twine &Why) {
  return usageError("'" + Text + "' makes no buffer: " + Why,
                    "TYPE zeros|ones|uniform|normal|iota|permutation|"
                    "heavy-tailed|value=V [seed=N] [low=A] [high=B]");
}

static Expected<Recipe> parseRecipe(StringRef Text) {
  Recipe R;
  SmallVector<StringRef> Words;
  Text.split(Words, ' ', -1, /*KeepEmpty=*/false);
  std::optional<ElementKind> Kind =
      Words.empty() ? std::nullopt : elementOf(Words[0]);
  if (!Kind)
    return badRecipe(Text, "it does not start with the type of its elements, "
                           "such as f32, f16, i32 or u8");
  R.Kind = *Kind;
  for (StringRef Word : ArrayRef(Words).drop_front()) {
    auto [Name, Value] = Word.split('=');
    double Number = 0;
    if (Value.empty()) {
      if (!R.How.empty())
        return badRecipe(Text, "two ways, '" + R.How + "' and '" + Word + "'");
      R.How = Word;
      continue;
    }
    if (Name == "seed" ? Value.getAsInteger(10, R.Seed)
                       : Value.getAsDouble(Number))
      return badRecipe(Text, "'" + Value + "' is no number");
    if (Name == "low") {
      R.Low = Number;
    } else if (Name == "high") {
      R.High = Number;
    } else if (Name == "value") {
      R.How = "value";
      R.Value = Number;
    } else if (Name != "seed") {
      return badRecipe(Text, "'" + Name + "' is not known");
    }
  }
  if (R.Low && R.High && *R.Low > *R.High)
    return badRecipe(Text, "low is above high");
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

Expected<std::vector<uint8_t>> generateContent(StringRef Generator,
                                               uint64_t Size) {
  Expected<Recipe> R = parseRecipe(Generator);
  if (!R)
    return R.takeError();
  std::vector<uint8_t> Content(Size);
  unsigned Width = sizeOf(R->Kind);
  const uint64_t N = Size / Width;
  std::mt19937_64 Engine(R->Seed);
  bool Floating = isFloating(R->Kind);
  auto Fill = [&](auto Make) {
    for (uint64_t I = 0; I < N; ++I)
      writeElement(R->Kind, Content.data() + I * Width, Make(I));
  };
  if (R->How == "zeros" || R->How == "output") {
    return Content;
  }
  if (R->How == "ones") {
    Fill([](uint64_t) { return 1.0; });
  } else if (R->How == "value") {
    Fill([&](uint64_t) { return R->Value; });
  } else if (R->How == "iota") {
    Fill([&](uint64_t I) { return R->Low.value_or(0) + double(I); });
  } else if (R->How == "uniform") {
    double Low = R->Low.value_or(Floating ? -1 : 0),
           High = R->High.value_or(Floating ? 1 : 99);
    // Both ends are integers that may come.
    Fill([&](uint64_t) {
      return Floating ? Low + (High - Low) * draw(Engine)
                      : std::floor(Low + (High - Low + 1) * draw(Engine));
    });
  } else if (R->How == "normal") {
    Fill([&](uint64_t) { return drawNormal(Engine) * (Floating ? 1 : 30); });
  } else if (R->How == "heavy-tailed") {
    Fill([&](uint64_t) {
      double V = drawNormal(Engine);
      return Engine() % 61 == 0 ? V * 300 : V;
    });
  } else if (R->How == "permutation") {
    std::vector<uint64_t> Order(N);
    std::iota(Order.begin(), Order.end(), 0);
    for (uint64_t I = N; I > 1; --I)
      std::swap(Order[I - 1], Order[Engine() % I]);
    Fill([&](uint64_t I) { return double(Order[I]); });
  } else {
    return badRecipe(Generator, R->How.empty()
                                    ? Twine("nothing says how it is filled")
                                    : "there is no way '" + R->How + "'");
  }
  return Content;
}

} // namespace cupilot
