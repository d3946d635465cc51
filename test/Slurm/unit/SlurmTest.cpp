//===- SlurmTest.cpp - Options of a cluster, states of tasks --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Slurm/SlurmOptions.h"
#include "cupilot/Slurm/SlurmQueue.h"
#include "cupilot/Support/File.h"
#include "gtest/gtest.h"

using namespace cupilot;

/// "" for success.
static std::string textOf(llvm::Error E) { return toString(std::move(E)); }

TEST(SlurmOptions, WordsWithoutKeyBelongToTheValueBefore) {
  SlurmOptions O;
  ASSERT_EQ(textOf(O.add("partition=gpu,gres=gpu:h200:1,disk:2,time=10")), "");
  EXPECT_EQ(O.Gres, "gpu:h200:1,disk:2");
  EXPECT_EQ(O.sbatchFlags(),
            (std::vector<std::string>{"--partition=gpu", "--time=10",
                                      "--gres=gpu:h200:1,disk:2"}));
  SlurmOptions Same;
  ASSERT_EQ(textOf(Same.add(O.str())), "");
  EXPECT_EQ(Same.str(), O.str());
}

TEST(SlurmOptions, NamesWhatIsWrong) {
  SlurmOptions O;
  EXPECT_EQ(textOf(O.add("attempts=0")),
            "slurm: attempts= takes a number from 1");
  EXPECT_EQ(textOf(O.add("account=")), "slurm: account= needs a value");
  EXPECT_EQ(
      textOf(O.add("partiton=gpu")).find("slurm: 'partiton' is not a key"), 0u);
}

TEST(SlurmOptions, ReadsAFileAndTheCommandLineOverIt) {
  auto Dir = llvm::cantFail(TemporaryDirectory::create("slurm-test"));
  std::string Path = Dir.file("cupilot.slurm");
  ASSERT_EQ(textOf(writeFileAtomic(Path, "# ours\n\npartition = gpu # fast\n"
                                         "gres=none\n")),
            "");
  SlurmOptions O;
  ASSERT_EQ(textOf(O.addFile(Path)), "");
  ASSERT_EQ(textOf(O.add("partition=other")), "");
  EXPECT_EQ(O.sbatchFlags(), std::vector<std::string>{"--partition=other"});
  ASSERT_EQ(textOf(writeFileAtomic(Path, "\nwhat\n")), "");
  EXPECT_NE(textOf(O.addFile(Path)).find(":2: slurm: 'what' is not a key"),
            std::string::npos);
}

TEST(SlurmOptions, AFileHasASectionForTheGate) {
  auto Dir = llvm::cantFail(TemporaryDirectory::create("slurm-test"));
  std::string Path = Dir.file("cupilot.slurm");
  ASSERT_EQ(textOf(writeFileAtomic(Path, "partition = gpu\n"
                                         "judge.partition = cpu\n"
                                         "judge.mem = 8G\n")),
            "");
  SlurmOptions Device, Judge;
  ASSERT_EQ(textOf(Device.addFile(Path)), "");
  EXPECT_EQ(Device.Partition, "gpu");
  EXPECT_EQ(Device.Memory, "");
  ASSERT_EQ(textOf(Judge.addFile(Path, "judge")), "");
  Judge.Gres = "none";
  EXPECT_EQ(Judge.sbatchFlags(),
            (std::vector<std::string>{"--partition=cpu", "--mem=8G"}));
}

TEST(SlurmOptions, FindsProgramsOnNodes) {
  SlurmOptions O;
  ASSERT_EQ(textOf(O.add("folder=/shared/x,prefix=/opt/cupilot")), "");
  EXPECT_EQ(O.onNode("cupilot-runner"),
            std::vector<std::string>{"/opt/cupilot/bin/cupilot-runner"});
  O.Prefix.clear();
  O.Container = "c.sif";
  EXPECT_EQ(O.onNode("cupilot-runner"),
            (std::vector<std::string>{"apptainer", "exec", "--nv", "--bind",
                                      "/shared/x", "c.sif", "cupilot-runner"}));
}

TEST(SlurmQueue, NodesThatTakeJobs) {
  for (const char *State : {"idle", "mix", "alloc", "comp", "idle~", "mix#",
                            "alloc-", "mix-", "idle%", "plnd"})
    EXPECT_TRUE(takesJobs(State)) << State;
  for (const char *State : {"idle*", "mix*", "down", "drain", "drng", "down*",
                            "maint", "idle$", "resv", "futr", "inval", ""})
    EXPECT_FALSE(takesJobs(State)) << State;
}

TEST(SlurmTask, StatesByCode) {
  EXPECT_EQ(taskStateOf("TO"), TaskState::TimedOut);
  EXPECT_TRUE(isEnded(TaskState::TimedOut));
  EXPECT_FALSE(isEnded(TaskState::Completing));
  EXPECT_EQ(meaningOf(TaskState::NodeFailed), "lost its node");
  EXPECT_FALSE(taskStateOf("XX"));
}
