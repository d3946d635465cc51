//===- PtxModuleTest.cpp - Tests for the PTX comparison -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxModule.h"
#include <gtest/gtest.h>

using cupilot::PtxModule;

static const char One[] = R"(
.version 8.4
.target sm_90
.address_size 64
.visible .global .align 4 .u32 shared = 1;
.global .align 1 .b8 _$_str[3] = {37, 100, 0};
.func (.param .b32 r) helper(.param .b32 p)
{
  add.s32 %r1, %r2, 1; // one
  ret;
}
.visible .entry k(
  .param .u64 k_param_0
)
{
$L__BB1_1:
  ld.global.u32 %r1, [shared];
  mov.u64 %rd1, _$_str;
  call (r), helper, (p);
  bra $L__BB1_1;
}
)";

static std::string replaced(std::string Text, const std::string &From,
                            const std::string &To) {
  for (size_t At = 0; (At = Text.find(From, At)) != std::string::npos;
       At += To.size())
    Text.replace(At, From.size(), To);
  return Text;
}

static std::string closure(const std::string &Text) {
  llvm::Expected<PtxModule> M = PtxModule::parse(Text);
  if (!M) {
    ADD_FAILURE() << llvm::toString(M.takeError());
    return "";
  }
  return M->closureOf("k");
}

TEST(PtxModule, numberingAndPrivateNamesDoNotCount) {
  std::string Other =
      replaced(replaced(One, "_$_str", "_$_str_$_7"), "BB1_", "BB42_");
  Other += ".visible .entry other()\n{\n  ret;\n}\n";
  Other = replaced(Other, "helper", "helper2");
  EXPECT_NE(closure(One), "");
  EXPECT_EQ(closure(One), closure(Other));
}

TEST(PtxModule, codeAndDataCount) {
  EXPECT_NE(closure(One), closure(replaced(One, "%r2, 1;", "%r2, 2;")));
  EXPECT_NE(closure(One), closure(replaced(One, "37, 100", "37, 101")));
  EXPECT_NE(closure(One),
            closure(replaced(One, "u32 shared = 1", "u32 shared = 2")));
  // The host knows visible variables by their names.
  EXPECT_NE(closure(One), closure(replaced(One, "shared", "renamed")));
}

TEST(PtxModule, missingKernelHasNoClosure) {
  llvm::Expected<PtxModule> M = PtxModule::parse(One);
  ASSERT_TRUE(bool(M));
  EXPECT_EQ(M->closureOf("absent"), "");
}

TEST(PtxModule, brokenTextIsAnError) {
  llvm::Expected<PtxModule> M = PtxModule::parse(replaced(One, "ret;", "ret"));
  ASSERT_FALSE(bool(M));
  EXPECT_EQ(llvm::toString(M.takeError()),
            "cannot parse the PTX at line 11, column 1: expected ';', found "
            "'}' (in 'helper', at 'ret')");
}
