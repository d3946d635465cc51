//===- Impulses.cpp - Single numbers made to stand out -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Impulses.h"
#include <cmath>
#include <random>

using namespace llvm;

namespace cupilot {

uint64_t numbersIn(const GateCase &C, size_t Buffer) {
  const Layout &L = C.Layouts[Buffer];
  return C.Buffers[Buffer].size() / L.Stride * L.Fields.size();
}

std::pair<ElementKind, uint64_t> numberAt(const GateCase &C, size_t Buffer,
                                          uint64_t Index) {
  const Layout &L = C.Layouts[Buffer];
  const LayoutField &F = L.Fields[Index % L.Fields.size()];
  return {F.Kind, Index / L.Fields.size() * L.Stride + F.Offset};
}

double impulseValue(const GateCase &C, const Impulse &S) {
  auto [Kind, At] = numberAt(C, S.Buffer, S.Index);
  double Value = readElement(Kind, C.Buffers[S.Buffer].data() + At);
  if (isFloating(Kind)) {
    double Far = 64.0 * S.Size + std::fabs(Value);
    return S.Negative ? -Far : Far;
  }
  // A step that 8 bits hold, or that no array is as large as.
  unsigned Bits = 8 * sizeOf(Kind);
  double Unit = Bits == 8 ? 1 : Bits == 16 ? 256 : 0x1p24;
  return S.Negative ? Value - Unit * S.Size : Value + Unit * S.Size;
}

void addImpulse(GateCase &C, const Impulse &S) {
  auto [Kind, At] = numberAt(C, S.Buffer, S.Index);
  writeElement(Kind, C.Buffers[S.Buffer].data() + At, impulseValue(C, S));
}

std::vector<Impulse> randomImpulses(const GateCase &C, uint64_t Seed,
                                    unsigned Density, unsigned Remainder) {
  std::vector<Impulse> Impulses;
  std::mt19937_64 Engine(Seed);
  for (size_t B = 0; B < C.Buffers.size(); ++B)
    for (uint64_t I = 0, N = numbersIn(C, B); I < N; ++I)
      if (uint64_t Draw = Engine();
          Draw % Density == Remainder && isFloating(numberAt(C, B, I).first))
        Impulses.push_back(
            {B, I, unsigned(1 + (Draw >> 32) % 63), (Draw >> 40 & 1) != 0});
  return Impulses;
}

GateCase withImpulses(const GateCase &Base, ArrayRef<Impulse> Impulses,
                      const Twine &Name) {
  GateCase C = Base;
  C.Name = (Base.Name + " " + Name).str();
  C.Captured = C.Ordered = C.Thorough = false;
  C.Doubtful = C.Probe = true;
  for (const Impulse &S : Impulses)
    addImpulse(C, S);
  return C;
}

} // namespace cupilot
