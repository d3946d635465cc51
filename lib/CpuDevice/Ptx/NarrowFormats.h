//===- NarrowFormats.h - Numbers of 8, 6 and 4 bits -------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_NARROWFORMATS_H
#define CUPILOT_LIB_CPUDEVICE_PTX_NARROWFORMATS_H

#include "llvm/IR/IRBuilder.h"

namespace cupilot {

/// PTX ISA, "Alternate Floating-Point Data Formats". The number is passed to
/// the run time by compiled code.
enum class NarrowFormat : uint32_t { E4M3, E5M2, E2M3, E3M2, E2M1, UE8M0 };

/// Flags of cupilot_rt_to_narrow, for scales (UE8M0).
constexpr uint32_t NarrowRoundUp = 1, NarrowFinite = 2;

/// The format of "e4m3x2" and its kin.
NarrowFormat narrowFormat(llvm::StringRef Type);

/// The largest finite number in place of infinity (.satfinite).
llvm::Value *finiteOnly(llvm::IRBuilderBase &B, llvm::Value *X);

} // namespace cupilot

extern "C" {
/// The code of \p X, rounded to nearest even, clamped to the largest finite
/// number; a scale is rounded up or to zero.
uint32_t cupilot_rt_to_narrow(float X, uint32_t Format, uint32_t Flags);
float cupilot_rt_from_narrow(uint32_t Code, uint32_t Format);
}

#endif // CUPILOT_LIB_CPUDEVICE_PTX_NARROWFORMATS_H
