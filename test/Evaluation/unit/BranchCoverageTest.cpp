//===- BranchCoverageTest.cpp - Sides of code that no case takes -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation/BranchCoverage.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

namespace {
/// Kernels take (float *out, const int *at, int n, int w, float alpha, bool
/// flag): scalars n, w, flag.
class Branches : public testing::Test {
protected:
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    K.Name = K.Symbol = "k";
    K.Params = {{"out", "float *", 8, true, false, false, "float", 4},
                {"at", "const int *", 8, true, true, false, "int", 4},
                {"n", "int", 4, false, false, false, "", 0},
                {"w", "int", 4, false, false, false, "", 0},
                {"alpha", "float", 4, false, false, false, "", 0},
                {"flag", "bool", 1, false, false, false, "", 0}};
    K.Scalars = {{2, 0, 32, true}, {3, 0, 32, true}, {5, 0, 8, false}};
    K.Pointers = {{0, 0}, {1, 0}};
  }

  static std::string compile(StringRef Body, StringRef Before) {
    TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("branches"));
    std::string Source =
        (Before +
         "\nextern \"C\" __global__ void k(float *out, const int "
         "*at, int n, int w, float alpha, bool flag) {\n" +
         Body + "\n}")
            .str();
    cantFail(writeFileAtomic(Dir.file("k.cu"), Source));
    return cantFail(compileDeviceBitcode(Dir.file("k.cu"), "sm_90",
                                         {"-O2", "-gline-tables-only"}));
  }
  static LaunchPlan plan() {
    LaunchPlan Plan;
    Plan.Launches.push_back({});
    Plan.Launches[0].Symbol = "k";
    return Plan;
  }
  BranchCoverage load(StringRef Body, StringRef Before = "",
                      const LaunchPlan &Plan = plan()) {
    Bitcode = compile(Body, Before);
    BranchCoverage C = cantFail(BranchCoverage::create(K, Bitcode, Plan));
    CpuDeviceOptions Options;
    Options.Decisions = true;
    Options.OnlyDecisions = C.wanted();
    Module = cantFail(CpuModule::load(Bitcode, Options));
    return C;
  }
  void run(BranchCoverage &C, int N, int W = 4, unsigned Blocks = 1,
           unsigned Threads = 1, float Alpha = 1, bool Flag = false) {
    std::vector<float> Out(70000);
    std::vector<int> At(70000);
    for (int I = 0; I < 70000; ++I)
      At[I] = I % 7;
    auto Memory = DeviceMemory::create();
    Memory->addBuffer(Out.data(), Out.size() * 4);
    Memory->addBuffer(At.data(), At.size() * 4);
    float *OutP = Out.data();
    int *AtP = At.data();
    const void *Args[] = {&OutP, &AtP, &N, &W, &Alpha, &Flag};
    LaunchResult R = cantFail(
        Module->launch("k", {{Blocks, 1, 1}, {Threads, 1, 1}}, Args, *Memory));
    EXPECT_FALSE(R.Fault) << R.Fault->str();
    C.add(Module->decided());
  }
  static std::string texts(const BranchCoverage &C,
                           const BranchCoverage *Original = nullptr) {
    return join(map_range(C.missing(Original),
                          [&](const MissingSide &M) { return C.text(M); }),
                "; ");
  }
  static Bindings bindings(int64_t N, int64_t W = 4, int64_t GX = 1,
                           int64_t BX = 32) {
    Bindings B;
    B.Dims = {GX, 1, 1, BX, 1, 1, 0};
    B.Symbols = {N, W, 0};
    return B;
  }
  /// A box that bounds n, and what else is added.
  static DomainBox box(int64_t Least, int64_t Most) {
    DomainBox B;
    B.Ranges.push_back({Expr::symbol(0), {{Least, Most}}});
    return B;
  }
  /// The first proposal's n.
  static int64_t proposedN(const BranchCoverage &C, int64_t Now) {
    std::vector<MissingSide> M = C.missing();
    if (M.empty())
      return -1;
    std::vector<SideProposal> P = C.proposals(M.front(), bindings(Now));
    return P.empty() ? -1 : P.front().Launch.Symbols[0];
  }
  bool cannot(const BranchCoverage &C, const DomainBox &Box, size_t I = 0) {
    std::vector<MissingSide> M = C.missing();
    return I < M.size() && C.cannotHappenIn(M[I], Box);
  }

  Kernel K;
  std::string Bitcode;
  std::unique_ptr<CpuModule> Module;
};
} // namespace

TEST_F(Branches, ABranchThatNoCaseTakes) {
  BranchCoverage C = load("if (n > 16000)\n out[0] = 1;");
  run(C, 100);
  EXPECT_EQ(texts(C), "k.cu:3:7: no case takes the branch when n > 16000");
  EXPECT_EQ(proposedN(C, 100), 16001);
  EXPECT_TRUE(cannot(C, box(0, 16000)));
  EXPECT_FALSE(cannot(C, box(0, 16001)));
  run(C, 16001);
  EXPECT_EQ(texts(C), "");
}

TEST_F(Branches, AnIndexAgainstANumber) {
  BranchCoverage C = load("int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "if (i < 4096)\n out[i] = 1;");
  run(C, 100, 4, 2, 32);
  EXPECT_EQ(texts(C), "k.cu:4:7: no case takes the branch when an index up to "
                      "gx * bx - 1 is >= 4096");
  std::vector<SideProposal> P =
      C.proposals(C.missing().front(), bindings(100, 4, 2, 32));
  ASSERT_FALSE(P.empty());
  EXPECT_EQ(P.front().Launch.Dims[GridX], 129);
  DomainBox Box;
  Box.Ranges = {{Expr::dim(GridX), {{1, 16}}}, {Expr::dim(BlockX), {{1, 256}}}};
  EXPECT_TRUE(cannot(C, Box));
  Box.Ranges[0].In[0].Most = 17;
  EXPECT_FALSE(cannot(C, Box));
  // What is said of the product is enough.
  Box.Ranges = {
      {Expr::binary(Expr::Kind::Mul, Expr::dim(GridX), Expr::dim(BlockX)),
       {{1, 4096}}}};
  EXPECT_TRUE(cannot(C, Box));
}

TEST_F(Branches, AnIndexAgainstAnExtent) {
  BranchCoverage C = load("int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "if (i < n)\n out[i] = 1;");
  run(C, 64, 4, 2, 32);
  EXPECT_NE(texts(C).find(">= n"), std::string::npos) << texts(C);
  EXPECT_EQ(proposedN(C, 32), 31);
}

TEST_F(Branches, SelectsNumbersMinimaSwitchesAndTables) {
  BranchCoverage C = load("const int t[3] = {1, 2, 3};\n"
                          "out[0] = n > 9 ? 1 : 2;\n"
                          "out[1] = (n == 7);\n"
                          "out[2] = min(n, 50);\n"
                          "switch (w) {\ncase 3: out[3] = 1;\n}\n"
                          "out[4] = t[n % 3];");
  run(C, 10);
  run(C, 60);
  EXPECT_EQ(texts(C),
            "k.cu:4:12: no case takes the branch when n <= 9; "
            "k.cu:5:13: no case takes the branch when n == 7; "
            "k.cu:7:1: no case takes the side of the switch when w == 3; "
            "k.cu:10:10: no case takes element 2 of the table");
  DomainBox Box = box(10, 1000);
  EXPECT_TRUE(cannot(C, Box, 0));
  EXPECT_TRUE(cannot(C, Box, 1));
  EXPECT_FALSE(cannot(C, Box, 2));
  Box.Ranges.push_back({Expr::symbol(1), {{4, 4}}});
  EXPECT_TRUE(cannot(C, Box, 2));
}

TEST_F(Branches, RemaindersThatWereTried) {
  BranchCoverage C = load("if (n % 4 == 0)\n out[0] = 1;\nelse\n out[1] = 2;");
  run(C, 8);
  EXPECT_EQ(texts(C), "k.cu:3:11: no case takes the branch when n mod 4 != 0");
  EXPECT_EQ(proposedN(C, 8), 7);
  DomainBox Box = box(0, 1000);
  EXPECT_FALSE(cannot(C, Box));
  Box.Residues.push_back({Expr::symbol(0), 16, {0, 4, 8}});
  EXPECT_TRUE(cannot(C, Box));
}

TEST_F(Branches, FlagsFloatsAndPointers) {
  BranchCoverage C = load("if (flag)\n out[0] = 1;\n"
                          "if (alpha > 1.5f)\n out[1] = 1;\n"
                          "if (at == nullptr)\n out[2] = 1;\n"
                          "if (((size_t)out & 15) == 0)\n out[3] = 1;\n"
                          "if (out[5] > 3)\n out[4] = 1;");
  std::vector<MissingSide> M = C.missing();
  // Of the number in memory nothing: it is data.
  ASSERT_EQ(M.size(), 8u) << texts(C);
  EXPECT_EQ(C.text(M[1]), "k.cu:3:5: no case takes the branch when flag != 0");
  std::vector<SideProposal> P = C.proposals(M[1], bindings(3));
  ASSERT_FALSE(P.empty());
  EXPECT_EQ(P.front().Launch.Symbols[2], 1);
  P = C.proposals(M[3], bindings(3));
  ASSERT_EQ(P.size(), 1u);
  ASSERT_TRUE(P[0].Number);
  EXPECT_GT(P[0].Number->second, 1.5);
  DomainBox Box;
  FloatRef Alpha{4, 0, FloatRef::Format::Float};
  Box.Floats.push_back({Alpha, {{0, 0x3fc00000}}}); // 0 to 1.5.
  EXPECT_TRUE(C.cannotHappenIn(M[3], Box));
  EXPECT_FALSE(C.cannotHappenIn(M[2], Box));
  Box.Floats[0].In[0].Most = 0x3fc00001;
  EXPECT_FALSE(C.cannotHappenIn(M[3], Box));
  Box.Nulls.push_back({{1, 0}, false});
  EXPECT_FALSE(C.cannotHappenIn(M[4], Box));
  EXPECT_TRUE(C.cannotHappenIn(M[5], Box)) << C.text(M[5]);
  EXPECT_EQ(C.text(M[6]), "k.cu:9:24: no case takes the branch when out is not "
                          "a multiple of 16");
  EXPECT_FALSE(C.cannotHappenIn(M[6], Box));
  Box.Alignments.push_back({{0, 0}, 16});
  EXPECT_TRUE(C.cannotHappenIn(M[6], Box));
}

TEST_F(Branches, LoadedIntegers) {
  BranchCoverage C = load("if (at[n] > 5)\n out[0] = 1;\n"
                          "for (int k = at[n]; k < at[w]; ++k)\n out[k] = 1;");
  run(C, 1);
  EXPECT_EQ(texts(C),
            "k.cu:5:1: no case takes the way on which the loop turns "
            "never; k.cu:5:1: no case takes the way on which the loop "
            "turns once; k.cu:5:1: no case takes the way on which the "
            "loop turns 2 times; k.cu:3:11: no case takes the branch "
            "when the condition is true");
  ASSERT_EQ(C.missing().size(), 4u);
  EXPECT_TRUE(C.missing()[0].HangsOnMemory);
  EXPECT_TRUE(C.proposals(C.missing()[0], bindings(1)).empty());
  EXPECT_FALSE(cannot(C, box(1, 1)));
}

TEST_F(Branches, WhatMayWrapIsNotLeftOut) {
  BranchCoverage C =
      load("if ((unsigned)(n - 1) >= (unsigned)w)\n out[0] = 1;\n"
           "if (n * w < 7)\n out[1] = 1;");
  run(C, 3, 4);
  ASSERT_EQ(C.missing().size(), 2u) << texts(C);
  // n - 1 is below w, but not where n is 0.
  DomainBox Box = box(1, 4);
  Box.Ranges.push_back({Expr::symbol(1), {{4, 8}}});
  EXPECT_TRUE(cannot(C, Box));
  Box.Ranges[0].In[0].Least = 0;
  EXPECT_FALSE(cannot(C, Box));
  // Products of large numbers become negative.
  Box = box(7, 1000);
  Box.Ranges.push_back({Expr::symbol(1), {{4, 8}}});
  EXPECT_TRUE(cannot(C, Box, 1));
  Box.Ranges[1].In[0].Most = 4000000;
  EXPECT_FALSE(cannot(C, Box, 1));
}

TEST_F(Branches, TurnsOfLoops) {
  BranchCoverage C = load("for (int k = threadIdx.x; k < n; k += blockDim.x)\n"
                          " out[k] = 1;");
  run(C, 64, 4, 1, 32);
  EXPECT_EQ(texts(C),
            "k.cu:3:1: no case takes the way on which the loop turns "
            "never; k.cu:3:1: no case takes the way on which the loop "
            "turns once; k.cu:3:1: no case takes the way on which the "
            "loop turns 3 times");
  std::vector<MissingSide> M = C.missing();
  std::vector<SideProposal> P = C.proposals(M[2], bindings(64));
  ASSERT_FALSE(P.empty());
  EXPECT_EQ(P.front().Launch.Symbols[0], 65);
  // With n from 64 in blocks of 32 it always turns twice.
  DomainBox Box = box(64, 96);
  Box.Ranges.push_back({Expr::dim(BlockX), {{32, 32}}});
  EXPECT_TRUE(C.cannotHappenIn(M[0], Box));
  EXPECT_TRUE(C.cannotHappenIn(M[1], Box));
  EXPECT_FALSE(C.cannotHappenIn(M[2], Box));
  Box.Ranges[0].In[0].Most = 64;
  EXPECT_TRUE(C.cannotHappenIn(M[2], Box));
  run(C, 70, 4, 1, 32);
  run(C, 33, 4, 1, 64);
  EXPECT_EQ(texts(C), "");
}

TEST_F(Branches, LoopsThatHalve) {
  BranchCoverage C = load("for (int d = blockDim.x / 2; d > 0; d >>= 1)\n"
                          " if (threadIdx.x < d) out[d] = 1;");
  run(C, 1, 4, 1, 32); // 16, 8, 4, 2, 1.
  std::vector<MissingSide> M = C.missing();
  ASSERT_EQ(M.size(), 4u) << texts(C);
  DomainBox Box;
  Box.Ranges.push_back({Expr::dim(BlockX), {{32, 1024}}});
  for (const MissingSide &Side : M)
    EXPECT_TRUE(C.cannotHappenIn(Side, Box)) << C.text(Side);
  Box.Ranges[0].In[0].Least = 8;
  EXPECT_FALSE(C.cannotHappenIn(M[3], Box));
  std::vector<SideProposal> P = C.proposals(M[3], bindings(1));
  ASSERT_FALSE(P.empty());
  EXPECT_EQ(P.front().Launch.Dims[BlockX] / 8, 1); // 4, 2, 1.
}

TEST_F(Branches, RingsGoAroundTwice) {
  const char *Body = "__shared__ float ring[4][32];\n"
                     "for (int k = 0; k < n; ++k) {\n"
                     " ring[k % 4][threadIdx.x] = out[k];\n"
                     " out[k] = ring[(k + 1) % 4][threadIdx.x];\n}";
  BranchCoverage C = load(Body);
  for (int N : {0, 1, 2, 3, 8})
    run(C, N, 4, 1, 1);
  EXPECT_EQ(texts(C), "k.cu:4:1: no case takes the way on which the loop turns "
                      "9 times or more");
  EXPECT_EQ(proposedN(C, 8), 9);
  run(C, 9);
  EXPECT_EQ(texts(C), "");
}

TEST_F(Branches, ArithmeticThatIsAComparison) {
  BranchCoverage C = load("out[0] = __clz(n ^ 777) >> 5;\n"
                          "out[1] = 1u / (1u + (n ^ 888));\n"
                          "out[2] = (n - 999) >> 31;\n"
                          "out[3] = fmaxf(0, 1 - fabsf((float)n - 666.f));\n"
                          "out[4] = __saturatef((float)n - 500.f);\n"
                          "out[5] = out[6] + (n >> 3);");
  run(C, 10);
  const int Ends[] = {777, 888, 999, 666, 501};
  std::vector<MissingSide> M = C.missing();
  ASSERT_EQ(M.size(), 6u) << texts(C);
  EXPECT_EQ(C.text(M[0]), "k.cu:3:25: no case takes the side on which a number "
                          "here is not 0, when n == 777");
  for (const MissingSide &Side : M)
    EXPECT_TRUE(C.cannotHappenIn(Side, box(0, 499))) << C.text(Side);
  for (int N : Ends) {
    EXPECT_TRUE(any_of(M, [&](const MissingSide &Side) {
      return !C.cannotHappenIn(Side, box(N, N)) &&
             any_of(C.proposals(Side, bindings(10)),
                    [&](const SideProposal &P) {
                      return P.Launch.Symbols[0] == N;
                    });
    })) << N;
    run(C, N);
  }
  EXPECT_EQ(texts(C), "");
}

TEST_F(Branches, SignsOfArithmeticThatIsNoComparison) {
  BranchCoverage C = load("int d = n - 777;\nd |= -d;\nout[0] = d >> 31;");
  run(C, 10);
  ASSERT_EQ(C.missing().size(), 1u);
  EXPECT_FALSE(cannot(C, box(0, 100))); // Nobody knows.
  run(C, 777);
  EXPECT_EQ(texts(C), "");
}

TEST_F(Branches, CallsThatReachBeyondTheLaunch) {
  BranchCoverage C =
      load("if (n > 50) out[0] = *take(4);\n"
           "if (out[1] == 7) take(8);\n"
           "if (out[2] == 7) new float[4];\n"
           "if (alpha == 3) free(take(1));\n"
           "if (out[3] == 8) { printf(\"8\"); __trap(); }",
           "#include <cstdio>\n"
           "__device__ int *take(int n) { return (int *)malloc(n); }");
  run(C, 1);
  std::string Calls;
  for (const MissingSide &M : C.missing())
    if (M.Kind == DecisionKind::Service)
      Calls += C.text(M) + "; ";
  EXPECT_EQ(Calls,
            "k.cu:2:45: no case makes this call, which may allocate memory or "
            "print; "
            "k.cu:4:23: no case makes this call, which may allocate memory or "
            "print; "
            "k.cu:5:18: no case makes this call, which may allocate memory or "
            "print; "
            "k.cu:6:18: no case makes this call, which may allocate memory or "
            "print; "
            "k.cu:7:22: no case makes this call, which may allocate memory or "
            "print; "); // Not what is said before a trap.
  for (const MissingSide &M : C.missing())
    if (M.Kind == DecisionKind::Service && M.Location == "k.cu:4:23")
      EXPECT_TRUE(C.cannotHappenIn(M, box(0, 50)));
  run(C, 60);
  EXPECT_EQ(count_if(C.missing(),
                     [](const MissingSide &M) {
                       return M.Kind == DecisionKind::Service;
                     }),
            3);
}

TEST_F(Branches, FunctionsAreJudgedWhereTheyAreUsed) {
  BranchCoverage C = load("out[0] = f(n, 100);\nout[1] = f(w, 200);",
                          "__device__ int f(int a, int b) { return a < b ? a : "
                          "b; }");
  run(C, 10);
  ASSERT_EQ(texts(C), "k.cu:1:43: no case takes the branch when n >= 100");
  DomainBox Box = box(0, 99);
  EXPECT_FALSE(cannot(C, Box)); // w may be.
  Box.Ranges.push_back({Expr::symbol(1), {{0, 199}}});
  EXPECT_TRUE(cannot(C, Box));
}

TEST_F(Branches, SidesThatTrapAndLoopsThatWaitAreExempt) {
  BranchCoverage C = load("assert(n < 500);\nif (w > 77)\n __trap();\n"
                          "volatile float *f = out;\n"
                          "while (*f != 0)\n ;\n"
                          "int old = *(int *)out, seen;\n"
                          "do {\n seen = old;\n"
                          " old = atomicCAS((int *)out, seen, seen + n);\n"
                          "} while (old != seen);",
                          "#include <cassert>");
  run(C, 10);
  EXPECT_EQ(texts(C), "");
}

TEST_F(Branches, WhatTheOriginalDoesNotTakeEither) {
  const char *Helper = "__device__ int f(int a) { return a > 900 ? a : 1; }";
  BranchCoverage Original = load("out[0] = f(n);", Helper);
  run(Original, 10);
  BranchCoverage Same = load("out[0] = f(n) + 0.0f;", Helper);
  run(Same, 10);
  EXPECT_NE(texts(Same), "");
  EXPECT_EQ(texts(Same, &Original), "");
  BranchCoverage Other =
      load("out[0] = f(n);",
           "__device__ int f(int a) { return a > 900 ? 2 * a : 1; }");
  run(Other, 10);
  EXPECT_NE(texts(Other, &Original), "");
  // Where the original's cases take it, so must the variant's.
  Original = load("out[0] = f(n);", Helper);
  run(Original, 10);
  run(Original, 1000);
  EXPECT_NE(texts(Same, &Original), "");
}

TEST_F(Branches, APlansOwnLaunch) {
  LaunchPlan Plan = plan();
  Plan.Launches[0].Grid[0] =
      Expr::binary(Expr::Kind::CeilDiv, Expr::symbol(0), Expr::constant(64));
  Plan.Launches[0].Block[0] = Expr::constant(64);
  BranchCoverage C = load("if (blockIdx.x > 3)\n out[0] = 1;\n"
                          "if (threadIdx.x < 64)\n out[1] = 2;",
                          "", Plan);
  run(C, 64, 4, 1, 64);
  ASSERT_EQ(C.missing().size(), 2u) << texts(C);
  EXPECT_EQ(proposedN(C, 64), 257);
  EXPECT_TRUE(cannot(C, box(1, 256)));
  EXPECT_FALSE(cannot(C, box(1, 257)));
  EXPECT_TRUE(cannot(C, DomainBox(), 1));
}

/// A box knows the product of two extents, not each of their quotients; and
/// what nobody comes to is not missing.
TEST_F(Branches, QuotientsAndTheWayToADecision) {
  BranchCoverage C = load("if (n / 4 > 40000 / (4 * w))\n"
                          "  if (at[threadIdx.x] == 3)\n"
                          "    out[0] = 1;");
  run(C, 100, 4);
  std::vector<MissingSide> Missing = C.missing();
  erase_if(Missing, [](const MissingSide &M) {
    return M.Kind == DecisionKind::Number; // That the last quotient is 0.
  });
  ASSERT_EQ(Missing.size(), 3u) << texts(C);
  for (auto [Most, Excluded] : {std::pair(40000, true), {40100, false}}) {
    DomainBox B = box(1, 100000);
    B.Ranges.push_back({Expr::symbol(1), {{1, 1000}}});
    B.Ranges.push_back(
        {Expr::binary(Expr::Kind::Mul, Expr::symbol(0), Expr::symbol(1)),
         {{INT64_MIN, Most}}});
    for (const MissingSide &M : Missing)
      EXPECT_EQ(C.cannotHappenIn(M, B), Excluded) << C.text(M);
  }
}

TEST_F(Branches, ExactTurnsWhereSizesComeInSteps) {
  BranchCoverage C = load("for (int j = 0; j < n; ++j)\n out[j] = 1;");
  run(C, 8);
  std::vector<MissingSide> M = C.missing();
  ASSERT_EQ(M.size(), 4u);
  DomainBox Steps = box(0, 100);
  Steps.Residues.push_back({Expr::symbol(0), 4, {0}});
  for (size_t Turns = 0; Turns < M.size(); ++Turns) {
    EXPECT_TRUE(M[Turns].isExact());
    EXPECT_FALSE(C.cannotHappenIn(M[Turns], box(-1, 100)));
    EXPECT_EQ(C.cannotHappenIn(M[Turns], Steps), Turns > 0);
  }
}

TEST_F(Branches, NoLineLeadsToTheTurns) {
  BranchCoverage C =
      load("for (long long j = 0; j < (long long)n * n; j += 1 << 30)\n"
           " out[j >> 30] = 1;");
  run(C, 0);
  run(C, 40);
  run(C, 32769);
  EXPECT_EQ(texts(C), "k.cu:3:1: no case takes the way on which the loop turns "
                      "3 times");
  EXPECT_EQ(proposedN(C, 40), 46341);
}

TEST_F(Branches, TablesThatTheKernelFills) {
  BranchCoverage C = load("int t[5];\n#pragma unroll 1\n"
                          "for (int j = 0; j < 5; ++j)\n t[j] = j ^ 3;\n"
                          "if (n >= 0 && n < 5)\n out[0] = t[n];");
  for (int N : {-1, 0, 1, 2, 4, 7})
    run(C, N);
  EXPECT_EQ(texts(C), "k.cu:8:11: no case takes element 3 of the table");
  EXPECT_TRUE(cannot(C, box(-1, 2)));
  BranchCoverage Data = load("int t[5];\n#pragma unroll 1\n"
                             "for (int j = 0; j < 5; ++j)\n t[j] = at[j];\n"
                             "if (n >= 0 && n < 5)\n out[0] = t[n];");
  for (int N : {-1, 0, 7})
    run(Data, N);
  EXPECT_EQ(texts(Data), "");
}
