//===- Rounding.cpp - What a relaxed contract lets products lose ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "relaxed" lets operands of products be rounded, and nothing else: so the
// original runs in float64 with rounded operands. Where that changes nothing
// (small integers, numbers of few bits), a variant must be as exact as under
// "same", whatever it rounds.
//
// Rounding has no side. Let e be the error of the rounded run, and m the number
// of roundings in it that are independent of each other: their mean over all
// results, b = sum((out - ref) * ref) / sum(ref^2), is about e / sqrt(m). How
// many are independent depends on how often an operand is used, so it is
// measured: in Coins runs, each value is rounded up or down by a coin of its
// own, alike wherever it is used. Four times the root mean square of their b is
// what chance explains; cutting off, or a constant that makes up for it, is far
// beyond that on inputs that are made for it (RelaxedCases.cpp).
//
//===----------------------------------------------------------------------===//

#include "Rounding.h"
#include "Errors.h"
#include "Original.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// Runs that find what chance explains.
static constexpr uint64_t Coins = 8;

unsigned grantedBits(double Tolerance) {
  return static_cast<unsigned>(
      std::clamp(std::ceil(-std::log2(Tolerance)), 1.0, 51.0));
}

bool leavesFormats(const JudgedCase &J) {
  for (size_t I = 0; I < J.Reference.size(); ++I) {
    const Bytes &Own = J.Original.Buffers[I];
    if (Own == J.Case.Buffers[I])
      continue;
    for (const LayoutField &F : J.Case.Layouts[I].Fields) {
      if (!isFloating(F.Kind))
        continue;
      ErrorSums E = sumErrors(Own, J.Reference[I], J.Case.Layouts[I], F);
      // As much as it may be off on a GPU, docs/Gate.md.
      if (!E.Finite || E.Norm > 1024 * unitOfRounding(F.Kind) ||
          (E.Rms > 0 && E.Rms < 64 * leastNormal(F.Kind)))
        return true;
    }
  }
  return false;
}

Error OriginalRuns::loadForRelaxed() {
  const PrecisionContract &C = kernel().Contract;
  if (C.K != PrecisionContract::Kind::Relaxed)
    return Error::success();
  Expected<LoadedKernel> K = loadRounded(
      Setup.Code.Source, grantedBits(C.RelativeTolerance), Setup.Arch);
  if (!K)
    return K.takeError();
  Rounded = std::move(*K);
  return Error::success();
}

Expected<RunResult> OriginalRuns::runRounded(const JudgedCase &J,
                                             uint64_t Seed) {
  if (Error E = Rounded.setRoundingSeed(Seed))
    return std::move(E);
  return run(Rounded, J.Case, J.Fill);
}

Error OriginalRuns::findRounding(JudgedCase &J) {
  const GateCase &C = J.Case;
  // A launch as it was recorded may be as large as it likes.
  if (!Rounded.Module || C.Probe || !(C.Doubtful || C.Ordered))
    return Error::success();
  if (C.Leanless) {
    std::vector<double> Squares(C.Buffers.size());
    for (uint64_t Coin = 1; Coin <= Coins; ++Coin) {
      Expected<RunResult> R = runRounded(J, Coin);
      if (!R)
        return R.takeError();
      for (size_t I = 0; !R->Fault && I < Squares.size(); ++I) {
        double Largest = 0;
        for (const LayoutField &F : C.Layouts[I].Fields)
          if (isFloating(F.Kind)) {
            double Lean =
                sumErrors(R->Buffers[I], J.Reference[I], C.Layouts[I], F).Lean;
            Largest = std::max(Largest, Lean * Lean);
          }
        Squares[I] += Largest / Coins;
      }
    }
    for (double Square : Squares)
      J.Lean.push_back(4 * std::sqrt(Square));
  }
  Expected<bool> Any = findRounds(J);
  for (uint64_t Seed = 0; Any && *Any && Seed <= 2; ++Seed) {
    Expected<RunResult> R = runRounded(J, Seed);
    if (!R)
      return R.takeError();
    if (R->Fault || R->Buffers != J.Reference)
      return Error::success();
  }
  if (!Any)
    return Any.takeError();
  J.AsExact = *Any;
  return Error::success();
}

/// Whether the kernel has products at all: what the contract grants is another
/// thing where it has none. Asked once, on numbers with all bits in the inputs
/// of \p J.
Expected<bool> OriginalRuns::findRounds(const JudgedCase &J) {
  if (Rounds)
    return *Rounds;
  JudgedCase All;
  All.Case = J.Case;
  for (size_t I = 0; I < All.Case.Buffers.size(); ++I)
    transformFloats(All.Case.Buffers[I], All.Case.Layouts[I],
                    [](uint64_t Index, double) {
                      return 1 + double(Index * 2654435761 % 65521) / 65521;
                    });
  Expected<RunResult> Exact = run(Wide, All.Case);
  if (!Exact)
    return Exact.takeError();
  Expected<RunResult> Shorter = runRounded(All, 0);
  if (!Shorter)
    return Shorter.takeError();
  Rounds =
      !Exact->Fault && !Shorter->Fault && Exact->Buffers != Shorter->Buffers;
  return *Rounds;
}

} // namespace cupilot
