//===- EmbeddingTest.cpp - Kernels as points -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Retrieval/Embedding.h"
#include "cupilot/Support/Config.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace cupilot;

namespace {
std::string bitcode(StringRef Body) {
  LLVMContext Context;
  SMDiagnostic Diagnostic;
  std::string Text =
      ("target triple = \"nvptx64-nvidia-cuda\"\n"
       "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent\n"
       "declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) "
       "convergent\n" +
       Body)
          .str();
  std::unique_ptr<Module> M = parseAssemblyString(Text, Diagnostic, Context);
  if (!M) {
    ADD_FAILURE() << Diagnostic.getMessage().str();
    return "";
  }
  std::string Bytes;
  raw_string_ostream OS(Bytes);
  WriteBitcodeToFile(*M, OS);
  return Bytes;
}

KernelPoint pointOf(StringRef Body) {
  static Expected<KernelEmbedder> Embedder =
      KernelEmbedder::load(CUPILOT_SOURCE_DIR "/lib/Retrieval/vocabulary.json");
  if (!Embedder) {
    ADD_FAILURE() << toString(Embedder.takeError());
    return {};
  }
  Expected<std::vector<EmbeddedKernel>> Kernels =
      Embedder->embed(bitcode(Body));
  if (!Kernels || Kernels->size() != 1) {
    ADD_FAILURE() << toString(Kernels.takeError());
    return {};
  }
  EXPECT_EQ((*Kernels)[0].Symbol, "k");
  return (*Kernels)[0].Point;
}

const char Copy[] = "define ptx_kernel void @k(ptr %p, ptr %q) {\n"
                    "  %x = load float, ptr %q\n"
                    "  store float %x, ptr %p\n"
                    "  ret void\n}\n";
const char Waits[] = "define ptx_kernel void @k(ptr %p, ptr %q) {\n"
                     "  %x = load float, ptr %q\n"
                     "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 "
                     "0)\n"
                     "  store float %x, ptr %p\n"
                     "  ret void\n}\n";
const char Shuffles[] =
    "define ptx_kernel void @k(ptr %p, ptr %q) {\n"
    "  %x = load i32, ptr %q\n"
    "  %y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 1, i32 "
    "31)\n"
    "  store i32 %y, ptr %p\n"
    "  ret void\n}\n";

TEST(Embedding, PointsHaveLengthOne) {
  KernelPoint Point = pointOf(Copy);
  EXPECT_NEAR(similarity(Point, Point), 1, 1e-6);
  double Length = 0;
  for (float Each : Point.Code)
    Length += double(Each) * Each;
  EXPECT_NEAR(Length, 1, 1e-5);
}

// To IR2Vec both are calls of a function.
TEST(Embedding, TellsIntrinsicsApart) {
  EXPECT_LT(similarity(pointOf(Waits), pointOf(Shuffles)), 0.95);
  EXPECT_LT(similarity(pointOf(Copy), pointOf(Waits)), 0.95);
}

TEST(Embedding, HelpersBelongToTheKernel) {
  std::string Apart = std::string(Copy);
  Apart.replace(Apart.find("  %x = load float, ptr %q\n"), 26,
                "  %x = call float @get(ptr %q)\n");
  Apart += "define internal float @get(ptr %q) noinline {\n"
           "  %x = load float, ptr %q\n"
           "  ret float %x\n}\n";
  std::string Without = Apart;
  Without.replace(Without.find("  %x = load float"), 26,
                  "  %x = fneg float 1.0\n");
  EXPECT_GT(similarity(pointOf(Copy), pointOf(Apart)),
            similarity(pointOf(Copy), pointOf(Without)));
}

TEST(Embedding, BrokenBitcodeIsAnError) {
  Expected<KernelEmbedder> Embedder =
      KernelEmbedder::load(CUPILOT_SOURCE_DIR "/lib/Retrieval/vocabulary.json");
  ASSERT_TRUE(bool(Embedder));
  Expected<std::vector<EmbeddedKernel>> Kernels = Embedder->embed("no bitcode");
  EXPECT_FALSE(bool(Kernels));
  consumeError(Kernels.takeError());
}

TEST(Nearest, FirstOfEqualsAndNoMoreThanThereAre) {
  std::vector<KernelPoint> Points = {{{0, 1}}, {{1, 0}}, {{1, 0}}, {{1, 1}}};
  std::vector<Neighbour> Found = nearest({{2, 0}}, Points, 9);
  ASSERT_EQ(Found.size(), 4U);
  EXPECT_EQ(Found[0].Index, 1U);
  EXPECT_EQ(Found[1].Index, 2U);
  EXPECT_EQ(Found[2].Index, 3U);
  EXPECT_EQ(Found[3].Index, 0U);
  EXPECT_EQ(nearest({{2, 0}}, Points, 2).size(), 2U);
}

TEST(Nearest, SameClassFirst) {
  std::vector<KernelPoint> Points = {{{1, 0}, Bottleneck::Compute},
                                     {{1, 0}, Bottleneck::Memory},
                                     {{0, 1}, Bottleneck::Memory}};
  std::vector<Neighbour> Found =
      nearest({{1, 0}, Bottleneck::Memory}, Points, 3);
  EXPECT_EQ(Found[0].Index, 1U);
  EXPECT_EQ(Found[0].Similarity, 1);
  // It decides between what is alike, and not against it.
  EXPECT_EQ(Found[1].Index, 0U);
  EXPECT_GT(Found[1].Similarity, 0.9);
  // A class that is not known is no other one.
  EXPECT_EQ(nearest({{1, 0}}, Points, 1)[0].Index, 0U);
}

TEST(Embedding, KernelsHaveAClass) {
  EXPECT_EQ(
      pointOf("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
              "define ptx_kernel void @k(ptr addrspace(1) %p, float %y) {\n"
              "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
              "  %q = getelementptr float, ptr addrspace(1) %p, i32 %t\n"
              "  %x = load float, ptr addrspace(1) %q\n"
              "  %z = fadd float %x, %y\n"
              "  store float %z, ptr addrspace(1) %q\n"
              "  ret void\n}\n")
          .Class,
      Bottleneck::Memory);
}

TEST(Nearest, OtherDimensionsHaveNothingInCommon) {
  EXPECT_EQ(similarity({{1, 0}}, {{1, 0, 0}}), 0);
  EXPECT_EQ(similarity({{0, 0}}, {{1, 0}}), 0);
}
} // namespace
