//===- CpuDeviceTest.cpp - Device code on the CPU -------------------------===//
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
class CpuDevice : public CpuDeviceFixture {};
} // namespace

TEST_F(CpuDevice, RunsPlainThreads) {
  compile(
      R"(extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
  })");
  std::vector<float> X(1000, 2), Y(1000, 1);
  LaunchResult R = launch("saxpy", {{4, 1, 1}, {256, 1, 1}}, 1000, 3.0f,
                          buffer(X), buffer(Y));
  ASSERT_FALSE(R.Fault) << R.Fault->str();
  for (float V : Y)
    ASSERT_EQ(V, 7.0f);
}

TEST_F(CpuDevice, BarriersAndSharedMemory) {
  compile(R"(extern "C" __global__ void reduce(const float *x, float *out) {
    __shared__ float s[256];
    extern __shared__ float dyn[];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    dyn[t] = 1;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
      if (t < d) { s[t] += s[t + d]; dyn[t] += dyn[t + d]; }
      __syncthreads();
    }
    int n = __syncthreads_count(t < 3);
    if (t == 0) out[blockIdx.x] = s[0] + dyn[0] + n;
  })");
  std::vector<float> X(1024), Out(4);
  for (unsigned I = 0; I < X.size(); ++I)
    X[I] = I % 7;
  LaunchResult R =
      launch("reduce", {{4, 1, 1}, {256, 1, 1}, 1024}, buffer(X), buffer(Out));
  ASSERT_FALSE(R.Fault) << R.Fault->str();
  for (unsigned B = 0; B < 4; ++B) {
    float Sum = 0;
    for (unsigned I = 0; I < 256; ++I)
      Sum += X[B * 256 + I];
    EXPECT_EQ(Out[B], Sum + 256 + 3);
  }
}

TEST_F(CpuDevice, WarpOperations) {
  compile(R"(extern "C" __global__ void warp(int *out) {
    int lane = threadIdx.x % 32, v = lane;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    int x = __shfl_xor_sync(0xffffffffu, lane, 1);
    int seg = __shfl_sync(0xffffffffu, lane, 2, 8);
    unsigned ballot = __ballot_sync(0xffffffffu, lane % 3 == 0);
    int any = __any_sync(0xffffffffu, lane == 31), all = __all_sync(0xffffffffu, lane < 31);
    unsigned match = __match_any_sync(0xffffffffu, lane / 16);
    int red = __reduce_add_sync(0xffffffffu, lane);
    if (lane < 8) { unsigned m = __activemask(); __syncwarp(0xff); }
    int *o = out + threadIdx.x * 8;
    o[0] = v; o[1] = x; o[2] = seg; o[3] = (int)ballot; o[4] = any; o[5] = all;
    o[6] = (int)match; o[7] = red;
  })");
  std::vector<int> Out(64 * 8);
  LaunchResult R = launch("warp", {{1, 1, 1}, {64, 1, 1}}, buffer(Out));
  ASSERT_FALSE(R.Fault) << R.Fault->str();
  EXPECT_EQ(Out[0], 496);
  for (int T = 0; T < 64; ++T) {
    int Lane = T % 32;
    EXPECT_EQ(Out[T * 8 + 1], Lane ^ 1);
    EXPECT_EQ(Out[T * 8 + 2], Lane / 8 * 8 + 2);
    EXPECT_EQ(static_cast<unsigned>(Out[T * 8 + 3]), 0x49249249u);
    EXPECT_EQ(Out[T * 8 + 4], 1);
    EXPECT_EQ(Out[T * 8 + 5], 0);
    EXPECT_EQ(static_cast<unsigned>(Out[T * 8 + 6]),
              Lane < 16 ? 0xffffu : 0xffff0000u);
    EXPECT_EQ(Out[T * 8 + 7], 496);
  }
}

TEST_F(CpuDevice, AtomicsConstantsAndMathematics) {
  compile(R"(__constant__ float c[4];
  __device__ int total;
  extern "C" __global__ void k(float *f, double *d, unsigned *u) {
    atomicAdd(f, 1.0f); atomicAdd(d, 0.5); atomicAdd(&total, 1); atomicMax(u, threadIdx.x);
    atomicCAS(u + 1, 0u, 7u);
    if (threadIdx.x == 0 && blockIdx.x == 0) {
      f[1] = expf(1.0f) + c[2]; f[2] = __expf(2.0f); f[3] = rsqrtf(4.0f); f[4] = sinf(0.5f);
      d[1] = exp(1.0) + sin(0.5) + pow(2.0, 0.5);
      u[2] = __popc(0xf0f0u) + __clz(1) + __ffs(8); u[3] = __umulhi(0x80000000u, 6u);
      u[4] = __byte_perm(0x03020100, 0x07060504, 0x5410); u[5] = __float_as_uint(1.0f);
    }
  })");
  std::vector<float> F(8);
  std::vector<double> D(2);
  std::vector<unsigned> U(8);
  auto C = Module->global("c");
  ASSERT_TRUE(C);
  EXPECT_EQ(C->second, 16u);
  static_cast<float *>(C->first)[2] = 10;
  LaunchResult R =
      launch("k", {{200, 1, 1}, {256, 1, 1}}, buffer(F), buffer(D), buffer(U));
  ASSERT_FALSE(R.Fault) << R.Fault->str();
  EXPECT_EQ(F[0], 51200);
  EXPECT_EQ(D[0], 25600);
  EXPECT_EQ(*static_cast<int *>(Module->global("total")->first), 51200);
  EXPECT_EQ(U[0], 255u);
  EXPECT_EQ(U[1], 7u);
  EXPECT_FLOAT_EQ(F[1], std::exp(1.0f) + 10);
  EXPECT_NEAR(F[2], std::exp(2.0f), 1e-5);
  EXPECT_FLOAT_EQ(F[3], 0.5f);
  EXPECT_FLOAT_EQ(F[4], std::sin(0.5f));
  EXPECT_DOUBLE_EQ(D[1], std::exp(1.0) + std::sin(0.5) + std::sqrt(2.0));
  EXPECT_EQ(U[2], 8u + 31 + 4);
  EXPECT_EQ(U[3], 3u);
  EXPECT_EQ(U[4], 0x05040100u);
  EXPECT_EQ(U[5], 0x3f800000u);
}

TEST_F(CpuDevice, FaultsNameThreadAndLine) {
  compile("extern \"C\" __global__ void bad(float *x, int n) {\n"
          "  int i = threadIdx.x;\n"
          "  x[i + n] = 1;\n"
          "}\n"
          "extern \"C\" __global__ void diverge(int *x) {\n"
          "  if (threadIdx.x < 16) __syncthreads();\n"
          "  x[threadIdx.x] = 1;\n"
          "}\n"
          "extern \"C\" __global__ void shared(int *x, int n) {\n"
          "  __shared__ int s[32];\n"
          "  s[threadIdx.x + n] = 1; __syncthreads(); x[threadIdx.x] = s[31 - "
          "threadIdx.x];\n"
          "}\n"
          "extern \"C\" __global__ void unaligned(char *x) { *(int *)(x + 1) = "
          "1; }\n");
  std::vector<float> X(64);
  std::vector<int> I(64);
  float *P = buffer(X);
  LaunchResult R = launch("bad", {{1, 1, 1}, {64, 1, 1}}, P, 1);
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Kind, FaultKind::OutOfBoundsWrite);
  EXPECT_EQ(R.Fault->Thread[0], 63u);
  EXPECT_NE(R.Fault->Location.find("k.cu:3"), std::string::npos)
      << R.Fault->str();
  EXPECT_NE(R.Fault->Detail.find("0 bytes past the end of a 256-byte buffer"),
            std::string::npos)
      << R.Fault->str();
  // The module still works.
  EXPECT_FALSE(launch("bad", {{1, 1, 1}, {64, 1, 1}}, P, 0).Fault);
  R = launch("bad", {{1, 1, 1}, {64, 1, 1}}, static_cast<float *>(nullptr), 0);
  ASSERT_TRUE(R.Fault);
  EXPECT_NE(R.Fault->Detail.find("null pointer"), std::string::npos)
      << R.Fault->str();
  R = launch("diverge", {{1, 1, 1}, {32, 1, 1}}, buffer(I));
  EXPECT_FALSE(R.Fault) << "threads that have ended do not hold a barrier up: "
                        << R.Fault->str();
  R = launch("shared", {{1, 1, 1}, {32, 1, 1}}, buffer(I), 0);
  EXPECT_FALSE(R.Fault) << R.Fault->str();
  R = launch("shared", {{1, 1, 1}, {32, 1, 1}}, buffer(I), 1);
  ASSERT_TRUE(R.Fault);
  EXPECT_NE(R.Fault->Detail.find("128"), std::string::npos) << R.Fault->str();
  R = launch("unaligned", {{1, 1, 1}, {1, 1, 1}}, P);
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Kind, FaultKind::MisalignedWrite);
  Memory->addBuffer(X.data(), 256, /*ReadOnly=*/true);
  EXPECT_EQ(launch("bad", {{1, 1, 1}, {4, 1, 1}}, P, 0).Fault->Kind,
            FaultKind::ReadOnlyWrite);
  Memory->removeBuffer(X.data());
  EXPECT_TRUE(launch("bad", {{1, 1, 1}, {64, 1, 1}}, P, 0).Fault);
}

TEST_F(CpuDevice, CopiesOfAnyLengthStayInLocalArrays) {
  compile("extern \"C\" __global__ void copy(const float *x, float *y, int n, "
          "int at) {\n"
          "  float row[8] = {};\n"
          "  __builtin_memcpy(row + at, x, n * sizeof(float));\n"
          "  y[threadIdx.x] = row[threadIdx.x & 7];\n"
          "}\n");
  std::vector<float> X(64, 3), Y(32);
  float *From = buffer(X), *To = buffer(Y);
  auto Run = [&](int N, int At) {
    return launch("copy", {{1, 1, 1}, {32, 1, 1}}, From, To, N, At).Fault;
  };
  EXPECT_FALSE(Run(8, 0));
  EXPECT_FALSE(Run(3, 5));
  EXPECT_FALSE(Run(0, 8));
  EXPECT_EQ(Y[7], 0);
  for (auto [N, At] : {std::pair(9, 0), {4, 5}, {60, 0}, {1, 8}, {1, -1}}) {
    auto Fault = Run(N, At);
    ASSERT_TRUE(Fault) << N << " at " << At;
    EXPECT_EQ(Fault->Kind, FaultKind::OutOfBoundsWrite);
    EXPECT_NE(Fault->Location.find("k.cu:3"), std::string::npos);
    EXPECT_NE(Fault->Detail.find("bytes into a variable of 32 bytes"),
              std::string::npos)
        << Fault->str();
  }
}

TEST_F(CpuDevice, DivergentBarrierIsAFaultNotAHang) {
  compile("extern \"C\" __global__ void k(int *x) {\n"
          "  if (threadIdx.x < 16) { x[0] = 1; __syncthreads(); x[1] = 2; }\n"
          "  else { __shfl_sync(0xffffffffu, x[2], 0); x[3] = 1; }\n"
          "}\n");
  std::vector<int> X(8);
  LaunchResult R = launch("k", {{1, 1, 1}, {32, 1, 1}}, buffer(X));
  ASSERT_TRUE(R.Fault);
}

TEST_F(CpuDevice, RunawayThreadsEnd) {
  CpuDeviceOptions Options;
  Options.MaxInstructions = 100000;
  compile("extern \"C\" __global__ void k(volatile unsigned *x) {\n"
          "  for (unsigned i = 1; i != 0; i = i * 5 | 1) *x = i;\n"
          "}",
          Options);
  std::vector<int> X(1);
  LaunchResult R = launch("k", {{1, 1, 1}, {1, 1, 1}}, buffer(X));
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Kind, FaultKind::RunawayThread);
}

TEST_F(CpuDevice, AFunctionOfTheProgramIsNoTrapByItsName) {
  compile("extern \"C\" __device__ __noinline__ int steps_to_trap(int n) {\n"
          "  return n < 2 ? n : steps_to_trap(n - 1) + steps_to_trap(n - 2);\n"
          "}\n"
          "extern \"C\" __global__ void k(int *x) {\n"
          "  x[0] = steps_to_trap(10);\n"
          "}\n");
  std::vector<int> X(1);
  LaunchResult R = launch("k", {{1, 1, 1}, {1, 1, 1}}, buffer(X));
  ASSERT_FALSE(R.Fault) << R.Fault->str();
  EXPECT_EQ(X[0], 55);
}

TEST_F(CpuDevice, CountsWarpAccesses) {
  CpuDeviceOptions Options;
  Options.Count = true;
  compile(
      R"(extern "C" __global__ void k(const float *x, float *y, int stride) {
    __shared__ float s[32 * 32];
    int t = threadIdx.x;
    s[t * stride] = x[t];
    __syncthreads();
    y[t * stride] = s[t * stride];
  })",
      Options);
  std::vector<float> X(32), Y(1024);
  LaunchResult R =
      launch("k", {{1, 1, 1}, {32, 1, 1}}, buffer(X), buffer(Y), 32);
  ASSERT_FALSE(R.Fault) << R.Fault->str();
  EXPECT_EQ(R.Counts.GlobalLoads, 1u);
  EXPECT_LE(R.Counts.GlobalLoadSectors, 5u);
  EXPECT_GE(R.Counts.GlobalLoadSectors, 4u);
  EXPECT_EQ(R.Counts.GlobalStores, 1u);
  EXPECT_EQ(R.Counts.GlobalStoreSectors, 32u);
  EXPECT_EQ(R.Counts.SharedAccesses, 2u);
  EXPECT_EQ(R.Counts.SharedWavefronts, 64u);
  EXPECT_EQ(R.Counts.Barriers, 1u);
  EXPECT_EQ(R.Counts.Warps, 1u);
  R = launch("k", {{1, 1, 1}, {32, 1, 1}}, buffer(X), buffer(Y), 1);
  EXPECT_EQ(R.Counts.SharedWavefronts, 2u);
  EXPECT_LE(R.Counts.GlobalStoreSectors, 5u);
}

TEST_F(CpuDevice, CountsCodeAsItIsCompiledForTheGpu) {
  const char *Source = R"(
  extern "C" __global__ void sums(const float *__restrict__ x,
                                  float *__restrict__ y, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += x[i * 32 + threadIdx.x];
    y[threadIdx.x] = sum;
  }
  extern "C" __global__ void list(const int *__restrict__ next,
                                  int *__restrict__ y, int n) {
    int at = threadIdx.x;
    for (int i = 0; i < n; ++i)
      at = next[at];
    y[threadIdx.x] = at;
  })";
  LaunchShape OneWarp{{1, 1, 1}, {32, 1, 1}};
  std::vector<float> X(64 * 32, 1), Y(32);
  std::vector<int> Next(32), At(32);
  for (int I = 0; I < 32; ++I)
    Next[I] = (I + 1) % 32;
  CpuDeviceOptions Options;
  Options.Count = true;
  compile(Source, Options);
  LaunchResult Written = launch("sums", OneWarp, buffer(X), buffer(Y), 64);
  ASSERT_FALSE(Written.Fault) << Written.Fault->str();
  Options.AsCompiled = true;
  compile(Source, Options);
  std::fill(Y.begin(), Y.end(), 0);
  LaunchResult Compiled = launch("sums", OneWarp, buffer(X), buffer(Y), 64);
  ASSERT_FALSE(Compiled.Fault) << Compiled.Fault->str();
  EXPECT_EQ(Y[31], 64);
  EXPECT_EQ(Written.Counts.Fp32, 64u * 32);
  EXPECT_EQ(Compiled.Counts.Fp32, 64u * 32);
  EXPECT_EQ(Compiled.Counts.GlobalLoads, 64u);
  // LLVM unrolls the loop for GPUs: fewer branches, and the loads of several
  // turns are waited for together.
  EXPECT_LE(Compiled.Counts.Control * 2, Written.Counts.Control);
  EXPECT_EQ(Written.Counts.Waits, 64u);
  EXPECT_LE(Compiled.Counts.Waits, 32u);
  EXPECT_GE(Compiled.Counts.Waits, 4u);
  // Each sum needs the one before.
  EXPECT_GE(Compiled.Counts.ChainCycles, 64u * 4);
  LaunchResult List = launch("list", OneWarp, buffer(Next), buffer(At), 64);
  ASSERT_FALSE(List.Fault) << List.Fault->str();
  EXPECT_EQ(List.Counts.Waits, 64u);
  EXPECT_EQ(At[1], 1);
}

TEST_F(CpuDevice, NamesWhatItCannotRun) {
  compile(R"(extern "C" __global__ void odd(unsigned *x) {
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(*x) : "l"(x));
  }
  extern "C" __global__ void fine(unsigned *x) { *x = 5; })");
  std::vector<unsigned> X(1);
  unsigned *P = buffer(X);
  std::vector<const void *> Args = {&P};
  auto R = Module->launch("odd", {}, Args, *Memory);
  ASSERT_FALSE(static_cast<bool>(R));
  EXPECT_NE(toString(R.takeError()).find("txq"), std::string::npos);
  EXPECT_FALSE(launch("fine", {}, P).Fault);
  EXPECT_EQ(X[0], 5u);
}

TEST_F(CpuDevice, RunsWhatTheOptimiserMakesOfMathematics) {
  // LLVM makes exp2 and ldexp of powers of two, and others of others.
  const char *Source = R"(
template <class T> __device__ void all(T *y, T x, int t, unsigned char c) {
  y[0] = pow(T(0.5), T(t)); y[1] = exp2(T(t)); y[2] = exp2(T(-c));
  y[3] = pow(T(2), x); y[4] = pow(T(10), x); y[5] = pow(x, T(0.5));
  y[6] = pow(x, T(1) / 3); y[7] = pow(x, T(3)); y[8] = exp(log(x));
  y[9] = log(exp2(x)); y[10] = log2(pow(T(2), x)); y[11] = exp10(T(t));
  y[12] = pow(exp2(x), T(t)); y[13] = sqrt(x * x); y[14] = tan(atan(x));
  y[15] = fmod(x, T(1)); y[16] = ldexp(x, t); y[17] = cbrt(x * x * x);
  y[18] = hypot(x, T(0)); y[19] = pow(T(4), T(t));
}
extern "C" __global__ void k(float *f, double *d, float x, int t) {
  all(f, x, t, (unsigned char)t);
  all(d, (double)x, t, (unsigned char)t);
}
extern "C" __global__ void length(const char *s, int *n) {
  int i = 0;
  while (s[i])
    ++i;
  n[threadIdx.x] = i;
})";
  const double X = 2.5;
  const double Want[20] = {0.125,
                           8,
                           0.125,
                           std::pow(2, X),
                           std::pow(10, X),
                           std::sqrt(X),
                           std::cbrt(X),
                           X * X * X,
                           X,
                           X * std::log(2),
                           X,
                           1000,
                           std::pow(2, 3 * X),
                           X,
                           X,
                           0.5,
                           20,
                           X,
                           X,
                           64};
  for (bool Wide : {false, true}) {
    CpuDeviceOptions Options;
    Options.WidenFloats = Wide;
    compile(Source, Options);
    std::vector<float> F(20);
    std::vector<double> D(20);
    LaunchResult R = launch("k", {}, buffer(F), buffer(D), float(X), 3);
    ASSERT_FALSE(R.Fault) << R.Fault->str();
    for (unsigned I = 0; I < 20; ++I) {
      EXPECT_NEAR(F[I] / Want[I], 1, 1e-5) << I;
      EXPECT_NEAR(D[I] / Want[I], 1, 1e-12) << I;
    }
    // A loop that counts characters is no call of the host's strlen, whose
    // accesses nobody would check.
    std::vector<char> Text = {'a', 'b', 'c', 0};
    std::vector<int> N(1);
    R = launch("length", {}, buffer(Text), buffer(N));
    ASSERT_FALSE(R.Fault) << R.Fault->str();
    EXPECT_EQ(N[0], 3);
  }
}

TEST_F(CpuDevice, PrintsAndPassesStructs) {
  compile(R"(#include <cstdio>
  struct S { int a; float b; double c[2]; };
  extern "C" __global__ void k(S s, char t) {
    s.a += 1;
    printf("%d %.2f %g %c %s|%5lld\n", s.a, s.b, s.c[1], t, "text", 1234567890123LL);
  })");
  struct S {
    int A;
    float B;
    double C[2];
  } Arg{41, 1.5f, {0, 2.25}};
  LaunchResult R = launch("k", {}, Arg, 'x');
  ASSERT_FALSE(R.Fault) << R.Fault->str();
  EXPECT_EQ(R.Printed, "42 1.50 2.25 x text|1234567890123\n");
}
