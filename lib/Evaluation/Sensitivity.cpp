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
// Terms that cancel whatever the inputs are (a sum that is taken back) leave
// rounding errors that no change of inputs explains. So the original runs on
// the changed inputs as well: how far it is off there says how far an
// implementation of its kind is off at this element. In double, it is off by
// other roundings of its own (Shaken.cpp).
//
//===----------------------------------------------------------------------===//

#include "Original.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

using namespace llvm;

namespace cupilot {

/// Runs with other signs; fewer would leave some element untouched by chance.
static constexpr unsigned Runs = 8;
/// How far the original is off at an element: on these inputs, and in each run.
using OwnErrors = std::array<double, Runs + 1>;

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
      const bool IsShaken = F.Kind == ElementKind::Double;
      if (IsShaken && J.Shaken.empty())
        return 1; // The float64 run is the original itself.
      double Off =
          IsShaken ? J.Shaken[I][At]
                   : readElement(F.Kind, J.Original.Buffers[I].data() + At) -
                         readElement(F.Kind, J.Reference[I].data() + At);
      if (!std::isfinite(Off) || !(Moves[At] > 0))
        continue;
      ++Count;
      Most = std::max(Most, std::fabs(Off) / Moves[At]);
    }
  return Count < FewNumbers ? 1 : std::min(1.0, Generous * Most);
}

/// How far the original is off at an element, by its runs: the largest, but no
/// more than four times the next, so that a rounding to an integer that goes
/// the other way once does not count.
static double typicalOf(OwnErrors Off) {
  llvm::sort(Off);
  return std::min(Off[Runs], 4 * Off[Runs - 1]);
}

/// What \p Typical may be at most. Where the original is far off at most
/// elements, as a chaotic iteration is, 16 times as much must still be a small
/// part of the results.
static double mostTypical(std::vector<double> Typical, double Rms) {
  constexpr double Far = 0x1p-10, Most = 0x1p-7;
  if (Typical.empty())
    return 0;
  auto Middle = Typical.begin() + Typical.size() / 2;
  std::nth_element(Typical.begin(), Middle, Typical.end());
  return *Middle > Far * Rms ? Most * Rms : INFINITY;
}

Error OriginalRuns::findSensitivity(const JudgedCase &J) {
  std::vector<std::vector<double>> Moved;
  std::vector<std::vector<OwnErrors>> Off;
  for (const Bytes &B : J.Reference) {
    Moved.emplace_back(B.size());
    Off.emplace_back(B.size());
  }
  auto EachFloat = [&](size_t I, auto Visit) {
    const Layout &L = J.Case.Layouts[I];
    for (const LayoutField &F : L.Fields)
      for (uint64_t At = F.Offset;
           isFloating(F.Kind) && At + sizeOf(F.Kind) <= Moved[I].size();
           At += L.Stride)
        Visit(F.Kind, At);
  };
  for (size_t I = 0; I < Moved.size(); ++I)
    EachFloat(I, [&](ElementKind K, uint64_t At) {
      double E = readElement(K, J.Original.Buffers[I].data() + At) -
                 readElement(K, J.Reference[I].data() + At);
      if (K == ElementKind::Double && !J.Shaken.empty())
        E = J.Shaken[I][At];
      Off[I][At][Runs] = std::isfinite(E) ? std::fabs(E) : 0;
    });
  for (unsigned Run = 0; Run < Runs; ++Run) {
    GateCase C = J.Case;
    nudge(C, Setup.Seed * Runs + Run);
    Expected<RunResult> R = run(Wide, C, J.Fill);
    if (!R)
      return R.takeError();
    Expected<RunResult> Own = run(Plain, C, J.Fill);
    if (!Own)
      return Own.takeError();
    RunResult Shaken;
    if (!J.Shaken.empty())
      if (Error E = runShaken(C, J.Fill, Run + 1).moveInto(Shaken))
        return E;
    for (size_t I = 0; !R->Fault && !Own->Fault && I < Moved.size(); ++I)
      EachFloat(I, [&](ElementKind K, uint64_t At) {
        double Now = readElement(K, R->Buffers[I].data() + At),
               D = Now - readElement(K, J.Reference[I].data() + At),
               E = readElement(K, Own->Buffers[I].data() + At) - Now;
        if (K == ElementKind::Double && !J.Shaken.empty() && !Shaken.Fault)
          E = readElement(K, Shaken.Buffers[I].data() + At) - Now;
        if (std::isfinite(D))
          Moved[I][At] += D * D / Runs;
        Off[I][At][Run] = std::isfinite(E) ? std::fabs(E) : 0;
      });
  }
  for (size_t I = 0; I < Moved.size(); ++I) {
    double Square = 0;
    size_t Finite = 0;
    std::vector<double> Typical;
    EachFloat(I, [&](ElementKind K, uint64_t At) {
      Typical.push_back(typicalOf(Off[I][At]));
      double V = readElement(K, J.Reference[I].data() + At);
      if (std::isfinite(V)) {
        Square += V * V;
        ++Finite;
      }
    });
    for (double &Value : Moved[I])
      Value = std::sqrt(Value);
    const double Shown = shareOf(J, I, Moved[I]);
    double Rms = Finite ? std::sqrt(Square / double(Finite)) : 0;
    double Most = mostTypical(Typical, Rms);
    // Probes may have 16 times as many last bits: that is about inputs alone.
    const double Share = J.Case.Probe ? 1.0 / 16 : 1;
    EachFloat(I, [&](ElementKind, uint64_t At) {
      Moved[I][At] = std::max(Shown * Moved[I][At],
                              Share * std::min(typicalOf(Off[I][At]), Most));
    });
  }
  J.Sensitivity = std::move(Moved);
  return Error::success();
}

} // namespace cupilot
