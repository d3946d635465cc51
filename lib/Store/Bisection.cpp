//===- Bisection.cpp - The few of many that break something -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shortest bad prefix ends in a culprit. With that one in every set, the
// shortest bad prefix of those before it ends in the next, until the culprits
// alone are bad.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Store/Bisection.h"
#include "llvm/Support/MathExtras.h"
#include <optional>
#include <vector>

using namespace llvm;

namespace cupilot {

namespace {
class Bisector {
public:
  Bisector(unsigned Count, BisectTest Test) : Count(Count), Test(Test) {}
  Error run();
  BisectResult Result;

private:
  Expected<BisectAnswer> ask(const BitVector &Set, unsigned StepsLeft);
  Expected<bool> confirm();
  Expected<std::optional<unsigned>> shortestBadPrefix(unsigned High);
  BitVector withPrefix(unsigned Length) const {
    BitVector Set = Result.Culprits;
    if (Length)
      Set.set(0, Length);
    return Set;
  }
  void finish(BisectResult::Kind K) { Result.K = K; }

  unsigned Count;
  BisectTest Test;
  std::vector<std::pair<BitVector, BisectAnswer>> Known;
};
} // namespace

Expected<BisectAnswer> Bisector::ask(const BitVector &Set, unsigned StepsLeft) {
  for (const auto &[Old, Answer] : Known)
    if (Old == Set)
      return Answer;
  ++Result.Tests;
  Expected<BisectAnswer> Answer = Test(Set, StepsLeft);
  if (Answer)
    Known.emplace_back(Set, *Answer);
  return Answer;
}

/// The least length whose prefix, with the culprits, is bad; that of \p High
/// is. Nothing when tests in between are skipped: then all that it can be are
/// the culprits.
Expected<std::optional<unsigned>> Bisector::shortestBadPrefix(unsigned High) {
  unsigned Low = 0; // Good.
  while (High - Low > 1) {
    unsigned Middle = Low + (High - Low) / 2;
    std::optional<unsigned> Asked;
    BisectAnswer Answer = BisectAnswer::Skip;
    // Outward from the middle until one can be tested.
    for (unsigned Away = 0; Away < High - Low && !Asked; ++Away)
      for (unsigned Length : {Middle - Away, Middle + Away}) {
        if (Asked || Length <= Low || Length >= High)
          continue;
        Expected<BisectAnswer> A =
            ask(withPrefix(Length), Log2_32_Ceil(High - Low));
        if (!A)
          return A.takeError();
        if (*A == BisectAnswer::Skip)
          continue;
        Asked = Length;
        Answer = *A;
      }
    if (!Asked) {
      Result.Culprits.set(Low, High);
      return std::nullopt;
    }
    (Answer == BisectAnswer::Bad ? High : Low) = *Asked;
  }
  return std::optional(High);
}

/// Whether the culprits alone are bad, and without any of them good.
Expected<bool> Bisector::confirm() {
  for (unsigned I : Result.Culprits.set_bits()) {
    BitVector Rest = Result.Culprits;
    Rest.reset(I);
    Expected<BisectAnswer> A = ask(Rest, 0);
    if (!A)
      return A.takeError();
    if (*A == BisectAnswer::Bad) {
      Result.Culprits.reset(I);
      return confirm();
    }
  }
  return true;
}

Error Bisector::run() {
  Result.Culprits.resize(Count);
  unsigned Steps = Count > 1 ? Log2_32_Ceil(Count) : 0;
  for (bool All : {true, false}) {
    Expected<BisectAnswer> A = ask(BitVector(Count, All), Steps + !All + All);
    if (!A)
      return A.takeError();
    if (*A == BisectAnswer::Skip) {
      Result.Culprits = BitVector(Count, true);
      finish(BisectResult::Kind::Undecidable);
      return Error::success();
    }
    if ((*A == BisectAnswer::Bad) != All) {
      finish(All ? BisectResult::Kind::NothingBad
                 : BisectResult::Kind::AlwaysBad);
      return Error::success();
    }
  }
  unsigned High = Count;
  while (true) {
    Expected<std::optional<unsigned>> Length = shortestBadPrefix(High);
    if (!Length)
      return Length.takeError();
    if (!*Length) {
      finish(BisectResult::Kind::Undecidable);
      return Error::success();
    }
    High = **Length - 1;
    Result.Culprits.set(High);
    Expected<BisectAnswer> Alone = ask(Result.Culprits, 0);
    if (!Alone)
      return Alone.takeError();
    if (*Alone == BisectAnswer::Bad)
      break;
    if (*Alone == BisectAnswer::Skip || High == 0) {
      // Bad with a prefix of none and good without it cannot both be.
      finish(*Alone == BisectAnswer::Skip ? BisectResult::Kind::Undecidable
                                          : BisectResult::Kind::Unsteady);
      return Error::success();
    }
  }
  Expected<bool> Sure = confirm();
  if (!Sure)
    return Sure.takeError();
  // What was bad once must be so again.
  ++Result.Tests;
  Expected<BisectAnswer> Again = Test(Result.Culprits, 0);
  if (!Again)
    return Again.takeError();
  finish(*Again == BisectAnswer::Bad ? BisectResult::Kind::Found
                                     : BisectResult::Kind::Unsteady);
  return Error::success();
}

Expected<BisectResult> bisect(unsigned Count, BisectTest Test) {
  Bisector B(Count, Test);
  if (Error E = B.run())
    return std::move(E);
  return std::move(B.Result);
}

} // namespace cupilot
