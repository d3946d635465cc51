//===- RelaxedCases.cpp - Inputs for relaxed contracts --------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A relaxed contract grants shorter mantissas: not a smaller range, not another
// result where nothing is to be rounded, and no errors that lean to one side.
// Each of the three has inputs on which it shows.
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Ranges.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// How often a buffer is taken by itself.
static constexpr size_t MostAlone = 4;

namespace {
/// The float buffers that a launch reads, and what is made of them.
class RelaxedMaker {
public:
  RelaxedMaker(const CaseContext &X, const GateCase &Base, CaseMakers &Makers)
      : X(X), Base(Base), Makers(Makers) {
    for (size_t I = 0; I < Base.Buffers.size(); ++I)
      if (Base.Layouts[I].hasFloats() &&
          (Base.PureOutput.empty() || !Base.PureOutput[I]))
        Inputs.push_back(I);
  }
  void addLeans();
  void addMixtures();
  void addExact();
  void addScales();

private:
  using Value =
      std::function<double(uint64_t Draw, double Old, uint64_t Index)>;
  /// A case in which \p Of says what each input holds, by a random number of
  /// the place, what it holds, and the place.
  void add(const Twine &Name, std::function<Value(size_t Buffer)> Of,
           bool Leanless);
  void addScale(const Twine &Name, ArrayRef<int> Powers);
  bool bears(size_t Buffer, int Power) const;

  const CaseContext &X;
  const GateCase &Base;
  CaseMakers &Makers;
  SmallVector<size_t> Inputs;
};
} // namespace

/// splitmix64's, of seed and place.
static uint64_t splitMixAt(uint64_t Seed, uint64_t Buffer, uint64_t Index) {
  uint64_t Draw = (Seed * 64 + Buffer + 1) * 0x9e3779b97f4a7c15 + Index;
  for (uint64_t Factor : {0xbf58476d1ce4e5b9, 0x94d049bb133111eb})
    Draw = (Draw ^ Draw >> 30) * Factor;
  return Draw ^ Draw >> 31;
}

static double uniform(uint64_t Draw) { return double(Draw >> 11) * 0x1p-53; }

/// About normal: a sum of uniform numbers, the same on every host.
static double normal(uint64_t Draw, double, uint64_t) {
  double Sum = -6;
  for (unsigned I = 0; I < 12; ++I)
    Sum += uniform(splitMixAt(Draw, I, 0));
  return Sum;
}

/// A number of 8 bits in 1/2 to 4, and \p Beside: a little less loses a whole
/// unit when it is cut off, a little more gains one when it is always raised,
/// at any length from there to 19 bits behind the point. Rounding to nearest
/// returns the number itself.
static double besideShort(uint64_t Draw, double Beside) {
  double Short = 1 + double(1 + Draw % 127) * 0x1p-7;
  return std::ldexp(Short + Beside, int(Draw >> 32) % 3 - 1);
}

static double belowShort(uint64_t Draw, double, uint64_t) {
  return besideShort(Draw, -0x1p-21);
}
static double aboveShort(uint64_t Draw, double, uint64_t) {
  return besideShort(Draw, 0x1p-21);
}
static double positive(uint64_t Draw, double, uint64_t) {
  return 0.5 + uniform(Draw);
}
static double countingNumber(uint64_t Draw, double, uint64_t) {
  return double(1 + Draw % 4);
}
static double smallInteger(uint64_t Draw, double, uint64_t) {
  return double(Draw % 9) - 4;
}
static double oneInEight(uint64_t Draw, double, uint64_t) {
  return Draw % 8 == 0;
}
/// \p Old with 8 bits, as bfloat16 has.
static double shortened(uint64_t, double Old, uint64_t) {
  int Exponent = 0;
  if (!std::isfinite(Old))
    return Old;
  double Mantissa = std::frexp(Old, &Exponent);
  return std::ldexp(std::nearbyint(std::ldexp(Mantissa, 8)), Exponent - 8);
}

void RelaxedMaker::add(const Twine &Name,
                       std::function<Value(size_t Buffer)> Of, bool Leanless) {
  std::string Full = (Base.Name + " " + Name).str();
  Makers.push_back(
      {Full,
       [&Base = Base, Inputs = Inputs, Seed = X.Seed, Full, Of, Leanless] {
         GateCase C = Base;
         C.Name = Full;
         C.Captured = C.Ordered = C.Thorough = false;
         C.Doubtful = true;
         C.Leanless = Leanless;
         for (size_t I : Inputs) {
           Value V = Of(I);
           transformFloats(C.Buffers[I], C.Layouts[I],
                           [&](uint64_t Index, double Old) {
                             return V(splitMixAt(Seed, I, Index), Old, Index);
                           });
         }
         return C;
       }});
}

void RelaxedMaker::addLeans() {
  auto All = [](double (*V)(uint64_t, double, uint64_t)) {
    return [V](size_t) -> Value { return V; };
  };
  add("just below short numbers", All(belowShort), true);
  add("just above short numbers", All(aboveShort), true);
  add("positive", All(positive), true);
  add("normal", All(normal), true);
  for (size_t One : ArrayRef(Inputs).take_front(MostAlone))
    if (Inputs.size() > 1)
      add(
          "positive, all but buffer " + Twine(One) + " exact",
          [One](size_t I) -> Value {
            return I == One ? positive : countingNumber;
          },
          true);
}

void RelaxedMaker::addExact() {
  add("small integers", [](size_t) -> Value { return smallInteger; }, false);
  add("short numbers", [](size_t) -> Value { return shortened; }, false);
  for (size_t One : ArrayRef(Inputs).take_front(MostAlone))
    add(
        "short numbers, few ones in buffer " + Twine(One),
        [One](size_t I) -> Value { return I == One ? oneInEight : shortened; },
        false);
}

/// Small numbers that matter by their count: whoever leaves them out beside a
/// large one finds a share of the result missing. A sum of exponentials shows
/// it by the distance, one of products by the quotient.
void RelaxedMaker::addMixtures() {
  // One large number in most rows of hundreds, and in some of fewer.
  constexpr uint64_t Every = 251;
  for (size_t One : ArrayRef(Inputs).take_front(MostAlone))
    for (auto [Small, Large] :
         {std::pair(0.25, 10.25), {1.0, 1024.0}, {0.25, 7.25}}) {
      std::string Name;
      raw_string_ostream(Name)
          << format("one %g among %llu of %g in buffer %zu", Large,
                    static_cast<unsigned long long>(Every), Small, One);
      add(
          Name,
          [One, Small = Small, Large = Large](size_t I) -> Value {
            if (I != One)
              return [](uint64_t, double Old, uint64_t) { return Old; };
            return [=](uint64_t, double, uint64_t Index) {
              return Index % Every == 101 ? Large : Small;
            };
          },
          false);
    }
}

/// Whether the numbers of \p Buffer stay exact and in the contract's range when
/// they are multiplied by 2^Power.
bool RelaxedMaker::bears(size_t Buffer, int Power) const {
  const Layout &L = Base.Layouts[Buffer];
  std::optional<Magnitudes> Held = magnitudesOf(Base.Buffers[Buffer], L);
  if (!Held)
    return true;
  double Low = std::ldexp(Held->Least, Power),
         High = std::ldexp(Held->Largest, Power);
  if (const MagnitudeRange *R = rangeOfBuffer(X.K, Base, Buffer);
      R && (High < R->Low || High > R->High))
    return false;
  return all_of(L.Fields, [&](const LayoutField &F) {
    if (!isFloating(F.Kind))
      return true;
    uint8_t Stored[8] = {};
    writeElement(F.Kind, Stored, High);
    return Low >= leastNormal(F.Kind) &&
           std::isfinite(readElement(F.Kind, Stored));
  });
}

void RelaxedMaker::addScale(const Twine &Name, ArrayRef<int> Powers) {
  std::string Full = (Base.Name + " " + Name).str();
  Makers.push_back({Full, [&Base = Base, Inputs = Inputs, Full,
                           Powers = SmallVector<int>(Powers)] {
                      GateCase C = Base;
                      C.Name = Full;
                      C.Captured = C.Ordered = C.Thorough = false;
                      C.Doubtful = C.Scaled = true;
                      for (auto [I, Power] : zip_equal(Inputs, Powers))
                        transformFloats(C.Buffers[I], C.Layouts[I],
                                        [Power = Power](uint64_t, double V) {
                                          return std::ldexp(V, Power);
                                        });
                      return C;
                    }});
}

void RelaxedMaker::addScales() {
  constexpr int Powers[] = {60, -60, 20, -20, 40, -40};
  for (int Power : Powers)
    if (all_of(Inputs, [&](size_t I) { return bears(I, Power); }))
      addScale("all x2^" + Twine(Power),
               SmallVector<int>(Inputs.size(), Power));
  for (size_t At = 0; At < std::min(MostAlone, Inputs.size()); ++At)
    for (int Power : Powers)
      if (Inputs.size() > 1 && bears(Inputs[At], Power)) {
        SmallVector<int> Each(Inputs.size());
        Each[At] = Power;
        addScale("buffer " + Twine(Inputs[At]) + " x2^" + Twine(Power), Each);
      }
  // To the ends of ranges.
  for (int Sign : {1, -1}) {
    SmallVector<int> Each(Inputs.size());
    for (size_t At = 0; At < Inputs.size(); ++At)
      while (rangeOfBuffer(X.K, Base, Inputs[At]) && std::abs(Each[At]) < 60 &&
             bears(Inputs[At], Each[At] + Sign))
        Each[At] += Sign;
    if (any_of(Each, [](int Power) { return Power != 0; }))
      addScale(Sign > 0 ? "at the upper ends of ranges"
                        : "at the lower ends of ranges",
               Each);
  }
}

void addRelaxedCases(const CaseContext &X, const GateCase &Base,
                     CaseMakers &Makers) {
  if (X.K.Contract.K != PrecisionContract::Kind::Relaxed)
    return;
  CaseMakers Leans, Exact, Scales, Mixtures;
  RelaxedMaker(X, Base, Leans).addLeans();
  RelaxedMaker(X, Base, Exact).addExact();
  RelaxedMaker(X, Base, Scales).addScales();
  RelaxedMaker(X, Base, Mixtures).addMixtures();
  // What shows most comes first: large launches bear few cases.
  CaseMakers *Lists[] = {&Leans, &Exact, &Scales, &Mixtures};
  size_t Longest = 0;
  for (CaseMakers *List : Lists)
    Longest = std::max(Longest, List->size());
  for (size_t I = 0; I < Longest; ++I)
    for (CaseMakers *List : Lists)
      if (I < List->size())
        Makers.push_back(std::move((*List)[I]));
}

} // namespace cupilot
