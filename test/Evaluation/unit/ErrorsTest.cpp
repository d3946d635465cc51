//===- ErrorsTest.cpp - Rounding errors of buffers ------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation/Errors.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace cupilot;

namespace {

Bytes bytesOf(std::initializer_list<float> Numbers) {
  Bytes B(Numbers.size() * sizeof(float));
  std::memcpy(B.data(), Numbers.begin(), B.size());
  return B;
}

/// Whether \p Got passes where float64 has 1 and 1, and the original is off by
/// 0.2 at the first number, by chance not at the second.
bool passes(std::initializer_list<float> Got, const PrecisionContract &Contract,
            llvm::ArrayRef<double> Sensitivity) {
  const Layout Floats{4, {{0, ElementKind::Float}}};
  ErrorRange Errors;
  return !compareBuffer(bytesOf(Got), bytesOf({1, 1}), bytesOf({1.2F, 1}),
                        Floats, {Contract, Sensitivity, 16, true}, Errors);
}

// What a unit in the last place of the inputs does excuses a variant under
// "relaxed" as it does under "same", and the contract's own term comes on top.
TEST(Errors, RelaxedBearsWhatSameBears) {
  PrecisionContract Same, Relaxed;
  Relaxed.K = PrecisionContract::Kind::Relaxed;
  Relaxed.RelativeTolerance = 0.004;
  // By byte; 16 times of it is 0.1.
  const std::vector<double> Sensitivity(8, 0.1 / 16);
  EXPECT_TRUE(passes({1.2F, 1.09F}, Same, Sensitivity));
  EXPECT_TRUE(passes({1.2F, 1.09F}, Relaxed, Sensitivity));
  EXPECT_TRUE(passes({1.2F, 1.105F}, Relaxed, Sensitivity));
  EXPECT_FALSE(passes({1.2F, 1.105F}, Same, Sensitivity));
  EXPECT_FALSE(passes({1.2F, 1.12F}, Relaxed, Sensitivity));
  EXPECT_FALSE(passes({1.2F, 1.09F}, Relaxed, {}));
}

} // namespace
