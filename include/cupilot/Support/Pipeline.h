//===- Pipeline.h - LLVM's pass manager with all analyses -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_PIPELINE_H
#define CUPILOT_SUPPORT_PIPELINE_H

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include <optional>

namespace cupilot {

/// The new pass manager's boilerplate, once.
class Pipeline {
public:
  /// With \p Library passes know its functions, instead of all that a module's
  /// target has.
  explicit Pipeline(
      llvm::TargetMachine *Target = nullptr,
      llvm::PipelineTuningOptions Options = {},
      const std::optional<llvm::TargetLibraryInfoImpl> &Library = {});
  /// Runs \p Passes; no analysis outlives that.
  void run(llvm::ModulePassManager Passes, llvm::Module &M);
  llvm::ModulePassManager level(llvm::OptimizationLevel Level) {
    return Builder.buildPerModuleDefaultPipeline(Level);
  }
  llvm::PassBuilder &builder() { return Builder; }
  /// The pass of this class is not run: "LoopIdiomRecognizePass".
  void leaveOut(llvm::StringRef Class);

private:
  llvm::PassInstrumentationCallbacks Callbacks;
  llvm::PassBuilder Builder;
  llvm::LoopAnalysisManager Loops;
  llvm::FunctionAnalysisManager Functions;
  llvm::CGSCCAnalysisManager Graphs;
  llvm::ModuleAnalysisManager Modules;
};

} // namespace cupilot

#endif // CUPILOT_SUPPORT_PIPELINE_H
