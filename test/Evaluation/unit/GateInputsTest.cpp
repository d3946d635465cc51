//===- GateInputsTest.cpp - Every input matters, and how much -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GateFixture.h"

using namespace cupilot;
using namespace llvm;

TEST_F(GateTest, IgnoredInputIsAMismatch) {
  EXPECT_EQ(judge("if (i < n) out[i] = in[i] * 2.0f;"), "mismatch");
}

TEST_F(GateTest, FittedToTheInputsIgnoresThem) {
  // Right for the captured values, wrong for any others.
  EXPECT_EQ(judge("if (i < n) { float a = float(i % 37) / 8 - 2, b = i ? "
                  "float((i - 1) % 37) / 8 - 2 : 0;"
                  " out[i] = a * 2 + b; }"),
            "ignored-input");
}

TEST_F(GateTest, OneElementLeftOutIsFound) {
  EXPECT_EQ(judge("if (i < n) out[i] = (i == 777 ? 0.0f : in[i] * 2.0f) + (i > "
                  "0 && i != 778 ? in[i - 1] : 0.0f);"),
            "mismatch");
}

TEST_F(GateTest, NarrowerArithmeticIsAMismatch) {
  EXPECT_EQ(judge("if (i < n) out[i] = __uint_as_float(__float_as_uint(in[i] * "
                  "2.0f + (i > 0 ? in[i - 1] "
                  ": 0.0f)) & 0xfffff000u);"),
            "mismatch");
}

TEST_F(GateTest, OneRoundingTheOtherWayDoesNotExcuseTheOthers) {
  // 2.5f * 0.2f is one half, in float64 it is a little more.
  gateOf(kernel("if (i < n) out[i] = rintf(in[i] * 0.2f) + in[i];"));
  EXPECT_EQ(judge("if (i < n) out[i] = in[i] + rintf(in[i] * 0.2f);"), "");
  EXPECT_EQ(judge("if (i < n) out[i] = rintf(in[i] * 0.2f) + in[i] * 1.01f;"),
            "mismatch");
}

TEST_F(GateTest, AFactorThatIsBuiltInIsAMismatch) {
  float A = 1.0f;
  More = ", float a";
  K.Params.push_back({"a", "float", 4, false, false, false, "", 0});
  W.Args.push_back(std::vector<uint8_t>(4));
  std::memcpy(W.Args[3].data(), &A, 4);
  gateOf(kernel("if (i < n) out[i] = a * in[i];"));
  EXPECT_EQ(judge("if (i < n) out[i] = in[i] * a;"), "");
  EXPECT_EQ(judge("if (i < n) out[i] = in[i];"), "mismatch");
}

TEST_F(GateTest, AnElementThatIsDroppedIsNamed) {
  // One output, of which any element may decide: 777 does not.
  StringRef Loop = "if (i) return; float m = -1e30f; for (int j = 0; j < n; "
                   "++j) if (in[j] > m",
            Rest = ") m = in[j]; out[0] = m;";
  gateOf(kernel((Loop + Rest).str()));
  EXPECT_EQ(judge("if (i) return; float m = -1e30f; for (int j = n - 1; j >= "
                  "0; --j) m = in[j] > m ? in[j] : m; out[0] = m;"),
            "");
  EXPECT_EQ(judge((Loop + " && j != 777" + Rest).str()), "ignored-input");
  EXPECT_NE(Evidence.find("number 777 of buffer 0 (byte 3108) made "),
            std::string::npos)
      << Evidence;
  EXPECT_NE(Evidence.find(", which changes nothing: buffer 1: error"),
            std::string::npos)
      << Evidence;
}

TEST_F(GateTest, ElementsThatTheOriginalIgnoresMayBeIgnored) {
  gateOf(kernel("if (i < n) out[i] = in[i] + 0 * (i < n - 1 && in[i + 1] > "
                "1e30f);"));
  EXPECT_EQ(judge("if (i < n) out[i] = in[i];"), "");
}

TEST_F(GateTest, WhatOverflowsMayBeRight) {
  StringRef Square = "if (i < n) { float v = in[i] * 1e30f; ";
  gateOf(kernel((Square + "out[i] = sqrtf(v * v); }").str()));
  EXPECT_EQ(judge((Square + "out[i] = sqrtf(v * v); }").str()), "");
  EXPECT_EQ(judge("if (i < n) out[i] = fabsf(in[i] * 1e30f);"), "");
  EXPECT_EQ(judge("if (i < n) out[i] = fabsf(in[i] * 1.01e30f);"), "mismatch");
  EXPECT_EQ(judge((Square + "out[i] = isnan(v) ? 0 : fabsf(v); }").str()),
            "mismatch");
  EXPECT_EQ(
      judge((Square + "out[i] = isinf(in[i]) ? 1e38f : fabsf(v); }").str()),
      "mismatch");
}
