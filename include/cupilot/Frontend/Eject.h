//===- Eject.h - Variants into the source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_EJECT_H
#define CUPILOT_FRONTEND_EJECT_H

#include "cupilot/Frontend/Kernel.h"

namespace cupilot {

/// A variant as the store has it.
struct EjectVariant {
  std::string Name;   ///< "v_1a2b3c4d".
  std::string Genome; ///< For the comment above it.
  std::string Text;   ///< Its self-contained .cu.
  LaunchPlan Plan;
  Guard When;
};

/// A kernel with variants, best first.
struct EjectKernel {
  Kernel K; ///< With its slice.
  std::vector<EjectVariant> Variants;
};

/// Text that takes the place of [Begin, End) of a file, in bytes.
struct SourceEdit {
  std::string File; ///< Absolute.
  size_t Begin = 0, End = 0;
  std::string Text;
};

/// What stays out, and why.
struct EjectNote {
  std::string Kernel; ///< For people.
  std::string At;     ///< "file:line" of a launch; "" for the kernel itself.
  std::string Why;
};

struct Ejection {
  std::vector<SourceEdit> Edits; ///< Sorted by file and place; disjoint.
  std::vector<EjectNote> Notes;
  /// For each variant that is in: the kernel's mangled name and the qualified
  /// name of its own kernel in the changed source.
  struct Placed {
    std::string Symbol, Variant, Function;
  };
  std::vector<Placed> Variants;
  unsigned Launches = 0; ///< Launches that reach variants.
};

/// Plans how \p All come into the source \p File and its headers: each variant
/// in a namespace of its own after the kernel, a function beside it that
/// chooses, and the launches through that. Kernels and launches that this
/// cannot be done for are notes. Unit that does not parse: a usage error.
llvm::Expected<Ejection> ejectVariants(llvm::StringRef File,
                                       llvm::ArrayRef<std::string> Flags,
                                       llvm::ArrayRef<EjectKernel> All);

/// The edits of one file, \p Old, as a unified diff with \p Path on both sides.
std::string unifiedDiff(llvm::StringRef Path, llvm::StringRef Old,
                        llvm::ArrayRef<SourceEdit> Edits);
/// \p Old with the edits made.
std::string applyEdits(llvm::StringRef Old, llvm::ArrayRef<SourceEdit> Edits);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_EJECT_H
