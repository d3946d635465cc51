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

#include "EmitGuardCase.h"

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
  EXPECT_GT(Admitted, 300u);
  EXPECT_GT(Refused, 1000u);
}

/// The value of \p E in 128 bits; nothing where 64 do not hold it, at any
/// place. Written anew: it shares no arithmetic with the code under test.
static std::optional<__int128> exactly(const Expr &E, const Bindings &B) {
  auto Fits = [](__int128 V) -> std::optional<__int128> {
    if (V > INT64_MAX || V < INT64_MIN)
      return std::nullopt;
    return V;
  };
  if (E.K == K::Constant)
    return E.Value;
  if (E.K == K::Dim)
    return E.Value >= 0 && E.Value < NumLaunchDims
               ? std::optional<__int128>(B.Dims[E.Value])
               : std::nullopt;
  if (E.K == K::Symbol)
    return E.Value >= 0 && size_t(E.Value) < B.Symbols.size()
               ? std::optional<__int128>(B.Symbols[E.Value])
               : std::nullopt;
  std::optional<__int128> L = exactly(E.Operands[0], B),
                          R = exactly(E.Operands[1], B);
  if (!L || !R)
    return std::nullopt;
  if (E.K == K::Add)
    return Fits(*L + *R);
  if (E.K == K::Mul)
    return Fits(*L * *R);
  if (*R <= 0)
    return std::nullopt;
  // The largest multiple of R that is not above L.
  __int128 Floor = *L / *R;
  while (Floor * *R > *L)
    --Floor;
  while ((Floor + 1) * *R <= *L)
    ++Floor;
  if (E.K == K::Mod)
    return *L - Floor * *R;
  return Floor + (E.K == K::CeilDiv && Floor * *R != *L);
}

TEST(EmitGuard, AgreesWithExactArithmetic) {
  Random R(77);
  std::vector<Case> Cases;
  for (unsigned I = 0; I < 400; ++I) {
    Case C;
    C.ArgBytes = {8, 8, 4, 8, 16, 2};
    C.Scalars = {{2, 0, 32, true},
                 {3, 0, 64, true},
                 {4, 0, 64, false},
                 {4, 8, 16, true},
                 {5, 0, 8, false}};
    for (unsigned J = 1 + R.below(3); J > 0; --J)
      C.When.Constraints.push_back({R.expr(C.Scalars.size(), 3), R.chance(20)});
    Cases.push_back(std::move(C));
  }
  Compiled Code(Cases);
  unsigned Holds = 0, Overflows = 0;
  for (size_t I = 0; I < Cases.size(); ++I)
    for (unsigned Launch = 0; Launch < 60; ++Launch) {
      LaunchShape Shape{{1 + R.below(100), 1, 1}, {1 + R.below(256), 1, 1}, 0};
      std::vector<std::vector<uint8_t>> Args = R.arguments(Cases[I]);
      Bindings B = cantFail(bindLaunch(Shape, Cases[I].Scalars, Args));
      bool Right = true;
      for (const Constraint &C : Cases[I].When.Constraints) {
        std::optional<__int128> V = exactly(C.E, B);
        Overflows += !V;
        Right &= V && (C.IsEq ? *V == 0 : *V >= 0);
      }
      ASSERT_EQ(emitted(Code.at(I), Shape, Args).Ok, Right)
          << "case " << I << ": "
          << formatv("{0}", toJSON(Cases[I].When)).str();
      ASSERT_EQ(admits(Cases[I].When, B, Args), Right) << "case " << I;
      Holds += Right;
    }
  EXPECT_GT(Holds, 1000u);
  EXPECT_GT(Overflows, 1000u);
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
