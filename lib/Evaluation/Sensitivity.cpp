//===- Sensitivity.cpp - What a unit in the last place does -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums in another order differ most where large terms cancel, and the
// original's own error at such an element may be small by chance. So the
// reference is run again with every number of the inputs changed by a unit in
// its last place: a result is as good as the original's when it lies within a
// few times of what that does (Higham, Accuracy and Stability of Numerical
// Algorithms, chapter 1.5: backward errors). But the sine of a large number, or
// a remainder, moves far with its argument and is still computed to the last
// place: where the original's errors are nowhere of that size, they are not
// what excuses a variant's.
//
//===----------------------------------------------------------------------===//

#include "Original.h"
#include <cmath>
#include <random>

using namespace llvm;

namespace cupilot {

/// Runs with other signs; fewer would leave some element untouched by chance.
static constexpr unsigned Runs = 4;

/// A unit in the last place relative to the value; 0 for types so short that
/// their own rounding is all there is.
static double unitOf(ElementKind K) {
  return K == ElementKind::Float    ? 0x1p-23
         : K == ElementKind::Double ? 0x1p-52
                                    : 0;
}

static void nudge(GateCase &C, uint64_t Seed) {
  std::mt19937_64 Engine(Seed);
  for (size_t I = 0; I < C.Buffers.size(); ++I)
    for (const LayoutField &F : C.Layouts[I].Fields) {
      double Unit = unitOf(F.Kind);
      uint64_t End = C.Buffers[I].size();
      for (uint64_t At = F.Offset; Unit > 0 && At + sizeOf(F.Kind) <= End;
           At += C.Layouts[I].Stride) {
        uint8_t *To = C.Buffers[I].data() + At;
        double V = readElement(F.Kind, To);
        if (std::isfinite(V) && V != 0)
          writeElement(F.Kind, To, V * (Engine() & 1 ? 1 + Unit : 1 - Unit));
      }
    }
}

/// How much of what moves the numbers of buffer \p I, by their bytes in
/// \p Moves, the original's own errors show, many times over; at most 1.
static double shareOf(const JudgedCase &J, size_t I, ArrayRef<double> Moves) {
  // Of fewer numbers, all may be right by chance.
  constexpr size_t FewNumbers = 32;
  constexpr double Generous = 64;
  size_t Count = 0;
  double Most = 0;
  const Layout &L = J.Case.Layouts[I];
  for (const LayoutField &F : L.Fields)
    for (uint64_t At = F.Offset;
         isFloating(F.Kind) && At + sizeOf(F.Kind) <= Moves.size();
         At += L.Stride) {
      if (F.Kind == ElementKind::Double)
        return 1; // Then the float64 run is the original itself.
      double Off = readElement(F.Kind, J.Original.Buffers[I].data() + At) -
                   readElement(F.Kind, J.Reference[I].data() + At);
      if (!std::isfinite(Off) || !(Moves[At] > 0))
        continue;
      ++Count;
      Most = std::max(Most, std::fabs(Off) / Moves[At]);
    }
  return Count < FewNumbers ? 1 : std::min(1.0, Generous * Most);
}

Error OriginalRuns::findSensitivity(const JudgedCase &J) {
  std::vector<std::vector<double>> Squares;
  Squares.reserve(J.Reference.size());
  for (const Bytes &B : J.Reference)
    Squares.emplace_back(B.size());
  for (unsigned Run = 0; Run < Runs; ++Run) {
    GateCase C = J.Case;
    nudge(C, Setup.Seed * Runs + Run);
    Expected<RunResult> R = run(Wide, C, J.Fill);
    if (!R)
      return R.takeError();
    for (size_t I = 0; !R->Fault && I < Squares.size(); ++I)
      for (const LayoutField &F : C.Layouts[I].Fields)
        for (uint64_t At = F.Offset;
             isFloating(F.Kind) && At + sizeOf(F.Kind) <= Squares[I].size();
             At += C.Layouts[I].Stride) {
          double D = readElement(F.Kind, R->Buffers[I].data() + At) -
                     readElement(F.Kind, J.Reference[I].data() + At);
          if (std::isfinite(D))
            Squares[I][At] += D * D / Runs;
        }
  }
  for (auto [I, Buffer] : enumerate(Squares)) {
    for (double &Value : Buffer)
      Value = std::sqrt(Value);
    double Share = shareOf(J, I, Buffer);
    for (double &Value : Buffer)
      Value *= Share;
  }
  J.Sensitivity = std::move(Squares);
  return Error::success();
}

} // namespace cupilot
