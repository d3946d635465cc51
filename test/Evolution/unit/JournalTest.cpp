//===- JournalTest.cpp - Journals of this and of earlier formats ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Journal.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <sqlite3.h>

using namespace llvm;
using namespace cupilot;

namespace {
class JournalTest : public testing::Test {
protected:
  void sql(const std::string &Text) {
    sqlite3 *Db = nullptr;
    ASSERT_EQ(SQLITE_OK, sqlite3_open(Path.c_str(), &Db));
    char *Message = nullptr;
    EXPECT_EQ(SQLITE_OK,
              sqlite3_exec(Db, Text.c_str(), nullptr, nullptr, &Message))
        << (Message ? Message : "");
    sqlite3_free(Message);
    sqlite3_close(Db);
  }
  /// A journal of format 1, whose columns hold what searches wrote then.
  void makeOld() {
    sql("PRAGMA user_version=1;"
        "CREATE TABLE generation(run TEXT, number INTEGER, module TEXT,"
        "  PRIMARY KEY(run, number));"
        "CREATE TABLE candidate(id INTEGER PRIMARY KEY, run TEXT, genome TEXT,"
        "  outcome TEXT, reason TEXT, device TEXT, ratio REAL, source TEXT,"
        "  plan TEXT, guard TEXT, evidence TEXT, carried TEXT NOT NULL DEFAULT"
        "  '', made TEXT NOT NULL DEFAULT '', UNIQUE(run, genome));");
    add("a{}", "accepted", "",
        R"({"canonical":"b3:11","checks":7,"modelled":[{"original_us":4,)"
        R"("variant_us":2,"workload":"w0"}],"verdict":"passed","work":[null]})",
        R"({"parents":["x{}"],"stages":[{"calls":[{"step":"s/1","prompt":"p",)"
        R"("prompt_tokens":3}],"denied":[{"gene":"g{}","why":"no"}],"notes":)"
        R"("n","stage":"translate"},{"stage":"card1","trouble":"gate: t"}]})");
    add("b{}", "gate", "race (w0 x3): two threads",
        R"({"verdict":"rejected","findings":[{"reason":"race","workload":)"
        R"("w0 x3","evidence":"two threads"}],"cases":[{"case":"w0","shape":)"
        R"("grid 16x2 block 256 shared 64","outcome":"guard"}]})");
    add("c{}", "gate", "card (w0: 1 number(s) wrong)",
        R"({"verdict":"passed","card":{"device":"G","compared":1,)"
        R"("workloads":[{"workload":"w0","call":"slower","ratio":0.5,)"
        R"("low":0.4,"high":0.6,"variant_us":3,"original_us":2,)"
        R"("card_only":true,"float64":{"compared":true,"error":"infinite",)"
        R"("finding":"mismatch: far off"}}]}})");
    add("d{}", "gate", "identity: no build could tell that code from another",
        R"({"verdict":"passed"})");
  }
  void add(StringRef Genome, StringRef Outcome, StringRef Reason,
           StringRef Evidence, StringRef Made = "") {
    sql(formatv("INSERT INTO candidate(run, genome, outcome, reason, device,"
                " ratio, source, plan, guard, evidence, carried, made) VALUES("
                "'r','{0}','{1}','{2}','dev',1.5,'','','','{3}','{0}','{4}')",
                Genome, Outcome, Reason, Evidence, Made)
            .str());
  }
  std::vector<CandidateRecord> candidates() {
    Journal J = cantFail(Journal::open(Path));
    return cantFail(J.candidates("r"));
  }

  TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("journal"));
  std::string Path = Dir.file("journal.sqlite");
};
} // namespace

TEST_F(JournalTest, ReadsFormat1) {
  makeOld();
  std::vector<CandidateRecord> All = candidates();
  ASSERT_EQ(4u, All.size());
  EXPECT_EQ(CandidateOutcome::Accepted, All[0].Outcome);
  ASSERT_TRUE(All[0].Evidence && All[0].Made);
  EXPECT_EQ(7u, All[0].Evidence->Gate.Checks);
  EXPECT_EQ(2, All[0].Evidence->times().front().VariantUs);
  EXPECT_EQ(1u, All[0].Made->repairs());
  EXPECT_EQ(1u, All[0].Made->callsOf("translate"));
  EXPECT_EQ("gate: t", All[0].Made->Stages[1].Trouble);
  EXPECT_EQ(GateReason::Race, All[1].Reason.Found);
  EXPECT_EQ("race (w0 x3): two threads", reasonText(All[1]));
  const GateRecord &Case = All[1].Evidence->Gate.Cases.front();
  EXPECT_TRUE(Case.KeptOut);
  EXPECT_EQ(2u, Case.Shape.Grid[1]);
  EXPECT_EQ(64u, Case.Shape.Shared);
  EXPECT_EQ(FoundBy::Gpu, All[2].Reason.By);
  EXPECT_EQ("GPU (w0: 1 number(s) wrong)", reasonText(All[2]));
  const GpuWorkload &W = All[2].Evidence->Gpu->Workloads.front();
  EXPECT_TRUE(W.GpuOnly);
  EXPECT_EQ(runner::Call::Slower, W.Call);
  EXPECT_EQ(GateReason::Mismatch, W.Float64->Finding->Reason);
  EXPECT_EQ("far off", W.Float64->Finding->Evidence);
  EXPECT_TRUE(std::isinf(W.Float64->MaxError));
  EXPECT_EQ(CandidateOutcome::Unidentified, All[3].Outcome);
}

TEST_F(JournalTest, WhatIsSavedIsRead) {
  makeOld();
  for (CandidateRecord &R : candidates()) {
    Journal J = cantFail(Journal::open(Path));
    R.Open = {{{"TILE", "tiling", "tile", {16, 32}, 32}},
              "int x = TILE;",
              "{\"launches\": []}",
              "{}"};
    cantFail(J.save("r", R));
    std::optional<CandidateRecord> Again = cantFail(J.find("r", R.Genome));
    ASSERT_TRUE(Again);
    EXPECT_EQ(R.Outcome, Again->Outcome);
    EXPECT_EQ(R.Reason, Again->Reason);
    EXPECT_EQ(R.Evidence ? evidenceText(*R.Evidence) : "",
              Again->Evidence ? evidenceText(*Again->Evidence) : "");
    EXPECT_EQ(R.Open, Again->Open);
    EXPECT_EQ(R.Made.has_value(), Again->Made.has_value());
    if (R.Made)
      EXPECT_EQ(R.Made->Stages.size(), Again->Made->Stages.size());
  }
}

TEST_F(JournalTest, CallsOfToolsAddUp) {
  makeOld(); // It gets the table.
  Expected<Journal> J = Journal::open(Path);
  ASSERT_TRUE(bool(J)) << toString(J.takeError());
  ToolCall Call{7, "client", "", "time", "k", "b3:1", "h_1", "pending", ""};
  cantFail(J->saveToolCall(Call));
  Call.Outcome = "done";
  Call.GpuSeconds = 2.5;
  Call.IsWork = true;
  cantFail(J->saveToolCall(Call));
  cantFail(J->saveToolCall({8, "other", "m", "status", "", "b3:2", "", "done",
                            "b3:3", 0.5, 0, false, /*IsFree=*/true}));
  const std::vector<ToolCall> All = cantFail(J->toolCalls());
  ASSERT_EQ(3u, All.size());
  EXPECT_EQ("h_1", All[0].Handle);
  EXPECT_TRUE(All[1].IsWork && All[2].IsFree);
  EXPECT_EQ("m", All[2].Model);
  const ToolTotals Used = cantFail(J->toolTotals());
  EXPECT_EQ(1u, Used.Calls); // Work and what is free are none.
  EXPECT_EQ(2.5, Used.GpuSeconds);
  EXPECT_EQ(1u, cantFail(J->acceptedTexts()).size());
}

TEST_F(JournalTest, LaterFormatsAreLeftAlone) {
  sql("PRAGMA user_version=5");
  Expected<Journal> J = Journal::open(Path);
  ASSERT_FALSE(J);
  handleAllErrors(J.takeError(), [](const ToolError &E) {
    EXPECT_EQ(ExitCode::Usage, E.code());
    EXPECT_NE(std::string::npos, E.text().find("a newer cupilot"));
  });
}

TEST_F(JournalTest, BrokenCandidatesAreNamed) {
  makeOld();
  sql("UPDATE candidate SET evidence='{' WHERE genome='b{}'");
  Journal J = cantFail(Journal::open(Path));
  Expected<std::vector<CandidateRecord>> All = J.candidates("r");
  ASSERT_FALSE(All);
  EXPECT_NE(std::string::npos,
            toString(All.takeError()).find("a damaged candidate: b{}"));
}
