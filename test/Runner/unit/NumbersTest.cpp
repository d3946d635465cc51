//===- NumbersTest.cpp - Tests of numbers in buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Numbers.h"
#include "cupilot/Evaluation/Element.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Files.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace cupilot;
using runner::NumberKind;

static constexpr const char *Words[] = {"f16", "bf16", "f32", "f64",
                                        "i8",  "u8",   "i16", "u16",
                                        "i32", "u32",  "i64", "u64"};

TEST(Numbers, KindsHaveOneWordInTheGateAndInTheRunner) {
  for (const char *Word : Words) {
    std::optional<NumberKind> K = runner::numberKindOf(Word);
    std::optional<ElementKind> E = elementOf(Word);
    ASSERT_TRUE(K && E) << Word;
    EXPECT_EQ(runner::wordOf(*K), Word);
    EXPECT_EQ(wordOf(*E), Word);
    EXPECT_EQ(sizeOf(*E), runner::sizeOf(*K));
    EXPECT_EQ(isFloating(*E), runner::isFloating(*K));
  }
  EXPECT_FALSE(runner::numberKindOf("bytes"));
  EXPECT_FALSE(elementOf("bytes"));
}

/// LLVM's own arithmetic, which the runner does not have.
static uint16_t roundedTo(const llvm::fltSemantics &Format, double Value) {
  llvm::APFloat F(Value);
  bool Lost;
  F.convert(Format, llvm::APFloat::rmNearestTiesToEven, &Lost);
  return uint16_t(F.bitcastToAPInt().getZExtValue());
}

TEST(Numbers, EveryPatternOf16BitsIsReadAndWrittenAsLlvmDoes) {
  for (auto [K, Format] :
       {std::pair(NumberKind::F16, &llvm::APFloat::IEEEhalf()),
        std::pair(NumberKind::BF16, &llvm::APFloat::BFloat())})
    for (unsigned Bits = 0; Bits < 65536; ++Bits) {
      auto Word = uint16_t(Bits);
      uint8_t At[2];
      std::memcpy(At, &Word, 2);
      double A = runner::readNumber(K, At);
      double B =
          llvm::APFloat(*Format, llvm::APInt(16, Bits)).convertToDouble();
      ASSERT_TRUE(A == B || (std::isnan(A) && std::isnan(B))) << Bits;
      if (std::isnan(A))
        continue;
      // What was read is written as it was, and so are the middles of
      // neighbours, which go to the even one.
      for (double V : {A, A * (1 + 0x1p-12), A * (1 + 0x1p-11),
                       A * (1 + 0x1p-9), A * (1 + 0x1p-8), A * 0.9997}) {
        uint16_t Back = 0;
        runner::writeNumber(K, reinterpret_cast<uint8_t *>(&Back), V);
        ASSERT_EQ(Back, roundedTo(*Format, V)) << runner::wordOf(K) << " " << V;
      }
    }
}

TEST(Numbers, AnyNumberIsRoundedAsLlvmDoes) {
  std::mt19937_64 Random(5);
  std::vector<double> Values = {0,       -0.0,    INFINITY, -INFINITY, 1e300,
                                65504,   65520,   65519.99, 1e-8,      5.96e-8,
                                2.98e-8, 2.99e-8, 0.5,      1.5,       2.5,
                                -3.5,    127.5,   1e18,     -1e18};
  for (int I = 0; I < 20000; ++I)
    Values.push_back(std::ldexp(double(int64_t(Random())) * 0x1p-63,
                                int(Random() % 60) - 40));
  for (double V : Values) {
    uint16_t Half = 0, Brain = 0;
    runner::writeNumber(NumberKind::F16, reinterpret_cast<uint8_t *>(&Half), V);
    runner::writeNumber(NumberKind::BF16, reinterpret_cast<uint8_t *>(&Brain),
                        V);
    ASSERT_EQ(Half, roundedTo(llvm::APFloat::IEEEhalf(), V)) << V;
    ASSERT_EQ(Brain, roundedTo(llvm::APFloat::BFloat(), V)) << V;
    for (const char *Word : Words) {
      NumberKind K = *runner::numberKindOf(Word);
      uint8_t A[8] = {}, B[8] = {};
      writeElement(*elementOf(Word), A, V);
      ASSERT_EQ(readElement(*elementOf(Word), A), runner::readNumber(K, A));
      if (runner::isFloating(K) || std::fabs(V) >= 0x1p63)
        continue;
      // Integers to nearest, ties to even; the rest wraps.
      int64_t Whole = std::llrint(V);
      std::memcpy(B, &Whole, runner::sizeOf(K));
      ASSERT_EQ(std::memcmp(A, B, 8), 0) << Word << " " << V;
    }
  }
}

TEST(Numbers, Ulps) {
  auto Between = [](float A, float B) {
    uint8_t X[4], Y[4];
    std::memcpy(X, &A, 4);
    std::memcpy(Y, &B, 4);
    return runner::ulpsBetween(NumberKind::F32, X, Y);
  };
  EXPECT_EQ(Between(1, 1), 0u);
  EXPECT_EQ(Between(1, std::nextafter(1.0f, 2.0f)), 1u);
  EXPECT_EQ(Between(-0.0f, 0.0f), 0u);
  EXPECT_EQ(Between(-1e-45f, 1e-45f), 2u);
  EXPECT_EQ(Between(1, NAN), UINT64_MAX);
  int64_t A = INT64_MIN, B = INT64_MAX;
  EXPECT_EQ(runner::ulpsBetween(NumberKind::I64,
                                reinterpret_cast<uint8_t *>(&A),
                                reinterpret_cast<uint8_t *>(&B)),
            UINT64_MAX);
}

// What a generator makes is part of the format: workloads name its digest.
TEST(Numbers, GeneratorsMakeTheSameEverywhere) {
  auto Digest = [](const char *Text, uint64_t Variation = 0) {
    std::vector<uint8_t> B = runner::generate(Text, 4096, Variation);
    return digest({reinterpret_cast<const char *>(B.data()), B.size()});
  };
  EXPECT_EQ(Digest("f32 uniform seed=3").substr(0, 19), "b3:05daab636895cbf8");
  EXPECT_EQ(Digest("f16 normal seed=3").substr(0, 19), "b3:789be805be54225a");
  EXPECT_EQ(Digest("i32 permutation").substr(0, 19), "b3:af9268fc7a8fa4e0");
  EXPECT_NE(Digest("f32 uniform seed=3"), Digest("f32 uniform seed=4"));
  EXPECT_NE(Digest("f32 uniform seed=3"), Digest("f32 uniform seed=3", 1));
  EXPECT_EQ(Digest("i32 iota"), Digest("i32 iota", 1));
}

// Numbers that follow from their place do not depend on how many there are, and
// so on no threads.
TEST(Numbers, PlacesDecide) {
  constexpr uint64_t Many = uint64_t(5) << 21; // More than two parts.
  for (const char *Text : {"f32 rand seed=7", "f32 randn seed=7"}) {
    std::vector<uint8_t> All = runner::generate(Text, 4 * Many),
                         Few = runner::generate(Text, 4000),
                         Other = runner::generate(Text, 4000, 1);
    EXPECT_TRUE(std::equal(Few.begin(), Few.end(), All.begin()));
    EXPECT_NE(Few, Other);
    double Sum = 0, Square = 0, Least = 9, Most = -9;
    for (uint64_t I = 0; I < Many; ++I) {
      double V = runner::readNumber(NumberKind::F32, All.data() + 4 * I);
      Sum += V;
      Square += V * V;
      Least = std::min(Least, V);
      Most = std::max(Most, V);
    }
    double Mean = Sum / Many, Variance = Square / Many - Mean * Mean;
    bool Normal =
        std::string_view(Text).find("randn") != std::string_view::npos;
    EXPECT_NEAR(Mean, Normal ? 0 : 0.5, 2e-3);
    EXPECT_NEAR(Variance, Normal ? 1 : 1 / 12.0, 2e-3);
    EXPECT_GE(Most, Normal ? 4 : 0.999);
    EXPECT_LT(Most, Normal ? 6 : 1);
    EXPECT_GE(Least, Normal ? -6 : 0);
  }
  std::vector<uint8_t> I = runner::generate("i64 rand low=0 high=3", 8 * 1000);
  for (uint64_t At = 0; At < I.size(); At += 8) {
    EXPECT_LE(I[At], 3);
    EXPECT_EQ(I[At + 1], 0);
  }
}

TEST(Numbers, AShareOfZeros) {
  for (const char *Text : {"f32 rand low=1 high=2 zeros=0.25",
                           "f32 uniform low=1 high=2 zeros=0.25"}) {
    std::vector<uint8_t> B = runner::generate(Text, 40000);
    size_t Zeros = 0;
    for (size_t At = 0; At < B.size(); At += 4)
      Zeros += runner::readNumber(NumberKind::F32, B.data() + At) == 0;
    EXPECT_NEAR(double(Zeros), 2500, 200) << Text;
  }
}

TEST(Numbers, BrokenGenerators) {
  for (const char *Text :
       {"", "f33 ones", "f32", "f32 what", "f32 ones zeros",
        "f32 uniform low=2 high=1", "f32 uniform seed=x",
        "f32 uniform high=", "f32 uniform colour=3", "f32 rand zeros=1.5"}) {
    try {
      runner::generate(Text, 64);
      ADD_FAILURE() << Text;
    } catch (const Failure &F) {
      EXPECT_EQ(F.kind(), FailureKind::BadGenerator);
    }
  }
}
