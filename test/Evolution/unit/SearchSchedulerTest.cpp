//===- SearchSchedulerTest.cpp - Turns of searches that run at once -------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/SearchScheduler.h"
#include "gtest/gtest.h"
#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace cupilot;

TEST(FairTurns, ByWhatEachMayGain) {
  // Three quarters of the time may be gained by the first one.
  FairTurns Fair(1, {0.75, 0.25});
  uint64_t Id = 0;
  for (size_t Of : {0, 1})
    for (int I = 0; I < 8; ++I)
      Fair.ask(++Id, Of, 0);
  unsigned OfFirst = 0;
  for (double Now = 0; Now < 80; Now += 10) {
    std::optional<uint64_t> Next = Fair.next(Now);
    ASSERT_TRUE(Next);
    EXPECT_FALSE(Fair.next(Now)) << "two at a time";
    OfFirst += *Next <= 8;
    Fair.end(*Next, Now + 10);
  }
  EXPECT_EQ(OfFirst, 6u);
}

TEST(FairTurns, WhoComesLaterGetsNothingForThePast) {
  FairTurns Fair(1, {1, 1});
  for (uint64_t Id = 1; Id <= 10; ++Id)
    Fair.ask(Id, 0, 0);
  double Now = 0;
  for (int I = 0; I < 5; ++I, Now += 10)
    Fair.end(*Fair.next(Now), Now + 10);
  for (uint64_t Id = 11; Id <= 20; ++Id)
    Fair.ask(Id, 1, Now);
  unsigned OfSecond = 0;
  for (int I = 0; I < 4; ++I, Now += 10) {
    const uint64_t Next = *Fair.next(Now);
    OfSecond += Next > 10;
    Fair.end(Next, Now + 10);
  }
  EXPECT_LE(OfSecond, 3u);
  EXPECT_GE(OfSecond, 2u);
}

TEST(FairTurns, WhereNothingIsKnownAllGetSome) {
  FairTurns Fair(std::nullopt, {0, 0});
  Fair.ask(1, 0, 0);
  Fair.ask(2, 1, 0);
  EXPECT_EQ(Fair.next(0), 1u);
  EXPECT_EQ(Fair.next(0), 2u);
  EXPECT_FALSE(Fair.next(0));
}

TEST(SearchTurns, AloneItIsAlwaysTheTurn) {
  SearchTurns Alone;
  Turn First = Alone.wait(SharedResource::Job);
  Turn Second = Alone.wait(SharedResource::Job);
}

TEST(SearchScheduler, OneAtATimeAlsoAfterADeath) {
  SearchScheduler::Limits Most;
  Most[size_t(SharedResource::Job)] = 1;
  auto Scheduler = llvm::cantFail(SearchScheduler::start(Most, {1, 1}));
  int Ends[2];
  ASSERT_EQ(::pipe(Ends), 0);
  pid_t Holder = ::fork();
  if (Holder == 0) {
    Turn Mine = Scheduler->turnsOf(0).wait(SharedResource::Job);
    (void)!::write(Ends[1], "x", 1);
    ::pause();
  }
  char Begins;
  ASSERT_EQ(::read(Ends[0], &Begins, 1), 1);
  // Other resources are not limited by it.
  {
    Turn Other = Scheduler->turnsOf(1).wait(SharedResource::Call);
  }
  std::atomic<bool> Mine = false;
  std::thread Waits([&] {
    Turn Next = Scheduler->turnsOf(1).wait(SharedResource::Job);
    Mine = true;
  });
  ::usleep(50000);
  EXPECT_FALSE(Mine);
  ::kill(Holder, SIGKILL);
  ::waitpid(Holder, nullptr, 0);
  Waits.join();
  EXPECT_TRUE(Mine);
  ::close(Ends[0]);
  ::close(Ends[1]);
}
