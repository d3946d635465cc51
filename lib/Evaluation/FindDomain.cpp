//===- FindDomain.cpp - How far a variant is right ------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FindDomain.h"
#include "DomainEnds.h"

using namespace llvm;

namespace cupilot {

/// Whether the original writes what lies behind pointer \p I of the kernel.
static bool isWritten(const Kernel &K, const JudgedCase &Base, unsigned I) {
  for (const WorkloadPointer &P : Base.Case.Pointers) {
    if (!(PointerRef{P.Param, P.Offset} == K.Pointers[I]))
      continue;
    if (P.Buffer < Base.Coverage.size())
      return Base.Coverage[P.Buffer].Written.any();
    return mayBeWritten(K, Base.Case, P.Buffer);
  }
  return true; // It was null: nothing is known.
}

/// Bytes by which a type wants to be aligned, as far as hardware cares.
static unsigned naturalAlignment(const Kernel &K, const PointerRef &P) {
  constexpr uint64_t Widest = 16;
  if (P.Offset != 0 || P.Param >= K.Params.size() ||
      K.Params[P.Param].PointeeSize == 0)
    return 1;
  uint64_t Size = K.Params[P.Param].PointeeSize;
  return static_cast<unsigned>(std::min(Size & -Size, Widest));
}

static bool isRestrict(const Kernel &K, unsigned I) {
  const PointerRef &P = K.Pointers[I];
  return P.Offset == 0 && P.Param < K.Params.size() &&
         K.Params[P.Param].Restrict;
}

/// The original's first base decides what sizes there are.
static DomainFrame frameOf(OriginalRuns &O, const JudgedCase &Base,
                           const DomainCases &Cases, const CodeFacts &Own,
                           const CodeFacts &Theirs) {
  const Kernel &K = O.kernel();
  DomainFrame F;
  F.K = &K;
  F.Facts = both(Own, Theirs);
  append_range(F.Flags, flagsOf(K, Own, Base.Case));
  F.Surplus = Cases.model().surplus();
  F.Touched = Cases.model().touched();
  for (const PointerRef &P : K.Pointers)
    F.Natural.push_back(naturalAlignment(K, P));
  for (unsigned A = 0; A < K.Pointers.size(); ++A)
    for (unsigned B = A + 1; B < K.Pointers.size(); ++B)
      // Through restrict pointers nobody else may touch what is written.
      if (F.Facts.Pointers[A].Used && F.Facts.Pointers[B].Used &&
          !isRestrict(K, A) && !isRestrict(K, B) &&
          (isWritten(K, Base, A) || isWritten(K, Base, B)))
        F.Pairs.push_back({A, B});
  return F;
}

void boundNarrowings(ArrayRef<NarrowingFact> Narrowings,
                     ArrayRef<TriedLaunch> Tried, Domain &D) {
  for (const NarrowingFact &N : Narrowings) {
    std::optional<RangeClause> Clause = fits(N);
    if (!Clause)
      continue;
    DomainBox Bound;
    Bound.Ranges.push_back(*Clause);
    // Who wraps around in a recorded launch, and is right, does so on purpose.
    if (any_of(Tried, [&](const TriedLaunch &L) {
          return L.Recorded && !contains(Bound, L.B, L.Args);
        }))
      continue;
    for (DomainBox &Box : D.Boxes) {
      std::optional<Interval> Known = rangeIn(Clause->E, Box);
      bool Holds = Known && any_of(Clause->In, [&](const Interval &I) {
                     return I.Least <= Known->Least && Known->Most <= I.Most;
                   });
      if (!Holds && !is_contained(Box.Ranges, *Clause))
        Box.Ranges.push_back(*Clause);
    }
  }
}

/// The launch \p B alone.
static DomainBox boxAt(const Bindings &B) {
  DomainBox Box;
  for (unsigned I = 0; I < B.Symbols.size(); ++I)
    Box.Ranges.push_back(
        {Expr::symbol(I), {Interval{B.Symbols[I], B.Symbols[I]}}});
  for (unsigned D = 0; D < NumLaunchDims; ++D)
    Box.Ranges.push_back({Expr::dim(D), {Interval{B.Dims[D], B.Dims[D]}}});
  return Box;
}

/// A loop may never turn just so often: its sizes come in steps, or a
/// comparison before it says so. And of what hangs on other comparisons of data
/// alone nobody can say when it happens; but memory and output are not data,
/// and arguments have been varied.
bool isReason(const MissingSide &M) {
  if (M.Kind == DecisionKind::FloatMinMax)
    return M.isKnown() || M.HangsOnArguments;
  return M.Kind == DecisionKind::Service || M.Kind == DecisionKind::Number ||
         ((M.Kind != DecisionKind::Loop || M.AtLeast) &&
          (M.isKnown() || M.HangsOnMemory || M.HangsOnArguments));
}

namespace {
/// One base, and its launches among those that were tried.
struct TriedBase {
  DomainCases *Cases = nullptr;
  size_t Begin = 0, End = 0;
};
} // namespace

/// Code that no case ran is not proved. Launches that would run it are tried,
/// and a domain leaves out those that the original does not bear, which become
/// \p Untried. What is left makes a finding.
static Expected<Domain> coverSides(OriginalRuns &O, VariantRuns &V,
                                   ArrayRef<TriedBase> Bases,
                                   const DomainFrame &Frame,
                                   GateVerdict &Verdict,
                                   std::vector<TriedLaunch> &Untried) {
  constexpr size_t MostSides = 24, MostEntries = 256, MostProposals = 4;
  auto Admits = [&V](const GateCase &C) { return V.admits(C); };
  auto Derive = [&] {
    std::vector<TriedLaunch> All(V.tried());
    append_range(All, Untried);
    Verdict.Ends.clear();
    return deriveDomain(Frame, All, Verdict.Ends);
  };
  auto Open = [&](const Domain &D) {
    std::vector<MissingSide> Sides;
    for (MissingSide &M : V.taken().missing(&V.takenByOriginal()))
      if (any_of(D.Boxes, [&](const DomainBox &Box) {
            return !V.taken().cannotHappenIn(M, Box);
          }))
        Sides.push_back(std::move(M));
    return Sides;
  };
  Domain D = Derive();
  std::vector<MissingSide> Sides = Open(D);
  for (const TriedBase &Each : Bases) {
    if (Sides.empty())
      break;
    DomainCases *Cases = Each.Cases;
    const size_t Before = V.tried().size();
    bool Wider = false;
    const TriedLaunch Base = triedLaunch(O.kernel(), Cases->base().Case);
    size_t SidesLeft = MostSides, EntriesLeft = MostEntries;
    for (const MissingSide &M : Sides) {
      const bool IsEntry = M.Kind == DecisionKind::Table;
      size_t &Left = IsEntry ? EntriesLeft : SidesLeft;
      if (Left == 0)
        continue;
      --Left;
      std::vector<SideProposal> All = V.taken().proposals(M, Base.B);
      const size_t Most = IsEntry ? 1 : MostProposals; // They are many.
      if (All.size() > Most)
        All.resize(Most);
      for (const SideProposal &P : All) {
        Expected<const JudgedCase *> J = Cases->propose(P, Admits);
        if (!J)
          return J.takeError();
        if (*J) {
          Expected<bool> Right = V.explore(**J, Verdict);
          if (!Right)
            return Right.takeError();
          Wider |= *Right;
          continue;
        }
        if (P.Number || P.Null || P.Misaligned)
          continue;
        TriedLaunch L = Base;
        L.Case = "a launch that was not run";
        L.B = P.Launch;
        L.Recorded = false;
        L.Wrong = GateReason::Untested;
        L.Evidence = V.taken().text(M);
        Untried.push_back(std::move(L));
      }
    }
    if (Wider) { // Those launches and the large ones of before, all together.
      std::vector<TriedLaunch> Own(V.tried().begin() + Each.Begin,
                                   V.tried().begin() + Each.End);
      append_range(Own, V.tried().drop_front(Before));
      Expected<const JudgedCase *> Corner = Cases->corner(Own, Admits);
      if (!Corner)
        return Corner.takeError();
      if (*Corner)
        if (Expected<bool> Right = V.explore(**Corner, Verdict); !Right)
          return Right.takeError();
    }
    D = Derive();
    Sides = Open(D);
  }
  if (!Untried.empty()) {
    // Launches stand for others only where they are needed.
    std::vector<TriedLaunch> Needed = std::exchange(Untried, {});
    D = Derive();
    if (!Open(D).empty()) {
      Untried = std::move(Needed);
      D = Derive();
    }
  }
  // What is known of a condition may be less than what is so: it seems to hold
  // on launches on which it did not. Those do without.
  auto Reasons = [&](const Domain &Of) {
    std::vector<MissingSide> All = Open(Of);
    erase_if(All, [](const MissingSide &M) { return !isReason(M); });
    return All;
  };
  if (std::vector<MissingSide> Left = Reasons(D); !Left.empty()) {
    const size_t Before = Untried.size();
    for (const TriedLaunch &L : V.tried()) {
      if (L.Wrong || L.Recorded)
        continue;
      const DomainBox At = boxAt(L.B);
      auto M = find_if(Left, [&](const MissingSide &Each) {
        return !V.taken().cannotHappenIn(Each, At);
      });
      if (M == Left.end())
        continue;
      Untried.push_back(L);
      Untried.back().Wrong = GateReason::Untested;
      Untried.back().Evidence = V.taken().text(*M);
    }
    Domain Less = Derive();
    if (!Less.Boxes.empty() && Reasons(Less).size() < Left.size()) {
      D = std::move(Less);
    } else {
      Untried.resize(Before);
      D = Derive();
    }
  }
  // A box ends before what is wrong: its new ends are other launches.
  constexpr unsigned MostRounds = 8;
  for (unsigned Round = 0; Round < MostRounds; ++Round) {
    bool AnyWrong = false;
    for (const TriedBase &Each : Bases) {
      Expected<bool> Wrong =
          wrongAtEnds(Frame, V, *Each.Cases, D, Admits, Verdict);
      if (!Wrong)
        return Wrong.takeError();
      AnyWrong |= *Wrong;
    }
    if (!AnyWrong)
      break;
    D = Derive();
  }
  for (const MissingSide &M : Open(D)) {
    if (!isReason(M)) {
      Verdict.Choices.push_back("not a reason to reject it: " +
                                V.taken().text(M));
      continue;
    }
    Verdict.Findings.push_back(
        makeFinding(GateReason::Untested, "", V.taken().text(M)));
  }
  return D;
}

/// The steps of the ladder are wide: where \p Wrong is and the launches below
/// it are not, what lies between is halved, by its logarithm.
static Error exploreBetween(const Kernel &K, VariantRuns &V, DomainCases &Cases,
                            Bindings Wrong, size_t Before,
                            GateVerdict &Verdict) {
  constexpr unsigned Halvings = 2;
  for (unsigned N = 0; N < Halvings; ++N) {
    Expected<const JudgedCase *> J =
        Cases.between(V.tried().drop_front(Before), Wrong);
    if (!J || !*J)
      return J.takeError();
    Expected<bool> Right = V.explore(**J, Verdict);
    if (!Right || *Right)
      return Right.takeError();
    Wrong = triedLaunch(K, (*J)->Case).B;
  }
  return Error::success();
}

Error findDomain(OriginalRuns &O, VariantRuns &V, const GateCode &Code,
                 const LaunchPlan &Plan, GateDepth Depth,
                 GateVerdict &Verdict) {
  Expected<const CodeFacts *> Own = O.facts();
  if (!Own)
    return Own.takeError();
  Expected<CodeFacts> Theirs = factsOf(O.kernel(), Code.Source, Plan);
  if (!Theirs)
    return Theirs.takeError();
  CodeFacts Built;
  if (!Code.Built.empty()) {
    Expected<CodeFacts> All = factsOf(O.kernel(), Code.Built, Plan);
    if (!All)
      return All.takeError();
    Built = onlyInBuilt(*All, both(**Own, *Theirs));
  }
  auto Admits = [&V](const GateCase &C) { return V.admits(C); };
  // Being wrong there says how far it is right, and is no error.
  auto Explore = [&](const JudgedCase *J) {
    return J ? V.explore(*J, Verdict).takeError() : Error::success();
  };
  std::optional<DomainFrame> Frame;
  std::vector<TriedBase> Bases;
  std::vector<TriedLaunch> TooDear;
  for (size_t I = 0; I < O.bases().size(); ++I) {
    Expected<DomainCases *> Cases = O.domainCases(I, Admits);
    if (!Cases)
      return Cases.takeError();
    if (!*Cases)
      continue;
    if (!Frame) {
      Frame = frameOf(O, (*Cases)->base(), **Cases, **Own, *Theirs);
      if (Error E = V.noteTouched(*Frame))
        return E;
    }
    const size_t Before = V.tried().size();
    for (size_t C = 0; C < (*Cases)->count(); ++C) {
      Expected<const JudgedCase *> J = (*Cases)->get(C);
      if (!J)
        return J.takeError();
      if (Error E = Explore(*J))
        return E;
    }
    Expected<std::vector<const JudgedCase *>> Around =
        (*Cases)->around(*Theirs, Built, V.salt(), Admits);
    if (!Around)
      return Around.takeError();
    for (const JudgedCase *J : *Around)
      if (Error E = Explore(J))
        return E;
    Expected<std::vector<const JudgedCase *>> Grown = (*Cases)->grown(Admits);
    if (!Grown)
      return Grown.takeError();
    for (const JudgedCase *J : *Grown)
      if (Error E = Explore(J))
        return E;
    Expected<const JudgedCase *> Corner =
        (*Cases)->corner(V.tried().drop_front(Before), Admits);
    if (!Corner)
      return Corner.takeError();
    if (Error E = Explore(*Corner))
      return E;
    for (size_t C = 0; Depth == GateDepth::Keep && C < (*Cases)->deepCount();
         ++C) {
      Expected<std::unique_ptr<JudgedCase>> J =
          (*Cases)->deep(C, V.costFactor(), TooDear);
      if (!J)
        return J.takeError();
      if (Error E = Explore(J->get()))
        return E;
    }
    // Which of several sizes makes a launch wrong shows by themselves.
    constexpr size_t MostApart = 6;
    std::vector<Bindings> Wrong;
    for (const TriedLaunch &L : V.tried().drop_front(Before))
      if (L.Wrong && Wrong.size() < MostApart)
        Wrong.push_back(L.B);
    for (const Bindings &B : Wrong) {
      Expected<std::vector<const JudgedCase *>> Apart = (*Cases)->apart(B);
      if (!Apart)
        return Apart.takeError();
      for (const JudgedCase *J : *Apart)
        if (Error E = Explore(J))
          return E;
    }
    for (const Bindings &B : Wrong)
      if (Error E = exploreBetween(O.kernel(), V, **Cases, B, Before, Verdict))
        return E;
    Bases.push_back({*Cases, Before, V.tried().size()});
  }
  if (!Frame)
    return Error::success();
  std::vector<TriedLaunch> Tried;
  Expected<Domain> Found = coverSides(O, V, Bases, *Frame, Verdict, Tried);
  if (!Found)
    return Found.takeError();
  Domain D = std::move(*Found);
  for (const LoadedBound &B : V.untestedBounds())
    Verdict.Findings.push_back(makeFinding(
        GateReason::Untested, "",
        B.str() + "; no launch on which it was right passes that, and no "
                  "guard sees what lies in memory"));
  if (!Verdict.Findings.empty())
    return Error::success();
  if (D.Boxes.empty()) {
    Verdict.Findings.push_back(
        makeFinding(GateReason::NeverAdmitted, "",
                    "no launch is left on which it was seen to be right"));
    return Error::success();
  }
  Tried.insert(Tried.begin(), V.tried().begin(), V.tried().end());
  auto Basis = std::make_shared<DomainBasis>(DomainBasis{
      *Frame, std::move(Tried), narrowerThan(**Own, *Theirs), V.taken(),
      V.taken().missing(&V.takenByOriginal()), std::move(TooDear)});
  boundNarrowings(Basis->Narrowings, Basis->Tried, D);
  Verdict.Basis = std::move(Basis);
  for (size_t I = 0; I < O.setup().Workloads.size(); ++I) {
    const Workload &W = O.setup().Workloads[I];
    std::vector<std::vector<uint8_t>> Args = placedArguments(W);
    Expected<Bindings> B = bindLaunch(W.Shape, O.kernel().Scalars, Args);
    if (!B)
      return B.takeError();
    if (!contains(D, *B, Args))
      Verdict.Outside.push_back(W.Name);
  }
  Verdict.Where = std::move(D);
  return Error::success();
}

} // namespace cupilot
