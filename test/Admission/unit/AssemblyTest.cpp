//===- AssemblyTest.cpp - Inline PTX that is admitted ---------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Admission/Assembly.h"
#include "CpuDevice/Hopper/DeviceOps.h"
#include "CpuDevice/Ptx/BodyLowering.h"
#include "Judge.h"

using namespace cupilot;
using namespace llvm;

/// "" when it is admitted.
static std::string refused(StringRef Text) {
  std::optional<AssemblyFinding> Found = checkAssembly(Text);
  return Found ? Found->Rule + ": " + Found->What : "";
}

TEST(AdmissionAssembly, AsTheTablesOfTheCpuDevice) {
  // What the device checks is admitted, but for what leaves memory undefined.
  std::set<StringRef> Known = {"bra"};
  for (const PtxRule &Rule : ptxRules())
    Known.insert(StringRef(Rule.Pattern).take_until(isSpace));
  for (StringRef Op :
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16",
        "movmatrix.sync.aligned.m8n8.trans.b16", "wgmma.fence.sync.aligned",
        "cp.async.ca.shared.global", "mbarrier.init.shared.b64",
        "setmaxnreg.inc.sync.aligned.u32"}) {
    SmallVector<StringRef> Parts;
    Op.split(Parts, '.');
    EXPECT_TRUE(findOp(Parts)) << Op.str();
    Known.insert(Parts.front());
  }
  ASSERT_TRUE(Known.erase("discard"));
  for (StringRef Word : Known)
    EXPECT_TRUE(isAdmittedInstruction(Word)) << Word.str();
  // And nothing else is: the list has no word of its own.
  unsigned Admitted = 0;
  for (StringRef Word : Known)
    Admitted += isAdmittedInstruction(Word);
  EXPECT_EQ(Admitted, admittedInstructions());
}

TEST(AdmissionAssembly, WhatCudaCodeWrites) {
  for (const char *Text : {
           "",
           "membar.gl;",
           "bar.sync 0;",
           "mov.u32 %0, %%laneid;",
           "mov.u32 %0, %%tid.x;",
           "ld.global.nc.L1::no_allocate.v4.f32 {%0,%1,%2,%3}, [%4];",
           "st.global.cs.f32 [%0+16], %1;",
           "cp.async.cg.shared.global [%0], [%1], 16;",
           "cp.async.wait_group %0;",
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
           "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};\n",
           "{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }",
           "{\n\t.reg .pred p, q<2>;\n\tsetp.ne.b32 p, %1, 0;\n"
           "\tsetp.lt.or.s32 q1, %1, -3, p;\n"
           "\t@p ld.global.f32 %0, [%2];\n\t@!q1 mov.f32 %0, 0f3F800000;\n}",
           "{\n.reg .pred P1;\nLAB_WAIT:\n"
           "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
           "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}",
           "W%=: add.s32 %0, %0, 1; bra.uni E%=; E%=:",
           "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
           "complete_tx::bytes [%0], [%1, {%3, %4}], [%2];",
           "{ .reg .b32 %%r<3>; mov.b32 %%r2, %1; mov.b32 %0, %%r2; }",
           "shfl.sync.bfly.b32 %0|p, %1, %2, 0x1f, 0xffffffff;",
           "mov.b32 %[out], %[in];",
           "{ add.f32 %0, %1, 1.5 }",
           "/* first */ add.s32 %0, %1, 2; // second\n",
       }) {
    std::string Why = refused(Text);
    if (StringRef(Text).contains("|p")) // It is not declared.
      EXPECT_EQ(Why, "asm: the symbol 'p', which it does not declare");
    else
      EXPECT_EQ(Why, "") << Text;
  }
}

TEST(AdmissionAssembly, Refused) {
  for (auto [Text, Why] :
       std::initializer_list<std::pair<const char *, const char *>>{
           {".global .u32 x;", "asm: the directive '.global'"},
           {"ret; .extern .func f;", "asm: the directive '.extern'"},
           {"{ .shared .b8 hidden[1024]; }", "asm: the directive '.shared'"},
           {"{ .local .b8 hidden[1024]; }", "asm: the directive '.local'"},
           {"{ .param .b32 a; }", "asm: the directive '.param'"},
           {".visible .entry evil() {", "asm: the directive '.visible'"},
           {"L: .func f", "asm: the directive '.func'"},
           {".version 8.0;", "asm: the directive '.version'"},
           {".reg .b32 a = b;", "asm: the declaration '.reg .b32 a = b'"},
           {".reg .b32 0a;", "asm: the declaration '.reg .b32 0a'"},
           {"mov.u64 %0, counter;",
            "asm: the symbol 'counter', which it does not declare"},
           {"ld.global.u32 %0, [counter+4];",
            "asm: the symbol 'counter', which it does not declare"},
           {"atom.add.u32 %0, [_ZN4unit5countE], 1;",
            "asm: the symbol '_ZN4unit5countE', which it does not declare"},
           {"call.uni f;", "asm: the instruction 'call', which cannot be "
                           "checked"},
           {"call (%0), f, (%1);",
            "asm: the instruction 'call', which cannot be checked"},
           {"add.s32 %0, %1, (1+1);", "asm: the character '(' among operands"},
           {"brx.idx %0, table;",
            "asm: the instruction 'brx', which cannot be checked"},
           {"discard.global.L2 [%0], 128;",
            "asm: the instruction 'discard', which cannot be checked"},
           {"tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];",
            "asm: the instruction 'tex', which cannot be checked"},
           {"sust.b.1d.b32.trap [%0, {%1}], %2;",
            "asm: the instruction 'sust', which cannot be checked"},
           {"stacksave.u64 %0;",
            "asm: the instruction 'stacksave', which cannot be checked"},
           {"alloca.u64 %0, %1, 16;",
            "asm: the instruction 'alloca', which cannot be checked"},
           {"bra elsewhere;",
            "asm: a branch to 'elsewhere', which it does not declare"},
           {"{ bra $L__BB0_2; }",
            "asm: a branch to '$L__BB0_2', which it does not declare"},
           {"} .visible .entry evil() {",
            "asm: a brace that closes the function"},
           {"{", "asm: a brace without an end"},
           {"/* { */ }", "asm: a brace that closes the function"},
           {"mov.b32 %0, 1; // to the end", "asm: a comment without an end"},
           {"/* mov.b32 %0, 1;", "asm: a comment without an end"},
           {"/*/ } /*/ membar.gl; } /* */",
            "asm: a brace that closes the function"},
           {"#include \"x\"\n", "asm: the character '#'"},
           {".pragma \"nounroll\";", "asm: a string"},
           {"mov.b32 %r1, 1;", "asm: a '%' that names no operand"},
           {"%0.f32 %1, %[a];", "asm: '%0.f32 %1, %[a]', which cannot be read"},
           {"mov.b32 %0, %[a]1;", "asm: a name that an operand is a part of"},
           {"mov.b32 %0, %[a b];", "asm: an operand's name that is none"},
           {"mov.b32 %0, $cupilot.operand1$;",
            "asm: the symbol '$cupilot.operand', which it does not declare"},
           {"mov.b32 a%0, 1;", "asm: a name that an operand is a part of"},
           {"mov.u32 %0, %%clock;",
            "timing: the register '%clock', which tells when or where a "
            "thread runs"},
           {"{ .reg .u32 %%smid; mov.u32 %0, %%smid; }",
            "timing: the register '%smid', which tells when or where a thread "
            "runs"},
           {"mov.u32 %0, %%pm3;",
            "timing: the register '%pm3', which tells when or where a thread "
            "runs"},
           {"mov.u32 %0, %%unheard_of;",
            "asm: the symbol '%unheard_of', which it does not declare"},
       })
    EXPECT_EQ(refused(Text), Why) << Text;
}

TEST(AdmissionAssembly, OperandsAreRegistersOrNumbers) {
  auto Body = [](const std::string &Text) {
    return judgeWithLines(
        "__device__ int g;\n"
        "extern \"C\" __global__ void k(int *p) {\n  int x;\n" +
        Text + "\n}\n");
  };
  EXPECT_EQ(Body("asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : \"n\"(4)); *p = x;"),
            "");
  EXPECT_EQ(Body("asm volatile(\"add.s32 %0, %0, %1;\" : \"+r\"(x) : \"r\"(1) "
                 ": \"memory\");"),
            "");
  EXPECT_EQ(Body("asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : \"0\"(1));"), "");
  EXPECT_EQ(Body("asm(\"mov.b64 %0, %1;\" : \"=r\"(x) : \"i\"(4));"), "asm@4");
  EXPECT_EQ(Body("asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : \"m\"(g));"), "asm@4");
  EXPECT_EQ(Body("asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : \"X\"(g));"), "asm@4");
}
