//===- LaunchPlan.cpp - Launch plans and guards in lowered form -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/LaunchPlan.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

static constexpr StringRef DimNames[NumLaunchDims] = {"gx", "gy", "gz",    "bx",
                                                      "by", "bz", "shared"};

static StringRef operatorName(Expr::Kind K) {
  switch (K) {
  case Expr::Kind::Add:
    return "+";
  case Expr::Kind::Mul:
    return "*";
  case Expr::Kind::Mod:
    return "mod";
  case Expr::Kind::FloorDiv:
    return "floordiv";
  case Expr::Kind::CeilDiv:
    return "ceildiv";
  default:
    return "";
  }
}

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
  // CUDA C++ Programming Guide, "Technical Specifications per Compute
  // Capability".
  static constexpr int64_t MaxGrid[3] = {2147483647, 65535, 65535};
  static constexpr int64_t MaxBlock[3] = {1024, 1024, 64};
  LaunchShape Shape;
  int64_t Threads = 1;
  for (unsigned I = 0; I < 3; ++I) {
    std::optional<int64_t> G = evaluate(L.Grid[I], B),
                           T = evaluate(L.Block[I], B);
    if (!G || !T || *G < 1 || *T < 1 || *G > MaxGrid[I] || *T > MaxBlock[I])
      return std::nullopt;
    Shape.Grid[I] = *G;
    Shape.Block[I] = *T;
    Threads *= *T;
  }
  std::optional<int64_t> Shared = evaluate(L.Shared, B);
  if (Threads > 1024 || !Shared || *Shared < 0)
    return std::nullopt;
  Shape.Shared = *Shared;
  return Shape;
}

json::Value toJSON(const Expr &E) {
  if (E.K == Expr::Kind::Constant)
    return E.Value;
  if (E.Operands.empty())
    return E.str();
  return json::Array{operatorName(E.K), toJSON(E.Operands[0]),
                     toJSON(E.Operands[1])};
}

bool fromJSON(const json::Value &V, Expr &E, json::Path P) {
  if (std::optional<int64_t> Number = V.getAsInteger()) {
    E = Expr::constant(*Number);
    return true;
  }
  if (std::optional<StringRef> Name = V.getAsString()) {
    for (unsigned I = 0; I < NumLaunchDims; ++I)
      if (*Name == DimNames[I]) {
        E = Expr::dim(I);
        return true;
      }
    unsigned Index;
    if (Name->consume_front("s") && !Name->getAsInteger(10, Index)) {
      E = Expr::symbol(Index);
      return true;
    }
    P.report("unknown name in an expression");
    return false;
  }
  const json::Array *Parts = V.getAsArray();
  if (!Parts || Parts->size() != 3) {
    P.report("expected a number, a name, or [operator, lhs, rhs]");
    return false;
  }
  std::optional<StringRef> Name = (*Parts)[0].getAsString();
  for (Expr::Kind K : {Expr::Kind::Add, Expr::Kind::Mul, Expr::Kind::Mod,
                       Expr::Kind::FloorDiv, Expr::Kind::CeilDiv})
    if (Name && *Name == operatorName(K)) {
      Expr L, R;
      if (!fromJSON((*Parts)[1], L, P.index(1)) ||
          !fromJSON((*Parts)[2], R, P.index(2)))
        return false;
      E = Expr::binary(K, std::move(L), std::move(R));
      return true;
    }
  P.index(0).report("unknown operator");
  return false;
}

json::Value toJSON(const ScalarRef &S) {
  return json::Object{{"param", S.Param},
                      {"offset", S.Offset},
                      {"bits", S.Bits},
                      {"signed", S.Signed}};
}

bool fromJSON(const json::Value &V, ScalarRef &S, json::Path P) {
  json::ObjectMapper O(V, P);
  if (!O || !O.map("param", S.Param) || !O.map("offset", S.Offset) ||
      !O.map("bits", S.Bits) || !O.map("signed", S.Signed))
    return false;
  if (S.Bits != 8 && S.Bits != 16 && S.Bits != 32 && S.Bits != 64) {
    P.field("bits").report("must be 8, 16, 32 or 64");
    return false;
  }
  return true;
}

static json::Value toJSON(const PointerRef &R) {
  return json::Array{R.Param, R.Offset};
}

static bool fromJSON(const json::Value &V, PointerRef &R, json::Path P) {
  const json::Array *Parts = V.getAsArray();
  if (!Parts || Parts->size() != 2) {
    P.report("expected [parameter, offset]");
    return false;
  }
  return fromJSON((*Parts)[0], R.Param, P.index(0)) &&
         fromJSON((*Parts)[1], R.Offset, P.index(1));
}

static json::Value toJSON(const std::array<Expr, 3> &Dims) {
  return json::Array{toJSON(Dims[0]), toJSON(Dims[1]), toJSON(Dims[2])};
}

static bool fromJSON(const json::Value &V, std::array<Expr, 3> &Dims,
                     json::Path P) {
  const json::Array *Parts = V.getAsArray();
  if (!Parts || Parts->size() != 3) {
    P.report("expected three expressions");
    return false;
  }
  for (unsigned I = 0; I < 3; ++I)
    if (!fromJSON((*Parts)[I], Dims[I], P.index(I)))
      return false;
  return true;
}

static json::Value toJSON(const Launch &L) {
  return json::Object{{"symbol", L.Symbol},
                      {"grid", toJSON(L.Grid)},
                      {"block", toJSON(L.Block)},
                      {"shared", toJSON(L.Shared)}};
}

static bool fromJSON(const json::Value &V, Launch &L, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("symbol", L.Symbol) && O.map("grid", L.Grid) &&
         O.map("block", L.Block) && O.map("shared", L.Shared);
}

json::Value toJSON(const LaunchPlan &Plan) {
  json::Array Launches;
  for (const Launch &L : Plan.Launches)
    Launches.push_back(toJSON(L));
  return json::Object{{"launches", std::move(Launches)}};
}

bool fromJSON(const json::Value &V, LaunchPlan &Plan, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("launches", Plan.Launches);
}

static json::Value toJSON(const Constraint &C) {
  return json::Array{C.IsEq ? "==" : ">=", toJSON(C.E)};
}

static bool fromJSON(const json::Value &V, Constraint &C, json::Path P) {
  const json::Array *Parts = V.getAsArray();
  std::optional<StringRef> Op;
  if (Parts && Parts->size() == 2)
    Op = (*Parts)[0].getAsString();
  if (!Op || (*Op != "==" && *Op != ">=")) {
    P.report("expected [\"==\" or \">=\", expression]");
    return false;
  }
  C.IsEq = *Op == "==";
  return fromJSON((*Parts)[1], C.E, P.index(1));
}

static json::Value toJSON(const Alignment &A) {
  return json::Object{{"pointer", toJSON(A.Pointer)}, {"bytes", A.Bytes}};
}

static bool fromJSON(const json::Value &V, Alignment &A, json::Path P) {
  json::ObjectMapper O(V, P);
  if (!O || !O.map("pointer", A.Pointer) || !O.map("bytes", A.Bytes))
    return false;
  if (!isPowerOf2_32(A.Bytes)) {
    P.field("bytes").report("must be a power of two");
    return false;
  }
  return true;
}

static json::Value toJSON(const Disjoint &D) {
  return json::Object{{"a", toJSON(D.A)},
                      {"b", toJSON(D.B)},
                      {"extent_a", toJSON(D.ExtentA)},
                      {"extent_b", toJSON(D.ExtentB)}};
}

static bool fromJSON(const json::Value &V, Disjoint &D, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("a", D.A) && O.map("b", D.B) &&
         O.map("extent_a", D.ExtentA) && O.map("extent_b", D.ExtentB);
}

template <typename T> static json::Array toArray(const std::vector<T> &Items) {
  json::Array Result;
  for (const T &Item : Items)
    Result.push_back(toJSON(Item));
  return Result;
}

json::Value toJSON(const Guard &G) {
  return json::Object{{"arch", G.Arch},
                      {"constraints", toArray(G.Constraints)},
                      {"align", toArray(G.Alignments)},
                      {"disjoint", toArray(G.Disjoints)}};
}

bool fromJSON(const json::Value &V, Guard &G, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("arch", G.Arch) && O.map("constraints", G.Constraints) &&
         O.map("align", G.Alignments) && O.map("disjoint", G.Disjoints);
}

} // namespace cupilot
