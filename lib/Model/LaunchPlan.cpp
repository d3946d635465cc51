//===- LaunchPlan.cpp - Launch plans and guards in lowered form -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchWords.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

std::string Expr::str() const {
  switch (K) {
  case Kind::Constant:
    return itostr(Value);
  case Kind::Dim:
    return Value >= 0 && Value < NumLaunchDims ? DimNames[Value].str()
                                               : "d" + itostr(Value);
  case Kind::Symbol:
    return "s" + itostr(Value);
  default:
    break;
  }
  auto Side = [](const Expr &E) {
    return E.Operands.empty() ? E.str() : "(" + E.str() + ")";
  };
  return (Twine(Side(Operands[0])) + " " + operatorName(K) + " " +
          Side(Operands[1]))
      .str();
}

std::optional<int64_t> evaluate(const Expr &E, const Bindings &B) {
  switch (E.K) {
  case Expr::Kind::Constant:
    return E.Value;
  case Expr::Kind::Dim:
    if (E.Value < 0 || E.Value >= NumLaunchDims)
      return std::nullopt;
    return B.Dims[E.Value];
  case Expr::Kind::Symbol:
    if (E.Value < 0 || static_cast<uint64_t>(E.Value) >= B.Symbols.size())
      return std::nullopt;
    return B.Symbols[E.Value];
  default:
    break;
  }
  std::optional<int64_t> L = evaluate(E.Operands[0], B);
  std::optional<int64_t> R = evaluate(E.Operands[1], B);
  if (!L || !R)
    return std::nullopt;
  int64_t Result = 0;
  switch (E.K) {
  case Expr::Kind::Add:
    return AddOverflow(*L, *R, Result) ? std::nullopt : std::optional(Result);
  case Expr::Kind::Mul:
    return MulOverflow(*L, *R, Result) ? std::nullopt : std::optional(Result);
  default:
    break;
  }
  if (*R <= 0)
    return std::nullopt;
  int64_t Quotient = *L / *R, Rest = *L % *R;
  if (Rest < 0) { // Towards minus infinity.
    Rest += *R;
    --Quotient;
  }
  if (E.K == Expr::Kind::Mod)
    return Rest;
  if (E.K == Expr::Kind::FloorDiv)
    return Quotient;
  return Quotient + (Rest != 0);
}

static Expected<int64_t> readScalar(const ScalarRef &S,
                                    ArrayRef<std::vector<uint8_t>> Args) {
  size_t Bytes = S.Bits / 8; // An offset that wraps around is too large.
  if (S.Param >= Args.size() || S.Offset + Bytes > Args[S.Param].size())
    return usageError("argument " + Twine(S.Param) +
                      " of the launch is too short");
  uint64_t Raw = 0;
  std::memcpy(&Raw, Args[S.Param].data() + S.Offset, Bytes);
  return S.Signed ? SignExtend64(Raw, S.Bits) : static_cast<int64_t>(Raw);
}

Expected<Bindings> bindLaunch(const LaunchShape &Shape,
                              ArrayRef<ScalarRef> Scalars,
                              ArrayRef<std::vector<uint8_t>> Args) {
  Bindings B;
  for (unsigned I = 0; I < 3; ++I) {
    B.Dims[GridX + I] = static_cast<int64_t>(Shape.Grid[I]);
    B.Dims[BlockX + I] = static_cast<int64_t>(Shape.Block[I]);
  }
  B.Dims[SharedBytes] = static_cast<int64_t>(Shape.Shared);
  for (const ScalarRef &S : Scalars) {
    Expected<int64_t> Value = readScalar(S, Args);
    if (!Value)
      return Value.takeError();
    B.Symbols.push_back(*Value);
  }
  return B;
}

static std::optional<uint64_t>
readPointer(const PointerRef &P, ArrayRef<std::vector<uint8_t>> Args) {
  uint64_t Address = 0;
  if (P.Param >= Args.size() ||
      P.Offset + sizeof(Address) > Args[P.Param].size())
    return std::nullopt;
  std::memcpy(&Address, Args[P.Param].data() + P.Offset, sizeof(Address));
  return Address;
}

static bool holds(const Disjoint &D, const Bindings &B,
                  ArrayRef<std::vector<uint8_t>> Args) {
  std::optional<uint64_t> PA = readPointer(D.A, Args),
                          PB = readPointer(D.B, Args);
  std::optional<int64_t> EA = evaluate(D.ExtentA, B),
                         EB = evaluate(D.ExtentB, B);
  if (!PA || !PB || !EA || !EB || *EA < 0 || *EB < 0)
    return false;
  uint64_t EndA = *PA + static_cast<uint64_t>(*EA),
           EndB = *PB + static_cast<uint64_t>(*EB);
  if (EndA < *PA || EndB < *PB)
    return false;
  return EndA <= *PB || EndB <= *PA;
}

bool admits(const Guard &G, const Bindings &B,
            ArrayRef<std::vector<uint8_t>> Args) {
  for (const Constraint &C : G.Constraints) {
    std::optional<int64_t> Value = evaluate(C.E, B);
    if (!Value || (C.IsEq ? *Value != 0 : *Value < 0))
      return false;
  }
  for (const Alignment &A : G.Alignments) {
    std::optional<uint64_t> Address = readPointer(A.Pointer, Args);
    if (!Address || *Address % A.Bytes != 0)
      return false;
  }
  return all_of(G.Disjoints,
                [&](const Disjoint &D) { return holds(D, B, Args); });
}

std::optional<LaunchShape> planShape(const Launch &L, const Bindings &B) {
  LaunchShape Shape;
  int64_t Threads = 1;
  for (unsigned I = 0; I < 3; ++I) {
    std::optional<int64_t> G = evaluate(L.Grid[I], B),
                           T = evaluate(L.Block[I], B);
    if (!G || !T || !isGridSize(I, *G) || !isBlockSize(I, *T))
      return std::nullopt;
    Shape.Grid[I] = *G;
    Shape.Block[I] = *T;
    Threads *= *T;
  }
  std::optional<int64_t> Shared = evaluate(L.Shared, B);
  if (Threads > MaxBlockThreads || !Shared || *Shared < 0)
    return std::nullopt;
  Shape.Shared = *Shared;
  int64_t Together = 1;
  for (unsigned I = 0; L.Cluster && I < 3; ++I) {
    std::optional<int64_t> C = evaluate((*L.Cluster)[I], B);
    if (!C || *C < 1 || *C > MostClusterBlocks || Shape.Grid[I] % *C != 0)
      return std::nullopt;
    Shape.Cluster[I] = *C;
    Together *= *C;
  }
  if (Together > MostClusterBlocks)
    return std::nullopt;
  return Shape;
}

} // namespace cupilot
