//===- BeyondDomain.cpp - Launches that a domain leaves out -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

/// More is not mapped. Pages take memory where they are written alone, but what
/// is kept of a buffer's bytes counts them in 32 bits.
static constexpr double MostMappedBytes = 1.2e10, MostOfBuffer = 4.2e9;
/// Each has as much where it may: what the original touches is not known, and
/// what it does not is cut away, and takes no memory.
static constexpr double UsualOfBuffer = 1 << 27;
/// What is longer repeats itself, in whole pages.
static constexpr uint64_t MostDrawn = (1 << 20) + 4096;

/// A number that a range up to \p Most leaves out.
int64_t LaunchSource::goalBeyond(int64_t Most) {
  constexpr int64_t Short = 1 << 16, Exact = 1 << 24;
  Most = std::clamp<int64_t>(Most, 0, 4 * Exact);
  if (chance(0.3))
    return Most + 1 + int64_t(below(64));
  int64_t From = std::max(Most, chance(0.3) ? Short : Exact);
  return From + 1 + int64_t(below(uint64_t(From) / 4));
}

void writeScalar(const ScalarRef &S, int64_t Value, Workload &W) {
  std::memcpy(W.Args[S.Param].data() + S.Offset, &Value, S.Bits / 8);
}

int64_t mostOf(const ScalarRef &S, unsigned MostBits) {
  unsigned Bits = std::min(S.Bits - (S.Signed ? 1 : 0), MostBits);
  return (int64_t(1) << Bits) - 1;
}

/// Other sizes are small, so that the large one costs little.
void LaunchSource::shrink(const Bindings &Was, Workload &W) {
  for (auto [S, Old] : zip_equal(K.Scalars, Was.Symbols))
    if (Old > 1 && chance(0.6))
      writeScalar(S, 1 + int64_t(below(std::min<uint64_t>(8, uint64_t(Old)))),
                  W);
}

/// All sizes are \p Value.
void LaunchSource::setAll(const Bindings &Was, int64_t Value, Workload &W) {
  for (auto [S, Old] : zip_equal(K.Scalars, Was.Symbols))
    if (Old > 1)
      writeScalar(S, std::min(Value, mostOf(S)), W);
}

/// Gives the grid the numbers of blocks that its sizes ask for: the most that
/// any does along axis \p Large (nothing: along each), the least along others.
/// False where an argument cannot be read.
bool LaunchSource::follow(const Bindings &Was, bool Always, Workload &W,
                          std::optional<unsigned> Large) {
  Expected<Bindings> Is = bindLaunch(W.Shape, K.Scalars, W.Args);
  if (!Is) {
    consumeError(Is.takeError());
    return false;
  }
  for (unsigned Axis = 0; Axis < 3; ++Axis) {
    std::vector<int64_t> Usual = followers(Was, *Is, Axis);
    if (Usual.empty() || (!Always && chance(0.2)))
      continue;
    int64_t Blocks =
        !Large || Axis == *Large ? *max_element(Usual) : *min_element(Usual);
    W.Shape.Grid[Axis] = uint64_t(std::max<int64_t>(1, Blocks));
  }
  return true;
}

/// Raises \p What, with the grid that follows it, until \p E is at least
/// \p Goal. False where that does not raise it.
bool LaunchSource::raise(const Bindings &Was, const Raised &What, const Expr &E,
                         int64_t Goal, Workload &W) {
  auto Set = [&](int64_t Value) {
    if (What.Axis)
      W.Shape.Grid[*What.Axis] = uint64_t(Value);
    if (!What.Size)
      return true;
    writeScalar(K.Scalars[*What.Size], Value, W);
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
  int64_t Low = 1,
          High = What.Axis ? int64_t(1) << 30 : mostOf(K.Scalars[*What.Size]);
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

/// The same for one size or one side of the grid.
bool LaunchSource::exceed(const Bindings &Was, const Expr &E, int64_t Goal,
                          Workload &W) {
  auto Which = unsigned(below(K.Scalars.size() + 1));
  unsigned Axis = chance(0.8) ? 0 : unsigned(below(3));
  Raised What;
  if (Which < K.Scalars.size())
    What.Size = Which;
  else
    What.Axis = Axis;
  return raise(Was, What, E, Goal, W);
}

/// One quantity that \p Where bounds passes its bound, 2^16 or 2^24.
bool LaunchSource::pass(const Domain &Where, const Bindings &Was, Workload &W) {
  const DomainBox &Box = Where.Boxes[below(Where.Boxes.size())];
  if (chance(0.8))
    shrink(Was, W);
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
  (void)follow(Was, false, W);
  return exceed(Was, E, goalBeyond(Most), W);
}

/// One floating argument, some or none becomes zero or hardly more than that:
/// what is made of it counts in long loops, or beside others like it.
bool LaunchSource::fade(const Bindings &Was, ArrayRef<RangeClause> Constants,
                        Workload &W) {
  std::vector<unsigned> Floats;
  for (auto [I, P] : enumerate(K.Params))
    if (std::optional<ElementKind> Kind = elementOf(P.Type);
        !P.IsPointer && Kind && isFloating(*Kind) && sizeOf(*Kind) == P.Size)
      Floats.push_back(unsigned(I));
  const size_t Alone = Floats.empty() ? 0 : below(2 * Floats.size());
  for (auto [At, I] : enumerate(Floats)) {
    const ElementKind Kind = *elementOf(K.Params[I].Type);
    uint8_t *To = W.Args[I].data();
    double New = readElement(Kind, To);
    if (Alone < Floats.size() ? At == Alone : chance(0.5))
      New = chance(0.3) ? 0 : (2 * unit() - 1) * faintSize(Kind);
    else if (chance(0.3))
      New *= 2 * unit() - 1;
    else if (chance(0.3))
      New = 4 * unit() - 2;
    writeElement(Kind, To, New);
  }
  if (chance(0.5)) {
    for (auto [S, Old] : zip_equal(K.Scalars, Was.Symbols))
      if (Old > 1 && chance(0.5))
        writeScalar(S, std::min(mostOf(S), Old * int64_t(1 + below(16))), W);
  } else { // One that is far beyond, and others that leave little to add.
    const uint64_t Sizes = K.Scalars.size(), Which = below(Sizes + 1);
    const int64_t Times = int64_t(16) << below(5);
    for (auto [I, S] : enumerate(K.Scalars)) {
      const int64_t Old = Was.Symbols[I];
      if (Old > 1)
        writeScalar(S,
                    I == Which ? std::min(mostOf(S), Old * Times + 1)
                               : int64_t(1) << below(3),
                    W);
    }
    if (Which == Sizes)
      W.Shape.Grid[0] *= uint64_t(Times);
    return follow(Was, Which != Sizes, W);
  }
  // Code may run for one size alone.
  if (!Constants.empty() && chance(0.4)) {
    const RangeClause &C = Constants[below(Constants.size())];
    if (C.E.K == Expr::Kind::Symbol && C.In.front().Least > 0)
      writeScalar(K.Scalars[size_t(C.E.Value)], C.In.front().Least, W);
  }
  return chance(0.3) || follow(Was, true, W);
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
  // Blocks that lie partly outside have threads without elements.
  constexpr double Margin = 1.3;
  const double BySize = chance(0.3) ? Grown : Net;
  auto Resize = [&](double Times, double Least = 0) {
    double Bytes = 0;
    for (auto [Old, New] : zip_equal(Recorded.Buffers, W.Buffers)) {
      uint64_t Width =
          sizeOf(elementOf(StringRef(Old.Generator).split(' ').first)
                     .value_or(ElementKind::UInt8));
      double Count = std::max({std::ceil(double(Old.Size / Width) * Times),
                               1.01 * Largest + 64, Least / double(Width)});
      Bytes += Count * double(Width);
      if (Bytes > MostMappedBytes || Count * double(Width) > MostOfBuffer)
        return false;
      New.Size = std::max<uint64_t>(1, uint64_t(Count)) * Width;
    }
    return true;
  };
  if (Far) // The product of sizes that are all large may be no size at all.
    return Resize(Margin * std::max(1.0, Net), UsualOfBuffer) ||
           Resize(1, UsualOfBuffer);
  // What the other sizes do not need, more threads seldom do.
  return Resize(Margin * std::max({1.0, Threads, BySize})) ||
         Resize(Margin * std::max(1.0, BySize)) ||
         Resize(Margin * std::max(1.0, Net));
}

/// Blocks of which some run at even distances, so that the first and the last
/// of them do, too (SideBySide::Sampled).
static uint64_t withLastBlock(uint64_t Blocks) {
  if (Blocks <= SideBySide::Sampled)
    return Blocks;
  uint64_t Gaps = SideBySide::Sampled - 1;
  return (Blocks - 2) / Gaps * Gaps + Gaps + 1;
}

/// All threads of a block lie along the axis whose grid follows \p Size, as
/// only x has more than 65,535 blocks. False where no axis follows it.
bool LaunchSource::lieAlong(const Bindings &Was, const ScalarRef &Size,
                            int64_t Goal, Workload &W) {
  const LaunchShape Before = W.Shape;
  if (!follow(Was, true, W))
    return false;
  // Which of several axes follows it, recorded launches may leave open.
  SmallVector<unsigned, 3> Axes;
  for (unsigned I = 0; I < 3; ++I)
    if (W.Shape.Grid[I] > Before.Grid[I])
      Axes.push_back(I);
  if (Axes.empty())
    return false;
  const unsigned Axis = Axes[Turn / K.Scalars.size() % Axes.size()];
  if (!follow(Was, true, W, Axis))
    return false;
  bool Fits = W.Shape.Grid[Axis] <= uint64_t(MaxGrid[Axis]);
  if (!Fits || chance(0.6)) {
    for (unsigned I = 0; I < 3; ++I)
      W.Shape.Block[I] = I == Axis ? uint64_t(MaxBlock[I]) : 1;
    if (!follow(Was, true, W, Axis))
      return false;
  }
  // The last element is that of a block that runs.
  uint64_t Blocks = W.Shape.Grid[Axis], Last = withLastBlock(Blocks);
  bool Alone = all_of(
      seq(3u), [&](unsigned I) { return I == Axis || W.Shape.Grid[I] == 1; });
  if (Last == Blocks || !Alone)
    return true;
  writeScalar(Size, Goal + int64_t((Last - Blocks) * (uint64_t(Goal) / Blocks)),
              W);
  return follow(Was, true, W, Axis);
}

/// One size passes 2^Bits, alone or as a factor; others are small. Where no
/// axis follows it, one thread has all the work.
bool LaunchSource::stretch(const Bindings &Was, unsigned Bits, Workload &W) {
  std::vector<unsigned> Sizes;
  for (auto [I, Old] : enumerate(Was.Symbols))
    if (Old > 1)
      Sizes.push_back(unsigned(I));
  if (Sizes.empty())
    return false;
  static constexpr unsigned Usual[] = {10, 16, 24, 24, 24};
  constexpr unsigned MostBits = 26, MostGridBits = 15; // More is not run.
  if (Bits == 0 || Bits > MostBits)
    Bits = Usual[below(std::size(Usual))];
  int64_t Goal = int64_t(1) << Bits;
  // Just beyond 2^16 only the last few elements are.
  constexpr unsigned FewBits = 16;
  Goal += 1 + int64_t(below(Bits > FewBits ? uint64_t(Goal) / 8
                                           : 3 * uint64_t(Goal)));
  // Each thread may have had several elements, and a grid that follows is as
  // many times shorter.
  if (Bits > FewBits && chance(0.3))
    Goal *= int64_t(2) << below(2);
  // Each has its turn, along each axis.
  const unsigned Which = Sizes[Turn++ % Sizes.size()];
  const ScalarRef &Size = K.Scalars[Which];
  static constexpr int64_t Small[] = {1, 1, 1, 2, 3, 5};
  for (unsigned I : Sizes)
    if (I != Which && (Was.Symbols[I] > 8 || chance(0.5)))
      writeScalar(K.Scalars[I], Small[below(std::size(Small))], W);
  if (Bits <= MostGridBits && chance(0.2)) { // Blocks of a grid.
    unsigned Axis = unsigned(below(3));
    if (W.Shape.Grid[Axis] == 1)
      Axis = 0;
    W.Shape.Grid[Axis] = uint64_t(Goal);
    writeScalar(Size, Goal * int64_t(W.Shape.Block[Axis]), W);
    return true;
  }
  // One thread; other sizes may have to be as large.
  const bool First = Bits && Turn <= Sizes.size();
  if (First || chance(0.25)) {
    for (unsigned I = 0; I < 3; ++I)
      W.Shape.Grid[I] = W.Shape.Block[I] = 1;
    unsigned Other = Sizes[below(Sizes.size())];
    if (First || chance(0.3))
      setAll(Was, Goal + int64_t(below(3)), W);
    else if (chance(0.5))
      writeScalar(K.Scalars[Other], Goal + int64_t(below(3)), W);
    writeScalar(Size, Goal, W);
    return true;
  }
  if (chance(0.3)) { // A product passes the bound.
    static constexpr int64_t Shares[] = {2, 3, 17, 300, 3000};
    int64_t Share = Shares[below(std::size(Shares))];
    unsigned Other = unsigned(below(Sizes.size() + 3));
    if (Other >= Sizes.size())
      W.Shape.Grid[Other - Sizes.size()] = uint64_t(Share);
    else if (Sizes[Other] != Which)
      writeScalar(K.Scalars[Sizes[Other]], Share, W);
    Goal = Goal / Share + 1;
  }
  writeScalar(Size, Goal, W);
  return lieAlong(Was, Size, Goal, W) || follow(Was, true, W);
}

/// \p W with buffers. Nothing where they are too large, or it is in \p Where.
Expected<std::optional<RandomLaunch>>
LaunchSource::filled(const Workload &Recorded, const Bindings &Was,
                     const Domain &Where, Workload &W) {
  if (!growFor(Recorded, Was, W))
    return std::nullopt;
  RandomLaunch L = withoutContents(W);
  Expected<PlacedLaunch> P = placed(K, L);
  if (!P)
    return P.takeError();
  if (contains(Where, P->B, P->Args))
    return std::nullopt;
  L.Grown = true;
  Beyond = true;
  Grown.clear();
  for (auto [Old, New] : zip_equal(Was.Symbols, P->B.Symbols))
    if (Old > 1 && New > Old)
      Grown.push_back({Old, New});
  Workload Short = W;
  for (WorkloadBuffer &B : Short.Buffers)
    B.Size = std::min(B.Size, MostDrawn);
  if (Error Bad = drawContents(Short, L))
    return std::move(Bad);
  for (auto [Content, B] : zip_equal(L.Buffers, W.Buffers))
    Content.Size = B.Size;
  describeShape(L);
  raw_string_ostream OS(L.Text);
  for (auto [I, S] : enumerate(K.Scalars))
    OS << ", " << K.Params[S.Param].Name << "=" << P->B.Symbols[I];
  return std::optional(std::move(L));
}

Expected<std::optional<RandomLaunch>>
LaunchSource::faint(const Domain &Where, ArrayRef<RangeClause> Constants) {
  Faint = true;
  const Workload &Recorded = Around[below(Around.size())];
  Expected<Bindings> Was = bindLaunch(Recorded.Shape, K.Scalars, Recorded.Args);
  if (!Was)
    return Was.takeError();
  for (unsigned Try = 0; Try < 100; ++Try) {
    Workload W = Recorded;
    if (!fade(*Was, Constants, W))
      continue;
    Expected<std::optional<RandomLaunch>> L = filled(Recorded, *Was, Where, W);
    if (!L || *L)
      return L;
  }
  return std::nullopt;
}

Expected<std::optional<RandomLaunch>> LaunchSource::beyond(const Domain &Where,
                                                           unsigned Bits) {
  Far = Bits != 0;
  const Workload &Recorded = Around[below(Around.size())];
  Expected<Bindings> Was = bindLaunch(Recorded.Shape, K.Scalars, Recorded.Args);
  if (!Was)
    return Was.takeError();
  for (unsigned Try = 0; Try < 100; ++Try) {
    Workload W = Recorded;
    bool Drawn = chance(Bits ? 0.85 : 0.5) ? stretch(*Was, Bits, W)
                                           : pass(Where, *Was, W);
    if (!Drawn)
      continue;
    Expected<std::optional<RandomLaunch>> L = filled(Recorded, *Was, Where, W);
    if (!L || *L)
      return L;
  }
  return std::nullopt;
}

} // namespace cupilot
