//===- Nvptx.cpp - Device code as LLVM compiles it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Nvptx.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
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

/// The PTX version that \p M was compiled for, which its toolkit's ptxas reads:
/// inline assembly may need it. At least 7.8, which knows every architecture up
/// to sm_90 and is read by every ptxas since CUDA 11.8.
static std::string ptxFeature(const Module &M) {
  unsigned Version = 78;
  for (const Function &F : M) {
    SmallVector<StringRef> Features;
    F.getFnAttribute("target-features").getValueAsString().split(Features, ',');
    for (StringRef Feature : Features) {
      unsigned Each = 0;
      if (Feature.consume_front("+ptx") && !Feature.getAsInteger(10, Each))
        Version = std::max(Version, Each);
    }
  }
  return "+ptx" + std::to_string(Version);
}

Expected<std::unique_ptr<TargetMachine>> nvptxMachine(const Module &M,
                                                      StringRef Arch) {
  initializeNvptx();
  std::string Message;
  const Target *T = TargetRegistry::lookupTarget(M.getTargetTriple(), Message);
  if (!T)
    return resourceError("this LLVM cannot generate PTX: " + Message);
  std::unique_ptr<TargetMachine> TM(T->createTargetMachine(
      M.getTargetTriple(), Arch, ptxFeature(M), TargetOptions(), Reloc::PIC_,
      std::nullopt, CodeGenOptLevel::Aggressive));
  if (!TM)
    return usageError("this LLVM does not know the architecture '" + Arch +
                      "'");
  return std::move(TM);
}

void optimizeForNvptx(Module &M, TargetMachine &Target) {
  M.setDataLayout(Target.createDataLayout());
  Pipeline Optimizer(&Target);
  Optimizer.run(Optimizer.level(OptimizationLevel::O3), M);
}

} // namespace cupilot
