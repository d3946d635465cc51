//===- GateTest.cpp - Wrong kernels do not get through -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel must not do to memory. One honest kernel, cheating twins of it,
// and an honest one. Each cheat is a class that published kernels were found to
// use.
//
//===----------------------------------------------------------------------===//

#include "GateFixture.h"
#include "cupilot/Support/Bitcode.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace cupilot;
using namespace llvm;

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
  EXPECT_EQ(judge(("if (i < 1000" + Rest).str(), Fours), "unwritten-output");
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

TEST_F(GateTest, WhatEndsTheCodeGeneratorIsRejected) {
  std::string Code = compile(Original), Broken;
  LLVMContext Context;
  std::unique_ptr<Module> M = cantFail(parseBitcode(Code, Context));
  BasicBlock &Entry = M->getFunction("k")->getEntryBlock();
  IRBuilder<> B(&*Entry.getFirstInsertionPt());
  B.CreateStore(B.CreateIntrinsic(B.getInt64Ty(), Intrinsic::vscale, {}),
                B.CreateAlloca(B.getInt64Ty()), /*isVolatile=*/true);
  raw_string_ostream OS(Broken);
  WriteBitcodeToFile(*M, OS);
  EXPECT_EQ(judgeCode(Broken), "compiler-crash");
  // The gate lives, and judges the next one.
  EXPECT_EQ(judgeCode(Code), "");
  ProcessLimits Small;
  Small.AddressBytes = uint64_t(64) << 20;
  gateOf(Original, Small);
  EXPECT_EQ(judgeCode(Code), "compiler-limits");
  EXPECT_EQ(Evidence, "the compiler needs more than 64 MiB for it");
}
