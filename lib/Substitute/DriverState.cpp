//===- DriverState.cpp - What the driver tells a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The %envreg registers hold where the driver keeps the barrier of a
// cooperative launch (PTX ISA, "Special Registers: %envreg<32>").
// cooperative_groups::this_grid() reads them whether the grid is synchronised
// or just asked for its size; in the latter case nothing is left of it once the
// code is optimised.
//
//===----------------------------------------------------------------------===//

#include "DriverState.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace cupilot {

bool isDriverStateAsm(const InlineAsm &Asm) {
  return StringRef(Asm.getAsmString()).contains("%envreg");
}

static void optimise(Module &M) {
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PassBuilder PB;
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  PB.buildPerModuleDefaultPipeline(OptimizationLevel::O1).run(M, MAM);
}

bool readsDriverState(const Function &Kernel,
                      ArrayRef<const GlobalValue *> Closure) {
  DenseSet<const GlobalValue *> Wanted(Closure.begin(), Closure.end());
  ValueToValueMapTy Map;
  std::unique_ptr<Module> Copy =
      CloneModule(*Kernel.getParent(), Map,
                  [&](const GlobalValue *G) { return Wanted.contains(G); });
  const Value *Own = Map.lookup(&Kernel);
  for (Function &F : *Copy)
    if (&F != Own && !F.isDeclaration()) {
      F.setComdat(nullptr);
      F.setLinkage(GlobalValue::InternalLinkage);
    }
  // Nobody says that a mov returns, and so it would never be dead.
  for (Function &F : *Copy)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
            Asm && isDriverStateAsm(*Asm) && !Asm->hasSideEffects())
          Call->addFnAttr(Attribute::WillReturn);
  optimise(*Copy);
  for (const Function &F : *Copy)
    for (const Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I)) {
        if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
            Asm && isDriverStateAsm(*Asm))
          return true;
        if (const Function *Callee = Call->getCalledFunction();
            Callee && isDriverStateRead(*Callee))
          return true;
      }
  return false;
}

bool isDriverStateRead(const Function &F) {
  return F.isDeclaration() && F.getName().contains("envreg");
}

} // namespace cupilot
