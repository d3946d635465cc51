//===- DecisionsTest.cpp - Which sides code takes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDeviceFixture.h"
#include "llvm/ADT/StringExtras.h"

using namespace cupilot;
using namespace llvm;

namespace {
/// Kernels take (int *out, int n). Each has its decisions on lines of its own.
class Decisions : public CpuDeviceFixture {
protected:
  void load(StringRef Body, StringRef Before = "") {
    CpuDeviceOptions Options;
    Options.Decisions = true;
    compile((Before + "\nextern \"C\" __global__ void k(int *out, int n) {\n" +
             Body + "\n}")
                .str(),
            Options);
  }
  LaunchResult run(int N, unsigned Threads = 1, unsigned Blocks = 1) {
    std::vector<int> Out(4096);
    LaunchResult R =
        launch("k", {{Blocks, 1, 1}, {Threads, 1, 1}}, buffer(Out), N);
    EXPECT_FALSE(R.Fault) << R.Fault->str();
    Memory = DeviceMemory::create();
    return R;
  }
  /// "line kind: sides" of all sites, in their order: "4 compare: 0 1".
  std::string seen() {
    static const char *const Names[] = {"compare", "boolean",   "switch",
                                        "min",     "table",     "loop",
                                        "number",  "float-min", "service"};
    BitVector Taken = Module->decided();
    std::string Text;
    for (const DecisionSite &S : Module->decisions()) {
      Text += (Text.empty() ? "" : "; ") +
              StringRef(S.Location).split(':').second.split(':').first.str() +
              " " + Names[static_cast<unsigned>(S.Kind)] + ":";
      for (unsigned I = 0; I < S.Sides; ++I)
        if (Taken[S.First + I])
          Text += " " + utostr(I);
    }
    return Text;
  }
};
} // namespace

TEST_F(Decisions, Branches) {
  load("if (n > 5)\n out[0] = 1;");
  EXPECT_EQ(seen(), "3 compare:");
  run(3);
  EXPECT_EQ(seen(), "3 compare: 0");
  run(9);
  EXPECT_EQ(seen(), "3 compare: 0 1");
  Module->forgetDecided();
  EXPECT_EQ(seen(), "3 compare:");
}

TEST_F(Decisions, WhatOptimisationMakesSelectsOrRemoves) {
  // Both ways give the same, or become a select or arithmetic.
  load("int a = n > 5 ? 1 : 2;\n"
       "out[0] = a + (n == 3);\n"
       "bool big = n > 100;\n"
       "out[1] = big;\n"
       "if (n < 0)\n out[0] = a + (n == 3);");
  run(3);
  EXPECT_EQ(seen(), "3 compare: 0; 4 compare: 1; 5 compare: 0; 6 boolean: 0; "
                    "7 compare: 0; 8 compare:");
}

TEST_F(Decisions, ConditionsOfSeveralParts) {
  load("if (n > 2 && n < 7) out[0] = 1;\n"
       "if ((n > 1000) | (n == 4)) out[1] = 1;");
  run(4);
  EXPECT_EQ(seen(), "3 compare: 1; 3 compare: 1; 4 compare: 0; 4 compare: 1; "
                    "4 compare: 1");
}

TEST_F(Decisions, FlagsAreBooleans) {
  load("bool *flags = (bool *)out;\nif (flags[n])\n out[9] = 1;");
  run(1);
  EXPECT_EQ(seen(), "4 boolean: 0");
}

/// The compiler takes the other bits of a bool for 0. Where they are not, a
/// side must not be noted outside of its table.
TEST_F(Decisions, BoolsAreTheirLowestBit) {
  load("bool *flags = (bool *)out;\nif (flags[n])\n out[9] = 1;");
  std::vector<int> Out(16, 0x01fffefe);
  buffer(Out);
  for (auto [N, Sides] : {std::pair(0, "4 boolean: 0"),
                          {1, "4 boolean: 0"},
                          {2, "4 boolean: 0 1"},
                          {3, "4 boolean: 0 1"}}) {
    LaunchResult R = launch("k", {{1, 1, 1}, {1, 1, 1}}, Out.data(), N);
    ASSERT_FALSE(R.Fault) << R.Fault->str();
    EXPECT_EQ(seen(), Sides);
  }
}

TEST_F(Decisions, BoolArgumentsAreTheirLowestBit) {
  CpuDeviceOptions Options;
  Options.Decisions = true;
  compile("extern \"C\" __global__ void k(int *out, bool b) {\n"
          "if (b)\n out[0] = 1;\n}",
          Options);
  for (auto [Byte, Sides, Written] :
       {std::tuple(uint8_t(0xfe), "2 boolean: 0", 0),
        std::tuple(uint8_t(2), "2 boolean: 0", 0),
        std::tuple(uint8_t(0xff), "2 boolean: 0 1", 1)}) {
    std::vector<int> Out(1);
    LaunchResult R = launch("k", {{1, 1, 1}, {1, 1, 1}}, buffer(Out), Byte);
    ASSERT_FALSE(R.Fault) << R.Fault->str();
    EXPECT_EQ(seen(), Sides);
    EXPECT_EQ(Out[0], Written);
    Memory = DeviceMemory::create();
  }
}

TEST_F(Decisions, MinimaAndMaxima) {
  load("out[0] = min(n, 16);\nout[1] = max(out[0], 3);\n"
       "out[2] = min((unsigned)n, 4u);");
  run(10);
  EXPECT_EQ(seen(), "3 min: 1; 4 min: 0; 5 min: 0");
}

TEST_F(Decisions, NumbersMinimaOfFloatsAndServices) {
  load("out[0] = n >> 4;\n"
       "out[1] = fmaxf((float)n, 7.f);\n"
       "out[2] = __saturatef((float)n);\n"
       "if (n == 3)\n delete take(n);",
       "__device__ int *take(int n) { return new int[n]; }");
  run(20);
  EXPECT_EQ(seen(), "1 boolean:; 1 service:; 3 number: 1; 4 float-min: 0; "
                    "5 float-min: 0; 5 float-min: 0; 6 compare: 0; "
                    "7 service:; 7 compare:");
  run(3);
  EXPECT_EQ(seen(), "1 boolean: 0; 1 service: 0; 3 number: 0 1; "
                    "4 float-min: 0 1; 5 float-min: 0; 5 float-min: 0; "
                    "6 compare: 0 1; 7 service: 0; 7 compare: 0");
}

TEST_F(Decisions, Switches) {
  // The sides are the default, then the blocks in their order.
  load("switch (n) {\ncase 1: out[0] = 1; break;\n"
       "case 2: case 3: out[1] = 1; break;\n}");
  run(3);
  EXPECT_EQ(seen(), "3 switch: 2");
  run(77);
  EXPECT_EQ(seen(), "3 switch: 0 2");
}

TEST_F(Decisions, ConstantTables) {
  load("const int t[4] = {5, 6, 7, 8};\nout[0] = t[n & 3];\n"
       "out[1] = coefficients[n % 3];",
       "__device__ const int coefficients[3] = {1, 2, 1};");
  run(6);
  EXPECT_EQ(seen(), "4 table: 2; 5 table: 0");
}

TEST_F(Decisions, TurnsOfLoops) {
  load("for (int k = 0; k < n; ++k)\n out[k] = 1;\n"
       "int m = n;\ndo {\n out[m] = 2;\n} while (--m > 0);");
  run(0);
  EXPECT_EQ(seen(), "3 loop: 0; 6 loop: 0; 8 compare: 0");
  run(3);
  EXPECT_EQ(seen(), "3 loop: 0 3; 6 loop: 0 2; 8 compare: 0 1");
  run(1000);
  EXPECT_EQ(seen(), "3 loop: 0 3 63; 6 loop: 0 2 63; 8 compare: 0 1");
}

TEST_F(Decisions, TurnsAreThoseOfEachEntry) {
  load("for (int r = 0; r < 3; ++r)\n"
       " for (int k = threadIdx.x; k < n; k += blockDim.x) {\n"
       "  if (out[k] == 7) break;\n"
       "  out[k] = r;\n}");
  run(70, 32);
  EXPECT_EQ(seen(), "3 loop: 3; 4 loop: 2 3; 4 compare: 0 1; 5 compare: 0");
}

TEST_F(Decisions, FunctionsAreSeenWhereTheyAreWritten) {
  load("out[0] = f(n, 3);\nout[1] = f(n, 30);",
       "__device__ int f(int a, int b) { return a < b ? a : b; }");
  run(10);
  EXPECT_EQ(seen(), "1 compare: 0 1");
  ASSERT_EQ(Module->decisions().size(), 1u);
  EXPECT_EQ(Module->decisions()[0].Function, "_Z1fii");
}

TEST_F(Decisions, ThoseOfHeadersAreNobodys) {
  load("__half h = __float2half((float)n);\n"
       "out[0] = __half2float(__hmax(h, __float2half(2.0f)));\n"
       "out[1] = __reduce_add_sync(~0u, n) + __popc(n) + expf(n);",
       "#include <cuda_fp16.h>");
  run(10, 32);
  EXPECT_EQ(seen(), "");
}

TEST_F(Decisions, OnlySomeAreSeen) {
  std::string Source = "extern \"C\" __global__ void k(int *out, int n) {\n"
                       "if (n > 5)\n out[0] = 1;\nif (n > 6)\n out[1] = 1;\n}";
  CpuDeviceOptions Options;
  Options.Decisions = true;
  Options.OnlyDecisions.resize(2);
  Options.OnlyDecisions.set(1);
  compile(Source, Options);
  run(9);
  EXPECT_EQ(seen(), "2 compare:; 4 compare: 1");
  compile(Source, {});
  EXPECT_TRUE(Module->decisions().empty());
  EXPECT_TRUE(Module->decided().empty());
}

TEST_F(Decisions, SitesAreStable) {
  const char *Body = "for (int k = 0; k < n; ++k)\n"
                     " out[k] = k > 3 ? min(k, 9) : (n == 4);";
  load(Body);
  std::vector<DecisionSite> First = Module->decisions().vec();
  load(Body);
  ASSERT_EQ(First.size(), Module->decisions().size());
  for (auto [A, B] : zip(First, Module->decisions())) {
    EXPECT_EQ(A.Location, B.Location);
    EXPECT_EQ(A.First, B.First);
    EXPECT_EQ(A.Body, B.Body);
  }
  // Another constant is another body.
  load("for (int k = 0; k < n; ++k)\n"
       " out[k] = k > 3 ? min(k, 9) : (n == 5);");
  EXPECT_NE(First[0].Body, Module->decisions()[0].Body);
}

TEST_F(Decisions, WaitingForEverIsStillFound) {
  load("volatile int *flag = out;\nwhile (*flag == 0)\n ;\nout[1] = 1;");
  std::vector<int> Out(64);
  LaunchResult R = launch("k", {{1, 1, 1}, {2, 1, 1}}, buffer(Out), 1);
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Kind, FaultKind::Deadlock) << R.Fault->str();
}

TEST_F(Decisions, ResultsAreThoseWithoutIt) {
  const char *Source = R"(
extern "C" __global__ void k(int *out, int n) {
  __shared__ int s[64]; int t = threadIdx.x; s[t] = t < n ? t * 3 : 7; __syncthreads();
  for (int d = 32; d > 0; d >>= 1) { if (t < d) s[t] = max(s[t], s[t + d]); __syncthreads(); }
  int v = s[0] + __shfl_xor_sync(~0u, t, 1);
  for (int k = t; k < n; k += 64) v = v * 31 + (k % 3 == 1 ? k : -k);
  out[t] = v;
})";
  std::vector<int> Plain(64), Seen(64);
  compile(Source, {});
  launch("k", {{1, 1, 1}, {64, 1, 1}}, buffer(Plain), 1000);
  CpuDeviceOptions Options;
  Options.Decisions = Options.CheckRaces = true;
  compile(Source, Options);
  LaunchResult R = launch("k", {{1, 1, 1}, {64, 1, 1}}, buffer(Seen), 1000);
  EXPECT_FALSE(R.Fault) << R.Fault->str();
  EXPECT_EQ(Plain, Seen);
}
