//===- Inputs.cpp - Other values for a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace llvm;

namespace cupilot {

static GateCase varied(const GateCase &Base, const Twine &Name) {
  GateCase C = Base;
  C.Name = (Base.Name + " " + Name).str();
  C.Captured = false;
  C.Doubtful = true;
  return C;
}

static bool anyFloats(const GateCase &C) {
  return any_of(C.Layouts, [](const Layout &L) { return L.hasFloats(); });
}

/// A value of the element's own size from position \p I alone, such that
/// neighbours and rows differ.
static double positionCode(uint64_t I) {
  uint64_t Mixed = (I + 1) * 0x9e3779b97f4a7c15;
  double Fraction = static_cast<double>(Mixed >> 40) * 0x1p-24;
  return (Mixed >> 8 & 1 ? -1 : 1) * (0.25 + Fraction) * (1 + double(I % 7));
}

template <typename FnT>
static void addFloatMaker(const GateCase &Base, const char *Name, FnT Change,
                          CaseMakers &Makers) {
  Makers.push_back({Base.Name + " " + Name, [&Base, Name, Change] {
                      GateCase C = varied(Base, Name);
                      for (size_t I = 0; I < C.Buffers.size(); ++I)
                        transformFloats(C.Buffers[I], C.Layouts[I],
                                        [&](uint64_t Index, double V) {
                                          return Change(I, Index, V);
                                        });
                      return C;
                    }});
}

/// The most that a type holds, by which special values are chosen.
static double smallest(ElementKind K) {
  switch (K) {
  case ElementKind::Half:
    return 0x1p-24;
  case ElementKind::Double:
    return 0x1p-1074;
  default:
    return 0x1p-133; // Denormal in float and bfloat16.
  }
}

void addInputCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers) {
  if (anyFloats(Base)) {
    addFloatMaker(
        Base, "x3", [](size_t, uint64_t, double V) { return V * 3; }, Makers);
    addFloatMaker(
        Base, "x0.01", [](size_t, uint64_t, double V) { return V * 0.01; },
        Makers);
    addFloatMaker(
        Base, "x-1", [](size_t, uint64_t, double V) { return -V; }, Makers);
    addFloatMaker(
        Base, "position-coded",
        [](size_t B, uint64_t I, double) { return positionCode(I + 97 * B); },
        Makers);
    addFloatMaker(
        Base, "all-equal", [](size_t, uint64_t, double) { return 0.75; },
        Makers);
    uint64_t Seed = X.Seed;
    addFloatMaker(
        Base, "heavy-tailed",
        [Seed](size_t B, uint64_t I, double) {
          // A few values are hundreds of times larger than the rest.
          // The value follows from its place alone: a hash of seed, buffer and
          // index, with the constants of FNV-1a and splitmix64.
          uint64_t Draw = (Seed * 0x100000001b3 + B * 0x9e3779b97f4a7c15 + I) *
                          0xbf58476d1ce4e5b9;
          Draw ^= Draw >> 29;
          Draw *= 0x94d049bb133111eb;
          Draw ^= Draw >> 32;
          double Size = std::exp2(double(Draw >> 8 & 15) - 8 +
                                  double(Draw >> 16 & 255) / 256);
          return (Draw & 1 ? -Size : Size) * ((Draw >> 1 & 63) == 0 ? 64 : 1);
        },
        Makers);
    if (!X.Types.NoSpecialValues) {
      auto Special = [&](const char *Name, double Value, uint64_t Every) {
        addFloatMaker(
            Base, Name,
            [Value, Every](size_t B, uint64_t I, double V) {
              return (I + 3 * B) % Every == Every / 2 ? Value : V;
            },
            Makers);
      };
      Special("NaN", std::numeric_limits<double>::quiet_NaN(), 61);
      // What comparisons make of NaN is an accident of how they are written;
      // arithmetic hands it on.
      Makers.back().Make = [Make = std::move(Makers.back().Make)] {
        GateCase C = Make();
        C.NeedsNaN = true;
        return C;
      };
      Special("infinities", INFINITY, 67);
      Special("negative-infinities", -INFINITY, 71);
      Special("negative-zeros", -0.0, 5);
      Makers.push_back({Base.Name + " denormals", [&Base] {
                          GateCase C = varied(Base, "denormals");
                          for (size_t I = 0; I < C.Buffers.size(); ++I)
                            for (const LayoutField &F : C.Layouts[I].Fields)
                              if (isFloating(F.Kind))
                                for (size_t At = F.Offset, N = 1;
                                     At + sizeOf(F.Kind) <= C.Buffers[I].size();
                                     At += C.Layouts[I].Stride, ++N)
                                  if (N % 3 == 0)
                                    writeElement(
                                        F.Kind, C.Buffers[I].data() + At,
                                        smallest(F.Kind) * double(N % 5 + 1));
                          return C;
                        }});
    }
  }
  // Nothing else beside them that would hide what is lost.
  if (!X.Types.NoSpecialValues)
    addFloatMaker(
        Base, "only-denormals",
        [](size_t, uint64_t I, double V) {
          return std::copysign(0x1p-129 * double(I % 5 + 3), V);
        },
        Makers);
  for (size_t I = 0; I < Base.Buffers.size(); ++I) {
    if (!Base.Layouts[I].hasIntegers())
      continue;
    // Each number stays in the buffer, so that indices stay indices.
    Makers.push_back({Base.Name + " permuted", [&X, &Base, I] {
                        GateCase C =
                            varied(Base, "permuted buffer " + Twine(I));
                        std::vector<int64_t> Old;
                        transformIntegers(C.Buffers[I], C.Layouts[I],
                                          [&](uint64_t, int64_t V) {
                                            Old.push_back(V);
                                            return V;
                                          });
                        std::mt19937_64 Engine(X.Seed);
                        for (size_t N = Old.size(); N > 1; --N)
                          std::swap(Old[N - 1], Old[Engine() % N]);
                        transformIntegers(C.Buffers[I], C.Layouts[I],
                                          [&](uint64_t Index, int64_t) {
                                            return Old[Index];
                                          });
                        return C;
                      }});
    // Where the original takes them for indices, it faults and the case is
    // dropped.
    auto Add = [&](const char *Name, auto Change) {
      Makers.push_back({Base.Name + " " + Name, [&Base, I, Name, Change] {
                          GateCase C =
                              varied(Base, Twine(Name) + " buffer " + Twine(I));
                          transformIntegers(C.Buffers[I], C.Layouts[I], Change);
                          return C;
                        }});
    };
    Add("negated", [](uint64_t, int64_t V) { return -V; });
    Add("wide integers", [](uint64_t Index, int64_t V) {
      return static_cast<int64_t>((Index + 1) * 0x9e3779b97f4a7c15 >> 13) ^ V;
    });
    Add("small integers", [](uint64_t Index, int64_t) {
      return static_cast<int64_t>(Index * 2654435761 >> 7) % 5;
    });
  }
  // Characters that are negative or not, by the signedness of the type: all
  // buffers alike, as texts and patterns are compared.
  auto IsNarrow = [](const LayoutField &F) {
    return isInteger(F.Kind) && sizeOf(F.Kind) <= 2;
  };
  if (any_of(Base.Layouts,
             [&](const Layout &L) { return any_of(L.Fields, IsNarrow); }))
    Makers.push_back({Base.Name + " top bits flipped", [&Base, IsNarrow] {
                        GateCase C = varied(Base, "top bits flipped");
                        for (size_t I = 0; I < C.Buffers.size(); ++I)
                          for (const LayoutField &F : C.Layouts[I].Fields)
                            for (size_t At = F.Offset;
                                 IsNarrow(F) &&
                                 At + sizeOf(F.Kind) <= C.Buffers[I].size();
                                 At += C.Layouts[I].Stride)
                              C.Buffers[I][At + sizeOf(F.Kind) - 1] ^= 0x80;
                        return C;
                      }});
}

template <typename FnT>
static void addConstant(const GateCase &Base, const Twine &What, FnT Change,
                        CaseMakers &Makers) {
  for (double Factor : {3.0, 0.01, -1.0}) {
    std::string Name;
    raw_string_ostream(Name) << What << format(" x%g", Factor);
    auto Scale = [Factor](uint64_t Index, double V) {
      return V == 0 ? Factor * (1 + double(Index)) : V * Factor;
    };
    Makers.push_back({Base.Name + " " + Name, [&Base, Name, Change, Scale] {
                        GateCase C = varied(Base, Name);
                        Change(C, Scale);
                        return C;
                      }});
  }
}

void addConstantCases(const CaseContext &X, const GateCase &Base,
                      CaseMakers &Makers) {
  for (size_t I = 0; I < X.K.Params.size() && I < Base.Args.size(); ++I) {
    const Layout &L = X.Types.Values[I];
    for (const LayoutField &F : L.Fields) {
      if (!isFloating(F.Kind) ||
          F.Offset + sizeOf(F.Kind) > Base.Args[I].size())
        continue;
      std::string Name = X.K.Params[I].Name;
      if (L.Fields.size() > 1)
        Name += "." + std::to_string(F.Offset);
      addConstant(
          Base, Name,
          [I, F](GateCase &C, auto Scale) {
            uint8_t *P = C.Args[I].data() + F.Offset;
            writeElement(F.Kind, P, Scale(0, readElement(F.Kind, P)));
          },
          Makers);
    }
  }
  for (size_t I = 0; I < Base.Globals.size(); ++I) {
    auto It = X.Types.Globals.find(Base.Globals[I].first);
    if (It == X.Types.Globals.end())
      continue;
    const Layout &L = It->second;
    if (L.hasFloats())
      addConstant(
          Base, Base.Globals[I].first,
          [I, &L](GateCase &C, auto Scale) {
            transformFloats(C.Globals[I].second, L, Scale);
          },
          Makers);
    if (L.hasIntegers())
      Makers.push_back(
          {Base.Name + " " + Base.Globals[I].first + " +1", [&Base, I, &L] {
             GateCase C = varied(Base, Base.Globals[I].first + " +1");
             transformIntegers(C.Globals[I].second, L,
                               [](uint64_t, int64_t V) { return V + 1; });
             return C;
           }});
  }
}

} // namespace cupilot
