//===- CountedFigures.h - What counts tell agents -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_COUNTEDFIGURES_H
#define CUPILOT_LIB_EVOLUTION_COUNTEDFIGURES_H

#include "cupilot/Evolution/Advice.h"

namespace cupilot {

/// A number of the counts, and for which classes it matters.
struct CountedFigure {
  const char *Name;
  const char *Unit;
  double Scale;
  std::vector<Bottleneck> Matters;
  uint64_t (*Value)(const ExecutionCounts &);
};

/// All that agents may be told, in the order in which they are.
const std::vector<CountedFigure> &countedFigures();

/// Whether \p F says something about a kernel of \p Class; of one that has no
/// class, as about a kernel in the middle.
bool matters(const CountedFigure &F, std::optional<Bottleneck> Class);

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_COUNTEDFIGURES_H
