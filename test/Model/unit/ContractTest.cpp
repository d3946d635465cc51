//===- ContractTest.cpp - How exact a variant must be -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Contract.h"
#include "cupilot/Model/BuildRecord.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

static std::string again(StringRef Text) {
  Expected<PrecisionContract> C = parseContract(Text);
  return C ? contractText(*C) : "error: " + toString(C.takeError());
}

TEST(Contract, TextsComeBackAsTheyWere) {
  for (StringRef Text :
       {"exact", "same", "relaxed(0.004)", "relaxed(0.004, 0.0004)",
        "relaxed(0.004, biased)", "relaxed(0.004, range=1e-06..10000)",
        "relaxed(0.004, 0.0004, range=0.001..10000, range(w)=0.01..1, "
        "range(x)=1..2, biased)"})
    EXPECT_EQ(again(Text), Text);
  EXPECT_EQ(again("relaxed(0.004,0.0004)"), "relaxed(0.004, 0.0004)");
  // In whatever order they are given.
  EXPECT_EQ(again("relaxed( 4e-3 ,biased, range( w ) = 1e-2 .. 1,range=1..2)"),
            "relaxed(0.004, range=1..2, range(w)=0.01..1, biased)");
}

TEST(Contract, RangesHaveNumbersAndDoNotContradict) {
  auto Fails = [](StringRef Text, StringRef With) {
    std::string Got = again(Text);
    EXPECT_TRUE(StringRef(Got).contains(With)) << Text.str() << ": " << Got;
  };
  for (StringRef Text :
       {"relaxed(0.004, range=)", "relaxed(0.004, range=..)",
        "relaxed(0.004, range=1..)", "relaxed(0.004, range=small..large)",
        "relaxed(0.004, range)", "relaxed(0.004, range=0..1)",
        "relaxed(0.004, range=-1..1)", "relaxed(0.004, range=1..inf)"})
    Fails(Text, "needs two numbers greater than 0");
  Fails("relaxed(0.004, range(x)=2..1)", "'range(x)' contains no number");
  Fails("relaxed(0.004, range=1..2, range=1..3)", "'range' is given twice");
  for (StringRef Text :
       {"relaxed()", "relaxed(2)", "relaxed(0.004, 0)", "relaxed(0.004, 1, 2)",
        "relaxed(biased)", "relaxed(0.004, biased, biased)", "same(biased)",
        "relaxed(0.004, range=1..2, 0.1)", "relaxed(0.004, range(2)=1..2)",
        "relaxed(0.004, shifted)", "relaxed(0.004", "roughly"})
    Fails(Text, "unknown contract");
}

TEST(Contract, RangesByBuffer) {
  PrecisionContract C =
      cantFail(parseContract("relaxed(0.004, range=1..2, range(w)=3..4)"));
  EXPECT_EQ(C.rangeOf("w")->Low, 3);
  EXPECT_EQ(C.rangeOf("x")->Low, 1);
  C = cantFail(parseContract("relaxed(0.004, range(w)=3..4)"));
  EXPECT_EQ(C.rangeOf("x"), nullptr);
}

TEST(Contract, RecordsUnderTheStrictestStay) {
  const char *Sorted[] = {"exact",
                          "same",
                          "relaxed(0.001, 0.0001)",
                          "relaxed(0.001)",
                          "relaxed(0.004)",
                          "relaxed(0.001, range=1e-06..1000000)",
                          "relaxed(0.001, range=0.001..1000)",
                          "relaxed(0.001, biased)",
                          "relaxed(0.001, range=0.001..1000, biased)"};
  for (size_t I = 1; I < std::size(Sorted); ++I) {
    std::vector<BuildRecord> Records(2);
    Records[0].Contract = Sorted[I];
    Records[1].Contract = Sorted[I - 1];
    for (BuildRecord &R : Records)
      R.Variants.emplace_back();
    EXPECT_EQ(mergeRecords(std::move(Records)).Contract, Sorted[I - 1]);
  }
}
