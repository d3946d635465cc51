//===- KeepLibdevice.cpp - libdevice calls outlive the optimiser -*- C++
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
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

using namespace llvm;

namespace {
/// Variants come with functions of libdevice under names of their own:
/// __cupilot_DIGEST___nv_expf. On this device they are the unit's.
void restoreNames(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    StringRef Name = F.getName();
    if (!Name.consume_front("__cupilot_"))
      continue;
    Name = Name.drop_while(isHexDigit);
    if (!Name.consume_front("_") || !Name.starts_with("__nv_"))
      continue;
    Function *Own = M.getFunction(Name);
    if (!Own) {
      F.setName(Name);
    } else if (Own->getFunctionType() == F.getFunctionType() &&
               cupilot::isHostMathematics(*Own)) {
      F.replaceAllUsesWith(Own);
      F.eraseFromParent();
    }
  }
}

struct KeepLibdevice : PassInfoMixin<KeepLibdevice> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (!M.getTargetTriple().isNVPTX())
      return PreservedAnalyses::all();
    restoreNames(M);
    cupilot::markGroupStores(M); // Functions lose their names when inlined.
    for (Function &F : M)
      if (!F.isDeclaration() && cupilot::isHostMathematics(F)) {
        F.deleteBody();
        F.setAttributes(AttributeList());
        F.setDoesNotThrow();
        F.addFnAttr(Attribute::WillReturn);
        if (!F.getReturnType()->isVoidTy())
          F.setDoesNotAccessMemory();
      }
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
                   ThinOrFullLTOPhase) { Passes.addPass(KeepLibdevice()); });
          }};
}
