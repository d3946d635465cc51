//===- IntegerInputs.cpp - Other integers in buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the original takes them for indices or lengths, many of these make it
// fault, and the case is dropped.
//
//===----------------------------------------------------------------------===//

#include "InputValues.h"
#include <limits>
#include <random>

using namespace llvm;

namespace cupilot {

void permuteIntegers(GateCase &C, size_t Buffer, uint64_t Seed) {
  std::vector<int64_t> Old;
  transformIntegers(C.Buffers[Buffer], C.Layouts[Buffer],
                    [&](uint64_t, int64_t V) {
                      Old.push_back(V);
                      return V;
                    });
  std::mt19937_64 Engine(Seed);
  for (size_t N = Old.size(); N > 1; --N)
    std::swap(Old[N - 1], Old[Engine() % N]);
  transformIntegers(C.Buffers[Buffer], C.Layouts[Buffer],
                    [&](uint64_t Index, int64_t) { return Old[Index]; });
}

namespace {
/// What the integers of a buffer are like.
struct IntegerFacts {
  int64_t Least = std::numeric_limits<int64_t>::max();
  int64_t Most = std::numeric_limits<int64_t>::min();
  unsigned Bits = 8; ///< Of the widest.
};
} // namespace

static IntegerFacts factsOf(const GateCase &C, size_t Buffer) {
  IntegerFacts Facts;
  Bytes Copy = C.Buffers[Buffer];
  transformIntegers(Copy, C.Layouts[Buffer], [&](uint64_t, int64_t V) {
    Facts.Least = std::min(Facts.Least, V);
    Facts.Most = std::max(Facts.Most, V);
    return V;
  });
  for (const LayoutField &F : C.Layouts[Buffer].Fields)
    if (isInteger(F.Kind))
      Facts.Bits = std::max(Facts.Bits, 8 * sizeOf(F.Kind));
  return Facts;
}

static void addForBuffer(const CaseContext &X, const GateCase &Base, size_t I,
                         CaseMakers &Makers) {
  // Each number stays in the buffer, so that indices stay indices.
  Makers.push_back({Base.Name + " permuted", [&X, &Base, I] {
                      GateCase C = varied(Base, "permuted buffer " + Twine(I));
                      permuteIntegers(C, I, X.Seed);
                      return C;
                    }});
  auto Add = [&](const char *Name, auto Change) {
    Makers.push_back({Base.Name + " " + Name, [&Base, I, Name, Change] {
                        GateCase C =
                            varied(Base, Twine(Name) + " buffer " + Twine(I));
                        transformIntegers(C.Buffers[I], C.Layouts[I], Change);
                        return C;
                      }});
  };
  IntegerFacts Facts = factsOf(Base, I);
  Add("negated", [](uint64_t, int64_t V) {
    return static_cast<int64_t>(-static_cast<uint64_t>(V));
  });
  Add("wide integers", [](uint64_t Index, int64_t V) {
    return static_cast<int64_t>((Index + 1) * 0x9e3779b97f4a7c15 >> 13) ^ V;
  });
  Add("small integers", [](uint64_t Index, int64_t) {
    return static_cast<int64_t>(Index * 2654435761 >> 7) % 5;
  });
  uint64_t Seed = X.Seed;
  if (Facts.Bits > 16)
    Add("all bits", [Seed, I](uint64_t Index, int64_t) {
      return static_cast<int64_t>(drawAt(Seed, I, Index));
    });
  // What float, int and double hold exactly ends there.
  if (Facts.Bits > 16)
    Add("ends of types", [](uint64_t Index, int64_t) {
      static constexpr int64_t Powers[] = {int64_t(1) << 15,
                                           int64_t(1) << 16,
                                           int64_t(1) << 24,
                                           int64_t(1) << 31,
                                           int64_t(1) << 32,
                                           int64_t(1) << 53,
                                           std::numeric_limits<int64_t>::min()};
      uint64_t Power = Powers[Index / 5 % std::size(Powers)];
      int64_t Near = static_cast<int64_t>(Power + Index % 5 - 2);
      return Index / 35 % 2 ? static_cast<int64_t>(-static_cast<uint64_t>(Near))
                            : Near;
    });
  // 2^k - 1 is the last number of its length in bits, and often the first that
  // a float rounds up to the next.
  if (Facts.Bits > 16)
    Add("ends of binades", [Bits = Facts.Bits](uint64_t Index, int64_t) {
      const uint64_t Power = uint64_t(1) << Index / 3 % Bits;
      return static_cast<int64_t>(Power + Index % 3 - 1);
    });
  // Lengths and indices may be smaller.
  Add("integers minus one", [Least = Facts.Least](uint64_t, int64_t V) {
    return V > Least ? V - 1 : V;
  });
  Add("integers halved", [](uint64_t, int64_t V) { return V / 2; });
  if (Facts.Most > 0)
    Add("integers below the largest",
        [Seed, I, Most = Facts.Most](uint64_t Index, int64_t) {
          // All values of 64 bits have no number of their own.
          uint64_t Draw = drawAt(Seed + 1, I, Index);
          return static_cast<int64_t>(Draw % (static_cast<uint64_t>(Most) + 1));
        });
  Add("largest integers",
      [Most = Facts.Most](uint64_t, int64_t) { return Most; });
  Add("zeros", [](uint64_t, int64_t) { return int64_t(0); });
}

void addIntegerInputs(const CaseContext &X, const GateCase &Base,
                      CaseMakers &Makers) {
  for (size_t I = 0; I < Base.Buffers.size(); ++I)
    if (Base.Layouts[I].hasIntegers())
      addForBuffer(X, Base, I, Makers);
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

} // namespace cupilot
