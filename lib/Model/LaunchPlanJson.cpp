//===- LaunchPlanJson.cpp - Plans and guards as the store writes them -----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonArray.h"
#include "LaunchWords.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace cupilot {

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

json::Value toJSON(const PointerRef &R) {
  return json::Array{R.Param, R.Offset};
}

bool fromJSON(const json::Value &V, PointerRef &R, json::Path P) {
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
  json::Object O{{"symbol", L.Symbol},
                 {"grid", toJSON(L.Grid)},
                 {"block", toJSON(L.Block)},
                 {"shared", toJSON(L.Shared)}};
  if (L.Cluster)
    O["cluster"] = toJSON(*L.Cluster);
  return O;
}

static bool fromJSON(const json::Value &V, Launch &L, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("symbol", L.Symbol) && O.map("grid", L.Grid) &&
         O.map("block", L.Block) && O.map("shared", L.Shared) &&
         O.mapOptional("cluster", L.Cluster);
}

/// The place of the word at \p Key in \p Words; false, with a report, when it
/// is none of them.
static bool wordAt(const json::Object &O, StringRef Key,
                   ArrayRef<StringRef> Words, unsigned &Place, json::Path P) {
  std::optional<StringRef> Word = O.getString(Key);
  const StringRef *At = Word ? llvm::find(Words, *Word) : Words.end();
  if (At == Words.end()) {
    P.field(Key).report("unknown word in a tensor map");
    return false;
  }
  Place = static_cast<unsigned>(At - Words.begin());
  return true;
}

static json::Value toJSON(const TensorMapPlan &M) {
  return json::Object{{"base", toJSON(M.Base)},
                      {"type", tensorTypeWords()[M.Type]},
                      {"extents", toArray(M.Extents)},
                      {"strides", toArray(M.Strides)},
                      {"box", json::Array(M.Box)},
                      {"steps", json::Array(M.Steps)},
                      {"swizzle", tensorSwizzleWords()[M.Swizzle]},
                      {"promotion", tensorPromotionWords()[M.Promotion]},
                      {"fill_nan", M.FillNan}};
}

static bool fromJSON(const json::Value &V, TensorMapPlan &M, json::Path P) {
  json::ObjectMapper O(V, P);
  if (!O || !O.map("base", M.Base) || !O.map("extents", M.Extents) ||
      !O.map("strides", M.Strides) || !O.map("box", M.Box) ||
      !O.map("steps", M.Steps) || !O.map("fill_nan", M.FillNan))
    return false;
  const json::Object &Fields = *V.getAsObject();
  if (!wordAt(Fields, "type", tensorTypeWords(), M.Type, P) ||
      !wordAt(Fields, "swizzle", tensorSwizzleWords(), M.Swizzle, P) ||
      !wordAt(Fields, "promotion", tensorPromotionWords(), M.Promotion, P))
    return false;
  if (!errorToBool(checkTensorMap(M)))
    return true;
  P.report("GPUs do not support this tensor map");
  return false;
}

json::Value toJSON(const LaunchPlan &Plan) {
  json::Object O{{"launches", toArray(Plan.Launches)}};
  if (!Plan.Scratch.empty())
    O["scratch"] = toArray(Plan.Scratch);
  if (!Plan.TensorMaps.empty())
    O["tensor_maps"] = toArray(Plan.TensorMaps);
  return O;
}

bool fromJSON(const json::Value &V, LaunchPlan &Plan, json::Path P) {
  json::ObjectMapper O(V, P);
  // Where they are missing there are none; "null" is no list.
  return O && O.map("launches", Plan.Launches) &&
         (!V.getAsObject()->get("scratch") || O.map("scratch", Plan.Scratch)) &&
         (!V.getAsObject()->get("tensor_maps") ||
          O.map("tensor_maps", Plan.TensorMaps));
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

json::Value toJSON(const Alignment &A) {
  return json::Object{{"pointer", toJSON(A.Pointer)}, {"bytes", A.Bytes}};
}

bool fromJSON(const json::Value &V, Alignment &A, json::Path P) {
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

json::Object toJSON(const LaunchShape &S) {
  return json::Object{
      {"grid", json::Array{S.Grid[0], S.Grid[1], S.Grid[2]}},
      {"block", json::Array{S.Block[0], S.Block[1], S.Block[2]}},
      {"shared", S.Shared}};
}

bool fromJSON(const json::Value &V, LaunchShape &S, json::Path P) {
  json::ObjectMapper Map(V, P);
  std::vector<uint64_t> Grid, Block;
  if (!Map || !Map.map("grid", Grid) || !Map.map("block", Block) ||
      !Map.mapOptional("shared", S.Shared))
    return false;
  if (Grid.size() != 3 || Block.size() != 3) {
    P.report("expected three dimensions");
    return false;
  }
  llvm::copy(Grid, S.Grid.begin());
  llvm::copy(Block, S.Block.begin());
  return true;
}

} // namespace cupilot
