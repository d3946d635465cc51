//===- ToolchainTest.cpp --------------------------------------------------===//
//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"

using namespace cupilot;

using Words = std::vector<std::string>;

TEST(Toolchain, Architectures) {
  EXPECT_EQ(gpuArchitectures({"-O2"}), Words{"sm_90"});
  EXPECT_EQ(gpuArchitectures(
                Words{"--offload-arch=sm_90,sm_90a", "--cuda-gpu-arch=sm_80"}),
            (Words{"sm_90", "sm_90a", "sm_80"}));
  EXPECT_EQ(withoutArchitectures(Words{"-O2", "--offload-arch=sm_90", "-DX=1"}),
            (Words{"-O2", "-DX=1"}));
}

TEST(Toolchain, FlagsOfVariants) {
  EXPECT_EQ(variantFlags(Words{"-O2",
                               "-DX=1",
                               "-D",
                               "Y",
                               "-Iinclude",
                               "-I",
                               "other",
                               "-include",
                               "all.h",
                               "-isystemsys",
                               "-ffp-contract=off",
                               "-o",
                               "x",
                               "-c",
                               "k.cu",
                               "-MD",
                               "-MF",
                               "k.d",
                               "-lm",
                               "-L/lib",
                               "-x",
                               "cuda",
                               "-fplugin=cupilot",
                               "-fplugin-arg-cupilot-strict",
                               "-Wl,-s"}),
            (Words{"-O2", "-ffp-contract=off"}));
  // A value is not an option, whatever it looks like.
  EXPECT_EQ(variantFlags(Words{"-mllvm", "-loop-unroll", "-Xclang",
                               "-fnative-half-type", "-std=c++20"}),
            (Words{"-mllvm", "-loop-unroll", "-Xclang", "-fnative-half-type",
                   "-std=c++20"}));
  // Clang itself says what it does not know.
  EXPECT_EQ(variantFlags(Words{"-no-such-flag"}), Words{"-no-such-flag"});
}
