//===- KeepForChecks.cpp - What the checks know of outlives clang -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass plugin for the device half of cupilot-cpucc: what the checks of the
// cpu device need to know of the code, and clang's optimiser would lose.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

using namespace llvm;

namespace {
struct KeepForChecks : PassInfoMixin<KeepForChecks> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (!M.getTargetTriple().isNVPTX())
      return PreservedAnalyses::all();
    cupilot::markGroupStores(M); // Functions lose their names when inlined.
    // A load that the optimiser invents would be checked like the program's.
    for (Function &F : M)
      if (!F.isDeclaration())
        F.addFnAttr(Attribute::SanitizeThread);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "cupilot-cpu", "1",
          [](PassBuilder &Builder) {
            Builder.registerPipelineEarlySimplificationEPCallback(
                [](ModulePassManager &Passes, OptimizationLevel,
                   ThinOrFullLTOPhase) { Passes.addPass(KeepForChecks()); });
          }};
}
