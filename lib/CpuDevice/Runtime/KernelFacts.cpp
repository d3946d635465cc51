//===- KernelFacts.cpp - What a launch must know of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFacts.h"
#include "Ptx/ModuleLowering.h"
#include "cupilot/Ptx/Reach.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace cupilot {

/// Three numbers of an attribute like "nvvm.maxntid"="16,16"; what is missing
/// is 1, and all are 0 without the attribute.
static std::array<unsigned, 3> dimensions(const Function &F, StringRef Name) {
  std::array<unsigned, 3> Result{0, 0, 0};
  if (!F.hasFnAttribute(Name))
    return Result;
  SmallVector<StringRef> Parts;
  F.getFnAttribute(Name).getValueAsString().split(Parts, ',');
  for (unsigned I = 0; I < 3; ++I)
    if (I >= Parts.size() || Parts[I].trim().getAsInteger(10, Result[I]))
      Result[I] = 1;
  return Result;
}

/// The dimensions that cupilot-nvcc.h made of __cluster_dims__(X, Y, Z).
static void readClusters(const Module &M,
                         std::map<std::string, KernelFacts> &All) {
  const GlobalVariable *Notes = M.getGlobalVariable("llvm.global.annotations");
  if (!Notes || !Notes->hasInitializer())
    return;
  const auto *List = dyn_cast<ConstantArray>(Notes->getInitializer());
  for (unsigned I = 0; List && I < List->getNumOperands(); ++I) {
    const auto *Note = dyn_cast<ConstantStruct>(List->getOperand(I));
    if (!Note || Note->getNumOperands() < 5)
      continue;
    auto Initializer = [&](unsigned Field) -> const Constant * {
      const auto *G = dyn_cast<GlobalVariable>(
          Note->getOperand(Field)->stripPointerCasts());
      return G && G->hasInitializer() ? G->getInitializer() : nullptr;
    };
    const auto *Text = dyn_cast_or_null<ConstantDataArray>(Initializer(1));
    auto Kernel =
        All.find(Note->getOperand(0)->stripPointerCasts()->getName().str());
    const Constant *Args = Initializer(4);
    if (!Text || !Text->isCString() || !Args || Kernel == All.end() ||
        Text->getAsCString() != "cupilot.cluster_dims")
      continue;
    for (unsigned D = 0; D < 3; ++D) {
      const Constant *Value = Args->getAggregateElement(D);
      const auto *Number = dyn_cast_or_null<ConstantInt>(Value);
      Kernel->second.Cluster[D] =
          Number ? static_cast<unsigned>(Number->getZExtValue()) : 1;
    }
  }
}

/// Adds the variables that \p Start and the functions that it calls use.
static void addVariables(const Function &Start, KernelFacts &Facts) {
  const DataLayout &Layout = Start.getDataLayout();
  SmallPtrSet<const Value *, 32> Seen = {&Start};
  SmallVector<const Value *> Work = {&Start};
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    if (const auto *G = dyn_cast<GlobalVariable>(V)) {
      uint64_t Size = Layout.getTypeAllocSize(G->getValueType());
      if (G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
        Facts.StaticShared =
            alignTo(Facts.StaticShared, G->getAlign().valueOrOne()) + Size;
      else if (G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST)
        Facts.Constant += Size;
      continue;
    }
    auto Visit = [&](const Value *Operand) {
      if (isa<Constant>(Operand) && Seen.insert(Operand).second)
        Work.push_back(Operand);
    };
    if (const auto *F = dyn_cast<Function>(V)) {
      for (const Instruction &I : instructions(F)) {
        if (const auto *A = dyn_cast<AllocaInst>(&I))
          if (auto Size = A->getAllocationSize(Layout))
            Facts.Local += Size->getFixedValue();
        for (const Use &U : I.operands())
          Visit(U);
      }
    } else if (const auto *C = dyn_cast<User>(V)) {
      for (const Use &U : C->operands())
        Visit(U);
    }
  }
}

std::map<std::string, KernelFacts> kernelFacts(StringRef Bitcode) {
  std::map<std::string, KernelFacts> All;
  LLVMContext Context;
  auto M = parseBitcodeFile(MemoryBufferRef(Bitcode, "device"), Context);
  if (!M) {
    consumeError(M.takeError()); // Loading it for execution says the same.
    return All;
  }
  for (const Function &F : **M) {
    if (F.isDeclaration() || F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    KernelFacts &Facts = All[F.getName().str()];
    for (StringRef Name : {"nvvm.maxntid", "nvvm.reqntid"})
      if (auto D = dimensions(F, Name); D[0] > 0)
        Facts.MaxThreads =
            std::min(unsigned(MaxBlockThreads), D[0] * D[1] * D[2]);
    Facts.RequiredBlock = dimensions(F, "nvvm.reqntid");
    Facts.Cluster = dimensions(F, "nvvm.cluster_dim");
    addVariables(F, Facts);
  }
  readClusters(**M, All);
  return All;
}

/// Adds a variable of a module or of a function.
static void addVariable(const ptx::Variable &V, KernelFacts &Facts) {
  std::optional<uint64_t> Bytes = bytesOf(V);
  if (!Bytes) // Dynamic shared memory.
    return;
  if (V.In == ptx::Space::Shared)
    Facts.StaticShared =
        alignTo(Facts.StaticShared, std::max(V.Align, 1u)) + *Bytes;
  else if (V.In == ptx::Space::Const)
    Facts.Constant += *Bytes;
  else if (V.In == ptx::Space::Local)
    Facts.Local += *Bytes;
}

std::map<std::string, KernelFacts> kernelFacts(const ptx::Module &M) {
  std::map<std::string, KernelFacts> All;
  for (const ptx::Function *K : M.kernels()) {
    KernelFacts &Facts = All[std::string(K->Name)];
    uint64_t End = 0;
    for (const ptx::Variable &P : K->Parameters) {
      uint64_t Bytes = bytesOf(P).value_or(0);
      // PTX aligns a parameter to its type where it says nothing else.
      uint64_t Align = std::max<uint64_t>(P.Align, ptx::bitsOf(P.Of) / 8);
      Facts.ParamOffsets.push_back(alignTo(End, std::max<uint64_t>(Align, 1)));
      End = Facts.ParamOffsets.back() + Bytes;
    }
    for (const auto &[Tuning, Numbers] : K->Tunings) {
      auto Number = [&, &Numbers = Numbers](size_t I) {
        return I < Numbers.size() ? Numbers[I] : 1;
      };
      if (Tuning == ptx::Tuning::MaxNTid || Tuning == ptx::Tuning::ReqNTid)
        Facts.MaxThreads = static_cast<unsigned>(std::min<uint64_t>(
            MaxBlockThreads, Number(0) * Number(1) * Number(2)));
      if (Tuning == ptx::Tuning::ReqNTid)
        for (unsigned D = 0; D < 3; ++D)
          Facts.RequiredBlock[D] = static_cast<unsigned>(Number(D));
      else if (Tuning == ptx::Tuning::ReqNCtaPerCluster)
        for (unsigned D = 0; D < 3; ++D)
          Facts.Cluster[D] = static_cast<unsigned>(Number(D));
    }
    for (std::string_view Name : ptx::reachOf(M, K->Name)) {
      const ptx::Item *I = M.find(Name);
      if (const auto *D = I->as<ptx::Declaration>()) {
        for (const ptx::Variable &V : D->Variables)
          if (V.Name == Name)
            addVariable(V, Facts);
      } else if (const auto *F = I->as<ptx::Function>()) {
        for (const ptx::Statement &S : F->Body)
          if (const auto *Own = S.as<ptx::Declaration>())
            for (const ptx::Variable &V : Own->Variables)
              addVariable(V, Facts);
      }
    }
  }
  return All;
}

} // namespace cupilot
