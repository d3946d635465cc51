//===- Copies.cpp - Content that repeats itself
//-----------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputValues.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// Calls \p Change for about \p Most floats, evenly spread, from byte \p Begin
/// on.
static void
changeSome(GateCase &C, size_t Buffer, uint64_t Begin,
           function_ref<double(ElementKind, uint64_t Index, double)> Change) {
  // Large buffers take their time.
  constexpr uint64_t Most = 2 << 20, Sparse = 61;
  const Layout &L = C.Layouts[Buffer];
  Bytes &B = C.Buffers[Buffer];
  if (L.Stride == 0)
    return;
  const uint64_t Step = (B.size() / L.Stride > Most ? Sparse : 1) * L.Stride;
  for (const LayoutField &F : L.Fields) {
    if (!isFloating(F.Kind))
      continue;
    uint64_t First = Begin / L.Stride * L.Stride + F.Offset;
    for (uint64_t At = First; At + sizeOf(F.Kind) <= B.size(); At += Step)
      writeElement(F.Kind, B.data() + At,
                   Change(F.Kind, At, readElement(F.Kind, B.data() + At)));
  }
}

void varyCopies(GateCase &C, size_t Buffer, uint64_t Period, uint64_t Seed) {
  changeSome(C, Buffer, Period, [&](ElementKind, uint64_t At, double V) {
    double Unit = double(drawAt(Seed, Buffer, At) >> 11) * 0x1p-53;
    return V * std::exp2(2 * Unit - 1);
  });
}

void addSpikes(GateCase &C, size_t Buffer, uint64_t Seed,
               ArrayRef<int64_t> Lengths) {
  constexpr uint64_t Every = 31, EveryRow = 3;
  constexpr int64_t ShortestRow = 8;
  const uint64_t Stride = C.Layouts[Buffer].Stride;
  auto EndsRow = [&](uint64_t At) {
    return any_of(Lengths, [&](int64_t Length) {
      if (Length < ShortestRow)
        return false;
      const uint64_t Index = At / Stride, L = static_cast<uint64_t>(Length);
      return Index % L == L - 1 && Index / L % EveryRow == 0;
    });
  };
  changeSome(C, Buffer, 0, [&](ElementKind K, uint64_t At, double V) {
    double Factor = K == ElementKind::Half ? 16 : 1024;
    bool Spike = drawAt(Seed, Buffer, At) % Every == 0 || EndsRow(At);
    return Spike ? V * Factor : V;
  });
}

void addPeaks(GateCase &C, size_t Buffer, uint64_t Seed, unsigned Round,
              ArrayRef<int64_t> Lengths, ArrayRef<int64_t> Was) {
  constexpr int64_t ShortestRow = 4;
  const Layout &L = C.Layouts[Buffer];
  Bytes &B = C.Buffers[Buffer];
  if (L.Stride == 0 || L.Fields.size() != 1 || !isFloating(L.Fields[0].Kind))
    return;
  const ElementKind Kind = L.Fields[0].Kind;
  const uint64_t Count = B.size() / L.Stride;
  // Each length in turn, those that have grown first.
  SmallVector<size_t, 8> Rows;
  for (bool Grown : {true, false})
    for (size_t I = 0; I < Lengths.size(); ++I)
      if (Lengths[I] >= ShortestRow && uint64_t(Lengths[I]) <= Count &&
          (Lengths[I] > Was[I]) == Grown)
        Rows.push_back(I);
  if (Rows.empty())
    return;
  const size_t Which = Rows[Seed % Rows.size()];
  const auto Row = uint64_t(Lengths[Which]);
  auto At = [&](uint64_t I) { return B.data() + I * L.Stride; };
  constexpr uint64_t Looked = 4096;
  double Largest = 0;
  for (uint64_t I = 0; I < std::min(Count, Looked); ++I)
    if (double V = std::fabs(readElement(Kind, At(I))); std::isfinite(V))
      Largest = std::max(Largest, V);
  // A minimum, too, and the last few.
  const double Factor = Kind == ElementKind::Half ? 16 : 1024;
  const double Peak = (Round % 3 == 1 ? -Factor : Factor) * Largest;
  constexpr uint64_t Few = 4;
  uint64_t First = Row > uint64_t(std::max<int64_t>(Was[Which], 0))
                       ? uint64_t(std::max<int64_t>(Was[Which], 0))
                       : 0;
  if (Round % 3 == 2)
    First = Row - std::min(Row, Few);
  for (uint64_t I = 0; I + Row <= Count; I += Row)
    writeElement(Kind, At(I + First + drawAt(Seed, Buffer, I) % (Row - First)),
                 Peak);
}

void addTwins(GateCase &C, uint64_t Seed, unsigned Round,
              ArrayRef<int64_t> Lengths) {
  constexpr uint64_t Few = 12;
  SmallVector<size_t, 8> Inputs;
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    const Layout &L = C.Layouts[I];
    const bool IsOutput = I < C.PureOutput.size() && C.PureOutput[I];
    if (!IsOutput && L.Fields.size() == 1 && isFloating(L.Fields[0].Kind) &&
        L.Stride == sizeOf(L.Fields[0].Kind))
      Inputs.push_back(I);
  }
  const std::vector<Bytes> From = C.Buffers;
  for (size_t N = 0; N < Inputs.size(); ++N) {
    const size_t To = Inputs[N], Peer = Inputs[(N + Round + 1) % Inputs.size()];
    const ElementKind Kind = C.Layouts[To].Fields[0].Kind;
    if (C.Layouts[Peer].Fields[0].Kind != Kind)
      continue;
    const uint64_t Size = sizeOf(Kind), Count = From[To].size() / Size;
    // What is twice as long keeps numbers of its own.
    const uint64_t Most =
        std::min<uint64_t>(Count, From[Peer].size() / Size) / 2;
    uint64_t Last = Few;
    if (Round && !Lengths.empty())
      if (int64_t Row = Lengths[Seed % Lengths.size()];
          Row > 0 && uint64_t(Row) <= Most / Few)
        Last = Few * uint64_t(Row);
    if (Last > Most)
      continue;
    // A distance of 0 would be right for who leaves the difference out.
    constexpr double Nearly = 1 + 0x1p-8;
    for (uint64_t I = 0; I < Last; ++I)
      writeElement(Kind, C.Buffers[To].data() + (Count - Last + I) * Size,
                   Nearly * readElement(Kind, From[Peer].data() + I * Size));
  }
}

} // namespace cupilot
