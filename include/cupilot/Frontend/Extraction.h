//===- Extraction.h - Kernels with their build identities -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_EXTRACTION_H
#define CUPILOT_FRONTEND_EXTRACTION_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include <functional>

namespace cupilot {

struct ExtractOptions {
  /// Compile each slice alone, for the first architecture of the flags, and
  /// refuse those whose device code differs from the whole unit's. Costs one
  /// compilation of the unit and one of each slice.
  bool VerifySlices = true;
  /// Told name, symbol and place of each kernel of the unit: whether it is
  /// wanted. The others cost nothing more and are left out. Empty: all are.
  std::function<bool(const Kernel &)> Wanted = {};
};

/// All wanted kernels (and instantiations) that the translation unit \p File
/// defines when compiled by clang with \p Flags, in source order. A file that
/// does not parse is a usage error with the compiler's diagnostics. Slices
/// compile with variantFlags(Flags), and hold the macros of the command line
/// that they use.
llvm::Expected<std::vector<Kernel>>
extractKernels(llvm::StringRef File, llvm::ArrayRef<std::string> Flags,
               const ExtractOptions &Options = {});

/// As above. \p Builds gets, for each kernel, its build
/// identity in the unit, for clang and the first architecture of \p Flags;
/// empty ones where slices are not verified.
llvm::Expected<std::vector<Kernel>>
extractKernels(llvm::StringRef File, llvm::ArrayRef<std::string> Flags,
               const ExtractOptions &Options,
               std::vector<KernelIdentity> &Builds);

/// What of a clang command line (without the compiler's name) decides about
/// meaning: \p Args without inputs, outputs, depfiles and plugins. Relative
/// folders and files are taken from \p Folder, if that is given.
std::vector<std::string> meaningfulFlags(llvm::ArrayRef<std::string> Args,
                                         llvm::StringRef Folder = "");

} // namespace cupilot

#endif // CUPILOT_FRONTEND_EXTRACTION_H
