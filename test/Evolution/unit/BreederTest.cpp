//===- BreederTest.cpp - Which genomes come next --------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Breeder.h"
#include "NoEvaluator.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Evolution/Advice.h"
#include "cupilot/Evolution/Journal.h"
#include "cupilot/Evolution/LaunchShapes.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace cupilot;

static const char Module[] = R"mlir(
cupilot.strategy @tile bottleneck(memory) min_arch(50) params({size = [16, 32]}) requires([]) conflicts([]) "s"
cupilot.strategy @pad bottleneck(memory) min_arch(50) params({}) requires([]) conflicts([]) "s"
cupilot.strategy @unroll bottleneck(memory) min_arch(50) params({factor = [2, 4, 8]}) requires([]) conflicts([]) "s"
cupilot.strategy @useless bottleneck(memory) min_arch(50) params({by = [1, 2, 3, 4, 5, 6, 7, 8]}) requires([]) conflicts([]) "s"
cupilot.kernel @k symbol("k") digest("b3:0000000000000000000000000000000000000000000000000000000000000000") params([]) scalars([]) pointers([]) contract(same) {
  cupilot.variant @p0 parents([]) genome(#cupilot.genome<[<@tile, {size = 16}>]>)
  cupilot.variant @p1 parents([]) genome(#cupilot.genome<[<@pad, {}>]>)
  cupilot.variant @c0 parents([@p0, @p1]) genome(#cupilot.genome<[<@tile, {size = 16}>, <@pad, {}>]>)
  cupilot.variant @c1 parents([@p0, @p1]) genome(#cupilot.genome<[<@tile, {size = 32}>]>)
}
)mlir";

namespace {
class BreederTest : public testing::Test {
protected:
  void SetUp() override {
    loadDialect(Context);
    auto Parsed = parseModule(Context, ::Module, "test");
    ASSERT_TRUE(bool(Parsed)) << toString(Parsed.takeError());
    M = std::move(*Parsed);
    P.Gpu = cantFail(describeGpu("H200"));
    P.Seed = 3;
    Workload W;
    W.Name = "w0";
    P.Workloads = {W};
  }
  Breeder breeder(StrategyTallies Prior = {}) {
    return Breeder(P, ceilingsOf(P.Gpu), Ceiling, BreedingOptions(),
                   std::move(Prior));
  }
  VariantOp find(StringRef Name) {
    KernelOp K = *M->getOps<KernelOp>().begin();
    for (VariantOp V : K.getBody().getOps<VariantOp>())
      if (V.getSymName() == Name)
        return V;
    return {};
  }
  static CandidateRecord record(CandidateOutcome Outcome, double Ratio) {
    CandidateRecord R;
    R.Outcome = Outcome;
    R.Ratio = Ratio;
    return R;
  }
  /// Evidence of a launch that reads \p Sectors in \p Microseconds.
  static CandidateEvidence evidence(uint64_t Sectors, double Microseconds) {
    CandidateEvidence E;
    E.Work.emplace_back().emplace().ReadSectors = Sectors;
    E.Modelled = {{"w0", 0, Microseconds}};
    return E;
  }

  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> M;
  SearchProblem P;
  KernelCeiling Ceiling;
};
} // namespace

static std::map<std::string, unsigned>
picks(const std::map<std::string, StrategyTally> &Tallies) {
  std::vector<StrategyInfo> Strategies;
  for (const char *Name : {"good", "bad", "new"})
    Strategies.push_back({Name, {}, {}, {}});
  GenePool Pool(std::move(Strategies), Tallies);
  Random R(1, "test", 0);
  std::map<std::string, unsigned> Count;
  for (int I = 0; I < 3000; ++I)
    ++Count[Pool.pick(R).Name];
  return Count;
}

// `deep` needs `pipe`, which needs `ring`, which nothing beside `flat` can be.
TEST(Repair, EndsWhereWhatIsNeededCannotBe) {
  std::vector<StrategyInfo> Strategies = {{"deep", {}, {"pipe"}, {}},
                                          {"pipe", {}, {"ring"}, {}},
                                          {"ring", {}, {}, {"flat"}},
                                          {"flat", {}, {}, {}}};
  GenePool Pool(std::move(Strategies), {});
  Random R(1, "repair", 0);
  EXPECT_EQ("flat{}", genomeText(Pool.repair(R, {{"deep", {}}, {"flat", {}}})));
  EXPECT_EQ("deep{}, pipe{}, ring{}",
            genomeText(Pool.repair(R, {{"deep", {}}})));
}

TEST(GenePool, DrawsNoRefusedGene) {
  std::vector<StrategyInfo> Strategies = {
      {"wide", {{"by", {1, 2}, {}}, {"how", {}, {"a", "b"}}}, {}, {}},
      {"never", {{"by", {1, 2}, {}}}, {}, {}},
      {"needs", {}, {"never"}, {}}};
  std::vector<std::string> Genes;
  for (const Gene &G : Strategies[0].genes(16))
    Genes.push_back(G.str());
  ASSERT_EQ(Genes.size(), 4u);
  EXPECT_EQ(Strategies[0].genes(3).size(), 3u);
  GenePool Pool(Strategies, {},
                {Genes[0], Genes[1], Genes[3], "never{by=1}", "never{by=2}"});
  ASSERT_EQ(Pool.strategies().size(), 2u);
  Random R(1, "test", 0);
  // What needs a strategy that has no genes is none, either.
  for (int I = 0; I < 200; ++I)
    EXPECT_EQ(genomeText(Pool.random(R, 2)), Genes[2]);
}

TEST(GenePool, DrawsFavouredGenesFirst) {
  std::vector<StrategyInfo> Strategies = {
      {"wide", {{"by", {1, 2, 3, 4}, {}}}, {}, {}}};
  GenePool Pool(Strategies, {}, {"wide{by=3}"}, {"wide{by=2}", "wide{by=3}"});
  Random R(1, "test", 0);
  std::map<std::string, unsigned> Count;
  for (int I = 0; I < 3000; ++I)
    ++Count[Pool.randomGene(R, Strategies[0]).str()];
  EXPECT_EQ(Count["wide{by=3}"], 0u);
  EXPECT_NEAR(Count["wide{by=2}"], 2600, 100);
  EXPECT_NEAR(Count["wide{by=1}"], 200, 60);
  // With all of them refused, the others are drawn as ever.
  GenePool Others(Strategies, {}, {"wide{by=2}"}, {"wide{by=2}"});
  for (int I = 0; I < 30; ++I)
    EXPECT_NE(Others.randomGene(R, Strategies[0]).str(), "wide{by=2}");
}

/// Genes that shape blocks, of a kernel of \p Registers that is launched with
/// \p Threads for each of \p Blocks blocks.
static std::vector<std::string> favoured(unsigned Registers, uint64_t Blocks,
                                         uint64_t Threads) {
  SearchProblem P;
  P.Gpu = cantFail(describeGpu("H200"));
  P.Arch = "sm_90";
  Workload W;
  W.Shape.Grid[0] = Blocks;
  W.Shape.Block[0] = Threads;
  P.Workloads = {W};
  KernelResources Resources;
  Resources.Registers = Registers;
  return LaunchShapes(P, Resources, "")
      .favoured({{"block_size", {{"x", {32, 128, 256, 512, 1024}, {}}}, {}, {}},
                 {"launch_bounds",
                  {{"max_threads", {128, 256}, {}}, {"min_blocks", {2, 4}, {}}},
                  {},
                  {}},
                 {"unroll", {{"factor", {2, 4}, {}}}, {}, {}}});
}

TEST(LaunchShapes, FavoursWhatFillsTheGpu) {
  using Texts = std::vector<std::string>;
  // 32 blocks a multiprocessor: warps alone leave half of it empty. Bounds do
  // nothing for so few registers, but keep larger blocks out.
  EXPECT_EQ(favoured(32, 100000, 256),
            (Texts{"block_size{x=128}", "block_size{x=256}",
                   "block_size{x=512}", "block_size{x=1024}",
                   "launch_bounds{max_threads=256, min_blocks=2}",
                   "launch_bounds{max_threads=256, min_blocks=4}"}));
  // 24 warps: three blocks of 256, one of 512, none of 1024. A fourth block by
  // bounds takes 16 registers from each thread.
  EXPECT_EQ(favoured(80, 100000, 256),
            (Texts{"block_size{x=32}", "block_size{x=128}", "block_size{x=256}",
                   "launch_bounds{max_threads=256, min_blocks=4}"}));
  // Small blocks spread over all of the GPU.
  EXPECT_EQ(
      favoured(32, 33, 1024),
      (Texts{"block_size{x=32}", "block_size{x=128}", "block_size{x=256}"}));
}

TEST(LaunchShapes, RefusesWhatNoMultiprocessorHolds) {
  SearchProblem P;
  P.Gpu = cantFail(describeGpu("H200"));
  P.Arch = "sm_75";
  P.Workloads.resize(1);
  P.Workloads[0].Shape.Block[0] = 256;
  KernelResources Resources;
  Resources.Registers = 80;
  LaunchShapes Shapes(P, Resources, "");
  auto Why = [&](StringRef Genome) {
    Error E = Shapes.check(*parseGenome(Genome));
    return E ? toString(std::move(E)) : "";
  };
  EXPECT_EQ(Why("launch_bounds{max_threads=1024, min_blocks=2}"),
            "launch_bounds: no multiprocessor holds 2 blocks of 1024 threads; "
            "the most for sm_75 on the NVIDIA H200 are 1024 threads in 32 "
            "blocks");
  EXPECT_EQ(Why("launch_bounds{max_threads=512, min_blocks=2}"), "");
  EXPECT_EQ(Why("block_size{x=1024}"),
            "block_size{x=1024}: a multiprocessor of the NVIDIA H200 does not "
            "hold a block of 1024 threads with 80 registers each");
  // Bounds let ptxas do with fewer.
  EXPECT_EQ(Why("block_size{x=1024}, launch_bounds{max_threads=1024, "
                "min_blocks=1}"),
            "");
  EXPECT_EQ(Why("unroll{factor=4}"), "");
}

TEST(Thompson, DrawsWhatHelpedAndTriesWhatIsNew) {
  auto Known = picks({{"good", {40, 30}}, {"bad", {40, 1}}});
  // Of Beta(31, 11), Beta(2, 40) and a uniform number: about 74, 0 and 26 %.
  EXPECT_NEAR(Known["good"], 2220, 150);
  EXPECT_LT(Known["bad"], 10u);
  EXPECT_NEAR(Known["new"], 780, 150);
  // What little is known of decides little.
  auto Little = picks({{"good", {1, 1}}, {"bad", {1, 0}}});
  EXPECT_GT(Little["good"], Little["new"]);
  EXPECT_GT(Little["new"], Little["bad"]);
  EXPECT_GT(Little["bad"], 200u);
  // Many more tries than are drawn for.
  auto Many = picks({{"good", {100000, 90000}}, {"bad", {100000, 10000}}});
  EXPECT_GT(Many["good"], 2400u);
  EXPECT_EQ(picks({{"good", {4, 3}}}), picks({{"good", {4, 3}}}));
  for (auto &[Name, Count] : picks({}))
    EXPECT_NEAR(Count, 1000, 120) << Name;
}

TEST_F(BreederTest, UseIsTheShareOfTheUnitThatLimits) {
  const Ceilings C = ceilingsOf(P.Gpu);
  // As many sectors of 32 bytes as device memory moves in 100 microseconds.
  auto Sectors = uint64_t(C.DramGBs * 1e3 * 100 / 32);
  CandidateRecord R = record(CandidateOutcome::Accepted, 1.5);
  R.Evidence = evidence(Sectors, 200);
  EXPECT_NEAR(utilisationOf(R, P, C), 0.5, 0.05);
  // No figures: none.
  EXPECT_EQ(utilisationOf(record(CandidateOutcome::Accepted, 2), P, C), 0);
  R.Evidence.emplace().Work.emplace_back();
  EXPECT_EQ(utilisationOf(R, P, C), 0);
}

/// Evidence of a time alone, as of a launch that only a GPU runs.
static CandidateRecord timed(double Original, double Variant) {
  CandidateRecord R;
  R.Outcome = CandidateOutcome::Accepted;
  R.Ratio = Original / Variant;
  R.Evidence.emplace().Modelled = {{"w0", Original, Variant}};
  return R;
}

// The use of a unit weighs the same whether a variant is a tenth faster than
// the original or fifty times as fast.
TEST_F(BreederTest, FitnessIsTheCeilingOverTheTimeAndUse) {
  for (double Ratio : {1.1, 50.0})
    for (bool Bounded : {true, false}) {
      const double Original = 1000, Time = Original / Ratio, Floor = 0.8 * Time;
      Ceiling = KernelCeiling(P.Workloads, {Bounded ? Floor : 0});
      Breeder B = breeder();
      auto Fitness = [&](StringRef Name) {
        return find(Name).getFitness()->convertToDouble();
      };
      // The fastest; a tenth slower and busier; a third slower and busier.
      B.judged(find("p0"), timed(Original, Time));
      B.judged(find("p1"), timed(Original, Time * 1.1));
      B.judged(find("c0"), timed(Original, Time * 1.5));
      CandidateRecord Wrong = timed(Original, Time / 2);
      Wrong.Outcome = CandidateOutcome::Rejected;
      B.judged(find("c1"), Wrong);
      B.measuredUse("p0", 0.1);
      B.measuredUse("p1", 0.9);
      B.measuredUse("c0", 0.9);
      cantFail(B.prune(*M));
      const double Fastest = Bounded ? 0.8 : 1;
      EXPECT_NEAR(Fitness("p0"), Fastest + 0.02, 1e-6) << Ratio;
      EXPECT_NEAR(Fitness("p1"), Fastest / 1.1 + 0.18, 1e-6) << Ratio;
      EXPECT_NEAR(Fitness("c0"), Fastest / 1.5 + 0.18, 1e-6) << Ratio;
      EXPECT_GT(Fitness("p1"), Fitness("p0"));
      EXPECT_GT(Fitness("p0"), Fitness("c0"));
      EXPECT_EQ(Fitness("c1"), 0);
    }
}

// The original runs where a guard keeps a launch out; nothing is said of a
// kernel with a launch of which the ceiling or the time is not known.
TEST_F(BreederTest, CeilingOfAllLaunches) {
  Workload Small = P.Workloads[0], Gate = Small;
  Small.Name = "w1";
  Small.Count = 3;
  Gate.Name = "w2";
  Gate.Only = Audience::Gate;
  P.Workloads.push_back(Small);
  P.Workloads.push_back(Gate);
  KernelCeiling C(P.Workloads, {50, 10, 0});
  CandidateRecord R = timed(200, 100);
  EXPECT_EQ(C.share(R), 0); // Of w1 no time is known.
  C.noteOriginal("w1", 20);
  EXPECT_NEAR(C.share(R), (50 + 3 * 10) / (100 + 3 * 20.0), 1e-9);
  EXPECT_EQ(C.originalShare(), 0);
  C.note(R);
  EXPECT_NEAR(C.originalShare(), (50 + 3 * 10) / (200 + 3 * 20.0), 1e-9);
  EXPECT_EQ(KernelCeiling(P.Workloads, {50, 0, 0}).share(R), 0);
  EXPECT_EQ(C.share(record(CandidateOutcome::NoAnswer, 0)), 0);
  // The original takes 200 us: 300 are no least time.
  KernelCeiling Wrong(P.Workloads, {300, 10, 0});
  Wrong.noteOriginal("w1", 20);
  Wrong.note(R);
  EXPECT_EQ(Wrong.share(R), 0);
}

namespace {
/// Knows counts of the original, and nothing else.
class CountsAlone : public NoEvaluator {
public:
  std::vector<std::optional<ExecutionCounts>> Counts;
  const ExecutionCounts *originalCounts(size_t W) const override {
    return Counts[W] ? &*Counts[W] : nullptr;
  }
};
} // namespace

// A product of m x n x k: threads m x n, operations m x n x k.
TEST_F(BreederTest, CeilingOfWhatOnlyAGpuRuns) {
  const Ceilings C = ceilingsOf(P.Gpu);
  CountsAlone E;
  P.K.Scalars = {{0}, {1}};
  P.Workloads.clear();
  auto Add = [&](uint64_t Blocks, int32_t K, int32_t Other, bool Counted) {
    Workload &W = P.Workloads.emplace_back();
    W.Name = "w" + std::to_string(P.Workloads.size());
    W.Shape.Grid[0] = Blocks;
    W.Shape.Block[0] = 256;
    for (int32_t Value : {K, Other}) {
      const auto *Bytes = reinterpret_cast<const uint8_t *>(&Value);
      W.Args.emplace_back(Bytes, Bytes + 4);
    }
    W.Only = Counted ? Audience::Gate : Audience::Gpu;
    E.Counts.emplace_back();
    if (Counted)
      E.Counts.back().emplace().Fp32 = Blocks * 256 * uint64_t(K);
  };
  Add(4, 64, 7, true);
  Add(9, 160, 7, true);
  Add(1000, 4096, 7, false);
  const double Expected = 1000 * 256 * 4096.0 / C.Fp32Gops * 1e-3;
  EXPECT_NEAR(floorsOf(P, E, C)[2], Expected, Expected * 1e-6);
  // Tensor cores may make the products of a relaxed contract.
  P.K.Contract.K = PrecisionContract::Kind::Relaxed;
  EXPECT_NEAR(floorsOf(P, E, C)[2],
              2 * 1000 * 256 * 4096.0 / C.TensorGops * 1e-3, Expected * 1e-6);
  P.K.Contract.K = PrecisionContract::Kind::Same;
  // Operations that grow in another way, or one launch alone, say nothing.
  E.Counts[1]->Fp32 *= 2;
  EXPECT_EQ(floorsOf(P, E, C)[2], 0);
  E.Counts[1].reset();
  EXPECT_EQ(floorsOf(P, E, C)[2], 0);
  // Buffers that are read and written whole.
  E.Counts[0]->ReadSectors = 1000;
  P.Workloads[0].Buffers.emplace_back().Size = 32000;
  P.Workloads[2].Buffers.emplace_back().Size = 4ull << 30;
  EXPECT_NEAR(floorsOf(P, E, C)[2],
              (double(4ull << 30) - double(C.L2Bytes)) / C.DramGBs * 1e-3,
              1e-3);
}

TEST_F(BreederTest, WhatIsProposedComesFirst) {
  Breeder B = breeder();
  for (const char *Name : {"p0", "p1", "c0", "c1"})
    B.judged(find(Name), timed(2, 1));
  auto Of = [](StringRef Text) { return *parseGenome(Text); };
  std::vector<ProposedGenome> Proposed = {
      {Of("pad{}"), {}, "known"}, // It lives already.
      {Of("unroll{factor=4}, tile{size=16}"), {"p0", "p1"}, "a reason"},
      {Of("unroll{factor=4}, tile{size=16}"), {}, "twice"},
      {Of("no_such{}"), {}, "unknown"},
      {Of("useless{by=3}"), {}, ""}};
  cantFail(B.next(*M, 1, 3, nullptr, Proposed));
  VariantOp First = find("g1_v1"), Second = find("g1_v2");
  ASSERT_TRUE(First && Second && find("g1_v0"));
  EXPECT_EQ(genomeText(fromAttr(First.getGenome())),
            "tile{size=16}, unroll{factor=4}");
  EXPECT_EQ(First.getParents().size(), 2u);
  EXPECT_EQ(Breeder::takeReason(First), "a reason");
  EXPECT_EQ(Breeder::takeReason(First), "");
  EXPECT_EQ(genomeText(fromAttr(Second.getGenome())), "useless{by=3}");
}

TEST_F(BreederTest, WhatDoesNotFitIsDrawnAgain) {
  KernelOp K = *M->getOps<KernelOp>().begin();
  auto Genomes = [&] {
    std::vector<std::string> Texts;
    for (VariantOp V : K.getBody().getOps<VariantOp>())
      if (!V.getOutcome())
        Texts.push_back(genomeText(fromAttr(V.getGenome())));
    return Texts;
  };
  // No strategy `useless`, no tile of 32, and no tile beside unrolled loops.
  auto Fits = [](const Genome &G) {
    const std::string Text = genomeText(G);
    StringRef T(Text);
    return !T.contains("useless") && !T.contains("size=32") &&
           !(T.contains("tile") && T.contains("unroll"));
  };
  std::set<std::string> Asked;
  auto Fit = [&](ArrayRef<Genome> All, std::vector<bool> &Answers) -> Error {
    Answers.clear();
    for (const Genome &G : All) {
      EXPECT_TRUE(Asked.insert(genomeText(G)).second) << genomeText(G);
      Answers.push_back(Fits(G));
    }
    return Error::success();
  };
  while (!K.getBody().front().empty())
    K.getBody().front().front().erase();
  BreedingOptions O;
  O.Population = 8;
  Breeder B(P, ceilingsOf(P.Gpu), Ceiling, O, {});
  cantFail(B.begin(*M, Fit));
  std::vector<std::string> First = Genomes();
  EXPECT_EQ(First.size(), 8u); // As many as fit: the others are not missed.
  for (unsigned Generation = 1; Generation < 4; ++Generation) {
    for (const std::string &Text : Genomes())
      EXPECT_TRUE(Fits(*parseGenome(Text))) << Text;
    double Ratio = 1;
    for (VariantOp V : K.getBody().getOps<VariantOp>())
      if (!V.getOutcome())
        B.judged(V, record(CandidateOutcome::Slower, Ratio += 0.01));
    cantFail(B.prune(*M));
    cantFail(B.next(*M, Generation, 8, Fit));
  }
  // The same numbers, the same genomes.
  auto Again = parseModule(Context, ::Module, "test");
  M = std::move(*Again);
  K = *M->getOps<KernelOp>().begin();
  while (!K.getBody().front().empty())
    K.getBody().front().front().erase();
  Asked.clear();
  Breeder Other(P, ceilingsOf(P.Gpu), Ceiling, O, {});
  cantFail(Other.begin(*M, Fit));
  EXPECT_EQ(Genomes(), First);
  // Errors are no answers.
  EXPECT_TRUE(errorToBool(
      Other.next(*M, 1, 8, [](ArrayRef<Genome>, std::vector<bool> &) -> Error {
        return resourceError("no such tool");
      })));
}

TEST_F(BreederTest, CreditGoesToWhatIsNew) {
  Breeder B = breeder();
  B.judged(find("p0"), record(CandidateOutcome::Accepted, 1.5));
  B.judged(find("p1"), record(CandidateOutcome::Slower, 0.9));
  // Faster than the better parent: pad, which that one lacked, has helped.
  B.judged(find("c0"), record(CandidateOutcome::Accepted, 1.8));
  // Accepted, but slower than its parent: another size did not help.
  B.judged(find("c1"), record(CandidateOutcome::Accepted, 1.2));
  const StrategyTallies &T = B.own();
  EXPECT_EQ(T.at("tile").Tried, 2u);
  EXPECT_EQ(T.at("tile").Helped, 1u);
  EXPECT_EQ(T.at("pad").Tried, 2u);
  EXPECT_EQ(T.at("pad").Helped, 1u);
  Breeder Other = breeder();
  Other.judged(find("p0"), record(CandidateOutcome::Duplicate, 0));
  Other.judged(find("p1"), record(CandidateOutcome::Refused, 0));
  EXPECT_TRUE(Other.own().empty()); // Neither is for the store.
}

TEST_F(BreederTest, TheSameSeedBreedsTheSame) {
  auto Next = [&](StrategyTallies Prior) {
    mlir::OwningOpRef<mlir::ModuleOp> Copy = M->clone();
    std::swap(M, Copy);
    Breeder B = breeder(std::move(Prior));
    B.judged(find("p0"), record(CandidateOutcome::Accepted, 1.5));
    B.judged(find("p1"), record(CandidateOutcome::Slower, 0.9));
    B.judged(find("c0"), record(CandidateOutcome::Accepted, 1.8));
    B.judged(find("c1"), record(CandidateOutcome::Rejected, 0));
    EXPECT_FALSE(errorToBool(B.prune(*M)));
    EXPECT_FALSE(errorToBool(B.next(*M, 1, 8)));
    std::string Text = printModule(*M);
    std::swap(M, Copy);
    return Text;
  };
  std::string Once = Next({});
  EXPECT_EQ(Once, Next({}));
  EXPECT_NE(Once.find("@g1_v0"), std::string::npos);
  // What other searches found steers it.
  EXPECT_NE(Once, Next({{"unroll", {50, 49}}, {"useless", {50, 0}}}));
}

TEST_F(BreederTest, OtherSearchesDecideTheStart) {
  auto First = [&](StrategyTallies Prior) {
    mlir::OwningOpRef<mlir::ModuleOp> Copy = M->clone();
    for (VariantOp V : make_early_inc_range(
             (*Copy->getOps<KernelOp>().begin()).getBody().getOps<VariantOp>()))
      V.erase();
    BreedingOptions O;
    O.Population = 1;
    Breeder B(P, ceilingsOf(P.Gpu), Ceiling, O, std::move(Prior));
    EXPECT_FALSE(errorToBool(B.begin(*Copy)));
    KernelOp K = *Copy->getOps<KernelOp>().begin();
    VariantOp V = *K.getBody().getOps<VariantOp>().begin();
    return genomeText(fromAttr(V.getGenome()));
  };
  EXPECT_TRUE(StringRef(First({})).starts_with("tile{"));
  EXPECT_TRUE(StringRef(First({{"unroll", {60, 60}},
                               {"tile", {60, 0}},
                               {"pad", {60, 0}},
                               {"useless", {60, 0}}}))
                  .starts_with("unroll{"));
}

TEST(StrategyRecord, OneFileASearch) {
  auto Dir = cantFail(TemporaryDirectory::create("breeder-test"));
  std::string Root = Dir.file("store");
  StrategyRecord A{"memory",
                   "NVIDIA H200",
                   "k(float *)",
                   "b3:aa",
                   {{"tile", {5, 2}}, {"pad", {1, 0}}}};
  StrategyRecord B = A;
  B.Search = "b3:bb";
  B.Tallies = {{"tile", {1, 1}}};
  StrategyRecord Other = A;
  Other.Search = "b3:cc";
  Other.Class = "compute";
  StrategyRecord Empty = A;
  Empty.Search = "b3:dd";
  Empty.Tallies.clear();
  auto Put = [&](const StrategyRecord &R) {
    auto [Path, Text] = strategyFile(R);
    return !R.Tallies.empty() &&
           errorToBool(updateFile(Root + "/" + Path, Text));
  };
  for (const StrategyRecord *R : {&A, &B, &Other, &Empty, &A})
    ASSERT_FALSE(Put(*R));
  EXPECT_EQ(cantFail(strategyRecords(Root)).size(), 3u);
  StrategyTallies Sum =
      cantFail(strategyTallies(Root, "memory", "NVIDIA H200", ""));
  EXPECT_EQ(Sum.at("tile").Tried, 6u);
  EXPECT_EQ(Sum.at("tile").Helped, 3u);
  EXPECT_EQ(cantFail(strategyTallies(Root, "memory", "NVIDIA H200", "b3:aa"))
                .count("pad"),
            0u);
  EXPECT_TRUE(
      cantFail(strategyTallies(Root, "memory", "NVIDIA A100", "")).empty());
  EXPECT_TRUE(
      cantFail(strategyTallies(Dir.file("none"), "memory", "x", "")).empty());

  // A search that has begun sees no other that ended since.
  auto J = cantFail(Journal::open(Dir.file("journal.sqlite")));
  StrategyRecord Mine{"memory", "NVIDIA H200", "", "b3:ee", {}};
  EXPECT_EQ(cantFail(priorTallies(J, Root, Mine)).at("tile").Tried, 6u);
  StrategyRecord Later = A;
  Later.Search = "b3:ff";
  ASSERT_FALSE(Put(Later));
  EXPECT_EQ(cantFail(priorTallies(J, Root, Mine)).at("tile").Tried, 6u);
  ASSERT_FALSE(errorToBool(J.restart("b3:ee")));
  EXPECT_EQ(cantFail(priorTallies(J, Root, Mine)).at("tile").Tried, 11u);
}

TEST(StrategyRecord, BrokenFiles) {
  for (const char *Text : {"class", "strategy tile:1:2", "strategy tile:1",
                           "strategy :1:1", "what is this\n"}) {
    auto R = parseStrategyRecord(Text, "f.txt");
    EXPECT_FALSE(bool(R)) << Text;
    EXPECT_NE(toString(R.takeError()).find("'f.txt' is broken at"),
              std::string::npos);
  }
}
