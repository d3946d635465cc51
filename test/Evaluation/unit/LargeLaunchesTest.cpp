//===- LargeLaunchesTest.cpp - Domains as far as a GPU saw ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GateFixture.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace cupilot {
namespace {

class LargeLaunchesTest : public GateTest {
protected:
  GateVerdict keep(StringRef Source) {
    LaunchPlan P;
    P.Launches.push_back({});
    P.Launches[0].Symbol = "k";
    Guard When;
    When.Arch = "sm_90";
    Code = compile(Source);
    return cantFail(TheGate->judge(Code, P, When, GateDepth::Keep));
  }

  static int32_t sizeOf(const LargeLaunch &L) {
    int32_t N = 0;
    std::memcpy(&N, L.Launch.Args[2].data(), 4);
    return N;
  }

  /// Whether \p L lies in a box of \p D that \p By saw.
  bool isIn(const Domain &D, const LargeLaunch &L, DomainBox::By By) const {
    std::vector<std::vector<uint8_t>> Args = L.Launch.Args;
    for (unsigned I : {0, 1}) {
      uint64_t Address = uint64_t(I + 1) << 40;
      std::memcpy(Args[I].data(), &Address, 8);
    }
    Bindings B = cantFail(bindLaunch(L.Launch.Shape, K.Scalars, Args));
    return any_of(D.Boxes, [&](const DomainBox &Box) {
      return Box.Seen == By && contains(Box, B, Args);
    });
  }

  /// What a GPU says that finds the variant right up to \p Most elements.
  static std::vector<ComparedLaunch> answers(ArrayRef<LargeLaunch> Asked,
                                             int32_t Most) {
    std::vector<ComparedLaunch> All;
    All.reserve(Asked.size());
    for (const LargeLaunch &L : Asked)
      All.push_back({L.Launch.Name, L.Case, sizeOf(L) <= Most, "off"});
    return All;
  }

  std::string Code;
};

constexpr char Twin[] = R"(
extern "C" __global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float before = i > 0 ? in[i - 1] : 0.0f;
  out[i] = in[i] * 2.0f + before;
})";

} // namespace

TEST_F(LargeLaunchesTest, BuffersAndGridsFollowTheSizes) {
  std::vector<LargeLaunch> All =
      cantFail(TheGate->largeLaunches({}, UsualLargeBytes));
  ASSERT_FALSE(All.empty());
  int32_t Most = 0;
  for (const LargeLaunch &L : All) {
    const uint64_t N = uint64_t(sizeOf(L));
    Most = std::max(Most, sizeOf(L));
    EXPECT_EQ(L.Launch.Shape.Grid[0], (N + 255) / 256) << L.Case;
    ASSERT_EQ(L.Launch.Buffers.size(), 2u);
    EXPECT_GE(L.Launch.Buffers[0].Size, 4 * N) << L.Case;
    EXPECT_GE(L.Launch.Buffers[1].Size, 4 * N) << L.Case;
    // The values of the input are from -2 to 2.5.
    EXPECT_TRUE(StringRef(L.Launch.Buffers[0].Generator)
                    .starts_with("f32 rand low=-2.0"))
        << L.Launch.Buffers[0].Generator;
    EXPECT_EQ(L.Launch.Buffers[1].Generator, "f32 output");
  }
  // More than the gate runs itself.
  EXPECT_GT(Most, (1 << 24) + 8);
}

TEST_F(LargeLaunchesTest, AGpuWidensADomain) {
  const GateVerdict V = keep(Twin);
  ASSERT_TRUE(V.Passed) << V.Findings.front().Evidence;
  const std::vector<LargeLaunch> Asked =
      cantFail(TheGate->largeLaunches({}, UsualLargeBytes));
  Domain D =
      *cantFail(withCompared(V, Asked, answers(Asked, /*Most=*/INT32_MAX)));
  auto Largest = max_element(Asked, [](const auto &A, const auto &B) {
    return sizeOf(A) < sizeOf(B);
  });
  EXPECT_TRUE(isIn(D, *Largest, DomainBox::By::Gpu));
  EXPECT_FALSE(isIn(D, *Largest, DomainBox::By::Gate));
  // What the gate proved stays as it was.
  EXPECT_EQ(*provedPart(D), *V.Where);
}

TEST_F(LargeLaunchesTest, WhatAGpuFindsWrongLiesOutside) {
  const GateVerdict V = keep(Twin);
  ASSERT_TRUE(V.Passed);
  const std::vector<LargeLaunch> Asked =
      cantFail(TheGate->largeLaunches({}, UsualLargeBytes));
  constexpr int32_t Most = 50000;
  Domain D = *cantFail(withCompared(V, Asked, answers(Asked, Most)));
  unsigned Wrong = 0;
  for (const LargeLaunch &L : Asked)
    if (sizeOf(L) > Most) {
      ++Wrong;
      EXPECT_FALSE(isIn(D, L, DomainBox::By::Gpu)) << L.Case;
      EXPECT_FALSE(isIn(D, L, DomainBox::By::Gate)) << L.Case;
    }
  EXPECT_GT(Wrong, 0u);
}

TEST_F(LargeLaunchesTest, CodeThatNoLaunchRanIsNotComparedAway) {
  // A GPU's result at one size says nothing of a branch on another.
  const GateVerdict V = keep(R"(
extern "C" __global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = n == 60000001 ? 0 : in[i] * 2.0f + (i > 0 ? in[i - 1] : 0.0f);
})");
  const std::vector<LargeLaunch> Asked =
      cantFail(TheGate->largeLaunches({}, UsualLargeBytes));
  ASSERT_TRUE(V.Passed) << V.Findings.front().Evidence;
  Domain D =
      *cantFail(withCompared(V, Asked, answers(Asked, /*Most=*/INT32_MAX)));
  for (const LargeLaunch &L : Asked)
    if (sizeOf(L) > 60000001) {
      EXPECT_FALSE(isIn(D, L, DomainBox::By::Gpu)) << L.Case;
    }
}

TEST_F(LargeLaunchesTest, EachCombinationOfNullPointersHasItsOwn) {
  // One with fewer elements, which no launch with an input stands for.
  Workload Without = W;
  Without.Name = "w1";
  int32_t N = 700;
  std::memcpy(Without.Args[2].data(), &N, 4);
  Without.Shape.Grid[0] = 3;
  Without.Pointers = {{1, 0, 0, 0}};
  Without.Buffers = {W.Buffers[1]};
  GateSetup Setup{&K,
                  compile(R"(
extern "C" __global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in ? in[i] * 2.0f : 1.0f;
})"),
                  {W, Without},
                  Dir->path().str(),
                  "sm_90",
                  1};
  TheGate = cantFail(Gate::create(std::move(Setup)));
  const std::vector<LargeLaunch> All =
      cantFail(TheGate->largeLaunches({}, UsualLargeBytes));
  std::set<int32_t> With, Alone;
  for (const LargeLaunch &L : All)
    (L.Launch.Pointers.size() == 2 ? With : Alone).insert(sizeOf(L));
  // Multiples of their own sizes.
  EXPECT_TRUE(With.count(64 * 1000)) << With.size();
  EXPECT_FALSE(With.count(64 * 700));
  EXPECT_TRUE(Alone.count(64 * 700)) << Alone.size();
  EXPECT_FALSE(Alone.count(64 * 1000));
}

TEST_F(LargeLaunchesTest, TilesAreReadToTheirEnd) {
  // One tile of each row is read here. Within a tile, the end of what is read
  // is 32 elements behind the beginning of the last row, whatever n is.
  constexpr int32_t N = 32, Rows = 1024;
  std::memcpy(W.Args[2].data(), &N, 4);
  W.Buffers[0].Size = uint64_t(4) * Rows * N;
  W.Buffers[1].Size = uint64_t(4) * Rows;
  hold(0, std::string(W.Buffers[0].Size, '\x3f'));
  hold(1, std::string(W.Buffers[1].Size, '\0'));
  gateOf(R"(
extern "C" __global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int from = 0; from < n; from += 32)
    for (int j = 0; j < 32; j += 4) {
      float4 v = *(const float4 *)(in + i * n + from + j);
      sum += v.x + v.y + v.z + v.w;
    }
  out[i] = sum;
})");
  const std::vector<LargeLaunch> All =
      cantFail(TheGate->largeLaunches({}, UsualLargeBytes));
  int32_t Most = 0;
  for (const LargeLaunch &L : All)
    if (sizeOf(L) % 32 == 0) {
      Most = std::max(Most, sizeOf(L));
      EXPECT_GE(L.Launch.Buffers[0].Size,
                uint64_t(4) * 256 * L.Launch.Shape.Grid[0] * sizeOf(L))
          << L.Case;
    }
  EXPECT_GE(Most, 256 * N);
}

TEST_F(LargeLaunchesTest, EachRecordedLaunchHasItsOwn) {
  W.Buffers[1].Size = uint64_t(4) * 1024;
  hold(1, std::string(W.Buffers[1].Size, '\0'));
  gateOf(R"(
extern "C" __global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int j = 0; j < n; ++j)
    sum = sum * 0.5f + in[j % 512];
  out[i] = sum;
})");
  // Two launches of one take most of what a GPU may run for it.
  std::vector<Workload> OnGpu(3, W);
  for (int32_t I = 0; I < 3; ++I) {
    const int32_t N = (I + 1) * 240000;
    std::memcpy(OnGpu[I].Args[2].data(), &N, 4);
    OnGpu[I].Shape.Grid[0] = 1200 / (I + 1);
  }
  const std::vector<LargeLaunch> All =
      cantFail(TheGate->largeLaunches(OnGpu, UsualLargeBytes));
  for (const Workload &R : OnGpu)
    EXPECT_TRUE(any_of(All, [&](const LargeLaunch &L) {
      return L.Launch.Shape.Grid[0] == R.Shape.Grid[0] &&
             L.Launch.Args[2] == R.Args[2];
    })) << R.Shape.Grid[0];
}

} // namespace cupilot
