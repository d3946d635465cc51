//===- TouchedBytes.cpp - The memory behind pointers, as polynomials ------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The end of what a kernel touches behind a pointer is nearly always linear in
// each of its sizes: rows * pitch * 4, (n - 1) * stride + 1. Such a polynomial
// follows from its values at two points of each size, by divided differences;
// one more launch, at other sizes, shows whether it is one.
//
//===----------------------------------------------------------------------===//

#include "LaunchModel.h"
#include "Original.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;

namespace cupilot {

/// Bytes that buffers may take while they are larger than needed.
static constexpr uint64_t MostRoom = uint64_t(256) << 20;

/// Fills in what the original touches behind each pointer; false where it does
/// not bear the sizes.
Expected<bool> LaunchModel::sample(ArrayRef<int64_t> Values, TouchSamples &Of,
                                   std::vector<Interval> &To) {
  constexpr uint64_t LeastRoom = 4;
  const uint64_t Bytes = 1 + bytesOf(Base->Buffers);
  uint64_t Room = 1;
  for (auto [V, Value] : zip_equal(Vars, Values))
    if (V.Base > 0 && Value > V.Base)
      Room *= divideCeil(Value, V.Base);
  Room = std::max(std::min(Room, MostRoom / Bytes), LeastRoom);
  GateCase C = Bytes <= MostRoom / Room ? enlarged(*Base, Room) : *Base;
  C.Name += " touched";
  if (Of.Alike)
    for (std::vector<uint8_t> &Content : C.Buffers)
      llvm::fill(Content, 0);
  if (!applySizes(C, Values))
    return false;
  Expected<RunResult> R = O->runCovered(C);
  if (!R)
    return R.takeError();
  if (R->Fault || R->Coverage.size() != C.Buffers.size())
    return false;
  To.clear();
  for (const std::optional<Interval> &Span :
       touchedBytes(O->kernel(), C, R->Coverage))
    To.push_back(Span.value_or(Interval()));
  Of.All.emplace_back(Values.vec(), To);
  return true;
}

std::vector<std::optional<Interval>>
touchedBytes(const Kernel &K, const GateCase &C,
             ArrayRef<BufferCoverage> Coverage) {
  std::vector<std::optional<Interval>> Found(K.Pointers.size());
  for (const WorkloadPointer &P : C.Pointers) {
    auto At = find(K.Pointers, PointerRef{P.Param, P.Offset});
    if (At == K.Pointers.end() || P.Buffer >= Coverage.size() ||
        (C.Aliased && any_of(C.Pointers, [&](const WorkloadPointer &Other) {
           return Other.Buffer == P.Buffer &&
                  Other.BufferOffset != P.BufferOffset;
         })))
      continue;
    BitVector All = Coverage[P.Buffer].Read;
    All |= Coverage[P.Buffer].Written;
    if (All.none())
      continue;
    auto Offset = static_cast<int64_t>(P.BufferOffset);
    Found[At - K.Pointers.begin()] = {All.find_first() - Offset,
                                      All.find_last() + 1 - Offset};
  }
  return Found;
}

namespace {

/// Sum of coefficients times products of variables, by the set of variables.
using Coefficients = std::map<unsigned, int64_t>;

/// Fits one quantity of which the values at corners are known.
class PolynomialFit {
public:
  PolynomialFit(ArrayRef<int64_t> Low, ArrayRef<int64_t> High)
      : Low(Low), High(High) {}
  /// \p At has the value for each set of variables that are high. Nothing
  /// where coefficients are no integers.
  std::optional<Coefficients> fit(const std::map<unsigned, int64_t> &At) const {
    Coefficients P;
    for (const auto &[Set, Unused] : At) {
      // The mixed difference of the set, over all of its subsets.
      int64_t Difference = 0, Over = 1;
      for (unsigned Part = Set;; Part = (Part - 1) & Set) {
        bool Odd = popcount(Set ^ Part) % 2;
        Difference += (Odd ? -1 : 1) * At.find(Part)->second;
        if (Part == 0)
          break;
      }
      for (unsigned I = 0; I < Low.size(); ++I)
        if (Set >> I & 1)
          Over *= High[I] - Low[I];
      if (Difference % Over != 0)
        return std::nullopt;
      addShifted(P, Set, Difference / Over);
    }
    erase_if(P);
    return P;
  }

private:
  /// Adds D * product over \p Set of (x - low).
  void addShifted(Coefficients &P, unsigned Set, int64_t D) const {
    if (D == 0)
      return;
    for (unsigned Part = Set;; Part = (Part - 1) & Set) {
      int64_t C = D;
      for (unsigned I = 0; I < Low.size(); ++I)
        if ((Set & ~Part) >> I & 1)
          C *= -Low[I];
      P[Part] += C;
      if (Part == 0)
        break;
    }
  }
  static void erase_if(Coefficients &P) {
    for (auto It = P.begin(); It != P.end();)
      It = It->second == 0 ? P.erase(It) : std::next(It);
  }
  ArrayRef<int64_t> Low, High;
};

} // namespace

static Expr expressionOf(const Coefficients &P, ArrayRef<LaunchVar> Vars) {
  std::optional<Expr> Sum;
  auto Add = [&](Expr E) {
    Sum = Sum ? Expr::binary(Expr::Kind::Add, std::move(*Sum), std::move(E))
              : std::move(E);
  };
  // Products of many variables first, as people write them.
  for (auto It = P.rbegin(); It != P.rend(); ++It) {
    auto [Set, Factor] = *It;
    std::optional<Expr> Product;
    for (unsigned I = 0; I < Vars.size(); ++I)
      if (Set >> I & 1)
        Product = Product ? Expr::binary(Expr::Kind::Mul, std::move(*Product),
                                         Vars[I].expr())
                          : Vars[I].expr();
    if (!Product)
      Add(Expr::constant(Factor));
    else if (Factor == 1)
      Add(std::move(*Product));
    else
      Add(Expr::binary(Expr::Kind::Mul, std::move(*Product),
                       Expr::constant(Factor)));
  }
  return Sum ? std::move(*Sum) : Expr::constant(0);
}

static int64_t valueOf(const Coefficients &P, ArrayRef<int64_t> Values) {
  int64_t Sum = 0;
  for (auto [Set, Factor] : P) {
    int64_t Product = Factor;
    for (unsigned I = 0; I < Values.size(); ++I)
      if (Set >> I & 1)
        Product *= Values[I];
    Sum += Product;
  }
  return Sum;
}

/// Whether what is linear from \p Low to \p High of a size, by what is touched
/// there, is something else at \p Twice the size.
static bool bends(ArrayRef<Interval> AtLow, ArrayRef<Interval> AtHigh,
                  ArrayRef<Interval> AtTwice, int64_t Low, int64_t High) {
  auto Bends = [&](int64_t A, int64_t B, int64_t Twice) {
    return (B - A) % (High - Low) == 0 &&
           A + (B - A) / (High - Low) * Low != Twice;
  };
  for (auto [A, B, Twice] : zip_equal(AtLow, AtHigh, AtTwice))
    if (Bends(A.Least, B.Least, Twice.Least) ||
        Bends(A.Most, B.Most, Twice.Most))
      return true;
  return false;
}

/// How far a kernel reads may hang on what it finds: a search stops at what
/// differs. Where all is alike it goes on, and the last byte that it may read
/// follows from the sizes again; what is touched otherwise must be less.
Error LaunchModel::fitTouched() {
  Touched.assign(O->kernel().Pointers.size(), std::nullopt);
  TouchSamples Own{/*Alike=*/false, {}}, Alike{/*Alike=*/true, {}};
  if (Error E = fitTouched(Own, {}))
    return E;
  if (Own.All.empty() || all_of(Touched, [](const auto &T) { return !!T; }))
    return Error::success();
  return fitTouched(Alike, Own.All);
}

Error LaunchModel::fitTouched(TouchSamples &Of,
                              ArrayRef<TouchSamples::One> Less) {
  const Kernel &K = O->kernel();
  auto Sample = [&](ArrayRef<int64_t> Values, std::vector<Interval> &To) {
    return this->sample(Values, Of, To);
  };
  std::vector<int64_t> Low = baseValues(), High = Low;
  std::vector<Interval> First;
  Expected<bool> Borne = Sample(Low, First);
  if (!Borne)
    return Borne.takeError();
  if (!*Borne)
    return Error::success();
  // A second value of each size: fewer where there are some, else one more.
  std::map<unsigned, std::vector<Interval>> Samples{{0, First}};
  unsigned Active = 0, Stepped = 0;
  for (unsigned I = 0; I < Vars.size(); ++I) {
    int64_t Value = Vars[I].Base;
    // Wide accesses bear multiples of a few elements alone.
    for (int64_t Other : {Value * 2 / 3, Value - 1, Value + 1, Value + 2,
                          Value - 4, Value + 4, Value + 8}) {
      if (Other == Value || Other < 1)
        continue;
      std::vector<int64_t> Values = Low;
      Values[I] = Other;
      std::vector<Interval> Got;
      Borne = Sample(Values, Got);
      if (!Borne)
        return Borne.takeError();
      if (!*Borne)
        continue;
      High[I] = Other;
      if (Got != First)
        Active |= 1u << I;
      Samples[1u << I] = std::move(Got);
      break;
    }
    // A loop over whole tiles reads on to the end of the last one. That step is
    // not seen within a tile: between multiples of the size it is.
    if (Vars[I].IsGrid || !(Active >> I & 1))
      continue;
    std::vector<int64_t> Twice = Low;
    Twice[I] *= 2;
    std::vector<Interval> Got;
    Borne = Sample(Twice, Got);
    if (!Borne)
      return Borne.takeError();
    if (!*Borne || !bends(First, Samples[1u << I], Got, Low[I], High[I]))
      continue;
    Stepped |= 1u << I;
    High[I] = Twice[I];
    Samples[1u << I] = std::move(Got);
  }
  // Products of up to three sizes.
  constexpr int MostFactors = 3;
  for (unsigned Set = 1; Set < 1u << Vars.size(); ++Set) {
    if ((Set & ~Active) || popcount(Set) < 2 || popcount(Set) > MostFactors)
      continue;
    std::vector<int64_t> Values = Low;
    for (unsigned I = 0; I < Vars.size(); ++I)
      if (Set >> I & 1)
        Values[I] = High[I];
    std::vector<Interval> Got;
    Borne = Sample(Values, Got);
    if (!Borne)
      return Borne.takeError();
    if (!*Borne)
      return Error::success();
    Samples[Set] = std::move(Got);
  }
  // Elsewhere, all of them together.
  std::vector<int64_t> Third = Low;
  for (unsigned I = 0; I < Vars.size(); ++I)
    if (Stepped >> I & 1)
      Third[I] = 3 * Low[I];
    else if (Active >> I & 1)
      Third[I] =
          Low[I] > High[I] ? High[I] - (High[I] > 2 ? 1 : 0) : High[I] + 1;
  std::vector<Interval> Last;
  Borne = Sample(Third, Last);
  if (!Borne)
    return Borne.takeError();
  PolynomialFit Fit(Low, High);
  for (size_t P = 0; P < K.Pointers.size(); ++P) {
    std::map<unsigned, int64_t> Begins, Ends;
    for (const auto &[Set, Got] : Samples) {
      if (Set & ~Active)
        continue;
      Begins[Set] = Got[P].Least;
      Ends[Set] = Got[P].Most;
    }
    std::optional<Coefficients> Begin = Fit.fit(Begins), End = Fit.fit(Ends);
    if (!Begin || !End)
      continue;
    if (*Borne && (valueOf(*Begin, Third) != Last[P].Least ||
                   valueOf(*End, Third) != Last[P].Most))
      continue;
    if (Touched[P] || any_of(Less, [&](const TouchSamples::One &Each) {
          const auto &[Values, Got] = Each;
          return Got[P].Least < valueOf(*Begin, Values) ||
                 Got[P].Most > valueOf(*End, Values);
        }))
      continue;
    Touched[P] = Extents{expressionOf(*Begin, Vars), expressionOf(*End, Vars)};
  }
  return Error::success();
}

} // namespace cupilot
