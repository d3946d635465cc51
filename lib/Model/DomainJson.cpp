//===- DomainJson.cpp - Domains as the store writes them -----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonArray.h"
#include "LaunchWords.h"
#include "cupilot/Model/Domain.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace cupilot {

static constexpr StringRef SeenWords[] = {"gate", "gpu"};
static constexpr StringRef FloatWords[] = {"f16", "bf16", "f32", "f64"};

static json::Value toJSON(const Interval &I) {
  return json::Array{I.Least, I.Most};
}

static json::Value toJSON(const RangeClause &C) {
  return json::Object{{"of", toJSON(C.E)}, {"in", toArray(C.In)}};
}

static json::Value toJSON(const ResidueClause &C) {
  return json::Object{
      {"of", toJSON(C.E)}, {"mod", C.Modulus}, {"in", json::Array(C.In)}};
}

static json::Value toJSON(const FloatClause &C) {
  return json::Object{{"param", C.Number.Param},
                      {"offset", C.Number.Offset},
                      {"type", FloatWords[static_cast<size_t>(C.Number.Type)]},
                      {"in", toArray(C.In)}};
}

static json::Value toJSON(const NullClause &C) {
  return json::Object{{"of", toJSON(C.Pointer)}, {"null", C.IsNull}};
}

static json::Value toJSON(const Extents &E) {
  return json::Array{toJSON(E.Begin), toJSON(E.End)};
}

static json::Value toJSON(const PairClause &C) {
  json::Object O{{"a", toJSON(C.A)}, {"b", toJSON(C.B)}, {"equal", C.Equal}};
  if (!C.Equal) {
    O["of_a"] = toJSON(C.OfA);
    O["of_b"] = toJSON(C.OfB);
  }
  return O;
}

static json::Value toJSON(const DomainBox &Box) {
  json::Object O{{"seen", SeenWords[static_cast<size_t>(Box.Seen)]}};
  auto Add = [&](StringRef Key, json::Array List) {
    if (!List.empty())
      O[Key] = std::move(List);
  };
  Add("ranges", toArray(Box.Ranges));
  Add("residues", toArray(Box.Residues));
  Add("floats", toArray(Box.Floats));
  Add("nulls", toArray(Box.Nulls));
  Add("align", toArray(Box.Alignments));
  Add("pairs", toArray(Box.Pairs));
  return O;
}

json::Value toJSON(const Domain &D) {
  return json::Object{{"boxes", toArray(D.Boxes)}};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// False, with a report, for a key that this version does not know.
static bool hasOnly(const json::Value &V, ArrayRef<StringRef> Keys,
                    json::Path P) {
  const json::Object *O = V.getAsObject();
  for (const auto &[Key, Value] : O ? *O : json::Object())
    if (!is_contained(Keys, StringRef(Key))) {
      P.field(StringRef(Key))
          .report("this version does not know such a part of a domain");
      return false;
    }
  return true;
}

/// The place of the word at \p Key in \p Words.
template <typename EnumT>
static bool wordAt(const json::Value &V, StringLiteral Key,
                   ArrayRef<StringRef> Words, EnumT &Place, json::Path P) {
  std::optional<StringRef> Word = V.getAsObject()->getString(Key);
  const StringRef *At = Word ? llvm::find(Words, *Word) : Words.end();
  if (At == Words.end()) {
    P.field(Key).report("unknown word in a domain");
    return false;
  }
  Place = static_cast<EnumT>(At - Words.begin());
  return true;
}

static bool fromJSON(const json::Value &V, Interval &I, json::Path P) {
  const json::Array *Parts = V.getAsArray();
  if (!Parts || Parts->size() != 2) {
    P.report("expected [least, most]");
    return false;
  }
  return fromJSON((*Parts)[0], I.Least, P.index(0)) &&
         fromJSON((*Parts)[1], I.Most, P.index(1));
}

static bool fromJSON(const json::Value &V, RangeClause &C, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && hasOnly(V, {"of", "in"}, P) && O.map("of", C.E) &&
         O.map("in", C.In);
}

static bool fromJSON(const json::Value &V, ResidueClause &C, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && hasOnly(V, {"of", "mod", "in"}, P) && O.map("of", C.E) &&
         O.map("mod", C.Modulus) && O.map("in", C.In);
}

static bool fromJSON(const json::Value &V, FloatClause &C, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && hasOnly(V, {"param", "offset", "type", "in"}, P) &&
         O.map("param", C.Number.Param) && O.map("offset", C.Number.Offset) &&
         wordAt(V, "type", FloatWords, C.Number.Type, P) && O.map("in", C.In);
}

static bool fromJSON(const json::Value &V, NullClause &C, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && hasOnly(V, {"of", "null"}, P) && O.map("of", C.Pointer) &&
         O.map("null", C.IsNull);
}

static bool fromJSON(const json::Value &V, Extents &E, json::Path P) {
  const json::Array *Parts = V.getAsArray();
  if (!Parts || Parts->size() != 2) {
    P.report("expected [begin, end]");
    return false;
  }
  return fromJSON((*Parts)[0], E.Begin, P.index(0)) &&
         fromJSON((*Parts)[1], E.End, P.index(1));
}

static bool fromJSON(const json::Value &V, PairClause &C, json::Path P) {
  json::ObjectMapper O(V, P);
  if (!O || !hasOnly(V, {"a", "b", "equal", "of_a", "of_b"}, P) ||
      !O.map("a", C.A) || !O.map("b", C.B) || !O.map("equal", C.Equal))
    return false;
  return C.Equal || (O.map("of_a", C.OfA) && O.map("of_b", C.OfB));
}

static bool fromJSON(const json::Value &V, DomainBox &Box, json::Path P) {
  json::ObjectMapper O(V, P);
  if (!O ||
      !hasOnly(
          V,
          {"seen", "ranges", "residues", "floats", "nulls", "align", "pairs"},
          P) ||
      !wordAt(V, "seen", SeenWords, Box.Seen, P))
    return false;
  // Where they are missing there are none; "null" is no list.
  auto List = [&](StringLiteral Key, auto &To) {
    return !V.getAsObject()->get(Key) || O.map(Key, To);
  };
  return List("ranges", Box.Ranges) && List("residues", Box.Residues) &&
         List("floats", Box.Floats) && List("nulls", Box.Nulls) &&
         List("align", Box.Alignments) && List("pairs", Box.Pairs);
}

bool fromJSON(const json::Value &V, Domain &D, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && hasOnly(V, {"boxes"}, P) && O.map("boxes", D.Boxes);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static bool inOrder(ArrayRef<Interval> All) {
  for (size_t I = 0; I < All.size(); ++I)
    if (All[I].Least > All[I].Most || (I && All[I].Least <= All[I - 1].Most))
      return false;
  return !All.empty();
}

static bool isResidues(const ResidueClause &C) {
  for (size_t I = 0; I < C.In.size(); ++I)
    if (C.In[I] < 0 || C.In[I] >= C.Modulus || (I && C.In[I] <= C.In[I - 1]))
      return false;
  return C.Modulus > 0 && !C.In.empty();
}

Error checkDomain(const Domain &D, size_t NumScalars, size_t NumParams) {
  if (D.Boxes.empty())
    return usageError("a domain has at least one box");
  std::function<bool(const Expr &)> Known = [&](const Expr &E) {
    if (E.K == Expr::Kind::Dim)
      return E.Value >= 0 && E.Value < NumLaunchDims;
    if (E.K == Expr::Kind::Symbol)
      return E.Value >= 0 && static_cast<size_t>(E.Value) < NumScalars;
    return all_of(E.Operands, Known);
  };
  bool Named = true, Ordered = true, Pairs = true;
  for (const DomainBox &Box : D.Boxes) {
    auto Param = [&](unsigned Index) { Named &= Index < NumParams; };
    for (const RangeClause &C : Box.Ranges) {
      Named &= Known(C.E);
      Ordered &= inOrder(C.In);
    }
    for (const ResidueClause &C : Box.Residues) {
      Named &= Known(C.E);
      Ordered &= isResidues(C);
    }
    for (const FloatClause &C : Box.Floats) {
      Param(C.Number.Param);
      Ordered &= inOrder(C.In);
    }
    for (const NullClause &C : Box.Nulls)
      Param(C.Pointer.Param);
    for (const Alignment &A : Box.Alignments) {
      Param(A.Pointer.Param);
      Ordered &= isPowerOf2_32(A.Bytes);
    }
    for (const PairClause &C : Box.Pairs) {
      Param(C.A.Param);
      Param(C.B.Param);
      Pairs &= !(C.A == C.B);
      Named &= Known(C.OfA.Begin) && Known(C.OfA.End) && Known(C.OfB.Begin) &&
               Known(C.OfB.End);
    }
  }
  if (!Named)
    return usageError("a domain names what the kernel does not get");
  if (!Pairs)
    return usageError("a pair of a domain is two pointers");
  if (!Ordered)
    return usageError("the intervals, residues or alignments of a domain are "
                      "empty or not in order");
  return Error::success();
}

} // namespace cupilot
