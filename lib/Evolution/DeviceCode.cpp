//===- DeviceCode.cpp - PTX from device bitcode -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/DeviceCode.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace llvm;

namespace cupilot {

static void initializeNvptx() {
  static std::once_flag Once;
  std::call_once(Once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

Expected<std::string> generatePtx(StringRef Bitcode, StringRef Arch) {
  initializeNvptx();
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  StripDebugInfo(**M);
  std::string Message;
  const Target *T =
      TargetRegistry::lookupTarget((*M)->getTargetTriple(), Message);
  if (!T)
    return resourceError("this LLVM cannot generate PTX: " + Message);
  // PTX 7.8 knows every architecture up to sm_90 and is read by every ptxas
  // since CUDA 11.8.
  std::unique_ptr<TargetMachine> TM(T->createTargetMachine(
      (*M)->getTargetTriple(), Arch, "+ptx78", TargetOptions(), Reloc::PIC_,
      std::nullopt, CodeGenOptLevel::Aggressive));
  if (!TM)
    return usageError("this LLVM does not know the architecture '" + Arch +
                      "'");
  (*M)->setDataLayout(TM->createDataLayout());

  Pipeline Optimizer(TM.get());
  Optimizer.run(Optimizer.level(OptimizationLevel::O3), **M);

  SmallString<0> Ptx;
  raw_svector_ostream OS(Ptx);
  legacy::PassManager Codegen;
  if (TM->addPassesToEmitFile(Codegen, OS, nullptr,
                              CodeGenFileType::AssemblyFile))
    return resourceError("this LLVM cannot print PTX");
  Codegen.run(**M);
  return Ptx.str().str();
}

std::string deviceCodeDigest(StringRef Ptx) {
  DigestBuilder Builder;
  while (!Ptx.empty()) {
    auto [Line, Rest] = Ptx.split('\n');
    Ptx = Rest;
    Line = Line.split("//").first.trim();
    if (!Line.empty() && !Line.starts_with(".file") &&
        !Line.starts_with(".loc"))
      Builder.add(Line);
  }
  return Builder.str();
}

} // namespace cupilot
