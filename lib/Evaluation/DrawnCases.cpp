//===- DrawnCases.cpp - Cases that follow from the variant ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most cases are the original's, and all variants share them: whoever reads the
// evidence of many verdicts could learn them by heart. The values of these are
// drawn by a digest of the variant's own code, so that they are other ones for
// each text, and the same again for the same text.
//
//===----------------------------------------------------------------------===//

#include "Impulses.h"
#include "InputValues.h"
#include "Variant.h"

using namespace llvm;

namespace cupilot {

static CaseMakers drawnCases(const GateCase &Base, uint64_t Seed) {
  CaseMakers Makers;
  if (any_of(Base.Layouts, [](const Layout &L) { return L.hasFloats(); })) {
    addFloatCase(
        Base, "drawn floats",
        [Seed](ElementKind K, size_t B, uint64_t I, double) {
          return ofBinades(K, drawAt(Seed, B, I), -6, 8);
        },
        Makers);
    addFloatCase(
        Base, "drawn heavy-tailed",
        [Seed](ElementKind, size_t B, uint64_t I, double) {
          return heavyTailed(drawAt(Seed + 1, B, I));
        },
        Makers);
    Makers.push_back(
        {Base.Name + " drawn impulses", [&Base, Seed] {
           constexpr unsigned Densities[] = {8, 32, 128};
           return withImpulses(
               Base,
               randomImpulses(Base, Seed,
                              Densities[Seed % std::size(Densities)]),
               "drawn impulses");
         }});
  }
  // All buffers, since indices into one may not fit another.
  if (any_of(Base.Layouts, [](const Layout &L) { return L.hasIntegers(); }))
    Makers.push_back({Base.Name + " drawn order", [&Base, Seed] {
                        GateCase C = varied(Base, "drawn order of integers");
                        for (size_t I = 0; I < C.Buffers.size(); ++I)
                          permuteIntegers(C, I, Seed + I);
                        return C;
                      }});
  return Makers;
}

Expected<bool> VariantRuns::judgeDrawn(GateVerdict &Verdict) {
  // Each is one more run of the original for every variant.
  constexpr double MostCost = 1e6;
  for (auto [I, Base] : enumerate(O.bases())) {
    if (O.baseCost(I) > MostCost)
      continue;
    for (CaseMaker &M : drawnCases(*Base, Salt)) {
      GateCase C = M.Make();
      C.Ordered = C.Thorough = false;
      Expected<std::unique_ptr<JudgedCase>> J = O.prepare(std::move(C));
      if (!J)
        return J.takeError();
      if (!*J) {
        ++Verdict.Skipped;
        continue;
      }
      Expected<bool> Right = judge(std::move(*J), Verdict);
      if (!Right || !*Right)
        return Right;
    }
  }
  return true;
}

} // namespace cupilot
