//===- FurtherCases.cpp - Launches that one variant asks for --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeriveDomain.h"
#include "DomainCases.h"
#include "Original.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// In instructions of all threads: of a launch of least sizes, which stands for
/// one that costs more, and of all that one variant asks for.
static constexpr double MostLeastCost = 2.5e8, MostAroundCosts = 1e9;

/// Bytes of its buffers: with all of their products, sizes are a guess.
static constexpr uint64_t MostFurtherBytes = uint64_t(16) << 20;

int64_t evenLike(int64_t V, int64_t Like) {
  constexpr int64_t Widest = 16;
  const int64_t Unit = Like > 0 ? std::min(Like & -Like, Widest) : 1;
  return V / Unit * Unit;
}

/// Each size the smallest of which the variant admits the launch, be the others
/// as in the base, and that is at least as \p From says.
DomainCases::Values DomainCases::leastAdmitted(const Values &From,
                                               Admission Admits) const {
  constexpr int64_t EachUpTo = 16;
  const Values At = Model.baseValues();
  Values Least = At;
  for (size_t I = 0; I < At.size(); ++I) {
    Values Sizes;
    for (int64_t V = 1; V <= EachUpTo; ++V)
      Sizes.push_back(V);
    for (int64_t V = 2 * EachUpTo; V < At[I]; V *= 2)
      Sizes.push_back(V);
    for (int64_t V : Sizes) {
      if (V < From[I] || V >= At[I])
        continue;
      Values Each = At;
      Each[I] = V;
      std::optional<GateCase> C = Model.at(*Froms.front(), Each, MostBytes);
      if (!C || !Admits(*C))
        continue;
      Least[I] = V;
      break;
    }
  }
  // Each may be right by itself, and all together not.
  std::optional<GateCase> C = Model.at(*Froms.front(), Least, MostBytes);
  return C && Admits(*C) ? Least : At;
}

Expected<const JudgedCase *> DomainCases::find(std::optional<GateCase> C,
                                               double Most, double &LeftOver) {
  if (!C || LeftOver <= 0)
    return nullptr;
  auto [It, New] = Around.try_emplace(C->Name);
  FurtherCase &F = It->second;
  // What comes of a launch must not depend on what other variants asked for: it
  // costs each the same.
  if (New) {
    double Unbounded = 2 * Most;
    Expected<std::unique_ptr<JudgedCase>> J =
        prepare(std::move(C), nullptr, Most, Unbounded);
    if (!J)
      return J.takeError();
    F.Judged = std::move(*J);
    F.Cost = 2 * Most - Unbounded;
  }
  LeftOver -= F.Cost;
  return F.Judged.get();
}

Expected<const JudgedCase *>
DomainCases::findNear(const GateCase &From, const Values &V,
                      const Smaller &Others, GridOf Grid, double &LeftOver) {
  const Values At = Model.baseValues();
  auto With = [&](const Values &Other) {
    Values All = Other;
    for (size_t I = 0; I < At.size(); ++I)
      if (V[I] != At[I])
        All[I] = V[I];
    return All;
  };
  // What it costs may be what the other sizes make of it.
  Values Last;
  for (const auto &[All, Most] : {std::pair(V, MostCost),
                                  {With(Others.Small), MostCost},
                                  {With(Others.Least), MostLeastCost}}) {
    if (All == Last)
      continue;
    Last = All;
    std::optional<GateCase> C = Model.at(From, All, MostFurtherBytes);
    if (!C || !Grid(*C) || !Others.Admits(*C))
      continue;
    Expected<const JudgedCase *> J = find(std::move(C), Most, LeftOver);
    if (!J || *J)
      return J;
  }
  return nullptr;
}

DomainCases::Smaller DomainCases::smallerFor(Admission Admits) const {
  const Values At = Model.baseValues();
  return {leastAdmitted(smallValues(), Admits),
          leastAdmitted(Values(At.size(), 1), Admits), Admits};
}

/// Code for one size alone runs in no other launch: those have other numbers,
/// too, and at last other floating arguments.
Error DomainCases::addAtConstants(const CodeFacts &Theirs,
                                  const Smaller &Others, double &LeftOver,
                                  std::vector<const JudgedCase *> &To) {
  constexpr unsigned Rounds = 3;
  constexpr size_t MostSizes = 6;
  const GateCase &From = *Froms.front();
  const Values At = Model.baseValues();
  std::vector<Values> Sizes;
  for (size_t I = 0; I < At.size(); ++I)
    for (const ThresholdFact &T : Theirs.Thresholds)
      if (T.E == Model.vars()[I].expr() && T.Value > 0 && T.Value != At[I]) {
        Values V = At;
        V[I] = T.Value;
        if (Sizes.size() < MostSizes && !is_contained(Sizes, V))
          Sizes.push_back(std::move(V));
      }
  for (const Values &V : Sizes)
    for (unsigned Round = 0; Round < Rounds; ++Round) {
      auto Refilled = [&](GateCase &C) {
        refill(C, From, O.context().Seed, Round, V, At);
        if (Round + 1 == Rounds)
          for (const auto &[Number, Use] : Theirs.Floats) {
            writeFloat(C, Number, 3 * readFloat(C, Number));
            C.ChangedFloats.push_back(Number);
            C.Name += " number " + std::to_string(Number.Param) + " x3";
          }
        return true;
      };
      Expected<const JudgedCase *> J =
          findNear(From, V, Others, Refilled, LeftOver);
      if (!J)
        return J.takeError();
      if (*J && !is_contained(To, *J))
        To.push_back(*J);
    }
  return Error::success();
}

/// Whether one of the launches that every variant gets has the sizes \p V, and
/// could be run.
bool DomainCases::isJudged(const Values &V) const {
  auto At = llvm::find(Known, V);
  return At != Known.end() && Entries[KnownAt[At - Known.begin()]].Judged;
}

Expected<std::vector<const JudgedCase *>>
DomainCases::around(const CodeFacts &Theirs, const CodeFacts &Built,
                    uint64_t Salt, Admission Admits) {
  constexpr size_t MostAround = 120;
  constexpr unsigned OfItsOwn = 6;
  std::vector<Values> Wanted;
  addResidues(Theirs, Wanted);
  addThresholds(Theirs, Wanted);
  // What a verdict on one text showed says nothing of those of the next. How
  // far a domain goes is not by chance: none is larger than recorded.
  append_range(Wanted, randomSizes(Salt, OfItsOwn));
  addThresholds(Built, Wanted);
  addResidues(Built, Wanted);
  const GateCase &From = *Froms.front();
  double LeftOver = MostAroundCosts;
  std::vector<const JudgedCase *> All;
  const Smaller Others = smallerFor(Admits);
  auto AsItIs = [](GateCase &) { return true; };
  for (const Values &V : Wanted) {
    if (isJudged(V) || All.size() == MostAround)
      continue;
    Expected<const JudgedCase *> J =
        findNear(From, V, Others, AsItIs, LeftOver);
    if (!J)
      return J.takeError();
    if (*J && !is_contained(All, *J))
      All.push_back(*J);
  }
  for (const CodeFacts *Facts : {&Theirs, &Built})
    if (Error E = addAtConstants(*Facts, Others, LeftOver, All))
      return std::move(E);
  CaseMakers Numbers;
  for (const CodeFacts *Facts : {&Theirs, &Built})
    if (!Facts->FloatThresholds.empty())
      addConstantCases(O.context(), From, Numbers, Facts->FloatThresholds);
  for (CaseMaker &M : Numbers) {
    double Unbounded = MostCost;
    Expected<const JudgedCase *> J = find(M.Make(), MostCost, Unbounded);
    if (!J)
      return J.takeError();
    if (*J && All.size() < MostAround)
      All.push_back(*J);
  }
  return All;
}

std::optional<DomainCases::Values>
DomainCases::withAdmittedBlocks(const Values &V, Admission Admits) const {
  constexpr int64_t MostTimes = 4096;
  auto IsAdmitted = [&](const Values &Each) {
    std::vector<uint64_t> Bytes;
    std::optional<GateCase> C = Model.shapeAt(
        *Froms.front(), Each, MostFurtherBytes, /*Roomy=*/false, Bytes);
    return C && Admits(*C);
  };
  if (IsAdmitted(V))
    return V;
  SmallVector<size_t, 3> Free;
  for (auto [I, Var] : enumerate(Model.vars()))
    if (Var.IsGrid)
      Free.push_back(I);
  // One side of the grid after the other, and all of them.
  for (int64_t Times = 2; Times <= MostTimes; Times *= 2)
    for (size_t First = 0; First <= Free.size() && !Free.empty(); ++First) {
      Values More = V;
      for (auto [N, I] : enumerate(Free))
        if (First == N || First == Free.size())
          More[I] = std::min<int64_t>(MaxGrid[Model.vars()[I].Index],
                                      std::max<int64_t>(V[I], 1) * Times);
      if (IsAdmitted(More))
        return More;
    }
  return std::nullopt;
}

Expected<std::vector<const JudgedCase *>> DomainCases::grown(Admission Admits) {
  constexpr size_t MostEach = 4;
  const Values At = Model.baseValues();
  std::vector<const JudgedCase *> All;
  std::optional<Smaller> Others; // When the guard keeps anything out.
  double LeftOver = MostAroundCosts;
  for (size_t I = 0; I < At.size(); ++I) {
    int64_t Reached = At[I];
    std::set<int64_t, std::greater<>> Larger;
    for (auto [V, Entry] : zip_equal(Known, KnownAt)) {
      const JudgedCase *J = Entries[Entry].Judged.get();
      if (!J || V[I] <= Reached)
        continue;
      if (Admits(J->Case))
        Reached = V[I];
      else
        Larger.insert({V[I], evenLike(V[I], At[I])});
    }
    size_t Tried = 0;
    const JudgedCase *Found = nullptr;
    for (int64_t More : Larger) {
      if (More <= Reached || Found || Tried++ == MostEach)
        break;
      if (!Others)
        Others = smallerFor(Admits);
      for (const Values &Beside : {Others->Least, Others->Small, At}) {
        Values V = Beside;
        V[I] = More;
        std::optional<Values> Admitted = withAdmittedBlocks(V, Admits);
        if (!Admitted || Found)
          continue;
        Expected<const JudgedCase *> J =
            find(Model.at(*Froms.front(), *Admitted, MostFurtherBytes),
                 MostCost, LeftOver);
        if (!J)
          return J.takeError();
        Found = *J;
      }
    }
    if (Found)
      All.push_back(Found);
  }
  return All;
}

Expected<std::vector<const JudgedCase *>>
DomainCases::apart(const Bindings &Wrong) {
  const Values At = Model.baseValues();
  std::vector<std::optional<GateCase>> Cases;
  for (size_t I = 0; I < At.size(); ++I) {
    std::optional<int64_t> V = evaluate(Model.vars()[I].expr(), Wrong);
    Values One = At;
    if (!V || *V == At[I])
      continue;
    One[I] = *V;
    if (!is_contained(Known, One))
      Cases.push_back(Model.at(*Froms.front(), One, MostBytes));
  }
  if (Cases.size() < 2)
    Cases.clear();
  std::vector<const JudgedCase *> All;
  for (std::optional<GateCase> &C : Cases) {
    double Unbounded = MostCost;
    Expected<const JudgedCase *> J = find(std::move(C), MostCost, Unbounded);
    if (!J)
      return J.takeError();
    if (*J)
      All.push_back(*J);
  }
  return All;
}

Expected<const JudgedCase *> DomainCases::between(ArrayRef<TriedLaunch> Tried,
                                                  const Bindings &Wrong) {
  const Values At = Model.baseValues();
  Values Mid = At;
  for (size_t I = 0; I < At.size(); ++I) {
    const Expr E = Model.vars()[I].expr();
    std::optional<int64_t> V = evaluate(E, Wrong);
    if (!V)
      return nullptr;
    int64_t Right = At[I];
    for (const TriedLaunch &L : Tried)
      if (std::optional<int64_t> Is = evaluate(E, L.B);
          Is && !L.Wrong && *Is < *V)
        Right = std::max(Right, *Is);
    Mid[I] = At[I] < 1 || *V <= Right
                 ? *V
                 : llround(std::sqrt(double(Right) * double(*V)));
  }
  if (is_contained(Known, Mid))
    return nullptr;
  double Unbounded = MostCost;
  return find(Model.at(*Froms.front(), Mid, MostBytes), MostCost, Unbounded);
}

Expected<const JudgedCase *> DomainCases::corner(ArrayRef<TriedLaunch> Tried,
                                                 Admission Admits) {
  const Values At = Model.baseValues();
  Values Most = At;
  for (const TriedLaunch &L : Tried)
    for (size_t I = 0; I < At.size() && !L.Wrong; ++I)
      if (std::optional<int64_t> V = evaluate(Model.vars()[I].expr(), L.B))
        Most[I] = std::max(Most[I], *V);
  return together(Most, Admits);
}

Expected<const JudgedCase *> DomainCases::corner(const DomainBox &Box,
                                                 Admission Admits) {
  Values Most = Model.baseValues();
  for (size_t I = 0; I < Most.size(); ++I)
    if (std::optional<Interval> In = rangeIn(Model.vars()[I].expr(), Box))
      Most[I] = std::max(Most[I], In->Most);
  return together(Most, Admits);
}

Expected<const JudgedCase *> DomainCases::narrowCorner(const JudgedCase &Corner,
                                                       Admission Admits) {
  constexpr double MostNarrowCost = 4e7;
  bool IsFree = false;
  for (auto [V, At] : zip_equal(Model.vars(), Model.baseValues()))
    IsFree |= V.IsGrid && int64_t(Corner.Case.Shape.Grid[V.Index]) > At;
  if (!IsFree || Corner.Case.Shape.Block[0] == 1)
    return nullptr;
  GateCase C = another(Corner.Case);
  C.Shape.Block[0] = 1;
  C.Name += " block.x=1";
  if (!Admits(C))
    return nullptr;
  double Unbounded = MostNarrowCost;
  return find(std::move(C), MostNarrowCost, Unbounded);
}

Expected<const JudgedCase *> DomainCases::together(const Values &Most,
                                                   Admission Admits) {
  constexpr int64_t LeastShare = 64;
  constexpr double MostCornerCost = 4e7;
  const Values At = Model.baseValues();
  for (int64_t Share = 1; Share <= LeastShare; Share *= 2) {
    size_t Larger = 0;
    Values V = At, Even = At;
    for (size_t I = 0; I < At.size(); ++I) {
      V[I] = std::max(At[I], Most[I] / Share);
      Even[I] = std::max(At[I], evenLike(Most[I] / Share, At[I]));
      Larger += V[I] > At[I];
    }
    if (Larger < 2)
      break;
    for (const Values *Each : {&V, &Even}) {
      if (is_contained(Known, *Each) || (Each == &Even && Even == V))
        continue;
      std::optional<GateCase> C =
          Model.at(*Froms.front(), *Each, MostFurtherBytes);
      if (!C || !Admits(*C))
        continue;
      double Unbounded = MostCornerCost;
      Expected<const JudgedCase *> J =
          find(std::move(C), MostCornerCost, Unbounded);
      if (!J || *J)
        return J;
    }
  }
  return nullptr;
}

Expected<const JudgedCase *> DomainCases::propose(const SideProposal &P,
                                                  Admission Admits) {
  const Kernel &K = O.kernel();
  GateCase From = another(Base.Case);
  for (auto [I, S] : enumerate(K.Scalars)) {
    bool IsSize = any_of(Model.vars(), [I = I](const LaunchVar &V) {
      return !V.IsGrid && V.Index == I;
    });
    const auto Value = static_cast<uint64_t>(P.Launch.Symbols[I]);
    if (IsSize ||
        readScalar(From, S) == (Value & maskTrailingOnes<uint64_t>(S.Bits)))
      continue;
    writeScalar(From, S, Value);
    From.Name +=
        " " + scalarName(K, S) + "=" + std::to_string(P.Launch.Symbols[I]);
  }
  if (P.Number) {
    writeFloat(From, P.Number->first, P.Number->second);
    From.ChangedFloats.push_back(P.Number->first);
    From.Name += " number " + std::to_string(P.Number->first.Param) + "=" +
                 std::to_string(P.Number->second);
  }
  if (P.Misaligned) {
    From.Shift = From.Shift ? 0 : 4;
    From.Name += " shifted";
  }
  if (P.Null && find_if(From.Pointers, [&](const WorkloadPointer &Each) {
                  return Each.Param == P.Null->Pointer.Param &&
                         Each.Offset == P.Null->Pointer.Offset;
                }) != From.Pointers.end() == P.Null->IsNull) {
    std::optional<GateCase> Toggled =
        nullToggled(K, O.context().Types, From, P.Null->Pointer);
    if (!Toggled)
      return nullptr;
    From = std::move(*Toggled);
  }
  auto WithGrid = [&](GateCase &C) {
    for (unsigned D = 0; D < 3; ++D) {
      const auto Block = static_cast<uint64_t>(P.Launch.Dims[BlockX + D]);
      const auto Grid = static_cast<uint64_t>(P.Launch.Dims[GridX + D]);
      if (C.Shape.Block[D] != Block) {
        C.Shape.Block[D] = Block;
        C.Name +=
            std::string(" block.") + "xyz"[D] + "=" + std::to_string(Block);
      }
      // Where the grid follows a size, that has changed it already.
      if (Grid != Base.Case.Shape.Grid[D] && Grid != C.Shape.Grid[D] &&
          Grid <= uint64_t(MaxGrid[D]) && Grid > 0) {
        C.Shape.Grid[D] = Grid;
        C.Name += std::string(" grid.") + "xyz"[D] + "=" + std::to_string(Grid);
      }
    }
    if (C.Shape.Block[0] * C.Shape.Block[1] * C.Shape.Block[2] >
        uint64_t(MaxBlockThreads))
      return false;
    return true;
  };
  Values At = Model.baseValues();
  for (size_t I = 0; I < At.size(); ++I)
    if (std::optional<int64_t> V = evaluate(Model.vars()[I].expr(), P.Launch))
      At[I] = *V;
  double LeftOver = 2 * MostLeastCost;
  return findNear(From, At, smallerFor(Admits), WithGrid, LeftOver);
}

} // namespace cupilot
