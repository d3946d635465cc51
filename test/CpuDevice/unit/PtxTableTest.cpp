//===- PtxTableTest.cpp - The table of PTX instructions -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/InlineAsm.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <set>

using namespace cupilot;
using namespace llvm;

namespace {

/// The string literals of a source file, adjacent ones joined, with operands
/// written as in LLVM IR.
std::vector<std::string> asmTexts(StringRef Source) {
  std::vector<std::string> Texts;
  bool Joined = false;
  for (size_t I = 0; I < Source.size(); ++I) {
    if (Source.substr(I).starts_with("//")) {
      I = std::min(Source.find('\n', I), Source.size());
    } else if (Source[I] == '"') {
      if (!Joined)
        Texts.emplace_back();
      for (++I; Source[I] != '"'; ++I) {
        if (Source[I] == '%' && Source[I + 1] == '%')
          ++I;
        Texts.back() +=
            Source[I] == '%' && isDigit(Source[I + 1]) ? '$' : Source[I];
      }
      Joined = true;
    } else if (!isSpace(Source[I])) {
      Joined = false;
    }
  }
  return Texts;
}

PtxStatement single(StringRef Text) {
  auto P = parsePtx(Text);
  EXPECT_TRUE(bool(P)) << Text.str();
  if (!P) {
    consumeError(P.takeError());
    return {};
  }
  EXPECT_EQ(P->Statements.size(), 1u);
  return P->Statements.front();
}

TEST(PtxTable, EveryRowHasACase) {
  std::set<const PtxRule *> Covered;
  for (StringRef Name :
       {"ptx-values", "ptx-memory", "ptx-threads", "ptx-newer"}) {
    auto File =
        MemoryBuffer::getFile(Twine(CUPILOT_TEST_INPUTS) + "/" + Name + ".cu");
    ASSERT_TRUE(File) << Name.str();
    for (const std::string &Text : asmTexts((*File)->getBuffer())) {
      Expected<PtxProgram> P = parsePtx(Text);
      // A text may be a part of one: the brace that closes the rest.
      if (!P) {
        consumeError(P.takeError());
        continue;
      }
      for (const PtxStatement &S : P->Statements)
        if (S.Label.empty())
          Covered.insert(findPtxRule(S));
    }
  }
  for (const PtxRule &Rule : ptxRules())
    EXPECT_TRUE(Covered.count(&Rule)) << "no case for: " << Rule.Pattern;
}

TEST(PtxTable, MatchesModifiers) {
  EXPECT_TRUE(findPtxRule(single("add.rn.ftz.f32 a, b, c;")));
  EXPECT_TRUE(findPtxRule(single("ex2.approx.f32.ftz a, b;")));
  EXPECT_FALSE(findPtxRule(single("add.rn.rz.f32 a, b, c;")));
  EXPECT_FALSE(findPtxRule(single("add.f32.f32 a, b, c;")));
  EXPECT_FALSE(findPtxRule(single("add a, b, c;")));
  EXPECT_FALSE(findPtxRule(single("fma.f32 a, b, c, d;")));
  // Types keep their order, and conversions their direction.
  EXPECT_NE(findPtxRule(single("cvt.rn.f16x2.e4m3x2 a, b;")),
            findPtxRule(single("cvt.rn.satfinite.e4m3x2.f16x2 a, b;")));
}

TEST(PtxAsm, Scopes) {
  PtxProgram P =
      cantFail(parsePtx("{ .reg .pred p<2>; { .reg .b16 x, y; mov.b16 x, y; }"
                        "@!p1 bra DONE; mov.u32 $0, x; DONE: }"));
  ASSERT_EQ(P.Statements.size(), 4u);
  EXPECT_EQ(P.Statements[0].operand(0), "x#2");
  EXPECT_EQ(P.Statements[1].Guard, "p1#1");
  EXPECT_TRUE(P.Statements[1].GuardNegated);
  EXPECT_EQ(P.Statements[1].operand(0), P.Statements[3].Label);
  EXPECT_EQ(P.Statements[2].operand(1), "x");
  EXPECT_EQ(P.Registers.lookup("p0#1"), 1u);
  EXPECT_EQ(P.Registers.lookup("y#2"), 16u);
}

TEST(PtxAsm, Operands) {
  PtxStatement S = single("ld.global.v2.u32 {a, _}, [$1 + 16]; // why");
  ASSERT_EQ(S.Operands.size(), 2u);
  EXPECT_EQ(S.Operands[0], (std::vector<std::string>{"a", "_"}));
  EXPECT_EQ(S.operand(1), "[$1+16]");
  EXPECT_EQ(single("mov.u32 x, %tid.x;").operand(1), "%tid.x");
  EXPECT_TRUE(errorToBool(parsePtx(".shared .b8 x[4];").takeError()));
  EXPECT_TRUE(errorToBool(parsePtx("mov.b32 {a, b, c;").takeError()));
  EXPECT_TRUE(errorToBool(parsePtx("}").takeError()));
}

} // namespace
