//===- StaticTest.cpp - What code alone says of its bounds --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "H200.h"
#include "cupilot/Roofline/StaticFigures.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace cupilot;

/// The figures of @k, whose body \p Body is; %i is the thread.
static StaticFigures figures(const std::string &Body) {
  std::string Text = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
define ptx_kernel void @k(ptr addrspace(1) noalias %a, ptr addrspace(1) noalias %b, i64 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m = mul i32 %c, %d
  %g = add i32 %m, %t
  %i = sext i32 %g to i64
)" + Body + "}\n";
  llvm::LLVMContext Context;
  llvm::SMDiagnostic Diagnostic;
  auto M = llvm::parseAssemblyString(Text, Diagnostic, Context);
  if (!M) {
    ADD_FAILURE() << Diagnostic.getMessage().str();
    return {};
  }
  std::string Bitcode;
  llvm::raw_string_ostream OS(Bitcode);
  llvm::WriteBitcodeToFile(*M, OS);
  return llvm::cantFail(staticFigures(Bitcode, "k"));
}

/// A load of a float at %a[\p Index] that is stored at %b[%i].
static std::string copyFrom(const std::string &Index,
                            const std::string &Before = "") {
  return Before + "  %p = getelementptr float, ptr addrspace(1) %a, i64 " +
         Index + R"(
  %x = load float, ptr addrspace(1) %p
  %q = getelementptr float, ptr addrspace(1) %b, i64 %i
  store float %x, ptr addrspace(1) %q
  ret void
)";
}

TEST(StaticFigures, BytesFollowFromHowThreadsAddress) {
  constexpr double Stored = 128;
  EXPECT_EQ(figures(copyFrom("%i")).Loops[0].Bytes, 128 + Stored);
  // Each thread a sector of its own.
  EXPECT_EQ(figures(copyFrom("%f", "  %f = mul i64 %i, 8\n")).Loops[0].Bytes,
            1024 + Stored);
  EXPECT_EQ(figures(copyFrom("%f", "  %f = mul i64 %i, %n\n")).Loops[0].Bytes,
            1024 + Stored);
  // All threads the same.
  EXPECT_EQ(figures(copyFrom("%n")).Loops[0].Bytes, Stored);
  // Rows and columns of a matrix.
  EXPECT_EQ(figures(copyFrom("%f", "  %f = urem i64 %i, %n\n")).Loops[0].Bytes,
            128 + Stored);
  EXPECT_EQ(figures(copyFrom("%f", "  %f = udiv i64 %i, %n\n")).Loops[0].Bytes,
            4 + Stored);
}

TEST(StaticFigures, WhatDataDecidesIsScatteredAndSaid) {
  StaticFigures F = figures(
      copyFrom("%f", "  %r = getelementptr i64, ptr addrspace(1) %a, i64 %i\n"
                     "  %f = load i64, ptr addrspace(1) %r\n"));
  EXPECT_EQ(F.Loops[0].Scattered, 1u);
  EXPECT_EQ(F.Loops[0].Bytes, 256 + 1024 + 128);
  ASSERT_EQ(F.Unknown.size(), 1u);
  EXPECT_NE(F.Unknown[0].find("data decides"), std::string::npos);
}

TEST(StaticFigures, NeighboursOfAPointShareTheirSectors) {
  StaticFigures F = figures(R"(
  %j = add i64 %i, 1
  %p = getelementptr float, ptr addrspace(1) %a, i64 %i
  %r = getelementptr float, ptr addrspace(1) %a, i64 %j
  %x = load float, ptr addrspace(1) %p
  %y = load float, ptr addrspace(1) %r
  %s = fadd float %x, %y
  %q = getelementptr float, ptr addrspace(1) %b, i64 %i
  store float %s, ptr addrspace(1) %q
  ret void
)");
  EXPECT_EQ(F.Loops[0].Bytes, 256);
  EXPECT_EQ(F.Loops[0].Fp32, 32);
  EXPECT_EQ(opinionOfCode(F, H200, H200Ceilings, nullptr).Class,
            Bottleneck::Memory);
}

static std::string loop(const std::string &Turn) {
  return R"(
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %head ]
  %v = phi float [ 1.0, %entry ], [ %w, %head ]
  %l = phi i64 [ %i, %entry ], [ %m2, %head ]
)" + Turn +
         R"(
  %next = add i64 %k, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %head
end:
  %q = getelementptr float, ptr addrspace(1) %b, i64 %i
  store float %w, ptr addrspace(1) %q
  %z = getelementptr i64, ptr addrspace(1) %b, i64 %l
  store i64 %l, ptr addrspace(1) %z
  ret void
)";
}

TEST(StaticFigures, LoopsAreLookedAtAlone) {
  StaticFigures F = figures(loop(R"(
  %u = fmul contract float %v, 2.0
  %w = fadd contract float %u, 1.0
  %m2 = add i64 %l, 1
)"));
  ASSERT_EQ(F.Loops.size(), 2u);
  EXPECT_EQ(F.Loops[1].Fp32, 32); // Fused.
  EXPECT_EQ(F.Loops[1].Bytes, 0);
  EXPECT_EQ(F.Loops[1].intensity(), std::nullopt);
  EXPECT_EQ(F.Loops[1].Turns, std::nullopt);
  Opinion O = opinionOfCode(F, H200, H200Ceilings, nullptr);
  EXPECT_EQ(O.Class, Bottleneck::Compute);
  // The same with a launch that leaves the GPU empty.
  LaunchShape Tiny;
  Tiny.Block = {32, 1, 1};
  EXPECT_EQ(opinionOfCode(F, H200, H200Ceilings, &Tiny).Class,
            Bottleneck::Latency);
}

TEST(StaticFigures, AListIsWaitedFor) {
  StaticFigures F = figures(loop(R"(
  %p = getelementptr i64, ptr addrspace(1) %a, i64 %l
  %m2 = load i64, ptr addrspace(1) %p
  %w = fadd float %v, 1.0
)"));
  ASSERT_EQ(F.Loops.size(), 2u);
  EXPECT_EQ(F.Loops[1].DependentLoads, 1u);
  EXPECT_EQ(F.Loops[1].Scattered, 1u);
  EXPECT_EQ(opinionOfCode(F, H200, H200Ceilings, nullptr).Class,
            Bottleneck::Latency);
}

TEST(StaticFigures, UnknownKernelsAreNamed) {
  llvm::LLVMContext Context;
  llvm::Module M("m", Context);
  std::string Bitcode;
  llvm::raw_string_ostream OS(Bitcode);
  llvm::WriteBitcodeToFile(M, OS);
  auto F = staticFigures(Bitcode, "none");
  ASSERT_FALSE(bool(F));
  EXPECT_NE(llvm::toString(F.takeError()).find("'none'"), std::string::npos);
}
