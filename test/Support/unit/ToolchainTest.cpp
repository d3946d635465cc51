//===- ToolchainTest.cpp --------------------------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"

using namespace cupilot;

static std::string chosen(std::vector<std::string> Flags) {
  return architectureFor("sm_90", Flags);
}

TEST(Toolchain, ArchitectureForAGpu) {
  EXPECT_EQ(chosen({"-O2"}), "sm_90");
  EXPECT_EQ(chosen({"--cuda-gpu-arch=sm_90a"}), "sm_90a");
  EXPECT_EQ(chosen({"--offload-arch=sm_90,sm_90a"}), "sm_90a");
  EXPECT_EQ(chosen({"--offload-arch=sm_90a", "--offload-arch=sm_90"}),
            "sm_90a");
  // Code for other GPUs says nothing of this one.
  EXPECT_EQ(chosen({"--offload-arch=sm_80,sm_100a"}), "sm_90");
}

TEST(Toolchain, ComputeCapability) {
  EXPECT_EQ(computeCapability("sm_90"), "sm_90");
  EXPECT_EQ(computeCapability("sm_90a"), "sm_90");
  EXPECT_EQ(computeCapability("sm_120f"), "sm_120");
}
