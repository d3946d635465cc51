//===- Element.cpp - What buffers hold -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Element.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

unsigned sizeOf(ElementKind K) {
  switch (K) {
  case ElementKind::Bytes:
  case ElementKind::Int8:
  case ElementKind::UInt8:
    return 1;
  case ElementKind::Half:
  case ElementKind::BFloat:
  case ElementKind::Int16:
  case ElementKind::UInt16:
    return 2;
  case ElementKind::Float:
  case ElementKind::Int32:
  case ElementKind::UInt32:
    return 4;
  case ElementKind::Double:
  case ElementKind::Int64:
  case ElementKind::UInt64:
    return 8;
  }
  return 1;
}

bool isFloating(ElementKind K) {
  return K == ElementKind::Half || K == ElementKind::BFloat ||
         K == ElementKind::Float || K == ElementKind::Double;
}

bool isInteger(ElementKind K) {
  return K != ElementKind::Bytes && !isFloating(K);
}

StringRef wordOf(ElementKind K) {
  static constexpr StringRef Words[] = {"bytes", "f16", "bf16", "f32", "f64",
                                        "i8",    "u8",  "i16",  "u16", "i32",
                                        "u32",   "i64", "u64"};
  return Words[static_cast<unsigned>(K)];
}

std::optional<ElementKind> elementOf(StringRef Text) {
  Text = Text.trim();
  Text.consume_front("const ");
  Text.consume_front("volatile ");
  for (unsigned K = 1; K <= static_cast<unsigned>(ElementKind::UInt64); ++K)
    if (Text == wordOf(static_cast<ElementKind>(K)))
      return static_cast<ElementKind>(K);
  return StringSwitch<std::optional<ElementKind>>(Text)
      .Cases({"__half", "half", "_Float16", "__fp16"}, ElementKind::Half)
      .Cases({"__nv_bfloat16", "nv_bfloat16", "__bf16"}, ElementKind::BFloat)
      .Case("float", ElementKind::Float)
      .Case("double", ElementKind::Double)
      .Cases({"char", "signed char"}, ElementKind::Int8)
      .Case("unsigned char", ElementKind::UInt8)
      .Case("short", ElementKind::Int16)
      .Case("unsigned short", ElementKind::UInt16)
      .Case("int", ElementKind::Int32)
      .Case("unsigned int", ElementKind::UInt32)
      .Cases({"long", "long long"}, ElementKind::Int64)
      .Cases({"unsigned long", "unsigned long long"}, ElementKind::UInt64)
      .Default(std::nullopt);
}

template <typename T> static T read(const uint8_t *At) {
  T Value;
  std::memcpy(&Value, At, sizeof(T));
  return Value;
}

template <typename T> static void write(uint8_t *At, T Value) {
  std::memcpy(At, &Value, sizeof(T));
}

static double readHalf(uint16_t Bits) {
  int Exponent = Bits >> 10 & 31;
  double Fraction = Bits & 1023, Value;
  if (Exponent == 31)
    Value = Fraction == 0 ? INFINITY : NAN;
  else if (Exponent == 0)
    Value = std::ldexp(Fraction, -24);
  else
    Value = std::ldexp(Fraction + 1024, Exponent - 25);
  return Bits >> 15 ? -Value : Value;
}

static uint16_t roundTo(const fltSemantics &Format, double Value) {
  APFloat F(Value);
  bool Lost;
  F.convert(Format, APFloat::rmNearestTiesToEven, &Lost);
  return static_cast<uint16_t>(F.bitcastToAPInt().getZExtValue());
}

double readElement(ElementKind K, const uint8_t *At) {
  switch (K) {
  case ElementKind::Half:
    return readHalf(read<uint16_t>(At));
  case ElementKind::BFloat: {
    uint32_t Bits = uint32_t(read<uint16_t>(At)) << 16;
    float Value;
    std::memcpy(&Value, &Bits, 4);
    return Value;
  }
  case ElementKind::Float:
    return read<float>(At);
  case ElementKind::Double:
    return read<double>(At);
  case ElementKind::UInt64:
    return static_cast<double>(read<uint64_t>(At));
  default:
    return static_cast<double>(readInteger(K, At));
  }
}

void writeElement(ElementKind K, uint8_t *At, double Value) {
  switch (K) {
  case ElementKind::Half:
    return write(At, roundTo(APFloat::IEEEhalf(), Value));
  case ElementKind::BFloat:
    return write(At, roundTo(APFloat::BFloat(), Value));
  case ElementKind::Float:
    return write(At, static_cast<float>(Value));
  case ElementKind::Double:
    return write(At, Value);
  default:
    // Beyond 64 bits a conversion has no defined value.
    return writeInteger(K, At,
                        std::fabs(Value) < 0x1p63 ? std::llrint(Value) : 0);
  }
}

int64_t readInteger(ElementKind K, const uint8_t *At) {
  switch (K) {
  case ElementKind::Int8:
    return read<int8_t>(At);
  case ElementKind::Int16:
    return read<int16_t>(At);
  case ElementKind::UInt16:
    return read<uint16_t>(At);
  case ElementKind::Int32:
    return read<int32_t>(At);
  case ElementKind::UInt32:
    return read<uint32_t>(At);
  case ElementKind::Int64:
  case ElementKind::UInt64:
    return read<int64_t>(At);
  default:
    return *At;
  }
}

void writeInteger(ElementKind K, uint8_t *At, int64_t Value) {
  switch (sizeOf(K)) {
  case 1:
    return write(At, static_cast<uint8_t>(Value));
  case 2:
    return write(At, static_cast<uint16_t>(Value));
  case 4:
    return write(At, static_cast<uint32_t>(Value));
  default:
    return write(At, Value);
  }
}

} // namespace cupilot
