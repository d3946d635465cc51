//===- FaultKindTest.cpp - The table of device faults -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/CpuDevice.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace cupilot;

namespace {

StringRef errorOf(FaultKind K) {
  static constexpr StringRef Errors[] = {
#define CUPILOT_FAULT_KIND(Name, Words, Error, Reason) #Error,
#include "cupilot/Model/FaultKind.def"
  };
  return Errors[static_cast<size_t>(K)];
}

TEST(FaultKind, WordsStandOnce) {
  StringSet<> Seen;
  for (FaultKind K : allFaultKinds()) {
    EXPECT_FALSE(wordsOf(K).empty());
    EXPECT_TRUE(Seen.insert(wordsOf(K)).second) << wordsOf(K).str();
  }
}

// What people read in journals, and what programs get, stays.
TEST(FaultKind, ReasonsAndErrorsStay) {
  struct {
    StringRef Reason, Error, Words;
  } Expected[] = {
      {"bounds", "IllegalAddress", "out-of-bounds read"},
      {"bounds", "IllegalAddress", "out-of-bounds write"},
      {"bounds", "IllegalAddress", "out-of-bounds atomic"},
      {"bounds", "MisalignedAddress", "misaligned read"},
      {"bounds", "MisalignedAddress", "misaligned write"},
      {"bounds", "MisalignedAddress", "misaligned atomic"},
      {"bounds", "IllegalAddress", "read-only write"},
      {"bounds", "IllegalAddress", "read-only atomic"},
      {"use-after-free", "IllegalAddress", "use after free"},
      {"unwritten-read", "IllegalAddress", "read of unwritten memory"},
      {"use-after-free", "IllegalAddress", "double free"},
      {"fault", "IllegalAddress", "wrong free"},
      {"race", "IllegalAddress", "data race"},
      {"race", "IllegalAddress", "data race between proxies"},
      {"race", "LaunchFailure", "use before wgmma.wait_group"},
      {"race", "LaunchFailure", "missing wgmma.fence"},
      {"barrier", "LaunchFailure", "divergent barrier"},
      {"barrier", "LaunchFailure", "barrier in divergent code"},
      {"barrier", "LaunchFailure", "barrier that never completes"},
      {"barrier", "LaunchFailure", "wrong cluster barrier"},
      {"barrier", "IllegalAddress", "wrong mbarrier operation"},
      {"barrier", "LaunchFailure", "warp operation with a wrong mask"},
      {"barrier", "LaunchTimeout", "deadlock"},
      {"runaway", "LaunchTimeout", "runaway thread"},
      {"runaway", "LaunchTimeout", "runaway launch"},
      {"fault", "IllegalAddress", "wrong asynchronous copy"},
      {"fault", "LaunchFailure", "wrong matrix descriptor"},
      {"fault", "Assert", "assertion"},
      {"fault", "LaunchFailure", "trap"},
      {"fault", "LaunchFailure", "stack overflow"},
      {"fault", "IllegalAddress", "call through a wrong pointer"},
      {"fault", "LaunchFailure", "undefined behaviour"},
      {"fault", "LaunchFailure", "unsupported"},
  };
  ASSERT_EQ(std::size(Expected), allFaultKinds().size());
  for (auto [Row, K] : zip(Expected, allFaultKinds())) {
    EXPECT_EQ(wordsOf(K), Row.Words);
    EXPECT_EQ(wordOf(reasonOf(K)), Row.Reason) << Row.Words.str();
    EXPECT_EQ(errorOf(K), ("cudaError" + Row.Error).str()) << Row.Words.str();
  }
}

TEST(FaultKind, TextIsMadeOfTheParts) {
  DeviceFault F;
  F.Kind = FaultKind::Assertion;
  F.Kernel = "k";
  F.Assertion = {"x > 0", "a.cu", "void k()", 7};
  EXPECT_EQ(F.str(), "assertion in k, block (0,0,0), thread (0,0,0): "
                     "a.cu:7: void k(): Assertion `x > 0' failed");
  F = DeviceFault();
  F.Kind = FaultKind::DataRace;
  F.Kernel = "k";
  F.Address = 0x10;
  F.Detail = "write of 4 bytes at byte 0 of a 4-byte buffer";
  F.SameValue = true;
  F.Other.emplace();
  F.Other->KnowsThread = false;
  F.Other->Access = AccessKind::AtomicWrite;
  EXPECT_EQ(F.str(),
            "data race in k, block (0,0,0), thread (0,0,0), address 0x10: "
            "write of 4 bytes at byte 0 of a 4-byte buffer, where both write "
            "the same value; not ordered with the atomic or volatile write by "
            "another thread");
}

} // namespace
