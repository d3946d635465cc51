//===- KeepLibdevice.cpp - libdevice calls that outlive the optimiser -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass plugin for the device half of cupilot-cpucc: libdevice functions that
// the host's libm has too stay calls, instead of being inlined as GPU code.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

using namespace llvm;

namespace {
struct KeepLibdevice : PassInfoMixin<KeepLibdevice> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (!M.getTargetTriple().isNVPTX())
      return PreservedAnalyses::all();
    for (Function &F : M)
      if (!F.isDeclaration() && cupilot::isHostMathematics(F)) {
        F.deleteBody();
        F.setAttributes(AttributeList());
        F.setDoesNotThrow();
        F.addFnAttr(Attribute::WillReturn);
        if (!F.getReturnType()->isVoidTy())
          F.setDoesNotAccessMemory();
      }
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
                   ThinOrFullLTOPhase) { Passes.addPass(KeepLibdevice()); });
          }};
}
