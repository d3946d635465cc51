//===- Ptx.cpp - PTX from device bitcode -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Ptx.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Nvptx.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace cupilot {

Expected<std::string>
generatePtx(StringRef Bitcode, StringRef Arch,
            function_ref<void(const llvm::Module &)> Look) {
  LLVMContext Context;
  Expected<std::unique_ptr<llvm::Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  StripDebugInfo(**M);
  Expected<std::unique_ptr<TargetMachine>> TM = nvptxMachine(**M, Arch);
  if (!TM)
    return TM.takeError();
  optimizeForNvptx(**M, **TM);
  if (Look)
    Look(**M);

  SmallString<0> Ptx;
  raw_svector_ostream OS(Ptx);
  legacy::PassManager Codegen;
  if ((*TM)->addPassesToEmitFile(Codegen, OS, nullptr,
                                 CodeGenFileType::AssemblyFile))
    return resourceError("this LLVM cannot print PTX");
  Codegen.run(**M);
  return Ptx.str().str();
}

} // namespace cupilot
