//===- LaunchMemoryTest.cpp - Buffers of launches -------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutation/LaunchMemory.h"
#include "cupilot/Support/Pages.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace cupilot;

namespace {
/// Three pages, each byte another than its neighbours.
BufferContent repeated(uint64_t Size) {
  BufferContent C;
  C.Drawn.resize(3 * pageSize());
  std::iota(C.Drawn.begin(), C.Drawn.end(), uint8_t(1));
  C.Size = Size;
  return C;
}
} // namespace

TEST(LaunchMemory, RepeatsItsContent) {
  // More than fits into this machine, or into as many pieces.
  constexpr uint64_t Size = (uint64_t(1) << 37) + 10;
  BufferContent C = repeated(Size);
  LaunchMemory M = LaunchMemory::create(C);
  ASSERT_TRUE(M.base());
  EXPECT_EQ(M.size(), Size);
  for (uint64_t At : {uint64_t(0), C.Drawn.size() + 7, Size / 2 + 1, Size - 1})
    EXPECT_EQ(M.base()[At], C.Drawn[At % C.Drawn.size()]) << At;
}

TEST(LaunchMemory, KnowsWhatWasWritten) {
  const uint64_t Page = pageSize(), Size = 1000 * Page + 10;
  LaunchMemory A = LaunchMemory::create(repeated(Size)),
               B = LaunchMemory::create(repeated(Size));
  EXPECT_TRUE(writtenByAny({&A, &B}).empty());
  A.base()[700 * Page + 5] ^= 1;
  B.base()[701 * Page] ^= 1;
  B.base()[Size - 1] ^= 1;
  std::vector<ByteRange> Where = writtenByAny({&A, &B});
  ASSERT_EQ(Where.size(), 2u);
  EXPECT_EQ(Where[0].From, 700 * Page);
  EXPECT_EQ(Where[0].To, 702 * Page);
  EXPECT_EQ(Where[1].From, 1000 * Page);
  EXPECT_EQ(Where[1].To, Size);
  EXPECT_FALSE(equalIn(A, B, Where));
  EXPECT_EQ(gather(A, Where).size(), 2 * Page + 10);
  EXPECT_EQ(gather(A, Where)[5], A.base()[700 * Page + 5]);
  EXPECT_EQ(placeOf(Where, 2 * Page + 9), Size - 1);
  A.base()[701 * Page] ^= 1;
  A.base()[Size - 1] ^= 1;
  B.base()[700 * Page + 5] ^= 1;
  EXPECT_TRUE(equalIn(A, B, writtenByAny({&A, &B})));
}

TEST(LaunchMemory, SmallOnesAreCompared) {
  BufferContent C{{1, 2, 3, 4}, 4};
  LaunchMemory A = LaunchMemory::create(C), B = LaunchMemory::create(C);
  EXPECT_TRUE(equalIn(A, B, writtenByAny({&A, &B})));
  B.base()[3] = 5;
  EXPECT_FALSE(equalIn(A, B, writtenByAny({&A, &B})));
  LaunchMemory Moved = std::move(B);
  EXPECT_EQ(Moved.base()[3], 5);
  C.cut(2);
  EXPECT_EQ(LaunchMemory::create(C).size(), 2u);
  EXPECT_EQ(C.Drawn.size(), 2u);
}
