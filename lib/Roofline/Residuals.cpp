//===- Residuals.cpp - How far modelled speed-ups are off -----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/Residuals.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace cupilot {

namespace {
struct Residual {
  StringLiteral Kind;
  double Low, High; ///< Measured over modelled speed-up.
};
} // namespace

static constexpr Residual Residuals[] = {
#define CUPILOT_RESIDUAL(KIND, PAIRS, LOW, HIGH) {KIND, LOW, HIGH},
#include "Residuals.def"
};

static const Residual &residualOf(StringRef Kind) {
  const Residual *Known =
      find_if(Residuals, [&](const Residual &R) { return R.Kind == Kind; });
  return Known != std::end(Residuals) ? *Known : residualOf("other");
}

ModelledSpeedup withInterval(double Ratio, const Genome &Change) {
  Residual All = residualOf(Change.empty() ? "other" : Change[0].Strategy);
  for (const Gene &G : drop_begin(Change, Change.empty() ? 0 : 1)) {
    const Residual &R = residualOf(G.Strategy);
    All.Low = std::min(All.Low, R.Low);
    All.High = std::max(All.High, R.High);
  }
  return {Ratio, Ratio * std::min(All.Low, 1.0),
          Ratio * std::max(All.High, 1.0)};
}

} // namespace cupilot
