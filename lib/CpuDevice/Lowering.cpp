//===- Lowering.cpp - NVPTX modules made ready for the CPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Fiber.h"
#include "cupilot/Support/Error.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

using namespace llvm;

namespace cupilot {

StructType *contextType(LLVMContext &C) {
  if (StructType *Known = StructType::getTypeByName(C, "cupilot.thread"))
    return Known;
  Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C),
       *Ptr = PointerType::get(C, 0);
  Type *Three = ArrayType::get(I32, 3);
  return StructType::create(C,
                            {Three, Three, Three, Three, Ptr, I32, I32, Ptr,
                             Ptr, I64, Ptr, I32, I64, Ptr, Ptr},
                            "cupilot.thread");
}

Value *contextField(IRBuilderBase &B, Function &Entry, ContextField Field,
                    unsigned Index) {
  StructType *Type = contextType(Entry.getContext());
  SmallVector<Value *, 3> Path = {B.getInt32(0), B.getInt32(Field)};
  if (Type->getElementType(Field)->isArrayTy())
    Path.push_back(B.getInt32(Index));
  return B.CreateInBoundsGEP(Type, Entry.getArg(0), Path);
}

std::string locationOf(const DebugLoc &Loc) {
  const DILocation *L = Loc.get();
  if (!L || L->getLine() == 0)
    return "";
  return (sys::path::filename(L->getFilename()) + ":" + Twine(L->getLine()) +
          ":" + Twine(L->getColumn()))
      .str();
}

uint32_t addPlace(LoweredModule &Tables, const DebugLoc &Loc) {
  Tables.Places.push_back(locationOf(Loc));
  return Tables.Places.size() - 1;
}

/// The entry of \p Kernel: loads the arguments and calls it.
static Function *createEntry(Function &Kernel, LoweredKernel &K) {
  Module &M = *Kernel.getParent();
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::get(C, 0);
  Function *Entry =
      Function::Create(FunctionType::get(Type::getVoidTy(C), {Ptr, Ptr}, false),
                       GlobalValue::ExternalLinkage, K.Entry, M);
  IRBuilder<> B(BasicBlock::Create(C, "entry", Entry));
  const DataLayout &DL = M.getDataLayout();
  SmallVector<Value *> Args;
  uint64_t End = 0;
  for (Argument &A : Kernel.args()) {
    Type *Value = A.hasByValAttr() ? A.getParamByValType() : A.getType();
    Align Alignment = DL.getABITypeAlign(Value);
    if (A.hasByValAttr())
      Alignment = std::max(Alignment, A.getParamAlign().valueOrOne());
    uint64_t Size = A.hasByValAttr()
                        ? DL.getTypeAllocSize(Value).getFixedValue()
                        : DL.getTypeStoreSize(Value).getFixedValue();
    uint64_t Offset = alignTo(End, Alignment);
    End = Offset + Size;
    K.ParamSizes.push_back(Size);
    K.ParamOffsets.push_back(Offset);
    llvm::Value *Slot =
        B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Entry->getArg(1), Offset);
    if (!A.hasByValAttr()) {
      Args.push_back(B.CreateAlignedLoad(Value, Slot, Alignment));
      continue;
    }
    // Each thread may change its own copy.
    AllocaInst *Copy = B.CreateAlloca(Value);
    Copy->setAlignment(Alignment);
    B.CreateMemCpy(Copy, Alignment, Slot, Alignment, Size);
    Args.push_back(Copy);
  }
  CallInst *Call = B.CreateCall(&Kernel, Args);
  for (Argument &A : Kernel.args())
    if (A.hasByValAttr())
      Call->addParamAttr(A.getArgNo(),
                         Attribute::getWithByValType(C, A.getParamByValType()));
  // Debug locations of inlined code need one at the call.
  if (DISubprogram *Sub = Kernel.getSubprogram())
    Call->setDebugLoc(DILocation::get(C, Sub->getLine(), 0, Sub));
  Entry->setSubprogram(nullptr);
  B.CreateRetVoid();
  return Entry;
}

/// A GPU needs addresses that are multiples of the access's size and no more
/// (CUDA C++ Programming Guide, "Device Memory Accesses"). What the compiler
/// concludes beyond that from a type's alignment is the source's promise, which
/// CUB's storage that is shared by several types does not keep.
template <class Access>
static void limitAlignment(Access &I, Type *Value, const DataLayout &DL) {
  uint64_t Size = PowerOf2Ceil(DL.getTypeStoreSize(Value).getFixedValue());
  I.setAlignment(std::min(I.getAlign(), Align(std::max<uint64_t>(Size, 1))));
}

/// Attributes that mean something to an NVPTX or a debugging build only.
static void dropDeviceAttributes(Module &M) {
  for (Function &F : M) {
    F.setCallingConv(CallingConv::C);
    for (StringRef Name :
         {"target-cpu", "target-features", "frame-pointer", "tune-cpu"})
      F.removeFnAttr(Name);
    for (Attribute::AttrKind Kind :
         {Attribute::NoInline, Attribute::OptimizeNone})
      F.removeFnAttr(Kind);
    if (!F.isDeclaration())
      F.addFnAttr(Attribute::AlwaysInline);
    for (BasicBlock &BB : F)
      for (Instruction &I : BB) {
        if (auto *Call = dyn_cast<CallBase>(&I)) {
          Call->setCallingConv(CallingConv::C);
          Call->removeFnAttr(Attribute::NoInline);
        }
        if (auto *Load = dyn_cast<LoadInst>(&I))
          limitAlignment(*Load, Load->getType(), M.getDataLayout());
        else if (auto *Store = dyn_cast<StoreInst>(&I))
          limitAlignment(*Store, Store->getValueOperand()->getType(),
                         M.getDataLayout());
        // Scopes are NVPTX's; the host knows the whole system only.
        if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
          RMW->setSyncScopeID(SyncScope::System);
        else if (auto *CX = dyn_cast<AtomicCmpXchgInst>(&I))
          CX->setSyncScopeID(SyncScope::System);
        else if (auto *Fence = dyn_cast<FenceInst>(&I))
          Fence->setSyncScopeID(SyncScope::System);
        else if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isAtomic())
          Load->setSyncScopeID(SyncScope::System);
        else if (auto *Store = dyn_cast<StoreInst>(&I);
                 Store && Store->isAtomic())
          Store->setSyncScopeID(SyncScope::System);
      }
  }
}

namespace {
/// The new pass manager's boilerplate, once.
class Pipeline {
public:
  Pipeline() : Builder(nullptr, options()) {
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Graphs);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Graphs, Modules);
  }
  void run(ModulePassManager Passes, Module &M) {
    Passes.run(M, Modules);
    Modules.clear();
    Functions.clear();
    Loops.clear();
    Graphs.clear();
  }
  ModulePassManager level(OptimizationLevel Level) {
    return Builder.buildPerModuleDefaultPipeline(Level);
  }

private:
  static PipelineTuningOptions options() {
    // Device threads are scalar; vectors of the host would only disturb the
    // counts and the checks.
    PipelineTuningOptions Options;
    Options.LoopVectorization = false;
    Options.SLPVectorization = false;
    return Options;
  }
  PassBuilder Builder;
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Graphs;
  ModuleAnalysisManager Modules;
};
} // namespace

static void collectGlobals(Module &M, LoweredModule &Tables) {
  for (GlobalVariable &G : M.globals()) {
    if (G.getAddressSpace() == 3 || G.isDeclaration() ||
        G.getName().starts_with("llvm."))
      continue;
    bool Visible = G.isExternallyInitialized();
    uint64_t Size = M.getDataLayout().getTypeAllocSize(G.getValueType());
    if (Visible) {
      // The JIT must find it, and the program may write it.
      G.setLinkage(GlobalValue::ExternalLinkage);
      G.setConstant(false);
      G.setAlignment(std::max(G.getAlign().valueOrOne(), Align(16)));
    }
    Tables.Globals.push_back({G.getName().str(), Size, Visible});
  }
}

Expected<LoweredModule> lowerModule(Module &M,
                                    const CpuDeviceOptions &Options) {
  LoweredModule Tables;
  // "used" lists hold address space casts of device variables that COFF and ELF
  // know nothing of.
  for (StringRef Name :
       {"llvm.compiler.used", "llvm.used", "llvm.global.annotations"})
    if (GlobalVariable *Used = M.getNamedGlobal(Name))
      Used->eraseFromParent();
  std::vector<Function *> Kernels;
  for (Function &F : M)
    if (!F.isDeclaration() && Tables.Arch == 0)
      F.getFnAttribute("target-cpu")
          .getValueAsString()
          .drop_front(3)
          .take_while(isdigit)
          .getAsInteger(10, Tables.Arch);
  for (Function &F : M)
    if (!F.isDeclaration() && F.getCallingConv() == CallingConv::PTX_Kernel)
      Kernels.push_back(&F);
  M.setTargetTriple(Triple(sys::getProcessTriple()));
  M.setDataLayout("e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:"
                  "128-n8:16:32:64-S128");

  lowerLibdevice(M, Options);
  dropDeviceAttributes(M);
  lowerMemoryIntrinsics(M);
  lowerInlineAsm(M);
  lowerOpIntrinsics(M);
  collectGlobals(M, Tables);
  std::vector<Function *> Entries;
  for (Function *Kernel : Kernels) {
    LoweredKernel K;
    K.Name = Kernel->getName().str();
    K.Entry = "__cupilot_entry_" + K.Name;
    Entries.push_back(createEntry(*Kernel, K));
    Tables.Kernels.push_back(std::move(K));
  }
  for (Function &F : M)
    if (!F.isDeclaration() && !is_contained(Entries, &F))
      F.setLinkage(GlobalValue::InternalLinkage);

  Pipeline Passes;
  {
    ModulePassManager Inline;
    Inline.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
    Inline.addPass(GlobalDCEPass());
    Inline.addPass(
        createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::ModifyCFG)));
    if (Options.WidenFloats) // Loads and stores of floats, not of their bits.
      Inline.addPass(createModuleToFunctionPassAdaptor(InstCombinePass()));
    Passes.run(std::move(Inline), M);
  }
  if (Options.WidenFloats)
    for (Function *Entry : Entries)
      widenFloats(*Entry);
  Passes.run(Passes.level(OptimizationLevel::O3), M);
  {
    ModulePassManager Vector;
    Vector.addPass(
        createModuleToFunctionPassAdaptor(LoadStoreVectorizerPass()));
    Passes.run(std::move(Vector), M);
  }

  for (auto [Entry, K] : zip(Entries, Tables.Kernels)) {
    // What was inferred before the context was used no longer holds.
    Entry->setAttributes(AttributeList());
    instrument(*Entry, Tables, K, Options);
    lowerDeviceOps(*Entry, Tables, K);
    K.Unsupported = lowerIntrinsics(*Entry, Tables, K);
    lowerShared(*Entry, K);
    K.StackSize = 4096 + StackReserve + CallStack;
    if (K.Unsupported.empty())
      continue;
    // The rest of the module must still run.
    Entry->deleteBody();
    IRBuilder<> B(BasicBlock::Create(M.getContext(), "entry", Entry));
    B.CreateRetVoid();
  }
  {
    ModulePassManager Clean;
    Clean.addPass(GlobalDCEPass());
    Passes.run(std::move(Clean), M);
  }
  Passes.run(Passes.level(OptimizationLevel::O1), M);
  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(M, &OS))
    return resourceError(
        "the lowered device module is broken: " + Broken,
        "this is a fault of cupilot; please report it with the source");
  return std::move(Tables);
}

} // namespace cupilot
