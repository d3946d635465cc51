//===- Lowering.cpp - NVPTX modules made ready for the CPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Check/Instrument.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "cupilot/CpuDevice/Unsupported.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

using namespace llvm;

namespace cupilot {

/// What ptxas admits (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
static constexpr uint64_t MaxStaticShared = 48 * 1024;
static constexpr uint64_t MaxStack = 512 * 1024 + StackReserve + CallStack;

/// What a kernel's argument is in the packed arguments.
static std::pair<Type *, Align> packed(const Argument &A,
                                       const DataLayout &DL) {
  Type *Value = A.hasByValAttr() ? A.getParamByValType() : A.getType();
  Align Alignment = DL.getABITypeAlign(Value);
  if (A.hasByValAttr())
    Alignment = std::max(Alignment, A.getParamAlign().valueOrOne());
  return {Value, Alignment};
}

void layoutParameters(const Function &Kernel, const DataLayout &DL,
                      LoweredKernel &K) {
  uint64_t End = 0;
  for (const Argument &A : Kernel.args()) {
    auto [Value, Alignment] = packed(A, DL);
    uint64_t Size = A.hasByValAttr()
                        ? DL.getTypeAllocSize(Value).getFixedValue()
                        : DL.getTypeStoreSize(Value).getFixedValue();
    uint64_t Offset = alignTo(End, Alignment);
    End = Offset + Size;
    K.ParamSizes.push_back(Size);
    K.ParamOffsets.push_back(Offset);
  }
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
  layoutParameters(Kernel, DL, K);
  for (Argument &A : Kernel.args()) {
    auto [Value, Alignment] = packed(A, DL);
    uint64_t Size = K.ParamSizes[A.getArgNo()],
             Offset = K.ParamOffsets[A.getArgNo()];
    llvm::Value *Slot =
        B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Entry->getArg(1), Offset);
    if (!A.hasByValAttr()) {
      // The lowest bit of the byte decides a bool, as on a GPU: a load of one
      // bit would be undefined where others are set.
      Type *Stored =
          Value->isIntegerTy() ? B.getIntNTy(unsigned(Size) * 8) : Value;
      llvm::Value *Arg = B.CreateAlignedLoad(Stored, Slot, Alignment);
      if (Stored != Value)
        Arg = B.CreateTrunc(Arg, Value);
      Args.push_back(Arg);
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

/// A bool in memory is the lowest bit of its byte, whatever the others are.
/// That they are 0 is the source's promise; what a host would make of a broken
/// one is nothing that a GPU does.
static void keepBoolsDefined(Instruction &I) {
  if (isa<LoadInst>(I) && I.getType()->isIntegerTy()) {
    I.setMetadata(LLVMContext::MD_range, nullptr);
    I.setMetadata(LLVMContext::MD_noundef, nullptr);
  }
  if (auto *Cut = dyn_cast<TruncInst>(&I)) {
    Cut->setHasNoUnsignedWrap(false);
    Cut->setHasNoSignedWrap(false);
  }
}

/// Attributes that mean something to an NVPTX or a debugging build only.
static void dropDeviceAttributes(Module &M) {
  // Else the optimiser would remove pairs of them, and wrong uses.
  for (StringRef Name : {"malloc", "free"})
    if (Function *F = M.getFunction(Name)) {
      F->setName("cupilot." + Name);
      F->setAttributes(AttributeList());
    }
  for (Function &F : M) {
    F.setCallingConv(CallingConv::C);
    for (StringRef Name :
         {"target-cpu", "target-features", "frame-pointer", "tune-cpu"})
      F.removeFnAttr(Name);
    for (Attribute::AttrKind Kind :
         {Attribute::NoInline, Attribute::OptimizeNone,
          Attribute::SanitizeThread})
      F.removeFnAttr(Kind);
    if (!F.isDeclaration())
      F.addFnAttr(Attribute::AlwaysInline);
    for (BasicBlock &BB : F)
      for (Instruction &I : BB) {
        keepBoolsDefined(I);
        if (auto *Call = dyn_cast<CallBase>(&I)) {
          Call->setCallingConv(CallingConv::C);
          Call->removeFnAttr(Attribute::NoInline);
          if (Function *Callee = Call->getCalledFunction();
              Callee && Callee->getName().starts_with("cupilot."))
            Call->setAttributes(AttributeList());
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

/// Device threads are scalar; vectors of the host would only disturb the counts
/// and the checks.
static PipelineTuningOptions scalarOptions() {
  PipelineTuningOptions Options;
  Options.LoopVectorization = false;
  Options.SLPVectorization = false;
  return Options;
}

static void collectGlobals(Module &M, LoweredModule &Tables) {
  for (GlobalVariable &G : M.globals()) {
    if (G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED ||
        G.isDeclaration() || G.getName().starts_with("llvm."))
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

/// Gives the variables that the program does not see names by which the JIT
/// finds them: pointers may lead there.
static void collectHidden(Module &M, LoweredModule &Tables) {
  for (GlobalVariable &G : M.globals()) {
    if (G.isDeclaration() ||
        G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED ||
        G.isExternallyInitialized() || G.getName().starts_with("llvm."))
      continue;
    if (G.hasLocalLinkage())
      G.setName("__cupilot_hidden_" + Twine(Tables.Hidden.size()));
    G.setLinkage(GlobalValue::ExternalLinkage);
    uint64_t Size = M.getDataLayout().getTypeAllocSize(G.getValueType());
    Tables.Hidden.push_back({G.getName().str(), Size, !G.isConstant()});
  }
}

/// The cluster that a kernel asks for with __cluster_dims__.
static std::array<uint64_t, 3> clusterOf(const Function &Kernel) {
  std::array<uint64_t, 3> Dims{0, 0, 0};
  Attribute A = Kernel.getFnAttribute("nvvm.cluster_dim");
  if (!A.isValid())
    return Dims;
  SmallVector<StringRef, 3> Parts;
  A.getValueAsString().split(Parts, ',');
  for (unsigned I = 0; I < 3; ++I)
    if (I >= Parts.size() || Parts[I].trim().getAsInteger(10, Dims[I]))
      Dims[I] = 1;
  return Dims;
}

/// Roughly what a thread executes besides its loops.
static uint64_t instructionsOutsideLoops(Function &F) {
  DominatorTree Dominators(F);
  LoopInfo Loops(Dominators);
  uint64_t Count = 0;
  for (BasicBlock &BB : F)
    if (!Loops.getLoopFor(&BB))
      Count += stepsOf(BB);
  return Count;
}

/// Lowers an optimised entry or function. Returns what it cannot run, or "".
static std::string lowerBody(Function &F, LoweredModule &Tables,
                             LoweredKernel &K,
                             const CpuDeviceOptions &Options) {
  // What was inferred before the context was used no longer holds.
  forgetInferred(F);
  lowerDivisions(F);
  if (Options.CanonicalNans)
    canonicalNans(F);
  addYields(F, Tables, K);
  instrument(F, Tables, K, Options);
  if (Options.CheckRaces)
    guardAccumulators(F, Tables);
  lowerDeviceOps(F, Tables, K);
  std::string Unsupported = lowerIntrinsics(F, Tables, K);
  lowerDecisions(F, Tables);
  finishYields(F);
  lowerFloatAtomics(F, Options.CanonicalNans);
  return Unsupported;
}

/// Lowers the functions that stay. Returns where the shared variables lie that
/// they use.
static SharedLayout lowerFunctions(ArrayRef<Function *> Functions,
                                   LoweredModule &Tables,
                                   const CpuDeviceOptions &Options,
                                   bool &Wait) {
  for (Function *F : Functions) {
    LoweredKernel K;
    K.Name = F->getName().str();
    std::string Unsupported = lowerBody(*F, Tables, K, Options);
    Wait |= K.Yields;
    addFunction(*F, Tables, Unsupported);
    if (Unsupported.empty())
      guardCalls(*F, Tables, /*IsEntry=*/false);
    else
      refuseFunction(*F, Tables);
    // Each has its own check of the stack.
    F->addFnAttr(Attribute::NoInline);
    if (!F->hasAddressTaken())
      F->setLinkage(GlobalValue::InternalLinkage);
  }
  Tables.FunctionBlocks = Tables.Costs.size();
  SharedLayout Common = layoutShared(Functions);
  for (Function *F : Functions)
    lowerSharedOfFunction(*F, Common);
  return Common;
}

void dropUsedLists(Module &M) {
  for (StringRef Name :
       {"llvm.compiler.used", "llvm.used", "llvm.global.annotations"})
    if (GlobalVariable *Used = M.getNamedGlobal(Name))
      Used->eraseFromParent();
}

static void setHost(Module &M) {
  M.setTargetTriple(Triple(sys::getProcessTriple()));
  M.setDataLayout(M.getTargetTriple().computeDataLayout());
}

LoweredModule lowerVariables(Module &M) {
  LoweredModule Tables;
  setHost(M);
  collectGlobals(M, Tables);
  collectHidden(M, Tables);
  return Tables;
}

/// lowerModule, or, without \p MakeCode, describeModule.
static Expected<LoweredModule> lower(Module &M, const CpuDeviceOptions &Options,
                                     bool MakeCode) {
  LoweredModule Tables;
  dropUsedLists(M);
  std::vector<Function *> Kernels;
  for (Function &F : M)
    if (!F.isDeclaration() && Tables.Arch == 0)
      Tables.Arch =
          capabilityNumber(F.getFnAttribute("target-cpu").getValueAsString());
  for (Function &F : M)
    if (!F.isDeclaration() && F.getCallingConv() == CallingConv::PTX_Kernel)
      Kernels.push_back(&F);
  setHost(M);
  if (!contextLayoutAgrees(M.getDataLayout(), M.getContext()))
    return resourceError(
        "a thread's context has another layout in this program than in the "
        "code that it compiles",
        "this is a fault of cupilot; please report it with the machine's type");

  expandInlinePtx(M);
  seeDecisions(M, Tables, Options);
  markGroupStores(M);
  lowerLibdevice(M, Options);
  dropDeviceAttributes(M);
  lowerMemoryIntrinsics(M);
  lowerOpIntrinsics(M);
  if (Options.ProductBits > 0 || Options.RoundAtRandom)
    addRoundingSeed(M);
  collectGlobals(M, Tables);
  std::vector<Function *> Entries;
  for (Function *Kernel : Kernels) {
    LoweredKernel K;
    K.Name = Kernel->getName().str();
    K.Entry = "__cupilot_entry_" + K.Name;
    K.Cluster = clusterOf(*Kernel);
    Entries.push_back(createEntry(*Kernel, K));
    Tables.Kernels.push_back(std::move(K));
  }
  for (Function &F : M)
    if (!F.isDeclaration() && !is_contained(Entries, &F))
      F.setLinkage(GlobalValue::InternalLinkage);

  Pipeline Passes(nullptr, scalarOptions(), hostLibrary());
  // Its search for checksums (HashRecognize, LLVM 22) takes exponential time in
  // the length of a chain of values that are used twice, as PTX's ".ftz" are.
  if (isMadeOfPtx(M))
    Passes.leaveOut("LoopIdiomRecognizePass");
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
  std::vector<Function *> Functions = keepFunctions(M, Entries);
  // Keeps the optimiser from inventing loads that the checks would report.
  if (Options.CheckBounds || Options.CheckRaces || Options.CheckWritten)
    for (ArrayRef<Function *> List : {ArrayRef(Functions), ArrayRef(Entries)})
      for (Function *F : List)
        F->addFnAttr(Attribute::SanitizeThread);
  if (Options.ScheduleSeed)
    for (ArrayRef<Function *> List : {ArrayRef(Functions), ArrayRef(Entries)})
      for (Function *F : List)
        markPolls(*F);
  if (Options.WidenFloats)
    for (ArrayRef<Function *> List : {ArrayRef(Functions), ArrayRef(Entries)})
      for (Function *F : List)
        widenFloats(*F);
  if (Options.ProductBits > 0)
    for (ArrayRef<Function *> List : {ArrayRef(Functions), ArrayRef(Entries)})
      for (Function *F : List)
        roundProducts(*F, Options.ProductBits);
  if (Options.RoundAtRandom)
    for (ArrayRef<Function *> List : {ArrayRef(Functions), ArrayRef(Entries)})
      for (Function *F : List) {
        lowerFloatAtomics(*F, Options.CanonicalNans); // Sums as others are.
        roundAtRandom(*F);
      }
  if (Options.CheckWritten)
    for (ArrayRef<Function *> List : {ArrayRef(Functions), ArrayRef(Entries)})
      for (Function *F : List)
        checkUninitialized(*F, Tables);
  Passes.run(Passes.level(OptimizationLevel::O3), M);
  {
    ModulePassManager Vector;
    Vector.addPass(
        createModuleToFunctionPassAdaptor(LoadStoreVectorizerPass()));
    Passes.run(std::move(Vector), M);
  }

  bool FunctionsWait = false;
  SharedLayout Common =
      lowerFunctions(Functions, Tables, Options, FunctionsWait);
  for (auto [Entry, K] : zip(Entries, Tables.Kernels)) {
    K.EntryInstructions = instructionsOutsideLoops(*Entry);
    K.Unsupported = lowerBody(*Entry, Tables, K, Options);
    bool Calls = false;
    std::string Reached = reachedUnsupported(*Entry, Tables, Calls);
    K.Yields |= Calls && FunctionsWait;
    if (K.Unsupported.empty())
      K.Unsupported = Reached;
    guardCalls(*Entry, Tables, /*IsEntry=*/true);
    lowerShared(*Entry, K, Calls ? Common : SharedLayout());
    if (K.StaticShared - K.ReservedShared > MaxStaticShared &&
        K.Unsupported.empty())
      K.Unsupported = std::to_string(K.StaticShared - K.ReservedShared) +
                      " bytes of static shared memory (at most 49152)";
    K.Calls = Calls;
    K.StackSize = entryStack(*Entry, Calls);
    K.LocalBytes = frameSize(*Entry);
    if (K.StackSize > MaxStack && K.Unsupported.empty())
      K.Unsupported = "local variables of more than 512 KiB";
    if (K.Unsupported.empty())
      continue;
    // The rest of the module must still run.
    Entry->deleteBody();
    IRBuilder<> B(BasicBlock::Create(M.getContext(), "entry", Entry));
    B.CreateRetVoid();
  }
  if (!MakeCode)
    return std::move(Tables);
  {
    ModulePassManager Clean;
    Clean.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false)); // FastCheck.
    Clean.addPass(GlobalDCEPass());
    Passes.run(std::move(Clean), M);
  }
  Passes.run(Passes.level(OptimizationLevel::O1), M);
  // It finds more than was known before: a branch that hangs on a register that
  // nobody has set.
  for (Function &F : M)
    if (!F.isDeclaration())
      reportEnds(F, Tables);
  collectHidden(M, Tables);
  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(M, &OS))
    return make_error<UnsupportedError>(
        "the lowered device module is broken: " + Broken,
        "this is a fault of cupilot; please report it with the source");
  return std::move(Tables);
}

Expected<LoweredModule> lowerModule(Module &M,
                                    const CpuDeviceOptions &Options) {
  return lower(M, Options, /*MakeCode=*/true);
}

Expected<LoweredModule> describeModule(Module &M,
                                       const CpuDeviceOptions &Options) {
  return lower(M, Options, /*MakeCode=*/false);
}

} // namespace cupilot
