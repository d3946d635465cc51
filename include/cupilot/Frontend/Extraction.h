//===- Extraction.h - Kernels with their build identities -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_EXTRACTION_H
#define CUPILOT_FRONTEND_EXTRACTION_H

#include "cupilot/Frontend/Kernel.h"
#include "cupilot/Substitute/BuildIdentity.h"

namespace cupilot {

/// As extractKernels of Kernel.h. \p Builds gets, for each kernel, its build
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
