//===- DeviceCodeTest.cpp - What PTX says of itself -----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/DeviceCode.h"
#include "gtest/gtest.h"

using namespace cupilot;

namespace {

TEST(DeviceCode, DigestOfWhatPtxasReads) {
  const std::string Code =
      ".version 8.0\n.target sm_90\n.visible .entry k() {\n"
      "\t.local .align 8 .b8 \tdepot[16];\n"
      "\t.loc\t1 2 3\n\tret;\n}\n.file 1 \"a.cu\"\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,0\n}\n"
      ".global .f32 behind;\n";
  auto With = [&](const char *From, const char *To) {
    std::string Text = Code;
    Text.replace(Text.find(From), std::string(From).size(), To);
    return deviceCodeDigest(Text);
  };
  const std::string Digest = deviceCodeDigest(Code);
  // For debuggers, and for people.
  EXPECT_EQ(Digest, With("1 2 3", "4 5 6"));
  EXPECT_EQ(Digest, With("a.cu", "b.cu"));
  EXPECT_EQ(Digest, With("95,90", "95,91"));
  EXPECT_EQ(Digest, With("\tret;", "  ret; // done"));
  // Local memory is a part of the kernel: so much each thread has.
  EXPECT_NE(Digest, With("depot[16]", "depot[32]"));
  EXPECT_NE(Digest, With(".align 8", ".align 16"));
  EXPECT_NE(Digest, With("ret;", "exit;"));
  EXPECT_NE(Digest, With("behind", "other"));
  EXPECT_NE(Digest, With(".target sm_90", ".target sm_80"));
}

} // namespace
