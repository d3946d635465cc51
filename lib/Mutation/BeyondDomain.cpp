//===- BeyondDomain.cpp - Launches that a domain leaves out -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

/// More is not drawn: it would take too much memory.
static constexpr double MostBytes = 400e6;
/// What is longer repeats itself.
static constexpr uint64_t MostDrawn = (4 << 20) + 4096;

/// A number that a range up to \p Most leaves out.
int64_t LaunchSource::goalBeyond(int64_t Most) {
  constexpr int64_t Short = 1 << 16, Exact = 1 << 24;
  Most = std::clamp<int64_t>(Most, 0, 4 * Exact);
  if (chance(0.3))
    return Most + 1 + int64_t(below(64));
  int64_t From = std::max(Most, chance(0.3) ? Short : Exact);
  return From + 1 + int64_t(below(uint64_t(From) / 4));
}

static void writeScalar(const ScalarRef &S, int64_t Value, Workload &W) {
  std::memcpy(W.Args[S.Param].data() + S.Offset, &Value, S.Bits / 8);
}

static int64_t mostOf(const ScalarRef &S) {
  constexpr unsigned Enough = 31;
  unsigned Bits = std::min(S.Bits - (S.Signed ? 1 : 0), Enough);
  return (int64_t(1) << Bits) - 1;
}

/// Other sizes are small, so that the large one costs little.
void LaunchSource::shrink(const Bindings &Was, Workload &W) {
  for (auto [S, Old] : zip_equal(K.Scalars, Was.Symbols))
    if (Old > 1 && chance(0.6))
      writeScalar(S, 1 + int64_t(below(std::min<uint64_t>(8, uint64_t(Old)))),
                  W);
}

/// Gives the grid the numbers of blocks that its sizes ask for. False where an
/// argument cannot be read.
bool LaunchSource::follow(const Bindings &Was, bool Always, Workload &W) {
  Expected<Bindings> Is = bindLaunch(W.Shape, K.Scalars, W.Args);
  if (!Is) {
    consumeError(Is.takeError());
    return false;
  }
  for (unsigned Axis = 0; Axis < 3; ++Axis) {
    std::vector<int64_t> Usual = followers(Was, *Is, Axis);
    if (Usual.empty() || (!Always && chance(0.2)))
      continue;
    int64_t Most = *max_element(Usual);
    W.Shape.Grid[Axis] = uint64_t(std::max<int64_t>(1, Most));
  }
  return true;
}

/// Raises one size, with the grid that follows it, or one side of the grid
/// until \p E is at least \p Goal. False where that does not raise it.
bool LaunchSource::exceed(const Bindings &Was, const Expr &E, int64_t Goal,
                          Workload &W) {
  uint64_t Which = below(K.Scalars.size() + 1);
  bool Size = Which < K.Scalars.size();
  unsigned Axis = chance(0.8) ? 0 : unsigned(below(3));
  auto Set = [&](int64_t Value) {
    if (!Size) {
      W.Shape.Grid[Axis] = uint64_t(Value);
      return true;
    }
    writeScalar(K.Scalars[Which], Value, W);
    return follow(Was, true, W);
  };
  auto Reaches = [&](int64_t Value) {
    if (!Set(Value))
      return false;
    Expected<Bindings> Is = bindLaunch(W.Shape, K.Scalars, W.Args);
    if (!Is) {
      consumeError(Is.takeError());
      return false;
    }
    std::optional<int64_t> Now = evaluate(E, *Is);
    return !Now || *Now >= Goal;
  };
  int64_t Low = 1, High = Size ? mostOf(K.Scalars[Which]) : int64_t(1) << 30;
  if (!Reaches(High))
    return false;
  while (Low < High) {
    int64_t Mid = Low + (High - Low) / 2;
    if (Reaches(Mid))
      High = Mid;
    else
      Low = Mid + 1;
  }
  return Set(High);
}

/// Makes buffers as large as the launch may need. False where that is too much.
bool LaunchSource::growFor(const Workload &Recorded, const Bindings &Was,
                           Workload &W) {
  Expected<Bindings> Is = bindLaunch(W.Shape, K.Scalars, W.Args);
  if (!Is) {
    consumeError(Is.takeError());
    return false;
  }
  double Net = 1, Grown = 1, Threads = 1, Largest = 1;
  for (auto [Old, New] : zip_equal(Was.Symbols, Is->Symbols)) {
    double Ratio =
        double(std::max<int64_t>(New, 1)) / double(std::max<int64_t>(Old, 1));
    Net *= Ratio;
    Grown *= std::max(1.0, Ratio);
    Largest = std::max(Largest, double(New));
  }
  for (unsigned D = GridX; D <= BlockZ; ++D)
    Threads *= double(Is->Dims[D]) / double(std::max<int64_t>(1, Was.Dims[D]));
  double Times = std::max({1.0, Threads, chance(0.3) ? Grown : Net}), Bytes = 0;
  for (auto [Old, New] : zip_equal(Recorded.Buffers, W.Buffers)) {
    uint64_t Width = sizeOf(elementOf(StringRef(Old.Generator).split(' ').first)
                                .value_or(ElementKind::UInt8));
    double Count = std::max(std::ceil(double(Old.Size / Width) * Times),
                            1.01 * Largest + 64);
    Bytes += Count * double(Width);
    if (Bytes > MostBytes)
      return false;
    New.Size = std::max<uint64_t>(1, uint64_t(Count)) * Width;
  }
  return true;
}

static void repeat(std::vector<uint8_t> &Content, uint64_t Size) {
  size_t Period = Content.size();
  if (Size <= Period)
    return;
  Content.resize(Size);
  for (size_t At = Period; At < Size; At += Period)
    std::memcpy(Content.data() + At, Content.data(),
                std::min<uint64_t>(Period, Size - At));
}

Expected<std::optional<RandomLaunch>>
LaunchSource::beyond(const Domain &Where) {
  const Workload &Recorded = Around[below(Around.size())];
  Expected<Bindings> Was = bindLaunch(Recorded.Shape, K.Scalars, Recorded.Args);
  if (!Was)
    return Was.takeError();
  for (unsigned Try = 0; Try < 100; ++Try) {
    const DomainBox &Box = Where.Boxes[below(Where.Boxes.size())];
    Workload W = Recorded;
    if (chance(0.8))
      shrink(*Was, W);
    Expr E = Expr::binary(Expr::Kind::Mul, Expr::dim(GridX), Expr::dim(BlockX));
    int64_t Most = 0;
    if (!Box.Ranges.empty() && chance(0.8)) {
      const RangeClause &C = Box.Ranges[below(Box.Ranges.size())];
      E = C.E;
      Most = C.In.empty() ? 0 : C.In.back().Most;
    }
    // Multiples of a power of two are exact for longer.
    if (chance(0.4))
      W.Shape.Block[0] = 1 + 2 * below(1 + W.Shape.Block[0] / 2);
    (void)follow(*Was, false, W);
    if (!exceed(*Was, E, goalBeyond(Most), W) || !growFor(Recorded, *Was, W))
      continue;
    RandomLaunch L = withoutContents(W);
    Expected<PlacedLaunch> P = placed(K, L);
    if (!P)
      return P.takeError();
    if (contains(Where, P->B, P->Args))
      continue;
    L.Grown = true;
    Workload Short = W;
    for (WorkloadBuffer &B : Short.Buffers)
      B.Size = std::min(B.Size, MostDrawn);
    if (Error Bad = drawContents(Short, L))
      return std::move(Bad);
    for (auto [Content, B] : zip_equal(L.Buffers, W.Buffers))
      repeat(Content, B.Size);
    describeShape(L);
    raw_string_ostream OS(L.Text);
    for (auto [I, S] : enumerate(K.Scalars))
      OS << ", " << K.Params[S.Param].Name << "=" << P->B.Symbols[I];
    return std::optional(std::move(L));
  }
  return std::nullopt;
}

} // namespace cupilot
