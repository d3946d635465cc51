//===- ImpulseProbes.cpp - Impulses at every place -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A maximum shows one number alone, so a variant that drops another gets away
// with it. Each number must be the one that stands out in some launch. Launches
// are shared by as many numbers as the original's results keep apart: rows of a
// matrix, say. How long a row is, is found by trying: one number of each window
// gets an impulse, half of them in one run, half in another; where windows are
// long enough, no result changes in both. Where results are sums, both may
// change them: each number that is left out is missing in the sum.
//
//===----------------------------------------------------------------------===//

#include "ImpulseProbes.h"
#include "Original.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <numeric>
#include <tuple>

using namespace llvm;

namespace cupilot {

/// Budgets for the launches of a base case, in instructions of threads. To have
/// an impulse at each place of some window finds a variant that skips a place
/// in all of them, and is worth a few seconds. To have one at each number
/// finds, beyond that, a variant that skips a place in one window only: that is
/// done as long as all launches together stay within a smaller budget.
static constexpr double EachPlaceBudget = 1.5e9, EachNumberBudget = 2e8;
/// What a launch costs besides: its memory is set up and compared.
static constexpr double LaunchOverhead = 3e4;
/// The original's results that are kept for the next variant, in bytes.
static constexpr uint64_t MostKept = 64 << 20;
/// More results than this changed by both halves are shared by windows.
static constexpr double MostOverlap = 0.1;
/// A sum shows each of as many numbers, beyond what is negligible.
static constexpr uint64_t MostAdded = 512;

static uint64_t mixed(uint64_t V) {
  V = (V + 1) * 0x9e3779b97f4a7c15;
  V = (V ^ V >> 30) * 0xbf58476d1ce4e5b9;
  return V ^ V >> 31;
}

bool ImpulseProbes::isRead(size_t Buffer, uint64_t Index) const {
  if (Base.Coverage.size() <= Buffer)
    return true;
  const BitVector &Read = Base.Coverage[Buffer].Read;
  auto [Kind, At] = numberAt(Base.Case, Buffer, Index);
  return At < Read.size() &&
         Read.find_first_in(
             At, std::min<uint64_t>(At + sizeOf(Kind), Read.size())) >= 0;
}

/// How long windows may be: what the launch and its arguments suggest.
std::vector<uint64_t> ImpulseProbes::candidates(size_t Buffer) const {
  const GateCase &C = Base.Case;
  uint64_t N = numbersIn(C, Buffer), Fields = C.Layouts[Buffer].Fields.size();
  std::vector<uint64_t> All = {
      1, 2, 4, 16, 64, 256, 1024, N, divideCeil(N, MostAdded)};
  auto Add = [&](uint64_t Value) {
    if (Value > 0)
      All.insert(All.end(), {Value, Value * Fields, N / Value});
  };
  for (const ScalarRef &S : O.kernel().Scalars)
    Add(readScalar(C, S));
  auto Product = [](const std::array<uint64_t, 3> &D) {
    return D[0] * D[1] * D[2];
  };
  uint64_t Blocks = Product(C.Shape.Grid), Threads = Product(C.Shape.Block);
  for (uint64_t Value : {Blocks, Blocks * ((Threads + 31) / 32),
                         Blocks * Threads, Threads, C.Shape.Block[0]})
    Add(Value);
  llvm::sort(All);
  All.erase(llvm::unique(All), All.end());
  llvm::erase_if(All, [&](uint64_t V) { return V == 0 || V > N; });
  return All;
}

ImpulseSweep ImpulseProbes::sweepOf(size_t Buffer, bool Negative,
                                    uint64_t Window) const {
  ImpulseSweep S;
  S.Buffer = Buffer;
  S.Negative = Negative;
  S.Window = Window;
  uint64_t N = numbersIn(Base.Case, Buffer);
  for (uint64_t I = 0; I < N; ++I)
    if (isRead(Buffer, I)) {
      S.Windows.push_back(I / Window);
      I = (I / Window + 1) * Window - 1;
    }
  if (!S.Windows.empty())
    S.Step = divideCeil(Window, S.Windows.size());
  return S;
}

std::vector<Impulse> ImpulseProbes::impulses(const ImpulseSweep &S,
                                             uint64_t Launch) const {
  uint64_t N = numbersIn(Base.Case, S.Buffer), First = Launch;
  if (Launch < S.Step) {
    // Spread, as there may be no time for all.
    uint64_t Stride = std::max<uint64_t>(1, S.Step * 0.618);
    while (std::gcd(Stride, S.Step) != 1)
      ++Stride;
    First = Launch * Stride % S.Step;
  }
  std::vector<Impulse> Result;
  for (size_t Rank = 0; Rank < S.Windows.size(); ++Rank) {
    uint64_t Index =
        S.Windows[Rank] * S.Window + (First + Rank * S.Step) % S.Window;
    if (Index < N && isRead(S.Buffer, Index))
      Result.push_back({S.Buffer, Index,
                        unsigned(24 + mixed(Index + Launch * N) % 40),
                        S.Negative});
  }
  return Result;
}

/// The numbers (bytes where they are not known) that \p R has and \p Base has
/// not, of all buffers; \p Much counts those that differ by a hundredth.
static BitVector changes(const JudgedCase &Base, const RunResult &R,
                         const GateCase &Changed, double &Much) {
  BitVector All;
  for (size_t I = 0; I < R.Buffers.size(); ++I) {
    const Bytes &Now = R.Buffers[I], &Was = Base.Original.Buffers[I];
    unsigned Begin = All.size();
    const Layout &L = Changed.Layouts[I];
    All.resize(Begin + Now.size());
    if (Was == Now)
      continue;
    if (L.Fields.empty()) {
      for (size_t At = 0; At < Now.size(); ++At)
        if (Now[At] != Was[At])
          All.set(Begin + At), ++Much;
      continue;
    }
    for (size_t At = 0; At + L.Stride <= Now.size(); At += L.Stride)
      for (const LayoutField &F : L.Fields) {
        const uint8_t *New = Now.data() + At + F.Offset,
                      *Old = Was.data() + At + F.Offset;
        // An impulse that is left alone is no result.
        auto Holds = [&](const GateCase &C, const uint8_t *Value) {
          return std::equal(Value, Value + sizeOf(F.Kind),
                            C.Buffers[I].data() + At + F.Offset);
        };
        if (std::equal(New, New + sizeOf(F.Kind), Old) ||
            (Holds(Changed, New) && Holds(Base.Case, Old)))
          continue;
        All.set(Begin + At + F.Offset);
        double A = readElement(F.Kind, New), B = readElement(F.Kind, Old);
        Much += !(std::fabs(A - B) <= 0.01 * std::fabs(B));
      }
  }
  return All;
}

/// Whether the results of two runs add up to those of \p Together, as far as
/// they are in \p Both.
static bool addsUp(const JudgedCase &Base, const RunResult Halves[2],
                   const RunResult &Together, const BitVector &Both) {
  unsigned Begin = 0;
  uint64_t Wrong = 0;
  for (size_t I = 0; I < Together.Buffers.size(); ++I) {
    const Layout &L = Base.Case.Layouts[I];
    size_t Size = Together.Buffers[I].size();
    for (const LayoutField &F : L.Fields)
      for (size_t At = F.Offset; At + sizeOf(F.Kind) <= Size; At += L.Stride) {
        if (!Both[Begin + At])
          continue;
        auto Read = [&](const RunResult &R) {
          return readElement(F.Kind, R.Buffers[I].data() + At);
        };
        double Was = Read(Base.Original), A = Read(Halves[0]) - Was,
               B = Read(Halves[1]) - Was, Sum = Read(Together) - Was;
        Wrong +=
            !(std::fabs(Sum - A - B) <= 1e-3 * (std::fabs(A) + std::fabs(B)));
      }
    if (L.Fields.empty() && Both.find_first_in(Begin, Begin + Size) >= 0)
      return false;
    Begin += Size;
  }
  return Wrong <= Both.count() / 100;
}

/// What some impulses of a sweep do, one half of them and the other: first
/// every second window, then random halves. Nothing: the original faults.
Expected<std::optional<ImpulseProbes::Trial>>
ImpulseProbes::attempt(const ImpulseSweep &S, unsigned Round) {
  std::vector<Impulse> All =
      impulses(S, Round == 0 ? S.Step / 2 : mixed(Round) % S.Window);
  auto Key = [&](const Impulse &Each) {
    uint64_t Rank =
        llvm::lower_bound(S.Windows, Each.Index / S.Window) - S.Windows.begin();
    return std::pair(Round % 2 == 0 ? Rank % 2 : mixed(Each.Index + Round),
                     Each.Index);
  };
  llvm::sort(
      All, [&](const Impulse &A, const Impulse &B) { return Key(A) < Key(B); });
  ArrayRef<Impulse> Halves[2] = {
      ArrayRef(All).take_front((All.size() + 1) / 2),
      ArrayRef(All).drop_front((All.size() + 1) / 2)};
  BitVector Changed[2];
  RunResult Results[2];
  Trial T;
  for (unsigned H : {0, 1}) {
    if (Halves[H].empty())
      continue;
    GateCase C = withImpulses(Base.Case, Halves[H], "trial");
    Expected<RunResult> R = O.run(C);
    if (!R)
      return R.takeError();
    if (R->Fault)
      return std::nullopt;
    Changed[H] = changes(Base, *R, C, T.Effect);
    Results[H] = std::move(*R);
  }
  size_t Least = std::min(Changed[0].count(), Changed[1].count());
  if (Least > 0) {
    BitVector Both = Changed[0];
    Both &= Changed[1];
    T.Overlap = double(Both.count()) / double(Least);
    if (T.Overlap > MostOverlap) {
      Expected<RunResult> R = O.run(withImpulses(Base.Case, All, "trial"));
      if (!R)
        return R.takeError();
      T.Adds = !R->Fault && addsUp(Base, Results, *R, Both);
    }
  }
  return T;
}

Expected<std::optional<ImpulseSweep>> ImpulseProbes::findSweep(size_t Buffer,
                                                               bool Negative) {
  for (uint64_t Window : candidates(Buffer)) {
    ImpulseSweep S = sweepOf(Buffer, Negative, Window);
    if (S.Windows.empty())
      return std::nullopt;
    // By chance one half may hold all that share a result, or none may lie
    // where windows and rows do not match.
    unsigned Rounds = S.Windows.size() == 1   ? 1
                      : S.Windows.size() < 16 ? 16
                                              : 4;
    bool Apart = true;
    for (unsigned Round = 0; Round < Rounds && Apart; ++Round) {
      Expected<std::optional<Trial>> T = attempt(S, Round);
      if (!T)
        return T.takeError();
      if (!*T || (**T).Effect == 0)
        return std::nullopt; // No numbers to play with, or they do nothing.
      S.Effect = (**T).Effect;
      Apart = (**T).Overlap <= MostOverlap ||
              ((**T).Adds && S.Windows.size() <= MostAdded);
    }
    if (Apart)
      return S;
  }
  return std::nullopt;
}

/// Shares out the launches: each place in some window, first for those that do
/// most; then each number.
void ImpulseProbes::allot(double Cost) {
  auto Most = [&](double Costs) {
    return static_cast<uint64_t>(Costs / (Cost + LaunchOverhead));
  };
  llvm::sort(Sweeps, [](const ImpulseSweep &A, const ImpulseSweep &B) {
    return std::tuple(-A.Effect, A.Buffer, A.Negative) <
           std::tuple(-B.Effect, B.Buffer, B.Negative);
  });
  uint64_t Given = 0;
  for (bool Whole : {false, true})
    for (ImpulseSweep &S : Sweeps) {
      uint64_t Limit = Most(Whole ? EachNumberBudget : EachPlaceBudget),
               Wanted = (Whole ? S.Window : S.Step) - S.Count,
               More = std::min(Wanted, Limit - std::min(Limit, Given));
      S.Count += More;
      Given += More;
    }
  for (const ImpulseSweep &S : Sweeps)
    Choices.push_back(
        (Base.Case.Name + ": " + Twine(S.Count) + " launches with " +
         (S.Negative ? "negative" : "positive") + " impulses in buffer " +
         Twine(S.Buffer) + ", one in each " + Twine(S.Window) + " numbers: " +
         (S.Count == S.Window ? "all places"
          : S.Count >= S.Step ? "each place in some window"
                              : utostr(S.Count) + " of " + utostr(S.Step) +
                                    " places, for the cost"))
            .str());
}

Expected<std::unique_ptr<ImpulseProbes>>
ImpulseProbes::plan(OriginalRuns &O, const JudgedCase &Base, double Cost) {
  std::unique_ptr<ImpulseProbes> P(new ImpulseProbes(O, Base));
  auto Skip = [&](StringRef Why) {
    P->Choices.push_back(Base.Case.Name + ": no impulses at every place, " +
                         Why.str());
    return std::move(P);
  };
  constexpr double Trials = 64; // About as many as windows are tried with.
  if (!Base.AnyOrder)
    return Skip("as the original's results depend on the order of its threads");
  if (Trials * Cost > EachPlaceBudget)
    return Skip("for their cost");
  const GateCase &C = Base.Case;
  for (size_t B = 0; B < C.Buffers.size(); ++B) {
    if (C.Layouts[B].Fields.empty() ||
        (!C.PureOutput.empty() && C.PureOutput[B]))
      continue;
    for (bool Negative : {false, true}) {
      Expected<std::optional<ImpulseSweep>> S = P->findSweep(B, Negative);
      if (!S)
        return S.takeError();
      if (*S)
        P->Sweeps.push_back(std::move(**S));
    }
  }
  P->allot(Cost);
  P->Kept.resize(P->count());
  P->Ran.resize(P->count());
  return P;
}

size_t ImpulseProbes::count() const {
  size_t Sum = 0;
  for (const ImpulseSweep &S : Sweeps)
    Sum += S.Count;
  return Sum;
}

std::vector<Impulse> ImpulseProbes::impulses(size_t Launch) const {
  for (const ImpulseSweep &S : Sweeps) {
    if (Launch < S.Count)
      return impulses(S, Launch);
    Launch -= S.Count;
  }
  return {};
}

Expected<std::shared_ptr<const RunResult>>
ImpulseProbes::original(size_t Launch) {
  if (Ran[Launch])
    return Kept[Launch];
  Expected<RunResult> R =
      O.run(withImpulses(Base.Case, impulses(Launch), "place"));
  if (!R)
    return R.takeError();
  std::shared_ptr<const RunResult> Result;
  const uint64_t Size = bytesOf(R->Buffers);
  if (!R->Fault)
    Result = std::make_shared<const RunResult>(std::move(*R));
  if (!Result || KeptBytes + Size <= MostKept) {
    Ran[Launch] = true;
    Kept[Launch] = Result;
    KeptBytes += Result ? Size : 0;
  }
  return Result;
}

} // namespace cupilot
