//===- PlanFindings.cpp - Plans that are no legal launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

using namespace llvm;

namespace cupilot {

static std::string valuesOf(ArrayRef<Expr> Exprs, const Bindings &B) {
  std::string Text;
  for (const Expr &E : Exprs) {
    std::optional<int64_t> Value = evaluate(E, B);
    Text += (Text.empty() ? "" : ", ") +
            (Value ? std::to_string(*Value) : "no value of " + E.str());
  }
  return Text;
}

std::string describeIllegal(const Launch &L, const Bindings &B) {
  return ("the plan launches '" + L.Symbol + "' with grid (" +
          valuesOf(L.Grid, B) + "), block (" + valuesOf(L.Block, B) + ") and " +
          valuesOf(L.Shared, B) +
          " bytes of shared memory where the guard admits it: that is no "
          "legal launch");
}

} // namespace cupilot
