//===- KernelIdentity.cpp - Digests of kernels and modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace llvm;

namespace cupilot {

std::string buildContext(ArrayRef<std::string> LLVMArgs) {
  std::vector<std::string> Args;
  for (StringRef Arg : LLVMArgs)
    // Clang's driver gives this one to every device compilation.
    if (Arg.ltrim('-') != "enable-memcpyopt-without-libcalls")
      Args.push_back(Arg.ltrim('-').str());
  llvm::sort(Args);
  return join(Args, " ");
}

KernelIdentity identify(const Function &F, StringRef Context) {
  KernelIdentity Identity;
  Identity.Symbol = F.getName().str();
  Expected<std::string> Text = canonicalText(F, Context);
  if (Text)
    Identity.Digest = digest(*Text);
  else
    Identity.Refusal = noteOf(Text.takeError());
  return Identity;
}

std::vector<KernelIdentity> identifyKernels(const Module &M,
                                            StringRef Context) {
  std::vector<KernelIdentity> All;
  for (const Function &F : M)
    if (!F.isDeclaration() && F.getCallingConv() == CallingConv::PTX_Kernel)
      All.push_back(identify(F, Context));
  return All;
}

void foldReflect(Module &M) {
  if (!M.getFunction("__nvvm_reflect"))
    return;
  static std::once_flag Once;
  std::call_once(Once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
  });
  std::string Message;
  const Target *T = TargetRegistry::lookupTarget(M.getTargetTriple(), Message);
  if (!T)
    return;
  StringRef Cpu;
  for (const Function &F : M)
    if (!F.isDeclaration() && Cpu.empty())
      Cpu = F.getFnAttribute("target-cpu").getValueAsString();
  std::unique_ptr<TargetMachine> TM(T->createTargetMachine(
      M.getTargetTriple(), Cpu, "", TargetOptions(), std::nullopt));
  Pipeline Reflect(TM.get());
  ModulePassManager Passes;
  if (Error E = Reflect.builder().parsePassPipeline(Passes, "nvvm-reflect"))
    return consumeError(std::move(E));
  Reflect.run(std::move(Passes), M);
}

Expected<std::vector<KernelIdentity>> identifyKernels(StringRef Bitcode,
                                                      StringRef Context) {
  LLVMContext C;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, C);
  if (!M)
    return M.takeError();
  foldReflect(**M);
  return identifyKernels(**M, Context);
}

Expected<std::string> digestOf(ArrayRef<KernelIdentity> All, StringRef Symbol) {
  for (const KernelIdentity &I : All)
    if (I.Symbol == Symbol || StringRef(withoutUnitName(I.Symbol)) == Symbol)
      return I.Refusal
                 ? Expected<std::string>(make_error<BuildError>(*I.Refusal))
                 : I.Digest;
  return findingError("the compiler does not emit it");
}

std::string digestOfPlan(ArrayRef<KernelIdentity> Kernels) {
  if (Kernels.size() == 1)
    return Kernels.front().Digest;
  DigestBuilder All;
  for (const KernelIdentity &K : Kernels)
    All.add(K.Digest);
  return All.str();
}

Expected<std::string> digestOfPlan(ArrayRef<KernelIdentity> All,
                                   ArrayRef<std::string> Symbols) {
  std::vector<KernelIdentity> Kernels;
  for (const std::string &Symbol : Symbols) {
    Expected<std::string> Digest = digestOf(All, Symbol);
    if (!Digest)
      return Digest.takeError();
    Kernels.push_back({Symbol, *Digest, std::nullopt});
  }
  return digestOfPlan(Kernels);
}

} // namespace cupilot
