//===- EmitGuardTest.cpp - Emitted guards agree with admits() -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gate decides by admits() and planShape(), the built program by the IR of
// emitGuard(): random guards, plans and launches go through both.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/EmitGuard.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

using namespace cupilot;
using namespace llvm;
using K = Expr::Kind;

namespace {
/// bool f(const int64_t Dims[7], void **Args, int64_t Shape[7]).
using Emitted = bool (*)(const int64_t *, void **, int64_t *);

/// A guard and a launch of a plan over a kernel with these arguments.
struct Case {
  Guard When;
  Launch Plan;
  std::vector<ScalarRef> Scalars;
  std::vector<unsigned> ArgBytes;
};

class Random {
public:
  explicit Random(uint64_t Seed) : Engine(Seed) {}
  uint64_t below(uint64_t N) { return Engine() % N; }
  bool chance(unsigned Percent) { return below(100) < Percent; }
  /// Small, special or any, of either sign.
  int64_t number() {
    static const int64_t Special[] = {0,
                                      1,
                                      -1,
                                      2,
                                      63,
                                      64,
                                      65,
                                      1023,
                                      1024,
                                      1025,
                                      65535,
                                      65536,
                                      INT32_MAX,
                                      INT32_MIN,
                                      1ll << 31,
                                      1ll << 32,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT64_MAX - 1,
                                      INT64_MIN + 1,
                                      1ll << 62};
    switch (below(4)) {
    case 0:
      return Special[below(std::size(Special))];
    case 1:
      return static_cast<int64_t>(Engine());
    default:
      return static_cast<int64_t>(below(200)) - 40;
    }
  }
  Expr leaf(size_t Scalars) {
    switch (below(3)) {
    case 0:
      return Expr::constant(number());
    case 1: // Sometimes one that is not there.
      return Expr::dim(below(chance(3) ? 12 : NumLaunchDims));
    default:
      return Expr::symbol(below(Scalars + chance(3)));
    }
  }
  Expr expr(size_t Scalars, unsigned Depth) {
    if (Depth == 0 || chance(30))
      return leaf(Scalars);
    static const K Kinds[] = {K::Add, K::Mul, K::Mod, K::FloorDiv, K::CeilDiv};
    return Expr::binary(Kinds[below(5)], expr(Scalars, Depth - 1),
                        expr(Scalars, Depth - 1));
  }
  /// What real plans hold: a dimension, or one covered by blocks.
  Expr dimension(unsigned Dim, size_t Scalars) {
    switch (below(4)) {
    case 0:
      return Expr::constant(static_cast<int64_t>(below(70)));
    case 1:
      return Expr::binary(
          K::CeilDiv,
          Expr::binary(K::Mul, Expr::dim(Dim), Expr::dim(Dim + BlockX - GridX)),
          Expr::constant(static_cast<int64_t>(below(300))));
    case 2:
      return expr(Scalars, 2);
    default:
      return Expr::dim(Dim);
    }
  }
  Case makeCase() {
    Case C;
    C.ArgBytes = {8, 8, 4, 8, 16, 2};
    static const ScalarRef All[] = {{2, 0, 32, true},  {3, 0, 64, true},
                                    {4, 0, 32, false}, {4, 4, 8, true},
                                    {4, 5, 8, false},  {4, 8, 64, false},
                                    {5, 0, 16, true},  {4, 6, 16, false}};
    for (const ScalarRef &S : All)
      if (chance(60))
        C.Scalars.push_back(S);
    size_t N = C.Scalars.size() + (C.Scalars.empty() ? 1 : 0);
    for (unsigned I = below(3); I > 0; --I)
      C.When.Constraints.push_back({expr(N, 3), chance(30)});
    for (unsigned I = below(3); I > 0; --I)
      C.When.Alignments.push_back(
          {{unsigned(below(2)), 0}, 1u << below(chance(10) ? 32 : 6)});
    for (unsigned I = below(2); I > 0; --I)
      C.When.Disjoints.push_back({{0, 0},
                                  {chance(50) ? 1u : 4u, chance(50) ? 0u : 8u},
                                  expr(N, 2),
                                  expr(N, 2)});
    if (!C.When.Disjoints.empty() && C.When.Disjoints[0].B.Param == 1)
      C.When.Disjoints[0].B.Offset = 0;
    for (unsigned I = 0; I < 3; ++I) {
      C.Plan.Grid[I] = dimension(GridX + I, N);
      if (chance(50))
        C.Plan.Block[I] = Expr::constant(static_cast<int64_t>(below(33)));
    }
    if (chance(40))
      C.Plan.Shared = expr(N, 2);
    return C;
  }
  LaunchShape shape() {
    LaunchShape S;
    // What reaches the stub is 32 bits wide, and not yet checked by CUDA.
    for (unsigned I = 0; I < 3; ++I) {
      S.Grid[I] = chance(80) ? 1 + below(100) : uint32_t(number());
      S.Block[I] = chance(80) ? 1 + below(I ? 4 : 256) : uint32_t(number());
    }
    S.Shared = chance(80) ? below(4096) : uint64_t(number());
    return S;
  }
  std::vector<std::vector<uint8_t>> arguments(const Case &C) {
    std::vector<std::vector<uint8_t>> Args;
    for (unsigned Bytes : C.ArgBytes) {
      std::vector<uint8_t> Arg(Bytes);
      for (unsigned At = 0; At < Bytes; At += 8) {
        uint64_t Value = uint64_t(number());
        std::memcpy(Arg.data() + At, &Value, std::min(8u, Bytes - At));
      }
      Args.push_back(std::move(Arg));
    }
    // Mostly buffers that lie near each other.
    if (chance(80)) {
      uint64_t Base = 0x7f0000000000 + below(64) * 4;
      uint64_t Other = Base + (below(200) - 100) * 4;
      std::memcpy(Args[0].data(), &Base, 8);
      std::memcpy(Args[1].data(), &Other, 8);
      if (chance(50))
        std::memcpy(Args[4].data() + 8, &Other, 8);
    }
    return Args;
  }

private:
  std::mt19937_64 Engine;
};

/// Compiles the guards of many cases at once.
class Compiled {
public:
  explicit Compiled(ArrayRef<Case> Cases) {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    Jit = cantFail(orc::LLJITBuilder().create());
    auto Context = std::make_unique<LLVMContext>();
    auto M = std::make_unique<Module>("guards", *Context);
    M->setDataLayout(Jit->getDataLayout());
    for (size_t I = 0; I < Cases.size(); ++I)
      emit(*M, Cases[I], I);
    EXPECT_FALSE(verifyModule(*M, &errs()));
    cantFail(Jit->addIRModule(
        orc::ThreadSafeModule(std::move(M), std::move(Context))));
  }
  Emitted at(size_t I) {
    return cantFail(Jit->lookup(("f" + Twine(I)).str())).toPtr<Emitted>();
  }

private:
  static void emit(Module &M, const Case &C, size_t I) {
    IRBuilder<> B(M.getContext());
    auto *Type = FunctionType::get(
        B.getInt1Ty(), {B.getPtrTy(), B.getPtrTy(), B.getPtrTy()}, false);
    auto *F =
        Function::Create(Type, Function::ExternalLinkage, "f" + Twine(I), M);
    F->addRetAttr(Attribute::ZExt); // As C++ returns a bool.
    B.SetInsertPoint(BasicBlock::Create(M.getContext(), "", F));
    LaunchValues Values;
    for (unsigned D = 0; D < NumLaunchDims; ++D)
      Values.Dims[D] =
          B.CreateLoad(B.getInt64Ty(),
                       B.CreateConstGEP1_64(B.getInt64Ty(), F->getArg(0), D));
    Values.Args = F->getArg(1);
    EmittedShape Shape;
    Value *Ok = emitGuard(B, C.When, C.Plan, C.Scalars, Values, Shape);
    Value *All[] = {Shape.Grid[0],  Shape.Grid[1],  Shape.Grid[2],
                    Shape.Block[0], Shape.Block[1], Shape.Block[2],
                    Shape.Shared};
    for (auto [D, V] : enumerate(All))
      B.CreateStore(V, B.CreateConstGEP1_64(B.getInt64Ty(), F->getArg(2), D));
    B.CreateRet(Ok);
  }
  std::unique_ptr<orc::LLJIT> Jit;
};

struct Answer {
  bool Ok = false;
  LaunchShape Shape;
};
} // namespace

static Answer emitted(Emitted F, const LaunchShape &Shape,
                      std::vector<std::vector<uint8_t>> Args) {
  int64_t Dims[NumLaunchDims], Result[7];
  for (unsigned I = 0; I < 3; ++I) {
    Dims[GridX + I] = int64_t(Shape.Grid[I]);
    Dims[BlockX + I] = int64_t(Shape.Block[I]);
  }
  Dims[SharedBytes] = int64_t(Shape.Shared);
  std::vector<void *> Pointers;
  for (std::vector<uint8_t> &Arg : Args)
    Pointers.push_back(Arg.data());
  Answer A;
  A.Ok = F(Dims, Pointers.data(), Result);
  for (unsigned I = 0; I < 3; ++I) {
    A.Shape.Grid[I] = uint64_t(Result[I]);
    A.Shape.Block[I] = uint64_t(Result[3 + I]);
  }
  A.Shape.Shared = uint64_t(Result[6]);
  return A;
}

/// Compares both for one launch; returns what they agree on.
static std::optional<bool> compare(const Case &C, Emitted F,
                                   const LaunchShape &Shape,
                                   std::vector<std::vector<uint8_t>> Args) {
  Bindings B = cantFail(bindLaunch(Shape, C.Scalars, Args));
  std::optional<LaunchShape> Planned = planShape(C.Plan, B);
  bool Expected = admits(C.When, B, Args) && Planned;
  Answer A = emitted(F, Shape, Args);
  if (A.Ok == Expected && (!Expected || A.Shape == *Planned))
    return Expected;
  std::string What = formatv("guard {0}\nplan {1}\n", toJSON(C.When),
                             toJSON(LaunchPlan{{C.Plan}}))
                         .str();
  for (int64_t D : B.Dims)
    What += std::to_string(D) + " ";
  for (int64_t S : B.Symbols)
    What += "; s " + std::to_string(S);
  ADD_FAILURE() << "admits " << Expected << ", emitted " << A.Ok
                << (Expected ? ", another shape\n" : "\n") << What;
  return std::nullopt;
}

TEST(EmitGuard, AgreesWithAdmitsAndPlanShape) {
  Random R(2024);
  std::vector<Case> Cases;
  for (unsigned I = 0; I < 500; ++I)
    Cases.push_back(R.makeCase());
  Compiled Code(Cases);
  unsigned Admitted = 0, Refused = 0;
  for (size_t I = 0; I < Cases.size(); ++I)
    for (unsigned Launch = 0; Launch < 60; ++Launch) {
      std::optional<bool> Both =
          compare(Cases[I], Code.at(I), R.shape(), R.arguments(Cases[I]));
      ASSERT_TRUE(Both) << "case " << I;
      ++(*Both ? Admitted : Refused);
    }
  // A test in which nearly all is refused would compare little.
  EXPECT_GT(Admitted, 1000u);
  EXPECT_GT(Refused, 1000u);
}

/// One case with the scalar argument 3 as s0, at the launch <<<8, 128>>>.
static std::optional<bool> once(Case C, int64_t Scalar, LaunchShape Shape) {
  C.ArgBytes = {8, 8, 4, 8, 16, 2};
  C.Scalars = {{3, 0, 64, true}};
  std::vector<std::vector<uint8_t>> Args;
  for (unsigned Bytes : C.ArgBytes)
    Args.emplace_back(Bytes);
  std::memcpy(Args[3].data(), &Scalar, 8);
  Compiled Code(C);
  return compare(C, Code.at(0), Shape, Args);
}

TEST(EmitGuard, EdgesOfArithmetic) {
  const int64_t Most = INT64_MAX, Least = INT64_MIN;
  struct Edge {
    K Kind;
    int64_t Right;
    int64_t Left;
    bool HasValue;
  };
  for (const Edge &E :
       std::initializer_list<Edge>{{K::Add, 1, Most, false},
                                   {K::Add, -1, Least, false},
                                   {K::Add, -1, Most, true},
                                   {K::Mul, 2, Most, false},
                                   {K::Mul, -1, Least, false},
                                   {K::Mul, -1, Most, true},
                                   {K::Mod, 0, 5, false},
                                   {K::Mod, -3, 5, false},
                                   {K::Mod, 3, Least, true},
                                   {K::Mod, Most, Least, true},
                                   {K::Mod, Least, 1, false},
                                   {K::FloorDiv, 0, 1, false},
                                   {K::FloorDiv, -1, Least, false},
                                   {K::FloorDiv, 1, Least, true},
                                   {K::FloorDiv, 7, Least, true},
                                   {K::CeilDiv, 1, Most, true},
                                   {K::CeilDiv, 7, Most, true},
                                   {K::CeilDiv, 7, Least, true},
                                   {K::CeilDiv, 0, 0, false}}) {
    // Zero times x is zero where x has a value.
    Expr X = Expr::binary(E.Kind, Expr::symbol(0), Expr::constant(E.Right));
    Case Zero;
    Zero.When.Constraints = {
        {Expr::binary(K::Mul, X, Expr::constant(0)), true}};
    std::optional<bool> Holds = once(Zero, E.Left, {{8, 1, 1}, {128, 1, 1}, 0});
    ASSERT_TRUE(Holds);
    EXPECT_EQ(*Holds, E.HasValue)
        << Zero.When.Constraints[0].E.str() << " of " << E.Left;
  }
}

TEST(EmitGuard, ShapesThatCudaRefuses) {
  struct Launched {
    LaunchShape Shape;
    bool Legal;
  };
  for (const Launched &L : std::initializer_list<Launched>{
           {{{1, 1, 1}, {1, 1, 1}, 0}, true},
           {{{0, 1, 1}, {1, 1, 1}, 0}, false},
           {{{1, 1, 1}, {0, 1, 1}, 0}, false},
           {{{2147483647, 65535, 65535}, {1024, 1, 1}, 0}, true},
           {{{2147483648, 1, 1}, {1, 1, 1}, 0}, false},
           {{{1, 65536, 1}, {1, 1, 1}, 0}, false},
           {{{1, 1, 65536}, {1, 1, 1}, 0}, false},
           {{{1, 1, 1}, {1025, 1, 1}, 0}, false},
           {{{1, 1, 1}, {1, 1024, 1}, 0}, true},
           {{{1, 1, 1}, {1, 1, 64}, 0}, true},
           {{{1, 1, 1}, {1, 1, 65}, 0}, false},
           {{{1, 1, 1}, {32, 33, 1}, 0}, false},
           {{{1, 1, 1}, {16, 8, 8}, 0}, true},
           {{{1, 1, 1}, {1, 1, 1}, uint64_t(INT64_MAX)}, true},
           {{{1, 1, 1}, {1, 1, 1}, uint64_t(INT64_MIN)}, false}}) {
    std::optional<bool> Both = once(Case(), 0, L.Shape);
    ASSERT_TRUE(Both);
    EXPECT_EQ(*Both, L.Legal);
  }
}

TEST(EmitGuard, BuffersThatTouchAndOverlap) {
  Case C;
  C.ArgBytes = {8, 8, 8};
  C.Scalars = {{2, 0, 64, true}};
  C.When.Disjoints = {{{0, 0}, {1, 0}, Expr::symbol(0), Expr::symbol(0)}};
  C.When.Alignments = {{{0, 0}, 4}};
  Compiled Code(C);
  auto Holds = [&](uint64_t A, uint64_t B, int64_t Bytes) {
    std::vector<std::vector<uint8_t>> Args(3, std::vector<uint8_t>(8));
    std::memcpy(Args[0].data(), &A, 8);
    std::memcpy(Args[1].data(), &B, 8);
    std::memcpy(Args[2].data(), &Bytes, 8);
    return compare(C, Code.at(0), {{1, 1, 1}, {32, 1, 1}, 0}, Args);
  };
  EXPECT_EQ(Holds(4096, 4160, 64), true);
  EXPECT_EQ(Holds(4160, 4096, 64), true);
  EXPECT_EQ(Holds(4096, 4160, 65), false);
  EXPECT_EQ(Holds(4160, 4096, 65), false);
  EXPECT_EQ(Holds(4096, 4096, 1), false);
  EXPECT_EQ(Holds(4096, 4096, 0), true);
  EXPECT_EQ(Holds(4096, 8192, -1), false);
  EXPECT_EQ(Holds(4098, 8192, 4), false);
  EXPECT_EQ(Holds(~7ull & ~3ull, 4096, 64), false); // Its end wraps around.
  EXPECT_EQ(Holds(4096, ~7ull, INT64_MAX), false);
}
