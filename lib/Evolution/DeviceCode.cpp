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
  std::unique_ptr<TargetMachine> TM(T->createTargetMachine(
      (*M)->getTargetTriple(), Arch, ptxFeature(**M), TargetOptions(),
      Reloc::PIC_, std::nullopt, CodeGenOptLevel::Aggressive));
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

std::vector<std::string> kernelsOf(StringRef Ptx) {
  std::vector<std::string> Symbols;
  for (StringRef Rest = Ptx; !Rest.empty();) {
    auto [Line, Behind] = Rest.split('\n');
    Rest = Behind;
    auto [Before, Name] = Line.split(".entry ");
    if (Line.starts_with(".") && Before.size() < Line.size())
      Symbols.push_back(
          Name.take_until([](char C) { return C == '(' || C == ' '; }).str());
  }
  return Symbols;
}

} // namespace cupilot
