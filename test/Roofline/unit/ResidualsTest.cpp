//===- ResidualsTest.cpp - Intervals of modelled speed-ups ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/Residuals.h"
#include "gtest/gtest.h"

using namespace cupilot;

static ModelledSpeedup of(double Ratio, llvm::StringRef Genes) {
  return withInterval(Ratio, parseGenome(Genes).value_or(Genome()));
}

TEST(Residuals, UnrollingAloneIsWorthNothing) {
  // The gains that searches found for llm.c's kernels, and no GPU measured.
  for (double Modelled : {1.08, 1.11, 1.33})
    EXPECT_LT(of(Modelled, "unroll{factor=4}").Low, 1.02);
}

TEST(Residuals, SeveralRulesHaveTheWidestInterval) {
  ModelledSpeedup A = of(2, "unroll{factor=4}"),
                  B = of(2, "vectorized_access{width=4}"),
                  Both = of(2, "unroll{factor=4}, vectorized_access{width=4}");
  EXPECT_EQ(Both.Low, std::min(A.Low, B.Low));
  EXPECT_EQ(Both.High, std::max(A.High, B.High));
  EXPECT_LT(Both.Low, 2);
}

TEST(Residuals, UnknownChangesAreOfTheKindOther) {
  ModelledSpeedup Other = of(2, ""), Model = of(2, "tensor_core_mma{}");
  EXPECT_EQ(Other.Low, Model.Low);
  EXPECT_EQ(Other.High, Model.High);
  // It grows with the speed-up.
  EXPECT_DOUBLE_EQ(of(4, "").Low, 2 * Other.Low);
}
