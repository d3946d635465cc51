//===- Eject.h - Variants into the source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EJECT_EJECT_H
#define CUPILOT_EJECT_EJECT_H

#include "cupilot/Model/Domain.h"
#include "cupilot/Model/Kernel.h"

namespace cupilot {

/// A variant as the store has it.
struct EjectVariant {
  std::string Name;   ///< "v_1a2b3c4d".
  std::string Genome; ///< For the comment above it.
  std::string Text;   ///< Its self-contained .cu.
  LaunchPlan Plan;
  Guard When;
  std::optional<Domain> Where = {}; ///< Nothing: the guard alone decides.
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
  bool operator==(const SourceEdit &) const = default;
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
  /// A variant that is in.
  struct Placed {
    std::string Symbol,
        Variant; ///< Of the kernel, mangled; the variant's name.
    /// The kernels of its plan, in the order of its symbols(), as the changed
    /// source names them: without the namespaces around the original, and
    /// without template arguments.
    std::vector<std::string> Functions;
  };
  std::vector<Placed> Variants;
  unsigned Launches = 0; ///< Launches that reach variants.
};

/// Plans how \p All come into the source \p File and its headers: each variant
/// in a namespace of its own after the kernel, functions beside it that choose,
/// and the launches through those. Kernels and launches that this cannot be
/// done for are notes. A unit that does not parse is a usage error.
llvm::Expected<Ejection> ejectVariants(llvm::StringRef File,
                                       llvm::ArrayRef<std::string> Flags,
                                       llvm::ArrayRef<EjectKernel> All);

/// The edits of one file, \p Old, as a unified diff with \p Path on both sides.
std::string unifiedDiff(llvm::StringRef Path, llvm::StringRef Old,
                        llvm::ArrayRef<SourceEdit> Edits);
/// \p Old with the edits made.
std::string applyEdits(llvm::StringRef Old, llvm::ArrayRef<SourceEdit> Edits);

} // namespace cupilot

#endif // CUPILOT_EJECT_EJECT_H
