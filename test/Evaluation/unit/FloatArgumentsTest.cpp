//===- FloatArgumentsTest.cpp - Other numbers for arguments ---------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation/Cases.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace cupilot;

namespace {
/// A kernel that gets as many floats, which are all 3.
struct FloatLaunch {
  explicit FloatLaunch(unsigned Floats) {
    Base.Name = "w0";
    for (unsigned I = 0; I < Floats; ++I) {
      KernelParam &P = K.Params.emplace_back();
      P.Name = std::string(1, char('a' + I));
      P.Type = "float";
      P.Size = 4;
      Types.Pointees.emplace_back();
      Types.Values.push_back({4, {{0, ElementKind::Float}}});
      Base.Args.emplace_back(4);
      writeFloat(Base, {I, 0, FloatRef::Format::Float}, 3);
    }
  }
  /// The values of argument \p Param in the cases that change \p Count of them.
  std::vector<float> valuesOf(unsigned Param, size_t Count,
                              std::vector<FloatThresholdFact> Thresholds = {}) {
    CaseContext X{K, Types};
    CaseMakers Makers;
    addConstantCases(X, Base, Makers, Thresholds);
    std::vector<float> Values;
    for (CaseMaker &M : Makers) {
      GateCase C = M.Make();
      EXPECT_EQ(C.Name, M.Name);
      EXPECT_TRUE(C.Doubtful);
      bool About = false;
      for (const FloatRef &R : C.ChangedFloats)
        About |= R.Param == Param;
      if (About && C.ChangedFloats.size() == Count)
        Values.push_back(float(readFloat(C, C.ChangedFloats.front())));
    }
    return Values;
  }
  Kernel K;
  KernelLayout Types;
  GateCase Base;
};

bool holds(const std::vector<float> &Values, float V) {
  for (float Each : Values)
    if (std::memcmp(&Each, &V, sizeof(V)) == 0)
      return true;
  return false;
}
} // namespace

TEST(FloatArguments, EachClassOfNumbers) {
  std::vector<float> Values = FloatLaunch(1).valuesOf(0, 1);
  for (float V : {9.0f, -3.0f, 0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 0.5f, 0x1p90f,
                  -0x1p-90f, INFINITY})
    EXPECT_TRUE(holds(Values, V)) << V;
  EXPECT_TRUE(std::isnan(Values.back()));
  // As it is, it was tried.
  EXPECT_FALSE(holds(Values, 3.0f));
}

TEST(FloatArguments, BothSidesOfWhatTheCodeAsksFor) {
  FloatLaunch L(2);
  FloatRef B{1, 0, FloatRef::Format::Float};
  // Only one of them is a float's neighbour of 0.1: 0.1f itself is above.
  std::vector<float> Values = L.valuesOf(1, 1, {{B, 0.1, ""}, {B, 8, ""}});
  for (float V : {0.1f, std::nextafter(0.1f, 0.0f), 8.0f,
                  std::nextafter(8.0f, 0.0f), std::nextafter(8.0f, 9.0f)})
    EXPECT_TRUE(holds(Values, V)) << V;
  EXPECT_FALSE(holds(L.valuesOf(0, 1, {{B, 8, ""}}), 8.0f));
  Values = L.valuesOf(1, 1, {{B, 0, ""}});
  EXPECT_TRUE(holds(Values, std::nextafter(0.0f, 1.0f)));
  EXPECT_TRUE(holds(Values, std::nextafter(0.0f, -1.0f)));
}

TEST(FloatArguments, ManyChangeTogether) {
  FloatLaunch L(6);
  EXPECT_TRUE(holds(L.valuesOf(5, 1), 0.0f));
  EXPECT_FALSE(holds(L.valuesOf(5, 1), 0.5f));
  EXPECT_TRUE(holds(L.valuesOf(5, 6), 0.5f));
}
