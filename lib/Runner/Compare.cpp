//===- Compare.cpp - Two results, number by number -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Compare.h"
#include "Parallel.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

namespace cupilot::runner {

static bool isPoison(const uint8_t *At, unsigned Size) {
  for (unsigned I = 0; I < Size; ++I)
    if (At[I] != uint8_t(I % 2 ? Poison >> 8 : Poison))
      return false;
  return true;
}

static void compareNumber(Comparison &C, NumberKind K, const uint8_t *O,
                          const uint8_t *N, uint64_t Element, unsigned Field,
                          const Tolerance &Allowed, double Floor) {
  const unsigned Size = sizeOf(K);
  ++C.Numbers;
  if (std::memcmp(O, N, Size) == 0)
    return;
  double A = readNumber(K, O), B = readNumber(K, N);
  bool Floating = isFloating(K);
  if (Floating && std::isnan(A) && std::isnan(B)) {
    // A result that is NaN says nothing of what was left unwritten, unless the
    // original wrote a NaN of another kind there.
    if (isPoison(N, Size)) {
      ++C.Unwritten;
      ++C.Wrong;
    }
    return;
  }
  ++C.Differing;
  // An address of one byte may hold any value by chance.
  if (Size > 1 && isPoison(N, Size))
    ++C.Unwritten;
  bool Bad = true;
  if (Floating && (std::isnan(A) || std::isnan(B))) {
    ++C.NaNs;
  } else {
    double Off = std::fabs(A - B), Scale = std::fabs(A);
    if (A == B) // The two zeros; two integers that a double cannot tell apart.
      Off = Floating ? 0 : double(ulpsBetween(K, O, N));
    C.MaxUlps = std::max(C.MaxUlps, ulpsBetween(K, O, N));
    C.MaxAbsolute = std::max(C.MaxAbsolute, Off);
    if (Off > 0)
      C.MaxRelative =
          std::max(C.MaxRelative, Scale > 0 ? Off / Scale : HUGE_VAL);
    // An infinity is as far from any other number as can be.
    Bad = Allowed.isExact() || std::isinf(Off) ||
          !(Off <= Allowed.Absolute + Allowed.Relative * (Scale + Floor));
  }
  if (!Bad)
    return;
  ++C.Wrong;
  if (C.First.size() < Comparison::MostShown)
    C.First.push_back({Element, Field, A, B});
}

void Comparison::add(const Comparison &Next) {
  Numbers += Next.Numbers;
  Differing += Next.Differing;
  Wrong += Next.Wrong;
  Unwritten += Next.Unwritten;
  NaNs += Next.NaNs;
  MaxAbsolute = std::max(MaxAbsolute, Next.MaxAbsolute);
  MaxRelative = std::max(MaxRelative, Next.MaxRelative);
  MaxUlps = std::max(MaxUlps, Next.MaxUlps);
  for (const Difference &D : Next.First)
    if (First.size() < MostShown)
      First.push_back(D);
}

/// \p Floor times the root mean square of a field's finite numbers.
static double floorOf(const uint8_t *O, uint64_t Count, const Elements &E,
                      const Field &F, double Floor) {
  if (Floor == 0)
    return 0;
  // By parts, whose sums are added in order: the same on every machine.
  std::vector<std::pair<double, uint64_t>> Parts((Count + PartOfRange - 1) /
                                                 PartOfRange);
  eachPart(Count, [&](uint64_t Part, uint64_t From, uint64_t To) {
    auto &[Square, Finite] = Parts[Part];
    for (uint64_t I = From; I < To; ++I)
      if (double V = readNumber(F.Kind, O + I * E.Stride + F.Offset);
          std::isfinite(V)) {
        Square += V * V;
        ++Finite;
      }
  });
  double Square = 0;
  uint64_t Finite = 0;
  for (auto &[Sum, Number] : Parts) {
    Square += Sum;
    Finite += Number;
  }
  return Finite ? Floor * std::sqrt(Square / double(Finite)) : 0;
}

namespace {
/// Of a field's finite numbers.
struct ErrorSums {
  double Norm = 0; ///< |candidate - original| / |original|.
  double Lean = 0; ///< sum((candidate - original) * original) / sum(original^2)
};
} // namespace

static ErrorSums sumErrors(const uint8_t *O, const uint8_t *N, uint64_t Count,
                           const Elements &E, const Field &F) {
  const size_t NumParts = (Count + PartOfRange - 1) / PartOfRange;
  std::vector<double> Largest(NumParts);
  eachPart(Count, [&](uint64_t Part, uint64_t From, uint64_t To) {
    for (uint64_t I = From; I < To; ++I)
      if (double V = readNumber(F.Kind, O + I * E.Stride + F.Offset);
          std::isfinite(V))
        Largest[Part] = std::max(Largest[Part], std::fabs(V));
  });
  // Squares of doubles may leave their range.
  double Unit = 0;
  for (double Each : Largest)
    Unit = std::max(Unit, Each);
  if (Unit == 0)
    Unit = 1;
  struct Sums {
    double Off = 0, Along = 0, All = 0;
  };
  std::vector<Sums> Parts(NumParts);
  eachPart(Count, [&](uint64_t Part, uint64_t From, uint64_t To) {
    auto &[Off, Along, All] = Parts[Part];
    for (uint64_t I = From; I < To; ++I) {
      double A = readNumber(F.Kind, O + I * E.Stride + F.Offset),
             B = readNumber(F.Kind, N + I * E.Stride + F.Offset);
      if (!std::isfinite(A) || !std::isfinite(B))
        continue;
      Off += (A / Unit - B / Unit) * (A / Unit - B / Unit);
      Along += (B / Unit - A / Unit) * (A / Unit);
      All += A / Unit * (A / Unit);
    }
  });
  Sums Whole;
  for (const Sums &Part : Parts) {
    Whole.Off += Part.Off;
    Whole.Along += Part.Along;
    Whole.All += Part.All;
  }
  if (Whole.Off == 0)
    return {};
  if (Whole.All == 0)
    return {HUGE_VAL, HUGE_VAL};
  return {std::sqrt(Whole.Off / Whole.All), Whole.Along / Whole.All};
}

Comparison compareBytes(std::string_view Original, std::string_view Candidate,
                        const Elements &Holds, const Tolerance &Allowed) {
  static const Elements Raw = Elements::of(NumberKind::U8);
  const Elements &E = Holds.Fields.empty() ? Raw : Holds;
  auto *O = reinterpret_cast<const uint8_t *>(Original.data());
  auto *N = reinterpret_cast<const uint8_t *>(Candidate.data());
  const uint64_t Count = Original.size() / E.Stride;
  // Most buffers are equal for the most part, and memcmp is fast.
  const uint64_t Step = std::max<uint64_t>(1, 65536 / E.Stride);
  std::vector<double> Floors; // Found when something differs.
  std::once_flag Found;
  std::vector<Comparison> Parts((Count + PartOfRange - 1) / PartOfRange);
  eachPart(Count, [&](uint64_t Part, uint64_t Begin, uint64_t End) {
    Comparison &C = Parts[Part];
    for (uint64_t From = Begin; From < End; From += Step) {
      uint64_t To = std::min(End, From + Step);
      if (std::memcmp(O + From * E.Stride, N + From * E.Stride,
                      (To - From) * E.Stride) == 0) {
        C.Numbers += (To - From) * E.Fields.size();
        continue;
      }
      std::call_once(Found, [&] {
        for (const Field &F : E.Fields)
          Floors.push_back(floorOf(O, Count, E, F, Allowed.Floor));
      });
      for (uint64_t I = From; I < To; ++I)
        for (unsigned F = 0; F < E.Fields.size(); ++F) {
          uint64_t At = I * E.Stride + E.Fields[F].Offset;
          compareNumber(C, E.Fields[F].Kind, O + At, N + At, I, F, Allowed,
                        Floors[F]);
        }
    }
  });
  Comparison C;
  for (const Comparison &Part : Parts)
    C.add(Part);
  for (uint64_t At = Count * E.Stride; At < Original.size(); ++At)
    compareNumber(C, NumberKind::U8, O + At, N + At, Count, 0, {}, 0);
  const bool Leans = Allowed.Floor >= 1;
  for (const Field &F : E.Fields)
    if ((Allowed.Norm > 0 || Leans) && C.Differing > 0 && isFloating(F.Kind)) {
      ErrorSums Error = sumErrors(O, N, Count, E, F);
      if (Allowed.Norm > 0) {
        C.NormError = std::max(C.NormError, Error.Norm);
        C.FarFields += !(Error.Norm <= Allowed.Norm);
      }
      double Chance = 4 * Error.Norm / std::sqrt(double(Count));
      if (Leans &&
          (C.LeanByChance == 0 || std::fabs(Error.Lean) - Chance >
                                      std::fabs(C.Lean) - C.LeanByChance)) {
        C.Lean = Error.Lean;
        C.LeanByChance = Chance;
      }
    }
  return C;
}

/// JSON has no infinity and no NaN.
static nlohmann::json number(double V) {
  if (std::isfinite(V))
    return V;
  return std::isnan(V) ? "nan" : V > 0 ? "inf" : "-inf";
}

nlohmann::json toJson(const Comparison &C) {
  nlohmann::json First = nlohmann::json::array();
  for (const Difference &D : C.First)
    First.push_back({{"element", D.Element},
                     {"field", D.Field},
                     {"original", number(D.Original)},
                     {"candidate", number(D.Candidate)}});
  return {{"numbers", C.Numbers},
          {"differing", C.Differing},
          {"wrong", C.Wrong},
          {"unwritten", C.Unwritten},
          {"nan_in_one", C.NaNs},
          {"max_absolute", number(C.MaxAbsolute)},
          {"max_relative", number(C.MaxRelative)},
          {"max_ulps", C.MaxUlps},
          {"norm_error", number(C.NormError)},
          {"far_fields", C.FarFields},
          {"lean", number(C.Lean)},
          {"lean_by_chance", number(C.LeanByChance)},
          {"first_wrong", std::move(First)}};
}

} // namespace cupilot::runner
