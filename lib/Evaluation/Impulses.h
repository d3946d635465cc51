//===- Impulses.h - Single numbers made to stand out -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_IMPULSES_H
#define CUPILOT_LIB_EVALUATION_IMPULSES_H

#include "Cases.h"

namespace cupilot {

/// A number of a buffer, made much larger than it is.
struct Impulse {
  size_t Buffer = 0;
  uint64_t Index = 0; ///< Of the number, fields counted one by one.
  unsigned Size = 40; ///< 1 to 63.
  bool Negative = false;
};

/// How many numbers a buffer holds; 0 when its bytes are not known.
uint64_t numbersIn(const GateCase &C, size_t Buffer);
/// The \p Index-th of them, and where it begins.
std::pair<ElementKind, uint64_t> numberAt(const GateCase &C, size_t Buffer,
                                          uint64_t Index);
/// Puts \p S into \p C: 64 times its size away from what floats usually are,
/// and from what this one is; still finite in half. Integers go as far as they
/// are seldom indices.
void addImpulse(GateCase &C, const Impulse &S);
/// What the number is after it.
double impulseValue(const GateCase &C, const Impulse &S);

/// Impulses of random sizes at floats of all buffers: at those whose draw
/// leaves
/// \p Remainder by \p Density.
std::vector<Impulse> randomImpulses(const GateCase &C, uint64_t Seed,
                                    unsigned Density, unsigned Remainder = 0);

/// \p Base with \p Impulses, as a case called \p Name.
GateCase withImpulses(const GateCase &Base, llvm::ArrayRef<Impulse> Impulses,
                      const llvm::Twine &Name);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_IMPULSES_H
