//===- HostJit.cpp - Device code compiled and linked for this machine -----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostJit.h"
#include "RuntimeSymbols.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>
#include <optional>

using namespace llvm;

namespace cupilot {

static void initializeHost() {
  static std::once_flag Once;
  std::call_once(Once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser(); // addYields uses assembly.
  });
}

/// A code generator for this machine, but for its arithmetic on short floats:
/// instructions that make bfloat16 (AVX512-BF16 and what came after) flush
/// denormals, which a GPU does not, and what one host has another lacks.
static Expected<orc::JITTargetMachineBuilder> detectTarget() {
  Expected<orc::JITTargetMachineBuilder> Host =
      orc::JITTargetMachineBuilder::detectHost();
  if (!Host)
    return Host.takeError();
  if (Host->getTargetTriple().isX86())
    for (StringRef Feature : {"avx512bf16", "avxneconvert", "avx10.2"})
      Host->getFeatures().AddFeature(Feature, /*Enable=*/false);
  // What the linker of objects needs.
  Host->setRelocationModel(Reloc::PIC_);
  Host->setCodeModel(CodeModel::Small);
  return Host;
}

/// The same, asked once.
static Expected<orc::JITTargetMachineBuilder> targetBuilder() {
  static std::mutex Mutex;
  static std::optional<orc::JITTargetMachineBuilder> Known;
  std::lock_guard Lock(Mutex);
  if (!Known) {
    Expected<orc::JITTargetMachineBuilder> Host = detectTarget();
    if (!Host)
      return Host.takeError();
    Known = std::move(*Host);
  }
  return *Known;
}

Expected<std::string> hostTarget() {
  Expected<orc::JITTargetMachineBuilder> Host = targetBuilder();
  if (!Host)
    return Host.takeError();
  return Host->getTargetTriple().str() + " " + Host->getCPU() + " " +
         Host->getFeatures().getString();
}

Error prepareHost() {
  initializeHost();
  return targetBuilder().takeError();
}

Expected<std::unique_ptr<MemoryBuffer>> hostObject(Module &M) {
  initializeHost();
  Expected<orc::JITTargetMachineBuilder> Builder = targetBuilder();
  if (!Builder)
    return Builder.takeError();
  Expected<std::unique_ptr<TargetMachine>> Machine =
      Builder->createTargetMachine();
  if (!Machine)
    return Machine.takeError();
  return orc::SimpleCompiler(**Machine)(M);
}

static Error defineRuntime(orc::LLJIT &Jit) {
  orc::SymbolMap Symbols;
  for (const RuntimeSymbol &S : runtimeSymbols())
    Symbols[Jit.mangleAndIntern(S.Name)] = {
        orc::ExecutorAddr::fromPtr(S.Address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return Jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(Symbols)));
}

Expected<std::unique_ptr<HostJit>> HostJit::create() {
  initializeHost();
  Expected<orc::JITTargetMachineBuilder> Builder = targetBuilder();
  if (!Builder)
    return Builder.takeError();
  Expected<std::unique_ptr<orc::LLJIT>> Jit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(*Builder).create();
  if (!Jit)
    return Jit.takeError();
  if (Error E = defineRuntime(**Jit))
    return std::move(E);
  return std::unique_ptr<HostJit>(new HostJit(std::move(*Jit)));
}

Error HostJit::define(orc::JITDylib &In, StringRef Symbol, void *Address) {
  orc::SymbolMap Symbols;
  Symbols[Jit->mangleAndIntern(Symbol)] = {orc::ExecutorAddr::fromPtr(Address),
                                           JITSymbolFlags::Exported};
  return In.define(orc::absoluteSymbols(std::move(Symbols)));
}

Expected<orc::JITDylib *> HostJit::createLibrary(StringRef Name) {
  Expected<orc::JITDylib &> Made = Jit->createJITDylib(Name.str());
  if (!Made)
    return Made.takeError();
  Made->addToLinkOrder(Jit->getMainJITDylib());
  return &*Made;
}

} // namespace cupilot
