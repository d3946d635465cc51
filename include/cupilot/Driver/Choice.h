//===- Choice.h - The kernels and workloads of a command -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_CHOICE_H
#define CUPILOT_DRIVER_CHOICE_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// That \p Source has \p All kernels and \p Named whose names hold \p Only:
/// none is a usage error.
llvm::Error checkChoice(size_t All, size_t Named, llvm::StringRef Source,
                        llvm::StringRef Only);

/// Those of the kernels of \p Source whose names hold \p Only, all if that is
/// empty. That there is none is a usage error.
llvm::Expected<std::vector<Kernel>>
chooseKernels(llvm::Expected<std::vector<Kernel>> Kernels,
              llvm::StringRef Source, llvm::StringRef Only);

/// chooseKernels of what is extracted from the unit \p Source: kernels of other
/// names cost no more than parsing. Slices are not verified.
llvm::Expected<std::vector<Kernel>>
extractChosen(llvm::StringRef Source, llvm::ArrayRef<std::string> Flags,
              llvm::StringRef Only);

/// Whether a launch of the symbol of \p K may be one of it: of kernels of one
/// name in several modules of MLIR, some have other arguments.
bool fitsParameters(const Workload &W, const Kernel &K);

/// What a file of workloads holds, and the folder that its data is meant from.
struct WorkloadSet {
  std::vector<Workload> All;
  std::string Folder;

  /// Errors as loadWorkloads'.
  static llvm::Expected<WorkloadSet> load(llvm::StringRef Path);
  bool launches(const Kernel &K) const;
  /// Of the program's kernel time, 0 to 1: what launches of \p K take.
  double shareOf(const Kernel &K) const;
  /// The launches of \p K, under its symbol.
  std::vector<Workload> of(const Kernel &K) const;
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_CHOICE_H
