//===- NarrowChecksTest.cpp - Narrow accesses and local variables ---------===//
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

using namespace cupilot;
using namespace llvm;

/// Every kernel takes (int *out, int n). Line numbers are in the reports.
static const char NarrowKernels[] =
    R"(#define K extern "C" __global__ void
typedef unsigned short H; typedef unsigned char C;
__device__ H *halves(int *out) { return (H *)out; }
// Narrow accesses.
K ok_half(int *out, int n) { // Own, twice, and read again.
  H *h = halves(out); int i = blockIdx.x * 64 + threadIdx.x;
  h[i] = i; h[i] = h[i] + 1;
}
K ok_half_tile(int *out, int n) {
  __shared__ H s[256]; int t = threadIdx.x;
  for (int r = 0; r < 3; ++r) {
    s[t] = t + r; __syncthreads();
    H v = s[t ^ 1]; __syncthreads(); s[t ^ 1] = v + 1; __syncthreads();
    halves(out)[blockIdx.x * 256 + t] = s[255 - t]; __syncthreads();
  }
}
K ok_half_warp(int *out, int n) {
  __shared__ H s[32]; int t = threadIdx.x;
  s[t] = t; __syncwarp(); H v = s[31 - t]; __syncwarp(); s[t ^ 1] = v;
  __syncwarp(); halves(out)[t] = s[t];
}
K ok_bytes_in_pairs(int *out, int n) {
  C *c = (C *)out; int t = threadIdx.x;
  c[2 * t + 1] = 1; c[2 * t] = 2; *(H *)&c[2 * t] = 3; c[2 * t] = c[2 * t + 1];
}
K ok_pair_in_middle(int *out, int n) { // Bytes 1 and 2 of a word are one thread's.
  C *c = (C *)out; int t = threadIdx.x;
  if (t % 3 == 0) c[t / 3 * 4] = 1;
  if (t % 3 == 1) { c[t / 3 * 4 + 1] = 1; c[t / 3 * 4 + 2] = 1; c[t / 3 * 4 + 1] = 2; }
  if (t % 3 == 2) c[t / 3 * 4 + 3] = 1;
}
K half_same(int *out, int n) { halves(out)[threadIdx.x] = 7; }
K half_other(int *out, int n) { halves(out)[threadIdx.x] = blockIdx.y; }
K byte_same(int *out, int n) { ((C *)out)[threadIdx.x] = 7; }
K half_warps(int *out, int n) { halves(out)[threadIdx.x % 32] = threadIdx.x; }
K half_lanes(int *out, int n) { halves(out)[threadIdx.x / 2] = threadIdx.x; }
K half_third(int *out, int n) { // Beside what another lane wrote.
  halves(out)[threadIdx.x ? 1 : 0] = threadIdx.x; }
K half_odd_readers(int *out, int n) { // Who reads the upper half is known too.
  H *h = halves(out); int t = threadIdx.x;
  if (blockIdx.y == 0) out[1024 + t] = h[t];
  else if (t % 2) h[t] = 1; }
// Local variables.
struct Part { float x, y; int tag; };
struct Bits { unsigned a : 3, b : 5, c : 9; };
union Both { float f; int i; char c[4]; };
K ok_guarded(int *out, int n) { // Computes what it throws away.
  float v; int t = threadIdx.x;
  if (t < n / 2) v = out[t];
  v = v * 2 + 1;
  if (t < n / 2) out[t] = v;
}
K ok_guarded_array(int *out, int n) {
  float v[4]; int t = threadIdx.x;
  for (int j = 0; j < 4; ++j) if (t + j < n) v[j] = out[t + j * n];
  for (int j = 0; j < 4; ++j) v[j] = v[j] + 1;
  for (int j = 0; j < 4; ++j) if (t + j < n) out[t + j * n] = v[j];
}
K ok_part(int *out, int n) { // Copied whole, half of it set.
  Part p; p.x = 1; ((Part *)out)[threadIdx.x] = p;
}
K ok_parts(int *out, int n) {
  Part p[8], q[8];
  for (int i = 0; i < 8; ++i) p[i].x = i;
  for (int i = 0; i < 8; ++i) q[i] = p[(i + n) % 8];
  out[threadIdx.x] = q[threadIdx.x % 8].x + 1;
}
K ok_bits(int *out, int n) {
  Bits b; b.a = 1; b.c = n; out[threadIdx.x] = b.a + b.c;
}
K ok_union(int *out, int n) {
  Both b; b.c[0] = 1; b.c[1] = 2; b.i = (b.i & 0xff) | 0x100; out[threadIdx.x] = b.c[0] + 1;
}
K ok_stack(int *out, int n) { // An array that stays in memory.
  int a[64]; int top = 0;
  for (int i = 0; i < n; ++i) if (i % 3) a[top++] = i;
  int sum = 0;
  while (top > 0) sum += a[--top];
  out[threadIdx.x] = sum;
}
K ok_flag(int *out, int n) {
  int last; bool has = false;
  for (int i = 0; i < n; ++i) if (i % 7 == 5) { last = i; has = true; }
  if (has && last > 3) out[threadIdx.x] = last + 1;
}
K bad_acc(int *out, int n) { float acc[4]; acc[0] = acc[1] = acc[2] = n;
  for (int i = 0; i < n; ++i) for (int j = 0; j < 4; ++j) acc[j] += i;
  out[threadIdx.x] = acc[0] + acc[1] + acc[2] + acc[3]; }
K bad_stack(int *out, int n) { int a[64];
  for (int i = 0; i < n - 1; ++i) a[i] = i;
  out[threadIdx.x] = a[threadIdx.x] + 1; }
K bad_branch(int *out, int n) { int x; if (n > 1000) x = out[n];
  if (x == 3) out[threadIdx.x] = 1; }
K bad_address(int *out, int n) { int x; if (n > 1000) x = out[n];
  out[x] = 1; }
K bad_sum(int *out, int n) { float sum;
  for (int i = 0; i < n; ++i) sum += out[i];
  out[threadIdx.x] = sum; }
)";

namespace {
class NarrowChecks : public testing::Test {
protected:
  static std::unique_ptr<CpuModule> compile(bool SameValue, unsigned Threads) {
    auto Dir = cantFail(TemporaryDirectory::create("narrow"));
    cantFail(writeFileAtomic(Dir.file("k.cu"), NarrowKernels));
    std::string Bitcode = cantFail(compileDeviceBitcode(
        Dir.file("k.cu"), "sm_90", {"-O2", "-gline-tables-only", "-w"}));
    CpuDeviceOptions Options;
    cantFail(selectChecks("all", Options));
    Options.CheckSameValueRaces = SameValue;
    Options.Threads = Threads;
    return cantFail(CpuModule::load(Bitcode, Options));
  }
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    if (!Module)
      Module = compile(true, 1);
    Memory->addBuffer(Out.data(), Out.size() * sizeof(int));
  }
  std::string fault(StringRef Kernel, uint64_t Blocks, uint64_t Threads,
                    CpuModule *M = nullptr) {
    const int *P = Out.data();
    int N = 64;
    std::vector<const void *> Args = {&P, &N};
    LaunchResult R =
        cantFail((M ? M : Module.get())
                     ->launch(Kernel, {{1, Blocks, 1}, {Threads, 1, 1}, 0},
                              Args, *Memory));
    return R.Fault ? R.Fault->str() : "none";
  }

  static std::unique_ptr<CpuModule> Module;
  std::vector<int> Out = std::vector<int>(4096, 1);
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
};
std::unique_ptr<CpuModule> NarrowChecks::Module;
} // namespace

#define EXPECT_HAS(TEXT, PART)                                                 \
  do {                                                                         \
    std::string Has = TEXT;                                                    \
    EXPECT_NE(Has.find(PART), std::string::npos) << Has;                       \
  } while (false)

TEST_F(NarrowChecks, StaysSilent) {
  EXPECT_EQ(fault("ok_half", 1, 64), "none");
  EXPECT_EQ(fault("ok_half_tile", 1, 256), "none");
  EXPECT_EQ(fault("ok_half_warp", 1, 32), "none");
  EXPECT_EQ(fault("ok_bytes_in_pairs", 1, 64), "none");
  EXPECT_EQ(fault("ok_pair_in_middle", 1, 96), "none");
  EXPECT_EQ(fault("half_same", 1, 64), "none");
}

TEST_F(NarrowChecks, FindsRaces) {
  std::string Text = fault("half_same", 2, 64);
  EXPECT_HAS(Text, "data race in half_same, block (0,1,0), thread (0,0,0)");
  EXPECT_HAS(Text, "write of 2 bytes at byte 0 of a 16384-byte buffer, where "
                   "both write the same value; not ordered with the write by "
                   "another thread");
  EXPECT_HAS(fault("half_other", 2, 64), "data race");
  EXPECT_HAS(fault("byte_same", 2, 64), "both write the same value");
  EXPECT_HAS(fault("half_warps", 1, 64), "thread (32,0,0)");
  EXPECT_HAS(fault("half_lanes", 1, 64), "thread (1,0,0)");
  EXPECT_HAS(fault("half_third", 1, 3), "thread (2,0,0)");
  EXPECT_HAS(fault("half_odd_readers", 2, 64),
             "not ordered with the read by another thread");
  auto Lenient = compile(false, 1);
  EXPECT_EQ(fault("half_same", 2, 64, Lenient.get()), "none");
  EXPECT_EQ(fault("byte_same", 2, 64, Lenient.get()), "none");
  EXPECT_HAS(fault("half_other", 2, 64, Lenient.get()), "data race");
}

TEST_F(NarrowChecks, LeavesLocalsAlone) {
  for (StringRef Kernel :
       {"ok_guarded", "ok_guarded_array", "ok_part", "ok_parts", "ok_bits",
        "ok_union", "ok_stack", "ok_flag"})
    EXPECT_EQ(fault(Kernel, 1, 64), "none") << Kernel.str();
}

TEST_F(NarrowChecks, FindsUnsetLocals) {
  EXPECT_HAS(fault("bad_acc", 1, 64),
             "read of unwritten memory in bad_acc, block (0,0,0), thread "
             "(0,0,0), at k.cu:88:");
  EXPECT_HAS(fault("bad_acc", 1, 64), "what is stored was computed with a "
                                      "local variable that nobody has set");
  EXPECT_HAS(fault("bad_stack", 1, 64), "thread (63,0,0), at k.cu:91:");
  EXPECT_HAS(fault("bad_branch", 1, 64),
             "a branch depends on a local variable that nobody has set");
  EXPECT_HAS(fault("bad_address", 1, 64),
             "an address depends on a local variable that nobody has set");
  EXPECT_HAS(fault("bad_sum", 1, 64), "at k.cu:98:");
}
