//===- ConversionTest.cpp - Plain data to the dialect and back -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All by way of text: what is written must also be readable.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace cupilot::test;

namespace {

/// \p V after its kernel's module was printed and parsed again.
llvm::Expected<Variant> throughText(const Variant &V) {
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  Kernel K = sampleKernel();
  KernelOp Op = addKernel(B, K, "original.cu");
  B.setInsertionPointToEnd(&Op.getBody().front());
  Variant Parent;
  Parent.Name = "p";
  for (const std::string &Name : V.Parents) {
    Parent.Name = Name;
    addVariant(B, Parent, K.Scalars.size());
  }
  addVariant(B, V, K.Scalars.size());
  auto Again = parseModule(C, printModule(*M), "test.mlir");
  if (!Again)
    return Again.takeError();
  KernelOp First = *(*Again)->getOps<KernelOp>().begin();
  for (VariantOp Each : First.getBody().getOps<VariantOp>())
    if (Each.getSymName() == V.Name)
      return toVariant(Each);
  return llvm::createStringError("the variant is gone");
}

TEST(Conversion, Kernel) {
  Kernel K = sampleKernel();
  K.Contract = {PrecisionContract::Kind::Relaxed, 1e-3, 1e-4};
  std::vector<BuildEntry> Builds = {{"clang-22", "sm_90", digestOf('4')},
                                    {"nvcc-13.0", "sm_90a", digestOf('5')}};
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  addKernel(B, K, "original.cu", Builds);
  Kernel Refused = sampleKernel();
  Refused.Name = "refused";
  Refused.Refusal = "it uses a \"texture\"; pass a pointer";
  addKernel(B, Refused, "");
  auto Again = parseModule(C, printModule(*M), "test.mlir");
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  std::vector<KernelOp> Ops;
  for (KernelOp Op : (*Again)->getOps<KernelOp>())
    Ops.push_back(Op);
  ASSERT_EQ(Ops.size(), 2u);
  EXPECT_EQ(Ops[0].getSource(), "original.cu");
  Kernel Read = toKernel(Ops[0]);
  EXPECT_EQ(Read.Name, K.Name);
  EXPECT_EQ(Read.Symbol, K.Symbol);
  EXPECT_EQ(Read.Digest, K.Digest);
  EXPECT_EQ(Read.File, K.File);
  EXPECT_EQ(Read.Line, K.Line);
  EXPECT_EQ(Read.Scalars, K.Scalars);
  EXPECT_EQ(Read.Pointers, K.Pointers);
  EXPECT_EQ(Read.Contract.K, K.Contract.K);
  EXPECT_EQ(Read.Contract.RelativeTolerance, 1e-3);
  EXPECT_EQ(Read.Contract.NormTolerance, 1e-4);
  ASSERT_EQ(Read.Params.size(), 3u);
  EXPECT_EQ(Read.Params[0].Type, "const float *");
  EXPECT_EQ(Read.Params[0].Pointee, "float");
  EXPECT_EQ(Read.Params[0].PointeeSize, 4u);
  EXPECT_TRUE(Read.Params[0].IsPointer && Read.Params[0].PointeeConst &&
              Read.Params[0].Restrict);
  EXPECT_FALSE(Read.Params[1].PointeeConst || Read.Params[1].Restrict);
  EXPECT_FALSE(Read.Params[2].IsPointer);
  EXPECT_EQ(Read.Params[2].Size, 16u);
  std::vector<BuildEntry> ReadBuilds = buildsOf(Ops[0]);
  ASSERT_EQ(ReadBuilds.size(), 2u);
  EXPECT_EQ(ReadBuilds[1].Compiler, "nvcc-13.0");
  EXPECT_EQ(ReadBuilds[1].Arch, "sm_90a");
  EXPECT_EQ(ReadBuilds[1].Digest, digestOf('5'));
  EXPECT_EQ(toKernel(Ops[1]).Refusal, Refused.Refusal);
}

TEST(Conversion, Workload) {
  Workload W;
  W.Name = "w0";
  W.Symbol = "k";
  W.Shape = {{4096, 2, 3}, {256, 1, 4}, 1024};
  W.Shape.Cluster = {4, 2, 1};
  W.Shape.Cooperative = true;
  W.After = {"", digestOf('9')};
  W.Args = {{0, 0, 0, 0, 0, 0, 0, 0}, {0x00, 0xff, 0x10, 0x7f}, {}};
  W.Pointers = {{0, 0, 1, 64}};
  W.Buffers = {{16, 256, digestOf('6'), "d/6.bin"},
               {uint64_t(1) << 40, 16, digestOf('7'), "d/7.bin"}};
  W.Globals = {{"_ZN1g5tableE", {64, 4, digestOf('8'), "d/8.bin"}}};
  W.Count = 7;
  W.Weight = 0.1 + 0.2; // Not exact in six digits.
  W.WeightBasis = Basis::Measured;
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  addWorkload(B, W);
  auto Again = parseModule(C, printModule(*M), "test.mlir");
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  Workload Read = toWorkload(*(*Again)->getOps<WorkloadOp>().begin());
  EXPECT_EQ(Read.Name, W.Name);
  EXPECT_EQ(Read.Symbol, W.Symbol);
  EXPECT_EQ(Read.Shape, W.Shape);
  EXPECT_EQ(Read.Args, W.Args);
  EXPECT_EQ(Read.After, W.After);
  ASSERT_EQ(Read.Pointers.size(), 1u);
  EXPECT_EQ(Read.Pointers[0].Buffer, 1u);
  EXPECT_EQ(Read.Pointers[0].BufferOffset, 64u);
  ASSERT_EQ(Read.Buffers.size(), 2u);
  EXPECT_EQ(Read.Buffers[1].Size, uint64_t(1) << 40);
  EXPECT_EQ(Read.Buffers[1].Alignment, 16u);
  EXPECT_EQ(Read.Buffers[1].File, "d/7.bin");
  ASSERT_EQ(Read.Globals.size(), 1u);
  EXPECT_EQ(Read.Globals[0].Symbol, "_ZN1g5tableE");
  EXPECT_EQ(Read.Globals[0].Content.Digest, digestOf('8'));
  EXPECT_EQ(Read.Count, 7u);
  EXPECT_EQ(Read.Weight, W.Weight);
  EXPECT_EQ(Read.WeightBasis, Basis::Measured);
}

TEST(Conversion, Variant) {
  Variant V = sampleVariant();
  V.Parents = {"g1_v0", "g1_v3"};
  V.Prompts = {"strategy-translator 2 b3:01", "kernel-revisor 1 b3:23"};
  auto Again = throughText(V);
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(Again->Parents, V.Parents);
  EXPECT_EQ(genomeText(Again->Genes), genomeText(V.Genes));
  EXPECT_FALSE(Again->Plan || Again->When);
  EXPECT_EQ(Again->Source, V.Source);
  EXPECT_EQ(Again->Digest, V.Digest);
  EXPECT_EQ(Again->Fitness, V.Fitness);
  EXPECT_EQ(Again->Outcome, V.Outcome);
  EXPECT_EQ(Again->Prompts, V.Prompts);
  ASSERT_EQ(Again->Evidence.size(), 1u);
  const Measurement &M = Again->Evidence[0];
  EXPECT_EQ(M.Device, "NVIDIA H200");
  EXPECT_EQ(M.Basis, Basis::Modelled);
  EXPECT_EQ(std::tuple(M.Ratio, M.Low, M.High), std::tuple(1.25, 1.2, 1.3));
  EXPECT_EQ(std::tuple(M.Gate, M.Checks), std::tuple(1u, 24u));
  EXPECT_EQ(std::tuple(M.Compiler, M.Arch, M.Digest),
            std::tuple("clang-22", "sm_90", digestOf('3')));
}

TEST(Conversion, PlanAndGuard) {
  Variant V = sampleVariant();
  Launch First, Second;
  First.Symbol = "a";
  First.Grid[0] =
      Expr::binary(Expr::Kind::CeilDiv, Expr::symbol(1), Expr::constant(1024));
  First.Block = {Expr::constant(128), Expr::constant(1), Expr::constant(1)};
  Second.Symbol = "b";
  Second.Shared = plus(Expr::dim(SharedBytes), Expr::constant(512));
  Second.Cluster = {Expr::constant(2), Expr::dim(GridY), Expr::constant(1)};
  TensorMapPlan Map;
  Map.Base = {1, 0};
  Map.Type = 7;
  Map.Extents = {Expr::symbol(0), Expr::symbol(1)};
  Map.Strides = {times(Expr::symbol(0), Expr::constant(4))};
  Map.Box = {32, 8};
  Map.Steps = {1, 2};
  Map.Swizzle = 3;
  Map.Promotion = 2;
  Map.FillNan = true;
  V.Plan = LaunchPlan{
      {First, Second}, {plus(Expr::dim(GridX), Expr::constant(8))}, {Map}};
  V.When =
      Guard{"sm_90",
            {{Expr::binary(Expr::Kind::Mod, Expr::symbol(0), Expr::constant(4)),
              true},
             {Expr::dim(BlockX), false}},
            {{{0, 0}, 16}, {{1, 0}, 8}},
            {{{0, 0},
              {1, 0},
              times(Expr::symbol(0), Expr::constant(4)),
              Expr::constant(64)}}};
  auto Again = throughText(V);
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(*Again->Plan, *V.Plan);
  EXPECT_EQ(*Again->When, *V.When);
}

TEST(Conversion, GuardWithoutConstraints) {
  Variant V = sampleVariant();
  V.When = Guard{"sm_90", {}, {}, {}};
  auto Again = throughText(V);
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(*Again->When, *V.When);
}

TEST(Conversion, ProductsOfLaunchDimensions) {
  Variant V = sampleVariant();
  Launch L;
  L.Symbol = "k";
  Expr Total = times(Expr::dim(GridX), Expr::dim(BlockX));
  L.Grid[0] = Expr::binary(Expr::Kind::CeilDiv, Total, Expr::constant(128));
  L.Grid[1] =
      Expr::binary(Expr::Kind::FloorDiv, Expr::symbol(1), Expr::dim(BlockY));
  V.Plan = LaunchPlan{{L}, {}, {}};
  V.When = Guard{
      "sm_90",
      {{Expr::binary(Expr::Kind::Mod, Total, Expr::dim(BlockY)), true},
       {times(Expr::dim(BlockX), times(Expr::dim(BlockY), Expr::dim(BlockZ))),
        false}},
      {},
      {{{0, 0}, {1, 0}, Total, times(Total, Expr::symbol(1))}}};
  auto Again = throughText(V);
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(*Again->Plan, *V.Plan);
  EXPECT_EQ(*Again->When, *V.When);
}

TEST(Conversion, Domains) {
  Variant V = sampleVariant();
  Expr Total = times(Expr::dim(GridX), Expr::dim(BlockX));
  DomainBox Box;
  Box.Ranges = {{Expr::symbol(0), {{1, 5}, {8, 8}}},
                {times(Total, Expr::symbol(1)), {{INT64_MIN, INT64_MAX}}}};
  Box.Residues = {{Expr::symbol(0), 32, {0, 1, 31}}, {Total, 7, {6}}};
  Box.Floats = {{{0, 4, FloatRef::Format::Half}, {{-1, 0}, {15360, 15360}}}};
  Box.Nulls = {{{0, 0}, false}, {{1, 0}, true}};
  Box.Alignments = {{{1, 0}, 4}};
  Box.Pairs = {{{0, 0}, {1, 0}, true, {}, {}},
               {{0, 0},
                {1, 0},
                false,
                {Expr::constant(-4), times(Expr::symbol(0), Expr::constant(4))},
                {Expr::constant(0), Total}}};
  DomainBox Compared;
  Compared.Seen = DomainBox::By::Gpu;
  V.Where = Domain{{Box, Compared}};
  auto Again = throughText(V);
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(*Again->Where, *V.Where);
  EXPECT_EQ(canonical(*V.Where, 2), *V.Where);
  // What MLIR simplifies is simplified before it is kept.
  Box.Ranges[0].E = times(Expr::constant(2), Expr::symbol(0));
  EXPECT_EQ(canonical({{Box}}, 2).Boxes[0].Ranges[0].E,
            times(Expr::symbol(0), Expr::constant(2)));
}

/// A random expression over the launch and two scalars.
Expr randomExpr(Random &R, unsigned Depth) {
  switch (Depth == 0 ? R.below(3) : R.below(8)) {
  case 0:
    return Expr::constant(int64_t(R.below(9)) - 2);
  case 1:
    return Expr::dim(R.below(NumLaunchDims));
  case 2:
    return Expr::symbol(R.below(2));
  default:
    break;
  }
  static const Expr::Kind Kinds[] = {Expr::Kind::Add, Expr::Kind::Mul,
                                     Expr::Kind::Mod, Expr::Kind::FloorDiv,
                                     Expr::Kind::CeilDiv};
  Expr::Kind K = Kinds[R.below(5)];
  Expr L = randomExpr(R, Depth - 1), RHS = randomExpr(R, Depth - 1);
  // Who divides by a constant divides by a positive one.
  if (K != Expr::Kind::Add && K != Expr::Kind::Mul &&
      RHS.K == Expr::Kind::Constant)
    RHS.Value = 1 + R.below(8);
  return Expr::binary(K, std::move(L), std::move(RHS));
}

/// MLIR brings expressions into a form of its own: equal values, wherever the
/// original has one; and what was read once is written and read unchanged.
TEST(Conversion, AnyExpression) {
  Random R(1, "conversion", 0);
  for (unsigned Round = 0; Round < 300; ++Round) {
    Variant V = sampleVariant();
    V.When = Guard{"sm_90", {{randomExpr(R, 3), false}}, {}, {}};
    auto Once = throughText(V);
    ASSERT_TRUE(bool(Once)) << V.When->Constraints[0].E.str() << ": "
                            << llvm::toString(Once.takeError());
    auto Twice = throughText(*Once);
    ASSERT_TRUE(bool(Twice)) << llvm::toString(Twice.takeError());
    if (Once->When->Constraints.empty())
      continue; // It was 0 >= 0.
    EXPECT_EQ(*Once->When, *Twice->When) << V.When->Constraints[0].E.str();
    for (unsigned Try = 0; Try < 10; ++Try) {
      Bindings B;
      for (int64_t &D : B.Dims)
        D = 1 + R.below(5);
      B.Symbols = {int64_t(R.below(20)) - 5, int64_t(R.below(9))};
      if (auto Value = evaluate(V.When->Constraints[0].E, B))
        EXPECT_EQ(evaluate(Once->When->Constraints[0].E, B), Value)
            << V.When->Constraints[0].E.str() << " became "
            << Once->When->Constraints[0].E.str();
    }
  }
}

/// What a build record holds is what comes out of the module's text.
TEST(Conversion, CanonicalDomains) {
  Random R(2, "canonical", 0);
  for (unsigned Round = 0; Round < 300; ++Round) {
    Variant V = sampleVariant();
    DomainBox Box;
    for (unsigned I = 0; I < 3; ++I)
      Box.Ranges.push_back({randomExpr(R, 4), {{1, 100}}});
    V.Where = canonical(Domain{{Box}}, 2);
    auto Once = throughText(V);
    ASSERT_TRUE(bool(Once)) << llvm::toString(Once.takeError());
    ASSERT_TRUE(Once->Where.has_value());
    EXPECT_TRUE(*Once->Where == *V.Where);
  }
}

/// The dialect's words are those of the plain data, in the same order.
TEST(Conversion, WordsAgree) {
  auto Words = [](auto First, size_t Count) {
    std::vector<llvm::StringRef> All;
    for (size_t I = 0; I < Count; ++I)
      All.push_back(stringifyEnum(static_cast<decltype(First)>(I)));
    EXPECT_EQ(stringifyEnum(static_cast<decltype(First)>(Count)), "");
    return All;
  };
  EXPECT_EQ(Words(TensorType(), tensorTypeWords().size()),
            tensorTypeWords().vec());
  EXPECT_EQ(Words(TensorSwizzle(), tensorSwizzleWords().size()),
            tensorSwizzleWords().vec());
  EXPECT_EQ(Words(TensorPromotion(), tensorPromotionWords().size()),
            tensorPromotionWords().vec());
  EXPECT_EQ(Words(BasisKind(), 4),
            (std::vector<llvm::StringRef>{
                wordOf(Basis::Static), wordOf(Basis::Modelled),
                wordOf(Basis::Measured), wordOf(Basis::Declared)}));
}

} // namespace
