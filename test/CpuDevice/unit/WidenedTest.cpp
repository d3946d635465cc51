//===- WidenedTest.cpp - Kernels whose floats are wider -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDeviceFixture.h"
#include <cmath>

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
