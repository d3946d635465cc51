//===- HandshakeTest.cpp - Which genes code really has -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>
#include <set>

using namespace llvm;
using namespace cupilot;

namespace {
const StringRef Head = ".version 8.7\n.target sm_90\n.visible .entry k(\n"
                       "  .param .u64 k_param_0\n)\n";

/// PTX of a kernel.
std::string kernel(StringRef Body, StringRef Directives = "") {
  return (Head + Directives + "{\n  // cp.async.bulk, mma.sync: a comment\n" +
          Body + "  ret;\n}\n")
      .str();
}

const std::string Plain =
    kernel("$L__BB0_1:\n  ld.global.b32 %r1, [%rd1];\n  add.s32 %r2, %r1, 1;\n"
           "  st.global.b32 [%rd1], %r2;\n  @%p1 bra $L__BB0_1;\n");

/// The library that is installed.
const std::vector<LibraryStrategy> &library() {
  static mlir::MLIRContext Context;
  loadDialect(Context);
  static mlir::OwningOpRef<mlir::ModuleOp> Module =
      cantFail(loadLibrary(Context, CUPILOT_TEST_STRATEGIES));
  static const std::vector<LibraryStrategy> All = libraryStrategies(*Module);
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

/// Launches of 64 blocks of 128 threads.
SearchProblem problem() {
  SearchProblem P;
  P.Gpu = cantFail(describeGpu("H200"));
  Workload W;
  W.Shape.Grid = {64, 1, 1};
  W.Shape.Block = {128, 1, 1};
  P.Workloads.push_back(W);
  return P;
}

Candidate candidate(StringRef Ptx, LaunchPlan Plan, StringRef Source) {
  Candidate C;
  C.Ptx = Ptx.str();
  C.Record.Code.emplace();
  C.Record.Code->Plan = std::move(Plan);
  C.Record.Code->Source = Source.str();
  return C;
}

/// The handshake over \p Genes, of which the model says that it did all.
Shaken shake(StringRef Genes, StringRef Ptx, LaunchPlan Plan = planOf(),
             StringRef Source = "", const char *CarriedOut = nullptr) {
  const SearchProblem P = problem();
  const Candidate C = candidate(Ptx, std::move(Plan), Source);
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
  PtxFacts F = ptxFacts(Plain);
  EXPECT_EQ(F.Instructions, 5u);
  EXPECT_EQ(F.BackwardBranches, 1u);
  EXPECT_EQ(F.WidestAccess, 4u);
  EXPECT_FALSE(F.Shared);
  EXPECT_TRUE(F.has("add.s32"));
  // A comment is no instruction, and a part of a word no word.
  EXPECT_FALSE(F.has("mma.sync"));
  EXPECT_TRUE(ptxFacts(kernel("  red.shared.add.u32 [%r1], 1;\n")).has("red."));
  EXPECT_FALSE(ptxFacts(kernel("  ld.shared.b32 %r1, [%r2];\n")).has("red."));
  EXPECT_EQ(ptxFacts(kernel("  ld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, "
                            "[%rd1];\n"))
                .WidestAccess,
            16u);
  // Shared memory is another matter, however wide.
  EXPECT_EQ(ptxFacts(kernel("  ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, "
                            "[%rd1];\n"))
                .WidestAccess,
            0u);
}

TEST(Handshake, NotesBelongToStrategies) {
  std::vector<LibraryStrategy> All = library();
  cantFail(readNotes(CUPILOT_TEST_STRATEGIES, All));
  unsigned Notes = 0, Lines = 0;
  for (const LibraryStrategy &S : All) {
    if (S.Notes.empty())
      continue;
    ++Notes;
    Lines = StringRef(S.Notes).count('\n') + 1;
    EXPECT_TRUE(Lines >= 8 && Lines <= 40) << S.Info.Name;
    EXPECT_TRUE(StringRef(S.Notes).contains("Does not pay:")) << S.Info.Name;
  }
  unsigned Files = 0;
  std::error_code E;
  for (sys::fs::directory_iterator It(CUPILOT_TEST_STRATEGIES, E), End;
       !E && It != End; It.increment(E))
    Files += StringRef(It->path()).ends_with(".md");
  EXPECT_EQ(Notes, Files);
  EXPECT_GT(Notes, 10u);
}

/// Why the gene of strategy \p Name alone is denied; "" when it stands.
static std::string denial(const std::string &Name, const HandshakeCode &Code) {
  Gene G{Name, {}};
  for (const LibraryStrategy &S : library())
    if (S.Info.Name == Name) {
      LibraryStrategy Alone = S;
      Alone.Info.Requires.clear();
      for (const StrategyInfo::Param &P : S.Info.Params)
        G.Params.push_back({P.Name, P.Values.empty() ? 0 : P.Values.front(),
                            P.Words.empty() ? "" : P.Words.front()});
      HandshakeResult R = shakeHands({G}, nullptr, Code, Alone);
      return R.Denied.empty() ? "" : R.Denied.front().Why;
    }
  return "no such strategy";
}

/// All strategies that \p Code shows, of those that can be denied.
static std::set<std::string> shownBy(StringRef Ptx, LaunchPlan Plan = planOf(),
                                     StringRef Source = "") {
  const SearchProblem P = problem();
  const Candidate C = candidate(Ptx, std::move(Plan), Source);
  std::set<std::string> Names;
  for (const LibraryStrategy &S : library())
    if (!S.ShownBy.empty() && denial(S.Info.Name, {P, Plain, C}).empty())
      Names.insert(S.Info.Name);
  return Names;
}

TEST(Handshake, KnowsEveryStrategyThatCanBeDenied) {
  std::set<std::string> Deniable, Silent;
  for (const LibraryStrategy &S : library())
    (S.ShownBy.empty() ? Silent : Deniable).insert(S.Info.Name);
  EXPECT_EQ(Deniable.size(), 30u);
  EXPECT_EQ(
      Silent,
      (std::set<std::string>{
          "block_shape", "block_swizzle", "double_buffering", "implicit_gemm",
          "load_hoisting", "loop_tiling", "on_chip_reuse", "online_reduction",
          "register_blocking", "restrict_pointers", "rows_per_block",
          "sliding_window", "strength_reduction", "swapped_product",
          "warp_specialization"}));
}

TEST(Handshake, EachStrategyShowsByWhatItIsMadeOf) {
  using Set = std::set<std::string>;
  // The original's own code has no more blocks than a GPU can hold, and that
  // alone.
  EXPECT_EQ(shownBy(Plain), Set{"persistent_kernel"});
  const Set Shared = {"coalesced_layout",  "halo_tiling",
                      "persistent_kernel", "shared_memory_tiling",
                      "shared_padding",    "shared_swizzle"};
  Set SharedAtomics = Shared;
  SharedAtomics.insert({"privatized_atomics", "split_reduction"});
  // The loop is there, and one instruction more at most: "more instructions"
  // would show unrolling, so an addition makes room.
  auto With = [](StringRef Line, StringRef Directives = "") {
    return kernel(("$L__BB0_1:\n  ld.global.b32 %r1, [%rd1];\n" + Line +
                   "  @%p1 bra $L__BB0_1;\n")
                      .str(),
                  Directives);
  };
  auto Has = [](std::initializer_list<const char *> Names,
                Set Also = {"persistent_kernel"}) {
    Also.insert(Names.begin(), Names.end());
    return Also;
  };
  struct Row {
    const char *Line;
    Set Shown;
  };
  for (const Row &R : std::initializer_list<Row>{
           {"  ld.global.v2.b32 {%r1, %r2}, [%rd1];\n",
            Has({"vectorized_access"})},
           {"  ld.global.b64 %rd2, [%rd1];\n", Has({"vectorized_access"})},
           {"  ld.shared.b32 %r1, [%r2];\n", Shared},
           {"  atom.shared.add.u32 %r1, [%r2], 1;\n", SharedAtomics},
           {"  red.global.add.u32 [%rd1], 1;\n", Has({"split_reduction"})},
           {"  cp.async.ca.shared.global [%r1], [%rd1], 4;\n",
            Has({"async_copy"}, Shared)},
           {"  cp.async.bulk.shared::cluster.global [%r1], [%rd1], 16, "
            "[%r2];\n",
            Has({"bulk_copy"}, Shared)},
           {"  cp.async.bulk.tensor.2d.global.shared::cta [%rd1], [%r1];\n",
            Has({"bulk_copy", "tma_tensor_copy"}, Shared)},
           {"  "
            "cp.async.bulk.tensor.1d.shared::cluster.global.multicast::cluster "
            "[%r1], [%rd1], [%r2], %rs1;\n",
            Has({"bulk_copy", "tma_tensor_copy", "multicast"}, Shared)},
           {"  wgmma.mma_async.sync.aligned.m64n8k8 {%f1}, %rd1, %rd2;\n",
            Has({"wgmma", "mma_pipeline"})},
           {"  mma.sync.aligned.m16n8k8 {%f1}, {%r1}, {%r2}, {%f1};\n",
            Has({"tensor_core_mma", "mma_pipeline"})},
           {"  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];\n",
            Has({"ldmatrix"}, Shared)},
           {"  setmaxnreg.inc.sync.aligned.u32 160;\n", Has({"setmaxnreg"})},
           {"  shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;\n",
            Has({"warp_shuffle_reduction"})},
           {"  ld.global.nc.b32 %r1, [%rd1];\n", Has({"read_only_loads"})},
           {"  st.global.cs.b32 [%rd1], %r1;\n", Has({"cache_hints"})},
           {"  ld.const.b32 %r1, [table];\n", Has({"constant_memory"})},
           {"  ex2.approx.f32 %f1, %f2;\n", Has({"fast_intrinsics"})},
           {"  barrier.cluster.arrive;\n", Has({"split_reduction"})}})
    EXPECT_EQ(shownBy(With(R.Line)), R.Shown) << R.Line;
  EXPECT_EQ(shownBy(With("", ".maxntid 128, 1, 1\n")), Has({"launch_bounds"}));
  EXPECT_EQ(shownBy(With("", ".reqnctapercluster 2, 1, 1\n")),
            Has({"thread_block_cluster"}));
  EXPECT_EQ(shownBy(Plain, planOf(), "asm(\"nop;\");"), Has({"ptx_level"}));
  EXPECT_EQ(shownBy(Plain, planOf(), "#pragma unroll"), Has({"unroll"}));
  EXPECT_EQ(shownBy(kernel("  ld.global.b32 %r1, [%rd1];\n")), Has({"unroll"}));
}

TEST(Handshake, ReadsThePlan) {
  using Set = std::set<std::string>;
  Launch Clustered;
  Clustered.Cluster = {Expr::constant(2), Expr::constant(1), Expr::constant(1)};
  EXPECT_EQ(shownBy(Plain, planOf(Clustered)),
            (Set{"persistent_kernel", "thread_block_cluster"}));
  Launch Fewer;
  Fewer.Grid[0] = Expr::constant(16);
  EXPECT_EQ(shownBy(Plain, planOf(Fewer)),
            (Set{"persistent_kernel", "thread_coarsening"}));
  Launch More;
  More.Grid[0] = Expr::constant(1 << 20);
  EXPECT_EQ(shownBy(Plain, planOf(More)),
            (Set{"more_threads", "split_reduction"}));
  LaunchPlan Two = planOf();
  Two.Launches.push_back(Launch());
  EXPECT_EQ(shownBy(Plain, Two), (Set{"persistent_kernel", "split_reduction"}));
  Launch Small; // The least of the domain.
  Small.Block = {Expr::constant(32), Expr::constant(1), Expr::constant(1)};
  EXPECT_EQ(shownBy(Plain, planOf(Small)),
            (Set{"block_size", "persistent_kernel", "thread_coarsening"}));
}

/// Facts that no strategy of the library names yet.
TEST(Handshake, SaysWhatIsMissing) {
  mlir::MLIRContext C;
  auto M = cantFail(
      parseModule(C,
                  "cupilot.strategy @s bottleneck(memory) min_arch(50) "
                  "shown_by(plan(scratch, tensormap) or instruction(\"tex\"), "
                  "probe(shared_memory)) \"s\"",
                  "s.mlir"));
  std::vector<LibraryStrategy> Own = libraryStrategies(*M);
  SearchProblem P;
  Candidate V;
  V.Ptx = kernel("  ld.shared.b32 %r1, [%r2];\n");
  V.Record.Code.emplace();
  V.Record.Code->Plan = planOf();
  HandshakeResult R = shakeHands({{"s", {}}}, nullptr, {P, Plain, V}, Own);
  ASSERT_EQ(R.Denied.size(), 1u);
  EXPECT_EQ(R.Denied[0].Why,
            "the plan has no scratch buffer, and the plan has no tensor map, "
            "and no tex in the device code");
  V.Record.Code->Plan.Scratch.push_back(Expr::constant(4));
  EXPECT_EQ(shakeHands({{"s", {}}}, nullptr, {P, Plain, V}, Own).Carried.size(),
            1u);
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
  EXPECT_EQ(shake("strength_reduction{}", Plain).Carried,
            "strength_reduction{}");
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

/// What the search sees of Hopper's instructions: TMA, a product, registers
/// that are handed over.
static const std::string Hopper = kernel(
    "  cp.async.bulk.tensor.2d.shared::cluster.global [%r1], [%rd1], [%r2];\n"
    "  wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {%f1}, %rd1, "
    "%rd2;\n"
    "  setmaxnreg.dec.sync.aligned.u32 40;\n"
    "  setmaxnreg.inc.sync.aligned.u32 240;\n");

static LaunchPlan swizzled() {
  LaunchPlan Plan = planOf();
  Plan.TensorMaps.emplace_back();
  Plan.TensorMaps.back().Swizzle = 3;
  return Plan;
}

TEST(Handshake, AddsWhatIsEvident) {
  // Each with what it requires; a value that no code tells is the first.
  EXPECT_EQ(
      shake("strength_reduction{}", Hopper, swizzled()).Carried,
      "strength_reduction{}, bulk_copy{}, "
      "tma_tensor_copy{swizzle=128B}, wgmma{n=256}, "
      "warp_specialization{consumers=1}, "
      "setmaxnreg{consumer_registers=240}, shared_memory_tiling{tile=16}");
  // What was asked for keeps what the code does not tell.
  EXPECT_EQ(
      shake("wgmma{n=64}, shared_memory_tiling{tile=128}",
            kernel("  wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 "
                   "{%f1}, %rd1, %rd2;\n"
                   "  st.shared.b32 [%r1], %r2;\n"))
          .Carried,
      "wgmma{n=128}, shared_memory_tiling{tile=128}");
  EXPECT_EQ(
      shake("", kernel("  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32."
                       "f32 {%f1}, {%r1}, {%r2}, {%f1};\n"
                       "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, "
                       "[%r2];\n"
                       "  cp.async.cg.shared.global [%r1], [%rd1], 16;\n"))
          .Carried,
      "shared_memory_tiling{tile=16}, async_copy{bytes=16}, "
      "tensor_core_mma{precision=tf32}, ldmatrix{count=4}");
  Launch Clustered;
  Clustered.Cluster = {Expr::constant(4), Expr::constant(2), Expr::constant(1)};
  EXPECT_EQ(shake("", Plain, planOf(Clustered)).Carried,
            "thread_block_cluster{size=8}");
  EXPECT_EQ(
      shake("", kernel("  ret;\n", ".reqnctapercluster 2, 1, 1\n")).Carried,
      "thread_block_cluster{size=2}");
  // A format that the domain lacks, and signs that others have, too.
  EXPECT_EQ(
      shake("", kernel("  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16."
                       "f32 {%f1}, {%r1}, {%r2}, {%f1};\n"
                       "  shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;\n"
                       "  st.global.v4.b32 [%rd1], {%r1, %r1, %r1, "
                       "%r1};\n"))
          .Carried,
      "");
}

TEST(Handshake, WhatTheOriginalHasIsNoGene) {
  const SearchProblem P = problem();
  const Candidate C = candidate(Hopper, swizzled(), "");
  EXPECT_EQ(shakeHands({}, nullptr, {P, Hopper, C}, library()).Carried.size(),
            0u);
  // Nothing is read of what cannot be read.
  EXPECT_EQ(shakeHands({}, nullptr, {P, "", C}, library()).Carried.size(), 0u);
}

TEST(Handshake, WhatCodeShowsIsMoreThanWhatAModelSays) {
  // register_blocking shows in no code; it excludes wgmma.
  Shaken S = shake("register_blocking{m=4, n=4}, shared_memory_tiling{tile=64}",
                   Hopper, swizzled());
  EXPECT_EQ(S.Denied["register_blocking{m=4, n=4}"],
            "it conflicts with wgmma, which the code has");
  EXPECT_TRUE(StringRef(S.Carried).contains("wgmma{n=256}"));
  // Of two that the code shows, the one that was asked for stays.
  S = shake(
      "shared_memory_tiling{tile=64}, async_copy{bytes=4}",
      kernel("  cp.async.ca.shared.global [%r1], [%rd1], 4;\n"
             "  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], "
             "64;\n"));
  EXPECT_EQ(S.Carried, "shared_memory_tiling{tile=64}, async_copy{bytes=4}");
  // Not named, and there.
  EXPECT_EQ(shake("async_copy{bytes=4}, shared_memory_tiling{tile=64}",
                  kernel("  cp.async.cg.shared.global [%r1], [%rd1], 16;\n"),
                  planOf(), "", "shared_memory_tiling")
                .Carried,
            "async_copy{bytes=16}, shared_memory_tiling{tile=64}");
}

TEST(Handshake, AddsWhatTheModelNamesAndTheCodeShows) {
  const std::string Wide =
      kernel("  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];\n"
             "  shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;\n");
  EXPECT_EQ(
      shake("", Wide, planOf(), "", "`vectorized_access{width=4}`").Carried,
      "vectorized_access{width=4}");
  EXPECT_EQ(shake("", Wide, planOf(), "", "warp_shuffle_reduction{}").Carried,
            "warp_shuffle_reduction{}");
  // No value, a value of no domain, no sign of it, no such strategy.
  for (const char *Name : {"vectorized_access", "vectorized_access{width=3}",
                           "bulk_copy{}", "online_reduction{}", "magic{}"})
    EXPECT_EQ(shake("", Wide, planOf(), "", Name).Carried, "") << Name;
}
