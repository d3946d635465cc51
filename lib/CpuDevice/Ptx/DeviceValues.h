//===- DeviceValues.h - Values that PTX and NVVM compute alike --*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What inline PTX and the compiler's NVVM intrinsics share: plain IR for
// operations that the host has no instruction for.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_DEVICEVALUES_H
#define CUPILOT_LIB_CPUDEVICE_PTX_DEVICEVALUES_H

#include "llvm/IR/IRBuilder.h"

namespace cupilot {

/// \p V, a pointer or of any type that is no aggregate, as an integer of its
/// bits.
llvm::Value *bitsOf(llvm::IRBuilderBase &B, llvm::Value *V);
/// \p X << \p Amount (32 bits), zero when it is shifted out.
llvm::Value *shiftLeft(llvm::IRBuilderBase &B, llvm::Value *X,
                       llvm::Value *Amount);
/// A number of \p Bits bits with the lowest \p Length set.
llvm::Value *lowBits(llvm::IRBuilderBase &B, llvm::Value *Length,
                     unsigned Bits);
/// PTX ISA, "bfe": \p Length bits from \p Position on.
llvm::Value *extractField(llvm::IRBuilderBase &B, llvm::Value *X,
                          llvm::Value *Position, llvm::Value *Length,
                          bool Signed);
/// PTX ISA, "bmsk": amounts clamped to 32, or modulo 32.
llvm::Value *bitMask(llvm::IRBuilderBase &B, llvm::Value *Position,
                     llvm::Value *Length, bool Clamp);
/// PTX ISA, "szext".
llvm::Value *extendBits(llvm::IRBuilderBase &B, llvm::Value *X,
                        llvm::Value *Length, bool Clamp, bool Signed);
/// PTX ISA, "prmt"; \p Mode is "" or "f4e", "b4e", "rc8", "ecl", "ecr", "rc16".
llvm::Value *permuteBytes(llvm::IRBuilderBase &B, llvm::StringRef Mode,
                          llvm::Value *X, llvm::Value *Y,
                          llvm::Value *Selector);
llvm::Value *dotProduct4(llvm::IRBuilderBase &B, llvm::Value *X, llvm::Value *Y,
                         llvm::Value *Sum, bool SignedX, bool SignedY);
llvm::Value *dotProduct2(llvm::IRBuilderBase &B, llvm::Value *X, llvm::Value *Y,
                         llvm::Value *Sum, bool SignedX, bool SignedY,
                         bool High);

enum class Rounding { Nearest, Zero, Down, Up };
/// The rounding that a modifier or a part of an intrinsic's name asks for:
/// "rn" or "rni", "rz", "rm", "rp".
Rounding roundingOf(llvm::StringRef Modifier);

/// \p X (floating point) as a narrower floating-point type. Scalars only.
llvm::Value *narrowFloat(llvm::IRBuilderBase &B, llvm::Value *X, llvm::Type *To,
                         Rounding Mode);
/// An integer as a floating-point number.
llvm::Value *integerToFloat(llvm::IRBuilderBase &B, llvm::Value *X,
                            llvm::Type *To, bool Signed, Rounding Mode);
/// PTX ISA, "cvt": out of range is clamped, and what NaN becomes depends on the
/// types.
llvm::Value *floatToInteger(llvm::IRBuilderBase &B, llvm::Value *X,
                            llvm::Type *To, bool Signed, Rounding Mode);
/// PTX ISA, "min" and "max" of floating point; "NaN", ".xorsign.abs".
llvm::Value *floatMinMax(llvm::IRBuilderBase &B, llvm::Value *X, llvm::Value *Y,
                         bool Max, bool Nan, bool XorSign);
/// fma of 16-bit types, rounded once.
llvm::Value *narrowFma(llvm::IRBuilderBase &B, llvm::Value *X, llvm::Value *Y,
                       llvm::Value *Z);
/// .sat: clamped to 0..1, NaN is 0; .relu: below zero is zero, NaN stays.
llvm::Value *saturated(llvm::IRBuilderBase &B, llvm::Value *X);
llvm::Value *rectified(llvm::IRBuilderBase &B, llvm::Value *X);
/// Subnormal numbers made zeros of the same sign.
llvm::Value *flushed(llvm::IRBuilderBase &B, llvm::Value *X);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_DEVICEVALUES_H
