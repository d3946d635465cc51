//===- ChecksTest.cpp - Races, unwritten and freed memory -----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"
#include <sys/mman.h>

using namespace cupilot;
using namespace llvm;

/// Every kernel takes (int *out, int n). Line numbers are in the reports.
static const char CheckedKernels[] =
    R"(#define K extern "C" __global__ void
__device__ unsigned ticket; __device__ volatile int flag; __device__ int lock;
// Correct ones.
K ok_tile(int *out, int n) {
  __shared__ int s[256];
  for (int r = 0; r < 3; ++r) {
    s[threadIdx.x] = threadIdx.x + r; __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x]; __syncthreads();
  }
}
K ok_warp(int *out, int n) {
  __shared__ int s[256]; int l = threadIdx.x;
  for (int r = 0; r < 1100; ++r) {
    s[l] = l + r; __syncwarp();
    int v = s[l ^ 31]; __syncwarp();
    out[blockIdx.x * 64 + l] = v;
  }
}
K ok_half_warp(int *out, int n) {
  __shared__ int s[32]; int l = threadIdx.x;
  unsigned m = l < 16 ? 0xffffu : 0xffff0000u;
  s[l] = l; __syncwarp(m);
  int v = s[l ^ 15]; __syncwarp(m); s[l] = v; __syncwarp();
  out[l] = s[31 - l];
}
K ok_shuffle(int *out, int n) {
  __shared__ int s[32]; int l = threadIdx.x;
  s[l] = l; int v = __shfl_xor_sync(~0u, l, 1); out[l] = s[31 - l] + v;
}
K ok_last_block(int *out, int n) { // Thread 0 fences after the barrier.
  __shared__ bool last;
  out[1 + blockIdx.x * 256 + threadIdx.x] = 1; __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    int sum = 0;
    for (int i = threadIdx.x; i < gridDim.x * 256; i += 256) sum += out[1 + i];
    atomicAdd(out, sum);
    if (threadIdx.x == 0) ticket = 0;
  }
}
K ok_last_block_each(int *out, int n) { // Every thread fences.
  __shared__ bool last;
  out[1 + blockIdx.x * 256 + threadIdx.x] = 1; __threadfence(); __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    int sum = 0;
    for (int i = threadIdx.x; i < gridDim.x * 256; i += 256) sum += out[1 + i];
    atomicAdd(out, sum);
  }
}
K ok_last_block_one(int *out, int n) { // One value of each block.
  int sum = __syncthreads_count(1);
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = sum; __threadfence();
    if (atomicAdd(&ticket, 1) == gridDim.x - 1) {
      int all = 0;
      for (int i = 0; i < gridDim.x; ++i) all += out[1 + i];
      out[0] = all; ticket = 0;
    }
  }
}
K ok_lock(int *out, int n) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence(); out[0] = out[0] + 1; __threadfence();
    atomicExch(&lock, 0);
  }
}
K ok_flag(int *out, int n) { // Thread 0 tells thread 32.
  if (threadIdx.x == 0) { out[0] = 42; __threadfence(); flag = 1; }
  if (threadIdx.x == 32) { while (flag == 0) __nanosleep(100); __threadfence(); out[1] = out[0]; flag = 0; }
}
K ok_histogram(int *out, int n) {
  __shared__ int h[16];
  if (threadIdx.x < 16) h[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&h[threadIdx.x % 16], 1); __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], h[threadIdx.x]);
}
K ok_bytes(unsigned char *out, int n) { out[blockIdx.x * 256 + threadIdx.x] = threadIdx.x; }
K ok_named(int *out, int n) { // Two halves of the block, a barrier each.
  __shared__ int s[128]; int t = threadIdx.x, h = t / 64, id = h + 1;
  for (int r = 0; r < 3; ++r) {
    s[t] = t + r;
    if (h) asm volatile("bar.sync 1, 64;" ::: "memory"); else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[t] = s[t ^ 63];
    if (h) asm volatile("bar.sync 1, 64;" ::: "memory"); else asm volatile("bar.sync 2, 64;" ::: "memory");
  }
}
K ok_barriers(int *out, int n) {
  __shared__ int s[64];
  for (int r = 0; r < 600; ++r) { s[threadIdx.x] = r; __syncthreads(); out[threadIdx.x] = s[63 - threadIdx.x]; __syncthreads(); }
}
struct P { char c; int i; };
K ok_padding(P *out, int n) { __shared__ P s[64]; s[threadIdx.x].c = 1; s[threadIdx.x].i = 2; __syncthreads(); out[threadIdx.x] = s[63 - threadIdx.x]; }
K ok_heap(int *out, int n) { int *p = (int *)malloc(64); p[3] = threadIdx.x; out[threadIdx.x] = p[3]; free(p); }
// Wrong ones.
K bad_tile(int *out, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[255 - threadIdx.x]; }
K bad_tile_after(int *out, int n) {
  __shared__ int s[256];
  for (int r = 0; r < 2; ++r) {
    s[threadIdx.x] = r; __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % 256]; } }
K bad_syncwarp(int *out, int n) {
  __shared__ int s[32]; s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[31 - threadIdx.x]; }
K bad_half_warp(int *out, int n) {
  __shared__ int s[32]; int l = threadIdx.x; s[l] = l;
  __syncwarp(l < 16 ? 0xffffu : 0xffff0000u);
  out[l] = s[31 - l]; }
K bad_last_block(int *out, int n) { // No fence.
  __shared__ bool last;
  out[1 + blockIdx.x * 256 + threadIdx.x] = 1; __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd((unsigned *)&out[9000], 1) == gridDim.x;
  __syncthreads();
  if (last) {
    int sum = 0;
    for (int i = threadIdx.x; i < gridDim.x * 256; i += 256) sum += out[1 + i];
    atomicAdd(out, sum); } }
K bad_block_fence(int *out, int n) { // A fence for the block only.
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = 1; __threadfence_block();
    if (atomicAdd((unsigned *)&out[4000], 1) == gridDim.x)
      for (int i = 0; i < gridDim.x; ++i) out[0] += out[1 + i]; } }
K bad_plain_add(int *out, int n) { out[0] += 1; }
K bad_blocks(int *out, int n) { if (threadIdx.x == 0) out[0] = blockIdx.x; }
K bad_lanes(int *out, int n) { out[threadIdx.x / 2] = threadIdx.x; }
K bad_same(int *out, int n) { out[0] = 7; }
K bad_count(int *out, int n) {
  __shared__ int c; if (threadIdx.x == 0) c = 0; __syncthreads();
  atomicAdd(&c, 1);
  if (threadIdx.x == 0) out[0] = c; }
K bad_unwritten(int *out, int n) { out[threadIdx.x] = out[threadIdx.x + 64] * 2; }
K bad_shared_unwritten(int *out, int n) { __shared__ int s[64];
  if (threadIdx.x < 60) s[threadIdx.x] = 1; __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + 1; }
K bad_padding(int *out, int n) { __shared__ int s[64]; __shared__ int d[64];
  if (threadIdx.x != 5) s[threadIdx.x] = 1; __syncthreads();
  d[threadIdx.x] = s[threadIdx.x]; __syncthreads();
  out[threadIdx.x] = d[threadIdx.x] + 1; }
K bad_free(int *out, int n) { int *p = (int *)malloc(64); p[3] = 1;
  free(p);
  out[0] = p[3]; }
K bad_double_free(int *out, int n) { int *p = (int *)malloc(64); free(p);
  free(p); }
K bad_leak(int *out, int n) { out[0] = malloc(48) != nullptr; }
K bad_in_place(int *out, int n) { int t = threadIdx.x, v = out[t] + out[t + 1];
  out[t] = v; }
K bad_halo(int *out, int n) { int i = blockIdx.x * 64 + threadIdx.x; int v = out[i + 1];
  __syncthreads();
  out[i] = v; }
K tail_write(int *out, int n) { if (threadIdx.x < n) out[threadIdx.x] = out[64 + threadIdx.x]; }
)";

namespace {
class Checks : public testing::Test {
protected:
  static CpuModule *module() {
    static std::unique_ptr<CpuModule> Module = compile(true);
    return Module.get();
  }
  static std::unique_ptr<CpuModule> compile(bool SameValue) {
    auto Dir = cantFail(TemporaryDirectory::create("checks"));
    cantFail(writeFileAtomic(Dir.file("k.cu"), CheckedKernels));
    std::string Bitcode = cantFail(compileDeviceBitcode(
        Dir.file("k.cu"), "sm_90", {"-O2", "-gline-tables-only"}));
    CpuDeviceOptions Options;
    cantFail(selectChecks("all", Options));
    Options.Coverage = true;
    Options.CheckSameValueRaces = SameValue;
    return cantFail(CpuModule::load(Bitcode, Options));
  }
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    Memory->addBuffer(Out.data(), Out.size() * sizeof(int));
  }
  LaunchResult run(StringRef Kernel, uint64_t Blocks, uint64_t Threads,
                   CpuModule *M = nullptr) {
    const int *P = Out.data();
    int N = 64;
    // Each starts afresh, whatever the last one left.
    std::fill(Out.begin(), Out.end(), 1);
    Memory->setWritten(P, Out.size() * sizeof(int));
    std::vector<const void *> Args = {&P, &N};
    return cantFail((M ? M : module())
                        ->launch(Kernel, {{Blocks, 1, 1}, {Threads, 1, 1}, 0},
                                 Args, *Memory));
  }
  void silent(StringRef Kernel, uint64_t Blocks, uint64_t Threads) {
    for (int Twice = 0; Twice < 2; ++Twice) {
      LaunchResult R = run(Kernel, Blocks, Threads);
      EXPECT_FALSE(R.Fault) << Kernel.str() << ": " << R.Fault->str();
    }
  }
  std::string fault(StringRef Kernel, uint64_t Blocks, uint64_t Threads) {
    LaunchResult R = run(Kernel, Blocks, Threads);
    return R.Fault ? R.Fault->str() : "none";
  }

  std::vector<int> Out = std::vector<int>(256 * 300, 1);
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
};
} // namespace

#define EXPECT_HAS(TEXT, PART)                                                 \
  do {                                                                         \
    std::string Has = TEXT;                                                    \
    EXPECT_NE(Has.find(PART), std::string::npos) << Has;                       \
  } while (false)

TEST_F(Checks, StaysSilent) {
  silent("ok_tile", 20, 256);
  silent("ok_warp", 2, 64);
  silent("ok_half_warp", 1, 32);
  silent("ok_shuffle", 1, 32);
  silent("ok_last_block", 200, 256);
  silent("ok_last_block_each", 200, 256);
  silent("ok_last_block_one", 200, 64);
  silent("ok_lock", 200, 64);
  silent("ok_histogram", 20, 256);
  silent("ok_bytes", 100, 256);
  silent("ok_named", 1, 128);
  silent("ok_barriers", 1, 64);
  silent("ok_padding", 1, 64);
  silent("ok_heap", 1, 64);
  EXPECT_TRUE(Memory->deviceHeap().empty());
}

TEST_F(Checks, FindsRaces) {
  EXPECT_HAS(fault("bad_tile", 1, 256), "data race in bad_tile");
  EXPECT_HAS(fault("bad_tile_after", 1, 256), "data race");
  EXPECT_HAS(fault("bad_syncwarp", 1, 32), "data race");
  EXPECT_HAS(fault("bad_half_warp", 1, 32), "data race");
  EXPECT_HAS(fault("bad_last_block", 20, 256), "data race");
  EXPECT_HAS(fault("bad_block_fence", 20, 64), "data race");
  EXPECT_HAS(fault("bad_plain_add", 1, 64), "data race");
  EXPECT_HAS(fault("bad_blocks", 20, 64), "data race");
  EXPECT_HAS(fault("bad_lanes", 1, 64), "data race");
  EXPECT_HAS(fault("bad_count", 1, 64), "data race");
  EXPECT_HAS(fault("bad_in_place", 1, 64), "data race");
  EXPECT_HAS(fault("bad_halo", 20, 64), "data race");
}

TEST_F(Checks, SaysWhoTheTwoAre) {
  EXPECT_HAS(fault("bad_lanes", 1, 64),
             "data race in bad_lanes, block (0,0,0), thread (1,0,0), address ");
  std::string Text = fault("bad_lanes", 1, 64);
  EXPECT_HAS(Text, ", at k.cu:135:");
  EXPECT_HAS(Text, ": write of 4 bytes at byte 0 of a 307200-byte buffer; not "
                   "ordered with the write by block (0,0,0), thread (0,0,0), "
                   "at k.cu:135:");
  Text = fault("bad_tile_after", 1, 256);
  EXPECT_HAS(Text, " of the block's 1024 bytes of shared memory; not ordered "
                   "with the read by block (0,0,0), thread (");
  EXPECT_HAS(Text, "), at k.cu:111:");
  LaunchResult R = run("bad_halo", 20, 64);
  ASSERT_TRUE(R.Fault && R.Fault->Other);
  EXPECT_NE(R.Fault->Block, R.Fault->Other->Block);
  EXPECT_EQ(R.Fault->Other->Access, AccessKind::Read);
  EXPECT_FALSE(R.Fault->SameValue);
}

TEST_F(Checks, SameValueIsAnOption) {
  LaunchResult R = run("bad_same", 1, 64);
  ASSERT_TRUE(R.Fault);
  EXPECT_TRUE(R.Fault->SameValue);
  EXPECT_HAS(R.Fault->str(), "where both write the same value");
  std::unique_ptr<CpuModule> Lenient = compile(false);
  EXPECT_FALSE(run("bad_same", 1, 64, Lenient.get()).Fault);
  EXPECT_TRUE(run("bad_lanes", 1, 64, Lenient.get()).Fault);
}

TEST_F(Checks, FindsUnwrittenMemory) {
  EXPECT_HAS(fault("bad_shared_unwritten", 1, 64),
             "read of unwritten memory in bad_shared_unwritten, block (0,0,0), "
             "thread (6");
  // Through a copy in shared memory.
  EXPECT_HAS(fault("bad_padding", 1, 64), "thread (5,0,0)");
  EXPECT_EQ(fault("bad_unwritten", 1, 64), "none");
  std::vector<int> Fresh(256);
  Memory->addBuffer(Fresh.data(), 1024);
  Memory->setWritten(Fresh.data(), 1024, false);
  const int *P = Fresh.data();
  int N = 64;
  std::vector<const void *> Args = {&P, &N};
  auto Launch = [&](StringRef Kernel, int Count) {
    N = Count;
    LaunchResult R = cantFail(
        module()->launch(Kernel, {{1, 1, 1}, {64, 1, 1}, 0}, Args, *Memory));
    return R.Fault ? R.Fault->str() : "none";
  };
  EXPECT_HAS(Launch("bad_unwritten", 64),
             "4 of 4 bytes hold nothing yet, from byte 256 of a 1024-byte "
             "buffer");
  Memory->setWritten(Fresh.data() + 64, 256);
  EXPECT_EQ(Launch("bad_unwritten", 64), "none");
  // What a kernel writes is written, and copies carry what is not.
  Memory->copyWritten(Fresh.data(), Fresh.data() + 128, 4);
  EXPECT_EQ(Launch("tail_write", 64), "none");
  Memory->copyWritten(Fresh.data() + 64, Fresh.data() + 191, 8);
  EXPECT_HAS(Launch("bad_unwritten", 64), "from byte 256");
}

TEST_F(Checks, KnowsTheDeviceHeap) {
  EXPECT_HAS(fault("bad_free", 1, 1), "use after free in bad_free");
  EXPECT_HAS(fault("bad_free", 1, 1),
             "read of 4 bytes, byte 12 of a freed buffer of 64 bytes");
  EXPECT_HAS(fault("bad_double_free", 1, 1), "double free in bad_double_free");
  EXPECT_EQ(fault("bad_leak", 1, 1), "none");
  std::vector<DeviceHeapBlock> Heap = Memory->deviceHeap();
  ASSERT_EQ(Heap.size(), 1u);
  EXPECT_EQ(Heap[0].Size, 48u);
  EXPECT_EQ(Heap[0].Kernel, "bad_leak");
  EXPECT_HAS(Heap[0].Location, "k.cu:154:");
}

TEST_F(Checks, RemembersFreedBuffers) {
  auto *P = static_cast<int *>(std::malloc(4096));
  Memory->addBuffer(P, 4096);
  Memory->freeBuffer(P);
  int N = 64;
  std::vector<const void *> Args = {&P, &N};
  LaunchResult R = cantFail(module()->launch(
      "tail_write", {{1, 1, 1}, {64, 1, 1}, 0}, Args, *Memory));
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Kind, FaultKind::UseAfterFree);
  EXPECT_HAS(R.Fault->Detail, "byte 256 of a freed buffer of 4096 bytes");
}

TEST_F(Checks, NotesCoverage) {
  EXPECT_EQ(fault("tail_write", 1, 64), "none");
  auto Seen = Memory->coverage(Out.data());
  ASSERT_TRUE(Seen);
  EXPECT_EQ(Seen->Written.count(), 256u);
  EXPECT_EQ(Seen->Read.count(), 256u);
  EXPECT_EQ(Seen->Written.find_last(), 255);
  EXPECT_EQ(Seen->Read.find_first(), 256);
  Memory->resetCoverage();
  Seen = Memory->coverage(Out.data());
  EXPECT_TRUE(Seen->Written.none() && Seen->Read.none());
  EXPECT_FALSE(Memory->coverage(Out.data() + 1));
  EXPECT_LE(Memory->checkMemory(), 4 * Out.size() * sizeof(int) + 64);
}

TEST_F(Checks, NotesCoverageOfLargeBuffers) {
  constexpr uint64_t Size = 1 << 28, From = Size - 512;
  void *Place = ::mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(Place, MAP_FAILED);
  Memory->addBuffer(Place, Size);
  auto *P = static_cast<char *>(Place) + From;
  int N = 64;
  std::vector<const void *> Args = {&P, &N};
  LaunchResult R = cantFail(module()->launch(
      "tail_write", {{1, 1, 1}, {32, 1, 1}, 0}, Args, *Memory));
  EXPECT_FALSE(R.Fault) << R.Fault->str();
  auto Seen = Memory->coverage(Place);
  ASSERT_TRUE(Seen);
  EXPECT_EQ(Seen->Written.find_first(), int(From));
  EXPECT_EQ(Seen->Written.count(), 128u);
  EXPECT_EQ(Seen->Read.find_first(), int(From + 256));
  Memory->removeBuffer(Place);
  ::munmap(Place, Size);
}

TEST(SelectChecks, ReadsNames) {
  CpuDeviceOptions Options;
  cantFail(selectChecks("races, written", Options));
  EXPECT_TRUE(Options.CheckRaces && Options.CheckWritten);
  EXPECT_FALSE(Options.CheckBounds);
  cantFail(selectChecks("none", Options));
  EXPECT_FALSE(Options.CheckRaces || Options.CheckWritten);
  cantFail(selectChecks("all", Options));
  EXPECT_TRUE(Options.CheckBounds && Options.CheckRaces);
  EXPECT_HAS(toString(selectChecks("race", Options)),
             "there is no check 'race'");
}
