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
#include <memory>
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

struct Arithmetic;

/// The floating-point arithmetic that some kernels do, collected once.
class DeviceArithmetic {
public:
  /// Looks at the device code that \p Kernels reach. A usage error for broken
  /// bitcode or an unknown kernel.
  static llvm::Expected<DeviceArithmetic>
  of(llvm::StringRef Bitcode, llvm::ArrayRef<llvm::StringRef> Kernels);
  const Arithmetic &found() const { return *Found; }

private:
  explicit DeviceArithmetic(std::shared_ptr<const Arithmetic> Found)
      : Found(std::move(Found)) {}
  std::shared_ptr<const Arithmetic> Found;
};

/// Floating-point arithmetic, or rounding, of \p Variant in a format that is
/// narrower than any of \p Original's, and mantissas that are masked away: what
/// the precision contracts exact and same forbid.
std::optional<NarrowerArithmetic>
findNarrowerFormats(const DeviceArithmetic &Original,
                    const DeviceArithmetic &Variant);

/// An approximate instruction of \p Variant that \p Original does without (PTX
/// ISA, "Floating Point Instructions"): these contracts forbid it, too.
std::optional<NarrowerArithmetic>
findApproximateArithmetic(const DeviceArithmetic &Original,
                          const DeviceArithmetic &Variant);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_PRECISION_H
