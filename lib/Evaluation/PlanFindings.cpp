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
          valuesOf(L.Shared, B) + " bytes of shared memory" +
          (L.Cluster ? " in clusters of (" + valuesOf(*L.Cluster, B) + ")"
                     : std::string()) +
          " where the guard admits it: that is no legal launch");
}

std::string describeIllegal(const Expr &Scratch, const Bindings &B) {
  return "the plan takes " + valuesOf(Scratch, B) +
         " bytes of scratch memory where the guard admits it; a buffer has 1 "
         "to " +
         std::to_string(MostScratch);
}

std::string describeIllegal(const TensorMapPlan &Map, const Bindings &B,
                            uint64_t Base) {
  std::string Text = "the plan has a tensor map with extents (" +
                     valuesOf(Map.Extents, B) + ") and strides (" +
                     valuesOf(Map.Strides, B) + ") over a pointer ";
  if (Base % 16 != 0)
    Text += "that is no multiple of 16 ";
  return Text + "where the guard admits it: no driver makes such a map "
                "(extents are 1 to 2^32, strides multiples of 16 below 2^40, "
                "pointers multiples of 16)";
}

} // namespace cupilot
