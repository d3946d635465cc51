//===- WorkersTest.cpp - Tasks that crash cost one task -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Workers.h"
#include "gtest/gtest.h"
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace cupilot;
using namespace llvm;

/// Answers with the task; task 3 dies, task 5 hangs.
static std::string job(unsigned Task) {
  if (Task == 3)
    std::raise(SIGKILL);
  if (Task == 5)
    for (;;)
      pause();
  return std::string(Task * 50000, 'x');
}

TEST(Workers, CrashAndHangCostOneTaskEach) {
  std::vector<unsigned> Tasks = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<TaskResult> Got;
  ASSERT_FALSE(errorToBool(
      runTasks(Tasks, {2, 2, 3}, job, [&](size_t Index, TaskResult R) {
        EXPECT_EQ(Index, Got.size());
        Got.push_back(std::move(R));
        return true;
      })));
  ASSERT_EQ(Got.size(), 8u);
  for (unsigned I = 0; I < 8; ++I) {
    bool Fine = I != 3 && I != 5;
    EXPECT_EQ(Got[I].K, I == 3   ? TaskResult::Kind::Crashed
                        : I == 5 ? TaskResult::Kind::TimedOut
                                 : TaskResult::Kind::Done);
    if (Fine)
      EXPECT_EQ(Got[I].Answer.size(), I * 50000);
  }
  EXPECT_NE(StringRef(Got[3].Answer).find("illed"), StringRef::npos);
  // Nobody is left behind.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Workers, EnoughIsEnough) {
  std::vector<unsigned> Tasks(100, 1);
  unsigned Heard = 0;
  ASSERT_FALSE(errorToBool(runTasks(
      Tasks, {2, 60, 64}, [](unsigned) { return std::string("a"); },
      [&](size_t, TaskResult) { return ++Heard < 5; })));
  EXPECT_EQ(Heard, 5u);
}
