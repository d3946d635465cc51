//===- Errors.cpp - Rounding errors of buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors are relative to each value and a thousandth of the values' root mean
// square (with `relaxed` all of it). Each element may have the original's error
// at that element and a term for the buffer: four times the original's largest
// error, of those that are rounding. Where the original itself is further off
// (a rounding to an integer that went the other way), the variant must side
// with the one or the other. What a double is off by itself the float64 run
// does not say, and runs with other roundings do (Shaken.cpp). Or it may have
// what a unit in the last place of the inputs does, some times over
// (Sensitivity.cpp); with `relaxed`, the term of the contract besides. NaN and
// infinity must be where the original has them. But where the float64 run gets
// by without them, the original only left the range of its format on the way,
// and what is right is right as well.
//
// A bound of each number cannot tell inputs that were rounded from such that
// were cut off, the error of which is biased: their largest errors are alike. A
// bound of the norm can, on inputs of which many are added. It says nothing on
// impulses and the like, where one product decides: it holds for a workload's
// own inputs. On inputs that are made for it (RelaxedCases.cpp), errors must
// also not lean to one side by more than chance would have it (Rounding.cpp).
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

/// A few units in the last place: what any reordering may cost.
static double leastTerm(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-9;
  case ElementKind::BFloat:
    return 0x1p-6;
  case ElementKind::Float:
    return 0x1p-20;
  default:
    return 0x1p-48;
  }
}

/// Above this, an error is no matter of rounding.
static double largestTerm(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-7;
  case ElementKind::BFloat:
    return 0x1p-4;
  default:
    return 1e-3;
  }
}

/// Between two results, of which neither is exact: as between those of two
/// programs on a GPU, with a 16th of the rms beside the number (docs/Gate.md).
static double ownTerm(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-7;
  case ElementKind::BFloat:
    return 0x1p-4;
  case ElementKind::Float:
    return 0x1p-14;
  default:
    return 0x1p-42;
  }
}

/// The step between denormals: what each rounding costs there.
static double leastNumber(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-24;
  case ElementKind::BFloat:
    return 0x1p-133;
  case ElementKind::Float:
    return 0x1p-149;
  default:
    return 0x1p-1074;
  }
}

/// The first power of two that the type does not have; of a double the last
/// one that it has.
static double firstBeyond(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p16;
  case ElementKind::Double:
    return 0x1p1023;
  default:
    return 0x1p128;
  }
}

/// No bound of a lean is below this.
static constexpr double LeastLean = 0x1p-16;

namespace {
/// One field of all elements.
struct FieldView {
  const Layout &L;
  LayoutField F;
  const Bytes &Got, &Reference, &Original;
  size_t count() const { return Original.size() / L.Stride; }
  uint64_t byteOf(size_t I) const { return I * L.Stride + F.Offset; }
  double at(const Bytes &B, size_t I) const {
    return readElement(F.Kind, B.data() + byteOf(I));
  }
  bool sameBits(size_t I) const {
    return std::memcmp(Got.data() + byteOf(I), Original.data() + byteOf(I),
                       sizeOf(F.Kind)) == 0;
  }
};
} // namespace

/// The same number, any NaN being like any other.
static bool isLike(double A, double B) {
  return std::isnan(A) ? std::isnan(B) : A == B;
}

static BufferMismatch errorsOf(const FieldView &V, const Tolerance &Allowed) {
  const PrecisionContract &Contract = Allowed.Contract;
  ArrayRef<double> Sensitivity = Allowed.Sensitivity;
  double Most = 0; // Squares of doubles may leave their range.
  for (size_t I = 0; I < V.count(); ++I)
    if (double R = std::fabs(V.at(V.Reference, I)); std::isfinite(R))
      Most = std::max(Most, R);
  const double Unit = Most > 0 ? std::ldexp(1.0, std::ilogb(Most)) : 1;
  double Square = 0;
  size_t Finite = 0;
  for (size_t I = 0; I < V.count(); ++I)
    if (double R = V.at(V.Reference, I); std::isfinite(R)) {
      Square += R / Unit * (R / Unit);
      ++Finite;
    }
  bool Relaxed = Contract.K == PrecisionContract::Kind::Relaxed;
  double Floor = Finite ? Unit * std::sqrt(Square / double(Finite)) : 0;
  // Who may round inputs may be off by as much of all that is added, whatever
  // is left of it in one element.
  if (!Relaxed)
    Floor *= Allowed.OwnPrecision ? 0x1p-4 : 1e-3;
  auto Relative = [&](double E, double From) {
    double Scale = std::fabs(From) + Floor;
    return E == 0 ? 0 : Scale > 0 ? E / Scale : INFINITY;
  };
  auto Distance = [&](double A, double From) {
    return Relative(std::fabs(A - From), From);
  };
  // The float64 run does the same as an original in double.
  const bool IsShaken =
      V.F.Kind == ElementKind::Double && !Allowed.OfDoubles.empty();
  auto OwnAt = [&](size_t I, double O, double R) {
    double Own = Distance(O, R);
    return IsShaken ? std::max(Own, Relative(Allowed.OfDoubles[V.byteOf(I)], R))
                    : Own;
  };
  // Near the end of the range, a sum may leave it in one order alone.
  bool AtEnd = Finite < V.count() || Most > firstBeyond(V.F.Kind) * 0x1p-8;
  BufferMismatch Result;
  double Rounding = 0, Largest = largestTerm(V.F.Kind);
  for (size_t I = 0; I < V.count(); ++I) {
    double R = V.at(V.Reference, I), O = V.at(V.Original, I);
    AtEnd |= !std::isfinite(O);
    if (!std::isfinite(O) || !std::isfinite(R))
      continue;
    double Own = OwnAt(I, O, R);
    Result.Own = std::max(Result.Own, Own);
    if (Own <= Largest)
      Rounding = std::max(Rounding, Own);
  }
  Result.Term =
      Relaxed ? Contract.RelativeTolerance
      : Allowed.OwnPrecision
          ? ownTerm(V.F.Kind)
          : std::max(leastTerm(V.F.Kind), std::min(4 * Rounding, Largest));
  double Far = std::max(Result.Term, Largest);
  for (size_t I = 0; I < V.count(); ++I) {
    double G = V.at(V.Got, I), R = V.at(V.Reference, I),
           O = V.at(V.Original, I);
    bool Right;
    if (Allowed.OnlyFinite &&
        (!std::isfinite(O) || (AtEnd && !std::isfinite(G))))
      continue;
    if (!std::isfinite(O) || !std::isfinite(G)) {
      Right = isLike(G, O);
      if (!Right && std::isfinite(R))
        Right = !std::isfinite(O) && Distance(G, R) <= Far;
      else if (!Right)
        Right = !std::isnan(R) && G == R;
      if (!Right)
        Result.Mine = INFINITY;
    } else if (!std::isfinite(R)) {
      Right = Distance(G, O) <= Result.Term;
    } else {
      double Mine = Distance(G, R), Own = OwnAt(I, O, R);
      Result.Mine = std::max(Result.Mine, Mine);
      Result.FarOff += Own > Far;
      if (Mine <= Result.Term)
        Right = true;
      else if (Own > Far)
        Right = Distance(G, O) <= Result.Term;
      else
        Right = !Relaxed && Mine <= Own + Result.Term;
    }
    if (!Right && std::isfinite(O) && std::isfinite(G - R))
      Right = std::fabs(G - R) <= 16 * leastNumber(V.F.Kind);
    // What `same` bears, `relaxed` bears as well, and its own term besides.
    if (!Right && !Sensitivity.empty() && std::isfinite(O) &&
        std::isfinite(G - R)) {
      double More = Relaxed ? Result.Term * (std::fabs(R) + Floor) : 0;
      Right =
          std::fabs(G - R) <= Allowed.Factor * Sensitivity[V.byteOf(I)] + More;
    }
    if (!Right && Result.Wrong++ == 0) {
      Result.At = V.byteOf(I);
      Result.Got = G;
      Result.Original = O;
      Result.Reference = R;
    }
  }
  return Result;
}

double unitOfRounding(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-11;
  case ElementKind::BFloat:
    return 0x1p-8;
  case ElementKind::Float:
    return 0x1p-24;
  default:
    return 0x1p-53;
  }
}

ErrorSums sumErrors(const Bytes &X, const Bytes &Reference, const Layout &L,
                    const LayoutField &F) {
  FieldView V{L, F, X, Reference, Reference};
  double Largest = 0; // Squares of doubles may leave their range.
  for (size_t I = 0; I < V.count(); ++I)
    if (double R = V.at(V.Reference, I); std::isfinite(R))
      Largest = std::max(Largest, std::fabs(R));
  const double Unit = Largest > 0 ? Largest : 1;
  ErrorSums Result;
  double Off = 0, Along = 0, All = 0;
  for (size_t I = 0; I < V.count(); ++I) {
    double R = V.at(V.Reference, I), G = V.at(X, I);
    if (!std::isfinite(R) || !std::isfinite(G)) {
      Result.Finite = false;
      continue;
    }
    if (std::fabs(G - R) > 16 * leastNumber(V.F.Kind)) {
      Off += (G / Unit - R / Unit) * (G / Unit - R / Unit);
      Along += (G / Unit - R / Unit) * (R / Unit);
    }
    All += R / Unit * (R / Unit);
    ++Result.Numbers;
  }
  Result.Norm = Off == 0 ? 0 : All > 0 ? std::sqrt(Off / All) : INFINITY;
  Result.Lean = Off == 0 ? 0 : All > 0 ? Along / All : INFINITY;
  if (Result.Numbers)
    Result.Rms = Unit * std::sqrt(All / double(Result.Numbers));
  return Result;
}

std::optional<BufferMismatch>
compareBuffer(const Bytes &Got, const Bytes &Reference, const Bytes &Original,
              const Layout &L, const Tolerance &Allowed, ErrorRange &Errors) {
  auto Bitwise = [](uint64_t At) {
    BufferMismatch M;
    M.Bitwise = true;
    M.At = At;
    return M;
  };
  if (L.Fields.empty()) {
    auto At = std::mismatch(Got.begin(), Got.end(), Original.begin());
    if (At.first == Got.end())
      return std::nullopt;
    return Bitwise(At.first - Got.begin());
  }
  // What lies behind the last whole element.
  for (size_t At = Got.size() / L.Stride * L.Stride; At < Got.size(); ++At)
    if (Got[At] != Original[At])
      return Bitwise(At);
  for (const LayoutField &F : L.Fields) {
    FieldView V{L, F, Got, Reference, Original};
    if (!isFloating(F.Kind) ||
        Allowed.Contract.K == PrecisionContract::Kind::Exact) {
      for (size_t I = 0; I < V.count(); ++I)
        if (!V.sameBits(I) &&
            !(isFloating(F.Kind) && std::isnan(V.at(Got, I)) &&
              std::isnan(V.at(Original, I))))
          return Bitwise(V.byteOf(I));
      continue;
    }
    BufferMismatch M = errorsOf(V, Allowed);
    Errors.Mine = std::max(Errors.Mine, M.Mine);
    Errors.Own = std::max(Errors.Own, M.Own);
    // Where the original itself is far off at many numbers, as where large ones
    // cancel, float64 is no measure, and inputs that nobody recorded say
    // nothing.
    constexpr size_t Many = 8;
    if (M.Wrong && (Allowed.OwnInputs || M.FarOff * Many <= V.count()))
      return M;
    if (M.Wrong)
      continue;
    bool Norm = Allowed.OwnInputs && Allowed.Contract.NormTolerance > 0;
    if (!Norm && !Allowed.Lean)
      continue;
    ErrorSums Mine = sumErrors(Got, Reference, L, F),
              Own = sumErrors(Original, Reference, L, F);
    if (Norm) {
      M.Mine = Mine.Norm;
      M.Own = Own.Norm;
      M.Term = Allowed.Contract.NormTolerance;
      M.Norm = !(M.Mine <= M.Own + M.Term);
      if (M.Norm)
        return M;
    }
    if (Allowed.Lean && Own.Numbers > 0) {
      // Results are rounded too, by chance up or down.
      double Chance = 4 * unitOfRounding(F.Kind) / std::sqrt(Own.Numbers);
      M.Mine = Mine.Lean;
      M.Own = Own.Lean;
      M.Term = std::max(LeastLean, *Allowed.Lean) + Chance;
      M.Leans = !(std::fabs(M.Mine) <= std::fabs(M.Own) + M.Term);
      if (M.Leans)
        return M;
    }
  }
  return std::nullopt;
}

} // namespace cupilot
