//===- DeviceModule.cpp - One kernel of a unit's device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

using namespace llvm;

namespace cupilot {

/// Lists such as llvm.used keep every __device__ variable of a unit alive.
static void dropList(Module &M, StringRef Name) {
  if (GlobalVariable *List = M.getNamedGlobal(Name))
    List->eraseFromParent();
}

Expected<std::string> onlyKernel(StringRef Bitcode, StringRef Symbol) {
  return onlyKernels(Bitcode, Symbol.str());
}

Expected<std::string> onlyKernels(StringRef Bitcode,
                                  ArrayRef<std::string> Symbols) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> Parsed = parseBitcode(Bitcode, Context);
  if (!Parsed)
    return Parsed.takeError();
  Module &M = **Parsed;
  SmallVector<const Function *> Kernels;
  for (StringRef Symbol : Symbols) {
    Kernels.push_back(M.getFunction(Symbol));
    if (!Kernels.back() || Kernels.back()->isDeclaration())
      return usageError("the device code has no kernel '" + Symbol + "'");
  }
  dropList(M, "llvm.used");
  dropList(M, "llvm.compiler.used");
  // Variables keep their names, which the host may set; they only lose what
  // holds them although nobody uses them.
  for (Function &F : M)
    if (!is_contained(Kernels, &F) && !F.isDeclaration())
      F.setLinkage(GlobalValue::InternalLinkage);
  SmallVector<std::pair<GlobalVariable *, GlobalValue::LinkageTypes>> Kept;
  for (GlobalVariable &G : M.globals())
    if (!G.isDeclaration() && !G.hasLocalLinkage() &&
        !G.getName().starts_with("llvm.")) {
      Kept.push_back({&G, G.getLinkage()});
      G.setLinkage(GlobalValue::InternalLinkage);
    }
  SmallVector<std::pair<std::string, GlobalValue::LinkageTypes>> Names;
  Names.reserve(Kept.size());
  for (auto [G, Linkage] : Kept)
    Names.push_back({G->getName().str(), Linkage});
  ModulePassManager Passes;
  Passes.addPass(GlobalDCEPass());
  Pipeline().run(std::move(Passes), M);
  for (auto &[Name, Linkage] : Names)
    if (GlobalVariable *G = M.getNamedGlobal(Name))
      G->setLinkage(Linkage);
  std::string Result;
  raw_string_ostream OS(Result);
  WriteBitcodeToFile(M, OS);
  return Result;
}

} // namespace cupilot
