//===- Arithmetic.h - Floating-point operations in device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_ARITHMETIC_H
#define CUPILOT_LIB_EVALUATION_ARITHMETIC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace cupilot {

/// By significant bits; none is not floating-point.
enum class Format : unsigned {
  None = 0,
  F4,
  F6,
  F8,
  BF16,
  F16,
  TF32,
  F32Masked,
  F32,
  F64
};

struct ArithmeticUse {
  std::string Instruction, Function, Location;
};

/// What the code that some kernels reach does.
struct Arithmetic {
  std::map<Format, ArithmeticUse> Computed; ///< Operations in a format ...
  std::map<Format, ArithmeticUse> Rounded;  ///< ... and values rounded to it.
  std::map<Format, ArithmeticUse>
      Read; ///< Values of a format that are widened.
  std::map<std::string, ArithmeticUse> Approximate;
};

/// What the code in \p M does that \p Kernels reach, where operations stand
/// beside their operands. A usage error for an unknown kernel.
llvm::Expected<Arithmetic>
collectArithmetic(const llvm::Module &M,
                  llvm::ArrayRef<llvm::StringRef> Kernels);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_ARITHMETIC_H
