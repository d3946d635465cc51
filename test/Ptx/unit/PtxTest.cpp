//===- PtxTest.cpp - The reader of PTX --------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Corpus.h"
#include "cupilot/Ptx/GridWait.h"
#include "cupilot/Ptx/Link.h"
#include "cupilot/Ptx/Print.h"
#include "cupilot/Ptx/Reach.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace cupilot::ptx;

namespace {

Module read(std::string Text) {
  Diagnostic Why;
  std::optional<Module> M = readModule(std::move(Text), Why);
  EXPECT_TRUE(M) << Why.str();
  return M ? std::move(*M) : Module();
}

std::string errorOf(std::string Text) {
  Diagnostic Why;
  return readModule(std::move(Text), Why) ? "none" : Why.str();
}

/// The error of a function's body; its lines begin with 4.
std::string bodyError(const std::string &Body) {
  return errorOf(".version 8.0\n.target sm_80\n.func f() {\n" + Body + "\n}\n");
}

std::vector<Statement> statements(const std::string &Text) {
  static std::vector<std::shared_ptr<const std::string>> Texts;
  Diagnostic Why;
  std::optional<Fragment> F = readFragment(Text, Why);
  EXPECT_TRUE(F) << Text << ": " << Why.str();
  if (!F)
    return {};
  Texts.push_back(F->Text);
  return std::move(F->Statements);
}

Instruction single(const std::string &Text) {
  std::vector<Statement> S = statements(Text);
  EXPECT_EQ(S.size(), 1u) << Text;
  if (S.empty() || !S.front().as<Instruction>())
    return {};
  return *S.front().as<Instruction>();
}

TEST(Ptx, RoundTrip) {
  Module First = read(EverythingPtx);
  std::string Text = print(First);
  Module Second = read(Text);
  EXPECT_TRUE(First == Second) << Text;
  EXPECT_EQ(print(Second), Text);
}

TEST(Ptx, EqualityCounts) {
  Module First = read(EverythingPtx);
  // Another word anywhere is another module.
  for (const auto &[From, To] :
       std::vector<std::pair<std::string, std::string>>{
           {".u32 Counter = -3", ".s32 Counter = -3"},
           {"Counter = -3", "Counter = -4"},
           {"generic(Bytes)+4", "generic(Bytes)+5"},
           {"0xff00(Counter)", "0xff(Counter)"},
           {".maxnreg 32", ".maxnreg 33"},
           {"[%rd1 + -16]", "[%rd1 + 16]"},
           {"@!%p2 bra", "@%p2 bra"},
           {"L2::128B", "L2::64B"},
           {"inlined_at 1 20 5", "inlined_at 1 20 6"},
           {".noreturn;\n\tcall", ";\n\tcall"}}) {
    std::string Text = EverythingPtx;
    size_t At = Text.find(From);
    ASSERT_NE(At, std::string::npos) << From;
    Text.replace(At, From.size(), To);
    EXPECT_FALSE(First == read(Text)) << From;
  }
  // Where things stand is not.
  std::string Text = EverythingPtx;
  Text.replace(Text.find("ret;"), 4, "\n\n ret ; // here");
  EXPECT_TRUE(First == read(Text));
}

TEST(Ptx, HeadAndItems) {
  Module M = read(EverythingPtx);
  EXPECT_EQ(M.Needs, (Version{8, 8}));
  ASSERT_EQ(M.Target.size(), 2u);
  EXPECT_EQ(M.Target[0], "sm_90a");
  EXPECT_EQ(M.AddressSize, 64u);
  ASSERT_EQ(M.kernels().size(), 1u);
  const Function *K = M.function("kernel");
  ASSERT_TRUE(K);
  EXPECT_TRUE(K->IsKernel);
  EXPECT_EQ(K->Link, Linkage::Visible);
  ASSERT_EQ(K->Parameters.size(), 2u);
  ASSERT_TRUE(K->Parameters[0].Pointer);
  EXPECT_EQ(K->Parameters[0].Pointer->To, Space::Global);
  EXPECT_EQ(K->Parameters[0].Pointer->Align, 16u);
  EXPECT_EQ(K->Parameters[1].Align, 64u);
  EXPECT_EQ(K->Parameters[1].Dimensions[0], 128u);
  EXPECT_EQ(K->Tunings[0].first, Tuning::MaxNTid);
  EXPECT_EQ(K->Tunings[0].second, (std::vector<uint64_t>{128, 1, 1}));
  EXPECT_EQ(K->Tunings.back().first, Tuning::MaxClusterRank);
  const Function *Printf = M.function("vprintf");
  ASSERT_TRUE(Printf);
  EXPECT_FALSE(Printf->HasBody);
  EXPECT_EQ(Printf->Link, Linkage::Extern);
  EXPECT_FALSE(M.function("Counter"));
  EXPECT_TRUE(M.find("Counter"));
  EXPECT_TRUE(M.find("other")->as<Alias>());
  EXPECT_FALSE(M.find("nobody"));
  // Copies outlive what they were copied from.
  Module Copy;
  {
    Module Short = read(".version 8.0\n.target sm_80\n.func f();");
    Copy = Short;
  }
  EXPECT_EQ(Copy.function("f")->Name, "f");
}

TEST(Ptx, WaitsFirst) {
  auto Waits = [](const std::string &Body) {
    Module M = read(".version 8.0\n.target sm_90\n.address_size 64\n"
                    ".entry k(.param .u64 p) {\n.reg .pred %p;\n.reg .b64 "
                    "%a;\n.reg .b32 %r;\n" +
                    Body + "\n}\n");
    return waitsFirst(*M.function("k"));
  };
  const std::string Head = "griddepcontrol.launch_dependents;\n"
                           "ld.param.u64 %a, [p];\nmov.u32 %r, %tid.x;\n"
                           "setp.gt.u32 %p, %r, 7;\n",
                    Wait = "griddepcontrol.wait;\n",
                    Work = "ld.global.u32 %r, [%a];\n";
  EXPECT_TRUE(Waits(Head + "@%p bra end;\n" + Wait + Work + "end:\nret;"));
  EXPECT_TRUE(Waits(Head + "@%p ret;\n" + Wait + Work + "ret;"));
  // A loop before it, and behind it.
  EXPECT_TRUE(Waits(Head + "l:\n@%p bra l;\n" + Wait + "m:\n" + Work +
                    "@%p bra m;\nret;"));
  EXPECT_FALSE(Waits(Head + Work + Wait + "ret;"));
  EXPECT_FALSE(
      Waits(Head + "@%p bra work;\n" + Wait + "work:\n" + Work + "ret;"));
  EXPECT_FALSE(Waits(Head + "@%p " + Wait + Work + "ret;"));
  // Nobody waits; others may be waited for at a barrier.
  EXPECT_FALSE(Waits(Head + "ret;"));
  EXPECT_FALSE(Waits(Head + "bar.sync 0;\n" + Wait + "ret;"));
}

const Variable &variable(const Module &M, std::string_view Name) {
  return M.find(Name)->as<Declaration>()->Variables.front();
}

TEST(Ptx, Initialisers) {
  Module M = read(EverythingPtx);
  const Initialiser &Bytes = variable(M, "Bytes").Initial;
  std::vector<uint64_t> Values;
  for (const InitialValue &V : Bytes.Values)
    if (V.Kind == InitialKind::Integer)
      Values.push_back(V.Value);
  EXPECT_EQ(Values,
            (std::vector<uint64_t>{0, 0x7f, 15, 5, 5, 8, 20, ~uint64_t(0)}));
  const Variable &Places = variable(M, "Places");
  EXPECT_EQ(Places.Of, Type::U64);
  EXPECT_EQ(Places.In, Space::Global);
  EXPECT_EQ(Places.Dimensions.size(), 2u);
  ASSERT_EQ(Places.Initial.Addresses.size(), 4u);
  EXPECT_FALSE(Places.Initial.Addresses[0].Generic);
  EXPECT_TRUE(Places.Initial.Addresses[1].Generic);
  EXPECT_EQ(Places.Initial.Addresses[1].Offset, 4);
  EXPECT_EQ(Places.Initial.Addresses[2].Offset, 8);
  EXPECT_EQ(variable(M, "Taken").Initial.Addresses[2].Mask, 0xFF0000u);
  EXPECT_EQ(variable(M, "Vector4").Vector, 4u);
  EXPECT_EQ(variable(M, "Vector4").Initial.Values[3].Value,
            0xBF647AE147AE147Bu);
  EXPECT_EQ(variable(M, "Managed").Attributes.front(), "managed");
  EXPECT_EQ(variable(M, "Dynamic").Link, Linkage::Extern);
  EXPECT_FALSE(variable(M, "Dynamic").Dimensions.front());
}

TEST(Ptx, Instructions) {
  Instruction I =
      single("@!%p1 ld.global.L2::128B.v2.f32 {%f1, _}, [%rd1+-8];");
  EXPECT_EQ(I.Guard, "%p1");
  EXPECT_TRUE(I.GuardNegated);
  EXPECT_EQ(I.Opcode, "ld");
  EXPECT_EQ(I.Modifiers,
            (std::vector<std::string_view>{"global", "L2::128B", "v2", "f32"}));
  EXPECT_TRUE(I.has("v2"));
  EXPECT_FALSE(I.has("ld"));
  ASSERT_EQ(I.Operands.size(), 2u);
  EXPECT_EQ(I.Operands[0].Kind, OperandKind::Vector);
  EXPECT_EQ(I.Operands[0].Parts[1].Kind, OperandKind::Nothing);
  EXPECT_EQ(I.Operands[1].Kind, OperandKind::Address);
  EXPECT_EQ(I.Operands[1].Parts[0].Name, "%rd1");
  EXPECT_EQ(static_cast<int64_t>(I.Operands[1].Parts[0].Value), -8);

  I = single("call.uni (r), f, (a, b), proto;");
  ASSERT_EQ(I.Operands.size(), 4u);
  EXPECT_EQ(I.Operands[2].Kind, OperandKind::List);
  EXPECT_EQ(I.Operands[2].Parts.size(), 2u);

  I = single("cp.async.bulk.tensor.2d.shared::cluster.mbarrier::complete_tx::"
             "bytes .L2::cache_hint [a], [m, {x, y}], [b], c;");
  EXPECT_EQ(I.Modifiers[5], "mbarrier::complete_tx::bytes");
  EXPECT_EQ(I.Modifiers[6], "L2::cache_hint");
  EXPECT_EQ(I.Operands[1].Parts[1].Parts.size(), 2u);

  I = single("add.f32 %f1, 0fBF800000, -1.5;");
  EXPECT_EQ(I.Operands[1].Kind, OperandKind::Single);
  EXPECT_EQ(I.Operands[1].Value, 0xBF800000u);
  EXPECT_EQ(I.Operands[2].Kind, OperandKind::Double);
  EXPECT_EQ(I.Operands[2].Value, 0xBFF8000000000000u);

  I = single("setp.ne.b32 p|q, !r, 12U;");
  EXPECT_EQ(I.Operands[0].Kind, OperandKind::Pair);
  EXPECT_TRUE(I.Operands[1].Negated);
  EXPECT_TRUE(I.Operands[2].Unsigned);
  EXPECT_EQ(single("mov.u32 %r, %ctaid.x;").Operands[1].Name, "%ctaid.x");
}

TEST(Ptx, Constants) {
  auto Value = [](const std::string &Text) {
    Instruction I = single("mov.b64 a, " + Text + ";");
    EXPECT_EQ(I.Operands.size(), 2u) << Text;
    return static_cast<int64_t>(I.Operands.back().Value);
  };
  EXPECT_EQ(Value("-(1 + 2 * 3)"), -7);
  EXPECT_EQ(Value("7 - 2 - 1"), 4);
  EXPECT_EQ(Value("-7 / 2"), -3);
  EXPECT_EQ(Value("-7 % 4"), -3);
  EXPECT_EQ(Value("-1 >> 1"), -1);
  EXPECT_EQ(Value("(.u64)-1 >> 63"), 1);
  EXPECT_EQ(Value("1 << 64"), 0);
  EXPECT_EQ(Value("3 < 2 || 1 <= 1 && 2 != 3"), 1);
  EXPECT_EQ(Value("5 & 3 | 8 ^ 1"), 9);
  EXPECT_EQ(Value("0 ? 1 : 2 ? 3 : 4"), 3);
  EXPECT_EQ(Value("!0 + ~0"), 0);
  EXPECT_EQ(Value("-9223372036854775808 / -1"),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Value("-9223372036854775808 % -1"), 0);
  EXPECT_EQ(Value("0x1F + 010 + 0b11"), 42);
}

TEST(Ptx, Fragments) {
  std::vector<Statement> S = statements("{ .reg .pred p; .reg .b64 a, b<4>;\n "
                                        "L: @p bra L;\n add.s32 $0, $1, 1 }");
  ASSERT_EQ(S.size(), 7u);
  EXPECT_TRUE(S[0].as<Scope>()->Opens);
  EXPECT_EQ(S[1].as<Declaration>()->Variables[0].Of, Type::Pred);
  ASSERT_EQ(S[2].as<Declaration>()->Variables.size(), 2u);
  EXPECT_EQ(S[2].as<Declaration>()->Variables[1].Count, 4u);
  EXPECT_EQ(S[3].as<Label>()->Name, "L");
  EXPECT_EQ(S[5].as<Instruction>()->Operands[0].Name, "$0");
  EXPECT_FALSE(S[6].as<Scope>()->Opens);
  EXPECT_TRUE(statements("").empty());
  EXPECT_EQ(statements("membar.gl").size(), 1u);
  Diagnostic Why;
  EXPECT_FALSE(readFragment("} ret; {", Why));
  EXPECT_EQ(Why.str(), "1:1: this brace closes nothing");
}

TEST(Ptx, Places) {
  Module M = read(EverythingPtx);
  const Function *K = M.function("kernel");
  std::string_view Text = M.text();
  for (const Statement &S : K->Body)
    if (const auto *I = S.as<Instruction>(); I && I->Opcode == "brx") {
      EXPECT_EQ(Text.substr(S.At.Begin, S.At.End - S.At.Begin),
                "brx.idx %r1, jumps;");
      EXPECT_EQ(M.lineOf(S.At),
                1 + std::count(Text.begin(), Text.begin() + S.At.Begin, '\n'));
    }
}

TEST(Ptx, Renaming) {
  Module M = read(".version 8.0\n.target sm_80\n.global .b32 v;\n"
                  ".entry k(.param .b64 a) { .loc 1 2 3\n"
                  "mov.b64 %r, v+4; }");
  PrintOptions Options;
  Options.Rename = [](std::string_view Name) {
    return "<" + std::string(Name) + ">";
  };
  Options.DebugData = false;
  EXPECT_EQ(print(M.Items[1], Options),
            ".entry <k>(.param .b64 <a>)\n{\nmov.b64 <%r>, <v>+4;\n}\n");
}

TEST(Ptx, Errors) {
  EXPECT_EQ(errorOf(""),
            "1:1: expected '.version', with which a module begins, "
            "found the end of the text");
  EXPECT_EQ(errorOf(".version 8.0\n.func f();"),
            "2:1: expected '.target', found '.func'");
  EXPECT_EQ(errorOf(".version x"),
            "1:10: expected a version such as 9.0, found 'x'");
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_80\n.bogus x;"),
            "3:1: '.bogus' is no directive of a module that is known");
  EXPECT_EQ(errorOf(".version 99.1\n.target sm_80\n.bogus x;"),
            "3:1: '.bogus' is no directive of a module that is known (the "
            "module is PTX 99.1; what is known is PTX up to 9.0)");
  EXPECT_EQ(errorOf(".version 8.0 /*"), "1:14: this comment has no end");
  EXPECT_EQ(errorOf(".version 8.0\n.file 1 \"x\n"),
            "2:9: this string has no end");
  EXPECT_EQ(errorOf("\xef\xbb\xbf.version"),
            "1:1: this character has no meaning in PTX");
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_80\n.func f() {\n ret;\n"),
            "5:1: expected '}', found the end of the text");
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_80\n.global .b32 x[2] = {1, 2;"),
            "3:26: expected '}', found ';'");
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_80\n.global .align 3 .b32 x;"),
            "3:16: an alignment is a power of two");
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_80\n.global x;"),
            "3:9: expected a type such as '.b32', found 'x'");
  EXPECT_EQ(bodyError("  add.s32 %r1, %r2\n  ret;"),
            "5:3: expected ';', found 'ret'");
  EXPECT_EQ(bodyError("add.s32 %r1, , 2;"),
            "4:14: expected an operand, found ','");
  EXPECT_EQ(bodyError("mov.b64 %r1, 0x10000000000000000;"),
            "4:14: '0x10000000000000000' has more than 64 bits");
  EXPECT_EQ(bodyError("mov.b64 %r1, 09;"), "4:14: '09' is no number");
  EXPECT_EQ(bodyError("mov.b64 %r1, 1 / 0;"), "4:19: a division by zero");
  EXPECT_EQ(bodyError(".entry x;"),
            "4:1: '.entry' is no directive of a function's body that is known");
  EXPECT_EQ(bodyError(".reg .b32 %r<0>;"),
            "4:14: a range of registers has 1 to 2147483647");
  EXPECT_EQ(bodyError("Add.s32 a, b;"),
            "4:1: expected an instruction, found 'Add.s32'");
}

TEST(Ptx, NestingEnds) {
  auto Repeat = [](const std::string &Text, size_t Times) {
    std::string Result;
    for (size_t I = 0; I < Times; ++I)
      Result += Text;
    return Result;
  };
  for (const char *Each : {"(", "-", "~", "[", "{", "1?", "1+(", "a|", "!"})
    EXPECT_NE(bodyError("mov.b32 a, " + Repeat(Each, 100000)), "none") << Each;
  for (const char *Each : {"{", "a=", "(", "generic(", "0xff("})
    EXPECT_NE(errorOf(".version 8.0\n.target sm_80\n.global .b32 x = " +
                      Repeat(Each, 100000)),
              "none")
        << Each;
  // Scopes may be as deep as they like.
  EXPECT_EQ(bodyError(Repeat("{", 100000) + Repeat("}", 100000)), "none");
}

/// What is read of any text can be printed and read again.
void holds(const std::string &Text) {
  Diagnostic Why;
  std::optional<Module> M = readModule(Text, Why);
  if (!M) {
    ASSERT_GT(Why.Line, 0u);
    ASSERT_GT(Why.Column, 0u);
    ASSERT_FALSE(Why.Message.empty());
    return;
  }
  std::string Printed = print(*M);
  std::optional<Module> Again = readModule(Printed, Why);
  ASSERT_TRUE(Again) << Why.str() << "\n" << Printed;
  ASSERT_TRUE(*M == *Again) << Printed;
}

TEST(Ptx, Cuts) {
  std::string Text = EverythingPtx;
  for (size_t Size = 0; Size < Text.size(); ++Size)
    holds(Text.substr(0, Size));
}

TEST(Ptx, Mutations) {
  std::string Text = EverythingPtx;
  std::mt19937 Random(1);
  auto Pick = [&](size_t Below) { return Random() % Below; };
  static const std::string Marks = "{}()[]<>;:,.@!+-|=\"/\\%_$x0 \n";
  unsigned Read = 0;
  for (int Round = 0; Round < 5000; ++Round) {
    std::string Changed = Text;
    for (size_t Times = 1 + Pick(3); Times > 0; --Times) {
      size_t At = Pick(Changed.size()), Size = 1 + Pick(12);
      switch (Pick(5)) {
      case 0:
        Changed.erase(At, Size);
        break;
      case 1:
        Changed[At] = Marks[Pick(Marks.size())];
        break;
      case 2:
        Changed.insert(At, 1, Marks[Pick(Marks.size())]);
        break;
      case 3:
        Changed.insert(At, Text.substr(Pick(Text.size()), Size));
        break;
      default:
        Changed[At] = static_cast<char>(Pick(256));
        break;
      }
    }
    holds(Changed);
    Diagnostic Why;
    Read += readModule(Changed, Why).has_value();
    if (HasFatalFailure())
      return;
  }
  // Some break nothing, most do.
  EXPECT_GT(Read, 50u);
  EXPECT_LT(Read, 4750u);
}

TEST(Reach, FunctionsAndVariables) {
  Module M = read(".version 8.0\n.target sm_80\n"
                  ".global .u64 g = h;\n.global .u32 h;\n.global .u32 i;\n"
                  ".func f() { ld.global.u64 %rd1, [g+8]; ret; }\n"
                  ".func k() { call f; }\n.func other() { ret; }\n");
  EXPECT_EQ(reachOf(M, "k"),
            (std::vector<std::string_view>{"k", "f", "g", "h"}));
  EXPECT_EQ(reachOf(M, "other"), std::vector<std::string_view>{"other"});
  EXPECT_TRUE(reachOf(M, "nobody").empty());
}

TEST(Link, OneModuleOfUnits) {
  std::vector<Module> Units;
  Units.push_back(
      read(".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n"
           ".extern .func f;\n.extern .global .u32 there;\n.global .u32 own;\n"
           ".weak .func w { ret; }\n.extern .shared .b8 dynamic[];\n"
           ".visible .entry k() {\n.loc 1 5 1\nst.global.u32 [own], 1;\n"
           "st.global.u32 [there], 2;\ncall f;\nret;\n}\n"));
  Units.push_back(read(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"b.cu\"\n"
      ".visible .global .u32 there = 3;\n.global .u32 own = 4;\n"
      ".weak .func w { trap; }\n.extern .shared .b8 dynamic[];\n"
      ".visible .func f {\n.loc 1 6 1\nst.global.u32 [own], 5;\nret;\n}\n"));
  Module M = read(cupilot::ptx::link(Units));
  EXPECT_EQ(M.Needs, (Version{9, 0}));
  EXPECT_EQ(M.Target, std::vector<std::string_view>{"sm_90a"});
  EXPECT_TRUE(M.function("f")->HasBody);
  EXPECT_EQ(reachOf(M, "k"), (std::vector<std::string_view>{
                                 "k", "own$unit0", "there", "f", "own$unit1"}));
  // The first weak function stays, and files keep numbers of their own.
  EXPECT_EQ(M.function("w")->Body.size(), 1u);
  EXPECT_EQ(M.function("w")->Body[0].as<Instruction>()->Opcode, "ret");
  EXPECT_EQ(M.function("f")->Body[0].as<Location>()->File, (1u << 20) + 1);
  EXPECT_EQ(std::count_if(M.Items.begin(), M.Items.end(),
                          [](const Item &I) { return I.as<SourceFile>(); }),
            2);
  EXPECT_EQ(std::count_if(M.Items.begin(), M.Items.end(),
                          [](const Item &I) {
                            const auto *D = I.as<Declaration>();
                            return D && D->Variables[0].Name == "dynamic";
                          }),
            1);
}

} // namespace
