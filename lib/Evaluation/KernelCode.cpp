//===- KernelCode.cpp - A kernel's IR with everything inlined -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"
#include "PreparedCode.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/SROA.h"

using namespace llvm;

namespace cupilot {

Expected<KernelCode> KernelCode::of(StringRef Bitcode) {
  KernelCode Code;
  Code.Context = std::make_unique<LLVMContext>();
  Expected<std::unique_ptr<Module>> Parsed =
      parseBitcode(Bitcode, *Code.Context);
  if (!Parsed)
    return Parsed.takeError();
  Code.M = std::move(*Parsed);
  expandInlinePtx(*Code.M);
  for (Function &F : *Code.M) {
    F.removeFnAttr(Attribute::NoInline);
    F.removeFnAttr(Attribute::OptimizeNone);
    if (!F.isDeclaration() && F.getCallingConv() != CallingConv::PTX_Kernel)
      F.addFnAttr(Attribute::AlwaysInline);
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *Call = dyn_cast<CallBase>(&I))
          Call->removeFnAttr(Attribute::NoInline);
  }
  ModulePassManager Passes;
  Passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  Passes.addPass(
      createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  Pipeline().run(std::move(Passes), *Code.M);
  return Code;
}

Expected<uint64_t> codeDigest(StringRef Bitcode) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> Parsed = parseBitcode(Bitcode, Context);
  if (!Parsed)
    return Parsed.takeError();
  StripDebugInfo(**Parsed);
  (*Parsed)->setModuleIdentifier("");
  (*Parsed)->setSourceFileName("");
  SmallString<0> Bytes;
  raw_svector_ostream OS(Bytes);
  WriteBitcodeToFile(**Parsed, OS);
  std::string Text = digest(std::string_view(Bytes.data(), Bytes.size()));
  StringRef Hex = Text;
  uint64_t Result = 0;
  Hex.consume_front("b3:");
  Hex.take_front(16).getAsInteger(16, Result);
  return Result;
}

const Function *KernelCode::kernel(StringRef Symbol) const {
  const Function *F = M->getFunction(Symbol);
  return F && !F->isDeclaration() ? F : nullptr;
}

/// The field of a by-value argument that \p Load reads.
static std::optional<PointerRef> fieldOf(const LoadInst &Load) {
  const DataLayout &DL = Load.getDataLayout();
  APInt Offset(DL.getIndexTypeSizeInBits(Load.getPointerOperandType()), 0);
  const Value *Base =
      Load.getPointerOperand()->stripAndAccumulateConstantOffsets(
          DL, Offset, /*AllowNonInbounds=*/true);
  const auto *A = dyn_cast<Argument>(Base);
  if (!A || !A->hasByValAttr() || Offset.isNegative() || !Offset.isIntN(32))
    return std::nullopt;
  return PointerRef{A->getArgNo(),
                    static_cast<unsigned>(Offset.getZExtValue())};
}

std::optional<PointerRef> rootOf(const Value *Address) {
  SmallPtrSet<const Value *, 8> Seen;
  SmallVector<const Value *> Work{Address};
  std::optional<PointerRef> Root;
  auto Join = [&](std::optional<PointerRef> R) {
    if (!R || (Root && !(*Root == *R)))
      return false;
    Root = R;
    return true;
  };
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val()->stripPointerCasts();
    if (!Seen.insert(V).second)
      continue;
    if (const auto *GEP = dyn_cast<GEPOperator>(V)) {
      Work.push_back(GEP->getPointerOperand());
    } else if (const auto *Phi = dyn_cast<PHINode>(V)) {
      append_range(Work, Phi->incoming_values());
    } else if (const auto *Select = dyn_cast<SelectInst>(V)) {
      Work.push_back(Select->getTrueValue());
      Work.push_back(Select->getFalseValue());
    } else if (isa<ConstantPointerNull>(V)) {
      continue;
    } else if (const auto *A = dyn_cast<Argument>(V)) {
      if (A->hasByValAttr() || !Join(PointerRef{A->getArgNo(), 0}))
        return std::nullopt;
    } else if (const auto *Load = dyn_cast<LoadInst>(V)) {
      if (!Join(fieldOf(*Load)))
        return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return Root;
}

/// Memory of the thread or the block.
static bool isOwn(const Value *Address) {
  const Value *Object = getUnderlyingObject(Address, 32);
  const auto *G = dyn_cast<GlobalVariable>(Object);
  return isa<AllocaInst>(Object) ||
         (G && G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED);
}

std::vector<PointerRef> changedByAtomics(const Function &F) {
  std::vector<PointerRef> Atomic, Other;
  for (const Instruction &I : instructions(F)) {
    if (!I.mayWriteToMemory())
      continue;
    const Value *Address = nullptr;
    bool IsAtomic = false;
    if (const auto *Store = dyn_cast<StoreInst>(&I)) {
      Address = Store->getPointerOperand();
    } else if (const auto *RMW = dyn_cast<AtomicRMWInst>(&I)) {
      Address = RMW->getPointerOperand();
      IsAtomic = true;
    } else if (const auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
      Address = Exchange->getPointerOperand();
      IsAtomic = true;
    }
    if (Address) {
      if (std::optional<PointerRef> Root = rootOf(Address))
        (IsAtomic ? Atomic : Other).push_back(*Root);
      else if (!isOwn(Address))
        return {}; // It may be any of them.
      continue;
    }
    if (const auto *Call = dyn_cast<CallBase>(&I))
      for (const Value *Operand : Call->args()) {
        const Value *Pointer = addressIn(*Operand);
        // What the run time executes gets addresses as numbers; those of the
        // block's memory have 32 bits.
        if (!Pointer && isDeviceOp(*Call) && !isa<Constant, ZExtInst>(Operand))
          return {};
        if (!Pointer || isOwn(Pointer))
          continue;
        std::optional<PointerRef> Root = rootOf(Pointer);
        if (!Root)
          return {};
        Other.push_back(*Root);
      }
  }
  erase_if(Atomic, [&](const PointerRef &P) { return is_contained(Other, P); });
  return Atomic;
}

std::string locationOf(const Instruction &I) {
  const DILocation *Loc = I.getDebugLoc().get();
  if (!Loc || !Loc->getLine())
    return "";
  return (sys::path::filename(Loc->getFilename()) + ":" +
          Twine(Loc->getLine()) + ":" + Twine(Loc->getColumn()))
      .str();
}

} // namespace cupilot
