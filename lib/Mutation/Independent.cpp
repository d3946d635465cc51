//===- Independent.cpp - A second opinion on survivors -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gate's cases are made to find faults; these are only drawn. Both would
// have to overlook the same thing.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/Independent.h"
#include "SideBySide.h"
#include "llvm/Support/MathExtras.h"
#include <ctime>

using namespace llvm;

namespace cupilot {

Expected<IndependentResult>
compareIndependently(const Kernel &K, const GateCode &Original,
                     const SideVariant &V, ArrayRef<Workload> Around,
                     const IndependentOptions &Options) {
  Expected<SideBySide> Both = SideBySide::create(K, Original, V, Options.Arch);
  if (!Both)
    return Both.takeError();
  IndependentResult Result;
  LaunchSource Source(K, Around, Options.Seed, Options.Inside);
  // Where a size must be even, say, the original does not bear most launches.
  constexpr unsigned MostTries = 12; // For each.
  for (unsigned Try = 0;
       Result.Inputs < Options.Inputs && Try < MostTries * Options.Inputs;
       ++Try) {
    Expected<std::optional<RandomLaunch>> L = Source.next();
    if (!L)
      return L.takeError();
    if (!*L) { // No launch was found inside.
      ++Result.Refused;
      continue;
    }
    if (Options.Outside) {
      Expected<PlacedLaunch> P = placed(K, **L);
      if (!P)
        return P.takeError();
      if (contains(*Options.Outside, P->B, P->Args))
        continue;
    }
    Expected<Comparison> C = Both->compare(std::move(**L));
    if (!C)
      return C.takeError();
    if (C->K == Comparison::Kind::Refused || C->K == Comparison::Kind::NotRun) {
      ++Result.Refused;
      continue;
    }
    ++Result.Inputs;
    if (C->K == Comparison::Kind::Equal)
      continue;
    Result.Differs = true;
    Result.Evidence = std::move(C->Evidence);
    return Result;
  }
  return Result;
}

/// \p L with fewer blocks along each side that has many, still out of \p Where:
/// the last of them may have had no elements. False where there is none.
static Expected<bool> hasFewerBlocks(const Kernel &K, const Domain &Where,
                                     RandomLaunch &L) {
  constexpr uint64_t Many = 16, Parts = 8;
  bool Any = false;
  for (uint64_t &Blocks : L.Shape.Grid)
    if (Blocks > Many) {
      Blocks -= Blocks / Parts;
      Any = true;
    }
  if (!Any)
    return false;
  Expected<PlacedLaunch> P = placed(K, L);
  if (!P)
    return P.takeError();
  return !contains(Where, P->B, P->Args);
}

namespace {
/// Processor time that is left, in seconds.
class TimeLeft {
public:
  explicit TimeLeft(double Seconds) : End(now() + Seconds) {}
  bool any() const { return now() < End; }

private:
  static double now() { return double(std::clock()) / CLOCKS_PER_SEC; }
  double End;
};
} // namespace

/// Compares on what \p Draw gives, until that is nothing, \p Most launches were
/// compared, or no time is left.
static Expected<IndependentResult>
compareDrawn(const Kernel &K, const GateCode &Original, const SideVariant &V,
             StringRef Arch, const Domain &Where, SideBySide::Effort How,
             unsigned Most, const TimeLeft &Time,
             function_ref<Expected<std::optional<RandomLaunch>>()> Draw) {
  constexpr unsigned MostShorter = 6; // A half of what there was, at last.
  Expected<SideBySide> Both = SideBySide::create(K, Original, V, Arch, How);
  if (!Both)
    return Both.takeError();
  IndependentResult Result;
  for (unsigned Try = 0; Result.Inputs < Most && Try < 4 * Most && Time.any();
       ++Try) {
    Expected<std::optional<RandomLaunch>> L = Draw();
    if (!L)
      return L.takeError();
    if (!*L)
      break;
    Expected<Comparison> C = Both->compare(**L);
    for (unsigned N = 0;
         C && C->Idle && N < MostShorter && How == SideBySide::Effort::Last;
         ++N) {
      Expected<bool> Shorter = hasFewerBlocks(K, Where, **L);
      if (!Shorter)
        return Shorter.takeError();
      if (!*Shorter)
        break;
      C = Both->compare(**L);
    }
    if (!C)
      return C.takeError();
    bool Ran =
        C->K == Comparison::Kind::Equal || C->K == Comparison::Kind::Differs;
    ++(Ran ? Result.Inputs : Result.Refused);
    if (C->K != Comparison::Kind::Differs)
      continue;
    Result.Differs = true;
    Result.Evidence = std::move(C->Evidence);
    return Result;
  }
  return Result;
}

/// The power of two that all values of \p E are multiples of.
static unsigned twosIn(const Expr &E) {
  constexpr unsigned Most = 63;
  switch (E.K) {
  case Expr::Kind::Constant:
    return E.Value ? unsigned(countr_zero(uint64_t(E.Value))) : Most;
  case Expr::Kind::Add:
    return std::min(twosIn(E.Operands[0]), twosIn(E.Operands[1]));
  case Expr::Kind::Mul:
    return std::min(Most, twosIn(E.Operands[0]) + twosIn(E.Operands[1]));
  default:
    return 0;
  }
}

/// What a launch should make too large. Where the original squeezes the same
/// expressions into as few bits, for other ends than the variant, it is not
/// known which: they are among those that \p Where bounds.
static std::vector<RangeClause> aimsOf(const Domain &Where,
                                       const IndependentOptions &Options) {
  constexpr unsigned LeastBits = 16, MostBits = 24; // More is not run.
  constexpr int64_t MostAim = int64_t(1) << 30;
  std::vector<RangeClause> Aims = Options.Narrowed.vec();
  // A float, which ends at a power of two, holds multiples of one for so much
  // longer.
  for (RangeClause &C : Aims) {
    const unsigned Twos = twosIn(C.E);
    if (!C.In.empty() && isPowerOf2_64(uint64_t(C.In.back().Most)) &&
        C.In.back().Most <= MostAim >> Twos)
      C.In.back().Most <<= Twos;
  }
  if (!Aims.empty() || Options.Bits < LeastBits || Options.Bits > MostBits)
    return Aims;
  auto Add = [&](const Expr &E) {
    RangeClause C{E, {{INT64_MIN, int64_t(1) << Options.Bits}}};
    if (!is_contained(Aims, C))
      Aims.push_back(std::move(C));
  };
  static constexpr std::pair<LaunchDim, LaunchDim> Axes[] = {
      {GridX, BlockX}, {GridY, BlockY}, {GridZ, BlockZ}};
  for (auto [Grid, Block] : Axes)
    Add(Expr::binary(Expr::Kind::Mul, Expr::dim(Grid), Expr::dim(Block)));
  for (const DomainBox &Box : Where.Boxes)
    for (const RangeClause &C : Box.Ranges)
      Add(C.E);
  return Aims;
}

Expected<IndependentResult>
compareBeyond(const Kernel &K, const GateCode &Original, const SideVariant &V,
              ArrayRef<Workload> Around, const Domain &Where,
              const IndependentOptions &Options) {
  constexpr double MostSeconds = 150;
  const TimeLeft Time(MostSeconds);
  unsigned Most = Options.Inputs, Compared = 0;
  constexpr unsigned FewBits = 10;
  if (Options.Bits <= FewBits && !Around.empty()) {
    constexpr unsigned MostAtConstants = 192;
    LaunchSource Source(K, Around, Options.Seed);
    Expected<IndependentResult> R =
        compareDrawn(K, Original, V, Options.Arch, Where,
                     SideBySide::Effort::Sampled, MostAtConstants, Time, [&] {
                       return Source.atConstant(Where, Options.Constants);
                     });
    if (!R || R->Differs)
      return R;
    Compared = R->Inputs;
  }
  if (!Options.Bits && !Around.empty()) {
    constexpr unsigned Small = 30; // Of such a launch, beside a large one.
    LaunchSource Source(K, Around, Options.Seed);
    Expected<IndependentResult> R =
        compareDrawn(K, Original, V, Options.Arch, Where,
                     SideBySide::Effort::Sampled, Small * Most, Time,
                     [&] { return Source.faint(Where, Options.Constants); });
    if (!R || R->Differs)
      return R;
    Compared += R->Inputs;
  }
  std::vector<RangeClause> Aims = aimsOf(Where, Options);
  if (!Aims.empty() && !Around.empty()) {
    const unsigned Each = 8;
    LaunchSource Source(K, Around, Options.Seed);
    Expected<IndependentResult> R = compareDrawn(
        K, Original, V, Options.Arch, Where, SideBySide::Effort::Last,
        Each * Most, Time, [&] { return Source.unfit(Where, Aims); });
    if (!R || R->Differs)
      return R;
    // They tell more than others.
    Compared += R->Inputs;
    Most = divideCeil(Most, 3);
  }
  // What counts blocks needs all of them, and many are few enough; long loops
  // come to their ends in some of them.
  SmallVector<SideBySide::Effort, 2> Efforts = {SideBySide::Effort::Sampled};
  if (Options.Bits && Options.Bits <= FewBits)
    Efforts = {SideBySide::Effort::Whole, SideBySide::Effort::Sampled};
  for (SideBySide::Effort How : Efforts) {
    LaunchSource Source(K, Around, Options.Seed);
    Expected<IndependentResult> R =
        compareDrawn(K, Original, V, Options.Arch, Where, How, Most, Time,
                     [&] { return Source.beyond(Where, Options.Bits); });
    if (!R || R->Differs)
      return R;
    Compared += R->Inputs;
  }
  IndependentResult None;
  None.Inputs = Compared;
  return None;
}

Expected<IndependentResult> compareLaunch(const Kernel &K,
                                          const GateCode &Original,
                                          const SideVariant &V,
                                          const Workload &W, StringRef Arch) {
  Expected<SideBySide> Both = SideBySide::create(K, Original, V, Arch);
  if (!Both)
    return Both.takeError();
  Expected<RandomLaunch> L = launchOf(W);
  if (!L)
    return L.takeError();
  Expected<Comparison> C = Both->compare(std::move(*L));
  if (!C)
    return C.takeError();
  IndependentResult Result;
  bool Ran =
      C->K == Comparison::Kind::Equal || C->K == Comparison::Kind::Differs;
  Result.Inputs = Ran;
  Result.Refused = !Ran;
  Result.Differs = C->K == Comparison::Kind::Differs;
  Result.Evidence = std::move(C->Evidence);
  return Result;
}

Expected<std::optional<ClauseRef>>
clauseOutside(const Domain &D, const Kernel &K, const Workload &W) {
  RandomLaunch L;
  L.Shape = W.Shape;
  L.Args = W.Args;
  L.Pointers = W.Pointers;
  Expected<PlacedLaunch> P = placed(K, L);
  if (!P)
    return P.takeError();
  return clauseOutside(D, P->B, P->Args);
}

} // namespace cupilot
