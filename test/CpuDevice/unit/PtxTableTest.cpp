//===- PtxTableTest.cpp - The table of PTX instructions -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../benchmarks/ptx-rows/Row.h"
#include "Ptx/InlineAsm.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <fstream>
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

/// The row of the only instruction of \p Text; null for none.
const PtxRule *ruleOf(StringRef Text) {
  Expected<ptx::Fragment> F = readAsm(Text);
  EXPECT_TRUE(bool(F)) << Text.str();
  if (!F) {
    consumeError(F.takeError());
    return nullptr;
  }
  EXPECT_EQ(F->Statements.size(), 1u);
  const auto *I = F->Statements.front().as<ptx::Instruction>();
  return I ? findPtxRule(PtxStatement(*I)) : nullptr;
}

TEST(PtxTable, EveryRowHasACase) {
  std::set<const PtxRule *> Covered;
  for (StringRef Name :
       {"ptx-values", "ptx-memory", "ptx-threads", "ptx-newer"}) {
    auto File =
        MemoryBuffer::getFile(Twine(CUPILOT_TEST_INPUTS) + "/" + Name + ".cu");
    ASSERT_TRUE(File) << Name.str();
    for (const std::string &Text : asmTexts((*File)->getBuffer())) {
      Expected<ptx::Fragment> P = readAsm(Text);
      // A text may be a part of one: the brace that closes the rest.
      if (!P) {
        consumeError(P.takeError());
        continue;
      }
      for (const ptx::Statement &S : P->Statements)
        if (const auto *I = S.as<ptx::Instruction>())
          Covered.insert(findPtxRule(PtxStatement(*I)));
    }
  }
  // Most rows are compared with a GPU's answers, to many operands
  // (ptx-rows.test); the rest of what the generator makes are no cases.
  std::ifstream Answers(CUPILOT_TEST_INPUTS "/ptx-rows.txt");
  ASSERT_TRUE(Answers);
  for (const ptxrows::Row &R :
       ptxrows::rowsNamed(ptxrows::readAnswers(Answers))) {
    Expected<ptx::Fragment> P = readAsm(R.Body);
    ASSERT_TRUE(bool(P)) << R.Name << toString(P.takeError());
    for (const ptx::Statement &S : P->Statements)
      if (const auto *I = S.as<ptx::Instruction>())
        Covered.insert(findPtxRule(PtxStatement(*I)));
  }
  for (const PtxRule &Rule : ptxRules())
    EXPECT_TRUE(Covered.count(&Rule)) << "no case for: " << Rule.Pattern;
}

TEST(PtxTable, MatchesModifiers) {
  EXPECT_TRUE(ruleOf("add.rn.ftz.f32 a, b, c;"));
  EXPECT_TRUE(ruleOf("ex2.approx.f32.ftz a, b;"));
  EXPECT_FALSE(ruleOf("add.rn.rz.f32 a, b, c;"));
  EXPECT_FALSE(ruleOf("add.f32.f32 a, b, c;"));
  EXPECT_FALSE(ruleOf("add a, b, c;"));
  EXPECT_FALSE(ruleOf("fma.f32 a, b, c, d;"));
  // Types keep their order, and conversions their direction.
  EXPECT_NE(ruleOf("cvt.rn.f16x2.e4m3x2 a, b;"),
            ruleOf("cvt.rn.satfinite.e4m3x2.f16x2 a, b;"));
}

TEST(PtxAsm, Operands) {
  ptx::Fragment F =
      cantFail(readAsm("ld.global.v2.u32 {a, _}, [$1 + 16]; // why\n"
                       "shfl.sync.up.b32 d|p, a, {b}, 0, ${:uid};"));
  ASSERT_EQ(F.Statements.size(), 2u);
  PtxStatement Load(*F.Statements[0].as<ptx::Instruction>());
  EXPECT_EQ(join(Load.parts(), " "), "ld global v2 u32");
  EXPECT_EQ(partsOf(Load.Operands[0]).size(), 2u);
  EXPECT_EQ(Load.operand(0).Kind, ptx::OperandKind::List); // No whole of it.
  EXPECT_EQ(Load.operand(2).Kind, ptx::OperandKind::List); // There is none.
  EXPECT_EQ(Load.operand(1).Parts[0].Name, "$1");
  PtxStatement Shuffle(*F.Statements[1].as<ptx::Instruction>());
  auto [Result, Predicate] = pairOf(Shuffle.operand(0));
  ASSERT_TRUE(Predicate);
  EXPECT_EQ(Result->Name, "d");
  EXPECT_EQ(Predicate->Name, "p");
  EXPECT_EQ(Shuffle.operand(2).Name, "b");
  EXPECT_EQ(Shuffle.operand(4).Name, "uid");
  EXPECT_EQ(plainText(*F.Text, F.Statements[0].At),
            "ld.global.v2.u32 {a, _}, [$1 + 16]");
  EXPECT_TRUE(errorToBool(readAsm("mov.b32 {a, b, c;").takeError()));
  EXPECT_TRUE(errorToBool(readAsm("}").takeError()));
}

/// What is not known of an asm statement without operands.
std::string unknownOf(StringRef Text) {
  LLVMContext C;
  Module M("", C);
  auto *T = FunctionType::get(Type::getVoidTy(C), false);
  auto *F = Function::Create(T, GlobalValue::ExternalLinkage, "f", M);
  IRBuilder<> B(BasicBlock::Create(C, "", F));
  B.CreateCall(InlineAsm::get(T, Text, "", /*hasSideEffects=*/true));
  B.CreateRetVoid();
  lowerInlineAsm(M, [](BodyLowering &, const PtxStatement &) {
    return std::optional<bool>();
  });
  EXPECT_FALSE(verifyModule(M, &errs()));
  auto *Call = dyn_cast<CallInst>(&F->getEntryBlock().front());
  MDNode *Unknown = Call ? Call->getMetadata("cupilot.unknown") : nullptr;
  return Unknown ? cast<MDString>(Unknown->getOperand(0))->getString().str()
                 : "";
}

TEST(PtxAsm, ScopesAndLabels) {
  EXPECT_EQ(unknownOf("{ .reg .pred p<2>; .reg .b32 v; { .reg .b16 x, y, v; "
                      "mov.b16 x, y; mov.b16 v, x; }"
                      "mov.b32 v, 7; @!p1 bra DONE; bra DONE; DONE: }"
                      "{ bra DONE; DONE: }"),
            "");
  EXPECT_EQ(unknownOf("{ .reg .b16 x; } mov.u16 x, 1;"), "'mov.u16 x, 1'");
  EXPECT_EQ(unknownOf(".reg .b32 r<5>; mov.b32 r4, 1; mov.b32 r5, 1;"),
            "'mov.b32 r5, 1'");
  EXPECT_EQ(unknownOf(".reg .b32 r1<3>; mov.b32 r12, 1; mov.b32 r102, 1;"),
            "'mov.b32 r102, 1'");
  EXPECT_EQ(unknownOf("{ L: } bra L;"), "'bra L'");
  EXPECT_EQ(unknownOf("L: L:"), "the label 'L', which stands twice,");
  EXPECT_EQ(unknownOf(".reg .pred p; @p\n tex.1d a ,\tb; "), "'tex.1d a , b'");
  EXPECT_EQ(unknownOf(".shared .b8 x[4];"),
            "the declaration '.shared .b8 x[4]'");
  EXPECT_EQ(unknownOf(".pragma \"nounroll\";"), "");
  EXPECT_EQ(unknownOf("mov.b32 {a, b, c;"),
            "what cannot be read (1:17: expected '}', found ';')");
}

} // namespace
