//===- DomainChecks.cpp - Whether a domain is right and wide -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/DomainChecks.h"
#include "SideBySide.h"
#include "cupilot/Evaluation/NarrowerDomain.h"
#include "cupilot/Model/DomainText.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

static std::string nameOf(const Kernel &K, const Expr &E) {
  return exprText(E, launchNames(K));
}

static std::string textOf(const Interval &I) {
  return std::to_string(I.Least) + ".." + std::to_string(I.Most);
}

std::string clauseText(const Kernel &K, const Domain &D, const ClauseRef &C) {
  const DomainBox &Box = D.Boxes[C.Box];
  size_t I = C.Clause;
  auto Pointer = [&](const PointerRef &P) { return K.Params[P.Param].Name; };
  if (I < Box.Ranges.size()) {
    std::string Text = "range of " + nameOf(K, Box.Ranges[I].E);
    for (const Interval &One : Box.Ranges[I].In)
      Text += " " + textOf(One);
    return Text;
  }
  I -= Box.Ranges.size();
  if (I < Box.Residues.size())
    return "rest of " + nameOf(K, Box.Residues[I].E) + " mod " +
           std::to_string(Box.Residues[I].Modulus);
  I -= Box.Residues.size();
  if (I < Box.Floats.size())
    return "values of " + K.Params[Box.Floats[I].Number.Param].Name;
  I -= Box.Floats.size();
  if (I < Box.Nulls.size())
    return "whether " + Pointer(Box.Nulls[I].Pointer) + " is null";
  I -= Box.Nulls.size();
  if (I < Box.Alignments.size())
    return "alignment of " + Pointer(Box.Alignments[I].Pointer);
  I -= Box.Alignments.size();
  return "overlap of " + Pointer(Box.Pairs[I].A) + " and " +
         Pointer(Box.Pairs[I].B);
}

static std::string sentence(const Kernel &K, StringRef Whose, const Domain &D,
                            const Workload &W, const ClauseRef &C) {
  return (Whose + " domain leaves out launch " + W.Name + ": " +
          clauseText(K, D, C))
      .str();
}

static Expected<bool> guardAdmits(const Kernel &K, const Guard &When,
                                  const Workload &W) {
  Expected<PlacedLaunch> P = placed(K, withoutContents(W));
  if (!P)
    return P.takeError();
  return admits(When, P->B, P->Args);
}

Expected<std::optional<std::string>> faultOfHonest(
    const Kernel &K, const Guard &When, const std::optional<Domain> &Where,
    const std::optional<Domain> &OfOriginal, ArrayRef<Workload> Launches) {
  for (const Workload &W : Launches)
    for (auto [Whose, D] :
         {std::pair(StringRef("the original's own"), &OfOriginal),
          {"its", &Where}}) {
      if (!*D)
        continue;
      Expected<bool> Admitted = guardAdmits(K, When, W);
      if (!Admitted)
        return Admitted.takeError();
      if (!*Admitted)
        continue;
      Expected<std::optional<ClauseRef>> C = clauseOutside(**D, K, W);
      if (!C)
        return C.takeError();
      if (*C)
        return sentence(K, Whose, **D, W, **C);
    }
  return std::nullopt;
}

static IndependentOptions optionsOf(const DomainQuestion &Q) {
  IndependentOptions O;
  O.Inputs = Q.Inputs;
  O.Seed = Q.Seed;
  O.Arch = Q.Arch;
  return O;
}

Expected<std::optional<std::string>>
faultOfBounded(const DomainQuestion &Q, const SideVariant &V,
               const std::optional<Domain> &Where, ArrayRef<Workload> Outside) {
  for (const Workload &W : Outside) {
    Expected<IndependentResult> R =
        compareLaunch(*Q.K, Q.Original, V, W, Q.Arch);
    if (!R)
      return R.takeError();
    if (!R->Differs)
      return "launch " + W.Name + " does not show that it is wrong" +
             (R->Inputs ? ""
                        : ": the original does not bear it, or the guard "
                          "does not admit it");
    Expected<std::optional<ClauseRef>> Left =
        Where ? clauseOutside(*Where, *Q.K, W) : std::nullopt;
    if (!Left)
      return Left.takeError();
    if (!*Left)
      return "it is wrong on launch " + W.Name +
             ", which lies inside its domain: " + R->Evidence;
  }
  if (!Where)
    return std::nullopt;
  IndependentOptions O = optionsOf(Q);
  O.Inside = &*Where;
  Expected<IndependentResult> R =
      compareIndependently(*Q.K, Q.Original, V, Q.Recorded, O);
  if (!R)
    return R.takeError();
  if (R->Differs)
    return "it is wrong inside its domain: " + R->Evidence;
  if (R->Inputs == 0)
    return "no random launch was found inside its domain";
  return std::nullopt;
}

namespace {
/// The longest range of one expression in all boxes.
struct Hull {
  std::optional<Interval> Longest; ///< Nothing: some box does not bound it.
  /// A product has no least value of its own: it counts from 0 on.
  double bits() const {
    const bool IsOpen = Longest->Least == INT64_MIN && Longest->Most >= 0;
    return std::log2(double(Longest->Most) -
                     (IsOpen ? 0 : double(Longest->Least)) + 1);
  }
};
} // namespace

static Hull hullOf(const Domain &D, const Expr &E) {
  Hull H;
  for (const DomainBox &Box : D.Boxes) {
    auto C =
        find_if(Box.Ranges, [&](const RangeClause &R) { return R.E == E; });
    if (C == Box.Ranges.end())
      return {};
    if (C->In.empty())
      continue;
    Hull One{Interval{C->In.front().Least, C->In.back().Most}};
    if (!H.Longest || One.bits() > H.bits())
      H = One;
  }
  if (!H.Longest) // No box lets anything through.
    H.Longest = Interval{0, 0};
  return H;
}

namespace {
/// A range of which a domain has less than another.
struct NarrowRange {
  Expr E;
  Interval Mine, Own;
  std::string text(const Kernel &K) const {
    return nameOf(K, E) + ": " + textOf(Mine) + " of " + textOf(Own);
  }
};
} // namespace

/// Those of which \p Mine has less than \p Share, by the logarithm.
static std::vector<NarrowRange> narrowRanges(const Domain &Mine,
                                             const Domain &Own, double Share) {
  constexpr double ShortBits = 3;
  std::vector<NarrowRange> Found;
  for (const DomainBox &Box : Own.Boxes)
    for (const RangeClause &C : Box.Ranges) {
      if (any_of(Found, [&](const NarrowRange &R) { return R.E == C.E; }))
        continue;
      Hull Whole = hullOf(Own, C.E), Part = hullOf(Mine, C.E);
      if (!Whole.Longest || Whole.bits() <= ShortBits || !Part.Longest)
        continue;
      if (Part.bits() < Share * Whole.bits())
        Found.push_back({C.E, *Part.Longest, *Whole.Longest});
    }
  return Found;
}

std::optional<std::string> narrowerExtent(const Kernel &K, const Domain &Mine,
                                          const Domain &Own, double Share) {
  const std::vector<NarrowRange> All = narrowRanges(Mine, Own, Share);
  return All.empty() ? std::nullopt : std::optional(All.front().text(K));
}

/// The clause of \p D by which it has no more than \p R.Mine.
static std::optional<ClauseRef> clauseOf(const Domain &D,
                                         const NarrowRange &R) {
  for (auto [B, Box] : enumerate(D.Boxes))
    for (auto [I, C] : enumerate(Box.Ranges))
      if (C.E == R.E && !C.In.empty() && C.In.front().Least == R.Mine.Least &&
          C.In.back().Most == R.Mine.Most)
        return ClauseRef{B, I};
  return std::nullopt;
}

/// On which side of \p Of a value lies that it leaves out.
static StringRef sideOf(const Interval &Of, int64_t V) {
  return V < Of.Least ? " below" : V > Of.Most ? " above" : " between";
}

static bool mentions(const Expr &E, const Expr &Variable) {
  return E == Variable || any_of(E.Operands, [&](const Expr &Operand) {
           return mentions(Operand, Variable);
         });
}

namespace {
/// Collects what a domain lacks, each thing once.
class Losses {
public:
  Losses(const Kernel &K, const GateVerdict &V, const OriginalDomain &Whole)
      : K(K), V(V), Whole(Whole) {}
  void addRange(const NarrowRange &R);
  void addLaunch(const LostLaunch &L);
  std::vector<DomainLoss> take() { return std::move(All); }

private:
  void addSide(const NarrowRange &R, int64_t Beyond);
  bool isLeftOutBefore(const LostLaunch &L, const Expr &Of) const;
  void add(std::string Extent, std::string Text,
           const std::optional<DomainEnd> &End);

  const Kernel &K;
  const GateVerdict &V;
  const OriginalDomain &Whole;
  std::vector<DomainLoss> All;
  std::vector<Expr> CutAbove;
};
} // namespace

static std::string textOf(const DomainEnd &End) {
  return (End.Case.empty() ? "" : End.Case + ": ") + wordOf(End.Reason).str() +
         ": " + End.Evidence;
}

void Losses::add(std::string Extent, std::string Text,
                 const std::optional<DomainEnd> &End) {
  std::string Named = End ? textOf(*End) : "";
  if (none_of(All, [&](const DomainLoss &L) {
        return L.Extent == Extent || (!Named.empty() && L.Named == Named);
      }))
    All.push_back({std::move(Extent), std::move(Text), std::move(Named),
                   End && End->NotRun});
}

/// Whether a range of something else leaves \p L out, for which the verdict
/// names a case: then that ends \p Of as well.
bool Losses::isLeftOutBefore(const LostLaunch &L, const Expr &Of) const {
  const DomainBox &Box = V.Where->Boxes[L.Left.Box];
  for (auto [I, C] : enumerate(Box.Ranges)) {
    std::optional<int64_t> Is = evaluate(C.E, L.B);
    if (Is && C.E != Of &&
        none_of(C.In, [&](const Interval &In) { return In.contains(*Is); }) &&
        endNamedFor(V, {L.Left.Box, I}, Is))
      return true;
  }
  return false;
}

void Losses::addSide(const NarrowRange &R, int64_t Beyond) {
  std::string Text = R.text(K);
  std::optional<DomainEnd> End;
  if (const std::optional<ClauseRef> C = clauseOf(*V.Where, R))
    End = endNamedFor(V, *C, Beyond);
  const StringRef Side = sideOf(R.Mine, Beyond);
  std::vector<const LostLaunch *> Lost;
  for (const LostLaunch &L : Whole.Lost)
    if (std::optional<int64_t> Is = evaluate(R.E, L.B);
        Is && sideOf(R.Mine, *Is) == Side)
      Lost.push_back(&L);
  if (!Lost.empty()) {
    if (!End && all_of(Lost, [&](const LostLaunch *L) {
          return isLeftOutBefore(*L, R.E);
        }))
      return;
    Text += ", without launch " + Lost.front()->Case;
  }
  add(nameOf(K, R.E) + Side.str(), std::move(Text), End);
}

void Losses::addRange(const NarrowRange &R) {
  if (R.Own.Least < R.Mine.Least && R.Own.Least != INT64_MIN)
    addSide(R, R.Own.Least);
  // A product is no larger than its factors are.
  if (R.Own.Most > R.Mine.Most &&
      none_of(CutAbove, [&](const Expr &E) { return mentions(R.E, E); })) {
    addSide(R, R.Own.Most);
    CutAbove.push_back(R.E);
  }
}

void Losses::addLaunch(const LostLaunch &L) {
  const DomainBox &Box = V.Where->Boxes[L.Left.Box];
  std::string Clause = clauseText(K, *V.Where, L.Left), Extent = Clause;
  std::optional<DomainEnd> End;
  if (L.Left.Clause < Box.Ranges.size()) {
    const RangeClause &Range = Box.Ranges[L.Left.Clause];
    const std::optional<int64_t> Beyond = evaluate(Range.E, L.B);
    End = endNamedFor(V, L.Left, Beyond);
    if (!End && isLeftOutBefore(L, Range.E))
      return;
    Extent = nameOf(K, Range.E);
    if (Beyond && !Range.In.empty()) {
      const StringRef Side =
          sideOf({Range.In.front().Least, Range.In.back().Most}, *Beyond);
      if (Side == " above" &&
          any_of(CutAbove, [&](const Expr &E) { return mentions(Range.E, E); }))
        return;
      Extent += Side;
    }
  } else {
    End = endNamedFor(V, L.Left, std::nullopt);
  }
  add(std::move(Extent), Clause + ", without launch " + L.Case, End);
}

Expected<std::vector<DomainLoss>>
lossesOf(const Kernel &K, const GateVerdict &V, const LaunchPlan &Plan,
         const Guard &When, const GateVerdict &Own) {
  Expected<std::optional<OriginalDomain>> Whole =
      originalDomain(Own, V, Plan, When);
  if (!Whole)
    return Whole.takeError();
  if (!*Whole)
    return std::vector<DomainLoss>();
  Losses Found(K, V, **Whole);
  for (const NarrowRange &R : narrowRanges(*V.Where, (**Whole).Where, 1))
    Found.addRange(R);
  for (const LostLaunch &L : (**Whole).Lost)
    Found.addLaunch(L);
  return Found.take();
}

/// Launches beyond a domain that are compared; many of them are large.
static constexpr unsigned MostBeyond = 24,
                          // Where sizes hardly matter.
    FewBeyond = 8;

Expected<BoundedVerdict> judgeBounded(const DomainQuestion &Q,
                                      const SideVariant &V, const Domain &Where,
                                      const Domain &Own) {
  BoundedVerdict Result;
  IndependentOptions O = optionsOf(Q);
  O.Inside = &Where;
  Expected<IndependentResult> In =
      compareIndependently(*Q.K, Q.Original, V, Q.Recorded, O);
  if (!In)
    return In.takeError();
  Result.Inputs = In->Inputs;
  if (In->Differs) {
    Result.Differs = true;
    Result.Why = std::move(In->Evidence);
    return Result;
  }
  if (In->Inputs < Q.Inputs) {
    Result.Why = "only " + std::to_string(In->Inputs) +
                 " launches were found inside its domain";
    return Result;
  }
  if (auto Narrow = narrowerExtent(*Q.K, Where, Own, 0.5)) {
    Result.Why = "its domain is too small, " + *Narrow;
    return Result;
  }
  O.Inside = &Own;
  O.Outside = &Where;
  Expected<IndependentResult> Out =
      compareIndependently(*Q.K, Q.Original, V, Q.Recorded, O);
  if (!Out)
    return Out.takeError();
  if (!Out->Differs) { // Where not even the original was proved, then.
    O.Inputs = Q.Bits ? MostBeyond : FewBeyond;
    O.Bits = Q.Bits;
    O.Narrowed = Q.Narrowed;
    O.Constants = Q.Constants;
    Out = compareBeyond(*Q.K, Q.Original, V, Q.Recorded, Where, O);
    if (!Out)
      return Out.takeError();
  }
  Result.Caught = Out->Differs;
  Result.Why = Out->Differs ? std::move(Out->Evidence)
                            : "no launch outside its domain shows a fault";
  return Result;
}

} // namespace cupilot
