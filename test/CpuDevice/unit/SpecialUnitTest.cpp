//===- SpecialUnitTest.cpp - All answers of the special unit --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execute/SpecialUnit.h"
#include "gtest/gtest.h"
#include <bit>
#include <fstream>
#include <map>
#include <sstream>

using namespace cupilot;

namespace {
/// What an H200 answered to a range of arguments, as benchmarks/
/// device-answers.cu adds it up.
struct Digest {
  std::string Instruction;
  uint64_t First = 0, Count = 0, Sum = 0;
};
} // namespace

static std::vector<Digest> recordedDigests() {
  std::vector<Digest> All;
  std::ifstream File(CUPILOT_TEST_INPUTS "/gpu-digests.txt");
  for (std::string Line; std::getline(File, Line);) {
    if (Line.starts_with("#"))
      continue;
    Digest &D = All.emplace_back();
    std::istringstream(Line) >> D.Instruction >> std::hex >> D.First >>
        D.Count >> D.Sum;
  }
  return All;
}

static uint32_t answer(UnitOp Op, bool Flush, uint32_t Bits) {
  return std::bit_cast<uint32_t>(
      specialUnit(Op, Flush ? UnitForm::Flushed : UnitForm::Single,
                  std::bit_cast<float>(Bits)));
}

/// Of float64, the upper half counts.
static uint32_t upperAnswer(UnitOp Op, uint32_t Bits) {
  return static_cast<uint32_t>(
      std::bit_cast<uint64_t>(
          specialUnit(Op, std::bit_cast<double>(uint64_t(Bits) << 32))) >>
      32);
}

static void expectDigest(const Digest &D) {
  static const std::map<std::string, UnitOp> Ops = {
      {"ex2", UnitOp::Ex2},   {"lg2", UnitOp::Lg2},     {"rcp", UnitOp::Rcp},
      {"sqrt", UnitOp::Sqrt}, {"rsqrt", UnitOp::Rsqrt}, {"sin", UnitOp::Sin},
      {"cos", UnitOp::Cos},   {"tanh", UnitOp::Tanh}};
  const auto Op = Ops.find(D.Instruction.substr(0, D.Instruction.find('.')));
  ASSERT_NE(Op, Ops.end()) << D.Instruction;
  const bool Flush = D.Instruction.find(".ftz") != std::string::npos;
  const bool Double = D.Instruction.ends_with(".f64");
  uint64_t Sum = 0;
  for (uint64_t At = D.First; At < D.First + D.Count; ++At) {
    auto Bits = static_cast<uint32_t>(At);
    uint64_t Z = At << 32 | (Double ? upperAnswer(Op->second, Bits)
                                    : answer(Op->second, Flush, Bits));
    Z += 0x9e3779b97f4a7c15;
    Z = (Z ^ Z >> 30) * 0xbf58476d1ce4e5b9;
    Z = (Z ^ Z >> 27) * 0x94d049bb133111eb;
    Sum += Z ^ Z >> 31;
  }
  EXPECT_EQ(Sum, D.Sum) << D.Instruction << " from " << std::hex << D.First;
}

/// Some binades: those that meet all coefficients, and those at the ends of
/// the range.
TEST(SpecialUnitTest, AnswersOfWholeBinades) {
  unsigned Checked = 0;
  for (const Digest &D : recordedDigests())
    if (D.Count == 1u << 23) {
      expectDigest(D);
      ++Checked;
    }
  EXPECT_GT(Checked, 30u);
}

/// All 2^32 arguments of each instruction; takes minutes.
TEST(SpecialUnitTest, DISABLED_AnswersToAllArguments) {
  for (const Digest &D : recordedDigests())
    if (D.Count > 1u << 23)
      expectDigest(D);
}

TEST(SpecialUnitTest, ShorterTypesAreCutOff) {
  auto Of = [](UnitOp Op, UnitForm Form, uint32_t Bits) {
    return std::bit_cast<uint32_t>(
        specialUnit(Op, Form, std::bit_cast<float>(Bits)));
  };
  // 2^0.5 in half and bfloat16: 0x3da8 and 0x3fb5, and no digit more.
  EXPECT_EQ(Of(UnitOp::Ex2, UnitForm::Half, 0x3f000000), 0x3fb50000u);
  EXPECT_EQ(Of(UnitOp::Ex2, UnitForm::BFloat, 0x3f000000), 0x3fb50000u);
  // 2^16 is no half, 2^-24 is the least and 2^-25 less than that.
  EXPECT_EQ(Of(UnitOp::Ex2, UnitForm::Half, 0x41800000), 0x7f800000u);
  EXPECT_EQ(Of(UnitOp::Ex2, UnitForm::Half, 0xc1c00000), 0x33800000u);
  EXPECT_EQ(Of(UnitOp::Ex2, UnitForm::Half, 0xc1c80000), 0u);
}
