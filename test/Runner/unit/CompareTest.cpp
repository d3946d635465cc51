//===- CompareTest.cpp - Tests of comparisons -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Compare.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace cupilot::runner;

template <typename T> static std::string bytes(const std::vector<T> &V) {
  return {reinterpret_cast<const char *>(V.data()), V.size() * sizeof(T)};
}

static Comparison floats(const std::vector<float> &A,
                         const std::vector<float> &B, double Absolute = 0,
                         double Relative = 0, double Floor = 0) {
  return compareBytes(bytes(A), bytes(B), Elements::of(NumberKind::F32),
                      {Absolute, Relative, Floor});
}

static float poisoned() {
  uint32_t Bits = uint32_t(Poison) << 16 | Poison;
  float F;
  std::memcpy(&F, &Bits, 4);
  return F;
}

TEST(Compare, EqualBytes) {
  std::vector<float> V(100000, 1.5f);
  V[7] = NAN;
  Comparison C = floats(V, V);
  EXPECT_EQ(C.Numbers, 100000u);
  EXPECT_EQ(C.Differing + C.Wrong + C.Unwritten + C.NaNs, 0u);
}

TEST(Compare, OneBitInManyNumbers) {
  std::vector<float> A(100000, 1.0f), B = A;
  B[77777] = std::nextafter(1.0f, 2.0f);
  Comparison C = floats(A, B);
  EXPECT_EQ(C.Wrong, 1u);
  ASSERT_EQ(C.First.size(), 1u);
  EXPECT_EQ(C.First[0].Element, 77777u);
  EXPECT_EQ(C.MaxUlps, 1u);
  EXPECT_DOUBLE_EQ(C.MaxRelative, 0x1p-23);
  EXPECT_EQ(floats(A, B, 0, 1e-6).Wrong, 0u);
  EXPECT_EQ(floats(A, B, 0, 1e-6).Differing, 1u);
  EXPECT_EQ(floats(A, B, 1e-6, 0).Wrong, 0u);
  EXPECT_EQ(floats(A, B, 1e-8, 1e-8).Wrong, 1u);
}

TEST(Compare, Norms) {
  // 0.01 off in each of many, or in a few: the norm tells them apart.
  std::vector<float> A(100000, 1.0f), All(100000, 1.01f), One = A;
  One[77777] = 1.01f;
  auto Compared = [&](const std::vector<float> &B, double Norm) {
    return compareBytes(bytes(A), bytes(B), Elements::of(NumberKind::F32),
                        {0, 0.02, 0, Norm});
  };
  EXPECT_EQ(Compared(All, 0.005).Wrong, 0u);
  EXPECT_EQ(Compared(All, 0.005).FarFields, 1u);
  EXPECT_NEAR(Compared(All, 0.005).NormError, 0.01, 1e-6);
  EXPECT_EQ(Compared(All, 0.02).FarFields, 0u);
  EXPECT_EQ(Compared(One, 0.005).FarFields, 0u);
  EXPECT_NEAR(Compared(One, 0.005).NormError, 0.01 / std::sqrt(100000.0), 1e-8);
  // Not asked for, it is not computed; NaN is counted elsewhere.
  EXPECT_EQ(Compared(All, 0).FarFields, 0u);
  One[0] = NAN;
  EXPECT_EQ(Compared(One, 0.005).FarFields, 0u);
  // Squares of doubles may leave their range.
  for (double Size : {1e200, 1e-200}) {
    std::vector<double> D(100, Size), E(100, Size * 1.01);
    auto Doubles = [&](double Norm) {
      return compareBytes(bytes(D), bytes(E), Elements::of(NumberKind::F64),
                          {0, 0.02, 0, Norm});
    };
    EXPECT_NEAR(Doubles(0.005).NormError, 0.01, 1e-9);
    EXPECT_EQ(Doubles(0.005).FarFields, 1u);
    EXPECT_EQ(Doubles(0.02).FarFields, 0u);
  }
  // Of two fields only the second is too far off.
  Elements Pairs{8, {{0, NumberKind::F32}, {4, NumberKind::F32}}};
  std::vector<float> P = {100, 1, 100, 1}, Q = {100, 2, 100, 1};
  EXPECT_EQ(compareBytes(bytes(P), bytes(Q), Pairs, {0, 2, 0, 0.1}).FarFields,
            1u);
}

TEST(Compare, Leans) {
  // All a little smaller, or every second one a little larger.
  std::vector<float> A(100000, 2.0f), Smaller(100000, 2 - 0x1p-9f),
      Both = Smaller;
  for (size_t I = 0; I < Both.size(); I += 2)
    Both[I] = 2 + 0x1p-9f;
  auto Compared = [&](const std::vector<float> &B, double Floor) {
    return compareBytes(bytes(A), bytes(B), Elements::of(NumberKind::F32),
                        {0, 0.004, Floor});
  };
  Comparison C = Compared(Smaller, 1);
  EXPECT_EQ(C.Wrong, 0u);
  EXPECT_NEAR(C.Lean, -0x1p-10, 1e-9);
  EXPECT_NEAR(C.LeanByChance, 4 * 0x1p-10 / std::sqrt(100000.0), 1e-8);
  C = Compared(Both, 1);
  EXPECT_NEAR(C.Lean, 0, 1e-9);
  EXPECT_NEAR(C.LeanByChance, 4 * 0x1p-10 / std::sqrt(100000.0), 1e-8);
  // Not asked for, it is not computed.
  EXPECT_EQ(Compared(Smaller, 0.0625).Lean, 0);
  EXPECT_EQ(Compared(A, 1).Lean, 0);
}

TEST(Compare, NaNs) {
  float Other = -NAN;
  EXPECT_EQ(floats({NAN}, {Other}).Wrong, 0u);
  EXPECT_EQ(floats({NAN}, {1}, 1e9, 1e9).Wrong, 1u);
  EXPECT_EQ(floats({1}, {NAN}, 1e9, 1e9).NaNs, 1u);
  EXPECT_EQ(floats({INFINITY}, {-INFINITY}, 1, 1).Wrong, 1u);
}

TEST(Compare, UnwrittenIsNeverRight) {
  // Where the original's result is NaN too: poison is not that NaN.
  EXPECT_EQ(floats({NAN}, {poisoned()}, 1e9, 1e9).Unwritten, 1u);
  EXPECT_EQ(floats({NAN}, {poisoned()}, 1e9, 1e9).Wrong, 1u);
  EXPECT_EQ(floats({3}, {poisoned()}).Unwritten, 1u);
  // Nor does the original write it: then it is not an output there.
  EXPECT_EQ(floats({poisoned()}, {poisoned()}).Unwritten, 0u);
  int32_t P = int32_t(uint32_t(Poison) << 16 | Poison);
  Comparison C = compareBytes(bytes<int32_t>({5, 6}), bytes<int32_t>({5, P}),
                              Elements::of(NumberKind::I32), {});
  EXPECT_EQ(C.Unwritten, 1u);
}

TEST(Compare, SmallNumbersAmongLargeOnes) {
  std::vector<float> A{1000, 1000, 1e-4f}, B{1000, 1000, 2e-4f};
  EXPECT_EQ(floats(A, B, 0, 1e-3).Wrong, 1u);
  EXPECT_EQ(floats(A, B, 0, 1e-3, 1e-3).Wrong, 0u);
  EXPECT_EQ(floats(A, {1000, 1000, 1e-2f}, 0, 1e-3, 1e-3).Wrong, 1u);
}

TEST(Compare, StructsWithPadding) {
  struct Element {
    float F;
    uint16_t H;
    uint16_t Padding;
  };
  Elements Holds{8, {{0, NumberKind::F32}, {4, NumberKind::U16}}};
  std::vector<Element> A{{1, 2, 3}, {4, 5, 6}}, B{{1, 2, 9}, {4, 7, 9}};
  Comparison C = compareBytes(bytes(A), bytes(B), Holds, {});
  EXPECT_EQ(C.Wrong, 1u);
  EXPECT_EQ(C.First[0].Element, 1u);
  EXPECT_EQ(C.First[0].Field, 1u);
}

TEST(Compare, BytesBeyondTheLastElement) {
  Comparison C = compareBytes("abcdefX", "abcdefY",
                              Elements::of(NumberKind::F32), {1e9, 1e9, 0});
  EXPECT_EQ(C.Wrong, 1u);
  EXPECT_EQ(compareBytes("", "", {}, {}).Numbers, 0u);
  EXPECT_EQ(compareBytes("ab", "aX", {}, {}).Wrong, 1u);
}
