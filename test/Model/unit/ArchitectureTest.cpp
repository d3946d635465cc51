//===- ArchitectureTest.cpp - GPU architectures -*- C++ -*-===//
//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Architecture.h"
#include "gtest/gtest.h"

using namespace cupilot;

TEST(Architecture, Names) {
  for (const char *Name : {"sm_75", "sm_90", "sm_90a", "sm_120f"}) {
    std::optional<Architecture> A = Architecture::parse(Name);
    ASSERT_TRUE(A) << Name;
    EXPECT_EQ(A->str(), Name);
    EXPECT_EQ(Architecture::parseNvcc(A->virtualName()), A);
    EXPECT_EQ(Architecture::parseNvcc(A->str()), A);
  }
  EXPECT_EQ(Architecture::parse("sm_90a")->virtualName(), "compute_90a");
  EXPECT_EQ(Architecture::parseNvcc("90a")->str(), "sm_90a");
  for (const char *Other :
       {"", "sm_", "sm_9", "sm_090", "sm_90b", "sm_90aa", "sm_9a0", "sm_1200",
        "sm_-9", "SM_90", " sm_90", "compute_90", "native", "all"})
    EXPECT_FALSE(Architecture::parse(Other)) << Other;
}

TEST(Architecture, ForAGpu) {
  EXPECT_EQ(architectureFor("sm_90", {}), "sm_90");
  EXPECT_EQ(architectureFor("sm_90", {"sm_90a"}), "sm_90a");
  EXPECT_EQ(architectureFor("sm_90", {"sm_90", "sm_90a"}), "sm_90a");
  EXPECT_EQ(architectureFor("sm_90", {"sm_90a", "sm_90"}), "sm_90a");
  // Code for other GPUs says nothing of this one.
  EXPECT_EQ(architectureFor("sm_90", {"sm_80", "sm_100a"}), "sm_90");
}

TEST(Architecture, ComputeCapability) {
  EXPECT_EQ(computeCapability("sm_90"), "sm_90");
  EXPECT_EQ(computeCapability("sm_90a"), "sm_90");
  EXPECT_EQ(computeCapability("sm_120f"), "sm_120");
  EXPECT_EQ(computeCapability("cpu"), "cpu");
  EXPECT_EQ(capabilityNumber("sm_90a"), 90u);
  EXPECT_EQ(capabilityNumber("x86-64"), 0u);
}

TEST(Architecture, ResidentThreads) {
  EXPECT_EQ(residentThreads("sm_75"), 1024u);
  EXPECT_EQ(residentThreads("sm_89"), 1536u);
  EXPECT_EQ(residentThreads("sm_90a"), 2048u);
  EXPECT_EQ(residentThreads("sm_120f"), 1536u);
}
