//===- RandomLaunch.cpp - Launches at random -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomLaunch.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

void LaunchSource::drawShape(RandomLaunch &L) {
  if (chance(0.5))
    return;
  for (uint64_t &Dim : L.Shape.Grid)
    if (chance(Dim > 1 ? 0.5 : 0.2))
      Dim = 1 + below(Dim > 1 ? 2 * Dim : 3);
  if (chance(0.5))
    for (uint64_t &Dim : L.Shape.Block)
      if (Dim > 1 && chance(0.7)) {
        static const uint64_t Usual[] = {32, 64, 96, 128, 192, 256};
        Dim = chance(0.5)   ? Usual[below(std::size(Usual))]
              : chance(0.5) ? std::max<uint64_t>(1, Dim / 2)
                            : 1 + below(Dim);
      }
}

void LaunchSource::drawScalars(RandomLaunch &L) {
  raw_string_ostream OS(L.Text);
  for (auto [I, P] : enumerate(K.Params)) {
    std::optional<ElementKind> Kind = elementOf(P.Type);
    if (P.IsPointer || !Kind || sizeOf(*Kind) != P.Size)
      continue;
    uint8_t *At = L.Args[I].data();
    double Was = readElement(*Kind, At), New = Was;
    if (isFloating(*Kind)) {
      if (chance(0.6))
        New = chance(0.2) ? 0 : chance(0.3) ? -Was : Was * (4 * unit() - 2);
    } else if (Was >= 2 && chance(0.5)) {
      New = 1 + double(below(uint64_t(Was)));
    }
    writeElement(*Kind, At, New);
    OS << ", " << P.Name << "=" << readElement(*Kind, At);
  }
}

double LaunchSource::faintSize(ElementKind Kind) {
  const double Size = std::exp2(4 - double(below(12)));
  // Or of those whose squares are so.
  return (chance(0.3) ? std::sqrt(leastNormal(Kind)) : leastNormal(Kind)) *
         Size;
}

void LaunchSource::drawFloats(ElementKind Kind, std::vector<uint8_t> &Content) {
  unsigned Width = sizeOf(Kind);
  unsigned How = below(Faint ? 10 : 9);
  // A maximum that is wrong may only matter where it is far too small.
  if (Beyond && chance(0.3))
    How = 7;
  if (Far && chance(0.4)) // Who leaves it out, or takes it for another, shows.
    How = 10;
  // Small types overflow early.
  double Size =
      Kind == ElementKind::Half ? 1 : std::exp2(double(below(17)) - 8);
  if (Faint)
    Size = faintSize(Kind);
  double Constant = (2 * unit() - 1) * Size;
  std::vector<double> Values(Content.size() / Width);
  for (double &V : Values) {
    double U = 2 * unit() - 1;
    switch (How) {
    case 0: // Somewhere around zero.
    case 1:
      V = U * Size;
      break;
    case 2: // Positive.
      V = std::fabs(U) * Size;
      break;
    case 3: // Few different ones: ties.
      V = std::floor(U * 4);
      break;
    case 4: // Mostly zero, of both signs.
      V = chance(0.1) ? U * Size : chance(0.5) ? 0.0 : -0.0;
      break;
    case 5: // All the same.
      V = Constant;
      break;
    case 6: // Of many sizes.
      V = std::copysign(std::exp2(12 * unit() - 6), U);
      break;
    case 9: // Sums of them are zero, beside which their squares are large.
      V = Constant = -Constant;
      break;
    default: // Spikes.
      V = chance(0.02) ? U * Size * 100 : U;
    }
  }
  // What is largest may have to be so by far.
  if (How == 7 || How == 8)
    for (double &V : Values)
      V *= Size;
  if (How == 10 && !Values.empty()) {
    for (double &V : Values)
      V *= 0x1p-10;
    Values[std::min<size_t>(below(Values.size()) | 1, Values.size() - 1)] =
        Kind == ElementKind::Half ? 1024 : 4096;
  }
  if (How == 7)
    std::sort(Values.begin(), Values.end());
  if (How == 8)
    std::sort(Values.rbegin(), Values.rend());
  for (auto [I, V] : enumerate(Values))
    writeElement(Kind, Content.data() + I * Width, V);
}

/// Beyond a domain, and where the original bears it: all the same, and what was
/// below a size is below what that is now. False where it drew nothing.
bool LaunchSource::drawFarIntegers(ElementKind Kind,
                                   std::vector<uint8_t> &Content) {
  const unsigned Width = sizeOf(Kind);
  const size_t N = Content.size() / Width;
  int64_t Low = INT64_MAX, High = INT64_MIN;
  for (size_t I = 0; I < N; ++I) {
    const int64_t V = readInteger(Kind, Content.data() + I * Width);
    Low = std::min(Low, V);
    High = std::max(High, V);
  }
  if (Common) { // Long matches, and loops that come to their limits.
    const int64_t Value = *Common ? std::clamp(*Common, Low, High) : 0;
    for (size_t I = 0; I < N; ++I)
      writeInteger(Kind, Content.data() + I * Width, Value);
    constexpr uint64_t MostOthers = 3;
    uint64_t Reach = N; // Beyond the longest size, nobody looks.
    if (!Grown.empty() && chance(0.7))
      Reach = std::min<uint64_t>(
          N, uint64_t(std::max_element(Grown.begin(), Grown.end(),
                                       [](const auto &A, const auto &B) {
                                         return A.second < B.second;
                                       })
                          ->second));
    for (uint64_t Others = chance(0.5) ? below(MostOthers + 1) : 0; Others;
         --Others)
      writeInteger(Kind, Content.data() + below(Reach) * Width, High);
    return true;
  }
  if (Width == 8 && chance(0.2)) { // More than a double holds.
    constexpr unsigned Least = 53, Further = 6;
    for (size_t I = 0; I < N; ++I)
      writeInteger(Kind, Content.data() + I * Width,
                   int64_t(draw() >> (64 - Least - below(Further))) | 1);
    return true;
  }
  for (auto [Old, New] : Grown)
    if (Low >= 0 && High < Old && High >= Old / 2 && chance(0.5)) {
      for (size_t I = 0; I < N; ++I)
        writeInteger(Kind, Content.data() + I * Width,
                     int64_t(below(uint64_t(New))));
      return true;
    }
  return false;
}

/// Integers may be indices: nothing leaves the range that is known to work,
/// and half of the time nothing changes.
void LaunchSource::drawIntegers(ElementKind Kind,
                                std::vector<uint8_t> &Content) {
  unsigned Width = sizeOf(Kind);
  size_t N = Content.size() / Width;
  if (N == 0 || (Beyond && drawFarIntegers(Kind, Content)) || chance(0.4))
    return;
  std::vector<int64_t> Values(N);
  for (size_t I = 0; I < N; ++I)
    Values[I] = readInteger(Kind, Content.data() + I * Width);
  auto [Least, Most] = std::minmax_element(Values.begin(), Values.end());
  int64_t Low = *Least, High = *Most;
  bool Sorted = llvm::is_sorted(Values);
  if (chance(0.5)) {
    for (size_t I = N; I > 1; --I)
      std::swap(Values[I - 1], Values[below(I)]);
  } else {
    // Sometimes few different ones.
    int64_t Range = High - Low + 1;
    if (chance(0.3))
      Range = std::min<int64_t>(Range, 3);
    for (int64_t &V : Values)
      V = Low + int64_t(below(Range));
  }
  if (Sorted) // Row pointers and their like.
    std::sort(Values.begin(), Values.end());
  for (size_t I = 0; I < N; ++I)
    writeInteger(Kind, Content.data() + I * Width, Values[I]);
}

static Expected<std::vector<uint8_t>> contentOf(const WorkloadBuffer &B) {
  if (B.Generator.empty())
    return usageError("the independent inputs need workloads in words");
  return generateContent(B.Generator, B.Size);
}

/// What a buffer holds: its generator says it.
static ElementKind kindOf(const WorkloadBuffer &B) {
  return elementOf(StringRef(B.Generator).split(' ').first)
      .value_or(ElementKind::UInt8);
}

Error LaunchSource::drawContents(const Workload &W, RandomLaunch &L) {
  Common.reset();
  if (Beyond && chance(0.25))
    Common = chance(0.4) ? 0 : chance(0.5) ? 1 : int64_t(below(128));
  for (const WorkloadBuffer &B : W.Buffers) {
    Expected<std::vector<uint8_t>> Content = contentOf(B);
    if (!Content)
      return Content.takeError();
    L.Kinds.push_back(kindOf(B));
    if (isFloating(L.Kinds.back()))
      drawFloats(L.Kinds.back(), *Content);
    else
      drawIntegers(L.Kinds.back(), *Content);
    const uint64_t Size = Content->size();
    L.Buffers.push_back({std::move(*Content), Size});
  }
  for (const WorkloadGlobal &G : W.Globals) {
    Expected<std::vector<uint8_t>> Content = contentOf(G.Content);
    if (!Content)
      return Content.takeError();
    if (isFloating(kindOf(G.Content)))
      drawFloats(kindOf(G.Content), *Content);
    L.Globals.push_back({G.Symbol, std::move(*Content)});
  }
  return Error::success();
}

void describeShape(RandomLaunch &L) {
  const LaunchShape &S = L.Shape;
  raw_string_ostream(L.Text)
      << "grid=" << S.Grid[0] << "x" << S.Grid[1] << "x" << S.Grid[2]
      << ", block=" << S.Block[0] << "x" << S.Block[1] << "x" << S.Block[2];
}

RandomLaunch withoutContents(const Workload &W) {
  RandomLaunch L;
  L.Shape = W.Shape;
  L.Args = W.Args;
  L.Pointers = W.Pointers;
  return L;
}

Expected<RandomLaunch> launchOf(const Workload &W) {
  RandomLaunch L = withoutContents(W);
  for (const WorkloadBuffer &B : W.Buffers) {
    Expected<std::vector<uint8_t>> Content = contentOf(B);
    if (!Content)
      return Content.takeError();
    L.Kinds.push_back(kindOf(B));
    const uint64_t Size = Content->size();
    L.Buffers.push_back({std::move(*Content), Size});
  }
  for (const WorkloadGlobal &G : W.Globals) {
    Expected<std::vector<uint8_t>> Content = contentOf(G.Content);
    if (!Content)
      return Content.takeError();
    L.Globals.push_back({G.Symbol, std::move(*Content)});
  }
  describeShape(L);
  return L;
}

/// A domain that says nothing is no help in drawing: launches around the given
/// ones are.
static bool saysNothing(const Domain &D) {
  return any_of(D.Boxes, [](const DomainBox &B) { return B.size() == 0; });
}

Expected<std::optional<RandomLaunch>> LaunchSource::next() {
  const Workload &W = Around[below(Around.size())];
  if (Inside && !saysNothing(*Inside))
    return drawInside(W);
  RandomLaunch L = withoutContents(W);
  if (Error E = drawContents(W, L))
    return std::move(E);
  drawShape(L);
  describeShape(L);
  drawScalars(L);
  return std::optional(std::move(L));
}

} // namespace cupilot
