//===- OtherPass.cpp - A pass plugin of somebody else, for tests ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Says at the start and at the end of each pipeline how many functions the
// module defines: what cuPilot adds is there at the end.
//
//===----------------------------------------------------------------------===//

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {
class CountPass : public PassInfoMixin<CountPass> {
public:
  explicit CountPass(const char *When) : When(When) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    unsigned Variants = 0;
    for (const Function &F : M)
      Variants += !F.isDeclaration() && F.getName().starts_with("__cupilot_");
    errs() << "other pass: " << M.getTargetTriple().getArchName() << ", "
           << When << ": " << Variants << " of cuPilot\n";
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  const char *When;
};
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "other", "1", [](PassBuilder &PB) {
            PB.registerPipelineStartEPCallback(
                [](ModulePassManager &PM, OptimizationLevel) {
                  PM.addPass(CountPass("start"));
                });
            PB.registerOptimizerLastEPCallback(
                [](ModulePassManager &PM, OptimizationLevel,
                   ThinOrFullLTOPhase) { PM.addPass(CountPass("end")); });
          }};
}
