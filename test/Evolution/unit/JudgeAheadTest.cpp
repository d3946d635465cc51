//===- JudgeAheadTest.cpp - Candidates judged beside each other -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evolution/JudgeAhead.h"
#include "NoEvaluator.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Support/Error.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace cupilot;

namespace {
/// Its verdicts are known beforehand; the ratio is the process.
class KnownVerdicts : public NoEvaluator {
public:
  Error judge(Candidate &C) override {
    CandidateRecord &R = C.Record;
    if (R.Genome == "crashes")
      std::abort();
    if (R.Genome == "fails")
      return resourceError("no such tool");
    if (R.Genome == "takes long")
      for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));
    R.Evidence.emplace().Canonical = "b3:1";
    R.Evidence->Modelled = {{"w0", 1.0 / 3, 0.1}};
    R.Ratio = getpid();
    if (R.Genome == "rejected")
      R.reject(FoundBy::Gate, {GateReason::Race, "w0 n=3", "two threads"});
    else
      R.end(CandidateOutcome::Slower, "not faster");
    return Error::success();
  }
};
} // namespace

TEST(JudgeAhead, VerdictsOfOtherProcessesAreTheSame) {
  KnownVerdicts E;
  std::vector<Candidate> All(5);
  for (auto [C, Genome] : zip_equal(
           All, ArrayRef({"slower", "crashes", "rejected", "fails", "also"}))) {
    C.Record.Genome = Genome;
    C.Record.DeviceDigest = "b3:2";
  }
  std::vector<const Candidate *> Asked;
  for (const Candidate &C : All)
    Asked.push_back(&C);
  auto Records = judgeAhead(E, Asked, 2, SearchTurns());
  ASSERT_EQ(Records.size(), 5u);
  EXPECT_FALSE(Records[1] || Records[3]); // judge() says why.
  for (size_t I : {0, 2, 4}) {
    ASSERT_TRUE(Records[I]);
    const CandidateRecord &R = *Records[I];
    EXPECT_EQ(All[I].Record.Outcome, CandidateOutcome::Unjudged);
    EXPECT_NE(R.Ratio, getpid());
    Candidate Here = All[I];
    cantFail(E.judge(Here));
    EXPECT_EQ(R.Genome, Here.Record.Genome);
    EXPECT_EQ(R.DeviceDigest, "b3:2");
    EXPECT_EQ(R.Outcome, Here.Record.Outcome);
    EXPECT_EQ(R.Reason, Here.Record.Reason);
    ASSERT_TRUE(R.Evidence);
    EXPECT_EQ(evidenceText(*R.Evidence), evidenceText(*Here.Record.Evidence));
  }
}

TEST(JudgeAhead, NothingIsWaitedForWhenTheTimeIsOver) {
  KnownVerdicts E;
  std::vector<Candidate> All(3);
  for (auto [C, Genome] :
       zip_equal(All, ArrayRef({"slower", "takes long", "also"})))
    C.Record.Genome = Genome;
  auto Ask = [&](int Seconds) {
    return judgeAhead(E, {&All[0], &All[1], &All[2]}, 2, SearchTurns(),
                      std::chrono::steady_clock::now() +
                          std::chrono::seconds(Seconds));
  };
  auto Records = Ask(2);
  EXPECT_TRUE(Records[0] && Records[2]);
  EXPECT_FALSE(Records[1]);
  for (const auto &Record : Ask(0))
    EXPECT_FALSE(Record);
}
