//===- FloatInputs.cpp - Other floats in buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is wrong with a kernel for large, tiny or special numbers shows with
// such numbers alone. Results are compared relative to all numbers of a buffer,
// so most cases hold numbers of one range: beside 2^100, nobody sees what
// becomes of 2^30. Where the original itself leaves the range of its format, a
// case says little of the variant, and is dropped.
//
//===----------------------------------------------------------------------===//

#include "Impulses.h"
#include "InputValues.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;

namespace cupilot {

static bool anyFloats(const GateCase &C) {
  return any_of(C.Layouts, [](const Layout &L) { return L.hasFloats(); });
}

/// Binary exponents of the largest and the smallest normal number.
static std::pair<int, int> exponentsOf(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return {-14, 15};
  case ElementKind::Double:
    return {-1022, 1023};
  default:
    return {-126, 127};
  }
}

/// The step between denormals.
static double leastOf(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-24;
  case ElementKind::Double:
    return 0x1p-1074;
  default:
    return 0x1p-133; // Denormal in float and bfloat16.
  }
}

/// Binary exponents of all numbers, denormal ones too: up to the second, not
/// with it.
static std::pair<int, int> binadesOf(ElementKind K) {
  const int Above = exponentsOf(K).second + 1;
  switch (K) {
  case ElementKind::BFloat:
    return {-133, Above};
  case ElementKind::Float:
    return {-149, Above};
  default:
    return {std::ilogb(leastOf(K)), Above};
  }
}

/// NaN as a GPU makes it: all bits but the sign; and with it.
static uint64_t gpuNaN(ElementKind K, bool Sign) {
  uint64_t All = maskTrailingOnes<uint64_t>(8 * sizeOf(K));
  return Sign ? All : All >> 1;
}

void changeFloats(GateCase &C, const FloatChange &Change) {
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    uint64_t Index = 0;
    const Layout &L = C.Layouts[I];
    if (!L.hasFloats())
      continue;
    for (size_t At = 0; At + L.Stride <= C.Buffers[I].size(); At += L.Stride)
      for (const LayoutField &F : L.Fields)
        if (isFloating(F.Kind)) {
          uint8_t *P = C.Buffers[I].data() + At + F.Offset;
          writeElement(F.Kind, P,
                       Change(F.Kind, I, Index++, readElement(F.Kind, P)));
        }
  }
}

void addFloatCase(const GateCase &Base, const char *Name,
                  const FloatChange &Change, CaseMakers &Makers) {
  Makers.push_back({Base.Name + " " + Name, [&Base, Name, Change] {
                      GateCase C = varied(Base, Name);
                      changeFloats(C, Change);
                      return C;
                    }});
}

/// Lets \p Mark speak of the case that was added last.
static void markLast(CaseMakers &Makers, void (*Mark)(GateCase &)) {
  Makers.back().Make = [Make = std::move(Makers.back().Make), Mark] {
    GateCase C = Make();
    Mark(C);
    return C;
  };
}
static void needsNaN(GateCase &C) { C.NeedsNaN = true; }
static void needsFinite(GateCase &C) { C.NeedsFinite = true; }

double heavyTailed(uint64_t Draw) {
  double Size =
      std::exp2(double(Draw >> 8 & 15) - 8 + double(Draw >> 16 & 255) / 256);
  return (Draw & 1 ? -Size : Size) * ((Draw >> 1 & 63) == 0 ? 64 : 1);
}

double ofBinades(ElementKind Kind, uint64_t Draw, int Low, int High) {
  auto [Least, Most] = exponentsOf(Kind);
  Low = std::clamp(Low, Least, Most - 1);
  High = std::clamp(High, Low + 1, Most);
  int Exponent = Low + static_cast<int>((Draw >> 1 & 0xffffff) %
                                        static_cast<unsigned>(High - Low));
  double Size = std::ldexp(1 + double(Draw >> 32) * 0x1p-32, Exponent);
  return Draw & 1 ? -Size : Size;
}

/// A value of the element's own size from position \p I alone, such that
/// neighbours and rows differ.
static double positionCode(uint64_t I) {
  uint64_t Mixed = (I + 1) * 0x9e3779b97f4a7c15;
  double Fraction = static_cast<double>(Mixed >> 40) * 0x1p-24;
  return (Mixed >> 8 & 1 ? -1 : 1) * (0.25 + Fraction) * (1 + double(I % 7));
}

static void addUsual(uint64_t Seed, const GateCase &Base, CaseMakers &Makers) {
  using EK = ElementKind;
  addFloatCase(
      Base, "x3", [](EK, size_t, uint64_t, double V) { return V * 3; }, Makers);
  addFloatCase(
      Base, "x0.01", [](EK, size_t, uint64_t, double V) { return V * 0.01; },
      Makers);
  addFloatCase(
      Base, "x-1", [](EK, size_t, uint64_t, double V) { return -V; }, Makers);
  addFloatCase(
      Base, "position-coded",
      [](EK, size_t B, uint64_t I, double) { return positionCode(I + 97 * B); },
      Makers);
  addFloatCase(
      Base, "all-equal", [](EK, size_t, uint64_t, double) { return 0.75; },
      Makers);
  addFloatCase(
      Base, "heavy-tailed",
      [Seed](EK, size_t B, uint64_t I, double) {
        return heavyTailed(drawAt(Seed, B, I));
      },
      Makers);
}

/// Numbers of every size: first some of them, then whole buffers.
static void addBinades(uint64_t Seed, const GateCase &Base,
                       CaseMakers &Makers) {
  struct Window {
    const char *Name;
    int Low, High;
    unsigned Every;
  };
  // Cubes of 2^40 are still floats: beyond that, it is up to the way in which
  // something is computed whether it overflows.
  static constexpr Window Windows[] = {
      {"some of every binade", -100, 100, 16},
      {"some to 2^30", 14, 30, 16},
      {"some to 2^100", 30, 100, 16},
      {"2^14 to 2^30", 14, 30, 1},
      {"2^30 to 2^40", 30, 40, 1},
      {"2^-50 to 2^-25", -50, -25, 1},
      // Of two and of three, products are denormal.
      {"2^-70 to 2^-62", -70, -62, 1},
      {"2^-47 to 2^-41", -47, -41, 1},
      // A whole number and a half for as long as there is one.
      {"2^-1 to 2^24", -1, 24, 1},
  };
  bool Wide = any_of(Base.Layouts, [](const Layout &L) {
    return any_of(L.Fields, [](const LayoutField &F) {
      return isFloating(F.Kind) && F.Kind != ElementKind::Half;
    });
  });
  for (const Window &W : Windows) {
    // Half ends at 2^15.
    if (!Wide && W.Every == 1 && (W.Low >= 15 || W.High <= -14))
      continue;
    addFloatCase(
        Base, W.Name,
        [W, Seed](ElementKind K, size_t B, uint64_t I, double V) {
          uint64_t Draw = drawAt(Seed + W.Low, B, I);
          // Sums would hide all but the largest.
          return Draw >> 40 & (W.Every - 1)
                     ? V
                     : ofBinades(K, drawAt(Draw, B, I), W.Low, W.High);
        },
        Makers);
    markLast(Makers, needsFinite);
  }
  // One alone, and some powers of two below the largest: else it is up to the
  // order of a sum or a product whether that leaves the range.
  Makers.push_back(
      {Base.Name + " one near the largest", [&Base, Seed] {
         GateCase C = varied(Base, "one near the largest");
         for (size_t B = 0; B < C.Buffers.size(); ++B) {
           uint64_t N = numbersIn(C, B);
           if (N == 0)
             continue;
           auto [Kind, At] = numberAt(C, B, drawAt(Seed, B, N) % N);
           int Below = Kind == ElementKind::Half ? 2 : 7;
           if (isFloating(Kind))
             writeElement(Kind, C.Buffers[B].data() + At,
                          std::ldexp(1.875, exponentsOf(Kind).second - Below));
         }
         C.NeedsFinite = true;
         return C;
       }});
}

/// Into which the binades of a type are divided.
static constexpr int Pieces = 16;

/// The binades of piece \p Piece of a type. Of those that usual numbers and
/// addBinades() have in whole buffers there is nothing more to know: nothing.
static std::optional<std::pair<int, int>> pieceOf(ElementKind K, int Piece,
                                                  uint64_t Draw) {
  constexpr int Stretch = 18;
  const auto Usual =
      K == ElementKind::Half ? std::pair(-9, 4) : std::pair(-50, 42);
  auto [Least, Above] = binadesOf(K);
  int Low = Least + (Above - Least) * Piece / Pieces,
      High = Least + (Above - Least) * (Piece + 1) / Pieces;
  if (Low >= Usual.first && High <= Usual.second)
    return std::nullopt;
  if (int Spare = High - Low - Stretch; Spare > 0) {
    Low += static_cast<int>(Draw % unsigned(Spare + 1));
    High = Low + Stretch;
  }
  return std::pair(Low, High);
}

/// Every binade of each type, in equal pieces from the least to the largest, a
/// case for each: beside numbers that are far larger, nobody sees what becomes
/// of one. A double has a stretch of each piece.
static void addPieces(const CaseContext &X, const GateCase &Base,
                      CaseMakers &Makers) {
  auto IsNew = [&](int Piece) {
    return any_of(Base.Layouts, [&](const Layout &L) {
      return any_of(L.Fields, [&](const LayoutField &F) {
        return isFloating(F.Kind) && pieceOf(F.Kind, Piece, 0);
      });
    });
  };
  for (int Piece = 0; Piece < Pieces; ++Piece) {
    if (!IsNew(Piece))
      continue;
    std::string Name = ("binades " + Twine(Piece)).str();
    Makers.push_back(
        {Base.Name + " " + Name,
         [&Base, Name, Piece, Seed = X.Seed + unsigned(Piece),
          IsUsual = X.Types.NoSpecialValues] {
           GateCase C = varied(Base, Name);
           changeFloats(C, [&](ElementKind K, size_t B, uint64_t I, double V) {
             auto Binades = pieceOf(K, Piece, drawAt(Seed, 0, 0));
             if (!Binades)
               return V;
             auto [Low, High] = *Binades;
             uint64_t Draw = drawAt(Seed, B, I);
             double Size = std::ldexp(
                 1 + double(Draw >> 40) * 0.99 * 0x1p-24,
                 Low + int((Draw >> 1 & 0xffff) % unsigned(High - Low)));
             return Draw & 1 ? -Size : Size;
           });
           (IsUsual ? C.NeedsFinite : C.OnlyFinite) = true;
           C.OtherFill = true; // What is not compared may be any NaN.
           return C;
         }});
  }
}

/// Multiples of half a pi, and numbers half way between whole ones.
static void addMultiples(uint64_t Seed, const GateCase &Base,
                         CaseMakers &Makers) {
  addFloatCase(
      Base, "multiples",
      [Seed](ElementKind, size_t B, uint64_t I, double) {
        uint64_t Draw = drawAt(Seed, B, I);
        auto Whole = static_cast<double>(static_cast<int64_t>(Draw) >> 44);
        constexpr double HalfPi = 1.57079632679489661923;
        switch (Draw % 4) {
        case 0:
          return Whole * HalfPi; // To 2^19 times.
        case 1:
          return std::trunc(Whole * 0x1p-12) * HalfPi;
        case 2:
          return std::trunc(Whole * 0x1p-6) + 0.5;
        default:
          return std::trunc(Whole * 0x1p-12) * 0.25;
        }
      },
      Makers);
  markLast(Makers, needsFinite);
}

/// How long rows may be, by the integer arguments.
static SmallVector<uint64_t, 3> rowLengths(const CaseContext &X,
                                           const GateCase &Base) {
  constexpr size_t MostLengths = 2;
  constexpr uint64_t LeastLength = 32;
  uint64_t Most = 0;
  for (auto [B, L] : zip_equal(Base.Buffers, Base.Layouts))
    if (L.hasFloats())
      Most = std::max<uint64_t>(Most, B.size() / L.Stride * L.Fields.size());
  SmallSet<uint64_t, 4> Seen;
  SmallVector<uint64_t, 3> Lengths;
  for (const ScalarRef &S : X.K.Scalars)
    if (uint64_t V = readScalar(Base, S); V >= LeastLength && V <= Most &&
                                          Lengths.size() < MostLengths &&
                                          Seen.insert(V).second)
      Lengths.push_back(V);
  return Lengths;
}

void addRowCases(const CaseContext &X, const GateCase &Base,
                 CaseMakers &Makers) {
  if (!anyFloats(Base))
    return;
  for (uint64_t Length : rowLengths(X, Base)) {
    auto IsLarge = [Length, Seed = X.Seed](size_t B, uint64_t I) {
      return I % Length == drawAt(Seed, B, I / Length) % Length;
    };
    // One large number in each row, and many smaller ones by 5 to 15 below:
    // the exponentials of a softmax. A little apart, so that their roundings
    // have no common sign.
    std::string Gaps = Base.Name + " gaps in rows of " + utostr(Length);
    Makers.push_back(
        {Gaps, [&Base, IsLarge, Length] {
           GateCase C = varied(Base, "gaps in rows of " + Twine(Length));
           changeFloats(C, [&](ElementKind, size_t B, uint64_t I, double) {
             double Gap = 5 + double((I / Length) % 11);
             return IsLarge(B, I)
                        ? 2.0
                        : 2 - Gap - double(drawAt(0, B, I) & 255) * 0x1p-12;
           });
           return C;
         }});
    // Whatever the order, float adds them without rounding. A little apart,
    // too: exponentials of equal numbers would all be rounded the same way.
    std::string Small = Base.Name + " many small in rows of " + utostr(Length);
    Makers.push_back(
        {Small, [&Base, IsLarge, Length] {
           GateCase C = varied(Base, "many small in rows of " + Twine(Length));
           changeFloats(C, [&](ElementKind, size_t B, uint64_t I, double) {
             return IsLarge(B, I)
                        ? 1.0
                        : 0x1p-11 + 0x1p-22 * double(drawAt(1, B, I) & 1023);
           });
           return C;
         }});
  }
}

static size_t floatFields(const Layout &L) {
  return size_t(count_if(
      L.Fields, [](const LayoutField &F) { return isFloating(F.Kind); }));
}

/// The most numbers that an element of a buffer has, 0 if none has several.
static size_t mostFields(const GateCase &Base) {
  constexpr size_t Most = 4;
  size_t Found = 0;
  for (const Layout &L : Base.Layouts)
    if (size_t Count = floatFields(L); Count > 1)
      Found = std::max(Found, std::min(Count, Most));
  return Found;
}

static void addSpecial(const GateCase &Base, CaseMakers &Makers) {
  auto Special = [&](const char *Name, double Value, uint64_t Every) {
    addFloatCase(
        Base, Name,
        [Value, Every](ElementKind, size_t B, uint64_t I, double V) {
          return (I + 3 * B) % Every == Every / 2 ? Value : V;
        },
        Makers);
  };
  Special("NaN", std::numeric_limits<double>::quiet_NaN(), 61);
  // What comparisons make of NaN is an accident of how they are written;
  // arithmetic hands it on.
  markLast(Makers, needsNaN);
  Makers.push_back({Base.Name + " NaN of a GPU", [&Base] {
                      GateCase C = varied(Base, "NaN of a GPU");
                      for (size_t B = 0; B < C.Buffers.size(); ++B) {
                        const Layout &L = C.Layouts[B];
                        uint64_t N = 3 * B;
                        for (const LayoutField &F : L.Fields)
                          for (size_t At = F.Offset;
                               isFloating(F.Kind) &&
                               At + sizeOf(F.Kind) <= C.Buffers[B].size();
                               At += L.Stride, ++N)
                            if (N % 31 == 15) {
                              uint64_t Raw = gpuNaN(F.Kind, N % 62 == 15);
                              std::memcpy(C.Buffers[B].data() + At, &Raw,
                                          sizeOf(F.Kind));
                            }
                      }
                      C.NeedsNaN = C.OtherFill = true;
                      return C;
                    }});
  Special("infinities", INFINITY, 67);
  Special("negative-infinities", -INFINITY, 71);
  Special("negative-zeros", -0.0, 5);
  addFloatCase(
      Base, "denormals",
      [](ElementKind K, size_t, uint64_t I, double V) {
        return I % 3 == 2 ? leastOf(K) * double((I + 1) % 5 + 1) : V;
      },
      Makers);
  // Nothing else beside them that would hide what is lost; some so small that
  // small multiples of them are denormal, too.
  addFloatCase(
      Base, "only-denormals",
      [](ElementKind, size_t, uint64_t I, double V) {
        return std::copysign(
            (I / 5 % 4 == 3 ? 0x1p-136 : 0x1p-129) * double(I % 5 + 3), V);
      },
      Makers);
  // One number of a structure alone: the others let it matter.
  for (size_t Field = 0, Most = mostFields(Base); Field < Most; ++Field)
    addFloatCase(
        Base, "denormals in one field",
        [&Base, Field](ElementKind K, size_t B, uint64_t I, double V) {
          const size_t Fields = floatFields(Base.Layouts[B]);
          return Fields > 1 && I % Fields == Field
                     ? leastOf(K) * double(I / Fields % 5 + 3)
                     : V;
        },
        Makers);
}

void addFloatInputs(const CaseContext &X, const GateCase &Base,
                    CaseMakers &Makers) {
  if (!anyFloats(Base))
    return;
  addUsual(X.Seed, Base, Makers);
  if (!X.Types.NoSpecialValues)
    addSpecial(Base, Makers);
  // Who is granted a range may lose what lies far below it.
  if (X.K.Contract.Ranges.empty())
    addBinades(X.Seed, Base, Makers);
  addMultiples(X.Seed, Base, Makers);
  addRowCases(X, Base, Makers);
  // Under such a contract, inputs are scaled as far as the original bears it.
  if (X.K.Contract.K != PrecisionContract::Kind::Relaxed)
    addPieces(X, Base, Makers);
}

} // namespace cupilot
