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

#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <deque>
#include <mutex>

using namespace llvm;

namespace cupilot {

namespace {
class Canonicaliser {
public:
  explicit Canonicaliser(const Function &Kernel) : Kernel(Kernel), OS(Text) {}
  Expected<std::string> run();

private:
  void function(const Function &F);
  void global(const GlobalVariable &G);
  void instruction(const Instruction &I);
  void payload(const Instruction &I);
  void call(const CallBase &C);
  void value(const Value *V);
  void constant(const Constant *C);
  void type(Type *T);
  void attributes(AttributeSet Set);
  void metadata(const Instruction &I);
  void moduleFlags();
  bool dropped(const Instruction &I);
  unsigned number(const GlobalValue *G);

  const Function &Kernel;
  std::string Text, Refusal;
  raw_string_ostream OS;
  DenseMap<const Value *, unsigned> Locals;
  DenseMap<const GlobalValue *, unsigned> Globals;
  std::deque<const GlobalValue *> Pending;
};
} // namespace

/// Functions that the CUDA run time provides to any kernel.
static bool isKnownExternal(StringRef Name) {
  return is_contained(
      ArrayRef<StringRef>({"vprintf", "__assertfail", "__assert_fail", "malloc",
                           "free", "__nvvm_reflect"}),
      Name);
}

unsigned Canonicaliser::number(const GlobalValue *G) {
  auto [It, New] = Globals.try_emplace(G, Globals.size());
  if (New)
    Pending.push_back(G);
  return It->second;
}

void Canonicaliser::type(Type *T) {
  if (auto *S = dyn_cast<StructType>(T)) {
    OS << (S->isPacked() ? "<{" : "{");
    for (Type *Element : S->elements()) {
      type(Element);
      OS << ",";
    }
    OS << "}";
  } else if (auto *A = dyn_cast<ArrayType>(T)) {
    OS << "[" << A->getNumElements() << "x";
    type(A->getElementType());
    OS << "]";
  } else if (auto *F = dyn_cast<FunctionType>(T)) {
    type(F->getReturnType());
    OS << "(";
    for (Type *P : F->params()) {
      type(P);
      OS << ",";
    }
    OS << (F->isVarArg() ? "...)" : ")");
  } else {
    T->print(OS, /*IsForDebug=*/false, /*NoDetails=*/true);
  }
}

void Canonicaliser::constant(const Constant *C) {
  if (auto *G = dyn_cast<GlobalValue>(C)) {
    if (auto *F = dyn_cast<Function>(G); F && F->isDeclaration())
      OS << "@" << F->getName(); // Its rules are checked in function().
    else
      OS << "@#" << number(G);
    if (auto *F = dyn_cast<Function>(G); F && F->isDeclaration())
      number(F);
    return;
  }
  type(C->getType());
  OS << " ";
  if (auto *I = dyn_cast<ConstantInt>(C)) {
    OS << I->getValue();
  } else if (auto *F = dyn_cast<ConstantFP>(C)) {
    SmallString<40> Hex;
    F->getValueAPF().bitcastToAPInt().toStringUnsigned(Hex, 16);
    OS << "0x" << Hex;
  } else if (auto *D = dyn_cast<ConstantDataSequential>(C)) {
    OS << toHex(D->getRawDataValues());
  } else if (auto *E = dyn_cast<ConstantExpr>(C)) {
    OS << E->getOpcodeName() << "/" << unsigned(E->getRawSubclassOptionalData())
       << "(";
    if (auto *GEP = dyn_cast<GEPOperator>(E)) {
      type(GEP->getSourceElementType());
      OS << ";";
    }
    for (const Use &U : E->operands()) {
      constant(cast<Constant>(U.get()));
      OS << ",";
    }
    OS << ")";
  } else if (isa<ConstantAggregate>(C)) {
    OS << "{";
    for (const Use &U : C->operands()) {
      constant(cast<Constant>(U.get()));
      OS << ",";
    }
    OS << "}";
  } else {
    // null, undef, poison, zeroinitializer: their kind says it all.
    OS << "k" << C->getValueID();
  }
}

void Canonicaliser::value(const Value *V) {
  if (auto *C = dyn_cast<Constant>(V))
    return constant(C);
  if (auto *Asm = dyn_cast<InlineAsm>(V)) {
    OS << "asm(" << Asm->getAsmString() << "|" << Asm->getConstraintString()
       << "|" << Asm->hasSideEffects() << Asm->isAlignStack() << ")";
    if (StringRef(Asm->getAsmString()).contains("%envreg"))
      Refusal = "it waits for other blocks (cooperative groups)";
    return;
  }
  if (isa<MetadataAsValue>(V)) {
    OS << "metadata";
    return;
  }
  OS << "%" << Locals.try_emplace(V, Locals.size()).first->second;
}

/// Attributes that hint, or that only other back ends read.
static bool isHint(Attribute A) {
  if (A.isStringAttribute()) {
    StringRef Key = A.getKindAsString();
    return !(Key.starts_with("denormal-fp") || Key.contains("fp-math") ||
             Key.starts_with("nvvm.") || Key == "target-cpu" ||
             Key == "target-features" || Key == "no-trapping-math" ||
             Key == "strict-float-cast-overflow");
  }
  switch (A.getKindAsEnum()) {
  case Attribute::NoInline:
  case Attribute::AlwaysInline:
  case Attribute::InlineHint:
  case Attribute::OptimizeForSize:
  case Attribute::MinSize:
  case Attribute::Cold:
  case Attribute::Hot:
  case Attribute::UWTable:
  case Attribute::StackProtect:
  case Attribute::StackProtectReq:
  case Attribute::StackProtectStrong:
  case Attribute::NoRecurse:
  case Attribute::MustProgress:
    return true;
  default:
    return false;
  }
}

void Canonicaliser::attributes(AttributeSet Set) {
  OS << "[";
  for (Attribute A : Set) {
    if (isHint(A))
      continue;
    if (A.isTypeAttribute()) {
      OS << Attribute::getNameFromAttrKind(A.getKindAsEnum()) << "(";
      type(A.getValueAsType());
      OS << ")";
    } else {
      OS << A.getAsString();
    }
    OS << " ";
  }
  OS << "]";
}

bool Canonicaliser::dropped(const Instruction &I) {
  if (isa<DbgInfoIntrinsic>(I))
    return true;
  auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
  return Intrinsic && Intrinsic->isLifetimeStartOrEnd();
}

void Canonicaliser::call(const CallBase &C) {
  type(C.getFunctionType());
  OS << " cc" << C.getCallingConv() << " ";
  value(C.getCalledOperand());
  AttributeList Attrs = C.getAttributes();
  attributes(Attrs.getFnAttrs());
  attributes(Attrs.getRetAttrs());
  const Function *Callee = C.getCalledFunction();
  bool Assert = Callee && (Callee->getName() == "__assertfail" ||
                           Callee->getName() == "__assert_fail");
  for (unsigned I = 0; I < C.arg_size(); ++I) {
    OS << ",";
    // File, line and function of an assertion are where, not what.
    if (Assert && I > 0)
      continue;
    attributes(Attrs.getParamAttrs(I));
    value(C.getArgOperand(I));
  }
  for (unsigned I = 0; I < C.getNumOperandBundles(); ++I) {
    OperandBundleUse Bundle = C.getOperandBundleAt(I);
    OS << " bundle " << Bundle.getTagName() << "(";
    for (const Use &U : Bundle.Inputs) {
      value(U.get());
      OS << ",";
    }
    OS << ")";
  }
}

static StringRef scopeName(const Instruction &I, SyncScope::ID Id) {
  SmallVector<StringRef> Names;
  I.getContext().getSyncScopeNames(Names);
  return Id < Names.size() ? Names[Id] : "";
}

void Canonicaliser::payload(const Instruction &I) {
  if (auto *Cmp = dyn_cast<CmpInst>(&I))
    OS << " " << CmpInst::getPredicateName(Cmp->getPredicate());
  else if (auto *Alloca = dyn_cast<AllocaInst>(&I)) {
    OS << " ";
    type(Alloca->getAllocatedType());
    OS << " a" << Alloca->getAlign().value();
  } else if (auto *Load = dyn_cast<LoadInst>(&I))
    OS << " a" << Load->getAlign().value() << " v" << Load->isVolatile() << " o"
       << toIRString(Load->getOrdering()) << " "
       << scopeName(I, Load->getSyncScopeID());
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    OS << " a" << Store->getAlign().value() << " v" << Store->isVolatile()
       << " o" << toIRString(Store->getOrdering()) << " "
       << scopeName(I, Store->getSyncScopeID());
  else if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
    OS << " " << AtomicRMWInst::getOperationName(RMW->getOperation()) << " a"
       << RMW->getAlign().value() << " v" << RMW->isVolatile() << " o"
       << toIRString(RMW->getOrdering()) << " "
       << scopeName(I, RMW->getSyncScopeID());
  else if (auto *CX = dyn_cast<AtomicCmpXchgInst>(&I))
    OS << " a" << CX->getAlign().value() << " v" << CX->isVolatile() << " w"
       << CX->isWeak() << " o" << toIRString(CX->getSuccessOrdering()) << " "
       << toIRString(CX->getFailureOrdering()) << " "
       << scopeName(I, CX->getSyncScopeID());
  else if (auto *Fence = dyn_cast<FenceInst>(&I))
    OS << " o" << toIRString(Fence->getOrdering()) << " "
       << scopeName(I, Fence->getSyncScopeID());
  else if (auto *GEP = dyn_cast<GetElementPtrInst>(&I)) {
    OS << " ";
    type(GEP->getSourceElementType());
  } else if (auto *Extract = dyn_cast<ExtractValueInst>(&I))
    for (unsigned Index : Extract->indices())
      OS << " " << Index;
  else if (auto *Insert = dyn_cast<InsertValueInst>(&I))
    for (unsigned Index : Insert->indices())
      OS << " " << Index;
  else if (auto *Shuffle = dyn_cast<ShuffleVectorInst>(&I))
    for (int Lane : Shuffle->getShuffleMask())
      OS << " " << Lane;
  else if (auto *Phi = dyn_cast<PHINode>(&I))
    for (const BasicBlock *From : Phi->blocks()) {
      OS << " ";
      value(From);
    }
}

/// Facts in metadata that the optimiser takes for true; hints are left out.
void Canonicaliser::metadata(const Instruction &I) {
  SmallVector<std::pair<unsigned, MDNode *>> All;
  I.getAllMetadataOtherThanDebugLoc(All);
  for (auto [Kind, Node] : All) {
    if (!is_contained(
            {unsigned(LLVMContext::MD_fpmath), unsigned(LLVMContext::MD_range),
             unsigned(LLVMContext::MD_invariant_load),
             unsigned(LLVMContext::MD_nontemporal),
             unsigned(LLVMContext::MD_nonnull),
             unsigned(LLVMContext::MD_noundef), unsigned(LLVMContext::MD_align),
             unsigned(LLVMContext::MD_dereferenceable)},
            Kind))
      continue;
    OS << " !" << Kind << "(";
    for (const MDOperand &Operand : Node->operands())
      if (auto *C = dyn_cast_or_null<ConstantAsMetadata>(Operand.get())) {
        constant(C->getValue());
        OS << ",";
      }
    OS << ")";
  }
}

void Canonicaliser::instruction(const Instruction &I) {
  if (!I.getType()->isVoidTy()) {
    value(&I);
    OS << " = ";
  }
  OS << I.getOpcodeName() << "/" << unsigned(I.getRawSubclassOptionalData())
     << " ";
  type(I.getType());
  payload(I);
  OS << " ";
  if (auto *C = dyn_cast<CallBase>(&I))
    call(*C);
  else
    for (const Use &U : I.operands()) {
      value(U.get());
      OS << ",";
    }
  metadata(I);
  OS << "\n";
}

void Canonicaliser::function(const Function &F) {
  if (F.isDeclaration()) {
    StringRef Name = F.getName();
    if (Name.contains("envreg"))
      Refusal = "it waits for other blocks (cooperative groups)";
    else if (!F.isIntrinsic() && !isKnownExternal(Name))
      Refusal =
          "it calls '" + Name.str() + "', which this unit does not define";
    return;
  }
  if (F.hasFnAttribute(Attribute::OptimizeNone))
    Refusal = "it is compiled without optimisation";
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
  OS << "\n";
  for (const BasicBlock &BB : F) {
    value(&BB);
    OS << ":\n";
    for (const Instruction &I : BB)
      if (!dropped(I))
        instruction(I);
  }
}

void Canonicaliser::global(const GlobalVariable &G) {
  OS << "variable " << (G.isConstant() ? "constant " : "");
  // What the host can see has a name; the rest is known by its content.
  if (G.isExternallyInitialized() ||
      (G.isDeclaration() && G.getAddressSpace() != 3))
    OS << G.getName() << " ";
  type(G.getValueType());
  OS << " as" << G.getAddressSpace() << " a"
     << G.getAlign().valueOrOne().value() << " ";
  if (G.hasInitializer())
    constant(G.getInitializer());
  else if (G.getAddressSpace() != 3 && !G.hasExternalWeakLinkage())
    Refusal = "it uses the variable '" + G.getName().str() +
              "', which another unit defines";
  OS << "\n";
}

void Canonicaliser::moduleFlags() {
  SmallVector<Module::ModuleFlagEntry> Flags;
  Kernel.getParent()->getModuleFlagsMetadata(Flags);
  for (const Module::ModuleFlagEntry &Flag : Flags) {
    StringRef Key = Flag.Key->getString();
    if (Key == "wchar_size" || Key == "PIC Level" || Key == "PIE Level" ||
        Key == "frame-pointer" || Key == "Debug Info Version" ||
        Key == "Dwarf Version" || Key == "uwtable" || Key == "SDK Version")
      continue;
    if (auto *Value = mdconst::dyn_extract_or_null<ConstantInt>(Flag.Val))
      OS << "flag " << Key << " " << Value->getValue() << "\n";
  }
}

Expected<std::string> Canonicaliser::run() {
  moduleFlags();
  number(&Kernel);
  while (!Pending.empty() && Refusal.empty()) {
    const GlobalValue *Next = Pending.front();
    Pending.pop_front();
    if (auto *F = dyn_cast<Function>(Next))
      function(*F);
    else if (auto *G = dyn_cast<GlobalVariable>(Next))
      global(*G);
    else
      Refusal = "it uses an alias";
  }
  if (!Refusal.empty())
    return findingError(Refusal);
  return Text;
}

Expected<std::string> canonicalText(const Function &F) {
  return Canonicaliser(F).run();
}

KernelIdentity identify(const Function &F) {
  KernelIdentity Identity;
  Identity.Symbol = F.getName().str();
  Expected<std::string> Text = canonicalText(F);
  if (Text)
    Identity.Digest = digest(*Text);
  else
    Identity.Refusal = toString(Text.takeError());
  return Identity;
}

std::vector<KernelIdentity> identifyKernels(const Module &M) {
  std::vector<KernelIdentity> All;
  for (const Function &F : M)
    if (!F.isDeclaration() && F.getCallingConv() == CallingConv::PTX_Kernel)
      All.push_back(identify(F));
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
  PassBuilder Builder(TM.get());
  ModuleAnalysisManager Modules;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Graphs;
  LoopAnalysisManager Loops;
  Builder.registerModuleAnalyses(Modules);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerCGSCCAnalyses(Graphs);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Graphs, Modules);
  ModulePassManager Passes;
  if (Error E = Builder.parsePassPipeline(Passes, "nvvm-reflect"))
    return consumeError(std::move(E));
  Passes.run(M, Modules);
}

Expected<std::vector<KernelIdentity>> identifyKernels(StringRef Bitcode) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M =
      parseBitcodeFile(MemoryBufferRef(Bitcode, "device"), Context);
  if (!M)
    return usageError("broken device bitcode: " + toString(M.takeError()));
  foldReflect(**M);
  return identifyKernels(**M);
}

} // namespace cupilot
