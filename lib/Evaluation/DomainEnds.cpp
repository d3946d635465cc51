//===- DomainEnds.cpp - Whether a box is right at its ends ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DomainEnds.h"

using namespace llvm;

namespace cupilot {

namespace {
class EndRuns {
public:
  EndRuns(const Kernel &K, VariantRuns &V, DomainCases &Cases, const Domain &D,
          DomainCases::Admission Admits, GateVerdict &Verdict)
      : K(K), V(V), Cases(Cases), D(D), Admits(Admits), Verdict(Verdict) {}
  Error atCorner(const DomainBox &Box);
  Error elsewhere();
  Error withOtherContent(const DomainBox &Box);
  /// The box that the base lies in.
  const DomainBox *ownBox() const;
  bool anyWrong() const { return AnyWrong; }

private:
  Expected<bool> explore(const JudgedCase &J);
  bool wasTried(const JudgedCase &J) const {
    return any_of(V.tried(),
                  [&](const TriedLaunch &L) { return L.Case == J.Case.Name; });
  }

  const Kernel &K;
  VariantRuns &V;
  DomainCases &Cases;
  const Domain &D;
  DomainCases::Admission Admits;
  GateVerdict &Verdict;
  bool AnyWrong = false;
};
} // namespace

const DomainBox *EndRuns::ownBox() const {
  const TriedLaunch Base = triedLaunch(K, Cases.base().Case);
  auto Box = find_if(D.Boxes, [&](const DomainBox &Each) {
    return contains(Domain{{Each}}, Base.B, Base.Args);
  });
  return Box == D.Boxes.end() ? nullptr : &*Box;
}

/// Whether it was right.
Expected<bool> EndRuns::explore(const JudgedCase &J) {
  Expected<bool> Right = V.explore(J, Verdict);
  if (Right)
    AnyWrong |= !*Right;
  return Right;
}

/// The largest sizes are tried together, which nothing else may have done.
Error EndRuns::atCorner(const DomainBox &Box) {
  Expected<const JudgedCase *> Corner = Cases.corner(Box, Admits);
  if (!Corner || !*Corner)
    return Corner.takeError();
  Expected<const JudgedCase *> Narrow = Cases.narrowCorner(**Corner, Admits);
  if (!Narrow)
    return Narrow.takeError();
  for (const JudgedCase *J : {*Corner, *Narrow}) {
    if (!J)
      continue;
    const TriedLaunch At = triedLaunch(K, J->Case);
    if ((J == *Narrow && !contains(D, At.B, At.Args)) ||
        any_of(V.tried(), [&](const TriedLaunch &L) {
          return L.B.Symbols == At.B.Symbols && L.B.Dims == At.B.Dims;
        }))
      continue;
    if (Expected<bool> Right = explore(*J); !Right)
      return Right.takeError();
  }
  return Error::success();
}

/// Whether the numbers of \p L, but for floats, are those of a launch in
/// \p Box.
static bool hasNumbersOf(const TriedLaunch &L, const DomainBox &Box) {
  DomainBox Numbers;
  Numbers.Ranges = Box.Ranges;
  Numbers.Residues = Box.Residues;
  return contains(Domain{{Numbers}}, L.B, L.Args);
}

/// Sizes that were wrong, in boxes of other flags and pointers that hold them.
Error EndRuns::elsewhere() {
  constexpr size_t MostRuns = 12;
  size_t Runs = 0;
  std::vector<Bindings> Wrong;
  for (const TriedLaunch &L : V.tried())
    if (L.Wrong && !L.Misaligned && any_of(D.Boxes, [&](const DomainBox &Box) {
          return hasNumbersOf(L, Box);
        }))
      Wrong.push_back(L.B);
  for (const DomainBox &Box : D.Boxes)
    for (const Bindings &B : Wrong) {
      if (Runs == MostRuns)
        return Error::success();
      Expected<const JudgedCase *> J = Cases.like(B, Box, Admits);
      if (!J)
        return J.takeError();
      if (!*J || wasTried(**J))
        continue;
      const TriedLaunch At = triedLaunch(K, (*J)->Case);
      if (!contains(Domain{{Box}}, At.B, At.Args))
        continue;
      ++Runs;
      if (Expected<bool> Right = explore(**J); !Right)
        return Right.takeError();
    }
  return Error::success();
}

/// Where a wrong launch made an end, the last right one before it may have been
/// right by chance.
Error EndRuns::withOtherContent(const DomainBox &Box) {
  constexpr unsigned Rounds = 12;
  for (auto [I, Var] : enumerate(Cases.model().vars())) {
    const Expr E = Var.expr();
    std::optional<Interval> In = rangeIn(E, Box);
    if (!In)
      continue;
    for (int64_t End : {In->Most, In->Least}) {
      const bool IsMade = any_of(V.tried(), [&](const TriedLaunch &L) {
        std::optional<int64_t> At = evaluate(E, L.B);
        return L.Wrong && At &&
               (End == In->Most ? *At > End && End > Var.Base
                                : *At < End && End < Var.Base);
      });
      for (unsigned Round = 0; IsMade && Round < Rounds; ++Round) {
        Expected<const JudgedCase *> J =
            Cases.refilled(I, End, Round, Box, Admits);
        if (!J)
          return J.takeError();
        if (!*J || wasTried(**J))
          continue;
        Expected<bool> Right = explore(**J);
        if (!Right)
          return Right.takeError();
        if (!*Right)
          break;
      }
    }
  }
  return Error::success();
}

Expected<bool> wrongAtEnds(const Kernel &K, VariantRuns &V, DomainCases &Cases,
                           const Domain &D, DomainCases::Admission Admits,
                           GateVerdict &Verdict) {
  EndRuns Runs(K, V, Cases, D, Admits, Verdict);
  if (Error E = Runs.elsewhere())
    return std::move(E);
  if (const DomainBox *Box = Runs.ownBox()) {
    if (Error E = Runs.atCorner(*Box))
      return std::move(E);
    if (Error E = Runs.withOtherContent(*Box))
      return std::move(E);
  }
  return Runs.anyWrong();
}

} // namespace cupilot
