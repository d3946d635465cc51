//===- Pipeline.cpp - LLVM's pass manager with all analyses ---------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Pipeline.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

Pipeline::Pipeline(TargetMachine *Target, PipelineTuningOptions Options,
                   const std::optional<TargetLibraryInfoImpl> &Library)
    : Builder(Target, Options, std::nullopt, &Callbacks) {
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Graphs);
  if (Library) // The first of a kind stays.
    Functions.registerPass([&] { return TargetLibraryAnalysis(*Library); });
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Graphs, Modules);
}

void Pipeline::leaveOut(StringRef Class) {
  Callbacks.registerShouldRunOptionalPassCallback(
      [Class](StringRef Pass, Any) { return Pass != Class; });
}

void Pipeline::run(ModulePassManager Passes, Module &M) {
  Passes.run(M, Modules);
  Modules.clear();
  Functions.clear();
  Loops.clear();
  Graphs.clear();
}

} // namespace cupilot
