//===- BuildReasonTest.cpp - Every reason is documented -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace cupilot;

namespace {

TEST(BuildReasonTest, PartsStandInTheirHoles) {
  EXPECT_EQ(BuildNote(BuildReason::Limit, {"v_1", "3"}).text(),
            "variant v_1 excluded by limit=3");
  EXPECT_EQ(BuildNote(BuildReason::NotChosen).text(),
            "excluded by only= or skip=");
  // What a part holds is not looked at.
  EXPECT_EQ(BuildNote(BuildReason::SourceUnreadable, {"{1}", "{0}"}).text(),
            "cannot read '{1}': {0}");
}

TEST(BuildReasonTest, EveryHoleIsCounted) {
  for (BuildReason R : allBuildReasons()) {
    std::string Text = BuildNote(R, {"A", "B", "C"}).text();
    EXPECT_EQ(Text.find('{'), std::string::npos) << Text;
  }
}

TEST(BuildReasonTest, ErrorsKeepTheirReason) {
  BuildNote Note = noteOf(buildError(BuildReason::NoKernel, {"k"}));
  EXPECT_EQ(Note.Reason, BuildReason::NoKernel);
  EXPECT_EQ(Note.Parts, std::vector<std::string>{"k"});
  // It is a finding with the same text.
  std::string Seen;
  EXPECT_FALSE(bool(absorbFinding(buildError(BuildReason::NoKernel, {"k"}),
                                  [&](StringRef Text) { Seen = Text; })));
  EXPECT_EQ(Seen, Note.text());
  // The words of others stay theirs, whatever they say.
  Note = noteOf(usageError(BuildNote(BuildReason::NoPtx).text(), "a hint"));
  EXPECT_EQ(Note.Reason, BuildReason::Other);
  EXPECT_EQ(Note.text(), "nvcc produced no PTX (a hint)");
}

TEST(BuildReasonTest, OutcomesSayWhatStays) {
  SubstitutionOutcome O{"", SubstitutionResult::Refused, BuildReason::NoPtx};
  EXPECT_EQ(O.message(), "the originals stay: nvcc produced no PTX");
  EXPECT_TRUE(O.isMissed());
  O = {"k", SubstitutionResult::Refused, BuildReason::Alias};
  EXPECT_EQ(O.message(), "the original stays: it uses an alias");
  EXPECT_FALSE(O.isMissed());
  O = {"k", SubstitutionResult::VariantStale, BuildReason::NoLaunch, "v_1"};
  EXPECT_EQ(O.message(), "variant v_1 left out: its plan has no launch");
  EXPECT_TRUE(O.isMissed());
}

TEST(BuildReasonTest, WordsAreUniqueAndDocumented) {
  Expected<std::string> Doc = readFile(CUPILOT_SOURCE_DIR "/docs/Tools.md");
  ASSERT_TRUE(bool(Doc));
  std::set<StringRef> Words;
  for (BuildReason R : allBuildReasons()) {
    EXPECT_TRUE(Words.insert(wordOf(R)).second) << wordOf(R).str();
    EXPECT_TRUE(StringRef(*Doc).contains(("\n| `" + wordOf(R) + "` | ").str()))
        << wordOf(R).str();
  }
}

} // namespace
