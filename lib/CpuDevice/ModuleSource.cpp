//===- ModuleSource.cpp - Device code, and the parts of it ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleSource.h"
#include "Lower/Lowering.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

using namespace llvm;

namespace cupilot {

/// A variable that all parts have in common, because code or the program may
/// write it. Others are constants, of which each part may have its own.
static bool isCommon(const GlobalVariable &G) {
  return G.getAddressSpace() != NVPTXAS::ADDRESS_SPACE_SHARED &&
         !G.isDeclaration() && !G.getName().starts_with("llvm.") &&
         (G.isExternallyInitialized() || !G.isConstant());
}

/// Marks them while a part is lowered.
static constexpr char CommonName[] = "cupilot.common";

static bool canBeSplit(const Module &M) {
  if (!M.aliases().empty() || !M.ifuncs().empty())
    return false;
  for (const GlobalVariable &G : M.globals())
    if (isCommon(G) && !G.hasName())
      return false;
  return none_of(M, [](const Function &F) {
    return !F.isIntrinsic() &&
           F.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false,
                             /*IgnoreAssumeLikeCalls=*/true,
                             /*IngoreLLVMUsed=*/true);
  });
}

ModuleIndex indexOf(const Module &M, const CpuDeviceOptions &Options) {
  ModuleIndex Index;
  DataLayout Host(Triple(sys::getProcessTriple()).computeDataLayout());
  for (const Function &F : M) {
    if (F.isDeclaration())
      continue;
    if (Index.Arch == 0)
      Index.Arch =
          capabilityNumber(F.getFnAttribute("target-cpu").getValueAsString());
    if (F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    LoweredKernel K;
    layoutParameters(F, Host, K);
    Index.Kernels.push_back({F.getName().str(), std::move(K.ParamSizes)});
  }
  for (const GlobalVariable &G : M.globals())
    if (isCommon(G))
      Index.Globals.push_back({G.getName().str(),
                               Host.getTypeAllocSize(G.getValueType()),
                               G.isExternallyInitialized()});
  Index.IsWhole = Index.Kernels.size() < 2 || Options.Decisions ||
                  Options.WidenFloats || Options.ProductBits > 0 ||
                  Options.RoundAtRandom || !canBeSplit(M);
  return Index;
}

Expected<StringRef> ModuleSource::bitcode() {
  if (!IsPtx)
    return Text;
  if (!Made.empty())
    return Made;
  Expected<std::string> Bitcode = bitcodeOfPtx(Text);
  if (!Bitcode)
    return Bitcode.takeError();
  Made = std::move(*Bitcode);
  return Made;
}

Expected<std::unique_ptr<Module>> ModuleSource::whole(LLVMContext &Context) {
  Expected<StringRef> Bitcode = bitcode();
  if (!Bitcode)
    return Bitcode.takeError();
  return parseBitcode(*Bitcode, Context);
}

/// Leaves a declaration of \p F.
static void dropBody(Function &F) {
  F.deleteBody();
  F.setComdat(nullptr);
}

/// The module of \p Bitcode without the bodies of kernels but \p Kernel.
static Expected<std::unique_ptr<Module>>
readPart(StringRef Bitcode, StringRef Kernel, LLVMContext &Context) {
  Expected<std::unique_ptr<Module>> M =
      getLazyBitcodeModule(MemoryBufferRef(Bitcode, "device"), Context);
  if (!M)
    return usageError("broken device bitcode: " + toString(M.takeError()));
  for (Function &F : **M)
    if (F.getCallingConv() == CallingConv::PTX_Kernel && F.getName() != Kernel)
      dropBody(F);
  if (Error E = (*M)->materializeAll())
    return usageError("broken device bitcode: " + toString(std::move(E)));
  dropUsedLists(**M);
  for (GlobalVariable &G : (*M)->globals()) {
    if (!isCommon(G))
      continue;
    G.setComdat(nullptr);
    G.setLinkage(GlobalValue::ExternalLinkage);
    G.setMetadata(CommonName, MDNode::get(Context, {}));
  }
  return M;
}

Expected<std::unique_ptr<Module>> ModuleSource::only(StringRef Kernel,
                                                     LLVMContext &Context) {
  Expected<StringRef> Bitcode = bitcode();
  if (!Bitcode)
    return Bitcode.takeError();
  Expected<std::unique_ptr<Module>> M = readPart(*Bitcode, Kernel, Context);
  if (!M)
    return M;
  for (Function &F : **M)
    if (!F.isDeclaration() && F.getName() != Kernel)
      F.setLinkage(GlobalValue::InternalLinkage);
  ModulePassManager Unused;
  Unused.addPass(GlobalDCEPass());
  Pipeline().run(std::move(Unused), **M);
  // Variables that the kernel does not name, with what they name.
  for (GlobalVariable &G : make_early_inc_range((*M)->globals())) {
    G.removeDeadConstantUsers();
    if (G.use_empty() && isCommon(G))
      G.eraseFromParent();
  }
  return M;
}

Expected<std::unique_ptr<Module>>
ModuleSource::variables(LLVMContext &Context) {
  Expected<StringRef> Bitcode = bitcode();
  if (!Bitcode)
    return Bitcode.takeError();
  Expected<std::unique_ptr<Module>> M = readPart(*Bitcode, "", Context);
  if (!M)
    return M;
  for (Function &F : **M)
    if (!F.isDeclaration())
      dropBody(F);
  for (GlobalVariable &G : (*M)->globals())
    if (!G.isDeclaration() && !isCommon(G))
      G.setLinkage(GlobalValue::InternalLinkage);
  ModulePassManager Unused;
  Unused.addPass(GlobalDCEPass());
  Pipeline().run(std::move(Unused), **M);
  return M;
}

void forgetVariables(Module &M, LoweredModule &Tables) {
  StringSet<> Common;
  for (GlobalVariable &G : M.globals()) {
    if (!G.hasMetadata(CommonName))
      continue;
    Common.insert(G.getName());
    G.setInitializer(nullptr);
    G.setExternallyInitialized(false);
    G.setDSOLocal(false);
    G.setMetadata(CommonName, nullptr);
  }
  auto IsCommon = [&](const LoweredModule::Global &G) {
    return Common.contains(G.Symbol);
  };
  erase_if(Tables.Globals, IsCommon);
  erase_if(Tables.Hidden, IsCommon);
}

} // namespace cupilot
