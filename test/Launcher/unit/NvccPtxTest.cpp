//===- NvccPtxTest.cpp - Identities from PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Portable/UnitName.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

static const char Plain[] = R"(//
.version 9.0
.target sm_90
.address_size 64
.global .align 1 .b8 $str[3] = {37, 100, 0};
.visible .const .align 4 .b8 table[16];
.func  (.param .b32 func_retval0) _Z6helperf(
	.param .b32 _Z6helperf_param_0
)
{
	.reg .f32 	%f<2>;
	ld.param.f32 	%f1, [_Z6helperf_param_0];
	st.param.f32 	[func_retval0+0], %f1;
	ret;
}
.visible .entry _Z1kPf(
	.param .u64 _Z1kPf_param_0
)
.maxntid 128, 1, 1
{
	.local .align 16 .b8 	__local_depot1[32];
	.reg .pred 	%p<2>;
	.shared .align 4 .b8 _ZZ1kPfE4tile[512];
	ld.param.u64 	%rd1, [_Z1kPf_param_0];
	setp.eq.s64 	%p1, %rd1, 0;
	@%p1 bra 	$L__BB1_2;
	{ // callseq 0, 0
	.param .b32 param0;
	st.param.f32 	[param0+0], %f1;
	.param .b32 retval0;
	call.uni (retval0), 
	_Z6helperf, 
	(
	param0
	);
	} // callseq 0
	mov.u32 	%r1, _ZZ1kPfE4tile;
	add.f32 	%f2, %f1, 0f3F800000;
$L__BB1_2:
	ret;
}
)";

static NvccPtx parse(std::string Text) {
  Expected<NvccPtx> M = NvccPtx::parse(std::move(Text));
  if (!M)
    ADD_FAILURE() << toString(M.takeError());
  return std::move(*M);
}

static std::string replaced(std::string Text, StringRef From, StringRef To) {
  size_t At = 0;
  bool Found = false;
  while ((At = Text.find(From.str(), At)) != std::string::npos) {
    Text.replace(At, From.size(), To.str());
    At += To.size();
    Found = true;
  }
  EXPECT_TRUE(Found) << From.str();
  return Text;
}

static std::string identityOf(std::string Text, StringRef Kernel = "_Z1kPf",
                              StringRef Context = "") {
  KernelIdentity I = parse(std::move(Text)).identify(Kernel, Context);
  EXPECT_EQ(I.Refusal ? I.Refusal->text() : "", "");
  return I.Digest;
}

static std::string refusal(std::string Text, StringRef Kernel = "_Z1kPf") {
  KernelIdentity I = parse(std::move(Text)).identify(Kernel);
  EXPECT_EQ(I.Digest, "");
  return I.Refusal ? I.Refusal->text() : "";
}

// Where two kernels use a shared variable it stands outside of them.
TEST(NvccPtx, DemotedSharedVariables) {
  std::string Inside = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry _Z1kPf(.param .u64 _Z1kPf_param_0) {
  .reg .b32 %r<2>;
  // demoted variable
  .shared .align 4 .b8 tile[128];
  mov.u32 %r1, tile;
  ret;
}
)";
  std::string Outside = replaced(
      replaced(Inside, "  .shared .align 4 .b8 tile[128];\n", ""),
      ".visible .entry", ".shared .align 4 .b8 tile[128];\n.visible .entry");
  EXPECT_EQ(identityOf(Inside), identityOf(Outside));
  EXPECT_NE(identityOf(Inside), identityOf(replaced(Inside, "128", "256")));
  EXPECT_NE(identityOf(Inside),
            identityOf(replaced(Inside, ".align 4", ".align 16")));
  // A table of the toolkit's is no variable of the unit.
  Expected<NvccPtx> M = NvccPtx::parse(replaced(
      replaced(Inside, "tile;", "__cudart_i2opi_f;"), ".visible .entry",
      ".global .align 4 .b8 __cudart_i2opi_f[4] = {1, 2, 3, 4};\n"
      ".visible .entry"));
  ASSERT_TRUE(bool(M));
  Expected<NvccPtx::Closure> Variables = M->closure("_Z1kPf");
  ASSERT_TRUE(bool(Variables));
  EXPECT_TRUE(Variables->Variables.empty());
}

// Pointers to functions are of one image.
TEST(NvccPtx, FunctionPointers) {
  std::string Direct = R"(.version 9.0
.target sm_90
.address_size 64
.func f(.param .b32 f_param_0) { ret; }
.visible .entry _Z1kPf(.param .u64 _Z1kPf_param_0) {
  .reg .b64 %rd<2>;
  { .param .b32 param0; st.param.b32 [param0], 1; call.uni f, (param0); }
  ret;
}
)";
  auto Uses = [](const std::string &Text) {
    Expected<NvccPtx> M = NvccPtx::parse(Text);
    EXPECT_TRUE(bool(M));
    Expected<NvccPtx::Closure> Answer = M->closure("_Z1kPf");
    EXPECT_TRUE(bool(Answer));
    return Answer && Answer->FunctionPointers;
  };
  EXPECT_FALSE(Uses(Direct));
  EXPECT_TRUE(Uses(replaced(Direct, "  ret;", "  mov.u64 %rd1, f; ret;")));
  EXPECT_TRUE(Uses(replaced(Direct, "call.uni f, (param0);",
                            "prototype_0 : .callprototype ()_ (.param .b32 _); "
                            "call %rd1, (param0), prototype_0;")));
}

TEST(NvccPtx, NamesAndNumbersDoNotMatter) {
  std::string Base = identityOf(Plain);
  EXPECT_EQ(Base, identityOf(replaced(Plain, "$L__BB1_2", "$L__BB7_9")));
  EXPECT_EQ(Base,
            identityOf(replaced(Plain, "__local_depot1", "__local_depot4")));
  EXPECT_EQ(Base, identityOf(replaced(Plain, "_Z6helperf", "_ZN1a4otherEf")));
  EXPECT_EQ(Base, identityOf(replaced(Plain, "_ZZ1kPfE4tile", "_ZZ1kPfE3abc")));
  EXPECT_EQ(Base, identityOf(replaced(Plain, "_Z1kPf", "_Z2k2Pf"), "_Z2k2Pf"));
  EXPECT_EQ(Base, identityOf(replaced(Plain, "callseq 0", "callseq 12")));
  EXPECT_EQ(Base, identityOf(replaced(Plain, ".version 9.0", ".version 8.7")));
  // Linkage, unrelated code, lines for a debugger and labels for it.
  EXPECT_EQ(Base,
            identityOf(replaced(Plain, ".visible .entry", ".weak .entry")));
  EXPECT_EQ(Base, identityOf(std::string(Plain) +
                             ".visible .entry other()\n{\n\tret;\n}\n"));
  EXPECT_EQ(Base, identityOf(replaced(Plain, "\tret;",
                                      "\t.loc 1 2 3, function_name $L__info0, "
                                      "inlined_at 1 3 4\n$L__tmp3:\n\tret;") +
                             ".file 1 \"/x/y.cu\"\n.section .debug_str\n{\n"
                             "$L__info0:\n.b8 95\n}\n"));
}

TEST(NvccPtx, CodeMatters) {
  std::string Base = identityOf(Plain);
  for (auto [From, To] : {std::pair("0f3F800000", "0f3F800001"),
                          {"add.f32", "add.ftz.f32"},
                          {"add.f32", "sub.f32"},
                          {"128, 1, 1", "256, 1, 1"},
                          {"sm_90", "sm_90a"},
                          {"tile[512]", "tile[1024]"},
                          {"setp.eq.s64", "setp.ne.s64"},
                          {"@%p1", "@!%p1"},
                          {"param_0\n)\n.maxn",
                           "param_0,\n\t.param .u32 _Z1kPf_param_1\n)\n.maxn"},
                          {"[func_retval0+0], %f1", "[func_retval0+0], %f0"}})
    EXPECT_NE(Base, identityOf(replaced(Plain, From, To))) << From;
  EXPECT_NE(Base, identityOf(Plain, "_Z1kPf", "-O1"));
  // A modifier with colons is no label, though it stands once.
  auto Loads = [](const char *How) {
    return identityOf(replaced(Plain, "st.param.f32 \t[param0+0], %f1;",
                               std::string(How) +
                                   " %f1, [%rd1];\n"
                                   "\tst.param.f32 \t[param0+0], %f1;"));
  };
  EXPECT_NE(Loads("ld.global.L2::128B.f32"), Loads("ld.const.L2::128B.f32"));
  EXPECT_EQ(Loads("ld.global.L2::128B.f32"), Loads("ld.global.L2::128B.f32"));
  // Which of two labels is jumped to.
  std::string Two =
      replaced(Plain, "$L__BB1_2:\n", "$L__A:\nadd.s32 %r1, %r1, 1;\n$L__B:\n");
  EXPECT_NE(identityOf(replaced(Two, "bra \t$L__BB1_2", "bra \t$L__A")),
            identityOf(replaced(Two, "bra \t$L__BB1_2", "bra \t$L__B")));
}

TEST(NvccPtx, WhereAnAssertionStandsDoesNotMatter) {
  const std::string Text = R"(.version 9.0
.target sm_90
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 $str[2] = {110, 0};
.global .align 1 .b8 $str$1[2] = {102, 0};
.global .align 1 .b8 __unnamed_1[2] = {103, 0};
.visible .entry _Z1ki(.param .u32 p)
{
	mov.u64 	%rd1, $str;
	cvta.global.u64 	%rd2, %rd1;
	mov.u64 	%rd3, $str$1;
	cvta.global.u64 	%rd4, %rd3;
	mov.u64 	%rd5, __unnamed_1;
	cvta.global.u64 	%rd6, %rd5;
	{ // callseq 0, 0
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd2;
	.param .b64 param1;
	st.param.b64 	[param1+0], %rd4;
	.param .b32 param2;
	st.param.b32 	[param2+0], 28;
	.param .b64 param3;
	st.param.b64 	[param3+0], %rd6;
	.param .b64 param4;
	st.param.b64 	[param4+0], 1;
	call.uni 
	__assertfail, 
	(
	param0, 
	param1, 
	param2, 
	param3, 
	param4
	);
	} // callseq 0
	ret;
}
)";
  std::string Base = identityOf(Text, "_Z1ki");
  for (auto [From, To] : {std::pair("[param2+0], 28", "[param2+0], 7"),
                          {"$str$1[2] = {102, 0}", "$str$1[3] = {47, 102, 0}"},
                          {"_1[2] = {103, 0}", "_1[3] = {104, 103, 0}"}})
    EXPECT_EQ(Base, identityOf(replaced(Text, From, To), "_Z1ki")) << From;
  for (auto [From, To] : {std::pair("$str[2] = {110, 0}", "$str[2] = {111, 0}"),
                          {"[param4+0], 1", "[param4+0], 2"},
                          {"[param1+0], %rd4", "[param1+0], %rd6"},
                          {"\tcall.uni ", "\ttrap;\n\tcall.uni "}})
    EXPECT_NE(Base, identityOf(replaced(Text, From, To), "_Z1ki")) << From;
  // Texts and registers that something else uses are data.
  for (const char *Use :
       {"\tst.global.u64 [%rd9], %rd4;\n\tret;",
        "\tst.global.u64 [%rd9], %rd3;\n\tret;",
        "\tmov.u64 %rd8, $str$1;\n\tst.global.u64 [%rd9], %rd8;\n\tret;",
        "\tmov.u64 %rd3, $str;\n\tret;"}) {
    std::string Used = replaced(Text, "\tret;", Use);
    EXPECT_NE(identityOf(Used, "_Z1ki"),
              identityOf(replaced(Used, "{102, 0}", "{103, 0}"), "_Z1ki"))
        << Use;
  }
}

TEST(NvccPtx, VariablesKeepTheirNames) {
  std::string Used =
      replaced(Plain, "mov.u32 	%r1, _ZZ1kPfE4tile", "mov.u64 %rd2, table");
  EXPECT_EQ(parse(Plain).closure("_Z1kPf")->Variables.size(), 0u);
  EXPECT_EQ(parse(Used).closure("_Z1kPf")->Variables,
            std::vector<std::string>{"table"});
  EXPECT_NE(identityOf(Used), identityOf(replaced(Used, "table", "other")));
  EXPECT_NE(identityOf(Used),
            identityOf(replaced(Used, "table[16]", "table[32]")));
  // Not the part that nvcc makes of the unit's path.
  auto Static = [&](StringRef Unit, StringRef Space, StringRef Rest) {
    return identityOf(
        replaced(Used, "table", ("_ZN" + Unit + Space + Rest + "E").str()));
  };
  std::string One = Static("35_INTERNAL_d8b831c9_5_st_cu__Z2lkPfi",
                           "37_GLOBAL__N__d8b831c9_5_st_cu__Z2lkPfi", "4anon");
  EXPECT_EQ(One, Static("36_INTERNAL_3950143b_6_st2_cu__Z2lkPfi",
                        "38_GLOBAL__N__3950143b_6_st2_cu__Z2lkPfi", "4anon"));
  EXPECT_NE(One, Static("35_INTERNAL_d8b831c9_5_st_cu__Z2lkPfi", "", "4anon"));
  EXPECT_NE(One, Static("35_INTERNAL_d8b831c9_5_st_cu__Z2lkPfi",
                        "37_GLOBAL__N__d8b831c9_5_st_cu__Z2lkPfi", "4anom"));
  // A literal is known by its content.
  std::string Text =
      replaced(Plain, "mov.u32 	%r1, _ZZ1kPfE4tile", "mov.u64 %rd2, $str");
  EXPECT_EQ(parse(Text).closure("_Z1kPf")->Variables.size(), 0u);
  EXPECT_EQ(identityOf(Text), identityOf(replaced(Text, "$str", "$str$7")));
  EXPECT_NE(identityOf(Text),
            identityOf(replaced(Text, "{37, 100", "{37, 101")));
}

TEST(NvccPtx, Refusals) {
  EXPECT_EQ(refusal(replaced(Plain, "sm_90", "sm_90, debug")),
            "it is compiled without optimisation");
  EXPECT_EQ(refusal(replaced(Plain, "add.f32 	%f2",
                             "mov.u32 %r9, %envreg1;\nadd.f32 %f2")),
            "it synchronises with other blocks, or depends on how the driver "
            "launched it");
}

TEST(NvccPtx, UndefinedFunctions) {
  std::string Declared = replaced(
      Plain, ".address_size 64",
      ".address_size 64\n.extern .func (.param .b32 r) other (.param .b32 p);\n"
      ".extern .func (.param .b32 r) vprintf (.param .b32 p);");
  EXPECT_EQ(refusal(replaced(Declared, "\n\t_Z6helperf, ", "\n\tother, ")),
            "it calls 'other', which this unit does not define");
  identityOf(replaced(Declared, "\n\t_Z6helperf, ", "\n\tvprintf, "));
}

// Of relocatable device code: the prefix of what is of one unit alone, and
// functions that another unit may have too.
TEST(NvccPtx, RelocatableNames) {
  EXPECT_EQ(withoutUnitName("__nv_static_20__a564fd5f_4_a_cu_tab__Z4statPfi"),
            "_Z4statPfi");
  EXPECT_EQ(withoutUnitName("__nv_static_23__0f6d35d4_4_c_cu_econst_svar"),
            "svar");
  EXPECT_EQ(withoutUnitName("_ZL4statPfi__intern__e41e0a2cac6abe2c"),
            "_ZL4statPfi");
  EXPECT_EQ(withoutUnitName("var__static__00ff"), "var");
  for (const char *Same :
       {"", "_Z1kPf", "__nv_static_", "__nv_static_x",
        "__nv_static_9999999999_", "__nv_static_20__short", "__nv_static_1__a",
        "__nv_static_1__a_", "__intern__00", "k__intern__", "k__intern__zz"})
    EXPECT_EQ(withoutUnitName(Same), Same);
  NvccPtx M = parse(
      replaced(Plain, "_Z1kPf", "__nv_static_20__a564fd5f_4_a_cu_tab__Z1kPf"));
  EXPECT_EQ(M.find("_ZL1kPf"), M.kernels().front());
  EXPECT_EQ(M.identify(M.kernels().front()).Digest,
            parse(Plain).identify("_Z1kPf").Digest);
  NvccPtx Weak = parse(replaced(Plain, ".func  (", ".weak .func  ("));
  Expected<NvccPtx::Closure> Found = Weak.closure("_Z1kPf");
  ASSERT_TRUE(bool(Found)) << toString(Found.takeError());
  EXPECT_EQ(Found->WeakFunction, "_Z6helperf");
}

TEST(NvccPtx, FindAndRename) {
  NvccPtx M = parse(Plain);
  EXPECT_EQ(M.target(), "sm_90");
  EXPECT_EQ(M.kernels(), std::vector<std::string>{"_Z1kPf"});
  EXPECT_EQ(M.find("_Z1kPf"), "_Z1kPf");
  EXPECT_EQ(M.find("_ZL1kPf"), "_Z1kPf"); // static, as clang has it.
  EXPECT_EQ(M.find("_Z1kPd"), "");
  NvccPtx R = parse(
      M.renamed(std::pair<std::string, std::string>("_Z1kPf", "new_name")));
  EXPECT_EQ(R.kernels(), std::vector<std::string>{"new_name"});
  EXPECT_EQ(R.identify("new_name").Digest, M.identify("_Z1kPf").Digest);
}

TEST(NvccPtx, Broken) {
  for (const char *Text :
       {"", ".version 9.0\n", "{", ".target sm_90\n.entry k(",
        ".target sm_90\n.global .b8 \"x", "/* ", ")",
        ".target sm_90\n.entry k() { [ }"}) {
    Expected<NvccPtx> M = NvccPtx::parse(Text);
    EXPECT_FALSE(bool(M)) << Text;
    consumeError(M.takeError());
  }
  // What is cut off anywhere is refused or read; never a crash.
  for (size_t I = 0; I < sizeof(Plain); I += 7)
    if (Expected<NvccPtx> M = NvccPtx::parse(std::string(Plain, I)))
      for (const std::string &Kernel : M->kernels())
        (void)M->identify(Kernel);
    else
      consumeError(M.takeError());
}
