//===- NvccIdentityTest.cpp - What identities of PTX digest ---------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every token of a kernel's closure counts, but for the names that somebody
// chose; nothing else of the text does.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/NvccPtx.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

namespace {
// The closure of _Z1kPfi between two lines of dashes, and what is unrelated.
const char Source[] = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry _Z5otherv() { ret; }
.global .align 4 .u32 Unrelated = 9;
//------
.extern .func (.param .b32 vprintf_result) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.global .align 4 .u32 Counter = 3;
.const .align 16 .b8 _ZN37_INTERNAL_0d1c2b3a_4_k_cu__Z1kPfi7WeightsE[8] = {0, 0, 128, 63, 0, 0, 0, 64};
.global .align 1 .b8 $str[7] = {110, 111, 32, 37, 100, 10, 0};
.extern .shared .align 16 .b8 Tile[];
.func (.param .b32 func_retval0) _Z6helperf(.param .b32 _Z6helperf_param_0)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [_Z6helperf_param_0];
  ld.const.b32 %r2, [_ZN37_INTERNAL_0d1c2b3a_4_k_cu__Z1kPfi7WeightsE+4];
  st.param.b32 [func_retval0], %r2;
  ret;
}
.visible .entry _Z1kPfi(.param .u64 .ptr .align 1 _Z1kPfi_param_0, .param .u32 _Z1kPfi_param_1)
.maxntid 128, 1, 1
.minnctapersm 2
{
  .local .align 8 .b8 __local_depot1[8];
  .reg .pred %p<2>;
  .reg .b64 first, second;
  .shared .align 4 .b8 _ZZ1kPfiE4Mine[16];
  ld.param.b64 first, [_Z1kPfi_param_0];
  ld.param.b32 %r1, [_Z1kPfi_param_1];
  mov.b64 second, Counter;
  mov.b64 second, $str;
  mov.b64 second, Tile;
  mov.b64 second, _ZZ1kPfiE4Mine;
  mov.b64 second, __local_depot1;
  fma.rn.ftz.f32 %f1, %f2, 0f3F800000, %f3;
  @%p1 bra $L__BB1_2;
  { // callseq 0
    .param .b32 param0;
    .param .b32 retval0;
    call.uni (retval0), _Z6helperf, (param0);
  }
  call.uni (retval0), vprintf, (first, second);
$L__BB1_2:
  ret;
}
//------
.visible .entry _Z4lastv() { ret; }
)";

std::string identityOf(std::string Text, StringRef Kernel = "_Z1kPfi",
                       StringRef Context = "") {
  Expected<NvccPtx> M = NvccPtx::parse(std::move(Text));
  if (!M)
    return "error: " + toString(M.takeError());
  KernelIdentity Id = M->identify(Kernel, Context);
  return Id.Refusal ? "none: " + Id.Refusal->text() : Id.Digest;
}

bool isWord(char C) {
  return isAlnum(C) || C == '_' || C == '$' || C == '.' || C == '%';
}

std::string replaced(std::string Text, StringRef From, StringRef To) {
  for (size_t At = 0; (At = Text.find(From, At)) != std::string::npos;
       At += To.size())
    Text.replace(At, From.size(), To);
  return Text;
}

TEST(NvccIdentity, EveryTokenCounts) {
  const std::string Text = Source, Before = identityOf(Text);
  ASSERT_TRUE(StringRef(Before).starts_with("b3:")) << Before;
  unsigned Words = 0, Marks = 0;
  size_t At = Text.find("//------\n") + 9, End = Text.rfind("//------");
  while (At < End) {
    if (isSpace(Text[At])) {
      ++At;
      continue;
    }
    if (StringRef(Text).substr(At).starts_with("//")) {
      At = Text.find('\n', At);
      continue;
    }
    size_t Next = At + 1;
    if (isWord(Text[At]))
      while (isWord(Text[Next]))
        ++Next;
    std::string Word = Text.substr(At, Next - At), Changed = Text;
    // Who may see it is the linker's matter.
    if (Word == ".visible") {
      Changed.erase(At, Word.size());
      EXPECT_EQ(identityOf(Changed), Before);
    } else if (StringRef(Word).starts_with("vprintf_")) {
      Changed.insert(Next, "x"); // Of a declaration: nothing refers to it.
      EXPECT_EQ(identityOf(Changed), Before);
    } else if (isWord(Text[At])) {
      // One place only: a name is then another one, and a number too.
      Changed.insert(Next, isDigit(Word.back()) ? "1" : "x");
      EXPECT_NE(identityOf(Changed), Before) << Word << " at " << At;
      ++Words;
    } else {
      Changed.erase(At, 1);
      EXPECT_NE(identityOf(Changed), Before) << Word << " at " << At;
      ++Marks;
    }
    At = Next;
  }
  EXPECT_GT(Words, 120u);
  EXPECT_GT(Marks, 110u);
}

TEST(NvccIdentity, NamesThatSomebodyChoseDoNotCount) {
  const std::string Before = identityOf(Source);
  for (auto [From, To] :
       {std::pair<StringRef, StringRef>("_Z6helperf", "_Z5otherf"),
        {"_Z1kPfi_param_0", "given"},
        {"__local_depot1", "__local_depot77"},
        {"$L__BB1_2", "$L__BB42_0"},
        {"$str", "$str$5"},
        {"$str", "__unnamed_3"},
        {"first", "third"},
        {"retval0", "result"},
        {"Tile", "Scratch"},
        {"_ZZ1kPfiE4Mine", "_ZZ1kPfiE6Theirs"},
        {"0d1c2b3a_4_k_cu", "ffffffff_4_l_cu"},
        {".version 9.0", ".version 8.7"},
        {"Unrelated = 9", "Unrelated = 8"},
        {"// callseq 0", "// callseq 7\n.loc 1 2 3"},
        {"_Z5otherv() {", "_Z5otherv() { .reg .b32 %r<7>;"}}) {
    std::string Changed = replaced(Source, From, To);
    EXPECT_NE(Changed, Source) << From.str();
    EXPECT_EQ(identityOf(Changed), Before) << From.str() << " -> " << To.str();
  }
  EXPECT_EQ(identityOf(replaced(Source, "_Z1kPfi(", "_Z1qPfi("), "_Z1qPfi"),
            Before);
}

TEST(NvccIdentity, NamesOfVariablesAndArgumentsForPtxasCount) {
  const std::string Before = identityOf(Source);
  EXPECT_NE(identityOf(replaced(Source, "Counter", "Total")), Before);
  EXPECT_NE(identityOf(replaced(Source, "7Weights", "7Lengths")), Before);
  EXPECT_NE(identityOf(replaced(Source, "sm_90", "sm_80")), Before);
  EXPECT_NE(identityOf(replaced(Source, "sm_90", "sm_90a")), Before);
  EXPECT_NE(identityOf(Source, "_Z1kPfi", "-maxrregcount=32"), Before);
}

TEST(NvccIdentity, WhatIsNotKnownHasNone) {
  auto Refused = [](StringRef From, StringRef To) {
    return identityOf(replaced(Source, From, To));
  };
  EXPECT_EQ(Refused("vprintf", "cudaLaunchDevice"),
            "none: it calls 'cudaLaunchDevice', which this unit does not "
            "define");
  EXPECT_EQ(Refused(".global .align 4 .u32 Counter = 3",
                    ".extern .global .align 4 .u32 Counter"),
            "none: it uses the variable 'Counter', which this unit does not "
            "define");
  EXPECT_EQ(Refused("second, Counter", "second, _Z5otherv"),
            "none: it refers to the kernel '_Z5otherv'");
  EXPECT_EQ(Refused("%f3", "%envreg2"),
            "none: it synchronises with other blocks, or depends on how the "
            "driver launched it");
  EXPECT_EQ(Refused("sm_90", "sm_90, debug"),
            "none: it is compiled without optimisation");
  EXPECT_EQ(
      Refused("sm_90", "thing"),
      "error: cannot parse the PTX at line 2, column 9: the target 'thing' "
      "is not known");
}

TEST(NvccIdentity, AKernelUnderAnotherNameStaysTheSame) {
  Expected<NvccPtx> M = NvccPtx::parse(Source);
  ASSERT_TRUE(bool(M));
  EXPECT_EQ(identityOf(M->renamed(std::pair<std::string, std::string>("_Z1kPfi",
                                                                      "sm_90")),
                       "sm_90"),
            M->identify("_Z1kPfi").Digest);
  EXPECT_EQ(
      M->closure("_Z1kPfi")->Variables,
      std::vector<std::string>(
          {"Counter", "_ZN37_INTERNAL_0d1c2b3a_4_k_cu__Z1kPfi7WeightsE"}));
}
} // namespace
