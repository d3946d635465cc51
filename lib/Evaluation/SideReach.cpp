//===- SideReach.cpp - Whether a box reaches a side -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals over a box: of each variable what its ranges say, of each product
// what the box says of it as a whole, if that is less.
//
//===----------------------------------------------------------------------===//

#include "BranchCoverage.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/IR/InstrTypes.h"
#include <cmath>
#include <map>

using namespace llvm;

namespace cupilot {

namespace {
/// Wide enough for a product of two 64-bit numbers; more is cut off.
struct Wide {
  __int128 Low, High;
};

class BoxIntervals {
public:
  BoxIntervals(const DomainBox &Box, const Kernel &K) : K(K) {
    for (const RangeClause &C : Box.Ranges) {
      std::optional<Polynomial> P = Polynomial::of(C.E);
      if (!P || C.In.empty())
        continue;
      Ranges.push_back({*P, {C.In.front().Least, C.In.back().Most}});
    }
    for (const ResidueClause &C : Box.Residues)
      if (std::optional<Polynomial> P = Polynomial::of(C.E);
          P && !C.In.empty() && C.Modulus > 0)
        Residues.push_back({*P, &C});
  }
  Wide of(const Polynomial &P) const;
  /// Whether a scalar in \p P may be negative.
  bool mayBeNegative(const Polynomial &P) const {
    return any_of(P.terms(), [&](const auto &Term) {
      return any_of(Term.first,
                    [&](const Expr &E) { return mayBeNegative(E); });
    });
  }

private:
  bool mayBeNegative(const Expr &E) const {
    if (E.K == Expr::Kind::Symbol)
      return of(*Polynomial::of(E)).Low < 0;
    return any_of(E.Operands,
                  [&](const Expr &Part) { return mayBeNegative(Part); });
  }
  Wide ofTerm(const std::vector<Expr> &Factors, int64_t Times) const;
  Wide ofFactor(const Expr &E) const;
  Wide limits(const Expr &E) const;

  const Kernel &K;
  std::vector<std::pair<Polynomial, Wide>> Ranges;
  std::vector<std::pair<Polynomial, const ResidueClause *>> Residues;
};
} // namespace

static constexpr __int128 Huge = __int128(1) << 100;

static __int128 cut(__int128 V) {
  return V > Huge ? Huge : V < -Huge ? -Huge : V;
}
static __int128 times(__int128 A, __int128 B) {
  __int128 Result = 0;
  if (__builtin_mul_overflow(A, B, &Result))
    return (A < 0) == (B < 0) ? Huge : -Huge;
  return cut(Result);
}
static Wide times(Wide A, Wide B) {
  __int128 All[] = {times(A.Low, B.Low), times(A.Low, B.High),
                    times(A.High, B.Low), times(A.High, B.High)};
  return {*std::min_element(All, All + 4), *std::max_element(All, All + 4)};
}
static Wide meet(Wide A, Wide B) {
  return {std::max(A.Low, B.Low), std::min(A.High, B.High)};
}
static __int128 floorDivide(__int128 A, __int128 B) {
  return A / B - (A % B < 0);
}

Wide BoxIntervals::limits(const Expr &E) const {
  if (E.K == Expr::Kind::Dim) {
    if (E.Value < BlockX)
      return {1, MaxGrid[E.Value]};
    if (E.Value < SharedBytes)
      return {1, MaxBlock[E.Value - BlockX]};
    return {0, int64_t(1) << 20};
  }
  if (static_cast<size_t>(E.Value) >= K.Scalars.size())
    return {-Huge, Huge};
  const ScalarRef &S = K.Scalars[E.Value];
  __int128 One = 1;
  return {S.Signed ? -(One << (S.Bits - 1)) : 0,
          (One << (S.Bits - S.Signed)) - 1};
}

Wide BoxIntervals::ofFactor(const Expr &E) const {
  if (E.K == Expr::Kind::Dim || E.K == Expr::Kind::Symbol)
    return limits(E);
  std::optional<Polynomial> L = Polynomial::of(E.Operands[0]),
                            R = Polynomial::of(E.Operands[1]);
  if (!L || !R)
    return {-Huge, Huge};
  Wide A = of(*L), B = of(*R);
  B.Low = std::max<__int128>(B.Low, 1); // Else it has no value.
  if (B.High < B.Low)
    return {-Huge, Huge};
  switch (E.K) {
  case Expr::Kind::Mod: {
    Wide Result = {0, B.High - 1};
    if (A.Low >= 0 && A.High < B.Low)
      Result = A;
    for (const auto &[Of, Clause] : Residues)
      if (std::optional<int64_t> M = R->asConstant();
          M && Of == *L && Clause->Modulus % *M == 0) {
        Wide Tried = {Huge, -Huge};
        for (int64_t Rest : Clause->In) {
          Tried.Low = std::min<__int128>(Tried.Low, Rest % *M);
          Tried.High = std::max<__int128>(Tried.High, Rest % *M);
        }
        Result = meet(Result, Tried);
      }
    return Result;
  }
  case Expr::Kind::FloorDiv:
  case Expr::Kind::CeilDiv: {
    bool Up = E.K == Expr::Kind::CeilDiv;
    auto Divide = [&](__int128 X, __int128 By) {
      return Up ? -floorDivide(-X, By) : floorDivide(X, By);
    };
    __int128 All[] = {Divide(A.Low, B.Low), Divide(A.Low, B.High),
                      Divide(A.High, B.Low), Divide(A.High, B.High)};
    return {*std::min_element(All, All + 4), *std::max_element(All, All + 4)};
  }
  default:
    return {-Huge, Huge};
  }
}

Wide BoxIntervals::ofTerm(const std::vector<Expr> &Factors,
                          int64_t Times) const {
  Wide Product = {1, 1};
  for (size_t I = 0; I < Factors.size();) {
    // An even power is never negative.
    Wide One = ofFactor(Factors[I]);
    std::vector<Expr> Single = {Factors[I]};
    for (const auto &[P, Range] : Ranges)
      if (P.terms().size() == 1 && P.terms().begin()->first == Single &&
          P.terms().begin()->second == 1)
        One = meet(One, Range);
    size_t Power = 1;
    while (I + Power < Factors.size() && Factors[I + Power] == Factors[I])
      ++Power;
    Wide Raised = One;
    for (size_t Again = 1; Again < Power; ++Again)
      Raised = times(Raised, One);
    if (Power % 2 == 0 && One.Low <= 0 && One.High >= 0)
      Raised.Low = std::max<__int128>(Raised.Low, 0);
    Product = times(Product, Raised);
    I += Power;
  }
  // What the box says of the whole product.
  for (const auto &[P, Range] : Ranges)
    if (P.terms().size() == 1 && P.terms().begin()->first == Factors &&
        P.terms().begin()->second == 1)
      Product = meet(Product, Range);
  return times(Product, {Times, Times});
}

Wide BoxIntervals::of(const Polynomial &P) const {
  Wide Sum = {0, 0};
  for (const auto &[Factors, Times] : P.terms()) {
    Wide Term = Factors.empty() ? Wide{Times, Times} : ofTerm(Factors, Times);
    Sum = {cut(Sum.Low + Term.Low), cut(Sum.High + Term.High)};
  }
  // Or of the whole sum, but for a constant.
  for (const auto &[Q, Range] : Ranges)
    for (int64_t Sign : {1, -1})
      if (std::optional<Polynomial> Rest = P.plus(Q, -Sign))
        if (std::optional<int64_t> C = Rest->asConstant()) {
          Wide Whole = Sign > 0 ? Range : Wide{-Range.High, -Range.Low};
          Sum = meet(Sum, {Whole.Low + *C, Whole.High + *C});
        }
  return Sum;
}

/// The number at \p Key in the order of its format.
static double numberAt(int64_t Key, FloatRef::Format Type) {
  bool Negative = Key < 0;
  uint64_t Magnitude =
      Negative ? static_cast<uint64_t>(-(Key + 1)) : static_cast<uint64_t>(Key);
  const fltSemantics &Format =
      Type == FloatRef::Format::Double   ? APFloat::IEEEdouble()
      : Type == FloatRef::Format::Float  ? APFloat::IEEEsingle()
      : Type == FloatRef::Format::BFloat ? APFloat::BFloat()
                                         : APFloat::IEEEhalf();
  APFloat Value(Format, APInt(APFloat::getSizeInBits(Format), Magnitude));
  bool Lost = false;
  Value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Lost);
  double Result = Value.convertToDouble();
  return Negative ? -Result : Result;
}

static int64_t infinityKey(FloatRef::Format Type) {
  switch (Type) {
  case FloatRef::Format::Double:
    return int64_t(0x7ff0000000000000);
  case FloatRef::Format::Float:
    return 0x7f800000;
  case FloatRef::Format::BFloat:
    return 0x7f80;
  case FloatRef::Format::Half:
    return 0x7c00;
  }
  llvm_unreachable("a format");
}

/// Whether a number in \p In passes \p T.
static bool passes(const SideCondition::FloatTest &T, const Interval &In) {
  auto P = static_cast<CmpInst::Predicate>(T.Predicate);
  int64_t Infinity = infinityKey(T.Number.Type);
  bool HasNan = In.Most > Infinity || In.Least < -Infinity - 1;
  if (HasNan && CmpInst::isUnordered(P))
    return true;
  Interval Finite = {std::max(In.Least, -Infinity - 1),
                     std::min(In.Most, Infinity)};
  if (Finite.Least > Finite.Most)
    return false;
  double Low = numberAt(Finite.Least, T.Number.Type),
         High = numberAt(Finite.Most, T.Number.Type);
  // A predicate has a bit each for equal, greater and less (and unordered).
  unsigned Bits = static_cast<unsigned>(P);
  return ((Bits & CmpInst::FCMP_OEQ) && Low <= T.Value && T.Value <= High) ||
         ((Bits & CmpInst::FCMP_OGT) && High > T.Value) ||
         ((Bits & CmpInst::FCMP_OLT) && Low < T.Value);
}

/// Times that \p V can lose \p Shift bits and stay above \p Bound.
static unsigned halvings(__int128 V, __int128 Bound, unsigned Shift) {
  unsigned Turns = 0;
  for (; V > Bound && Turns < 128; ++Turns) {
    if (V <= 0)
      return 128;
    V >>= Shift;
  }
  return Turns;
}

static bool mayTurn(const SideCondition::HalvingTest &T, __int128 Least,
                    __int128 Most, __int128 LowBound, __int128 HighBound) {
  return halvings(Most, LowBound, T.Shift) >= T.Turns &&
         (T.AtLeast || halvings(Least, HighBound, T.Shift) <= T.Turns);
}

/// The scalar or dimension that \p P hangs on, where that is one.
static std::optional<Expr> onlyVariable(const Polynomial &P) {
  std::optional<Expr> Only;
  auto Visit = [&](const Expr &E, const auto &Self) -> bool {
    if (E.K == Expr::Kind::Dim || E.K == Expr::Kind::Symbol) {
      bool Same = !Only || *Only == E;
      Only = E;
      return Same;
    }
    return all_of(E.Operands, [&](const Expr &O) { return Self(O, Self); });
  };
  for (const auto &Term : P.terms())
    for (const Expr &E : Term.first)
      if (!Visit(E, Visit))
        return std::nullopt;
  return Only;
}

/// Values of \p V, as far as straight lines of \p Needs and one range say.
static Wide meetLines(Wide In, const Expr &V,
                      ArrayRef<const Polynomial *> Needs) {
  for (const Polynomial *P : Needs) {
    __int128 Rise = 0, At0 = 0;
    bool IsLine = true;
    for (const auto &[Factors, Times] : P->terms())
      if (Factors.empty())
        At0 = Times;
      else if (Factors.size() == 1 && Factors[0] == V)
        Rise = Times;
      else
        IsLine = false;
    if (!IsLine || Rise == 0)
      continue;
    if (Rise > 0)
      In.Low = std::max(In.Low, -floorDivide(At0, Rise));
    else
      In.High = std::min(In.High, floorDivide(At0, -Rise));
  }
  return In;
}

/// Whether each variable of \p C has values in \p Box that meet all of what
/// \p C needs of it alone. True where they are too many to ask each.
static bool anyValues(const SideCondition &C, const DomainBox &Box,
                      const Kernel &K, const BoxIntervals &Of) {
  constexpr __int128 MostValues = 4096;
  std::map<Expr, std::vector<const Polynomial *>, Polynomial::Less> Needs;
  for (const Polynomial &P : C.Needs)
    if (std::optional<Expr> V = onlyVariable(P))
      Needs[*V].push_back(&P);
  Bindings B;
  B.Symbols.resize(K.Scalars.size());
  for (const auto &[V, Own] : Needs) {
    if (V.K == Expr::Kind::Symbol &&
        static_cast<size_t>(V.Value) >= B.Symbols.size())
      continue;
    int64_t &Value =
        V.K == Expr::Kind::Dim ? B.Dims[V.Value] : B.Symbols[V.Value];
    std::vector<Interval> In;
    for (const RangeClause &R : Box.Ranges)
      if (R.E == V)
        In = R.In;
    Wide All = Of.of(*Polynomial::of(V));
    if (In.empty() && (All.Low < INT64_MIN || All.High > INT64_MAX))
      continue;
    if (In.empty())
      In = {{static_cast<int64_t>(All.Low), static_cast<int64_t>(All.High)}};
    bool Found = false;
    for (const Interval &Each : In) {
      Wide Range = meetLines(meet({Each.Least, Each.Most}, All), V, Own);
      Found |= Range.High - Range.Low >= MostValues;
      for (__int128 X = Range.Low; X <= Range.High && !Found; ++X) {
        Value = static_cast<int64_t>(X);
        Found = all_of(Box.Residues,
                       [&](const ResidueClause &R) {
                         int64_t Rest = Value % R.Modulus;
                         return !(R.E == V) ||
                                is_contained(R.In, Rest < 0 ? Rest + R.Modulus
                                                            : Rest);
                       }) &&
                all_of(Own, [&](const Polynomial *P) {
                  std::optional<int64_t> At = evaluate(P->expr(), B);
                  return !At || *At >= 0;
                });
      }
    }
    if (!Found)
      return false;
  }
  return true;
}

bool mayHold(const SideCondition &C, const DomainBox &Box, const Kernel &K) {
  if (!C.Known)
    return true;
  if (C.Null)
    return none_of(Box.Nulls, [&](const NullClause &N) {
      return N.Pointer == C.Null->Pointer && N.IsNull != C.Null->IsNull;
    });
  if (C.Alignment) {
    if (C.Alignment->Aligned)
      return true;
    // Some pointer is not aligned, unless the box says that each is.
    return any_of(C.Alignment->Pointers, [&](const PointerRef &P) {
      return none_of(Box.Alignments, [&](const Alignment &A) {
        return A.Pointer == P && A.Bytes >= C.Alignment->Bytes;
      });
    });
  }
  if (C.Float)
    return all_of(Box.Floats, [&](const FloatClause &F) {
      return !(F.Number == C.Float->Number) ||
             any_of(F.In,
                    [&](const Interval &In) { return passes(*C.Float, In); });
    });
  BoxIntervals Of(Box, K);
  if (!C.AnySign &&
      any_of(C.Needs, [&](const Polynomial &P) { return Of.mayBeNegative(P); }))
    return true;
  if (any_of(C.Fits, [&](const SideCondition::Fit &F) {
        Wide Value = Of.of(F.Value);
        __int128 Most = (__int128(1) << (F.Bits - F.Signed)) - 1;
        return Value.High > Most || Value.Low < (F.Signed ? -Most - 1 : 0);
      }))
    return true;
  if (C.Halving) {
    const SideCondition::HalvingTest &H = *C.Halving;
    auto Low = [&](const std::optional<Polynomial> &P) {
      return P ? Of.of(*P).Low : -Huge;
    };
    auto High = [&](const std::optional<Polynomial> &P) {
      return P ? Of.of(*P).High : Huge;
    };
    return mayTurn(H, Low(H.Start.Low), High(H.Start.High), Low(H.Bound.Low),
                   High(H.Bound.High));
  }
  return all_of(C.Needs,
                [&](const Polynomial &P) { return Of.of(P).High >= 0; }) &&
         anyValues(C, Box, K, Of);
}

bool mayHold(const SideCondition &C, const Bindings &B) {
  auto At = [&](const std::optional<Polynomial> &P) {
    return P ? evaluate(P->expr(), B) : std::nullopt;
  };
  if (C.Halving) {
    std::optional<int64_t> Least = At(C.Halving->Start.Low),
                           Most = At(C.Halving->Start.High),
                           Low = At(C.Halving->Bound.Low),
                           High = At(C.Halving->Bound.High);
    return Most && Low &&
           mayTurn(*C.Halving, Least.value_or(*Most), *Most, *Low,
                   High.value_or(*Low));
  }
  return all_of(C.Needs, [&](const Polynomial &P) {
    std::optional<int64_t> Value = At(P);
    return Value && *Value >= 0;
  });
}

} // namespace cupilot
