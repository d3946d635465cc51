//===- BuildReasonTest.cpp - Every reason is told and documented -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/BuildReason.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace cupilot;

namespace {

TEST(BuildReasonTest, TextsTellReasonsApart) {
  for (BuildReason R : allBuildReasons())
    for (StringRef Before : {"", "the original stays: ", "the originals stay: ",
                             "variant v_1 left out: "}) {
      std::string Text = Before.str() + textOf(R, {"first", "second"});
      std::optional<BuildReason> Got = buildReasonOf(Text);
      ASSERT_TRUE(Got.has_value()) << Text;
      EXPECT_EQ(wordOf(*Got), wordOf(R)) << Text;
    }
}

TEST(BuildReasonTest, OtherTextsHaveNone) {
  EXPECT_FALSE(buildReasonOf("").has_value());
  EXPECT_FALSE(buildReasonOf("something else").has_value());
  EXPECT_FALSE(buildReasonOf("the original stays: something").has_value());
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
