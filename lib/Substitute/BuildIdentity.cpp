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
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

namespace {
class Canonicaliser {
public:
  explicit Canonicaliser(const Function &Kernel) : Kernel(Kernel), OS(Text) {}
  Expected<std::string> run(StringRef Context);
  /// What was reached, in the order of first use.
  ArrayRef<const GlobalValue *> reached() const { return Order; }

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
  void metadata(ArrayRef<std::pair<unsigned, MDNode *>> All);
  void metadata(const Metadata *M);
  void moduleFlags();
  void annotations();
  void text(StringRef S) { OS << S.size() << ":" << S; }
  void refuse(const Twine &Why) {
    if (Refusal.empty())
      Refusal = Why.str();
  }
  bool dropped(const Instruction &I);
  unsigned number(const GlobalValue *G);

  const Function &Kernel;
  std::string Text, Refusal;
  raw_string_ostream OS;
  DenseMap<const MDNode *, unsigned> Nodes;
  DenseMap<const Value *, unsigned> Locals;
  DenseMap<const GlobalValue *, unsigned> Globals;
  std::vector<const GlobalValue *> Order; ///< Globals, by their number.
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
    Order.push_back(G);
  return It->second;
}

static void writeType(raw_ostream &OS, Type *T) {
  if (auto *S = dyn_cast<StructType>(T)) {
    OS << (S->isPacked() ? "<{" : "{") << (S->isOpaque() ? "opaque" : "");
    for (Type *Element : S->elements()) {
      writeType(OS, Element);
      OS << ",";
    }
    OS << "}";
  } else if (auto *A = dyn_cast<ArrayType>(T)) {
    OS << "[" << A->getNumElements() << "x";
    writeType(OS, A->getElementType());
    OS << "]";
  } else if (auto *F = dyn_cast<FunctionType>(T)) {
    writeType(OS, F->getReturnType());
    OS << "(";
    for (Type *P : F->params()) {
      writeType(OS, P);
      OS << ",";
    }
    OS << (F->isVarArg() ? "...)" : ")");
  } else {
    T->print(OS, /*IsForDebug=*/false, /*NoDetails=*/true);
  }
}

void Canonicaliser::type(Type *T) { writeType(OS, T); }

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
    if (auto *GEP = dyn_cast<GEPOperator>(E))
      if (std::optional<ConstantRange> Range = GEP->getInRange())
        OS << "inrange " << *Range;
  } else if (isa<ConstantAggregate>(C)) {
    OS << "{";
    for (const Use &U : C->operands()) {
      constant(cast<Constant>(U.get()));
      OS << ",";
    }
    OS << "}";
  } else if (isa<PoisonValue>(C)) {
    OS << "poison";
  } else if (isa<UndefValue>(C)) {
    OS << "undef";
  } else if (C->isNullValue()) {
    OS << "zero";
  } else {
    refuse("it uses the address of a label or another constant that this "
           "version does not know");
  }
}

void Canonicaliser::value(const Value *V) {
  if (auto *C = dyn_cast<Constant>(V))
    return constant(C);
  if (auto *Asm = dyn_cast<InlineAsm>(V)) {
    OS << "asm(";
    text(Asm->getAsmString());
    text(Asm->getConstraintString());
    OS << Asm->hasSideEffects() << Asm->isAlignStack() << Asm->canThrow()
       << unsigned(Asm->getDialect()) << ")";
    if (StringRef(Asm->getAsmString()).contains("%envreg"))
      refuse("it waits for other blocks (cooperative groups)");
    return;
  }
  if (auto *M = dyn_cast<MetadataAsValue>(V))
    return metadata(M->getMetadata());
  OS << "%" << Locals.try_emplace(V, Locals.size()).first->second;
}

/// Attributes that hint, or that only other back ends read. What is not listed
/// counts: an attribute that nobody thought of costs a variant, not a result.
static bool isHint(Attribute A) {
  if (A.isStringAttribute())
    return is_contained(
        ArrayRef<StringRef>({"frame-pointer", "min-legal-vector-width",
                             "no-inline-line-tables", "probe-stack",
                             "stack-probe-size", "stack-protector-buffer-size",
                             "tune-cpu"}),
        A.getKindAsString());
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
      text(A.getAsString());
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
  // "tail" is found by the optimiser itself; the others are demands.
  if (auto *Call = dyn_cast<CallInst>(&C);
      Call && (Call->isMustTailCall() || Call->isNoTailCall()))
    OS << "tail" << unsigned(Call->getTailCallKind()) << " ";
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
    OS << " bundle ";
    text(Bundle.getTagName());
    OS << "(";
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
  // Its case values are no operands.
  else if (auto *Switch = dyn_cast<SwitchInst>(&I))
    for (auto Case : Switch->cases())
      OS << " " << Case.getCaseValue()->getValue();
  else if (auto *Pad = dyn_cast<LandingPadInst>(&I))
    OS << " c" << Pad->isCleanup();
  else if (auto *Phi = dyn_cast<PHINode>(&I))
    for (const BasicBlock *From : Phi->blocks()) {
      OS << " ";
      value(From);
    }
}

/// Metadata that says where code comes from, or hints. All else is a fact that
/// the optimiser takes for true.
static bool isHintMetadata(StringRef Kind) {
  return is_contained(
      ArrayRef<StringRef>({"dbg", "tbaa", "tbaa.struct", "prof", "llvm.loop",
                           "annotation", "heapallocsite", "DIAssignID",
                           "nosanitize", "unpredictable", "srcloc",
                           "section_prefix"}),
      Kind);
}

void Canonicaliser::metadata(const Metadata *M) {
  if (!M) {
    OS << "!none";
  } else if (auto *S = dyn_cast<MDString>(M)) {
    OS << "!";
    text(S->getString());
  } else if (auto *V = dyn_cast<ValueAsMetadata>(M)) {
    OS << "!";
    value(V->getValue());
  } else if (isa<DINode, DIExpression, DILocation>(M)) {
    OS << "!debug";
  } else if (auto *N = dyn_cast<MDNode>(M)) {
    auto [It, New] = Nodes.try_emplace(N, Nodes.size());
    OS << "!#" << It->second;
    if (!New)
      return;
    OS << "(";
    for (const MDOperand &Operand : N->operands()) {
      metadata(Operand.get());
      OS << ",";
    }
    OS << ")";
  } else {
    refuse("it holds metadata that this version does not know");
  }
}

void Canonicaliser::metadata(ArrayRef<std::pair<unsigned, MDNode *>> All) {
  // By name: the numbers of further kinds depend on what else was read.
  SmallVector<StringRef> Names;
  Kernel.getContext().getMDKindNames(Names);
  std::vector<std::pair<StringRef, MDNode *>> Kept;
  for (auto [Kind, Node] : All)
    if (!isHintMetadata(Names[Kind]))
      Kept.push_back({Names[Kind], Node});
  llvm::sort(Kept,
             [](const auto &A, const auto &B) { return A.first < B.first; });
  for (auto [Name, Node] : Kept) {
    OS << " !" << Name << " ";
    metadata(Node);
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
  SmallVector<std::pair<unsigned, MDNode *>> All;
  I.getAllMetadataOtherThanDebugLoc(All);
  metadata(All);
  OS << "\n";
}

void Canonicaliser::function(const Function &F) {
  if (F.isDeclaration()) {
    StringRef Name = F.getName();
    if (Name.contains("envreg"))
      refuse("it waits for other blocks (cooperative groups)");
    else if (!F.isIntrinsic() && !isKnownExternal(Name))
      refuse("it calls '" + Name + "', which this unit does not define");
    if (!F.isIntrinsic()) {
      OS << "declaration " << Name << " ";
      attributes(F.getAttributes().getFnAttrs());
      attributes(F.getAttributes().getRetAttrs());
      OS << "\n";
    }
    return;
  }
  if (F.hasFnAttribute(Attribute::OptimizeNone))
    refuse("it is compiled without optimisation");
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
    refuse("it has parts that no device code has");
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

/// Clang's stand-ins for special registers: their addresses are passed around
/// (`uint3 t = threadIdx;`), and nothing is ever loaded from them.
static bool isBuiltinVariable(StringRef Name) {
  return is_contained(ArrayRef<StringRef>({"threadIdx", "blockIdx", "blockDim",
                                           "gridDim", "warpSize"}),
                      Name);
}

bool isDeviceVariable(const GlobalVariable &G) {
  // Shared and local memory begins anew with every launch.
  if (G.getAddressSpace() == 3 || G.getAddressSpace() == 5)
    return false;
  return G.isExternallyInitialized() || !G.isConstant();
}

void Canonicaliser::global(const GlobalVariable &G) {
  OS << "variable " << (G.isConstant() ? "constant " : "")
     << (G.isExternallyInitialized() ? "host " : "");
  // What outlives a launch, or the host can see, is this one variable and no
  // other; the rest is known by its content.
  if (isDeviceVariable(G) || (G.isDeclaration() && G.getAddressSpace() != 3)) {
    text(G.getName());
    OS << " ";
  }
  type(G.getValueType());
  OS << " as" << G.getAddressSpace() << " a"
     << G.getAlign().valueOrOne().value() << " ";
  if (G.isThreadLocal())
    refuse("it uses a thread-local variable");
  if (G.hasSection()) {
    OS << "section ";
    text(G.getSection());
  }
  if (G.hasInitializer())
    constant(G.getInitializer());
  else if (G.getAddressSpace() != 3 && !isBuiltinVariable(G.getName()))
    refuse("it uses the variable '" + G.getName() +
           "', which another unit defines");
  SmallVector<std::pair<unsigned, MDNode *>> All;
  G.getAllMetadata(All);
  metadata(All);
  OS << "\n";
}

void Canonicaliser::moduleFlags() {
  const Module &M = *Kernel.getParent();
  OS << "target " << M.getTargetTriple().str() << " " << M.getDataLayoutStr()
     << "\n";
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
  for (size_t I = 0; I < Order.size() && Refusal.empty(); ++I) {
    if (auto *F = dyn_cast<Function>(Order[I]))
      function(*F);
    else if (auto *G = dyn_cast<GlobalVariable>(Order[I]))
      global(*G);
    else
      refuse("it uses an alias");
  }
  annotations();
  if (!Refusal.empty())
    return findingError(Refusal);
  return Text;
}

Expected<std::string> canonicalText(const Function &F, StringRef Context) {
  return Canonicaliser(F).run(Context);
}

Expected<std::vector<const GlobalVariable *>>
closureVariables(const Function &Kernel) {
  Canonicaliser Walk(Kernel);
  Expected<std::string> Text = Walk.run("");
  if (!Text)
    return Text.takeError();
  std::vector<const GlobalVariable *> Variables;
  for (const GlobalValue *G : Walk.reached())
    if (auto *V = dyn_cast<GlobalVariable>(G); V && isDeviceVariable(*V))
      Variables.push_back(V);
  return Variables;
}

std::string canonicalType(Type *T) {
  std::string Text;
  raw_string_ostream OS(Text);
  writeType(OS, T);
  return Text;
}

} // namespace cupilot
