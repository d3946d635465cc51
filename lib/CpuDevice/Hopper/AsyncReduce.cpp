//===- AsyncReduce.cpp - Reductions of bulk copies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncReduce.h"
#include "MatrixTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

std::optional<ReduceOp> reduceOp(StringRef Modifier) {
  return StringSwitch<std::optional<ReduceOp>>(Modifier)
      .Case("add", ReduceOp::Add)
      .Case("min", ReduceOp::Min)
      .Case("max", ReduceOp::Max)
      .Case("inc", ReduceOp::Inc)
      .Case("dec", ReduceOp::Dec)
      .Case("and", ReduceOp::And)
      .Case("or", ReduceOp::Or)
      .Case("xor", ReduceOp::Xor)
      .Default(std::nullopt);
}

std::optional<ReduceType> reduceType(StringRef Modifier) {
  return StringSwitch<std::optional<ReduceType>>(Modifier)
      .Case("b32", ReduceType::B32)
      .Case("b64", ReduceType::B64)
      .Case("u32", ReduceType::U32)
      .Case("s32", ReduceType::S32)
      .Case("u64", ReduceType::U64)
      .Case("s64", ReduceType::S64)
      .Case("f16", ReduceType::F16)
      .Case("bf16", ReduceType::BF16)
      .Case("f32", ReduceType::F32)
      .Case("f64", ReduceType::F64)
      .Default(std::nullopt);
}

bool canReduce(ReduceOp Op, ReduceType Type) {
  switch (Op) {
  case ReduceOp::None:
    return false;
  case ReduceOp::Add:
    return Type != ReduceType::B32 && Type != ReduceType::B64;
  case ReduceOp::Min:
  case ReduceOp::Max:
    return Type >= ReduceType::U32 && Type <= ReduceType::BF16;
  case ReduceOp::Inc:
  case ReduceOp::Dec:
    return Type == ReduceType::U32;
  case ReduceOp::And:
  case ReduceOp::Or:
  case ReduceOp::Xor:
    return Type <= ReduceType::S64;
  }
  return false;
}

unsigned reduceSize(ReduceType Type) {
  switch (Type) {
  case ReduceType::F16:
  case ReduceType::BF16:
    return 2;
  case ReduceType::B64:
  case ReduceType::U64:
  case ReduceType::S64:
  case ReduceType::F64:
    return 8;
  default:
    return 4;
  }
}

/// bfloat16 from a value of it or of a sum of two, rounded to nearest even.
static uint16_t toBfloat(double Value) {
  auto Single = static_cast<float>(Value);
  // Rounding twice errs only where the first step lands on a tie by chance;
  // sticky bits of the exact value decide then.
  uint32_t Bits = bit_cast<uint32_t>(Single);
  if (std::isnan(Value))
    return 0x7fff;
  if ((Bits & 0xffff) == 0x8000 && static_cast<double>(Single) != Value)
    Bits +=
        (std::fabs(Value) > std::fabs(static_cast<double>(Single))) ? 1 : -1;
  uint32_t Round = 0x7fff + (Bits >> 16 & 1);
  return static_cast<uint16_t>((Bits + Round) >> 16);
}

static double floating(uint64_t Bits, ReduceType Type) {
  switch (Type) {
  case ReduceType::F16:
    return decodeFloat(ElementType::F16, Bits);
  case ReduceType::BF16:
    return decodeFloat(ElementType::BF16, Bits);
  case ReduceType::F32:
    return decodeFloat(ElementType::F32, Bits);
  default:
    return bit_cast<double>(Bits);
  }
}

static uint64_t combine(uint64_t A, uint64_t B, ReduceOp Op, ReduceType Type) {
  bool IsFloat = Type >= ReduceType::F16;
  if (IsFloat) {
    double X = floating(A, Type), Y = floating(B, Type);
    double Z = Op == ReduceOp::Add   ? X + Y
               : Op == ReduceOp::Min ? std::fmin(X, Y)
                                     : std::fmax(X, Y);
    // -0 is less than +0.
    if (Op != ReduceOp::Add && X == 0 && Y == 0)
      Z = (Op == ReduceOp::Min) == std::signbit(X) ? X : Y;
    switch (Type) {
    case ReduceType::F16:
      return encodeFloat(ElementType::F16, Z);
    case ReduceType::BF16:
      return toBfloat(Z);
    case ReduceType::F32:
      return encodeFloat(ElementType::F32, Z);
    default:
      return bit_cast<uint64_t>(Z);
    }
  }
  bool Less = Type == ReduceType::S32
                  ? static_cast<int32_t>(A) < static_cast<int32_t>(B)
              : Type == ReduceType::S64
                  ? static_cast<int64_t>(A) < static_cast<int64_t>(B)
                  : A < B;
  switch (Op) {
  case ReduceOp::Add:
    return A + B;
  case ReduceOp::Min:
    return Less ? A : B;
  case ReduceOp::Max:
    return Less ? B : A;
  case ReduceOp::Inc:
    return A >= B ? 0 : A + 1;
  case ReduceOp::Dec:
    return A == 0 || A > B ? B : A - 1;
  case ReduceOp::And:
    return A & B;
  case ReduceOp::Or:
    return A | B;
  case ReduceOp::Xor:
    return A ^ B;
  case ReduceOp::None:
    break;
  }
  return B;
}

template <typename Word>
static void reduceWords(char *To, const char *From, uint64_t Count, ReduceOp Op,
                        ReduceType Type) {
  for (uint64_t I = 0; I < Count; ++I) {
    auto *Target = reinterpret_cast<Word *>(To) + I;
    Word Value = 0;
    std::memcpy(&Value, From + I * sizeof(Word), sizeof(Word));
    Word Old = __atomic_load_n(Target, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        Target, &Old, static_cast<Word>(combine(Old, Value, Op, Type)), false,
        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      ;
  }
}

void reduceInto(char *To, const char *From, uint64_t Size, ReduceOp Op,
                ReduceType Type) {
  switch (reduceSize(Type)) {
  case 2:
    return reduceWords<uint16_t>(To, From, Size / 2, Op, Type);
  case 4:
    return reduceWords<uint32_t>(To, From, Size / 4, Op, Type);
  default:
    return reduceWords<uint64_t>(To, From, Size / 8, Op, Type);
  }
}

} // namespace cupilot
