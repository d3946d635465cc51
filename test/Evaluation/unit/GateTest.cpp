//===- GateTest.cpp - Wrong kernels do not get through -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One honest kernel, cheating twins of it, and an honest one. Each cheat is a
// class that published kernels were found to use.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace cupilot;
using namespace llvm;

static const char Original[] = R"(
extern "C" __global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2.0f + (i > 0 ? in[i - 1] : 0.0f);
})";

namespace {
class GateTest : public testing::Test {
protected:
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    Dir.emplace(cantFail(TemporaryDirectory::create("gate")));
    K.Name = "k(const float *, float *, int)";
    K.Symbol = "k";
    K.Params = {{"in", "const float *", 8, true, true, false, "float", 4},
                {"out", "float *", 8, true, false, false, "float", 4},
                {"n", "int", 4, false, false, false, "", 0}};
    K.Scalars = {{2, 0, 32, true}};
    K.Pointers = {{0, 0}, {1, 0}};
    W.Name = "w0";
    W.Symbol = "k";
    W.Shape = {{4, 1, 1}, {256, 1, 1}, 0};
    int32_t N = 1000;
    W.Args = {std::vector<uint8_t>(8), std::vector<uint8_t>(8),
              std::vector<uint8_t>(4)};
    std::memcpy(W.Args[2].data(), &N, 4);
    W.Pointers = {{0, 0, 0, 0}, {1, 0, 1, 0}};
    std::vector<float> In(N);
    for (int I = 0; I < N; ++I)
      In[I] = float(I % 37) / 8 - 2;
    StringRef Bytes(reinterpret_cast<const char *>(In.data()), In.size() * 4);
    std::string Zero(N * 4, '\0');
    cantFail(writeFileAtomic(Dir->file("in.bin"), Bytes));
    cantFail(writeFileAtomic(Dir->file("out.bin"), Zero));
    W.Buffers = {{uint64_t(N) * 4, 256, digest(Bytes), "in.bin"},
                 {uint64_t(N) * 4, 256, digest(Zero), "out.bin"}};
    W.Count = 1;
    gateOf(Original);
  }

  void gateOf(StringRef Source) {
    GateSetup Setup{&K, compile(Source), {W}, Dir->path().str(), "sm_90", 1};
    TheGate = cantFail(Gate::create(std::move(Setup)));
  }

  /// Makes \p Content what buffer \p I holds before the launch.
  void hold(unsigned I, StringRef Content) {
    cantFail(writeFileAtomic(Dir->file(W.Buffers[I].File), Content));
    W.Buffers[I].Digest = digest(Content);
  }

  /// The whole kernel around \p Body.
  std::string kernel(StringRef Body) {
    return ("extern \"C\" __global__ void k(const float *in, float *out, "
            "int n" +
            More + ") {\nint i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
            Body + "}")
        .str();
  }

  std::string compile(StringRef Source) {
    cantFail(writeFileAtomic(Dir->file("k.cu"), Source));
    return cantFail(compileDeviceBitcode(Dir->file("k.cu"), "sm_90", {"-O2"}));
  }

  /// The reason why \p Body is rejected; "" when it passes.
  std::string judge(StringRef Body, Guard When = {}) {
    LaunchPlan Plan;
    Plan.Launches.push_back({});
    Plan.Launches[0].Symbol = "k";
    When.Arch = "sm_90";
    GateVerdict V = cantFail(TheGate->judge(compile(kernel(Body)), Plan, When));
    EXPECT_EQ(V.Passed, V.Findings.empty());
    return V.Passed ? "" : wordOf(V.Findings.front().Reason).str();
  }

  std::optional<TemporaryDirectory> Dir;
  Kernel K;
  Workload W;
  StringRef More; ///< Parameters after n.
  std::unique_ptr<Gate> TheGate;
};
} // namespace

TEST_F(GateTest, HonestTwinPasses) {
  EXPECT_EQ(judge("if (i >= n) return; float p = i ? in[i - 1] : 0.0f; out[i] "
                  "= fmaf(in[i], 2, p);"),
            "");
}

TEST_F(GateTest, SkippedWorkIsUnwrittenOutput) {
  EXPECT_EQ(
      judge(
          "if (i < n - 1) out[i] = in[i] * 2.0f + (i > 0 ? in[i - 1] : 0.0f);"),
      "unwritten-output");
}

TEST_F(GateTest, NothingAtAllIsUnwrittenOutput) {
  EXPECT_EQ(judge(""), "unwritten-output");
}

TEST_F(GateTest, IgnoredInputIsAMismatch) {
  EXPECT_EQ(judge("if (i < n) out[i] = in[i] * 2.0f;"), "mismatch");
}

TEST_F(GateTest, FittedToTheInputsIgnoresThem) {
  // Right for the captured values, wrong for any others.
  EXPECT_EQ(judge("if (i < n) { float a = float(i % 37) / 8 - 2, b = i ? "
                  "float((i - 1) % 37) / 8 - 2 : 0;"
                  " out[i] = a * 2 + b; }"),
            "ignored-input");
}

TEST_F(GateTest, OneElementLeftOutIsFound) {
  EXPECT_EQ(judge("if (i < n) out[i] = (i == 777 ? 0.0f : in[i] * 2.0f) + (i > "
                  "0 && i != 778 ? in[i - 1] : 0.0f);"),
            "mismatch");
}

TEST_F(GateTest, ScratchInPlaceOfAnOutputIsUnwrittenMemory) {
  // It reads what it did not write; the sum hides it.
  EXPECT_EQ(judge("if (i < n) { float old = out[i]; out[i] = in[i] * 2.0f + (i "
                  "> 0 ? in[i - 1] : 0.0f) + (old == 12345.0f ? 1.0f : 0.0f); "
                  "}"),
            "unwritten-read");
}

TEST_F(GateTest, FixedSizeWritesWhatItShouldNot) {
  // Right for the captured n = 1000 alone.
  std::string Reason = judge(
      "if (i < 1000) out[i] = in[i] * 2.0f + (i > 0 ? in[i - 1] : 0.0f);");
  EXPECT_EQ(Reason, "extra-output");
}

TEST_F(GateTest, NarrowerArithmeticIsAMismatch) {
  EXPECT_EQ(judge("if (i < n) out[i] = __uint_as_float(__float_as_uint(in[i] * "
                  "2.0f + (i > 0 ? in[i - 1] "
                  ": 0.0f)) & 0xfffff000u);"),
            "mismatch");
}

TEST_F(GateTest, OutOfBoundsIsAFault) {
  EXPECT_EQ(
      judge("if (i <= n) out[i] = in[i] * 2.0f + (i > 0 ? in[i - 1] : 0.0f);"),
      "bounds");
}

TEST_F(GateTest, ChangedInputIsFound) {
  EXPECT_EQ(
      judge("if (i < n) { float v = in[i], p = i > 0 ? in[i - 1] : 0.0f; "
            "__syncthreads();"
            " out[i] = v * 2.0f + p; if (i == n - 1) ((float *)in)[i] = 0; }"),
      "input-changed");
}

TEST_F(GateTest, EndlessLoopsEnd) {
  EXPECT_EQ(
      judge("if (i < n) { volatile int z = 0; while (z == 0) {} out[i] = 1; }"),
      "runaway");
}

TEST_F(GateTest, AGuardThatAdmitsNothingProvesNothing) {
  Guard Never;
  Never.Constraints.push_back({Expr::constant(-1), false});
  EXPECT_EQ(judge("if (i < n) out[i] = in[i];", Never), "never-admitted");
}

TEST_F(GateTest, OneRoundingTheOtherWayDoesNotExcuseTheOthers) {
  // 2.5f * 0.2f is one half, in float64 it is a little more.
  gateOf(kernel("if (i < n) out[i] = rintf(in[i] * 0.2f) + in[i];"));
  EXPECT_EQ(judge("if (i < n) out[i] = in[i] + rintf(in[i] * 0.2f);"), "");
  EXPECT_EQ(judge("if (i < n) out[i] = rintf(in[i] * 0.2f) + in[i] * 1.01f;"),
            "mismatch");
}

TEST_F(GateTest, AMissingBarrierIsFoundInTheOtherOrder) {
  StringRef Tile = "__shared__ float s[256]; int t = threadIdx.x;"
                   "float v = i < n ? in[i] : 0; s[t] = v; ",
            Rest = "float p = t ? s[t - 1] : i > 0 && i < n ? in[i - 1] : 0;"
                   "__syncthreads(); if (i < n) out[i] = v * 2.0f + p;";
  Guard Fits; // The tile has a place for each of 256 threads.
  Fits.Constraints.push_back(
      {Expr::binary(Expr::Kind::Add, Expr::constant(256),
                    Expr::binary(Expr::Kind::Mul, Expr::dim(BlockX),
                                 Expr::constant(-1))),
       false});
  EXPECT_EQ(judge((Tile + "__syncthreads();" + Rest).str()), "bounds");
  EXPECT_EQ(judge((Tile + "__syncthreads();" + Rest).str(), Fits), "");
  EXPECT_NE(judge((Tile + Rest).str(), Fits),
            ""); // What it read was never there.
}

TEST_F(GateTest, AGuardDoesNotHideAFixedSize) {
  Guard Fours;
  Fours.Constraints.push_back(
      {Expr::binary(Expr::Kind::Mod, Expr::symbol(0), Expr::constant(4)),
       true});
  StringRef Rest = ") out[i] = in[i] * 2.0f + (i > 0 ? in[i - 1] : 0.0f);";
  EXPECT_EQ(judge(("if (i < n" + Rest).str(), Fours), "");
  EXPECT_EQ(judge(("if (i < 1000" + Rest).str(), Fours), "extra-output");
}

TEST_F(GateTest, AnOutputThatHoldsTheAnswerProvesNothing) {
  std::vector<float> Ones(1000, 1.0f);
  hold(1, StringRef(reinterpret_cast<const char *>(Ones.data()), 4000));
  gateOf(kernel("if (i < n) out[i] = in[i] < 1e9f ? 1.0f : 2.0f;"));
  EXPECT_EQ(judge("if (i < n) out[i] = in[i] >= 1e9f ? 2.0f : 1.0f;"), "");
  EXPECT_EQ(judge(""), "unwritten-output");
}

TEST_F(GateTest, ResultsThatLookUnwrittenAreFound) {
  K.Params[1] = {"out", "int *", 8, true, false, false, "int", 4};
  gateOf(kernel("if (i < n) ((int *)out)[i] = in[i] < 1e9f ? -1 : 0;"));
  EXPECT_EQ(judge("if (i < n) ((int *)out)[i] = -(in[i] < 1e9f);"), "");
  EXPECT_EQ(judge(""), "unwritten-output");
}

TEST_F(GateTest, AFactorThatIsBuiltInIsAMismatch) {
  float A = 1.0f;
  More = ", float a";
  K.Params.push_back({"a", "float", 4, false, false, false, "", 0});
  W.Args.push_back(std::vector<uint8_t>(4));
  std::memcpy(W.Args[3].data(), &A, 4);
  gateOf(kernel("if (i < n) out[i] = a * in[i];"));
  EXPECT_EQ(judge("if (i < n) out[i] = in[i] * a;"), "");
  EXPECT_EQ(judge("if (i < n) out[i] = in[i];"), "mismatch");
}
