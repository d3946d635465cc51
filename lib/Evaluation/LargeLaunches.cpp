//===- LargeLaunches.cpp - Launches for a GPU alone -----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cpu device runs launches of so many instructions, a GPU a thousand times
// more. These are as the ladder of a domain, further up. Their buffers are
// described, so that nobody carries them: of the numbers in the base's buffers
// the range alone is kept.
//
//===----------------------------------------------------------------------===//

#include "LargeLaunches.h"
#include "cupilot/Evaluation/Element.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace cupilot {

// What a launch may take of a GPU, and those of one recorded launch together,
// in instructions of all threads and of one.
static constexpr double MostCost = 1e12, AllCosts = 4e12, MostOfThread = 2e7;
// All together, in the bytes of one.
static constexpr uint64_t BytesOfAll = 4;
// Of one base, and of all: each combination of null pointers is a base.
static constexpr size_t MostLaunches = 14, MostOfAll = 28, MostWorkloads = 3;

namespace {
using Values = std::vector<int64_t>;

/// Makes the launches of one base.
class Maker {
public:
  Maker(OriginalRuns &O, DomainCases &Cases, ArrayRef<Workload> OnGpu,
        uint64_t MostBytes, std::vector<LargeLaunch> &All)
      : O(O), Cases(Cases), Model(Cases.model()), At(Model.baseValues()),
        OnGpu(OnGpu), MostBytes(MostBytes), All(All) {}
  Error add();

private:
  Error measure();
  double costAt(const Values &V) const;
  bool addFirst(ArrayRef<Values> Ladder);
  bool add(const Values &V);
  bool describe(const GateCase &C, ArrayRef<uint64_t> Sizes, Workload &To);
  std::vector<Values> recorded() const;

  OriginalRuns &O;
  DomainCases &Cases;
  const LaunchModel &Model;
  const Values At;
  ArrayRef<Workload> OnGpu;
  const uint64_t MostBytes; ///< Of one launch.
  std::vector<LargeLaunch> &All;
  double Cost = 0;            ///< Of the base.
  std::vector<double> Growth; ///< The cost is a power of each size.
  std::vector<std::string> Contents;
  std::set<Values> Known;
  uint64_t Bytes = 0;
  double Costs = 0; ///< Of what one recorded launch has asked for.
};
} // namespace

/// How the cost grows with each size, by runs with a few times as much of it.
Error Maker::measure() {
  const GateCase &Base = Cases.base().Case;
  Expected<double> Own = O.estimate(Base, /*Deep=*/true);
  if (!Own)
    return Own.takeError();
  Cost = std::max(*Own, 1.0);
  for (size_t I = 0; I < At.size(); ++I) {
    constexpr double Unknown = 2; // Of a size: as if a thread looped over it.
    Growth.push_back(Unknown);
    // Not each of them is a launch that the original bears.
    for (int64_t Factor : {2, 4, 8, 3}) {
      Values V = At;
      V[I] *= Factor;
      std::optional<GateCase> C = Model.at(Base, V, UsualLargeBytes / 64);
      if (V[I] <= 0 || !C)
        continue;
      Expected<double> More = O.estimate(*C, /*Deep=*/true);
      if (!More)
        return More.takeError();
      if (!(*More > 0))
        continue;
      Growth.back() = std::clamp(
          std::log(*More / Cost) / std::log(double(Factor)), 0.0, 4.0);
      break;
    }
  }
  return Error::success();
}

double Maker::costAt(const Values &V) const {
  double Result = Cost;
  for (size_t I = 0; I < V.size(); ++I)
    if (At[I] > 0)
      Result *= std::pow(double(std::max<int64_t>(V[I], 1)) / double(At[I]),
                         Growth[I]);
  return Result;
}

/// The generator of what is like \p Content; nothing where its bytes are no
/// numbers of one kind.
static std::optional<std::string> describeContent(const Bytes &Content,
                                                  const Layout &L,
                                                  bool IsOutput,
                                                  uint64_t Seed) {
  if (L.Fields.empty())
    return std::nullopt;
  const ElementKind Kind = L.Fields.front().Kind;
  const uint64_t Width = sizeOf(Kind);
  if (Width == 0 || L.Stride != Width * L.Fields.size() ||
      any_of(L.Fields, [&](const LayoutField &F) { return F.Kind != Kind; }))
    return std::nullopt;
  const std::string Word = wordOf(Kind).str();
  if (IsOutput)
    return Word + " output";
  double Low = HUGE_VAL, High = -HUGE_VAL;
  for (uint64_t I = 0; I + Width <= Content.size(); I += Width)
    if (double V = readElement(Kind, Content.data() + I); std::isfinite(V)) {
      Low = std::min(Low, V);
      High = std::max(High, V);
    }
  if (!(Low < High))
    return Low == High ? formatv("{0} value={1:e16}", Word, Low).str()
                       : Word + " zeros";
  constexpr uint64_t Seeds = 1000000; // Short ones are read more easily.
  return formatv("{0} rand low={1:e16} high={2:e16} seed={3}", Word, Low, High,
                 Seed % Seeds)
      .str();
}

/// \p C as a workload whose buffers have \p Sizes bytes. False: it cannot be
/// described.
bool Maker::describe(const GateCase &C, ArrayRef<uint64_t> Sizes,
                     Workload &To) {
  const GateCase &Base = Cases.base().Case;
  if (Contents.empty())
    for (size_t I = 0; I < Base.Buffers.size(); ++I) {
      std::optional<std::string> Text =
          describeContent(Base.Buffers[I], Base.Layouts[I],
                          I < Base.PureOutput.size() && Base.PureOutput[I],
                          O.setup().Seed + I + 1);
      if (!Text)
        return false;
      Contents.push_back(std::move(*Text));
    }
  const Workload &From = O.setup().Workloads[Base.Workload];
  To.Name = "large" + std::to_string(All.size());
  To.Symbol = From.Symbol;
  To.Shape = C.Shape;
  To.Args = C.Args;
  To.Pointers = C.Pointers;
  To.Globals = From.Globals;
  for (auto [Size, Text] : zip_equal(Sizes, Contents)) {
    WorkloadBuffer B;
    B.Size = Size;
    B.Generator = Text;
    To.Buffers.push_back(std::move(B));
  }
  return true;
}

/// False: it takes too much, or is no launch.
bool Maker::add(const Values &V) {
  if (Known.count(V))
    return true;
  std::vector<uint64_t> Sizes;
  std::optional<GateCase> C = Model.shapeAt(Cases.base().Case, V, MostBytes,
                                            /*Roomy=*/false, Sizes);
  if (!C)
    return false;
  uint64_t Sum = 0;
  for (uint64_t Size : Sizes)
    Sum += Size;
  double Threads = 1;
  for (unsigned D = 0; D < 3; ++D)
    Threads *= double(C->Shape.Grid[D]) * double(C->Shape.Block[D]);
  const double Wanted = costAt(V);
  if (Wanted > MostCost || Wanted / Threads > MostOfThread ||
      Bytes + Sum > BytesOfAll * MostBytes || Costs + Wanted > AllCosts ||
      Known.size() >= MostLaunches || All.size() >= MostOfAll)
    return false;
  LargeLaunch New;
  if (!describe(*C, Sizes, New.Launch))
    return false;
  Known.insert(V);
  Bytes += Sum;
  Costs += Wanted;
  New.Case = C->Name;
  All.push_back(std::move(New));
  return true;
}

bool Maker::addFirst(ArrayRef<Values> Ladder) {
  return any_of(Ladder, [&](const Values &V) { return add(V); });
}

/// Whether the same pointers of both lead somewhere.
static bool haveSameNulls(const Kernel &K, ArrayRef<WorkloadPointer> A,
                          ArrayRef<WorkloadPointer> B) {
  return all_of(K.Pointers, [&](const PointerRef &P) {
    auto Leads = [&](ArrayRef<WorkloadPointer> All) {
      return any_of(All, [&](const WorkloadPointer &Each) {
        return PointerRef{Each.Param, Each.Offset} == P;
      });
    };
    return Leads(A) == Leads(B);
  });
}

/// The sizes of the workloads that the base stands for, the costliest first.
std::vector<Values> Maker::recorded() const {
  std::vector<Values> Result;
  for (const Workload &W : concat<const Workload>(OnGpu, O.setup().Workloads)) {
    if (!haveSameNulls(O.kernel(), W.Pointers, Cases.base().Case.Pointers))
      continue;
    Expected<Bindings> B =
        bindLaunch(W.Shape, O.kernel().Scalars, placedArguments(W));
    if (!B) {
      consumeError(B.takeError());
      continue;
    }
    Values V = Model.valuesAt(*B);
    if (!is_contained(Result, V))
      Result.push_back(std::move(V));
  }
  llvm::sort(Result, [&](const Values &A, const Values &B) {
    return std::pair(-costAt(A), A) < std::pair(-costAt(B), B);
  });
  Result.resize(std::min(Result.size(), MostWorkloads));
  return Result;
}

Error Maker::add() {
  if (At.empty())
    return Error::success();
  if (Error E = measure())
    return E;
  auto Times = [](Values V, int64_t Factor, int64_t More) {
    for (int64_t &Each : V)
      Each = Each < 1 ? Each : Each * Factor + More;
    return V;
  };
  const std::vector<Values> Recorded = recorded();
  for (const Values &R : Recorded) {
    Costs = 0; // What the first of them takes is not what the others lack.
    // All sizes large together.
    for (int64_t Factor : {64, 32, 16, 8, 4, 2, 1})
      if (add(Times(R, Factor, 0))) {
        add(Times(R, Factor, -1));
        break;
      }
    for (size_t I = 0; I < R.size(); ++I) {
      std::vector<Values> Ladder;
      for (int64_t Factor : {1024, 256, 64, 16, 4}) {
        Values V = R;
        V[I] *= Factor;
        if (R[I] > 0)
          Ladder.push_back(std::move(V));
      }
      addFirst(Ladder);
    }
  }
  // One size as large as it can be.
  for (size_t I = 0; I < At.size(); ++I) {
    std::vector<Values> Ladder;
    for (unsigned Bits : {27, 26, 25, 24, 22}) {
      Values V = Times(At, 0, 1);
      V[I] = (int64_t(1) << Bits) + 8;
      if (V[I] > At[I])
        Ladder.push_back(std::move(V));
    }
    addFirst(Ladder);
  }
  return Error::success();
}

/// Whether the bytes behind each pointer follow from the sizes: what nobody
/// knows the end of may overlap.
static bool knowsBytes(const Kernel &K, const DomainCases &Cases) {
  return all_of(Cases.base().Case.Pointers, [&](const WorkloadPointer &P) {
    auto At = find(K.Pointers, PointerRef{P.Param, P.Offset});
    return At != K.Pointers.end() &&
           Cases.model().touched()[At - K.Pointers.begin()];
  });
}

Expected<std::vector<LargeLaunch>> findLargeLaunches(OriginalRuns &O,
                                                     ArrayRef<Workload> OnGpu,
                                                     uint64_t MostBytes) {
  std::vector<LargeLaunch> All;
  for (size_t I = 0; I < O.bases().size(); ++I) {
    Expected<DomainCases *> Cases = O.domainCases(I);
    if (!Cases)
      return Cases.takeError();
    if (!*Cases)
      continue;
    if (!knowsBytes(O.kernel(), **Cases))
      continue;
    if (Error E = Maker(O, **Cases, OnGpu, MostBytes, All).add())
      return std::move(E);
  }
  return All;
}

} // namespace cupilot
