//===- SchedulesTest.cpp - Threads that take turns ------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDeviceFixture.h"

using namespace cupilot;
using namespace llvm;

/// Every kernel takes (int *out, int n). out starts with zeros.
static const char ScheduledKernels[] =
    R"(#include <cuda/atomic>
#include <cooperative_groups.h>
#define K extern "C" __global__ void
#define V(p) (*(volatile int *)&(p))
__device__ int ticket, lock, flag, data, count, gen;
__device__ int flags[4096], sums[4096];
// Wrong updates.
K bad_volatile(int *out, int n) { V(out[threadIdx.x % 8]) = V(out[threadIdx.x % 8]) + 1; }
K bad_exchange(int *out, int n) {
  int *p = &out[threadIdx.x % 8], old = atomicAdd(p, 0);
  atomicExch(p, old + 1);
}
K bad_shared(int *out, int n) {
  __shared__ volatile int c;
  if (threadIdx.x == 0) c = 0;
  __syncthreads();
  c = c + 1;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = c;
}
K bad_relaxed(int *out, int n) {
  cuda::atomic_ref<int, cuda::thread_scope_device> r(out[0]);
  if (threadIdx.x == 0) r.store(r.load(cuda::memory_order_relaxed) + 1, cuda::memory_order_relaxed);
}
K bad_maximum(int *out, int n) { // One try: other results, but no lost store.
  int *p = &out[threadIdx.x % 16];
  int mine = (threadIdx.x * 37 + blockIdx.x * 101) % 1009, old = V(*p);
  if (mine > old) atomicCAS(p, old, mine);
}
// Volatile is no order.
K bad_message(int *out, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) { V(data) = 42; atomicExch(&flag, 1); }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {}
    out[0] = V(data);
  }
}
K bad_lock(int *out, int n) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {}
  V(out[0]) = V(out[0]) + 1;
  atomicExch(&lock, 0);
}
K bad_warp(int *out, int n) {
  __shared__ volatile int s[1024];
  int t = threadIdx.x;
  s[t] = t;
  out[blockIdx.x * blockDim.x + t] = s[t ^ 1];
}
// Blocks that wait for each other.
K bad_grid_barrier(int *out, int n) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&count, 1);
    while (V(count) < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
}
K bad_next_block(int *out, int n) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x + 1 < gridDim.x) {
    while (V(flags[blockIdx.x + 1]) == 0) {}
    __threadfence();
    sums[blockIdx.x] = sums[blockIdx.x + 1] + 1;
  } else {
    sums[blockIdx.x] = 1;
  }
  __threadfence();
  V(flags[blockIdx.x]) = 1;
}
// Right ones.
K ok_add(int *out, int n) { atomicAdd(&out[threadIdx.x % 8], 1); }
K ok_cas(int *out, int n) {
  int old = V(out[0]), seen;
  do { seen = old; old = atomicCAS(&out[0], seen, seen + 1); } while (old != seen);
}
K ok_maximum(int *out, int n) {
  int *p = &out[threadIdx.x % 16];
  int mine = (threadIdx.x * 37 + blockIdx.x * 101) % 1009, old = V(*p);
  while (mine > old) {
    int seen = atomicCAS(p, old, mine);
    if (seen == old) break;
    old = seen;
  }
}
K ok_lock(int *out, int n) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {}
  __threadfence();
  V(out[0]) = V(out[0]) + 1;
  __threadfence();
  atomicExch(&lock, 0);
}
K ok_test_and_set(int *out, int n) {
  if (threadIdx.x != 0) return;
  for (;;) {
    while (V(lock) != 0) __nanosleep(20);
    if (atomicCAS(&lock, 0, 1) == 0) break;
  }
  __threadfence();
  out[0] = out[0] + 1;
  __threadfence();
  V(lock) = 0;
}
K ok_ticket_lock(int *out, int n) {
  if (threadIdx.x != 0) return;
  int mine = atomicAdd(&ticket, 1);
  while (V(flag) != mine) {}
  __threadfence();
  out[0] = out[0] + 1;
  __threadfence();
  V(flag) = V(flag) + 1;
}
K ok_atomic(int *out, int n) {
  cuda::atomic_ref<int, cuda::thread_scope_device> l(lock);
  if (threadIdx.x != 0) return;
  int zero = 0;
  while (!l.compare_exchange_weak(zero, 1, cuda::memory_order_acquire)) zero = 0;
  out[0] = out[0] + 1;
  l.store(0, cuda::memory_order_release);
}
K ok_message(int *out, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) { V(data) = 42; __threadfence(); atomicExch(&flag, 1); }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (V(flag) == 0) {}
    __threadfence();
    out[0] = V(data);
  }
}
K ok_done(int *out, int n) { // All who store there store the same.
  if (threadIdx.x % 3 == 0) V(out[0]) = 1;
}
K ok_warp(int *out, int n) {
  __shared__ volatile int s[1024];
  int t = threadIdx.x;
  s[t] = t; __syncwarp();
  int v = s[t ^ 1]; __syncwarp();
  s[t] = v; __syncwarp();
  out[blockIdx.x * blockDim.x + t] = s[t ^ 1];
}
K ok_last_block(int *out, int n) {
  __shared__ bool last;
  out[1 + blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&ticket, 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x * blockDim.x; ++i) sum += V(out[1 + i]);
    out[0] = sum;
    V(ticket) = 0;
  }
}
K ok_look_back(int *out, int n) { // By tickets.
  __shared__ int tile;
  if (threadIdx.x == 0) tile = atomicAdd(&ticket, 1);
  __syncthreads();
  if (threadIdx.x != 0) return;
  int before = 0;
  V(sums[tile]) = tile + 1;
  __threadfence();
  V(flags[tile]) = 1;
  for (int i = tile - 1; i >= 0; --i) {
    int f;
    do f = V(flags[i]); while (f == 0);
    __threadfence();
    before += V(sums[i]);
    if (f == 2) break;
  }
  out[tile] = before;
}
K ok_look_back_by_block(int *out, int n) { // As CUB: low blocks begin first.
  if (threadIdx.x != 0) return;
  int b = blockIdx.x, before = 0;
  if (b > 0) {
    while (V(flags[b - 1]) == 0) {}
    __threadfence();
    before = sums[b - 1];
  }
  sums[b] = before + b;
  __threadfence();
  V(flags[b]) = 1;
  out[b] = before + b;
}
K ok_grid(int *out, int n) {
  auto g = cooperative_groups::this_grid();
  out[1 + g.thread_rank()] = 1;
  g.sync();
  if (g.thread_rank() == 0) {
    int sum = 0;
    for (int i = 0; i < g.size(); ++i) sum += out[1 + i];
    out[0] = sum;
  }
}
K ok_generations(int *out, int n) { // A home-made barrier that is used again.
  for (int r = 0; r < 4; ++r) {
    __syncthreads();
    if (threadIdx.x == 0) {
      out[r * gridDim.x + blockIdx.x] = r;
      __threadfence();
      int mine = V(gen);
      if (atomicAdd(&count, 1) == gridDim.x - 1) {
        V(count) = 0;
        __threadfence();
        V(gen) = mine + 1;
      } else {
        while (V(gen) == mine) {}
      }
      __threadfence();
    }
    __syncthreads();
  }
}
K tickets(int *out, int n) {
  if (threadIdx.x == 0) out[atomicAdd(&ticket, 1)] = blockIdx.x;
}
K plain(int *out, int n) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
)";

namespace {
class SchedulesTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      consumeError(Tools.takeError());
      return;
    }
    auto Dir = cantFail(TemporaryDirectory::create("schedules"));
    cantFail(writeFileAtomic(Dir.file("k.cu"), ScheduledKernels));
    Bitcode = cantFail(
        compileDeviceBitcode(Dir.file("k.cu"), "sm_90",
                             {"-O2", "-gline-tables-only", "-std=c++17"}));
  }
  static void TearDownTestSuite() { Modules = {}; }
  void SetUp() override {
    if (Bitcode.empty())
      GTEST_SKIP() << "no CUDA toolkit";
    Options.CheckRaces = Options.CheckLostUpdates = Options.CheckVolatileOrder =
        true;
    Options.ScheduleSeed = 1;
    Options.MaxInstructions = 20'000'000;
  }
  LaunchResult launch(StringRef Kernel, uint64_t Blocks = 12,
                      uint64_t Threads = 64, bool Cooperative = false,
                      uint64_t Shared = 0) {
    // The schedule is no part of the code.
    std::unique_ptr<CpuModule> &Module =
        Modules[Options.CheckRaces + 2 * Options.CheckLostUpdates +
                4 * Options.CheckVolatileOrder];
    if (!Module)
      Module = cantFail(CpuModule::load(Bitcode, Options));
    Module->setSchedule(*Options.ScheduleSeed, Options.ResidentBlocks);
    for (const char *Name :
         {"ticket", "lock", "flag", "data", "count", "gen", "flags", "sums"}) {
      auto Variable = Module->global(Name);
      std::memset(Variable->first, 0, Variable->second);
    }
    auto Memory = DeviceMemory::create();
    Out.assign(1 + Blocks * Threads, 0);
    Memory->addBuffer(Out.data(), Out.size() * sizeof(int));
    LaunchShape Shape;
    Shape.Grid = {Blocks, 1, 1};
    Shape.Block = {Threads, 1, 1};
    Shape.Cooperative = Cooperative;
    Shape.Shared = Shared;
    int *Pointer = Out.data(), N = static_cast<int>(Out.size());
    return cantFail(Module->launch(Kernel, Shape, {&Pointer, &N}, *Memory));
  }
  std::optional<RaceRule> ruleOf(StringRef Kernel) {
    LaunchResult R = launch(Kernel);
    if (!R.Fault)
      return std::nullopt;
    EXPECT_EQ(R.Fault->Kind, FaultKind::DataRace) << R.Fault->str();
    EXPECT_TRUE(R.Fault->Other.has_value());
    return R.Fault->Rule;
  }

  static std::string Bitcode;
  static std::array<std::unique_ptr<CpuModule>, 8> Modules;
  CpuDeviceOptions Options;
  std::vector<int> Out;
};
std::string SchedulesTest::Bitcode;
std::array<std::unique_ptr<CpuModule>, 8> SchedulesTest::Modules;
} // namespace

TEST_F(SchedulesTest, LostUpdates) {
  Options.CheckVolatileOrder = false;
  for (uint64_t Seed : {1, 2, 3}) {
    Options.ScheduleSeed = Seed;
    for (const char *Kernel :
         {"bad_volatile", "bad_exchange", "bad_shared", "bad_relaxed"})
      EXPECT_EQ(ruleOf(Kernel), RaceRule::LostUpdate) << Kernel;
  }
}

TEST_F(SchedulesTest, LostUpdatesShowInResults) {
  Options.CheckRaces = false;
  for (const char *Kernel : {"bad_volatile", "bad_exchange"}) {
    EXPECT_FALSE(launch(Kernel).Fault);
    int Sum = 0;
    for (int V : Out)
      Sum += V;
    EXPECT_LT(Sum, 12 * 64) << Kernel;
  }
  EXPECT_FALSE(launch("ok_maximum").Fault);
  const std::vector<int> Most = Out;
  bool Less = false;
  for (uint64_t Seed = 1; Seed <= 8; ++Seed) {
    Options.ScheduleSeed = Seed;
    EXPECT_FALSE(launch("ok_maximum").Fault);
    EXPECT_EQ(Out, Most);
    EXPECT_FALSE(launch("bad_maximum").Fault);
    Less |= Out != Most;
  }
  EXPECT_TRUE(Less);
}

TEST_F(SchedulesTest, VolatileIsNoOrder) {
  for (uint64_t Seed : {1, 2, 3}) {
    Options.ScheduleSeed = Seed;
    for (const char *Kernel : {"bad_message", "bad_lock", "bad_warp"})
      EXPECT_TRUE(ruleOf(Kernel).has_value()) << Kernel << ' ' << Seed;
  }
  Options.CheckLostUpdates = false;
  for (const char *Kernel : {"bad_message", "bad_lock", "bad_warp"})
    EXPECT_EQ(ruleOf(Kernel), RaceRule::VolatileOrder) << Kernel;
}

TEST_F(SchedulesTest, EachRuleIsAnOption) {
  Options.CheckLostUpdates = Options.CheckVolatileOrder = false;
  for (const char *Kernel : {"bad_volatile", "bad_exchange", "bad_relaxed",
                             "bad_message", "bad_lock", "bad_warp"})
    EXPECT_FALSE(launch(Kernel).Fault) << Kernel;
}

TEST_F(SchedulesTest, BlocksThatWaitNeedToBeResident) {
  for (const char *Kernel :
       {"bad_grid_barrier", "bad_next_block", "ok_generations"}) {
    Options.ResidentBlocks = 0;
    EXPECT_FALSE(launch(Kernel).Fault) << Kernel;
    Options.ResidentBlocks = 1;
    LaunchResult R = launch(Kernel);
    ASSERT_TRUE(R.Fault) << Kernel;
    EXPECT_EQ(R.Fault->Kind, FaultKind::Deadlock) << Kernel;
  }
  // Each of 132 multiprocessors holds one block with so much shared memory.
  Options.ResidentBlocks = 0;
  LaunchResult R = launch("bad_grid_barrier", 133, 32, false, 200 << 10);
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Kind, FaultKind::Deadlock);
  EXPECT_FALSE(launch("bad_grid_barrier", 132, 32, false, 200 << 10).Fault);
}

TEST_F(SchedulesTest, RightCodeRuns) {
  for (uint64_t Resident : {0, 1, 5})
    for (uint64_t Seed : {1, 2, 3, 4, 5}) {
      Options.ResidentBlocks = Resident;
      Options.ScheduleSeed = Seed;
      for (const char *Kernel :
           {"ok_add", "ok_cas", "ok_maximum", "ok_lock", "ok_test_and_set",
            "ok_ticket_lock", "ok_atomic", "ok_done", "ok_warp",
            "ok_last_block", "ok_look_back", "ok_look_back_by_block"}) {
        LaunchResult R = launch(Kernel);
        EXPECT_FALSE(R.Fault)
            << Kernel << ' ' << Seed << ": " << R.Fault->str();
      }
      for (const char *Kernel : {"ok_cas", "ok_last_block"}) {
        EXPECT_FALSE(launch(Kernel).Fault);
        EXPECT_EQ(Out[0], 12 * 64) << Kernel;
      }
      for (const char *Kernel :
           {"ok_lock", "ok_test_and_set", "ok_ticket_lock", "ok_atomic"}) {
        EXPECT_FALSE(launch(Kernel).Fault);
        EXPECT_EQ(Out[0], 12) << Kernel;
      }
      LaunchResult R = launch("ok_grid", 12, 64, /*Cooperative=*/true);
      EXPECT_FALSE(R.Fault) << R.Fault->str();
      EXPECT_EQ(Out[0], 12 * 64);
    }
  Options.ResidentBlocks = 0;
  for (const char *Kernel : {"ok_message", "ok_generations"})
    for (uint64_t Seed : {1, 2, 3}) {
      Options.ScheduleSeed = Seed;
      LaunchResult R = launch(Kernel);
      EXPECT_FALSE(R.Fault) << Kernel << ": " << R.Fault->str();
    }
}

TEST_F(SchedulesTest, TicketsAreNeitherForwardNorBackward) {
  std::vector<int> Rising(200);
  for (int I = 0; I < 200; ++I)
    Rising[I] = I;
  std::vector<int> Falling(Rising.rbegin(), Rising.rend()), Before;
  for (uint64_t Seed : {1, 2}) {
    Options.ScheduleSeed = Seed;
    EXPECT_FALSE(launch("tickets", 200, 32).Fault);
    Out.resize(200);
    EXPECT_NE(Out, Rising);
    EXPECT_NE(Out, Falling);
    EXPECT_NE(Out, Before);
    Before = Out;
    EXPECT_FALSE(launch("tickets", 200, 32).Fault);
    Out.resize(200);
    EXPECT_EQ(Out, Before) << "the same seed, other turns";
    std::sort(Before.begin(), Before.end());
    EXPECT_EQ(Before, Rising);
    Before = Out;
  }
}

TEST_F(SchedulesTest, SaysWhoSeesTheSchedule) {
  auto Module = cantFail(CpuModule::load(Bitcode, {}));
  EXPECT_FALSE(cantFail(Module->seesSchedule("plain")));
  for (const char *Kernel : {"ok_add", "ok_warp", "ok_message", "ok_atomic"})
    EXPECT_TRUE(cantFail(Module->seesSchedule(Kernel))) << Kernel;
}
