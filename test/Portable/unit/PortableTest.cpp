//===- PortableTest.cpp - Tests of what needs no LLVM -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Portable/Random.h"
#include "gtest/gtest.h"
#include <set>

using namespace cupilot;

static constexpr FailureKind Kinds[] = {
#define CUPILOT_FAILURE(Name, Word, Status, Scope, Meaning) FailureKind::Name,
#include "cupilot/Portable/Failure.def"
};

TEST(Failure, EveryWordIsReadBackAndAnUnknownOneIsTheWorkers) {
  std::set<std::string_view> Words;
  for (FailureKind K : Kinds) {
    EXPECT_EQ(failureKindOf(wordOf(K)), K);
    EXPECT_TRUE(Words.insert(wordOf(K)).second) << wordOf(K);
    EXPECT_GE(exitStatusOf(K), 1);
    EXPECT_LE(exitStatusOf(K), 3);
  }
  EXPECT_EQ(failureKindOf("no such word"), FailureKind::Worker);
  EXPECT_EQ(failureKindOf(""), FailureKind::Worker);
}

// What docs/Runner.md promises of a runner's exit status, and of what the
// results of a batch say.
TEST(Failure, StatusAndScopeAreThoseOfTheRunner) {
  const std::set<std::string_view> Resources = {
      "no-driver",       "no-device",          "device-lost",  "disk",
      "in-use",          "worker-lost",        "wrong-arch",   "timeout",
      "unreadable-file", "device-unavailable", "out-of-memory"};
  const std::set<std::string_view> Ours = {"data-damaged", "missing-file",
                                           "bad-generator", "unreadable-file",
                                           "no-sanitizer"};
  for (FailureKind K : Kinds) {
    if (K == FailureKind::GroupEnded)
      break; // What follows is no result of a run.
    EXPECT_EQ(exitStatusOf(K), Resources.count(wordOf(K)) ? 3 : 2) << wordOf(K);
    EXPECT_EQ(scopeOf(K), Ours.count(wordOf(K)) ? FailureScope::Request
                                                : FailureScope::Program)
        << wordOf(K);
  }
  for (FailureKind K : Kinds)
    EXPECT_EQ(scopeOf(K) == FailureScope::Runner,
              K == FailureKind::DeviceLost || K == FailureKind::Disk);
  for (std::string_view Word : Resources)
    EXPECT_EQ(exitStatusOf(failureKindOf(Word)), 3) << Word;
}

// The test vectors of BLAKE3's authors.
TEST(Digest, IsBlake3) {
  EXPECT_EQ(
      digest(""),
      "b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  EXPECT_EQ(
      digest("abc"),
      "b3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  EXPECT_TRUE(isDigest(digest("abc")));
  EXPECT_EQ(shortDigest(digest("abc"), 4), "6437");
  EXPECT_EQ(shortDigest(digest("abc"), 64), digest("abc").substr(3));
  std::string Other = digest("abc");
  Other[10] = 'A';
  EXPECT_FALSE(isDigest(Other));
  EXPECT_FALSE(isDigest(digest("abc") + "0"));
  EXPECT_FALSE(isDigest(""));
}

TEST(Digest, PiecesAreFramed) {
  EXPECT_NE(DigestBuilder().add("ab").add("c").str(),
            DigestBuilder().add("a").add("bc").str());
  // A length is eight bytes, the lowest first.
  EXPECT_EQ(DigestBuilder().add("abc").str(),
            digest(std::string("\3\0\0\0\0\0\0\0abc", 11)));
  EXPECT_EQ(DigestBuilder().add(uint64_t(0x102)).str(),
            digest(std::string("\2\1\0\0\0\0\0\0", 8)));
}

TEST(Digest, HexadecimalDigits) {
  EXPECT_EQ(hexOf(std::string("\0\x7f\xff", 3)), "007fff");
  std::string Bytes = "x";
  EXPECT_TRUE(appendBytesOf("007fff", Bytes));
  EXPECT_EQ(Bytes, std::string("x\0\x7f\xff", 4));
  EXPECT_FALSE(appendBytesOf("0", Bytes));
  EXPECT_FALSE(appendBytesOf("0g", Bytes));
  EXPECT_FALSE(appendBytesOf("0A", Bytes));
}

// The first numbers that the authors' own code gives from the state 0.
TEST(Random, IsSplitMix64) {
  uint64_t State = 0;
  EXPECT_EQ(splitMix64(State), 0xe220a8397b1dcdafu);
  EXPECT_EQ(splitMix64(State), 0x6e789e6aa1b965f4u);
}

TEST(LaunchLimits, BothEndsAreAllowed) {
  EXPECT_TRUE(isGridSize(0, 2147483647));
  EXPECT_FALSE(isGridSize(0, 2147483648));
  EXPECT_TRUE(isGridSize(1, 65535));
  EXPECT_FALSE(isGridSize(2, 65536));
  EXPECT_FALSE(isGridSize(0, 0));
  EXPECT_FALSE(isGridSize(0, uint64_t(-1)));
  EXPECT_TRUE(isBlockSize(1, 1024));
  EXPECT_FALSE(isBlockSize(2, 65));
}
