//===- Samples.h - Plain data for the tests of the dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_DIALECT_SAMPLES_H
#define CUPILOT_TEST_DIALECT_SAMPLES_H

#include "cupilot/Dialect/Conversion.h"

namespace cupilot::test {

inline std::string digestOf(char C) { return "b3:" + std::string(64, C); }

inline Expr times(Expr L, Expr R) {
  return Expr::binary(Expr::Kind::Mul, std::move(L), std::move(R));
}

inline Expr plus(Expr L, Expr R) {
  return Expr::binary(Expr::Kind::Add, std::move(L), std::move(R));
}

/// blur::rows<4>(const float *x, float *y, Size s), with two integers in s.
inline Kernel sampleKernel() {
  Kernel K;
  K.Name = "blur::rows<4>(const float *, float *, Size)";
  K.Symbol = "_ZN4blur4rowsILi4EEEvPKfPf4Size";
  K.Digest = digestOf('1');
  K.File = "dir: with \"quotes\"/blur.cu";
  K.Line = 12;
  K.Params = {{"x", "const float *", 8, true, true, true, "float", 4},
              {"y", "float *", 8, true, false, false, "float", 4},
              {"s", "Size", 16, false, false, false, "", 0}};
  K.Scalars = {{2, 0, 32, true}, {2, 8, 64, false}};
  K.Pointers = {{0, 0}, {1, 0}};
  return K;
}

inline Variant sampleVariant() {
  Variant V;
  V.Name = "v1";
  V.Genes = {{"block_size", {{"x", 128, ""}}},
             {"cache_hints", {{"policy", 0, "streaming"}}}};
  V.Outcome = CandidateOutcome::Accepted;
  V.Source = "v1.cu";
  V.Digest = digestOf('2');
  V.Fitness = 1.25;
  V.Evidence = {{"NVIDIA H200", Basis::Modelled, 1.25, 1.2, 1.3, 1, 24,
                 "clang-22", "sm_90", digestOf('3')}};
  return V;
}

} // namespace cupilot::test

#endif // CUPILOT_TEST_DIALECT_SAMPLES_H
