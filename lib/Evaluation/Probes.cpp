//===- Probes.cpp - Inputs that stand out one by one -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element that matters to the original must matter to the variant. Made
// much larger than all others, an element decides a sum as well as a maximum;
// small buffers have each of theirs probed, large ones random groups of many
// densities, so that whatever share of elements a variant leaves out, some
// probe lies in it and stands alone in its reduction. ImpulseProbes.cpp goes
// through all elements of large ones.
//
//===----------------------------------------------------------------------===//

#include "Impulses.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include <random>

using namespace llvm;

namespace cupilot {

/// Whether a buffer holds floats that the original may read.
static bool isProbed(const GateCase &C, size_t Buffer) {
  return C.Layouts[Buffer].hasFloats() &&
         (C.PureOutput.empty() || !C.PureOutput[Buffer]);
}

static bool isFloatAt(const GateCase &C, size_t Buffer, uint64_t Index) {
  return isFloating(numberAt(C, Buffer, Index).first);
}

void addProbeCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers) {
  constexpr uint64_t MostSingles = 24; // Launches, over all buffers.
  uint64_t Inputs = 0;
  for (size_t B = 0; B < Base.Buffers.size(); ++B)
    Inputs += isProbed(Base, B);
  if (!Inputs)
    return;
  // Groups: each element with probability 1 / Density, in all buffers. The
  // first two are each other's complement, so that no element is left out.
  unsigned Round = 0;
  for (unsigned Density : {2, 2, 16, 16, 128, 128, 1024, 1024}) {
    std::string Name = "impulses 1/" + utostr(Density);
    Makers.push_back(
        {Base.Name + " " + Name, [&X, &Base, Density, Round, Name] {
           unsigned Remainder = Density == 2 ? Round : 0;
           std::vector<Impulse> Impulses = randomImpulses(
               Base, X.Seed * 1000 + Round - Remainder, Density, Remainder);
           return withImpulses(Base, Impulses, Name);
         }});
    ++Round;
  }
  for (size_t B = 0; B < Base.Buffers.size(); ++B) {
    if (!isProbed(Base, B))
      continue;
    uint64_t N = numbersIn(Base, B), Most = MostSingles / Inputs;
    SmallVector<uint64_t> Places;
    SmallSet<uint64_t, 32> Seen;
    auto Add = [&](uint64_t I) {
      if (I < N && Places.size() < Most && Seen.insert(I).second)
        Places.push_back(I);
    };
    if (N <= Most) {
      for (uint64_t I = 0; I < N; ++I)
        Add(I);
    } else {
      // Ends, and both sides of the boundaries of warps, blocks and tiles.
      Add(0);
      Add(N - 1);
      for (uint64_t Tile : {32, 256, 1024, 4096}) {
        Add(Tile - 1);
        Add(Tile);
        Add((N - 1) / Tile * Tile);
      }
      std::mt19937_64 Engine(X.Seed + B);
      for (unsigned Tries = 0; Places.size() < Most && Tries < 1000; ++Tries)
        Add(Engine() % N);
    }
    for (uint64_t I : Places) {
      std::string Name = "impulse buffer " + utostr(B) + " at " + utostr(I);
      if (isFloatAt(Base, B, I))
        Makers.push_back({Base.Name + " " + Name, [&Base, B, I, Name] {
                            return withImpulses(
                                Base, Impulse{B, I, 40, I % 2 == 1}, Name);
                          }});
    }
  }
}

} // namespace cupilot
