//===- CostModelTest.cpp - What must hold for modelled times ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/CostModel.h"
#include "H200.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace cupilot;

static KernelResources registers(unsigned Count) {
  KernelResources R;
  R.Registers = Count;
  return R;
}

static ModelledTime model(const ExecutionCounts &C, const LaunchShape &Shape,
                          unsigned Registers = 32) {
  return modelTime(H200, C, registers(Registers), Shape);
}

/// \p Loads and \p Stores coalesced accesses per thread to \p Width floats,
/// \p InPlace of the stores to what was loaded.
static ExecutionCounts streaming(uint64_t Threads, unsigned Loads,
                                 unsigned Stores, unsigned InPlace,
                                 unsigned Width = 1) {
  ExecutionCounts C;
  C.Threads = Threads;
  C.Warps = Threads / 32;
  C.GlobalLoads = C.Warps * Loads;
  C.GlobalStores = C.Warps * Stores;
  C.GlobalLoadSectors = C.ReadSectors = C.GlobalLoads * 4 * Width;
  C.GlobalStoreSectors = C.WrittenSectors = C.GlobalStores * 4 * Width;
  C.UniqueSectors = C.Warps * 4 * Width * (Loads + Stores - InPlace);
  C.Fp32 = Threads * Width;
  C.Integer = Threads * 4;
  C.Control = Threads * 2;
  C.WarpInstructions = C.Warps * (Loads + Stores + 6 + Width);
  C.Waits = Loads ? C.Warps : 0; // All loads of a thread together.
  return C;
}

static LaunchShape cover(uint64_t Threads, uint64_t Block = 256) {
  return {{Threads / Block, 1, 1}, {Block, 1, 1}, 0};
}

TEST(CostModel, UnknownGpusAreNamedWithTheKnownOnes) {
  auto G = describeGpu("K80");
  ASSERT_FALSE(static_cast<bool>(G));
  std::string Text = llvm::toString(G.takeError());
  EXPECT_NE(Text.find("K80"), std::string::npos);
  EXPECT_NE(Text.find("H200"), std::string::npos);
}

TEST(CostModel, StreamsReachTheCopyBandwidthAndNoMore) {
  uint64_t N = 1 << 27;
  struct Case {
    unsigned Loads, Stores, InPlace;
  };
  // A copy, saxpy (y = a x + y), scaling in place, a sum of two arrays.
  for (Case K : {Case{1, 1, 0}, {2, 1, 1}, {1, 1, 1}, {2, 1, 0}}) {
    double Bytes = double(N) * 4 * (K.Loads + K.Stores);
    auto [Loads, Stores, InPlace] = K;
    // The copies that were measured move 16 bytes per access.
    ModelledTime Wide =
        model(streaming(N / 4, Loads, Stores, InPlace, 4), cover(N / 4));
    double GBs = Bytes / Wide.Microseconds * 1e-3;
    EXPECT_LE(GBs, H200.DramGBs) << Loads << Stores << InPlace;
    EXPECT_GE(GBs, 0.9 * H200.DramGBs) << Loads << Stores << InPlace;
    EXPECT_EQ(Wide.Class, Bottleneck::Memory);
    // With 4 bytes, the warps keep too little in flight to get there.
    ModelledTime Narrow = model(streaming(N, Loads, Stores, InPlace), cover(N));
    EXPECT_GT(Narrow.Microseconds, Wide.Microseconds);
    // An H200 scales an array at 2.44 TB/s so.
    EXPECT_GE(Bytes / Narrow.Microseconds * 1e-3, 0.5 * H200.DramGBs);
    EXPECT_EQ(Narrow.Class, Bottleneck::Memory);
  }
}

TEST(CostModel, ArithmeticReachesThePeakAndNoMore) {
  ExecutionCounts C;
  uint64_t Threads = 132 * 2048 * 4;
  C.Threads = Threads;
  C.Warps = Threads / 32;
  C.Fp32 = Threads * 100000;
  C.WarpInstructions = C.Warps * 100000;
  ModelledTime T = model(C, cover(Threads));
  // An instruction counts as one operation; a fused one does two.
  double Tflops = 2 * double(C.Fp32) / T.Microseconds * 1e-6;
  double Peak = 2 * 128 * 132 * H200.ClockGHz * 1e-3;
  EXPECT_LE(Tflops, Peak);
  // The best products measured reach Fp32Tflops.
  EXPECT_GE(Tflops, 0.99 * H200.Fp32Tflops);
  EXPECT_EQ(T.Class, Bottleneck::Compute);

  std::swap(C.Fp32, C.Fp64);
  // Half as wide a unit, which leaves every other issue slot free.
  EXPECT_GT(model(C, cover(Threads)).Microseconds, 1.5 * T.Microseconds);
}

TEST(CostModel, NothingCostsALaunch) {
  ExecutionCounts C;
  C.Warps = 1;
  C.Threads = 32;
  ModelledTime T = model(C, {{1, 1, 1}, {32, 1, 1}, 0});
  EXPECT_GE(T.Microseconds, H200.LaunchMicroseconds);
  EXPECT_LE(T.Microseconds, 1.1 * H200.LaunchMicroseconds);
  ModelledTime None = model({}, {{0, 1, 1}, {32, 1, 1}, 0});
  EXPECT_EQ(None.Microseconds, H200.LaunchMicroseconds);
}

TEST(CostModel, WhatCannotBeLaunchedNeverEnds) {
  ExecutionCounts C = streaming(1 << 20, 1, 1, 0);
  EXPECT_TRUE(std::isfinite(model(C, cover(1 << 20, 1024), 64).Microseconds));
  EXPECT_TRUE(std::isinf(model(C, cover(1 << 20, 1024), 65).Microseconds));
  LaunchShape Shape = cover(1 << 20);
  Shape.Shared = 228 * 1024;
  EXPECT_TRUE(std::isinf(model(C, Shape).Microseconds));
}

TEST(CostModel, LatencyLeadsInSmallLaunches) {
  // One block that walks a list: nothing hides its loads.
  ExecutionCounts C;
  C.Threads = 32;
  C.Warps = 1;
  C.GlobalLoads = 10000;
  C.GlobalLoadSectors = C.ReadSectors = C.UniqueSectors = 10000;
  C.WarpInstructions = 30000;
  C.Waits = 10000;
  EXPECT_EQ(model(C, {{1, 1, 1}, {32, 1, 1}, 0}).Class, Bottleneck::Latency);
}

TEST(CostModel, LoadsThatAreWaitedForTogetherCostLess) {
  // Sixteen loads of each thread: one after the other, four at a time, at once.
  uint64_t N = 132 * 2048;
  ExecutionCounts C = streaming(N, 16, 1, 0);
  double Before = 0;
  for (unsigned Together : {16, 4, 1}) {
    C.Waits = C.Warps * 16 / Together;
    double Time = model(C, cover(N)).Microseconds;
    EXPECT_GT(Time, 1.1 * Before) << Together;
    Before = Time;
  }
  // What was read before is near.
  C.ReadSectors /= 16;
  EXPECT_LT(model(C, cover(N)).Microseconds, 0.5 * Before);
}

TEST(CostModel, ScatteredAccessesCostMore) {
  for (uint64_t N : {1ull << 16, 1ull << 20, 1ull << 24, 1ull << 27}) {
    ExecutionCounts C = streaming(N, 1, 1, 0), Loads = C, Stores = C;
    Loads.GlobalLoadSectors *= 8;
    Stores.GlobalStoreSectors *= 8;
    double Straight = model(C, cover(N)).Microseconds;
    EXPECT_GT(model(Loads, cover(N)).Microseconds, Straight) << N;
    EXPECT_GT(model(Stores, cover(N)).Microseconds, Straight) << N;
  }
  uint64_t N = 1 << 24;
  ExecutionCounts Stores = streaming(N, 1, 1, 0);
  double Straight = model(Stores, cover(N)).Microseconds;
  Stores.GlobalStoreSectors *= 8;
  EXPECT_GT(model(Stores, cover(N)).Microseconds, 1.5 * Straight);
}

TEST(CostModel, BankConflictsCostMore) {
  uint64_t N = 1 << 22;
  ExecutionCounts C = streaming(N, 1, 1, 0);
  C.SharedAccesses = C.SharedWavefronts = C.Warps * 64;
  C.WarpInstructions += C.SharedAccesses;
  double Free = model(C, cover(N)).Microseconds;
  C.SharedWavefronts *= 2;
  double TwoWay = model(C, cover(N)).Microseconds;
  EXPECT_GT(TwoWay, 1.05 * Free);
  C.SharedWavefronts *= 16;
  EXPECT_GT(model(C, cover(N)).Microseconds, 10 * TwoWay);
}

TEST(CostModel, IdleMultiprocessorsCostMore) {
  uint64_t N = 132 * 8 * 256;
  ExecutionCounts C;
  C.Threads = N;
  C.Warps = N / 32;
  C.Fp32 = N * 10000;
  C.WarpInstructions = C.Warps * 10000;
  double Even = model(C, {{132 * 8, 1, 1}, {256, 1, 1}, 0}).Microseconds;
  double Few = model(C, {{33, 1, 1}, {1024, 1, 1}, 0}).Microseconds;
  EXPECT_GT(Few, 3 * Even);
}

TEST(CostModel, MoreWorkNeverCostsLess) {
  std::mt19937_64 Random(11);
  for (unsigned I = 0; I < 20000; ++I) {
    uint64_t Blocks = 1 + Random() % 4000, Block = 32 * (1 + Random() % 32);
    uint64_t Threads = Blocks * Block;
    unsigned Loads = 1 + Random() % 8, Stores = Random() % 4;
    ExecutionCounts C =
        streaming(Threads, Loads, Stores, std::min(Loads, Stores));
    C.SharedAccesses = C.Warps * (Random() % 20);
    C.SharedWavefronts = C.SharedAccesses * (1 + Random() % 3);
    C.Barriers = C.Warps * (Random() % 4);
    C.Fp32 += Threads * (Random() % 500);
    C.WarpInstructions += C.Fp32 / 32;
    LaunchShape Shape{{Blocks, 1, 1}, {Block, 1, 1}, 0};
    unsigned Registers = 16 + Random() % 48;
    double Before = model(C, Shape, Registers).Microseconds;
    ASSERT_TRUE(std::isfinite(Before) && Before > 0);
    ExecutionCounts More = C;
    uint64_t Extra = 1 + Random() % 1000;
    const char *What = "";
    switch (Random() % 10) {
    case 0: // New data, in accesses of its own.
      What = "loads";
      More.GlobalLoads += Extra;
      More.GlobalLoadSectors += 4 * Extra;
      More.ReadSectors += 4 * Extra;
      More.UniqueSectors += 4 * Extra;
      break;
    case 1: // Data that was read before, read once more.
      What = "repeated loads";
      More.GlobalLoads += Extra;
      More.GlobalLoadSectors += 4 * Extra;
      break;
    case 2:
      What = "scattering";
      More.GlobalLoadSectors += Extra;
      break;
    case 3:
      What = "floating point";
      More.Fp32 += 32 * Extra;
      More.WarpInstructions += Extra;
      break;
    case 4:
      What = "bank conflicts";
      More.SharedWavefronts += Extra;
      break;
    case 5:
      What = "barriers";
      More.Barriers += Extra;
      break;
    case 6:
      What = "atomics";
      More.AtomicOps += Extra;
      break;
    case 7:
      What = "waits";
      More.Waits += Extra;
      break;
    case 8:
      What = "a longer chain";
      More.ChainCycles += Extra;
      break;
    default:
      What = "stores";
      More.GlobalStores += Extra;
      More.GlobalStoreSectors += 4 * Extra;
      More.WrittenSectors += 4 * Extra;
      More.UniqueSectors += 4 * Extra;
    }
    double After = model(More, Shape, Registers).Microseconds;
    ASSERT_GE(After, Before * (1 - 1e-12))
        << What << " +" << Extra << ": " << Blocks << " blocks of " << Block
        << ", " << Loads << " loads, " << Stores << " stores";
  }
}
