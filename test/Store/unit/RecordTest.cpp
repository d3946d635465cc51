//===- RecordTest.cpp - Damaged build records are refused -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/BuildRecord.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace cupilot;

namespace {

std::string textOf(const BuildRecord &R) {
  return formatv("{0:2}", toJSON(R)).str() + "\n";
}

BuildRecord sample() {
  BuildRecord R;
  R.Identity = "b3:" + std::string(64, '1');
  R.Kernel = "k(float *, int)";
  R.Symbol = "_Z1kPfi";
  R.Compiler = "clang-22";
  R.Arch = "sm_90";
  R.Scalars.push_back({1, 0, 32, true});
  R.Contract = "same";
  R.Params = 2;
  R.Names = {{"x", 8}, {"n", 4}};
  BuildVariant V;
  V.Name = "v_0123abcd";
  V.Source = "kernels/0/v_0123abcd.cu";
  V.SourceDigest = "b3:" + std::string(64, '2');
  V.Canonical = "b3:" + std::string(64, '3');
  V.Genome = "unroll{factor=4}";
  V.Plan.Launches.emplace_back();
  V.Plan.Launches.front().Symbol = R.Symbol;
  V.When.Arch = "sm_90";
  V.When.Constraints.push_back({Expr::symbol(0), false});
  DomainBox Box;
  Box.Ranges = {{Expr::symbol(0), {{1, 70000}}}};
  Box.Residues = {{Expr::symbol(0), 32, {0, 1}}};
  Box.Floats = {{{1, 0, FloatRef::Format::Float}, {{-1, 0}}}};
  Box.Nulls = {{{0, 0}, false}};
  Box.Pairs = {{{0, 0}, {1, 0}, true, {}, {}}};
  V.Where = Domain{{Box}};
  R.Variants.push_back(std::move(V));
  return R;
}

/// Reads \p Text; what is read must be the sample.
void check(const std::string &Text, const std::string &Right, bool &Refused) {
  Expected<BuildRecord> R = parseBuildRecord(Text, "r.json");
  Refused = !R;
  if (!R)
    return consumeError(R.takeError());
  EXPECT_EQ(textOf(*R), Right) << Text;
}

TEST(RecordTest, WhatIsWrittenIsRead) {
  std::string Text = textOf(sample());
  bool Refused = false;
  check(Text, Text, Refused);
  EXPECT_FALSE(Refused);
}

TEST(RecordTest, NoChangedByteIsTaken) {
  std::string Right = textOf(sample());
  unsigned Refusals = 0;
  for (size_t I = 0; I < Right.size(); ++I)
    for (unsigned char Flip : {1, 2, 4, 16, 32, 128}) {
      std::string Text = Right;
      Text[I] = static_cast<char>(Text[I] ^ Flip);
      bool Refused = false;
      check(Text, Right, Refused);
      Refusals += Refused;
    }
  // Only white space may change.
  EXPECT_GT(Refusals, Right.size() * 3);
}

TEST(RecordTest, NoPartIsTaken) {
  std::string Right = textOf(sample());
  for (size_t I = 0; I + 2 < Right.size(); ++I) {
    bool Refused = false;
    check(Right.substr(0, I), Right, Refused);
    EXPECT_TRUE(Refused) << I;
  }
}

TEST(RecordTest, WhiteSpaceDoesNotCount) {
  std::string Right = textOf(sample());
  bool Refused = false;
  check(formatv("{0}", toJSON(sample())).str(), Right, Refused);
  EXPECT_FALSE(Refused);
}

} // namespace
