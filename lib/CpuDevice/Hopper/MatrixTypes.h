//===- MatrixTypes.h - Element types of matrix instructions -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_MATRIXTYPES_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_MATRIXTYPES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace cupilot {

/// PTX ISA, "Matrix Data-types".
enum class ElementType : uint32_t {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  F32,
  F64,
  S8,
  U8,
  S4,
  U4,
  B1,
  S32
};

/// The type that a modifier ("f16", "tf32") names.
std::optional<ElementType> elementType(llvm::StringRef Modifier);
/// Bits of an element where it lies among others.
unsigned elementBits(ElementType T);
bool isFloat(ElementType T);
/// Operations of a product of these sizes, as many as of f16 would take the
/// tensor cores that long (H100 whitepaper, "Tensor Cores": dense rates).
uint64_t tensorWork(uint64_t M, uint64_t N, uint64_t K, ElementType T);

/// The value of a floating-point element from its bits. Of tf32 the low 13
/// bits do not matter.
double decodeFloat(ElementType T, uint64_t Bits);
/// \p Value in the type's bits, rounded once, to nearest even.
uint64_t encodeFloat(ElementType T, double Value);
/// The value of an integer element from its bits.
int64_t decodeInteger(ElementType T, uint64_t Bits);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_MATRIXTYPES_H
