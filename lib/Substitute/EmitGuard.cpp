//===- EmitGuard.cpp - Plans and guards as IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/EmitGuard.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace cupilot {

namespace {
class Emitter {
public:
  Emitter(IRBuilderBase &B, ArrayRef<ScalarRef> Scalars,
          const LaunchValues &Values)
      : B(B), Scalars(Scalars), Values(Values), Ok(B.getTrue()) {}

  Value *expr(const Expr &E);
  void guard(const Guard &G);
  EmittedShape shape(const Launch &L);
  EmittedTensorMap tensorMap(const TensorMapPlan &M);
  Value *between(Value *V, int64_t Least, int64_t Most) {
    require(B.CreateICmpSGE(V, B.getInt64(Least)));
    require(B.CreateICmpSLE(V, B.getInt64(Most)));
    return V;
  }
  void require(Value *Condition) { Ok = B.CreateAnd(Ok, Condition); }
  Value *pointer(const PointerRef &P) {
    return load(B.getInt64Ty(), P.Param, P.Offset);
  }
  Value *ok() const { return Ok; }

private:
  Value *load(Type *T, unsigned Param, unsigned Offset) {
    Value *Slot =
        B.CreateConstInBoundsGEP1_64(B.getPtrTy(), Values.Args, Param);
    Value *Address = B.CreateLoad(B.getPtrTy(), Slot);
    return B.CreateAlignedLoad(
        T, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Address, Offset),
        Align(1));
  }
  Value *checked(Intrinsic::ID Id, Value *L, Value *R) {
    Value *Pair = B.CreateBinaryIntrinsic(Id, L, R);
    require(B.CreateNot(B.CreateExtractValue(Pair, 1)));
    return B.CreateExtractValue(Pair, 0);
  }

  IRBuilderBase &B;
  ArrayRef<ScalarRef> Scalars;
  const LaunchValues &Values;
  Value *Ok;
};
} // namespace

Value *Emitter::expr(const Expr &E) {
  switch (E.K) {
  case Expr::Kind::Constant:
    return B.getInt64(E.Value);
  case Expr::Kind::Dim:
    if (E.Value >= 0 && E.Value < NumLaunchDims)
      return Values.Dims[E.Value];
    break;
  case Expr::Kind::Symbol:
    if (E.Value >= 0 && static_cast<size_t>(E.Value) < Scalars.size()) {
      const ScalarRef &S = Scalars[E.Value];
      Value *Raw = load(B.getIntNTy(S.Bits), S.Param, S.Offset);
      return S.Signed ? B.CreateSExt(Raw, B.getInt64Ty())
                      : B.CreateZExt(Raw, B.getInt64Ty());
    }
    break;
  case Expr::Kind::Add:
  case Expr::Kind::Mul: {
    Value *L = expr(E.Operands[0]), *R = expr(E.Operands[1]);
    return checked(E.K == Expr::Kind::Add ? Intrinsic::sadd_with_overflow
                                          : Intrinsic::smul_with_overflow,
                   L, R);
  }
  case Expr::Kind::Mod:
  case Expr::Kind::FloorDiv:
  case Expr::Kind::CeilDiv: {
    Value *L = expr(E.Operands[0]), *R = expr(E.Operands[1]);
    Value *Positive = B.CreateICmpSGT(R, B.getInt64(0));
    require(Positive);
    // A division by zero must not happen even when its result is not used.
    R = B.CreateSelect(Positive, R, B.getInt64(1));
    Value *Quotient = B.CreateSDiv(L, R), *Rest = B.CreateSRem(L, R);
    Value *Negative = B.CreateICmpSLT(Rest, B.getInt64(0));
    Value *Modulus = B.CreateSelect(Negative, B.CreateAdd(Rest, R), Rest);
    if (E.K == Expr::Kind::Mod)
      return Modulus;
    Value *Floor =
        B.CreateSub(Quotient, B.CreateZExt(Negative, B.getInt64Ty()));
    if (E.K == Expr::Kind::FloorDiv)
      return Floor;
    return B.CreateAdd(
        Floor,
        B.CreateZExt(B.CreateICmpNE(Modulus, B.getInt64(0)), B.getInt64Ty()));
  }
  }
  require(
      B.getFalse()); // An index out of range: evaluate() has no value either.
  return B.getInt64(0);
}

void Emitter::guard(const Guard &G) {
  Value *Zero = B.getInt64(0);
  for (const Constraint &C : G.Constraints) {
    Value *V = expr(C.E);
    require(C.IsEq ? B.CreateICmpEQ(V, Zero) : B.CreateICmpSGE(V, Zero));
  }
  for (const Alignment &A : G.Alignments)
    require(B.CreateICmpEQ(
        B.CreateAnd(pointer(A.Pointer), B.getInt64(A.Bytes - 1)), Zero));
  for (const Disjoint &D : G.Disjoints) {
    Value *PA = pointer(D.A), *PB = pointer(D.B);
    Value *EA = expr(D.ExtentA), *EB = expr(D.ExtentB);
    require(B.CreateICmpSGE(EA, Zero));
    require(B.CreateICmpSGE(EB, Zero));
    Value *EndA = B.CreateAdd(PA, EA), *EndB = B.CreateAdd(PB, EB);
    require(B.CreateICmpUGE(EndA, PA));
    require(B.CreateICmpUGE(EndB, PB));
    require(B.CreateOr(B.CreateICmpULE(EndA, PB), B.CreateICmpULE(EndB, PA)));
  }
}

EmittedShape Emitter::shape(const Launch &L) {
  // CUDA C++ Programming Guide, "Technical Specifications per Compute
  // Capability".
  static constexpr int64_t MaxGrid[3] = {2147483647, 65535, 65535};
  static constexpr int64_t MaxBlock[3] = {1024, 1024, 64};
  EmittedShape Shape;
  Value *Threads = B.getInt64(1), *Together = B.getInt64(1);
  for (unsigned I = 0; I < 3; ++I) {
    Shape.Grid[I] = between(expr(L.Grid[I]), 1, MaxGrid[I]);
    Shape.Block[I] = between(expr(L.Block[I]), 1, MaxBlock[I]);
    Threads = B.CreateMul(Threads, Shape.Block[I]);
    if (!L.Cluster)
      continue;
    Value *C = between(expr((*L.Cluster)[I]), 1, MostClusterBlocks);
    // What cannot be carried out must not divide by zero either.
    Value *Divisor =
        B.CreateSelect(B.CreateICmpSGT(C, B.getInt64(0)), C, B.getInt64(1));
    require(
        B.CreateICmpEQ(B.CreateURem(Shape.Grid[I], Divisor), B.getInt64(0)));
    Shape.Cluster[I] = C;
    Together = B.CreateMul(Together, C);
  }
  require(B.CreateICmpSLE(Threads, B.getInt64(1024)));
  require(B.CreateICmpSLE(Together, B.getInt64(MostClusterBlocks)));
  Shape.Shared = expr(L.Shared);
  require(B.CreateICmpSGE(Shape.Shared, B.getInt64(0)));
  return Shape;
}

EmittedTensorMap Emitter::tensorMap(const TensorMapPlan &M) {
  EmittedTensorMap Map;
  Map.Base = pointer(M.Base);
  for (const Expr &E : M.Extents)
    Map.Extents.push_back(between(expr(E), 1, int64_t(1) << 32));
  for (const Expr &E : M.Strides) {
    Value *V = between(expr(E), 16, (int64_t(1) << 40) - 1);
    require(B.CreateICmpEQ(B.CreateAnd(V, 15), B.getInt64(0)));
    Map.Strides.push_back(V);
  }
  return Map;
}

Value *emitGuard(IRBuilderBase &B, const Guard &G, const LaunchPlan &Plan,
                 ArrayRef<ScalarRef> Scalars, const LaunchValues &Values,
                 EmittedPlan &Out) {
  Emitter E(B, Scalars, Values);
  E.guard(G);
  for (const Launch &L : Plan.Launches)
    Out.Launches.push_back(E.shape(L));
  for (const Expr &Size : Plan.Scratch)
    Out.Scratch.push_back(E.between(E.expr(Size), 1, MostScratch));
  for (const TensorMapPlan &M : Plan.TensorMaps)
    Out.TensorMaps.push_back(E.tensorMap(M));
  return E.ok();
}

} // namespace cupilot
