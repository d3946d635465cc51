//===- HandshakeTest.cpp - Which genes code really has -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Handshake.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace cupilot;

namespace {
const StringRef Head = ".version 8.7\n.target sm_90\n.visible .entry k(\n"
                       "  .param .u64 k_param_0\n)\n";

std::string kernel(StringRef Body, StringRef Directives = "") {
  return (Head + Directives + "{\n  // cp.async.bulk, mma.sync: a comment\n" +
          Body + "  ret;\n}\n")
      .str();
}

const std::string Plain =
    kernel("$L__BB0_1:\n  ld.global.b32 %r1, [%rd1];\n  add.s32 %r2, %r1, 1;\n"
           "  st.global.b32 [%rd1], %r2;\n  @%p1 bra $L__BB0_1;\n");

/// The library, as far as these tests go.
std::vector<LibraryStrategy> library() {
  std::vector<LibraryStrategy> All;
  for (StringRef Name :
       {"vectorized_access", "unroll", "shared_memory_tiling", "async_copy",
        "tensor_core_mma", "ldmatrix", "thread_coarsening", "block_size",
        "loop_tiling", "bulk_copy", "warp_shuffle_reduction"})
    All.push_back({{Name.str(), {}, {}, {}}, "", "", 50});
  auto Requires = [&](StringRef Name, StringRef Needed) {
    for (LibraryStrategy &S : All)
      if (S.Info.Name == Name)
        S.Info.Requires.push_back(Needed.str());
  };
  Requires("async_copy", "shared_memory_tiling");
  Requires("tensor_core_mma", "shared_memory_tiling");
  Requires("ldmatrix", "tensor_core_mma");
  for (LibraryStrategy &S : All)
    if (S.Info.Name == "block_size")
      S.Info.Params.push_back({"x", {128, 256}, {}});
  return All;
}

struct Shaken {
  std::string Carried;
  std::map<std::string, std::string> Denied;
};

LaunchPlan planOf(Launch L = Launch()) {
  LaunchPlan P;
  P.Launches.push_back(std::move(L));
  return P;
}

/// The handshake over \p Genes, of which the model says that it did all.
Shaken shake(StringRef Genes, StringRef Ptx, LaunchPlan Plan = planOf(),
             StringRef Source = "", const char *CarriedOut = nullptr) {
  SearchProblem P;
  P.Gpu = cantFail(describeGpu("H200"));
  Workload W;
  W.Shape.Grid = {64, 1, 1};
  W.Shape.Block = {128, 1, 1};
  P.Workloads.push_back(W);
  Candidate C;
  C.Ptx = Ptx.str();
  C.Record.Code.emplace();
  C.Record.Code->Plan = std::move(Plan);
  C.Record.Code->Source = Source.str();
  Genome Asked = *parseGenome(Genes);
  std::vector<std::string> Named;
  for (const Gene &G : Asked)
    Named.push_back(G.str());
  if (CarriedOut)
    Named = {CarriedOut};
  HandshakeResult R = shakeHands(Asked, &Named, {P, Plain, C}, library());
  Shaken S{genomeText(R.Carried), {}};
  for (const DeniedGene &D : R.Denied)
    S.Denied[D.Gene] = D.Why;
  return S;
}
} // namespace

TEST(Handshake, ReadsFactsOfPtx) {
  CodeFacts F = codeFacts(Plain);
  EXPECT_EQ(F.Instructions, 5u);
  EXPECT_EQ(F.BackwardBranches, 1u);
  EXPECT_EQ(F.WidestAccess, 4u);
  EXPECT_FALSE(F.Shared);
  EXPECT_TRUE(F.has("add.s32"));
  // A comment is no instruction.
  EXPECT_FALSE(F.has("mma.sync"));
  EXPECT_EQ(codeFacts(kernel("  ld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, "
                             "[%rd1];\n"))
                .WidestAccess,
            16u);
  // Shared memory is another matter, however wide.
  EXPECT_EQ(codeFacts(kernel("  ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, "
                             "[%rd1];\n"))
                .WidestAccess,
            0u);
}

TEST(Handshake, LetsStandWhatTheCodeHas) {
  EXPECT_EQ(shake("vectorized_access{width=4}",
                  kernel("  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];\n"))
                .Carried,
            "vectorized_access{width=4}");
  EXPECT_EQ(shake("shared_memory_tiling{tile=16}, async_copy{bytes=16}",
                  kernel("  cp.async.cg.shared.global [%r1], [%rd1], 16;\n"))
                .Carried,
            "shared_memory_tiling{tile=16}, async_copy{bytes=16}");
  // What no instruction shows stays when the model names it.
  EXPECT_EQ(shake("loop_tiling{k=8}", Plain).Carried, "loop_tiling{k=8}");
  EXPECT_EQ(
      shake("unroll{factor=4}", Plain, planOf(), "#pragma unroll 4").Carried,
      "unroll{factor=4}");
}

TEST(Handshake, DeniesWhatTheCompilerDoesNotFind) {
  Shaken S = shake("vectorized_access{width=4}, unroll{factor=4}, "
                   "warp_shuffle_reduction{}, bulk_copy{}",
                   Plain);
  EXPECT_EQ(S.Carried, "");
  EXPECT_EQ(S.Denied["vectorized_access{width=4}"],
            "no access to global memory is wider than the original's 4 bytes");
  EXPECT_TRUE(
      StringRef(S.Denied["unroll{factor=4}"]).contains("as many loops"));
  EXPECT_TRUE(
      StringRef(S.Denied["warp_shuffle_reduction{}"]).contains("shfl.sync"));
  EXPECT_TRUE(StringRef(S.Denied["bulk_copy{}"]).contains("cp.async.bulk"));
}

TEST(Handshake, WhatRequiresADeniedGeneGoesToo) {
  // There are shared memory and ldmatrix, but nothing is multiplied.
  Shaken S = shake(
      "shared_memory_tiling{tile=16}, tensor_core_mma{precision=f16}, "
      "ldmatrix{count=4}",
      kernel("  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, "
             "[%r5];\n"));
  EXPECT_EQ(S.Carried, "shared_memory_tiling{tile=16}");
  EXPECT_EQ(S.Denied["ldmatrix{count=4}"], "it requires tensor_core_mma");
}

TEST(Handshake, AsksTheModelAndThePlan) {
  Shaken S = shake("loop_tiling{k=8}, unroll{factor=2}", Plain, planOf(),
                   "#pragma unroll", "`unroll`");
  EXPECT_EQ(S.Carried, "unroll{factor=2}");
  EXPECT_EQ(S.Denied["loop_tiling{k=8}"], "the model does not name it");
  // As many threads as before are no coarsening; a quarter of the blocks is.
  EXPECT_EQ(shake("thread_coarsening{factor=4}", Plain).Carried, "");
  Launch Quarter;
  Quarter.Grid[0] = Expr::constant(16);
  EXPECT_EQ(
      shake("thread_coarsening{factor=4}", Plain, planOf(Quarter)).Carried,
      "thread_coarsening{factor=4}");
  // A block of another size than was asked for is put right ...
  Launch Wide;
  Wide.Block = {Expr::constant(256), Expr::constant(1), Expr::constant(1)};
  EXPECT_EQ(shake("block_size{x=128}", Plain, planOf(Wide)).Carried,
            "block_size{x=256}");
  // ... unless no gene says so, or it is the original's.
  Wide.Block[0] = Expr::constant(96);
  EXPECT_EQ(shake("block_size{x=128}", Plain, planOf(Wide)).Carried, "");
  EXPECT_EQ(shake("block_size{x=128}", Plain).Carried, "");
}
