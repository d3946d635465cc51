//===- SuiteUnit.h - A compiled file of kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_SUITEUNIT_H
#define CUPILOT_MUTATION_SUITEUNIT_H

#include "cupilot/Mutation/Suite.h"

namespace cupilot {

/// A CUDA source, parsed and, if its code is wanted, compiled once.
struct SuiteUnit {
  std::string Path;
  std::string Bitcode; ///< Device code of the whole unit, unoptimised, with
                       ///< lines; "" if it is not wanted.
  std::vector<Kernel> Kernels;

  /// Errors are the compiler's.
  static llvm::Expected<SuiteUnit> load(llvm::StringRef Path,
                                        llvm::StringRef Arch,
                                        llvm::ArrayRef<std::string> Flags,
                                        bool WithCode = true);
  /// The kernel of that name; up to '(' where it is the only one. Usage errors.
  llvm::Expected<const Kernel *> kernel(llvm::StringRef Name) const;
};

} // namespace cupilot

#endif // CUPILOT_MUTATION_SUITEUNIT_H
