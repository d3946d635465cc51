//===- ErrorsTest.cpp - Rounding errors of buffers ------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation/Errors.h"
#include "gtest/gtest.h"
#include <array>
#include <cmath>
#include <cstring>

using namespace cupilot;

namespace {

Bytes bytesOf(std::initializer_list<float> Numbers) {
  Bytes B(Numbers.size() * sizeof(float));
  std::memcpy(B.data(), Numbers.begin(), B.size());
  return B;
}

/// Whether \p Got passes where float64 has 1 and 1, and the original is off by
/// 0.2 at the first number, by chance not at the second.
bool passes(std::initializer_list<float> Got, const PrecisionContract &Contract,
            llvm::ArrayRef<double> Sensitivity) {
  const Layout Floats{4, {{0, ElementKind::Float}}};
  ErrorRange Errors;
  return !compareBuffer(bytesOf(Got), bytesOf({1, 1}), bytesOf({1.2F, 1}),
                        Floats, {Contract, Sensitivity, 16, {}, true}, Errors);
}

// What a unit in the last place of the inputs does excuses a variant under
// "relaxed" as it does under "same", and the contract's own term comes on top.
TEST(Errors, RelaxedBearsWhatSameBears) {
  PrecisionContract Same, Relaxed;
  Relaxed.K = PrecisionContract::Kind::Relaxed;
  Relaxed.RelativeTolerance = 0.004;
  // By byte; 16 times of it is 0.1.
  const std::vector<double> Sensitivity(8, 0.1 / 16);
  EXPECT_TRUE(passes({1.2F, 1.09F}, Same, Sensitivity));
  EXPECT_TRUE(passes({1.2F, 1.09F}, Relaxed, Sensitivity));
  EXPECT_TRUE(passes({1.2F, 1.105F}, Relaxed, Sensitivity));
  EXPECT_FALSE(passes({1.2F, 1.105F}, Same, Sensitivity));
  EXPECT_FALSE(passes({1.2F, 1.12F}, Relaxed, Sensitivity));
  EXPECT_FALSE(passes({1.2F, 1.09F}, Relaxed, {}));
}

// The float64 run says nothing of an original that computes in double: other
// roundings of its own do, four times over.
TEST(Errors, DoublesBearWhatTheirRoundingsDo) {
  auto Passes = [](double Got, llvm::ArrayRef<double> OfDoubles) {
    const Layout Doubles{8, {{0, ElementKind::Double}}};
    auto Two = [](double First) {
      const std::array<double, 2> Numbers = {First, 1};
      Bytes B(sizeof(Numbers));
      std::memcpy(B.data(), Numbers.data(), B.size());
      return B;
    };
    const PrecisionContract Same;
    ErrorRange Errors;
    return !compareBuffer(Two(Got), Two(1), Two(1), Doubles,
                          {Same, {}, 16, OfDoubles, true}, Errors);
  };
  // By byte. Of the first number, and of the other, the buffer's largest.
  std::vector<double> Off(16);
  Off[0] = 0x1p-49;
  Off[8] = 0x1p-46;
  EXPECT_TRUE(Passes(1 + 0x1p-48, {}));
  EXPECT_FALSE(Passes(1 + 0x1p-45, {}));
  EXPECT_TRUE(Passes(1 + 0x1p-44, Off));
  EXPECT_FALSE(Passes(1 + 0x1.2p-44, Off));
  EXPECT_FALSE(Passes(1 + 0x1p-24, Off));
}

// Squares of such doubles are beyond all doubles.
TEST(Errors, OfDoublesOfEverySize) {
  for (double Size : {1.0, 0x1p1000, 0x1p-1000}) {
    const std::array<double, 2> Right = {Size, Size}, Wrong = {Size, 0};
    auto Of = [](const std::array<double, 2> &Numbers) {
      Bytes B(sizeof(Numbers));
      std::memcpy(B.data(), Numbers.data(), B.size());
      return B;
    };
    const Layout Doubles{8, {{0, ElementKind::Double}}};
    const PrecisionContract Same;
    ErrorRange Errors;
    EXPECT_TRUE(compareBuffer(Of(Wrong), Of(Right), Of(Right), Doubles,
                              {Same, {}}, Errors));
  }
}

TEST(Errors, OnlyOfWhatIsFinite) {
  const Layout Floats{4, {{0, ElementKind::Float}}};
  const PrecisionContract Same;
  auto Passes = [&](float Got, float Original, bool OnlyFinite) {
    ErrorRange Errors;
    return !compareBuffer(
        bytesOf({1, Got}), bytesOf({1, Original}), bytesOf({1, Original}),
        Floats, {.Contract = Same, .Sensitivity = {}, .OnlyFinite = OnlyFinite},
        Errors);
  };
  EXPECT_TRUE(Passes(INFINITY, INFINITY, false));
  EXPECT_FALSE(Passes(3e38F, INFINITY, false));
  EXPECT_TRUE(Passes(3e38F, INFINITY, true));
  // It may be up to the order of a sum.
  EXPECT_FALSE(Passes(INFINITY, 3e37F, false));
  EXPECT_TRUE(Passes(INFINITY, 3e37F, true));
  EXPECT_FALSE(Passes(2e37F, 3e37F, true));
  EXPECT_FALSE(Passes(INFINITY, 3e30F, true));
}

} // namespace
