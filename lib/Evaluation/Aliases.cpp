//===- Aliases.cpp - Buffers that share memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace cupilot {

namespace {
/// Two pointers that a launch may hand in with the same memory behind them.
struct PointerPair {
  size_t In, Out; ///< Indices of pointers.
};
} // namespace

/// Whether C++ lets both types lie at one address ([basic.lval]): compilers
/// reorder accesses to types that may not.
static bool mayShare(const KernelParam &A, const KernelParam &B) {
  StringRef One = A.Pointee, Two = B.Pointee;
  for (StringRef *Type : {&One, &Two})
    for (StringRef Qualifier : {"const ", "volatile ", "const "})
      Type->consume_front(Qualifier);
  if (One == Two || A.PointeeSize == 1)
    return true;
  std::optional<ElementKind> First = elementOf(One), Second = elementOf(Two);
  return First && Second && isInteger(*First) && isInteger(*Second);
}

static std::vector<PointerPair> pairsOf(const Kernel &K, const GateCase &C) {
  std::vector<PointerPair> Pairs;
  for (size_t I = 0; I < C.Pointers.size(); ++I)
    for (size_t O = 0; O < C.Pointers.size(); ++O) {
      const WorkloadPointer &In = C.Pointers[I], &Out = C.Pointers[O];
      if (In.Param >= K.Params.size() || Out.Param >= K.Params.size() ||
          In.Param == Out.Param || In.Buffer == Out.Buffer)
        continue;
      const KernelParam &A = K.Params[In.Param], &B = K.Params[Out.Param];
      if (!A.IsPointer || !B.IsPointer || B.PointeeConst || A.Restrict ||
          B.Restrict || A.PointeeSize != B.PointeeSize || !mayShare(A, B) ||
          (!A.PointeeConst && I > O) ||
          C.Buffers[In.Buffer].size() < C.Buffers[Out.Buffer].size())
        continue;
      Pairs.push_back({I, O});
    }
  return Pairs;
}

/// Hands the memory of \p P.In, \p Offset bytes into it, to \p P.Out, too.
static GateCase withEqual(const GateCase &Base, PointerPair P, uint64_t Offset,
                          std::string Name) {
  GateCase C = Base;
  C.Name = std::move(Name);
  C.Captured = false;
  C.Doubtful = true;
  C.Aliased = true;
  WorkloadPointer In = C.Pointers[P.In], Out = C.Pointers[P.Out];
  for (WorkloadPointer &Each : C.Pointers)
    if (Each.Param == Out.Param && Each.Offset == Out.Offset) {
      Each.Buffer = In.Buffer;
      Each.BufferOffset = In.BufferOffset + Offset;
    }
  C.Buffers[In.Buffer].resize(C.Buffers[In.Buffer].size() + Offset);
  C.PureOutput.clear();
  return C;
}

static constexpr size_t MostPairs = 6;

static std::string equalName(const Kernel &K, const GateCase &Base,
                             PointerPair P) {
  return Base.Name + " " + K.Params[Base.Pointers[P.In].Param].Name +
         "==" + K.Params[Base.Pointers[P.Out].Param].Name;
}

std::vector<GateCase> equalPointerCases(const CaseContext &X,
                                        const GateCase &Base) {
  std::vector<GateCase> Cases;
  for (PointerPair P : pairsOf(X.K, Base))
    if (Cases.size() < MostPairs)
      Cases.push_back(withEqual(Base, P, 0, equalName(X.K, Base, P)));
  return Cases;
}

void addAliasCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers) {
  std::vector<PointerPair> Pairs = pairsOf(X.K, Base);
  if (Pairs.size() > MostPairs)
    Pairs.resize(MostPairs);
  auto Alias = [&Base](PointerPair P, uint64_t Offset, std::string Name) {
    return withEqual(Base, P, Offset, std::move(Name));
  };
  for (PointerPair P : Pairs) {
    const KernelParam &B = X.K.Params[Base.Pointers[P.Out].Param];
    std::string Same = equalName(X.K, Base, P);
    Makers.push_back({Same, [Alias, P, Same] { return Alias(P, 0, Same); }});
    if (B.PointeeSize == 0)
      continue;
    std::string Next = Same + "+1";
    Makers.push_back({Next, [Alias, P, Next, Size = B.PointeeSize] {
                        return Alias(P, Size, Next);
                      }});
    uint64_t Half =
        Base.Buffers[Base.Pointers[P.Out].Buffer].size() / 2 / 256 * 256;
    if (Half == 0)
      continue;
    std::string Middle = Same + " by half";
    Makers.push_back(
        {Middle, [Alias, P, Half, Middle] { return Alias(P, Half, Middle); }});
  }
  uint64_t Element = widestElement(X.K);
  if (Element > 0 && Element < 16 && isPowerOf2_64(Element))
    Makers.push_back({Base.Name + " shifted", [&Base, Element] {
                        GateCase C = Base;
                        C.Name += " shifted";
                        C.Shift = Element;
                        C.Captured = false;
                        C.Doubtful = true;
                        return C;
                      }});
}

} // namespace cupilot
