//===- DomainLaunch.cpp - Launches inside a domain -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a box says of one value bounds that value; what it says of products and
// pairs is left to contains(): launches that miss are drawn again. The small
// ones are likelier, as they are those that a CPU can run, and the ends of each
// range are drawn on purpose.
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

/// More is not drawn: it would take too long, or too much memory.
static constexpr double MostThreads = 4e6, MostDrawnBytes = 64e6;

static std::vector<Interval> rangeOf(const DomainBox &Box, const Expr &E) {
  for (const RangeClause &C : Box.Ranges)
    if (C.E == E)
      return C.In;
  return {};
}

/// A number of [Least, Most], each magnitude as likely.
static int64_t byMagnitude(const Interval &I, double Unit) {
  if (I.Least < 0 && I.Most > 0)
    return byMagnitude(Unit < 0.5 ? Interval{0, I.Most} : Interval{I.Least, -1},
                       Unit < 0.5 ? 2 * Unit : 2 * Unit - 1);
  if (I.Least < 0) {
    // The least number of all has no negative.
    int64_t Far = I.Least == INT64_MIN ? INT64_MAX : -I.Least;
    return -byMagnitude({-I.Most, Far}, Unit);
  }
  double Low = std::log2(double(I.Least) + 1),
         High = std::log2(double(I.Most) + 2);
  double V = std::exp2(Low + (High - Low) * Unit) - 1;
  if (V >= 0x1p63)
    return I.Most;
  return std::clamp(static_cast<int64_t>(V), I.Least, I.Most);
}

int64_t LaunchSource::drawFrom(ArrayRef<Interval> In, int64_t Was) {
  auto Holds = [&](int64_t V) {
    return any_of(In, [&](const Interval &I) { return I.contains(V); });
  };
  if (chance(0.3) && Holds(Was))
    return Was;
  const Interval &I = In[below(In.size())];
  if (chance(0.2))
    return chance(0.5) ? I.Least : I.Most;
  if (Was > 1 && chance(0.3)) { // Near what is known, or many times of it.
    int64_t Near = chance(0.5) ? 1 + int64_t(below(2 * uint64_t(Was)))
                               : Was * int64_t(1 + below(8));
    if (Holds(Near))
      return Near;
  }
  int64_t V = byMagnitude(I, unit());
  if (chance(0.4)) { // Vectors and tiles divide it.
    int64_t Tile = int64_t(1) << (1 + below(8));
    if (Holds(V / Tile * Tile))
      return V / Tile * Tile;
  }
  return V;
}

int64_t LaunchSource::onResidue(const DomainBox &Box, const Expr &E,
                                int64_t V) {
  for (const ResidueClause &C : Box.Residues) {
    if (!(C.E == E) || C.Modulus < 2 || C.In.empty())
      continue;
    int64_t Rest = ((V % C.Modulus) + C.Modulus) % C.Modulus;
    if (is_contained(C.In, Rest))
      continue;
    int64_t Wanted = C.In[below(C.In.size())], Lower = V - Rest;
    V = Lower + Wanted;
  }
  return V;
}

static void write(std::vector<uint8_t> &Arg, unsigned Offset, unsigned Bits,
                  uint64_t Value) {
  std::memcpy(Arg.data() + Offset, &Value, Bits / 8);
}

void LaunchSource::drawSymbols(const DomainBox &Box, const Bindings &Was,
                               Workload &W) {
  for (auto [I, S] : enumerate(K.Scalars)) {
    Expr E = Expr::symbol(unsigned(I));
    std::vector<Interval> In = rangeOf(Box, E);
    int64_t Old = Was.Symbols[I], New = Old;
    if (!In.empty())
      New = drawFrom(In, Old);
    else if (chance(0.3)) // Nothing bounds it: it is data.
      New = static_cast<int64_t>(draw());
    write(W.Args[S.Param], S.Offset, S.Bits,
          static_cast<uint64_t>(onResidue(Box, E, New)));
  }
}

std::vector<int64_t> followers(const Bindings &Was, const Bindings &Is,
                               unsigned Axis) {
  std::vector<int64_t> Found;
  int64_t Grid = Was.Dims[GridX + Axis];
  if (Is.Dims[BlockX + Axis] < 1) // A box may hold more than a launch can be.
    return Found;
  for (size_t I = 0; I < Was.Symbols.size(); ++I) {
    int64_t Old = Was.Symbols[I], New = Is.Symbols[I];
    if (Old < 1 || New < 1)
      continue;
    if (Old == Grid)
      Found.push_back(New);
    for (int64_t Times : {1, 2, 4, 8}) {
      int64_t Per = Was.Dims[BlockX + Axis] * Times,
              Now = Is.Dims[BlockX + Axis] * Times;
      if (Per > 1 && Grid == (Old - 1) / Per + 1)
        Found.push_back((New - 1) / Now + 1);
    }
    for (int64_t Times : {2, 3, 4}) // Results of one element.
      if (int64_t Block = Was.Dims[BlockX + Axis];
          Block > 1 && Old > Block && Grid > 1 &&
          Grid == (Times * Old - 1) / Block + 1)
        Found.push_back((Times * New - 1) / Is.Dims[BlockX + Axis] + 1);
    for (size_t J = I + 1; J < Was.Symbols.size(); ++J) {
      int64_t Other = Was.Symbols[J], Block = Was.Dims[BlockX + Axis];
      if (Other > 1 && Old > 1 && Other < (1 << 24) && Old < (1 << 24) &&
          Is.Symbols[J] > 0 && Is.Symbols[J] < (1 << 24) && New < (1 << 24) &&
          Grid == (Old * Other - 1) / Block + 1)
        Found.push_back((New * Is.Symbols[J] - 1) / Is.Dims[BlockX + Axis] + 1);
    }
  }
  return Found;
}

void LaunchSource::drawDims(const DomainBox &Box, const Bindings &Was,
                            Workload &W) {
  Expected<Bindings> Is = bindLaunch(W.Shape, K.Scalars, W.Args);
  if (!Is)
    return consumeError(Is.takeError());
  for (unsigned D = BlockX; D <= BlockZ; ++D)
    if (std::vector<Interval> In = rangeOf(Box, Expr::dim(D)); !In.empty())
      Is->Dims[D] = onResidue(Box, Expr::dim(D), drawFrom(In, Was.Dims[D]));
  for (unsigned Axis = 0; Axis < 3; ++Axis) {
    int64_t &Grid = Is->Dims[GridX + Axis];
    std::vector<int64_t> Usual = followers(Was, *Is, Axis);
    std::vector<Interval> In = rangeOf(Box, Expr::dim(GridX + Axis));
    if (!Usual.empty() && chance(0.8))
      Grid = Usual[below(Usual.size())];
    else if (!In.empty())
      Grid = onResidue(Box, Expr::dim(GridX + Axis), drawFrom(In, Grid));
  }
  if (std::vector<Interval> In = rangeOf(Box, Expr::dim(SharedBytes));
      !In.empty())
    Is->Dims[SharedBytes] = drawFrom(In, Was.Dims[SharedBytes]);
  for (unsigned Axis = 0; Axis < 3; ++Axis) {
    W.Shape.Grid[Axis] = uint64_t(std::max<int64_t>(1, Is->Dims[Axis]));
    W.Shape.Block[Axis] =
        uint64_t(std::max<int64_t>(1, Is->Dims[BlockX + Axis]));
  }
  W.Shape.Shared = uint64_t(std::max<int64_t>(0, Is->Dims[SharedBytes]));
}

void LaunchSource::drawFloatArguments(const DomainBox &Box, Workload &W) {
  for (const FloatClause &C : Box.Floats) {
    if (C.In.empty() || chance(0.3))
      continue;
    const Interval &I = C.In[below(C.In.size())];
    int64_t Key;
    if (chance(0.25)) {
      Key = chance(0.5) ? I.Least : I.Most;
    } else { // Keys are even in magnitude as they are.
      uint64_t Count =
          static_cast<uint64_t>(I.Most) - static_cast<uint64_t>(I.Least) + 1;
      Key = static_cast<int64_t>(static_cast<uint64_t>(I.Least) +
                                 (Count ? below(Count) : draw()));
    }
    unsigned Bits = C.Number.bits();
    uint64_t Sign = uint64_t(1) << (Bits - 1);
    write(W.Args[C.Number.Param], C.Number.Offset, Bits,
          Key >= 0 ? uint64_t(Key) : Sign | uint64_t(-(Key + 1)));
  }
}

void LaunchSource::drawPointers(const DomainBox &Box, Workload &W) {
  auto At = [&](const PointerRef &P) {
    return find_if(W.Pointers, [&](const WorkloadPointer &To) {
      return To.Param == P.Param && To.Offset == P.Offset;
    });
  };
  for (const NullClause &C : Box.Nulls) {
    auto Is = At(C.Pointer);
    if (C.IsNull && Is != W.Pointers.end())
      W.Pointers.erase(Is);
    if (C.IsNull || At(C.Pointer) != W.Pointers.end())
      continue;
    // It gets as much as the largest has.
    WorkloadBuffer New;
    for (const WorkloadBuffer &B : W.Buffers)
      New.Size = std::max(New.Size, B.Size);
    const KernelParam &P = K.Params[C.Pointer.Param];
    std::optional<ElementKind> Kind = elementOf(P.Pointee);
    New.Generator = (wordOf(Kind.value_or(ElementKind::UInt8)) + " ones").str();
    W.Buffers.push_back(std::move(New));
    W.Pointers.push_back(
        {C.Pointer.Param, C.Pointer.Offset, unsigned(W.Buffers.size() - 1), 0});
  }
  for (const PairClause &C : Box.Pairs) {
    auto A = At(C.A), B = At(C.B);
    if (C.Equal && A != W.Pointers.end() && B != W.Pointers.end()) {
      A->Buffer = B->Buffer;
      A->BufferOffset = B->BufferOffset;
    }
  }
}

/// Makes the buffers as large as the launch may need. False where it is too
/// large to run.
bool LaunchSource::grow(const Bindings &Was, const Bindings &Is, Workload &W) {
  double BySize = 1, ByThreads = 1, Threads = 1;
  for (auto [Old, New] : zip_equal(Was.Symbols, Is.Symbols))
    if (New > std::max<int64_t>(Old, 1) && New < int64_t(1) << 31)
      BySize *= double(New) / double(std::max<int64_t>(Old, 1));
  for (unsigned D = GridX; D <= BlockZ; ++D) {
    ByThreads *= std::max(1.0, double(Is.Dims[D]) / double(Was.Dims[D]));
    Threads *= double(Is.Dims[D]);
  }
  double Times = std::max(1.0, std::max(BySize, ByThreads)), Bytes = 0;
  for (const WorkloadBuffer &B : W.Buffers)
    Bytes += double(B.Size);
  if (Threads > MostThreads || Bytes * Times > MostDrawnBytes)
    return false;
  // A size may count twice, as in a square.
  if (Bytes * Times * Times < MostDrawnBytes / 4 && chance(0.4))
    Times *= Times;
  for (WorkloadBuffer &B : W.Buffers) {
    uint64_t Width = sizeOf(elementOf(StringRef(B.Generator).split(' ').first)
                                .value_or(ElementKind::UInt8));
    uint64_t Count = uint64_t(std::ceil(double(B.Size / Width) * Times));
    B.Size = std::max<uint64_t>(1, Count) * Width;
  }
  return true;
}

Expected<std::optional<RandomLaunch>>
LaunchSource::drawInside(const Workload &Recorded) {
  Expected<Bindings> Was = bindLaunch(Recorded.Shape, K.Scalars, Recorded.Args);
  if (!Was)
    return Was.takeError();
  for (unsigned Try = 0; Try < 300; ++Try) {
    const DomainBox &Box = Inside->Boxes[below(Inside->Boxes.size())];
    Workload W = Recorded;
    drawSymbols(Box, *Was, W);
    drawDims(Box, *Was, W);
    drawFloatArguments(Box, W);
    drawPointers(Box, W);
    Expected<Bindings> Is = bindLaunch(W.Shape, K.Scalars, W.Args);
    if (!Is)
      return Is.takeError();
    if (!grow(*Was, *Is, W))
      continue;
    RandomLaunch L = withoutContents(W);
    Expected<PlacedLaunch> P = placed(K, L);
    if (!P)
      return P.takeError();
    if (!contains(*Inside, P->B, P->Args))
      continue;
    L.Grown = true;
    if (Error E = drawContents(W, L))
      return std::move(E);
    describeShape(L);
    raw_string_ostream OS(L.Text);
    for (auto [I, S] : enumerate(K.Scalars))
      OS << ", " << K.Params[S.Param].Name << "=" << Is->Symbols[I];
    return std::optional(std::move(L));
  }
  return std::nullopt;
}

} // namespace cupilot
