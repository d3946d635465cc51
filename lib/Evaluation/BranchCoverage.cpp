//===- BranchCoverage.cpp - Which sides of a variant's code ran -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchCoverage.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/IR/InstrTypes.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace cupilot {

BranchCoverage::BranchCoverage(const Kernel &K, DecisionCode Read)
    : K(&K), Code(std::move(Read)) {
  Wanted.resize(std::max<size_t>(Code.Sites.size(), 1));
  for (unsigned I = 0; I < Code.Sites.size(); ++I)
    if (Code.Facts[I].Matters)
      Wanted.set(I);
  FirstOfBuilt = static_cast<unsigned>(Code.Sites.size());
  FirstSideOfBuilt = Code.Sites.empty()
                         ? 0
                         : Code.Sites.back().First + Code.Sites.back().Sides;
}

void BranchCoverage::addBuilt(DecisionCode Built) {
  WantedOfBuilt.resize(Built.Sites.size());
  for (auto [I, Site] : enumerate(Built.Sites)) {
    if (Built.Facts[I].Matters)
      WantedOfBuilt.set(static_cast<unsigned>(I));
    Site.First += FirstSideOfBuilt;
    Code.Sites.push_back(std::move(Site));
    Code.Facts.push_back(std::move(Built.Facts[I]));
  }
  if (WantedOfBuilt.none())
    WantedOfBuilt.clear();
}

Expected<BranchCoverage> BranchCoverage::create(const Kernel &K,
                                                StringRef Bitcode,
                                                const LaunchPlan &Plan,
                                                StringRef Built) {
  Expected<DecisionCode> Code = decisionsOf(K, Bitcode, Plan);
  if (!Code)
    return Code.takeError();
  BranchCoverage Coverage(K, std::move(*Code));
  if (!Built.empty()) {
    Expected<DecisionCode> OfBuilt =
        decisionsOf(K, Built, Plan, /*IsBuilt=*/true);
    if (!OfBuilt)
      return OfBuilt.takeError();
    Coverage.addBuilt(std::move(*OfBuilt));
  }
  return Coverage;
}

void BranchCoverage::addAt(unsigned First, const BitVector &Decided) {
  Taken.resize(std::max(Taken.size(), First + Decided.size()));
  for (unsigned I : Decided.set_bits())
    Taken.set(First + I);
}

bool BranchCoverage::isTaken(unsigned Site, unsigned Side, bool AtLeast) const {
  const DecisionSite &S = Code.Sites[Site];
  unsigned Last = AtLeast ? S.Sides : Side + 1;
  for (unsigned I = Side; I < Last; ++I)
    if (S.First + I < Taken.size() && Taken[S.First + I])
      return true;
  return false;
}

bool BranchCoverage::missesToo(const DecisionSite &S, unsigned Side,
                               bool AtLeast) const {
  bool Found = false;
  for (unsigned I = 0; I < Code.Sites.size(); ++I) {
    const DecisionSite &Own = Code.Sites[I];
    if (Own.Body != S.Body || Own.InBody != S.InBody || Own.Kind != S.Kind)
      continue;
    if (isTaken(I, Side, AtLeast))
      return false;
    Found = true;
  }
  return Found;
}

std::vector<MissingSide>
BranchCoverage::missing(const BranchCoverage *Original) const {
  std::vector<MissingSide> Result;
  for (unsigned Site = 0; Site < Code.Sites.size(); ++Site) {
    const SiteFacts &Facts = Code.Facts[Site];
    if (!Facts.Matters)
      continue;
    for (const SiteFacts::Side &S : Facts.Sides)
      if (!isTaken(Site, S.Number, S.AtLeast) &&
          !(Original &&
            Original->missesToo(Code.Sites[Site], S.Number, S.AtLeast)))
        Result.push_back({Site, S.Number, S.AtLeast, Code.Sites[Site].Kind,
                          Code.Sites[Site].Location, Facts.HangsOnMemory,
                          Facts.HangsOnArguments, Facts.Numbers, S.Places});
  }
  return Result;
}

std::string BranchCoverage::text(const MissingSide &M) const {
  const DecisionSite &S = Code.Sites[M.Site];
  std::string Where =
      M.Location.empty() ? "in '" + S.Function + "'" : M.Location;
  if (M.Site >= FirstOfBuilt)
    Where = "in what is built of '" + S.Function + "'";
  if (S.Kind == DecisionKind::Service)
    return Where + ": no case makes this call, which may allocate memory or "
                   "print";
  std::string When;
  for (const SideCondition &C : M.Places)
    if (When.empty())
      When = C.Text;
  Where += ": no case takes ";
  switch (S.Kind) {
  case DecisionKind::Compare:
  case DecisionKind::Boolean:
    if (When.empty())
      return Where + "the branch when the condition is " +
             (M.Side ? "true" : "false");
    return Where + "the branch when " + When;
  case DecisionKind::MinMax:
  case DecisionKind::FloatMinMax:
    return Where + "the side of the minimum or maximum" +
           (When.empty() ? "" : " when " + When);
  case DecisionKind::Switch:
    return Where + "the side of the switch" +
           (When.empty() ? "" : " when " + When);
  case DecisionKind::Table:
    return Where + "element " + std::to_string(M.Side) + " of the table";
  case DecisionKind::Loop:
    return Where + "the way on which " + When;
  case DecisionKind::Number:
    return Where + "the side on which a number here is " +
           (M.Side ? "not 0" : "0") + (When.empty() ? "" : ", when " + When);
  case DecisionKind::Service:
    break;
  }
  llvm_unreachable("a kind of decision");
}

/// The value of \p V at \p Index of a launch, for scalars after dimensions.
static int64_t &variable(Bindings &B, size_t Index) {
  return Index < NumLaunchDims ? B.Dims[Index]
                               : B.Symbols[Index - NumLaunchDims];
}

static bool mentions(const Expr &E, size_t Index) {
  if (E.K == Expr::Kind::Dim || E.K == Expr::Kind::Symbol)
    return static_cast<size_t>(E.Value) +
               (E.K == Expr::Kind::Symbol ? NumLaunchDims : 0) ==
           Index;
  return any_of(E.Operands, [&](const Expr &O) { return mentions(O, Index); });
}

static bool mentions(const SideCondition &C, size_t Index) {
  auto In = [&](const Polynomial &P) { return mentions(P.expr(), Index); };
  if (C.Halving)
    for (const auto &P : {C.Halving->Start.Low, C.Halving->Start.High,
                          C.Halving->Bound.Low, C.Halving->Bound.High})
      if (P && In(*P))
        return true;
  return any_of(C.Needs, In);
}

static Interval limitsOf(size_t Index, const Kernel &K) {
  if (Index < BlockX)
    return {1, MaxGrid[Index]};
  if (Index < SharedBytes)
    return {1, MaxBlock[Index - BlockX]};
  if (Index < NumLaunchDims)
    return {0, int64_t(228) << 10};
  const ScalarRef &S = K.Scalars[Index - NumLaunchDims];
  if (S.Bits >= 64)
    return {INT64_MIN, INT64_MAX};
  return {S.Signed ? -(int64_t(1) << (S.Bits - 1)) : 0,
          (int64_t(1) << (S.Bits - S.Signed)) - 1};
}

/// Values of a variable that may change what a condition says: near it, at
/// powers of two of it, and where a straight line reaches 0.
static std::vector<int64_t> valuesToTry(const SideCondition &C,
                                        const Bindings &Base, size_t Index,
                                        Interval Limits) {
  Bindings B = Base;
  int64_t Now = variable(B, Index);
  std::vector<int64_t> Values;
  auto Add = [&](__int128 V) {
    if (Limits.Least <= V && V <= Limits.Most && V != Now)
      Values.push_back(static_cast<int64_t>(V));
  };
  for (int64_t D = -72; D <= 72; ++D)
    Add(__int128(Now) + D);
  for (int64_t V = -2; V <= 66; ++V)
    Add(V);
  for (unsigned Shift = 1; Shift < 48; ++Shift) {
    Add(__int128(Now) << Shift);
    Add(Now >> Shift);
    Add(__int128(1) << Shift);
    Add((__int128(1) << Shift) - 1);
    Add((__int128(1) << Shift) + 1);
  }
  for (const Polynomial &P : C.Needs) {
    Expr E = P.expr();
    for (int64_t Step : {int64_t(1), int64_t(1024)}) {
      variable(B, Index) = Now;
      std::optional<int64_t> At = evaluate(E, B);
      int64_t There = 0;
      if (AddOverflow(Now, Step, There))
        continue;
      variable(B, Index) = There;
      std::optional<int64_t> Next = evaluate(E, B);
      if (!At || !Next || *At == *Next)
        continue;
      double Rise = (double(*Next) - double(*At)) / double(Step);
      double Root = double(Now) - double(*At) / Rise;
      if (std::fabs(Root) < 9e15)
        for (int64_t D = -2; D <= 2; ++D)
          Add(__int128(std::llround(Root)) + D);
    }
    // Where no line leads: between two powers of which one is enough.
    auto IsMet = [&](int64_t V) {
      variable(B, Index) = V;
      std::optional<int64_t> Is = evaluate(E, B);
      return Is && *Is >= 0;
    };
    for (unsigned Shift = 0; Shift < 47; ++Shift) {
      int64_t Low = int64_t(1) << Shift, High = Low * 2;
      if (High > Limits.Most)
        break;
      const bool Before = IsMet(Low);
      if (IsMet(High) == Before)
        continue;
      while (High - Low > 1) {
        int64_t Mid = Low + (High - Low) / 2;
        (IsMet(Mid) == Before ? Low : High) = Mid;
      }
      for (int64_t D = -2; D <= 2; ++D)
        Add(__int128(High) + D);
    }
  }
  // Nearest first, and each once.
  auto Away = [&](int64_t V) {
    return V > Now ? uint64_t(V) - uint64_t(Now) : uint64_t(Now) - uint64_t(V);
  };
  llvm::sort(Values, [&](int64_t L, int64_t R) {
    return std::pair(Away(L), L) < std::pair(Away(R), R);
  });
  Values.erase(llvm::unique(Values), Values.end());
  return Values;
}

/// A number that \p T accepts: next to its constant.
static std::optional<double> numberFor(const SideCondition::FloatTest &T) {
  const double Inf = std::numeric_limits<double>::infinity();
  auto Next = [&](double V, double To) {
    switch (T.Number.Type) {
    case FloatRef::Format::Double:
      return std::nextafter(V, To);
    case FloatRef::Format::Float:
      return double(std::nextafter(float(V), float(To)));
    default: // Of 8 and 11 bits of significand.
      return V == 0 ? std::copysign(0.01, To)
                    : V + std::copysign(std::fabs(V) / 64, To);
    }
  };
  switch (static_cast<CmpInst::Predicate>(T.Predicate)) {
  case CmpInst::FCMP_OLT:
  case CmpInst::FCMP_ULT:
  case CmpInst::FCMP_ONE:
  case CmpInst::FCMP_UNE:
    return Next(T.Value, -Inf);
  case CmpInst::FCMP_OGT:
  case CmpInst::FCMP_UGT:
    return Next(T.Value, Inf);
  case CmpInst::FCMP_UNO:
    return std::numeric_limits<double>::quiet_NaN();
  case CmpInst::FCMP_FALSE:
    return std::nullopt;
  default:
    return T.Value;
  }
}

std::vector<SideProposal>
BranchCoverage::proposals(const MissingSide &M, const Bindings &Base) const {
  constexpr size_t MostPerVariable = 3, MostTried = 4096;
  std::vector<SideProposal> Result;
  for (const SideCondition &C : M.Places) {
    if (C.Float) {
      if (std::optional<double> V = numberFor(*C.Float))
        Result.push_back({Base, std::pair(C.Float->Number, *V), {}, {}});
      continue;
    }
    if (C.Null) {
      Result.push_back({Base, {}, C.Null, {}});
      continue;
    }
    if (C.Alignment) {
      for (const PointerRef &P : C.Alignment->Pointers)
        Result.push_back({Base, {}, {}, P});
      continue;
    }
    if (!C.Known)
      continue;
    // Scalars first: a plan's launch follows them.
    std::vector<size_t> Variables;
    Variables.reserve(NumLaunchDims + Base.Symbols.size());
    for (size_t I = 0; I < Base.Symbols.size(); ++I)
      Variables.push_back(NumLaunchDims + I);
    for (size_t I = 0; I < NumLaunchDims; ++I)
      Variables.push_back(I);
    erase_if(Variables, [&](size_t I) { return !mentions(C, I); });
    size_t Tried = 0;
    for (size_t I : Variables) {
      size_t Found = 0;
      for (int64_t V : valuesToTry(C, Base, I, limitsOf(I, *K))) {
        if (Found == MostPerVariable || ++Tried > MostTried)
          break;
        SideProposal P{Base, {}, {}, {}};
        variable(P.Launch, I) = V;
        if (!mayHold(C, P.Launch))
          continue;
        Result.push_back(std::move(P));
        ++Found;
      }
    }
  }
  // What cannot be said of a number may be that it is none.
  if (Result.empty())
    for (const FloatRef &Number : M.Numbers)
      for (double V : {double(INFINITY), double(NAN), 0.0, double(-INFINITY)})
        Result.push_back({Base, std::pair(Number, V), {}, {}});
  return Result;
}

bool BranchCoverage::cannotHappenIn(const MissingSide &M,
                                    const DomainBox &Box) const {
  return none_of(M.Places,
                 [&](const SideCondition &C) { return mayHold(C, Box, *K); });
}

} // namespace cupilot
