//===- EmitGuard.cpp - Plans and guards as IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/EmitGuard.h"
#include "EmitDomain.h"
#include "cupilot/Portable/LaunchLimits.h"

using namespace llvm;

namespace cupilot {

namespace {
class Emitter {
public:
  Emitter(IRBuilderBase &B, ArrayRef<ScalarRef> Scalars,
          const LaunchValues &Values)
      : B(B), Exprs(B, Scalars, Values), Ok(B.getTrue()) {}

  void guard(const Guard &G);
  EmittedShape shape(const Launch &L);
  EmittedTensorMap tensorMap(const TensorMapPlan &M);
  Value *expr(const Expr &E) {
    ExprEmitter::Number N = Exprs.expr(E);
    if (N.Right)
      require(N.Right);
    return N.V;
  }
  Value *between(Value *V, int64_t Least, int64_t Most) {
    require(B.CreateICmpSGE(V, B.getInt64(Least)));
    require(B.CreateICmpSLE(V, B.getInt64(Most)));
    return V;
  }
  void require(Value *Condition) { Ok = B.CreateAnd(Ok, Condition); }
  Value *pointer(const PointerRef &P) { return Exprs.pointer(P); }
  Value *ok(const Domain *Where) {
    return Where ? DomainEmitter(Exprs).contains(*Where, Ok) : Ok;
  }

private:
  IRBuilderBase &B;
  ExprEmitter Exprs;
  Value *Ok;
};
} // namespace

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
  require(B.CreateICmpSLE(Threads, B.getInt64(MaxBlockThreads)));
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

Value *emitGuard(IRBuilderBase &B, const Guard &G, const Domain *Where,
                 const LaunchPlan &Plan, ArrayRef<ScalarRef> Scalars,
                 const LaunchValues &Values, EmittedPlan &Out) {
  Emitter E(B, Scalars, Values);
  E.guard(G);
  for (const Launch &L : Plan.Launches)
    Out.Launches.push_back(E.shape(L));
  for (const Expr &Size : Plan.Scratch)
    Out.Scratch.push_back(E.between(E.expr(Size), 1, MostScratch));
  for (const TensorMapPlan &M : Plan.TensorMaps)
    Out.TensorMaps.push_back(E.tensorMap(M));
  return E.ok(Where);
}

} // namespace cupilot
