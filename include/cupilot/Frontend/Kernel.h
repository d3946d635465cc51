//===- Kernel.h - A kernel as extraction finds it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_KERNEL_H
#define CUPILOT_FRONTEND_KERNEL_H

#include "cupilot/Substitute/LaunchPlan.h"

namespace cupilot {

/// One parameter of a kernel.
struct KernelParam {
  std::string Name;
  std::string Type;  ///< As the source spells it, canonical: "const float *".
  uint64_t Size = 0; ///< Bytes.
  bool IsPointer = false;
  bool PointeeConst = false;
  bool Restrict = false;
  std::string Pointee;      ///< "float"; empty unless a pointer.
  uint64_t PointeeSize = 0; ///< Bytes; 0 for void.
};

/// How exact a variant must be.
struct PrecisionContract {
  enum class Kind { Exact, Same, Relaxed };
  Kind K = Kind::Same;
  double RelativeTolerance = 0; ///< For Relaxed: of each number.
  /// For Relaxed: what |out - ref| / |ref| of a buffer may be on a workload's
  /// own inputs, beyond the original's own; 0 for no such bound.
  double NormTolerance = 0;
  bool operator==(const PrecisionContract &) const = default;
};

/// A kernel of a translation unit.
struct Kernel {
  std::string
      Name; ///< Qualified name with parameter types and template
            ///< arguments: "blur::rows<4>(const float *, float *, int)".
  std::string Symbol;  ///< Mangled name as clang's device side has it.
  std::string Digest;  ///< Source identity, "b3:...".
  std::string Slice;   ///< Self-contained .cu text; empty when refused.
  std::string Refusal; ///< Why there is no slice, with a way out.
  std::string File;    ///< Where it is defined ...
  unsigned Line = 0;   ///< ... and on which line.
  std::vector<KernelParam> Params;
  std::vector<ScalarRef> Scalars;   ///< The symbols of its maps, in order.
  std::vector<PointerRef> Pointers; ///< Pointer arguments and pointer fields.
  PrecisionContract Contract;
};

struct ExtractOptions {
  /// Compile each slice alone, for the first architecture of the flags, and
  /// refuse those whose device code differs from the whole unit's. Costs one
  /// compilation of the unit and one of each slice.
  bool VerifySlices = true;
};

/// All kernels (and instantiations) that the translation unit \p File defines
/// when compiled by clang with \p Flags, in source order. A file that does not
/// parse is a usage error with the compiler's diagnostics. Slices compile with
/// variantFlags(Flags), and hold the macros of the command line that they use.
llvm::Expected<std::vector<Kernel>>
extractKernels(llvm::StringRef File, llvm::ArrayRef<std::string> Flags,
               const ExtractOptions &Options = {});

} // namespace cupilot

#endif // CUPILOT_FRONTEND_KERNEL_H
