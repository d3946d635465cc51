//===- OccupancyTest.cpp - Blocks per multiprocessor as NVIDIA counts ---===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/CostModel.h"
#include "gtest/gtest.h"
#include <random>

#ifdef CUPILOT_OCCUPANCY_HEADER
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-function"
#include CUPILOT_OCCUPANCY_HEADER
#pragma GCC diagnostic pop
#endif

using namespace cupilot;

static GpuDescription hopper() { return llvm::cantFail(describeGpu("H200")); }

/// Compute capability 8.0 has the limits of 9.0 but for shared memory.
static GpuDescription ampere() {
  GpuDescription G = hopper();
  G.Arch = "sm_80";
  G.SharedPerSM = 164 * 1024;
  G.SharedPerBlock = 163 * 1024;
  return G;
}

static unsigned blocks(const GpuDescription &G, uint64_t Threads,
                       unsigned Registers, uint64_t Static = 0,
                       uint64_t Dynamic = 0) {
  KernelResources R;
  R.Registers = Registers;
  R.StaticShared = Static;
  return residentBlocks(G, R, {{1000, 1, 1}, {Threads, 1, 1}, Dynamic});
}

TEST(Occupancy, ThreadsAndWarps) {
  for (const GpuDescription &G : {hopper(), ampere()}) {
    EXPECT_EQ(blocks(G, 1024, 16), 2u);
    EXPECT_EQ(blocks(G, 256, 16), 8u);
    EXPECT_EQ(blocks(G, 768, 16), 2u);
    // 225 threads are eight warps, like 256.
    EXPECT_EQ(blocks(G, 225, 16), 8u);
    EXPECT_EQ(blocks(G, 224, 16), 9u);
    EXPECT_EQ(blocks(G, 1025, 16), 0u);
    EXPECT_EQ(blocks(G, 0, 16), 0u);
  }
}

TEST(Occupancy, BlocksOfOneWarpLeaveHalfEmpty) {
  EXPECT_EQ(blocks(hopper(), 32, 16), 32u);
  KernelResources R;
  R.Registers = 16;
  EXPECT_DOUBLE_EQ(occupancy(hopper(), R, {{1, 1, 1}, {32, 1, 1}, 0}), 0.5);
  EXPECT_DOUBLE_EQ(occupancy(hopper(), R, {{1, 1, 1}, {16, 4, 1}, 0}), 1.0);
  EXPECT_DOUBLE_EQ(occupancy(hopper(), R, {{1, 1, 1}, {8, 8, 4}, 0}), 1.0);
}

TEST(Occupancy, Registers) {
  GpuDescription G = hopper();
  EXPECT_EQ(blocks(G, 256, 32), 8u);
  // 33 registers count as 40: 1280 for a warp, twelve warps in a quarter.
  EXPECT_EQ(blocks(G, 256, 33), 6u);
  EXPECT_EQ(blocks(G, 256, 40), 6u);
  EXPECT_EQ(blocks(G, 256, 41), 5u);
  EXPECT_EQ(blocks(G, 256, 64), 4u);
  EXPECT_EQ(blocks(G, 256, 128), 2u);
  EXPECT_EQ(blocks(G, 256, 255), 1u);
  EXPECT_EQ(blocks(G, 1024, 64), 1u);
  EXPECT_EQ(blocks(G, 1024, 65), 0u);
  EXPECT_EQ(blocks(G, 256, 256), 0u);
  // Quarters: 65536 registers would do for 51 warps of 40, the quarters hold
  // 48.
  EXPECT_EQ(blocks(G, 96, 40), 16u);
}

TEST(Occupancy, SharedMemory) {
  GpuDescription G = hopper();
  // 228 KiB, of which each block takes one more than it asks for.
  EXPECT_EQ(blocks(G, 128, 16, 0, 227 * 1024), 1u);
  EXPECT_EQ(blocks(G, 128, 16, 0, 227 * 1024 + 1), 0u);
  EXPECT_EQ(blocks(G, 128, 16, 0, 113 * 1024), 2u);
  EXPECT_EQ(blocks(G, 128, 16, 0, 113 * 1024 + 1), 1u);
  EXPECT_EQ(blocks(G, 128, 16, 48 * 1024), 4u);
  EXPECT_EQ(blocks(G, 128, 16, 24 * 1024, 24 * 1024), 4u);
  // Granules of 128 bytes: 16384 + 1024 fit 13 times, 16385 no more.
  EXPECT_EQ(blocks(G, 128, 16, 16384), 13u);
  EXPECT_EQ(blocks(G, 64, 16, 1), 32u);
  EXPECT_EQ(blocks(G, 128, 16, 13568), 16u);
  EXPECT_EQ(blocks(G, 128, 16, 13569), 15u);
  EXPECT_EQ(blocks(ampere(), 128, 16, 0, 163 * 1024), 1u);
  EXPECT_EQ(blocks(ampere(), 128, 16, 0, 164 * 1024), 0u);
  EXPECT_EQ(blocks(ampere(), 128, 16, 48 * 1024), 3u);
}

#ifdef CUPILOT_OCCUPANCY_HEADER
static unsigned nvidias(const GpuDescription &G, int Major, int Threads,
                        int Registers, size_t Static, size_t Dynamic) {
  cudaOccDeviceProp P;
  P.computeMajor = Major;
  P.computeMinor = 0;
  P.maxThreadsPerBlock = 1024;
  P.maxThreadsPerMultiprocessor = int(G.MaxThreadsPerSM);
  P.regsPerBlock = P.regsPerMultiprocessor = int(G.RegistersPerSM);
  P.warpSize = 32;
  P.sharedMemPerBlock = 48 * 1024;
  P.sharedMemPerMultiprocessor = G.SharedPerSM;
  P.numSms = int(G.Multiprocessors);
  P.sharedMemPerBlockOptin = G.SharedPerBlock;
  P.reservedSharedMemPerBlock = 1024;
  cudaOccFuncAttributes A;
  A.maxThreadsPerBlock = 1024;
  A.numRegs = Registers;
  A.sharedSizeBytes = Static;
  A.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  A.maxDynamicSharedSizeBytes = Dynamic;
  A.numBlockBarriers = 1;
  cudaOccDeviceState State;
  State.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult Result;
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&Result, &P, &A, &State,
                                                    Threads, Dynamic),
            CUDA_OCC_SUCCESS);
  return unsigned(Result.activeBlocksPerMultiprocessor);
}

TEST(Occupancy, AgreesWithNvidiasCalculator) {
  std::mt19937_64 Random(7);
  for (unsigned I = 0; I < 20000; ++I) {
    bool Hopper = Random() % 2;
    GpuDescription G = Hopper ? hopper() : ampere();
    int Threads = int(Random() % 1024 + 1), Registers = int(Random() % 256);
    // Static memory of a kernel is at most 48 KiB.
    size_t Static = Random() % 2 ? Random() % (48 * 1024 + 1) : 0;
    size_t Dynamic = Random() % 2 ? Random() % (180 * 1024) : 0;
    ASSERT_EQ(
        blocks(G, uint64_t(Threads), unsigned(Registers), Static, Dynamic),
        nvidias(G, Hopper ? 9 : 8, Threads, Registers, Static, Dynamic))
        << G.Arch << ": " << Threads << " threads, " << Registers
        << " registers, " << Static << " + " << Dynamic << " bytes";
  }
}
#endif
