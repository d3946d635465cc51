//===- EmitGuardCase.h - Random guards and plans, compiled -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_SUBSTITUTE_EMITGUARDCASE_H
#define CUPILOT_TEST_SUBSTITUTE_EMITGUARDCASE_H

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
/// bool f(const int64_t Dims[7], void **Args, int64_t Out[]).
using Emitted = bool (*)(const int64_t *, void **, int64_t *);

/// A guard and a launch of a plan over a kernel with these arguments.
struct Case {
  Guard When;
  Launch Plan;
  std::vector<Launch> Later; ///< Further launches.
  std::vector<Expr> Scratch;
  std::vector<TensorMapPlan> Maps;
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
    if (chance(30))
      C.Plan.Cluster = {number(N), Expr::constant(1), Expr::constant(1)};
    for (unsigned I = chance(30) ? 1 + below(3) : 0; I > 0; --I)
      C.Later.push_back(C.Plan);
    for (unsigned I = chance(30) ? 1 + below(3) : 0; I > 0; --I)
      C.Scratch.push_back(number(N));
    if (chance(30)) {
      TensorMapPlan M;
      M.Extents = {number(N), number(N)};
      M.Strides = {Expr::binary(K::Mul, number(N), Expr::constant(16))};
      M.Box = {16, 8};
      C.Maps.push_back(std::move(M));
    }
    return C;
  }
  /// A small one most of the time.
  Expr number(size_t Scalars) {
    if (chance(60))
      return Expr::constant(static_cast<int64_t>(below(9)));
    return chance(50) ? Expr::dim(GridX) : expr(Scalars, 1);
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

LaunchPlan planOf(const Case &C) {
  LaunchPlan Plan{{C.Plan}, C.Scratch, C.Maps};
  append_range(Plan.Launches, C.Later);
  return Plan;
}

/// All numbers of a plan, in one order for both ways to get at them.
std::vector<Value *> valuesOf(const EmittedPlan &Plan) {
  std::vector<Value *> All;
  for (const EmittedShape &S : Plan.Launches) {
    append_range(All, S.Grid);
    append_range(All, S.Block);
    All.push_back(S.Shared);
    if (S.Cluster[0])
      append_range(All, S.Cluster);
  }
  append_range(All, Plan.Scratch);
  for (const EmittedTensorMap &M : Plan.TensorMaps) {
    append_range(All, M.Extents);
    append_range(All, M.Strides);
  }
  return All;
}

/// The same as numbers; nothing when the plan cannot be carried out.
std::optional<std::vector<int64_t>> numbersOf(const LaunchPlan &Plan,
                                              const Bindings &B) {
  std::vector<int64_t> All;
  for (const Launch &L : Plan.Launches) {
    std::optional<LaunchShape> S = planShape(L, B);
    if (!S)
      return std::nullopt;
    append_range(All, S->Grid);
    append_range(All, S->Block);
    All.push_back(int64_t(S->Shared));
    if (L.Cluster)
      append_range(All, S->Cluster);
  }
  for (const Expr &Size : Plan.Scratch) {
    std::optional<uint64_t> Bytes = scratchBytes(Size, B);
    if (!Bytes)
      return std::nullopt;
    All.push_back(int64_t(*Bytes));
  }
  for (const TensorMapPlan &M : Plan.TensorMaps) {
    std::optional<TensorMapValues> V = tensorValues(M, B);
    if (!V)
      return std::nullopt;
    append_range(All, V->Extents);
    append_range(All, V->Strides);
  }
  return All;
}

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
    EmittedPlan Plan;
    Value *Ok =
        emitGuard(B, C.When, nullptr, planOf(C), C.Scalars, Values, Plan);
    for (auto [D, V] : enumerate(valuesOf(Plan)))
      B.CreateStore(V, B.CreateConstGEP1_64(B.getInt64Ty(), F->getArg(2), D));
    B.CreateRet(Ok);
  }
  std::unique_ptr<orc::LLJIT> Jit;
};

struct Answer {
  bool Ok = false;
  std::vector<int64_t> Numbers;
};
} // namespace

static Answer emitted(Emitted F, const LaunchShape &Shape,
                      std::vector<std::vector<uint8_t>> Args) {
  int64_t Dims[NumLaunchDims];
  for (unsigned I = 0; I < 3; ++I) {
    Dims[GridX + I] = int64_t(Shape.Grid[I]);
    Dims[BlockX + I] = int64_t(Shape.Block[I]);
  }
  Dims[SharedBytes] = int64_t(Shape.Shared);
  std::vector<void *> Pointers;
  for (std::vector<uint8_t> &Arg : Args)
    Pointers.push_back(Arg.data());
  Answer A;
  A.Numbers.resize(128);
  A.Ok = F(Dims, Pointers.data(), A.Numbers.data());
  return A;
}

/// Compares both for one launch; returns what they agree on.
static std::optional<bool> compare(const Case &C, Emitted F,
                                   const LaunchShape &Shape,
                                   std::vector<std::vector<uint8_t>> Args) {
  Bindings B = cantFail(bindLaunch(Shape, C.Scalars, Args));
  std::optional<std::vector<int64_t>> Planned = numbersOf(planOf(C), B);
  bool Expected = admits(C.When, B, Args) && Planned;
  Answer A = emitted(F, Shape, Args);
  if (Expected)
    A.Numbers.resize(Planned->size());
  if (A.Ok == Expected && (!Expected || A.Numbers == *Planned))
    return Expected;
  std::string What =
      formatv("guard {0}\nplan {1}\n", toJSON(C.When), toJSON(planOf(C))).str();
  for (int64_t D : B.Dims)
    What += std::to_string(D) + " ";
  for (int64_t S : B.Symbols)
    What += "; s " + std::to_string(S);
  ADD_FAILURE() << "admits " << Expected << ", emitted " << A.Ok
                << (Expected ? ", other numbers\n" : "\n") << What;
  return std::nullopt;
}

#endif // CUPILOT_TEST_SUBSTITUTE_EMITGUARDCASE_H
