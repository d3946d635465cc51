//===- Precision.h - Arithmetic that device code does -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_PRECISION_H
#define CUPILOT_EVALUATION_PRECISION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace cupilot {

/// An instruction of a variant that computes in less than its original does.
struct NarrowerArithmetic {
  std::string Format;      ///< "f16", "tf32", "f32 (approximate)" ...
  std::string Instruction; ///< "fadd half", "mma.sync...", "ex2.approx".
  std::string Function;    ///< Where it is ...
  std::string Location;    ///< ... and its line, "k.cu:12:3", where known.
  std::string Original;    ///< The narrowest format that the original uses.
  std::string str() const;
};

/// Looks in the device code that \p Variants reach for floating-point
/// arithmetic, or rounding, narrower than any that \p Originals reach: what the
/// precision contracts exact and same forbid. Also approximate instructions
/// that the original does without (PTX ISA, "Floating Point Instructions"), and
/// mantissas that are masked away. A usage error for broken bitcode or an
/// unknown kernel.
llvm::Expected<std::optional<NarrowerArithmetic>> findNarrowerArithmetic(
    llvm::StringRef OriginalBitcode, llvm::ArrayRef<llvm::StringRef> Originals,
    llvm::StringRef VariantBitcode, llvm::ArrayRef<llvm::StringRef> Variants);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_PRECISION_H
