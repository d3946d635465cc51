//===- Shapes.cpp - Other extents and launches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Impulses.h"
#include "InputValues.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

static uint64_t primeBelow(uint64_t N) {
  for (uint64_t P = N - 1; P > 2; --P) {
    bool Prime = P % 2 != 0;
    for (uint64_t D = 3; Prime && D * D <= P; D += 2)
      Prime = P % D != 0;
    if (Prime)
      return P;
  }
  return 1;
}

/// What a grid dimension becomes when the extent that it covered changes;
/// nothing when it does not look as if it did.
static std::optional<uint64_t> follow(uint64_t Grid, uint64_t Block,
                                      uint64_t Old, uint64_t New) {
  if (Grid == Old)
    return New;
  if (Grid > 1 && Grid == divideCeil(Old, Block))
    return divideCeil(New, Block);
  // A block's thread may do several, or a block is a tile.
  for (uint64_t Per = 2; Per <= 4096; Per *= 2)
    for (uint64_t Tile : {Per, Per * Block})
      if (Grid > 1 && Grid == divideCeil(Old, Tile))
        return divideCeil(New, Tile);
  return std::nullopt;
}

GateCase resized(const CaseContext &X, const GateCase &Base, const Extent &E,
                 uint64_t Value, Fit F, bool ResizeGrid) {
  GateCase C = Base;
  C.Captured = false;
  C.Doubtful = true;
  uint64_t Old;
  std::string What;
  if (E.Scalar) {
    Old = readScalar(Base, *E.Scalar);
    writeScalar(C, *E.Scalar, Value);
    What = scalarName(X.K, *E.Scalar);
    if (ResizeGrid)
      for (unsigned D = 0; D < 3; ++D)
        if (auto New =
                follow(Base.Shape.Grid[D], Base.Shape.Block[D], Old, Value)) {
          C.Shape.Grid[D] = *New;
          break;
        }
  } else {
    Old = Base.Shape.Grid[E.GridDim];
    C.Shape.Grid[E.GridDim] = Value;
    What = std::string("grid.") + "xyz"[E.GridDim];
  }
  std::string Part = " " + What + "=";
  if (size_t At = C.Name.find(Part); At != std::string::npos)
    C.Name.erase(At, C.Name.find(' ', At + 1) - At);
  C.Name += Part + utostr(Value);
  for (size_t I = 0; I < C.Buffers.size() && F != Fit::None; ++I) {
    // A buffer of unknown elements follows by its bytes.
    uint64_t Stride = C.Layouts[I].Stride, N = C.Buffers[I].size() / Stride;
    if (N % Old != 0 || N == 0 || (F == Fit::Larger && N == Old) ||
        (F == Fit::Equal && N != Old))
      continue;
    uint64_t Size = N / Old * Value * Stride;
    const Bytes &From = Base.Buffers[I];
    Bytes To(Size);
    for (uint64_t At = 0; At < Size; At += From.size())
      std::memcpy(To.data() + At, From.data(),
                  std::min<uint64_t>(From.size(), Size - At));
    bool Fits = all_of(C.Pointers, [&](const WorkloadPointer &P) {
      return P.Buffer != I || P.BufferOffset <= Size;
    });
    if (Fits)
      C.Buffers[I] = std::move(To);
  }
  return C;
}

/// Buffers that together hold no more, in bytes, may become eight times as
/// large.
static constexpr uint64_t MostGrown = 16384;

void addShapeCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers) {
  struct Change {
    uint64_t Value;
    Fit F;
    bool Grid;
    bool Grown = false;
  };
  for (const ScalarRef &S : X.K.Scalars) {
    uint64_t Value = readScalar(Base, S);
    if (Value < 2 || Value >> 31)
      continue;
    SmallVector<Change> Changes;
    SmallSet<uint64_t, 16> Seen;
    auto Add = [&](uint64_t New, Fit F, bool Grid) {
      if (New != Value && New > 0 && Seen.insert(New).second)
        Changes.push_back({New, F, Grid});
    };
    // Downwards the buffers stay as they are: more is there than is used.
    Add(Value - 1, Fit::None, false);
    Add(primeBelow(Value), Fit::None, false);
    Add(Value / 2 + 1, Fit::None, false);
    for (uint64_t Part : {Value * 2 / 3, Value * 5 / 16 + 1})
      if (Part < Value)
        Add(Part, Fit::None, false);
    for (uint64_t Tiny : {1, 2, 31, 33})
      if (Tiny < Value)
        Add(Tiny, Fit::None, true);
    // Upwards they must grow. Where it is not clear which, the original faults
    // for all but the right choice.
    uint64_t More = Value + 1, Most = Value + Value / 2 + 3;
    for (uint64_t New : {More, Most})
      for (Fit F : {Fit::All, Fit::Larger, Fit::Equal})
        Changes.push_back({New, F, true});
    // A tile that is full, and many more warps, as far as that costs little.
    uint64_t Full = 2 * PowerOf2Ceil(Value), Many = 8 * Value + 5;
    for (uint64_t New : {Full, Many})
      for (Fit F : {Fit::All, Fit::Larger})
        if (bytesOf(Base.Buffers) <= MostGrown)
          Changes.push_back({New, F, true, true});
    for (const Change &C : Changes) {
      Extent E{&S, 0};
      Makers.push_back(
          {Base.Name + " " + scalarName(X.K, S) + "=" + utostr(C.Value) +
               (C.Value < Value      ? ""
                : C.F == Fit::All    ? ""
                : C.F == Fit::Larger ? " (larger buffers)"
                                     : " (equal buffers)"),
           [&X, &Base, E, C] {
             GateCase Case = resized(X, Base, E, C.Value, C.F, C.Grid);
             Case.Grown = C.Grown;
             Case.Roomy = C.Value < readScalar(Base, *E.Scalar);
             return Case;
           }});
    }
  }
  // The ends of longer rows must matter, in a maximum, too.
  for (const ScalarRef &S : X.K.Scalars) {
    uint64_t Value = readScalar(Base, S), More = Value + Value / 2 + 3;
    if (Value < 2 || Value >> 31)
      continue;
    for (Fit F : {Fit::All, Fit::Larger})
      Makers.push_back({Base.Name + " " + scalarName(X.K, S) + "=" +
                            utostr(More) + " with spikes" +
                            (F == Fit::All ? "" : " (larger buffers)"),
                        [&X, &Base, &S, F, More] {
                          GateCase C = resized(X, Base, {&S, 0}, More, F, true);
                          C.Name += " with spikes";
                          for (size_t I = 0; I < C.Buffers.size(); ++I)
                            addSpikes(C, I, X.Seed, static_cast<int64_t>(More));
                          return C;
                        }});
  }
  // Pairs: a variant may only get one extent at a time right.
  ArrayRef<ScalarRef> All = X.K.Scalars;
  unsigned Pairs = 0;
  for (size_t I = 0; I < All.size(); ++I)
    for (size_t J = I + 1; J < All.size() && Pairs < 6; ++J) {
      uint64_t A = readScalar(Base, All[I]), B = readScalar(Base, All[J]);
      if (A < 2 || B < 2 || A >> 31 || B >> 31)
        continue;
      ++Pairs;
      Makers.push_back(
          {Base.Name + " pair " + utostr(Pairs), [&X, &Base, All, I, J, A, B] {
             GateCase C = resized(X, Base, {&All[I], 0}, primeBelow(A),
                                  Fit::None, false);
             return resized(X, C, {&All[J], 0}, B - 1, Fit::None, false);
           }});
    }
}

void addLaunchCases(const CaseContext &X, const GateCase &Base,
                    CaseMakers &Makers) {
  constexpr uint64_t WarpThreads = 32;
  auto HasWarp = [](const LaunchShape &Shape) {
    return Shape.Block[0] * Shape.Block[1] * Shape.Block[2] >= WarpThreads;
  };
  auto Add = [&](const char *Name, LaunchShape Shape) {
    // Who exchanges numbers within warps is right where blocks have one.
    const bool IsFar = HasWarp(Base.Shape) && !HasWarp(Shape);
    Makers.push_back({Base.Name + " " + Name, [&Base, Name, Shape, IsFar] {
                        GateCase C = Base;
                        C.Name += std::string(" ") + Name;
                        C.Shape = Shape;
                        C.Captured = false;
                        C.Doubtful = true;
                        C.Far = IsFar;
                        return C;
                      }});
  };
  const LaunchShape &Old = Base.Shape;
  LaunchShape S = Old;
  ++S.Grid[0];
  Add("grid+1", S);
  if (Old.Grid[0] > 1) {
    S = Old;
    --S.Grid[0];
    Add("grid-1", S);
  }
  for (unsigned D = 1; D < 3; ++D)
    if (Old.Grid[D] > 1) {
      S = Old;
      --S.Grid[D];
      Add(D == 1 ? "grid.y-1" : "grid.z-1", S);
    }
  if (Old.Block[0] % 64 == 0) {
    S = Old;
    S.Block[0] /= 2;
    S.Grid[0] *= 2;
    Add("block/2", S);
  }
  if (Old.Block[0] > WarpThreads && Old.Block[0] % WarpThreads == 0) {
    S = Old;
    S.Grid[0] *= S.Block[0] / WarpThreads;
    S.Block[0] = WarpThreads;
    Add("block=32", S);
  }
  if (Old.Block[0] * Old.Block[1] * Old.Block[2] * 2 <= MaxBlockThreads) {
    S = Old;
    S.Block[0] *= 2;
    Add("block*2", S);
  }
  if (Old.Block[1] > 1 && Old.Block[1] % 2 == 0) {
    S = Old;
    S.Block[1] /= 2;
    S.Grid[1] *= 2;
    Add("block.y/2", S);
  }
  // Who takes the one for the other gets by as long as blocks are fewer than
  // their threads. Most of these have nothing to do.
  constexpr uint64_t MostThreads = 256;
  if (Old.Grid[0] <= Old.Block[0] && Old.Block[0] <= MostThreads) {
    // In a maximum only large numbers are missed, and only the largest.
    for (unsigned Round : {1, 2, 3})
      Makers.push_back(
          {Base.Name + " more blocks than threads", [&X, &Base, Round] {
             GateCase C =
                 withImpulses(Base, randomImpulses(Base, X.Seed + Round, 128),
                              "more blocks than threads");
             C.Shape.Grid[0] = 2 * C.Shape.Block[0] + 1;
             C.Grown = true;
             return C;
           }});
  }
  // Fewer threads, and no more blocks for it: what one thread does in a loop
  // that usually runs once. Powers of two stay powers of two: kernels that
  // halve a block until one thread is left lose data otherwise.
  for (unsigned D = 1; D < 3; ++D)
    if (Old.Grid[D] > 1 || Old.Block[D] > 1) {
      S = Old;
      ++S.Grid[D];
      Add(D == 1 ? "grid.y+1" : "grid.z+1", S);
    }
  auto AddBlock = [&](const char *Name, uint64_t X, uint64_t Y) {
    if (X == 0 || Y == 0 || X * Y * Old.Block[2] > MaxBlockThreads ||
        (X == Old.Block[0] && Y == Old.Block[1]))
      return;
    S = Old;
    S.Block[0] = X;
    S.Block[1] = Y;
    Add(Name, S);
  };
  uint64_t BX = Old.Block[0], BY = Old.Block[1];
  AddBlock("half a block", BX / 2, BY);
  AddBlock("small block", std::min<uint64_t>(BX / 2, 16), BY);
  AddBlock("block=1", 1, 1);
  AddBlock("half a block in y", BX, BY / 2);
  if (BX != BY || BY > 1)
    AddBlock("block turned", BY > 1 ? BY : 0, BX);
  AddBlock("flat block", BX * 2, BY / 2);
  S = Old;
  S.Block[0] = 1;
  ++S.Grid[0];
  Add("block.x=1 and grid+1", S);
  // Who halves a block until one thread is left is right for powers of two
  // alone, and so may be the original: a variant that differs is right
  // elsewhere.
  // The last warp of some is not full.
  const uint64_t Seed = X.Seed;
  for (uint64_t X :
       {uint64_t(96), uint64_t(160), BX * 3 / 4, BX + 32, uint64_t(64),
        uint64_t(512), uint64_t(MaxBlockThreads), uint64_t(29), BX / 2 + 1}) {
    if (X == BX || X == 0 || X * BY * Old.Block[2] > MaxBlockThreads)
      continue;
    S = Old;
    S.Block[0] = X;
    // As many threads as before, at least.
    S.Grid[0] = divideCeil(Old.Grid[0] * BX, X);
    std::string Name = "block.x=" + utostr(X);
    Makers.push_back({Base.Name + " " + Name, [&Base, Name, S, Seed] {
                        GateCase C = Base;
                        C.Name += " " + Name;
                        C.Shape = S;
                        C.Captured = false;
                        C.Doubtful = C.Far = true;
                        const uint64_t Drawn = drawAt(Seed, 0, S.Block[0]);
                        for (size_t I = 0; Drawn % 2 && I < C.Buffers.size();
                             ++I)
                          addSpikes(C, I, Drawn);
                        return C;
                      }});
    // The largest and the least of a block are its last thread's: who leaves
    // the rest of a block out misses them.
    for (bool Falls : {false, true})
      if (X % 2)
        Makers.push_back(
            {Base.Name + " " + Name + (Falls ? " falling" : " rising"),
             [&Base, Name, S, Falls] {
               GateCase C =
                   varied(Base, Name + (Falls ? " falling" : " rising"));
               C.Shape = S;
               C.Far = true;
               changeFloats(C,
                            [Falls](ElementKind, size_t, uint64_t I, double) {
                              constexpr double Unit = 0x1p-10;
                              return (Falls ? -Unit : Unit) * double(I + 1);
                            });
               return C;
             }});
  }
  if (Old.Shared > 0) {
    S = Old;
    S.Shared += 256;
    Add("more shared memory", S);
  }
}

} // namespace cupilot
