//===- BuildIdentity.cpp - Build identities of kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The canonical text of a kernel's closure, walked in the order of first use.
// docs/BuildIdentity.md says what is in it and what is not, and why.
//
//===----------------------------------------------------------------------===//

#include "Canonicaliser.h"
#include "DriverState.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

/// Functions that the CUDA run time provides to any kernel.
static bool isKnownExternal(StringRef Name) {
  return is_contained(
      ArrayRef<StringRef>({"vprintf", "__assertfail", "__assert_fail", "malloc",
                           "free", "__nvvm_reflect"}),
      Name);
}

void Canonicaliser::function(const Function &F) {
  if (F.isDeclaration()) {
    StringRef Name = F.getName();
    if (isDriverStateRead(F))
      MayReadDriverState = true;
    else if (!F.isIntrinsic() && !isKnownExternal(Name))
      refuse(BuildReason::UndefinedFunction, {demangle(Name)});
    if (!F.isIntrinsic()) {
      OS << "declaration " << Name << " ";
      attributes(F.getAttributes().getFnAttrs());
      attributes(F.getAttributes().getRetAttrs());
      OS << "\n";
    }
    return;
  }
  if (F.hasFnAttribute(Attribute::OptimizeNone))
    refuse(BuildReason::NotOptimised);
  Locals.clear();
  OS << "function ";
  type(F.getFunctionType());
  OS << " cc" << F.getCallingConv() << " ";
  attributes(F.getAttributes().getFnAttrs());
  attributes(F.getAttributes().getRetAttrs());
  for (const Argument &A : F.args()) {
    value(&A);
    attributes(F.getAttributes().getParamAttrs(A.getArgNo()));
  }
  if (F.hasSection()) {
    OS << " section ";
    text(F.getSection());
  }
  if (F.hasGC() || F.hasPersonalityFn() || F.hasPrefixData() ||
      F.hasPrologueData())
    refuse(BuildReason::UnknownParts);
  SmallVector<std::pair<unsigned, MDNode *>> All;
  F.getAllMetadata(All);
  metadata(All);
  OS << "\n";
  for (const BasicBlock &BB : F) {
    value(&BB);
    OS << ":\n";
    for (const Instruction &I : BB)
      if (!dropped(I))
        instruction(I);
  }
}

bool isBuiltinVariable(StringRef Name) {
  return is_contained(ArrayRef<StringRef>({"threadIdx", "blockIdx", "blockDim",
                                           "gridDim", "warpSize"}),
                      Name);
}

bool isDeviceVariable(const GlobalVariable &G) {
  // Shared and local memory begins anew with every launch.
  if (G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED ||
      G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_LOCAL)
    return false;
  return G.isExternallyInitialized() || !G.isConstant();
}

void Canonicaliser::global(const GlobalVariable &G) {
  OS << "variable " << (G.isConstant() ? "constant " : "")
     << (G.isExternallyInitialized() ? "host " : "");
  // What outlives a launch, or the host can see, is this one variable and no
  // other; the rest is known by its content.
  if (isDeviceVariable(G) ||
      (G.isDeclaration() &&
       G.getAddressSpace() != NVPTXAS::ADDRESS_SPACE_SHARED)) {
    text(G.getName());
    OS << " ";
  }
  type(G.getValueType());
  // No alignment is not 1: it lets the back end choose.
  OS << " as" << G.getAddressSpace() << " a"
     << (G.getAlign() ? G.getAlign()->value() : 0) << " ";
  if (G.isThreadLocal())
    refuse(BuildReason::ThreadLocal);
  if (G.hasSection()) {
    OS << "section ";
    text(G.getSection());
  }
  if (G.hasInitializer())
    constant(G.getInitializer());
  else if (G.getAddressSpace() != NVPTXAS::ADDRESS_SPACE_SHARED &&
           !isBuiltinVariable(G.getName()))
    refuse(BuildReason::UndefinedVariable, {demangle(G.getName())});
  SmallVector<std::pair<unsigned, MDNode *>> All;
  G.getAllMetadata(All);
  metadata(All);
  OS << "\n";
}

void Canonicaliser::moduleFlags() {
  const Module &M = *Kernel.getParent();
  OS << "target " << M.getTargetTriple().str() << " " << M.getDataLayoutStr()
     << "\n";
  // Inline assembly may name what it defines.
  if (!M.getModuleInlineAsm().empty()) {
    OS << "asm ";
    text(M.getModuleInlineAsm());
    OS << "\n";
  }
  SmallVector<Module::ModuleFlagEntry> Flags;
  M.getModuleFlagsMetadata(Flags);
  llvm::sort(Flags, [](const auto &A, const auto &B) {
    return A.Key->getString() < B.Key->getString();
  });
  for (const Module::ModuleFlagEntry &Flag : Flags) {
    StringRef Key = Flag.Key->getString();
    if (Key == "wchar_size" || Key == "PIC Level" || Key == "PIE Level" ||
        Key == "frame-pointer" || Key == "Debug Info Version" ||
        Key == "Dwarf Version" || Key == "uwtable" || Key == "SDK Version")
      continue;
    OS << "flag " << Key << " ";
    metadata(Flag.Val);
    OS << "\n";
  }
}

/// Facts about functions and variables, as older front ends write them.
void Canonicaliser::annotations() {
  const NamedMDNode *All =
      Kernel.getParent()->getNamedMetadata("nvvm.annotations");
  if (!All)
    return;
  // What an annotation names beyond the closure is not walked.
  for (const GlobalValue *G : std::vector(Order))
    for (const MDNode *Node : All->operands()) {
      auto *About =
          Node->getNumOperands() == 0
              ? nullptr
              : dyn_cast_or_null<ValueAsMetadata>(Node->getOperand(0));
      if (!About || About->getValue() != G)
        continue;
      OS << "annotation @#" << Globals.lookup(G);
      for (const MDOperand &Operand : drop_begin(Node->operands())) {
        OS << ",";
        metadata(Operand.get());
      }
      OS << "\n";
    }
}

Expected<std::string> Canonicaliser::run(StringRef Context) {
  if (!Context.empty())
    OS << "context " << Context << "\n";
  number(&Kernel);
  moduleFlags();
  for (size_t I = 0; I < Order.size() && !Refusal; ++I) {
    if (!Order[I]->isDeclaration() && Order[I]->isInterposable())
      refuse(BuildReason::Replaceable, {demangle(Order[I]->getName())});
    if (auto *F = dyn_cast<Function>(Order[I]))
      function(*F);
    else if (auto *G = dyn_cast<GlobalVariable>(Order[I]))
      global(*G);
    else
      refuse(BuildReason::Alias);
  }
  annotations();
  if (MayReadDriverState && !Refusal && readsDriverState(Kernel, Order))
    refuse(BuildReason::WaitsForBlocks);
  if (Refusal)
    return make_error<BuildError>(*Refusal);
  return Text;
}

Expected<CanonicalCode> canonicalCode(const Function &Kernel,
                                      StringRef Context) {
  Canonicaliser Walk(Kernel);
  Expected<std::string> Text = Walk.run(Context);
  if (!Text)
    return Text.takeError();
  CanonicalCode Code{std::move(*Text), {}};
  for (const GlobalValue *G : Walk.reached())
    if (auto *V = dyn_cast<GlobalVariable>(G); V && isDeviceVariable(*V))
      Code.Variables.push_back(V);
  return Code;
}

Expected<std::string> canonicalText(const Function &F, StringRef Context) {
  return Canonicaliser(F).run(Context);
}

} // namespace cupilot
