//===- PtxModuleTest.cpp - PTX modules on the cpu device ------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/PtxModule.h"
#include "CpuDeviceFixture.h"
#include "PtxModule.h"
#include "cupilot/Compile/Ptx.h"

using namespace cupilot;
using namespace llvm;

namespace {

class PtxModule : public testing::Test {
protected:
  void load(const std::string &Text, const CpuDeviceOptions &Options = {}) {
    Module = cantFail(loadPtx(
        ".version 8.0\n.target sm_90\n.address_size 64\n" + Text, Options));
    Memory = DeviceMemory::create();
    for (const std::string &Name : Module->globals()) {
      auto Global = Module->global(Name);
      Memory->addBuffer(Global->first, Global->second);
    }
    Out.assign(64, 0);
    Memory->addBuffer(Out.data(), Out.size() * sizeof(Out[0]));
  }
  /// Launches "k", whose first argument is Out.
  template <typename... Ts>
  LaunchResult launch(LaunchShape Shape, const Ts &...Args) {
    uint32_t *To = Out.data();
    std::vector<const void *> Pointers = {static_cast<const void *>(&To),
                                          static_cast<const void *>(&Args)...};
    return cantFail(Module->launch("k", Shape, Pointers, *Memory));
  }
  template <typename... Ts> std::vector<uint32_t> words(size_t N, Ts... Args) {
    LaunchResult R = launch({}, Args...);
    EXPECT_FALSE(R.Fault) << R.Fault->str();
    return {Out.begin(), Out.begin() + N};
  }
  using Words = std::vector<uint32_t>;

  std::unique_ptr<CpuModule> Module;
  std::unique_ptr<DeviceMemory> Memory;
  std::vector<uint32_t> Out;
};

/// A kernel that gets the address of its results in %out.
std::string kernel(const std::string &Body, const std::string &More = "") {
  return ".visible .entry k(.param .u64 k_0" + More +
         ") {\n.reg .b64 %out, %a<9>; .reg .b32 %r<9>; .reg .b16 %h<5>;\n"
         ".reg .pred %p<5>;\nld.param.u64 %out, [k_0];\n" +
         Body + "\n}\n";
}

TEST_F(PtxModule, ParametersOfAllKinds) {
  load(kernel("ld.param.s8 %r1, [c]; st.global.u32 [%out], %r1;"
              "ld.param.u8 %h1, [c]; st.global.u16 [%out+4], %h1;"
              "ld.param.v2.u32 {%r2, %r3}, [s+8];"
              "st.global.v2.u32 [%out+8], {%r3, %r2};"
              "mov.b64 %a1, s; cvta.param.u64 %a1, %a1;"
              "ld.u32 %r4, [%a1+4]; st.global.u32 [%out+16], %r4;"
              "ld.param.f32 %r5, [f]; st.global.f32 [%out+20], %r5; ret;",
              ", .param .u8 c, .param .align 8 .b8 s[24], .param .f32 f"));
  EXPECT_EQ(cantFail(Module->paramSizes("k")),
            (std::vector<uint64_t>{8, 1, 24, 4}));
  struct {
    uint32_t W[6] = {10, 11, 12, 13, 14, 15};
  } S;
  EXPECT_EQ(words(6, uint8_t(0xfe), S, 1.0f),
            (Words{0xfffffffe, 0xfe, 13, 12, 11, 0x3f800000}));
}

TEST_F(PtxModule, FunctionsAndTheirResults) {
  // A struct by value both ways, recursion, parameters in registers, a result
  // that nobody wants, a declaration before the definition.
  load(
      ".func (.param .align 4 .b8 z[12]) swap(.param .align 4 .b8 x[12], "
      ".param .b32 y);\n"
      ".func (.param .b32 z) sum(.param .b32 n) {\n.reg .b32 %r<4>; .reg .pred "
      "%p;\nld.param.b32 %r1, [n]; setp.eq.s32 %p, %r1, 0; mov.b32 %r2, 0;\n"
      "@%p bra END; sub.s32 %r2, %r1, 1; { .param .b32 a; .param .b32 b;\n"
      "st.param.b32 [a], %r2; call (b), sum, (a); ld.param.b32 %r2, [b]; }\n"
      "add.s32 %r2, %r2, %r1; END: st.param.b32 [z], %r2; ret; }\n"
      ".func (.param .align 4 .b8 z[12]) swap(.param .align 4 .b8 x[12], "
      ".param .b32 y) { .reg .b32 %r<4>;\nld.param.b32 %r1, [x]; ld.param.b32 "
      "%r2, [x+8]; ld.param.b32 %r3, [y];\nst.param.b32 [z], %r2; st.param.b32 "
      "[z+4], %r3; st.param.b32 [z+8], %r1; ret.uni; }\n"
      ".func (.reg .b32 z) twice(.reg .b32 x) { add.u32 z, x, x; ret; }\n" +
      kernel(
          "{ .param .align 4 .b8 p[12]; .param .b32 q; .param .align 4 .b8 "
          "r[12]; mov.b32 %r1, 7; mov.b32 %r2, 9; mov.b32 %r3, 8;\n"
          "st.param.b32 [p], %r1; st.param.b32 [p+8], %r2; st.param.b32 [q], "
          "%r3; call.uni (r), swap, (p, q); ld.param.b32 %r4, [r];\n"
          "st.global.u32 [%out], %r4; ld.param.b32 %r4, [r+4];\n"
          "st.global.u32 [%out+4], %r4; ld.param.b32 %r4, [r+8];\n"
          "st.global.u32 [%out+8], %r4; }\n{ .param .b32 p; .param .b32 q;\n"
          "st.param.b32 [p], 10; call (q), sum, (p); ld.param.b32 %r5, [q];\n"
          "st.global.u32 [%out+12], %r5; call (_), sum, (p); }\n"
          "call (%r6), twice, (%r3); st.global.u32 [%out+16], %r6;"));
  EXPECT_EQ(words(5), (Words{9, 8, 7, 55, 16}));
}

TEST_F(PtxModule, CallsByPrototypeAndTables) {
  const char *Functions =
      ".func (.param .b32 z) one(.param .b32 x) { .reg .b32 %r; ld.param.b32 "
      "%r, [x]; add.s32 %r, %r, 1; st.param.b32 [z], %r; ret; }\n"
      ".func (.param .b32 z) two(.param .b32 x) { .reg .b32 %r; ld.param.b32 "
      "%r, [x]; add.s32 %r, %r, 2; st.param.b32 [z], %r; ret; }\n"
      ".global .align 8 .u64 table[2] = {one, two};\n.alias other, two;\n";
  load(Functions +
       kernel("ld.param.u32 %r1, [n]; mul.wide.u32 %a1, %r1, 8; mov.u64 "
              "%a2, table; add.u64 %a1, %a1, %a2; ld.global.u64 %a3, [%a1];\n"
              "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1;\n"
              "how: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
              "call (q), %a3, (p), how; ld.param.b32 %r2, [q];\n"
              "st.global.u32 [%out], %r2; mov.u64 %a3, one; which: "
              ".calltargets one, two; call (q), %a3, (p), which;\n"
              "ld.param.b32 %r2, [q]; st.global.u32 [%out+4], %r2;\n"
              "call (q), other, (p); ld.param.b32 %r2, [q];\n"
              "st.global.u32 [%out+8], %r2; }\n"
              "there: .branchtargets A, B, C; brx.idx %r1, there;\n"
              "A: mov.b32 %r3, 100; bra.uni END; B: mov.b32 %r3, 200;\n"
              "bra END; C: mov.b32 %r3, 300; END: st.global.u32 [%out+12], "
              "%r3; ret;",
              ", .param .u32 n"));
  EXPECT_EQ(words(4, 0u), (Words{1, 1, 2, 100}));
  EXPECT_EQ(words(4, 1u), (Words{3, 2, 3, 200}));
}

TEST_F(PtxModule, Initialisers) {
  load(".global .align 4 .b32 a[2][3] = {{1, 2}, {4}};\n"
       ".const .align 4 .f32 f[2] = {1.0, 0f40000000};\n"
       ".global .align 8 .b8 mixed[20] = {1, 2, 3, 4, 0, 0, 0, 0, "
       "0xFF(generic(a)+4), 0xFF00(generic(a)+4), 0xFF0000(generic(a)+4), "
       "0xFF000000(generic(a)+4), 0xFF00000000(generic(a)+4), "
       "0xFF0000000000(generic(a)+4), 0xFF000000000000(generic(a)+4), "
       "0xFF00000000000000(generic(a)+4), 9};\n"
       ".global .align 8 .u64 p[] = {a+12, generic(f)};\n" +
       kernel("ld.global.u64 %a1, [mixed+8]; ld.u32 %r1, [%a1];\n"
              "st.global.u32 [%out], %r1; ld.global.u64 %a1, [p];\n"
              "ld.global.u32 %r1, [%a1]; st.global.u32 [%out+4], %r1;\n"
              "ld.global.u64 %a1, [p+8]; ld.u32 %r1, [%a1+4];\n"
              "st.global.u32 [%out+8], %r1; ld.const.u32 %r1, [f];\n"
              "st.global.u32 [%out+12], %r1; ld.global.u32 %r1, [mixed];\n"
              "st.global.u32 [%out+16], %r1; ld.global.u32 %r1, [mixed+16];\n"
              "st.global.u32 [%out+20], %r1; ld.global.u32 %r1, [a+8];\n"
              "st.global.u32 [%out+24], %r1; mov.u64 %a2, a+12;\n"
              "ld.global.u32 %r1, [%a2]; st.global.u32 [%out+28], %r1;"));
  EXPECT_EQ(words(8),
            (Words{2, 4, 0x40000000, 0x3f800000, 0x04030201, 9, 0, 4}));
  EXPECT_EQ(Module->global("a")->second, 24u);
  EXPECT_EQ(Module->global("p")->second, 16u);
}

TEST_F(PtxModule, SharedAndLocalMemory) {
  load(".shared .align 4 .b8 still[128];\n.extern .shared .align 16 .b8 "
       "dyn[];\n" +
           kernel(
               ".local .align 16 .b8 depot[32]; .shared .align 4 .u32 own;\n"
               "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, still;\n"
               "add.s32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1; mov.u32 %r4, "
               "dyn; add.s32 %r4, %r4, %r2; st.shared.u32 [%r4], %r2;\n"
               "mov.u64 %a1, depot; cvta.local.u64 %a2, %a1; st.local.u32 "
               "[%a1+8], %r1; setp.eq.u32 %p1, %r1, 5; @%p1 st.shared.u32 "
               "[own], "
               "77; bar.sync 0; ld.u32 %r5, [%a2+8]; xor.b32 %r1, %r1, 31;\n"
               "shl.b32 %r2, %r1, 2; mov.u32 %r3, still; add.s32 %r3, %r3, "
               "%r2;\n"
               "ld.shared.u32 %r6, [%r3]; mov.u32 %r4, dyn; add.s32 %r4, %r4, "
               "%r2; ld.shared.u32 %r7, [%r4]; add.s32 %r6, %r6, %r7;\n"
               "add.s32 %r6, %r6, %r5; ld.shared.u32 %r8, [own]; add.s32 %r6, "
               "%r6, %r8; mul.wide.u32 %a3, %r5, 4; add.s64 %a3, %a3, %out;\n"
               "st.global.u32 [%a3], %r6; exit;"),
       [] {
         CpuDeviceOptions O;
         O.CheckRaces = O.CheckWritten = true;
         return O;
       }());
  LaunchShape Shape;
  Shape.Block = {32, 1, 1};
  Shape.Shared = 128;
  LaunchResult R = launch(Shape);
  ASSERT_FALSE(R.Fault) << R.Fault->str();
  for (uint32_t I = 0; I < 32; ++I)
    EXPECT_EQ(Out[I], (I ^ 31) * 5 + I + 77) << I;
  Shape.Shared = 64;
  R = launch(Shape);
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Kind, FaultKind::OutOfBoundsWrite) << R.Fault->str();
}

/// Arrays keep their bounds though their addresses are numbers.
TEST_F(PtxModule, AccessesPastAVariable) {
  for (const char *Body :
       {".local .align 4 .b8 d[16]; mov.u64 %a1, d; add.s64 %a2, %a1, %a3; "
        "st.local.u32 [%a1], 2; st.local.u32 [%a2], 1; ld.local.u32 %r1, [%a1];"
        "st.global.u32 [%out], %r1; ret;",
        "mov.u64 %a1, still; add.s64 %a1, %a1, %a3; st.shared.u32 [%a1], 1; "
        "ld.shared.u32 %r1, [still]; st.global.u32 [%out], %r1;",
        "cvt.u32.u64 %r1, %a3; mov.u32 %r2, still; L: setp.gt.u32 %p1, %r1, 0; "
        "@%p1 add.s32 %r2, %r2, 4; @%p1 sub.s32 %r1, %r1, 4; @%p1 bra L; "
        "st.shared.u32 [%r2], 1; "
        "ld.shared.u32 %r1, [still]; st.global.u32 [%out], %r1;"}) {
    load(".shared .align 4 .b8 still[16];\n.shared .align 4 .b8 next[64];\n" +
         kernel("st.shared.u32 [next], 1; ld.param.u64 %a3, [n];\n" +
                    std::string(Body),
                ", .param .u64 n"));
    EXPECT_FALSE(launch({}, uint64_t(12)).Fault) << Body;
    LaunchResult R = launch({}, uint64_t(16));
    ASSERT_TRUE(R.Fault) << Body;
    EXPECT_EQ(R.Fault->Kind, FaultKind::OutOfBoundsWrite) << R.Fault->str();
  }
}

TEST_F(PtxModule, TheSystemsFunctions) {
  load(
      ".extern .func (.param .b32 z) vprintf(.param .b64 f, .param .b64 v);\n"
      ".extern .func (.param .b64 z) malloc(.param .b64 n);\n"
      ".extern .func free(.param .b64 p);\n"
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, "
      ".param .b64 d, .param .b64 e) .noreturn;\n"
      ".global .align 1 .b8 text[7] = {110, 32, 37, 100, 33, 10};\n"
      ".global .align 1 .b8 cond[6] = {110, 32, 62, 32, 53};\n" +
      kernel(".local .align 8 .b8 d[8]; ld.param.u32 %r1, [n];\n"
             "mov.u64 %a1, d; st.local.u32 [%a1], %r1; { .param .b64 f;\n"
             ".param .b64 v; .param .b32 z; mov.u64 %a2, text; st.param.b64 "
             "[f], %a2; st.param.b64 [v], %a1; call.uni (z), vprintf, (f, "
             "v); ld.param.b32 %r2, [z]; } st.global.u32 [%out], %r2;\n"
             "{ .param .b64 p; .param .b64 z; st.param.b64 [p], 16; call "
             "(z), malloc, (p); ld.param.b64 %a3, [z]; st.u32 [%a3], 5;\n"
             "ld.u32 %r3, [%a3]; st.param.b64 [p], %a3; call free, (p); }\n"
             "st.global.u32 [%out+4], %r3; setp.gt.u32 %p1, %r1, 5;\n"
             "@%p1 ret; { .param .b64 p0; .param .b64 p1; .param .b32 p2;\n"
             ".param .b64 p3; .param .b64 p4; mov.u64 %a4, cond;\n"
             "st.param.b64 [p0], %a4; st.param.b64 [p1], %a4; st.param.b32 "
             "[p2], 12; st.param.b64 [p3], %a4; st.param.b64 [p4], 1;\n"
             "call.uni __assertfail, (p0, p1, p2, p3, p4); }",
             ", .param .u32 n"));
  LaunchResult R = launch({}, 6u);
  EXPECT_FALSE(R.Fault) << R.Fault->str();
  EXPECT_EQ(R.Printed, "n 6!\n");
  EXPECT_EQ(Out[0], 1u);
  EXPECT_EQ(Out[1], 5u);
  R = launch({}, 4u);
  ASSERT_TRUE(R.Fault && R.Fault->Assertion);
  EXPECT_EQ(R.Fault->Assertion->Condition, "n > 5");
  EXPECT_EQ(R.Fault->Assertion->Line, 12u);
}

TEST_F(PtxModule, LinesOfTheSource) {
  load(kernel(".loc 1 12 3\nst.global.u32 [%out+4096], 1;\n"
              ".loc 2 7 9, function_name $L, inlined_at 1 13 1\n ret;") +
       ".file 1 \"/src/a.cu\"\n.file 2 \"/src/b.h\"\n");
  LaunchResult R = launch({});
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Location, "a.cu:12:3");
}

TEST_F(PtxModule, Clusters) {
  load(".visible .entry k(.param .u64 o) .maxntid 32, 1, 1 "
       ".reqnctapercluster 2 { .reg .b32 %r<4>; .reg .b64 %a<4>; ld.param.u64 "
       "%a1, [o]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %ctaid.x;\n"
       "mul.wide.u32 %a2, %r2, 4; add.s64 %a1, %a1, %a2; st.global.u32 [%a1], "
       "%r1; }");
  LaunchShape Shape;
  Shape.Grid = {4, 1, 1};
  ASSERT_FALSE(launch(Shape).Fault);
  EXPECT_EQ(Words(Out.begin(), Out.begin() + 4), (Words{0, 1, 0, 1}));
}

TEST_F(PtxModule, WhatIsNotKnownIsRefused) {
  const std::string Head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const std::string Text =
      ".extern .func elsewhere();\n.global .texref t;\n"
      ".func f() { .reg .b32 %r<5>; .reg .f32 %f;\n"
      "  tex.1d.v4.f32.s32 {%f, %f, %f, %f}, [t, {%r1}];\n  ret; }\n"
      ".visible .entry good() { ret; }\n"
      ".visible .entry bad() {\n  call f;\n  vadd.u32.u32.u32 %r1, %r2, %r3;\n"
      "  .reg .b32 %q;\n  @!%p add.u32 %q, %q, nobody;\n}\n"
      ".visible .entry k(.param .u64 o) { call elsewhere; }\n";
  auto Kernels = cantFail(kernelsOfPtx(Head + Text));
  ASSERT_EQ(Kernels.size(), 3u);
  EXPECT_TRUE(Kernels[0].Missing.empty());
  const PtxKernel &Bad = Kernels[1];
  ASSERT_EQ(Bad.Missing.size(), 3u);
  EXPECT_EQ(Bad.Missing[0].What, "'vadd.u32.u32.u32 %r1, %r2, %r3'");
  EXPECT_EQ(Bad.Missing[0].Line, 12u);
  EXPECT_EQ(Bad.Missing[1].What, "'add.u32 %q, %q, nobody'");
  EXPECT_EQ(Bad.Missing[2].What,
            "'tex.1d.v4.f32.s32 {%f, %f, %f, %f}, [t, {%r1}]'");
  EXPECT_EQ(Bad.Missing[2].Function, "f");
  EXPECT_EQ(Bad.Missing[2].Line, 7u);
  ASSERT_EQ(Kernels[2].Missing.size(), 1u);
  EXPECT_EQ(Kernels[2].Missing[0].What,
            "the function 'elsewhere', which is not defined,");
  load(Text);
  EXPECT_FALSE(cantFail(Module->launch("good", {}, {}, *Memory)).Fault);
  EXPECT_TRUE(
      StringRef(toString(Module->launch("bad", {}, {}, *Memory).takeError()))
          .starts_with("the cpu device cannot run 'vadd.u32.u32.u32 %r1, %r2, "
                       "%r3' at line 12 of the PTX in kernel 'bad'"));
  // What holds something that is not known is as if it were not there.
  Kernels = cantFail(kernelsOfPtx(
      Head + ".shared .b32 s;\n.global .u64 g = s;\n.global .u64 h = g;\n" +
      kernel("ld.global.u64 %a1, [h];")));
  ASSERT_EQ(Kernels[0].Missing.size(), 1u);
  EXPECT_EQ(Kernels[0].Missing[0].What, "'ld.global.u64 %a1, [h]'");
  EXPECT_EQ(
      toString(kernelsOfPtx(Head + ".entry k() { add }").takeError()),
      "cannot parse the PTX at line 4, column 18: expected ';', found '}' "
      "(in 'k', at 'add }')");
  CpuDeviceOptions Wide;
  Wide.WidenFloats = true;
  EXPECT_TRUE(errorToBool(loadPtx(Head + Text, Wide).takeError()));
}

/// Kernels are looked at a few at a time, and come in their order.
TEST_F(PtxModule, LargeTextsAreReadInParts) {
  std::string Text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.global .b32 g;\n"
      ".func odd() { .reg .b32 %r;\n  tex.1d.v4.f32.s32 %r, [g]; ret; }\n";
  const std::string Long(4000, '/');
  for (unsigned I = 0; I < 100; ++I)
    Text += ".visible .entry k" + std::to_string(I) +
            "() { .reg .b32 %r; ld.global.b32 %r, [g];\n//" + Long + "\n" +
            (I % 50 == 7 ? "call odd;" : "st.global.b32 [g], %r;") +
            " ret; }\n";
  auto Kernels = cantFail(kernelsOfPtx(Text));
  ASSERT_EQ(Kernels.size(), 100u);
  for (unsigned I = 0; I < 100; ++I) {
    EXPECT_EQ(Kernels[I].Name, "k" + std::to_string(I));
    ASSERT_EQ(Kernels[I].Missing.size(), I % 50 == 7 ? 1u : 0u);
    if (I % 50 == 7)
      EXPECT_EQ(Kernels[I].Missing[0].Line, 6u);
  }
}

/// Whatever the reader takes becomes IR, or is named; nothing else.
TEST_F(PtxModule, OddTextIsNamed) {
  const std::string Text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".global .align 4 .b32 g[2] = {1, 2};\n.shared .align 4 .b8 s[16];\n"
      ".global .align 8 .u64 p = g;\n.alias f2, f;\n"
      ".func (.param .b32 z) f(.param .align 8 .b8 x[16], .param .b64 y) {\n"
      ".reg .b32 %r; ld.param.b32 %r, [x+4]; st.param.b32 [z], %r; ret; }\n"
      ".visible .entry k(.param .u64 a, .param .align 4 .b8 b[8])\n"
      ".maxntid 32 { .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %p, %q;\n"
      ".reg .b16 %h; .local .align 8 .b8 l[8]; ld.param.u64 %d1, [a];\n"
      "mov.u64 %d2, l; st.local.u32 [%d2+4], %r1; T: .branchtargets A, B;\n"
      "setp.lt.s32 %p|%q, %r1, 5; @!%p bra A; brx.idx %r1, T; A: { .param "
      ".align 8 .b8 x[16]; .param .b64 y; .param .b32 z; st.param.b64 [y], "
      "%d1; call.uni (z), f, (x, y); ld.param.b32 %r2, [z]; C: .callprototype "
      "(.param .b32 _) _ (.param .align 8 .b8 _[16], .param .b64 _); call (z), "
      "%d2, (x, y), C; } B: mov.b32 {%h, %h}, %r2; mov.u32 %r3, s; st.shared.v2"
      ".u32 [%r3], {%r1, %r2}; atom.global.add.u32 %r1, [%d1], 3; cvt.u16.u32 "
      "%h, %r1; @%q exit; shfl.sync.idx.b32 %r1|%p, %r2, 0, 31, -1; ret; }\n";
  ptx::Diagnostic Why;
  auto Tokens = ptx::lex(Text, Why);
  ASSERT_TRUE(Tokens);
  Tokens->pop_back();
  unsigned Read = 0, Known = 0;
  auto Try = [&](const std::string &Odd) {
    LLVMContext Context;
    std::vector<PtxLack> Lacks;
    auto M = moduleOfPtx(Odd, Context, Lacks);
    if (!M) {
      std::string Error = toString(M.takeError());
      EXPECT_TRUE(StringRef(Error).starts_with("cannot parse the PTX"))
          << Error << "\n"
          << Odd;
      return;
    }
    ++Read;
    Known += Lacks.empty();
  };
  for (const ptx::Token &T : *Tokens) {
    Try(Text.substr(0, T.Begin) + Text.substr(T.End));
    // Each by some others: names by names of other things, and so on.
    for (size_t I = T.Begin % 7; I < Tokens->size(); I += 1)
      if ((*Tokens)[I].Kind == T.Kind)
        Try(Text.substr(0, T.Begin) + std::string((*Tokens)[I].in(Text)) +
            Text.substr(T.End));
  }
  EXPECT_GT(Read, 1000u);
  EXPECT_GT(Known, 100u);
}

class PtxOfClang : public CpuDeviceFixture {};

/// The same source by bitcode and by PTX.
TEST_F(PtxOfClang, ComputesTheSameBits) {
  const char *Source =
      "struct S { float a[5]; double d; char c; };\n"
      "__constant__ float coef[4] = {1, 2.5f, 3, 4};\n"
      "__device__ int table[3] = {5, 6, 7};\n"
      "__device__ int *inner = &table[1];\n"
      "extern __shared__ float dyn[];\n"
      "__device__ __noinline__ S make(S s, int k) { s.a[k] += 3; s.d *= s.c; "
      "return s; }\n"
      "__device__ int f1(int x) { return x + 1; }\n"
      "__device__ int f2(int x) { return x * 2; }\n"
      "__device__ __noinline__ int rec(int n) {\n"
      "  return n < 2 ? n : rec(n - 1) + rec(n - 2); }\n"
      "extern \"C\" __global__ void k(float *out, const float *in, S s, int n, "
      "bool b) {\n"
      "  __shared__ float tile[128];\n  int i = threadIdx.x;\n"
      "  int (*f)(int) = (n & 1) ? f1 : f2;\n  int loc[8];\n"
      "  for (int j = 0; j < 8; ++j) loc[j] = j * n;\n"
      "  tile[i] = in[i] * coef[i & 3] / dyn[i & 1];\n  __syncthreads();\n"
      "  S t = make(s, n % 5);\n  float sum = 0;\n"
      "  for (int j = 0; j <= i; ++j) sum += tile[j];\n"
      "  switch (n) { case 0: sum *= 2; break; case 1: sum -= 4; break;\n"
      "  case 2: sum = sum * sum; break; case 3: sum = -sum; break;\n"
      "  case 4: sum += __shfl_down_sync(~0u, sum, 3); }\n"
      "  out[i] = sum + t.a[n % 5] + t.d + f(n) + rec(n) + loc[(n * i) & 7] + "
      "*inner + b;\n}\n";
  auto Dir = cantFail(TemporaryDirectory::create("ptx"));
  // Dynamic memory holds what the kernel is to read.
  std::string Text = StringRef(Source).str();
  size_t At = Text.find("  tile[i] = ");
  Text.insert(At, "  if (i < 2) dyn[i] = 3 + i;\n  __syncthreads();\n");
  cantFail(writeFileAtomic(Dir.file("k.cu"), Text));
  std::string Bitcode = cantFail(compileDeviceBitcode(
      Dir.file("k.cu"), "sm_90", {"-O2", "-ffp-contract=off"}));
  std::string Ptx = cantFail(generatePtx(Bitcode, "sm_90"));
  CpuDeviceOptions O;
  O.CheckRaces = O.CheckWritten = true;
  auto Run = [&](std::unique_ptr<CpuModule> M, int N) {
    auto Memory = DeviceMemory::create();
    for (const std::string &Name : M->globals())
      Memory->addBuffer(M->global(Name)->first, M->global(Name)->second);
    std::vector<float> In(128), Out(128);
    for (int I = 0; I < 128; ++I)
      In[I] = static_cast<float>(I) / 7;
    Memory->addBuffer(In.data(), 512);
    Memory->addBuffer(Out.data(), 512);
    struct {
      float A[5] = {1, 2, 3, 4, 5};
      double D = 0.7;
      char C = 3;
    } S;
    float *To = Out.data(), *From = In.data();
    bool B = true;
    LaunchShape Shape;
    Shape.Block = {128, 1, 1};
    Shape.Shared = 8;
    LaunchResult R =
        cantFail(M->launch("k", Shape, {&To, &From, &S, &N, &B}, *Memory));
    EXPECT_FALSE(R.Fault) << R.Fault->str();
    return Out;
  };
  for (int N = 0; N < 7; ++N)
    EXPECT_EQ(Run(cantFail(CpuModule::load(Bitcode, O)), N),
              Run(cantFail(loadPtx(Ptx, O)), N))
        << N;
}

/// Limits and costs of launches count the same of both: the gate's largest
/// launches are of 2^24 threads with up to 23 instructions each.
TEST_F(PtxOfClang, CountsTheSameInstructions) {
  auto Dir = cantFail(TemporaryDirectory::create("ptx"));
  cantFail(writeFileAtomic(
      Dir.file("k.cu"),
      "extern \"C\" __global__ void k(const float *x, float *y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n)\n    y[i] = 2 * x[i];\n}\n"));
  std::string Bitcode =
      cantFail(compileDeviceBitcode(Dir.file("k.cu"), "sm_90", {"-O2"}));
  // As nvcc 13.0 compiles it.
  const char *Ptx =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u32 k_2) {\n"
      ".reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<6>; .reg .b64 %rd<8>;\n"
      "ld.param.u64 %rd1, [k_0]; ld.param.u64 %rd2, [k_1];\n"
      "ld.param.u32 %r2, [k_2]; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
      "mov.u32 %r5, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r5;\n"
      "setp.ge.s32 %p1, %r1, %r2; @%p1 bra $L;\n"
      "cvta.to.global.u64 %rd3, %rd1; mul.wide.s32 %rd4, %r1, 4;\n"
      "add.s64 %rd5, %rd3, %rd4; ld.global.f32 %f1, [%rd5];\n"
      "add.f32 %f2, %f1, %f1; cvta.to.global.u64 %rd6, %rd2;\n"
      "add.s64 %rd7, %rd6, %rd4; st.global.f32 [%rd7], %f2;\n$L:\nret;\n}\n";
  CpuDeviceOptions O;
  O.CountSteps = true;
  O.MaxLaunchInstructions = 1 << 20;
  auto Steps = [&](std::unique_ptr<CpuModule> M) {
    auto Memory = DeviceMemory::create();
    std::vector<float> In(64), Out(64);
    Memory->addBuffer(In.data(), 256);
    Memory->addBuffer(Out.data(), 256);
    float *From = In.data(), *To = Out.data();
    int N = 64;
    LaunchShape Shape;
    Shape.Grid = {2, 1, 1};
    Shape.Block = {32, 1, 1};
    return cantFail(M->launch("k", Shape, {&From, &To, &N}, *Memory)).Steps;
  };
  double Own = Steps(cantFail(CpuModule::load(Bitcode, O)));
  EXPECT_EQ(Steps(cantFail(loadPtx(Ptx, O))), Own);
  EXPECT_GT(Own, 64 * 10);
  EXPECT_LE(Own, 64 * 23);
}

TEST_F(PtxModule, MinimumOfARegisterThatNobodySet) {
  CpuDeviceOptions O;
  O.CheckWritten = true;
  load(".visible .entry k(.param .u64 a) {\n"
       "  .reg .f32 %f<4>; .reg .b64 %rd<2>; .reg .pred %p; .reg .b32 %r;\n"
       "  ld.param.u64 %rd1, [a];\n  ld.global.f32 %f1, [%rd1];\n"
       "  ld.global.u32 %r, [%rd1+4];\n  setp.ne.u32 %p, %r, 0;\n"
       "  @%p bra SET;\n  bra USE;\nSET:\n  ld.global.f32 %f2, [%rd1+8];\n"
       "USE:\n"
       "  min.f32 %f3, %f1, %f2;\n  st.global.f32 [%rd1], %f3;\n  ret;\n}\n",
       O);
  uint32_t *To = Out.data();
  LaunchResult R = cantFail(Module->launch("k", LaunchShape(), {&To}, *Memory));
  ASSERT_TRUE(R.Fault);
  EXPECT_EQ(R.Fault->Kind, FaultKind::UnwrittenRead);
}

// A loop that takes a branch of 40 instructions as often as the launch's last
// argument says.
TEST_F(PtxModule, BranchesCountWhereTheyAreTaken) {
  std::string Branch;
  for (int I = 0; I < 20; ++I)
    Branch += "mul.lo.u32 %r2, %r2, %r3; xor.b32 %r2, %r2, %r4;\n";
  std::string Ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 k_0, .param .u32 k_1, .param .u32 k_2) {\n"
      ".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [k_0]; ld.param.u32 %r3, [k_1];\n"
      "ld.param.u32 %r5, [k_2]; mov.u32 %r1, 0; mov.u32 %r2, %tid.x;\n"
      "mov.u32 %r4, %ntid.x;\n$LOOP:\nst.volatile.global.u32 [%rd1], %r2;\n"
      "setp.ge.u32 %p1, %r1, %r5; @%p1 bra $NEXT;\n" +
      Branch +
      "$NEXT:\nadd.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 100;\n"
      "@%p2 bra $LOOP;\nst.global.u32 [%rd1], %r2;\nret;\n}\n";
  CpuDeviceOptions O;
  O.CountSteps = true;
  O.MaxLaunchInstructions = 1 << 20;
  std::unique_ptr<CpuModule> M = cantFail(loadPtx(Ptx, O));
  auto Steps = [&](uint32_t Taken) {
    auto Memory = DeviceMemory::create();
    uint32_t Out = 0, Factor = 3;
    Memory->addBuffer(&Out, sizeof(Out));
    uint32_t *To = &Out;
    return cantFail(
               M->launch("k", LaunchShape(), {&To, &Factor, &Taken}, *Memory))
        .Steps;
  };
  double Never = Steps(0);
  EXPECT_GE(Never, 100 * 3);
  EXPECT_LE(Never, 100 * 12 + 40);
  double Always = Steps(100) - Never;
  EXPECT_GE(Always, 100 * 40);
  EXPECT_LE(Always, 100 * 44);
  EXPECT_EQ(10 * (Steps(10) - Never), Always);
}

} // namespace
