//===- BudgetTest.cpp - What a run may take and touch ---------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation/Compare.h"
#include "Evaluation/Placement.h"
#include "cupilot/Support/Error.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

namespace {
/// A case with one buffer that was run.
class Budget : public testing::Test {
protected:
  Budget() {
    J.Case.Name = "w0";
    J.Case.Buffers = {Bytes(4096)};
    J.Case.Layouts.resize(1);
    J.Original.Buffers = J.Case.Buffers;
    J.Reference = J.Case.Buffers;
    Got.Buffers = J.Case.Buffers;
  }
  /// "" when nothing is wrong.
  std::string reason() {
    ErrorRange Errors;
    std::optional<GateFinding> Wrong = compareRuns(J, Got, {}, Errors);
    if (Wrong) {
      EXPECT_EQ(Wrong->Workload, "w0");
      EXPECT_FALSE(Wrong->Evidence.empty());
    }
    return Wrong ? wordOf(Wrong->Reason).str() : "";
  }
  JudgedCase J;
  RunResult Got;
};
} // namespace

TEST_F(Budget, WhatChecksOfAccessesDoNotSeeIsFoundInTheGuardBands) {
  EXPECT_EQ(reason(), "");
  Got.BandsTouched = true;
  EXPECT_EQ(reason(), "guard-band");
}

TEST(Finding, FaultsOfTheMachineAreNone) {
  auto ReasonOf = [](Error E) {
    return wordOf(
               cantFail(findingOf(std::move(E), "w0", GateReason::Plan)).Reason)
        .str();
  };
  EXPECT_EQ(ReasonOf(usageError("too much shared memory")), "plan");
  EXPECT_EQ(ReasonOf(findingError("no such instruction")), "cannot-run");
  EXPECT_EQ(toString(findingOf(resourceError("no memory"), "w0").takeError()),
            "no memory");
  EXPECT_EQ(
      toString(findingOf(createStringError("cannot map"), "").takeError()),
      "cannot map");
}

TEST_F(Budget, HeapBeyondTheOriginals) {
  Got.Heap.AtOnce = 64 * 1024;
  EXPECT_EQ(reason(), "");
  ++Got.Heap.AtOnce;
  EXPECT_EQ(reason(), "memory-budget");
  J.Original.Heap.AtOnce = 1; // It may have what the original has.
  EXPECT_EQ(reason(), "");
  J.Original.Heap.AtOnce = 0;
  J.Case.Buffers = {Bytes(8 << 20)}; // Large buffers allow for more.
  Got.Buffers = J.Original.Buffers = J.Reference = J.Case.Buffers;
  Got.Heap.AtOnce = 1 << 20;
  EXPECT_EQ(reason(), "");
  ++Got.Heap.AtOnce;
  EXPECT_EQ(reason(), "memory-budget");
}

TEST_F(Budget, AHeapThatIsFullComesBeforeWhatFollows) {
  Got.Heap.Refused = 1;
  Got.Heap.RefusedBytes = 100;
  Got.Fault.emplace();
  Got.Fault->Kind = FaultKind::OutOfBoundsWrite;
  EXPECT_EQ(reason(), "memory-budget");
  J.Original.Heap.Refused = 1; // It is the original's way, too.
  EXPECT_EQ(reason(), "bounds");
}

TEST_F(Budget, MemoryThatIsNotFreed) {
  Got.HeapLeft = 16;
  EXPECT_EQ(reason(), "leak");
  J.Original.HeapLeft = 16;
  EXPECT_EQ(reason(), "");
}

TEST(Placement, TheNameDecidesWhereBuffersLie) {
  uint64_t Sizes[] = {100, 0, 5000, 1 << 20};
  auto PlacesOf = [&](StringRef Name, unsigned Salt) {
    std::unique_ptr<Placement> P = Placement::create(Sizes, 4096, Name, Salt);
    std::vector<uintptr_t> Places;
    for (size_t I = 0; I < 4; ++I) {
      uint8_t *Begin = P->begin(I);
      Places.push_back(reinterpret_cast<uintptr_t>(Begin));
      EXPECT_EQ(Places.back() % 256, 0u);
      // All of it is memory, bands too, and nobody else's.
      Begin[-4096] = Begin[Sizes[I] + 4095 + 255] = uint8_t(I + 1);
    }
    for (size_t I = 0; I < 4; ++I) {
      EXPECT_EQ(P->begin(I)[-4096], I + 1);
      EXPECT_EQ(P->begin(I)[Sizes[I] + 4095 + 255], I + 1);
    }
    return Places;
  };
  std::vector<uintptr_t> First = PlacesOf("w0", 0);
  EXPECT_EQ(PlacesOf("w0", 0), First);
  EXPECT_NE(PlacesOf("w0", 1), First);
  // Each bit of an address, and each order, comes up within a few cases.
  uintptr_t Ones = 0, Zeros = 0;
  bool Before = false, After = false;
  for (unsigned I = 0; I < 32; ++I) {
    std::vector<uintptr_t> P = PlacesOf("w0 n=" + std::to_string(I), 0);
    Ones |= P[0];
    Zeros |= ~P[0];
    (P[0] < P[2] ? Before : After) = true;
  }
  uintptr_t Wanted = (uintptr_t(1) << 44) - 256;
  EXPECT_EQ(Ones & Wanted, Wanted);
  EXPECT_EQ(Zeros & Wanted, Wanted);
  EXPECT_TRUE(Before && After);
}
