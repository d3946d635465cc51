//===- WidenedTest.cpp - Kernels whose floats are wider -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDeviceFixture.h"
#include <cmath>
#include <set>

using namespace cupilot;
using namespace llvm;

namespace {
class Widened : public CpuDeviceFixture {};
} // namespace

TEST_F(Widened, FloatsLoseNoBits) {
  const char *Source =
      R"(extern "C" __global__ void sum(const float *x, float *y, int n) {
    float s = 0;
    for (int i = 0; i < n; ++i) s += x[i];
    y[0] = expf(s - 16777216.0f);
  })";
  std::vector<float> X(6, 0.25f), Y(1);
  X[0] = 16777216.0f;
  compile(Source);
  EXPECT_FALSE(launch("sum", {}, buffer(X), buffer(Y), 6).Fault);
  EXPECT_FLOAT_EQ(Y[0], 1.0f); // 0.25 is lost each time.
  CpuDeviceOptions Wide;
  Wide.WidenFloats = true;
  compile(Source, Wide);
  EXPECT_FALSE(launch("sum", {}, buffer(X), buffer(Y), 6).Fault);
  EXPECT_FLOAT_EQ(Y[0], std::exp(1.25f));
}

TEST_F(Widened, MemoryLosesNoBits) {
  // Through shared memory, local arrays, shuffles, half2 and atomics: float
  // and half would lose the small parts at each of them.
  const char *Source = R"(
#include <cuda_fp16.h>
extern "C" __global__ void k(const float *x, float *y, float *scratch,
                             __half2 *halves, float *total, int n) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t] / 3.0f;
  __syncthreads();
  float a[4];
  for (int i = 0; i < 4; ++i) a[(i + n) & 3] = s[(t + i) & 31] * 1.1f;
  scratch[t] = a[n & 3] + a[(n + 1) & 3];
  float v = scratch[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  halves[t] = __floats2half2_rn(v / 7.0f, v / 11.0f);
  __half2 h = halves[t];
  h = __hadd2(h, h);
  y[t] = v + __low2float(h) + __high2float(h);
  atomicAdd(total, v / 13.0f);
})";
  std::vector<float> X(32), Y(32), Scratch(32), Total(1);
  std::vector<uint32_t> Halves(32);
  for (unsigned I = 0; I < 32; ++I)
    X[I] = float(I) * 0.7f + 0.1f;
  std::vector<double> Third(32), Pair(32);
  double Sum = 0;
  for (unsigned I = 0; I < 32; ++I)
    Third[I] = double(X[I]) / 3;
  for (unsigned I = 0; I < 32; ++I)
    Sum += (Third[I] + Third[(I + 1) % 32]) * double(1.1f);
  CpuDeviceOptions Wide;
  Wide.WidenFloats = true;
  compile(Source, Wide);
  auto Run = [&] {
    Total[0] = 0;
    LaunchResult R = launch("k", {{1, 1, 1}, {32, 1, 1}}, buffer(X), buffer(Y),
                            buffer(Scratch), buffer(Halves), buffer(Total), 0);
    ASSERT_FALSE(R.Fault) << R.Fault->str();
  };
  Run();
  // Rounded once, at the end.
  EXPECT_EQ(Y[5], float(Sum + 2 * Sum / 7 + 2 * Sum / 11));
  EXPECT_EQ(Total[0], float(32 * (Sum / 13)));
  compile(Source);
  Run();
  EXPECT_NE(Y[5], float(Sum + 2 * Sum / 7 + 2 * Sum / 11));
}

TEST_F(Widened, MemoryKeepsInfinities) {
  // Inputs that are infinite, and sums that are so in float and half alone.
  const char *Source = R"(
#include <cuda_fp16.h>
extern "C" __global__ void k(const float *x, float *y, float *scratch,
                             __half *halves) {
  y[0] = x[0]; y[1] = x[1]; y[2] = x[0] + x[1];
  scratch[0] = 3e38f + x[2];
  y[3] = scratch[0] * 0.125f;
  halves[0] = __hadd(__float2half(60000.0f), __float2half(x[3]));
  y[4] = __half2float(halves[0]) * 0.5f;
  y[5] = __half2float(halves[1]);
})";
  constexpr float Inf = std::numeric_limits<float>::infinity();
  std::vector<float> X = {Inf, -Inf, 2e38f, 40000.0f}, Y(6), Scratch(1);
  std::vector<uint16_t> Halves = {0, 0xfc00};
  CpuDeviceOptions Wide;
  Wide.WidenFloats = true;
  compile(Source, Wide);
  EXPECT_FALSE(
      launch("k", {}, buffer(X), buffer(Y), buffer(Scratch), buffer(Halves))
          .Fault);
  EXPECT_EQ(Y[0], Inf);
  EXPECT_EQ(Y[1], -Inf);
  EXPECT_TRUE(std::isnan(Y[2]));
  EXPECT_FLOAT_EQ(Y[3], 6.25e37f);
  EXPECT_FLOAT_EQ(Y[4], 50000.0f);
  EXPECT_EQ(Y[5], -Inf);
  EXPECT_EQ(Scratch[0], Inf);
}

TEST_F(Widened, MemoryYieldsToOtherStores) {
  // What an integer store or another sign put there counts, not what was
  // remembered.
  const char *Source = R"(
extern "C" __global__ void k(float *x, float *y) {
  x[0] = x[1] / 3.0f;
  ((int *)x)[0] ^= 0x80000000;
  float a = x[0];
  ((unsigned char *)x)[3] = 0x40;
  y[0] = a; y[1] = x[0];
})";
  std::vector<float> X = {0, 1}, Y(2);
  CpuDeviceOptions Wide;
  Wide.WidenFloats = true;
  compile(Source, Wide);
  EXPECT_FALSE(launch("k", {}, buffer(X), buffer(Y)).Fault);
  std::vector<float> GotWide = Y;
  X = {0, 1};
  compile(Source);
  EXPECT_FALSE(launch("k", {}, buffer(X), buffer(Y)).Fault);
  EXPECT_EQ(GotWide, Y);
  EXPECT_EQ(Y[0], -1.0f / 3.0f);
}

TEST_F(Widened, ProductsOfShorterMantissas) {
  // A sum of products, one of a factor that is an argument, and a sum alone.
  const char *Source = R"(
extern "C" __global__ void k(const float *x, const float *w, float *y, float f) {
  y[0] = x[0] * w[0];
  y[1] = f * x[0];
  y[2] = x[0] + w[0];
  y[3] = fmaf(x[1], w[1], x[2]);
})";
  std::vector<float> X = {1 + 0x1p-9f, -1 - 0x1.8p-8f, 1 + 0x1p-20f},
                     W = {1, 3}, Y(4);
  CpuDeviceOptions Rounded;
  Rounded.WidenFloats = true;
  Rounded.ProductBits = 8;
  compile(Source, Rounded);
  const float F = 1 + 0x1p-20f;
  EXPECT_FALSE(launch("k", {}, buffer(X), buffer(W), buffer(Y), F).Fault);
  EXPECT_EQ(Y[0], 1 + 0x1p-8f); // A tie goes up.
  EXPECT_EQ(Y[1], float(double(F) * (1 + 0x1p-8)));
  EXPECT_EQ(Y[2], 2 + 0x1p-9f);
  EXPECT_EQ(Y[3], float(-3 * (1 + 0x1p-7) + 1 + 0x1p-20));

  // By a coin: between the two neighbours, and both occur.
  auto *Seed = static_cast<uint64_t *>(
      const_cast<void *>(Module->global(RoundingSeedName)->first));
  unsigned Up = 0;
  for (*Seed = 1; *Seed <= 64; ++*Seed) {
    EXPECT_FALSE(launch("k", {}, buffer(X), buffer(W), buffer(Y), F).Fault);
    ASSERT_TRUE(Y[0] == 1 || Y[0] == 1 + 0x1p-8f) << Y[0];
    Up += Y[0] > 1;
  }
  EXPECT_GT(Up, 16u);
  EXPECT_LT(Up, 48u);

  // What is short already, and what is no number, stays.
  X = {0.75f, INFINITY, 1};
  W = {-0x1p-149f, 1};
  *Seed = 0;
  EXPECT_FALSE(launch("k", {}, buffer(X), buffer(W), buffer(Y), F).Fault);
  EXPECT_EQ(Y[0], float(0.75 * -0x1p-149));
  EXPECT_EQ(Y[3], INFINITY);
}

TEST_F(Widened, DoublesAreRoundedAtRandom) {
  const char *Source = R"(
extern "C" __global__ void k(const double *x, double *y) {
  y[0] = x[0] + x[1];
  y[1] = x[0] * x[2];
  y[2] = x[0] / x[2];
  y[3] = fma(x[0], x[2], x[1]);
  y[4] = sqrt(x[2]);
  y[5] = x[3] + x[4];
  y[6] = exp(x[2]);
  y[7] = x[3] * x[5];
})";
  // The sum loses a quarter of a unit; that of integers, nothing.
  const std::vector<double> X = {1, 0x1p-54, 3.1, 7, 5, INFINITY};
  std::vector<double> In = X, Y(8);
  CpuDeviceOptions Wide;
  Wide.WidenFloats = true;
  compile(Source, Wide);
  EXPECT_FALSE(launch("k", {}, buffer(In), buffer(Y)).Fault);
  const std::vector<double> Plain = Y;
  Wide.RoundAtRandom = true;
  compile(Source, Wide);
  auto *Seed = static_cast<uint64_t *>(Module->global(RoundingSeedName)->first);
  std::vector<std::set<double>> Seen(Y.size());
  unsigned Up = 0;
  for (*Seed = 1; *Seed <= 128; ++*Seed) {
    EXPECT_FALSE(launch("k", {}, buffer(In), buffer(Y)).Fault);
    for (size_t I = 0; I < Y.size(); ++I)
      Seen[I].insert(Y[I]);
    Up += Y[0] > 1;
  }
  EXPECT_EQ(Seen[0], std::set<double>({1, 1 + 0x1p-52}));
  // A quarter of them, so that the mean is exact.
  EXPECT_GT(Up, 16u);
  EXPECT_LT(Up, 48u);
  // What is not exact has one other number, on the side of what was lost.
  const long double Exact[] = {1.0L + 0x1p-54L, 1.0L * X[2], 1.0L / X[2],
                               1.0L * X[2] + 0x1p-54L,
                               std::sqrt((long double)X[2])};
  for (size_t I : {2, 3, 4}) {
    ASSERT_EQ(Seen[I].size(), 2u) << I;
    EXPECT_LT(*Seen[I].begin(), Exact[I]) << I;
    EXPECT_GT(*Seen[I].rbegin(), Exact[I]) << I;
    EXPECT_EQ(std::nextafter(*Seen[I].begin(), INFINITY), *Seen[I].rbegin());
  }
  EXPECT_EQ(Seen[6].size(), 3u); // Of functions, nobody knows the side.
  for (size_t I : {1, 5, 7})
    EXPECT_EQ(Seen[I], std::set<double>({Plain[I]})) << I;
  EXPECT_EQ(Plain[5], 12);
}
