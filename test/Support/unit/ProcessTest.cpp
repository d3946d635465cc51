//===- ProcessTest.cpp - Running programs ---------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Process.h"
#include "gtest/gtest.h"
#include <sys/wait.h>
#include <unistd.h>

using namespace cupilot;
using namespace llvm;

TEST(Process, MemoryHasALimitThatItsChildrenInherit) {
  const std::string Takes = "len(bytearray(600 << 20))";
  const std::vector<std::string> Own = {"python3", "-c", Takes};
  const std::vector<std::string> Child = {
      "python3", "-c",
      "import subprocess, sys; "
      "sys.exit(subprocess.call([sys.executable, '-c', '" +
          Takes + "']))"};
  for (const auto &Args : {Own, Child}) {
    ProcessResult R = cantFail(runProcess(Args, 60, {}, 2048));
    EXPECT_EQ(R.Status, 0) << R.Err;
    R = cantFail(runProcess(Args, 60, {}, 400));
    EXPECT_EQ(R.Status, 1);
    EXPECT_NE(R.Err.find("MemoryError"), std::string::npos) << R.Err;
  }
}

// Programs that are run have limits of their own in between.
TEST(Process, DeadlineEndsTheProcess) {
  const pid_t Child = ::fork();
  if (Child == 0) {
    const ProcessDeadline Deadline(1);
    consumeError(runProcess({"true"}, 60).takeError());
    ::sleep(60);
    ::_exit(0);
  }
  int Status = 0;
  ASSERT_EQ(::waitpid(Child, &Status, 0), Child);
  ASSERT_TRUE(WIFSIGNALED(Status));
  EXPECT_EQ(WTERMSIG(Status), ProcessDeadline::Signal);
}
