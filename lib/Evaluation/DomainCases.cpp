//===- DomainCases.cpp - The launches that make a domain wide -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DomainCases.h"
#include "Original.h"
#include "cupilot/Portable/Random.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace cupilot {

// In instructions of all threads: of one launch, and of all of one base.
static constexpr double MostCosts = 1.5e8;
static constexpr double MostDeepCost = OriginalRuns::LargestCost,
                        MostDeepCosts = 1e9;
// Those that follow from the recorded launches have their own.
static constexpr double MostRecordedCosts = 1e9;
// Bytes that the buffers of a launch take.
static constexpr uint64_t MostDeepBytes = uint64_t(1) << 28;
// And of all deep launches together: memory takes its time, too.
static constexpr uint64_t AllDeepBytes = uint64_t(3) << 30;

/// Those of which sizes are tried.
static constexpr size_t MostCombinations = 8;

/// Of one size in launches that every variant gets.
static constexpr double LargestAlone = 70001;

double DomainCases::mostCost(bool Deep) {
  return Deep ? MostDeepCost : MostShallowCost;
}

GateCase another(GateCase C) {
  C.Captured = C.Ordered = C.Thorough = false;
  C.Doubtful = true;
  return C;
}

static bool mentions(const Expr &E, unsigned Scalar) {
  return E == Expr::symbol(Scalar) ||
         any_of(E.Operands, [&](const Expr &O) { return mentions(O, Scalar); });
}

SmallVector<unsigned> flagsOf(const Kernel &K, const CodeFacts &Own,
                              const GateCase &Base) {
  constexpr uint64_t LargestMode = 16;
  SmallVector<unsigned> Flags;
  for (unsigned I = 0; I < K.Scalars.size(); ++I) {
    const ValueUse &Use = Own.Scalars[I];
    bool IsCompared = any_of(Own.Thresholds, [&](const ThresholdFact &T) {
      return T.E == Expr::symbol(I);
    });
    bool IsFactor =
        any_of(Own.Products, [&](const Expr &E) { return mentions(E, I); });
    if (Use.Decides && !Use.Addresses && IsCompared && !IsFactor &&
        readScalar(Base, K.Scalars[I]) <= LargestMode)
      Flags.push_back(I);
  }
  return Flags;
}

/// A size near \p V or below, as even as it, that costs little.
static int64_t smallLike(int64_t V) {
  constexpr int64_t Small = 8;
  if (V <= Small)
    return V;
  while (V % 2 == 0 && V > Small)
    V /= 2;
  return V <= 4 * Small ? V : 2 * Small + 1;
}

void DomainCases::add(const GateCase &From, Values V, std::vector<Entry> &To) {
  if (&To == &Entries && &From == Froms.front().get()) {
    if (is_contained(Known, V))
      return;
    Known.push_back(V);
    KnownAt.push_back(Entries.size());
  }
  uint64_t Most = &To == &Deep ? MostDeepBytes : MostBytes;
  auto Make = [this, &From, V = std::move(V), Most](bool Roomy) {
    return Model.at(From, V, Most, Roomy);
  };
  To.push_back({[Make] { return Make(false); }, false, nullptr,
                [Make] { return Make(true); }});
}

/// All rests of a modulus up to this are tried.
static constexpr int64_t AllRests = 16;

void DomainCases::addResidues(const CodeFacts &Facts,
                              std::vector<Values> &To) const {
  constexpr size_t MostEach = 80;
  constexpr int64_t LargestModulus = 4096;
  const Values At = Model.baseValues();
  uint64_t State = O.setup().Seed + 79;
  auto AnyRest = [&](int64_t Modulus) {
    return int64_t(splitMix64(State) % uint64_t(Modulus));
  };
  for (size_t I = 0; I < At.size(); ++I) {
    std::set<int64_t> Seen, Moduli;
    for (const ModulusFact &M : Facts.Moduli)
      if (M.E == Model.vars()[I].expr() && M.Modulus > 1 &&
          M.Modulus <= LargestModulus && At[I] > 0)
        Moduli.insert(M.Modulus);
    auto Add = [&](int64_t Size, int64_t Modulus, int64_t Rest) {
      int64_t V = Size / Modulus * Modulus + Rest % Modulus;
      if (V < 1 || Seen.size() >= MostEach || !Seen.insert(V).second)
        return;
      Values All = At;
      All[I] = V;
      To.push_back(std::move(All));
    };
    for (int64_t M : Moduli)
      for (int64_t Size : {At[I], std::min(At[I], M), std::max(2 * At[I], M)})
        for (int64_t Rest : {int64_t(0), int64_t(1), M - 1, M / 2, AnyRest(M)})
          Add(Size, M, Rest);
    for (int64_t M : Moduli) // Less than one tile.
      for (int64_t Rest : {M - 1, M / 2, AnyRest(M)})
        Add(0, M, Rest);
    for (int64_t M : Moduli)
      for (int64_t Rest = 0; M <= AllRests && Rest < M; ++Rest)
        Add(At[I], M, Rest);
  }
}

/// Where rows must be aligned, the original bears other rests of their length
/// only if there is one row: such rests among another size that is 1.
void DomainCases::addRestsAmongOnes(const GateCase &From,
                                    const CodeFacts &Facts) {
  const Values At = Model.baseValues();
  for (size_t I = 0; I < At.size(); ++I) {
    int64_t Modulus = 0;
    for (const ModulusFact &M : Facts.Moduli)
      if (M.E == Model.vars()[I].expr() && M.Modulus <= AllRests)
        Modulus = std::max(Modulus, M.Modulus);
    // Of whole tiles and less than one.
    const int64_t Whole =
        std::max(At[I] / std::max(Modulus, int64_t(1)), int64_t(1)) * Modulus;
    for (int64_t Tiles : {Whole, int64_t(0)})
      for (int64_t Rest = 1; Rest < Modulus && At[I] > 0; ++Rest) {
        Values V = At;
        V[I] = Tiles + Rest;
        std::optional<size_t> Plain;
        if (const auto Same = llvm::find(Known, V); Same != Known.end())
          Plain = KnownAt[size_t(Same - Known.begin())];
        for (size_t Other = 0; Other < At.size(); ++Other) {
          if (Other == I || At[Other] < 2)
            continue;
          Values Among = V;
          Among[Other] = 1;
          const size_t Added = Entries.size();
          add(From, std::move(Among), Entries);
          if (Entries.size() > Added)
            Entries.back().Unless = Plain;
        }
      }
  }
}

void DomainCases::addThresholds(const CodeFacts &Facts,
                                std::vector<Values> &To) const {
  const Values At = Model.baseValues();
  for (size_t I = 0; I < At.size(); ++I)
    for (const ThresholdFact &T : Facts.Thresholds)
      if (T.E == Model.vars()[I].expr())
        for (int64_t V : {T.Value - 1, T.Value, T.Value + 1}) {
          Values Each = At;
          Each[I] = V;
          To.push_back(std::move(Each));
        }
}

std::vector<DomainCases::Values>
DomainCases::randomSizes(uint64_t State, unsigned Count,
                         std::optional<int64_t> Growth) const {
  std::vector<Values> All;
  const Values At = Model.baseValues();
  auto UpTo = [&](double Most) {
    double Share = double(splitMix64(State) >> 11) * 0x1p-53;
    return std::max<int64_t>(
        static_cast<int64_t>(std::exp2(std::log2(Most) * Share)), 1);
  };
  for (unsigned N = 0; N < Count && !At.empty(); ++N) {
    // All of them as much larger; or one, in turn, as large as a domain may
    // have it.
    const size_t Alone = N / 2 % At.size();
    Values V = At;
    for (size_t I = 0; I < V.size(); ++I)
      if (V[I] >= 1)
        V[I] = UpTo(!Growth      ? double(V[I])
                    : N % 2 == 0 ? double(V[I]) * double(*Growth)
                    : I == Alone
                        ? std::max(double(V[I]) * double(*Growth), LargestAlone)
                        : double(V[I]));
    All.push_back(std::move(V));
  }
  return All;
}

void DomainCases::addRandomSizes(const GateCase &From, unsigned Count,
                                 int64_t Growth, std::vector<Entry> &To) {
  const uint64_t State = O.setup().Seed * 0x9e3779b97f4a7c15 + Count;
  for (Values &V : randomSizes(State, Count, Growth))
    add(From, std::move(V), To);
}

DomainCases::Values DomainCases::smallValues() const {
  Values Small = Model.baseValues();
  for (int64_t &V : Small)
    V = smallLike(V);
  return Small;
}

/// All sizes together, each as \p Change says and at least 1.
void DomainCases::addAll(const GateCase &From,
                         function_ref<int64_t(int64_t)> Change) {
  Values V = Model.baseValues();
  for (int64_t &Each : V)
    Each = std::max<int64_t>(Change(Each), 1);
  add(From, std::move(V), Entries);
}

void DomainCases::addLadder(const GateCase &From) {
  const Values At = Model.baseValues(), Small = smallValues();
  auto With = [](Values V, size_t I, int64_t Value) {
    V[I] = Value;
    return V;
  };
  for (size_t I = 0; I < At.size(); ++I)
    for (int64_t Odd : {0, 1, 2, 3, -1, -3})
      add(From, With(At, I, Odd), Entries);
  // Wide accesses want sizes that are as even as they were: the least of those.
  for (size_t I = 0; I < At.size(); ++I)
    for (int64_t Times : {1, 2, 3})
      if (int64_t Even = At[I] > 3 ? std::min<int64_t>(At[I] & -At[I], 16) : 0;
          Even > 1 && Times * Even < At[I])
        add(From, With(At, I, Times * Even), Entries);
  // What is computed for nothing where one size is 0 may still be read: among
  // the least even ones, in two blocks where the grid follows no size.
  for (size_t I = 0; I < At.size(); ++I) {
    Values V = At;
    for (auto [Each, Var] : zip_equal(V, Model.vars()))
      if (Var.expr().K == Expr::Kind::Dim)
        Each = std::max<int64_t>(Each, 2);
      else if (Each > 3)
        Each = std::min<int64_t>(Each & -Each, 16);
    V[I] = 0;
    if (Model.vars()[I].expr().K != Expr::Kind::Dim)
      add(From, std::move(V), Entries);
  }
  // All together: smaller, odd, larger.
  add(From, Small, Entries);
  addAll(From, [](int64_t) { return 1; });
  addAll(From, [](int64_t V) { return V - 1; });
  addAll(From, [](int64_t V) { return V + 1; });
  addAll(From, [](int64_t V) { return 2 * V; });
  addAll(From, [](int64_t V) { return 2 * V + 1; });
  addAll(From, [](int64_t V) { return 4 * V; });
  // Each by itself, among small ones and as they were.
  for (size_t I = 0; I < At.size(); ++I) {
    int64_t V = At[I];
    for (int64_t More :
         {2 * V, 4 * V, 4 * V + 1, 8 * V, 16 * V,
          static_cast<int64_t>(alignTo(70000, 1024)), int64_t(LargestAlone)})
      if (More > V)
        add(From, With(Small, I, More), Entries);
    for (int64_t More : {2 * V, 3 * V, 4 * V + 1, 8 * V})
      if (More > V)
        add(From, With(At, I, More), Entries);
  }
}

/// Other floating arguments, as far as they make a class of their own.
void DomainCases::addNumbers(const GateCase &From,
                             ArrayRef<FloatThresholdFact> Thresholds) {
  CaseMakers Makers;
  addConstantCases(O.context(), From, Makers, Thresholds);
  for (CaseMaker &M : Makers)
    Entries.push_back({[Make = std::move(M.Make)]() -> std::optional<GateCase> {
                         GateCase C = Make();
                         if (C.ChangedFloats.empty())
                           return std::nullopt;
                         return C;
                       },
                       false, nullptr, nullptr});
}

/// Buffers of which all addresses are multiples of an element, of two, ...
void DomainCases::addShifts(const GateCase &From, uint64_t Element) {
  constexpr uint64_t WidestAccess = 16;
  if (!isPowerOf2_64(Element))
    return;
  for (uint64_t Shift = Element; Shift < WidestAccess; Shift *= 2)
    Entries.push_back({[&From, Shift]() -> std::optional<GateCase> {
                         GateCase C = another(From);
                         C.Shift = Shift;
                         C.Name += " shifted by " + std::to_string(Shift);
                         return C;
                       },
                       false, nullptr, nullptr});
}

/// As little dynamic shared memory as the original bears: programs give as much
/// as a size asks for.
void DomainCases::addLeastShared(const GateCase &From) {
  if (From.Shape.Shared == 0)
    return;
  const Values At = Model.baseValues();
  Values Ones = At;
  for (int64_t &V : Ones)
    V = std::min<int64_t>(V, 1);
  std::vector<Values> Sizes = {Ones, smallValues(), At};
  // What a variant needs may grow faster than what the original does.
  auto AddLarger = [&](auto IsGrown, int64_t Factor) {
    Values V = At;
    for (size_t I = 0; I < V.size(); ++I)
      if (V[I] > 0 && IsGrown(I))
        V[I] *= Factor;
    Sizes.push_back(std::move(V));
  };
  AddLarger([](size_t) { return true; }, 2);
  for (size_t I = 0; I < At.size(); ++I)
    AddLarger([I](size_t K) { return K == I; }, 4);
  for (Values &V : Sizes)
    Entries.push_back(
        {[this, &From, V = std::move(V)]() { return withLeastShared(From, V); },
         false, nullptr, nullptr});
}

std::optional<GateCase> DomainCases::withLeastShared(const GateCase &From,
                                                     const Values &V) {
  std::optional<GateCase> C = Model.at(From, V, MostBytes, /*Roomy=*/true);
  if (!C)
    return std::nullopt;
  auto Bears = [&](uint64_t Bytes) {
    C->Shape.Shared = Bytes;
    Expected<double> Cost = O.estimate(*C, /*Deep=*/false);
    if (!Cost) {
      consumeError(Cost.takeError());
      return false;
    }
    return *Cost >= 0;
  };
  const uint64_t Given = C->Shape.Shared;
  uint64_t Low = 0, High = Given;
  if (!Bears(High) || Bears(0))
    return std::nullopt;
  while (High - Low > 1) {
    uint64_t Mid = Low + (High - Low) / 2;
    (Bears(Mid) ? High : Low) = Mid;
  }
  C->Shape.Shared = High;
  C->Name += " least shared=" + std::to_string(High);
  return C;
}

void DomainCases::addCompactLadder(const GateCase &From, const CodeFacts &Own) {
  const Values At = Model.baseValues(), Small = smallValues();
  add(From, At, Entries);
  add(From, Small, Entries);
  addAll(From, [](int64_t) { return 1; });
  addAll(From, [](int64_t V) { return V - 1; });
  addAll(From, [](int64_t V) { return 2 * V; });
  addAll(From, [](int64_t V) { return 2 * V + 1; });
  addNumbers(From, Own.FloatThresholds);
  addShifts(From, widestElement(O.kernel()));
  for (size_t I = 0; I < At.size(); ++I)
    for (int64_t More : {16 * At[I], int64_t(LargestAlone)}) {
      Values V = Small;
      V[I] = More;
      if (More > At[I])
        add(From, std::move(V), Entries);
    }
}

/// What was recorded, and larger: programs are run at other sizes, and the base
/// may be much smaller than what was recorded.
void DomainCases::addRecordedLadder(const GateCase &From) {
  std::vector<Values> Recorded;
  for (const Workload &W : O.setup().Workloads) {
    Expected<Bindings> B =
        bindLaunch(W.Shape, O.kernel().Scalars, placedArguments(W));
    if (!B) {
      consumeError(B.takeError());
      continue;
    }
    Values V = Model.valuesAt(*B);
    if (!is_contained(Recorded, V))
      Recorded.push_back(std::move(V));
  }
  auto Add = [&](Values V) {
    add(From, std::move(V), Deep);
    Deep.back().Group = Groups;
    Deep.back().IsRecorded = true;
  };
  constexpr size_t MostRecorded = 4;
  auto Divided = [&](const Values &R, int64_t By) {
    Values V = R;
    for (int64_t &Each : V)
      Each = Each < 1 ? Each : std::max<int64_t>(1, Each / By);
    return V;
  };
  for (const Values &R : ArrayRef(Recorded).take_front(MostRecorded)) {
    ++Groups;
    for (int64_t Factor : {4, 3, 2, 1}) {
      Values V = R;
      for (int64_t &Each : V)
        Each = Each < 1 ? Each : Factor * Each;
      Add(std::move(V));
    }
    for (int64_t By : {2, 4, 8})
      Add(Divided(R, By));
    // One of each, and the others in proportion.
    std::set<int64_t> Divisors = {16, 64};
    for (int64_t Each : R)
      if (Each > 1 && Each <= 4096)
        Divisors.insert(Each);
    for (int64_t By : Divisors) {
      ++Groups;
      Add(Divided(R, By));
    }
  }
  for (const Values &R : ArrayRef(Recorded).take_front(MostRecorded))
    for (size_t I = 0; I < R.size(); ++I) {
      ++Groups;
      for (int64_t Factor : {16, 8, 4, 2}) {
        Values V = R;
        V[I] *= Factor;
        if (R[I] > 0)
          Add(std::move(V));
      }
    }
}

void DomainCases::addDeepLadder() {
  addRecordedLadder(*Froms.front());
  addFullDeepLadder(*Froms.front());
  // Of the other combinations the ends alone.
  const Values At = Model.baseValues();
  for (size_t F = 1; F < Froms.size() && F <= MostCombinations; ++F) {
    for (int64_t Factor : {4, 16}) {
      Values V = At;
      for (int64_t &Each : V)
        Each = Each < 1 ? Each : Factor * Each + Factor % 3;
      add(*Froms[F], std::move(V), Deep);
    }
    for (size_t I = 0; I < At.size(); ++I) {
      Values V = At;
      for (size_t K = 0; K < V.size(); ++K)
        V[K] = K == I ? int64_t(1) << 20 : smallLike(At[K]);
      if (V[I] > At[I])
        add(*Froms[F], std::move(V), Deep);
    }
  }
}

void DomainCases::addFullDeepLadder(const GateCase &From) {
  const Values At = Model.baseValues();
  Values Small = At;
  for (int64_t &V : Small)
    V = V < 1 ? V : 1;
  for (size_t I = 0; I < At.size(); ++I) {
    Values Alone = Small, Like = At;
    for (size_t K = 0; K < At.size(); ++K)
      if (K != I)
        Like[K] = smallLike(At[K]);
    for (Values V : {Alone, Like}) {
      // The largest that does not cost too much.
      ++Groups;
      for (unsigned Bits : {24, 23, 22}) {
        V[I] = (int64_t(1) << Bits) + 8;
        add(From, V, Deep);
        Deep.back().Group = Groups;
      }
      V[I] = (int64_t(1) << 20) + 1;
      add(From, V, Deep);
    }
  }
  // Where those cost too much, the largest that does not.
  for (size_t I = 0; I < At.size(); ++I) {
    ++Groups;
    for (int64_t Top : {(1 << 20) + 1, (1 << 17) + 1, (1 << 14) + 1}) {
      Values V = Small;
      V[I] = Top;
      if (Top <= At[I])
        continue;
      add(From, std::move(V), Deep);
      Deep.back().Group = Groups;
    }
  }
  for (int64_t Factor : {4, 8, 16, 64})
    for (int64_t Rest : {0, 1}) {
      Values V = At;
      for (int64_t &Each : V)
        Each = Each < 1 ? Each : Factor * Each + Rest;
      add(From, std::move(V), Deep);
    }
  for (size_t I = 0; I < At.size(); ++I)
    for (int64_t Top : {int64_t(70016), 64 * At[I]}) {
      Values V = At;
      V[I] = Top;
      if (Top > At[I])
        add(From, std::move(V), Deep);
    }
  addRandomSizes(From, 56, 16, Deep);
}

/// \p From with other integers, each named by its place among the scalars.
static GateCase withScalars(const Kernel &K, const GateCase &From,
                            ArrayRef<std::pair<unsigned, uint64_t>> Values) {
  GateCase C = another(From);
  C.Far = true;
  for (auto [I, Value] : Values) {
    writeScalar(C, K.Scalars[I], Value);
    C.Name += " " + scalarName(K, K.Scalars[I]) + "=" +
              std::to_string(readScalar(C, K.Scalars[I]));
  }
  return C;
}

/// Integers that are only data may be any.
void DomainCases::addData(const CodeFacts &Own) {
  const Kernel &K = O.kernel();
  const GateCase &From = *Froms.front();
  uint64_t State = O.setup().Seed + 77;
  for (unsigned I = 0; I < K.Scalars.size(); ++I) {
    if (!Own.Scalars[I].isData())
      continue;
    for (uint64_t Value :
         {uint64_t(0), uint64_t(1), ~uint64_t(0), splitMix64(State),
          splitMix64(State), splitMix64(State) | uint64_t(1) << 63})
      Entries.push_back({[&K, &From, I, Value]() -> std::optional<GateCase> {
                           return withScalars(K, From, {{I, Value}});
                         },
                         false, nullptr, nullptr});
  }
}

/// The same in other combinations of flags and pointers: all of them at once.
void DomainCases::addOtherData(const GateCase &From, const CodeFacts &Own) {
  constexpr unsigned Launches = 4; // As many as a box asks for.
  const Kernel &K = O.kernel();
  std::vector<std::pair<unsigned, uint64_t>> Data;
  for (unsigned I = 0; I < K.Scalars.size(); ++I)
    if (Own.Scalars[I].isData())
      Data.push_back({I, 0});
  uint64_t State = O.setup().Seed + 78;
  for (unsigned N = 0; N < Launches && !Data.empty(); ++N) {
    for (auto &[I, Value] : Data)
      Value = splitMix64(State);
    Entries.push_back({[&K, &From, Data]() -> std::optional<GateCase> {
                         return withScalars(K, From, Data);
                       },
                       false, nullptr, nullptr});
  }
}

std::optional<GateCase> nullToggled(const Kernel &K, const KernelLayout &Types,
                                    const GateCase &C, PointerRef P) {
  GateCase To = C;
  auto At = find_if(To.Pointers, [&](const WorkloadPointer &Each) {
    return Each.Param == P.Param && Each.Offset == P.Offset;
  });
  std::string Name =
      P.Param < K.Params.size() ? K.Params[P.Param].Name : std::string();
  if (P.Offset)
    Name += "." + std::to_string(P.Offset);
  if (At != To.Pointers.end()) {
    To.Pointers.erase(At);
    To.Name += " " + Name + "=null";
    return To;
  }
  // The largest buffer of the same elements, else the largest.
  const Layout &Own = P.Param < Types.Pointees.size() && P.Offset == 0
                          ? Types.Pointees[P.Param]
                          : Layout();
  std::optional<size_t> Peer;
  auto Fits = [&](size_t I) {
    const Layout &L = C.Layouts[I];
    return L.Stride == Own.Stride && L.Fields.size() == Own.Fields.size() &&
           (L.Fields.empty() || L.Fields[0].Kind == Own.Fields[0].Kind);
  };
  for (bool Like : {true, false})
    for (size_t I = 0; I < C.Buffers.size(); ++I)
      if ((!Like || Fits(I)) &&
          (!Peer || C.Buffers[I].size() > C.Buffers[*Peer].size()) &&
          (Like || !Peer))
        Peer = I;
  if (!Peer)
    return std::nullopt;
  To.Pointers.push_back(
      {P.Param, P.Offset, static_cast<unsigned>(To.Buffers.size()), 0});
  To.Buffers.push_back(C.Buffers[*Peer]);
  To.Layouts.push_back(Own.Fields.empty() ? C.Layouts[*Peer] : Own);
  To.Name += " " + Name + "!=null";
  To.PureOutput.clear();
  return To;
}

Error DomainCases::addCombinations(const CodeFacts &Own) {
  constexpr size_t MostValues = 6;
  const Kernel &K = O.kernel();
  std::vector<std::vector<GateCase>> Choices; // One list for each choice.
  auto Changed = [](GateCase C) {
    C = another(std::move(C));
    C.Far = true;
    return C;
  };
  for (unsigned I : flagsOf(K, Own, Base.Case)) {
    const ScalarRef &S = K.Scalars[I];
    std::set<int64_t> Values{0, 1, 2, -1};
    for (const ThresholdFact &T : Own.Thresholds)
      if (T.E == Expr::symbol(I))
        Values.insert({T.Value - 1, T.Value, T.Value + 1});
    std::vector<GateCase> Each;
    for (int64_t V : Values) {
      GateCase C = Changed(Base.Case);
      writeScalar(C, S, static_cast<uint64_t>(V));
      if (readScalar(C, S) == readScalar(Base.Case, S) ||
          Each.size() == MostValues)
        continue;
      C.Name += " " + scalarName(K, S) + "=" + std::to_string(V);
      Each.push_back(std::move(C));
    }
    Choices.push_back(std::move(Each));
  }
  for (size_t I = 0; I < K.Pointers.size(); ++I)
    if (Own.Pointers[I].Used)
      if (std::optional<GateCase> C = nullToggled(
              K, O.context().Types, Changed(Base.Case), K.Pointers[I]))
        Choices.push_back({std::move(*C)});
  for (GateCase &C : equalPointerCases(O.context(), Base.Case))
    Choices.push_back({Changed(std::move(C))});
  for (std::vector<GateCase> &Each : Choices)
    for (GateCase &C : Each) {
      // What it starts from is found out once.
      Expected<std::unique_ptr<JudgedCase>> J = O.prepare(std::move(C));
      if (!J)
        return J.takeError();
      if (!*J)
        continue;
      Froms.push_back(std::make_unique<GateCase>((*J)->Case));
      Entries.push_back({nullptr, true, std::move(*J), nullptr});
      if (Froms.size() <= MostCombinations) {
        addCompactLadder(*Froms.back(), Own);
        addOtherData(*Froms.back(), Own);
      }
    }
  return Error::success();
}

/// The byte behind the last one of \p B that was touched.
static uint64_t endOf(const BufferCoverage &B) {
  BitVector All = B.Read;
  All |= B.Written;
  return All.none() ? 0 : static_cast<unsigned>(All.find_last()) + uint64_t(1);
}

/// A buffer that is larger than the original needs hides reads and writes
/// beyond its end: it gets as much behind what is touched as in the base.
/// What is touched; nothing where the original does not bear it.
Expected<std::optional<std::vector<BufferCoverage>>>
DomainCases::trim(GateCase &C) {
  if (!Behind) {
    Expected<RunResult> Own = O.runCovered(Base.Case);
    if (!Own)
      return Own.takeError();
    Behind.emplace();
    // A launch that stands for a larger one has more than it needs: nobody gave
    // it that.
    for (auto [B, Touched] : zip(Base.Case.Buffers, Own->Coverage))
      Behind->push_back(Base.Case.Captured
                            ? B.size() -
                                  std::min<uint64_t>(B.size(), endOf(Touched))
                            : 0);
  }
  Expected<RunResult> R = O.runCovered(C);
  if (!R)
    return R.takeError();
  if (R->Fault)
    return std::nullopt;
  C.Roomy = false;
  for (auto [B, Touched, More] : zip(C.Buffers, R->Coverage, *Behind))
    if (uint64_t End = endOf(Touched); End && End + More < B.size())
      B.resize(End + More);
  return std::move(R->Coverage);
}

Expected<std::unique_ptr<JudgedCase>>
DomainCases::prepare(std::optional<GateCase> C, const CaseMade &Roomy,
                     double Most, double &LeftOver, double Factor,
                     std::optional<double> *TooDear) {
  if (!C || LeftOver <= 0)
    return nullptr;
  Expected<double> Cost = O.estimate(*C, Most > MostShallowCost);
  if (!Cost)
    return Cost.takeError();
  if (*Cost == -1 && Roomy) {
    // What it touches may follow no polynomial: strides below zero.
    C = Roomy();
    if (!C)
      return nullptr;
    Cost = O.estimate(*C, Most > MostShallowCost);
    if (!Cost)
      return Cost.takeError();
  }
  // To find that out has its cost, too: it ran to its limit.
  if (*Cost == TooMuch)
    LeftOver -= Most / 8;
  if (*Cost < 0 || *Cost > Most || *Cost > LeftOver)
    return nullptr;
  if (*Cost * Factor > Most || *Cost * Factor > LeftOver) {
    if (TooDear)
      *TooDear = *Cost;
    return nullptr;
  }
  LeftOver -= *Cost * Factor;
  std::optional<std::vector<BufferCoverage>> Covered;
  if (C->Roomy) {
    Expected<std::optional<std::vector<BufferCoverage>>> Trimmed = trim(*C);
    if (!Trimmed)
      return Trimmed.takeError();
    Covered = std::move(*Trimmed);
  }
  C->Far = true;
  C->Deep = *Cost > MostShallowCost;
  Expected<std::unique_ptr<JudgedCase>> J = O.prepare(std::move(*C));
  if (J && *J)
    (**J).Cost = *Cost;
  if (J && *J && Covered)
    (**J).Touched = touchedBytes(O.kernel(), (**J).Case, *Covered);
  return J;
}

Expected<const JudgedCase *> DomainCases::get(size_t Index) {
  // In order, so that what is left does not depend on who asks.
  for (; Next <= Index; ++Next) {
    Entry &E = Entries[Next];
    if (E.Prepared)
      continue;
    if (E.Unless && Entries[*E.Unless].Judged) {
      E.Prepared = true;
      continue;
    }
    Expected<std::unique_ptr<JudgedCase>> J =
        prepare(E.Make(), E.Roomy, MostCost, Left);
    if (!J)
      return J.takeError();
    E.Judged = std::move(*J);
    E.Prepared = true;
    E.Make = nullptr;
  }
  return Entries[Index].Judged.get();
}

Expected<std::unique_ptr<JudgedCase>>
DomainCases::deep(size_t Index, double Factor,
                  std::vector<TriedLaunch> &TooDear) {
  if (Index == 0) {
    DeepLeft = MostDeepCosts;
    RecordedLeft = MostRecordedCosts;
    DeepBytesLeft = RecordedBytesLeft = AllDeepBytes;
    GroupsDone.clear();
  }
  const Entry &E = Deep[Index];
  double &CostLeft = E.IsRecorded ? RecordedLeft : DeepLeft;
  // It may be large: nobody makes it for nothing, or twice.
  if (CostLeft <= 0 || (E.Group && GroupsDone.count(E.Group)))
    return nullptr;
  std::optional<GateCase> C = E.Make();
  if (!C)
    return nullptr;
  const uint64_t Bytes = bytesOf(C->Buffers);
  uint64_t &BytesLeft = E.IsRecorded ? RecordedBytesLeft : DeepBytesLeft;
  if (Bytes > BytesLeft)
    return nullptr;
  BytesLeft -= Bytes;
  TriedLaunch L = triedLaunch(O.kernel(), *C);
  std::optional<double> Dear;
  Expected<std::unique_ptr<JudgedCase>> J =
      prepare(std::move(C), E.Roomy, MostDeepCost, CostLeft,
              E.IsRecorded ? 1 : Factor, &Dear);
  if (J && *J && E.Group)
    GroupsDone.insert(E.Group);
  if (Dear) {
    L.Wrong = GateReason::Untested;
    L.Evidence =
        formatv("not run: {0:N} instructions, which count {1:F1} times as "
                "threads wait for each other, are more than the gate has left",
                static_cast<uint64_t>(*Dear), Factor)
            .str();
    TooDear.push_back(std::move(L));
  }
  return J;
}

Expected<std::unique_ptr<DomainCases>>
DomainCases::of(OriginalRuns &O, const JudgedCase &Base, const CodeFacts &Own) {
  Expected<LaunchModel> Model =
      LaunchModel::of(O, Base.Case, Own, flagsOf(O.kernel(), Own, Base.Case));
  if (!Model)
    return Model.takeError();
  std::unique_ptr<DomainCases> D(new DomainCases(O, Base, std::move(*Model)));
  Expected<double> Cost = O.estimate(Base.Case, /*Deep=*/true);
  if (!Cost)
    return Cost.takeError();
  // Where the base itself costs much, so does all that is like it.
  constexpr double Growth = 4, All = 40;
  D->MostCost = std::clamp(Growth * *Cost, MostShallowCost, MostDeepCost / 4);
  D->Left = std::max(MostCosts, All * *Cost);
  D->Froms.push_back(std::make_unique<GateCase>(Base.Case));
  D->addLadder(*D->Froms.front());
  std::vector<Values> Residues;
  D->addResidues(Own, Residues);
  for (Values &V : Residues)
    D->add(*D->Froms.front(), std::move(V), D->Entries);
  D->addRestsAmongOnes(*D->Froms.front(), Own);
  D->addRandomSizes(*D->Froms.front(), 16, 4, D->Entries);
  D->addShifts(*D->Froms.front(), widestElement(O.kernel()));
  D->addLeastShared(*D->Froms.front());
  D->addSurplus(*D->Froms.front());
  D->addData(Own);
  if (Error E = D->addCombinations(Own))
    return std::move(E);
  D->addDeepLadder();
  return D;
}

} // namespace cupilot
