//===- NvvmFloats.h - NVVM's floating-point intrinsics by their parts -----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_LOWER_NVVMFLOATS_H
#define CUPILOT_LIB_CPUDEVICE_LOWER_NVVMFLOATS_H

#include "Ptx/DeviceValues.h"
#include "llvm/IR/Intrinsics.h"
#include <optional>

namespace cupilot {

enum class FloatOp : uint8_t {
  // Arithmetic, in the type of the result.
  Add,
  Mul,
  Fma,
  Div,
  Rcp,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Log2,
  Exp2,
  Tanh,
  Neg,
  Abs,
  Floor,
  Ceil,
  Trunc,
  Round,
  Clamp, ///< To 0 ... 1.
  Max,
  Min,
  // Conversions.
  ToSigned,
  ToUnsigned,
  FromSigned,
  FromUnsigned,
  ToFloat,  ///< Of a double.
  ToHalf,   ///< Half or bfloat16, of a float.
  ToHalves, ///< Of two floats; the first becomes the upper one.
  ToHalfBits
};

/// What an intrinsic's modifiers say.
struct FloatForm {
  enum : uint8_t {
    Flush = 1,    ///< .ftz
    Saturate = 2, ///< .sat
    Relu = 4,     ///< .relu
    Nan = 8,      ///< .nan: of two operands NaN wins.
    XorSign = 16, ///< .xorsign.abs
    Finite = 32,  ///< .satfinite
    Approx = 64,  ///< .approx: of a special unit.
    Full = 128,   ///< .full: a division by way of the special unit.
  };
  FloatOp Op;
  Rounding Mode = Rounding::Nearest;
  uint8_t Modifiers = 0;
  bool has(unsigned Modifier) const { return Modifiers & Modifier; }
};

/// Nothing for an intrinsic that is none of these.
std::optional<FloatForm> floatFormOf(llvm::Intrinsic::ID Id);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_LOWER_NVVMFLOATS_H
