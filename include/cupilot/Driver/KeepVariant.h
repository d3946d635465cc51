//===- KeepVariant.h - Variants written by hand into a store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_KEEPVARIANT_H
#define CUPILOT_DRIVER_KEEPVARIANT_H

#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/GpuJudge/GpuVerdict.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Store/ProjectStore.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// What a variant was judged against.
struct KeptOriginal {
  const Kernel *K = nullptr;
  std::string Unit; ///< Its source file.
  llvm::ArrayRef<Workload> Workloads;
  std::string DataFolder;                 ///< Where their files lie.
  llvm::ArrayRef<ExecutionCounts> Counts; ///< Of the original, on each.
  std::string Arch;
};

/// A variant that passed.
struct KeptVariant {
  std::string Name;
  std::string File; ///< Its text, which stands alone.
  LaunchPlan Plan;
  Guard When;
  const GateVerdict *Verdict = nullptr;
  std::optional<Domain> Where = {}; ///< Verdict's, or with what a GPU compared.
  /// The GPU that timed it, with its ratio; "": the ratio is modelled.
  std::string Gpu = {};
  GpuRatio Time = {};
};

/// Store.commit(Update) without the rivals of its kernel, and says to \p Log
/// which these were.
llvm::Error putIntoStore(ProjectStore &Store, StoreUpdate Update,
                         llvm::raw_ostream &Log);

/// Puts \p V into the store \p Root, in place of one of its name, with the
/// measured or modelled ratio as evidence for the compiler of \p Command, whose
/// code the verdict is of. For others, as buildCompilers() has them beside
/// those that the user \p Named, their own code is judged here; where it does
/// not pass, the variant is not for them. A finding says why no build could use
/// it.
llvm::Error keepVariant(llvm::StringRef Root, const KeptOriginal &From,
                        const KeptVariant &V, const UnitCommand &Command,
                        llvm::ArrayRef<std::string> Named,
                        llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_KEEPVARIANT_H
