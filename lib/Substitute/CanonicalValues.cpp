//===- CanonicalValues.cpp - Values, types and instructions as text -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Canonicaliser.h"
#include "DriverState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace cupilot {

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
    refuse(BuildReason::UnknownConstant);
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
    MayReadDriverState |= isDriverStateAsm(*Asm);
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
  // Clang's own __assert_fail is static: it stands for the C library's.
  bool Assert = Callee && (Callee->getName() == "__assertfail" ||
                           Callee->getName() == "__assert_fail" ||
                           Callee->getName() == "_ZL13__assert_failPKcS0_jS0_");
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
    refuse(BuildReason::UnknownMetadata);
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

std::string canonicalType(Type *T) {
  std::string Text;
  raw_string_ostream OS(Text);
  writeType(OS, T);
  return Text;
}

} // namespace cupilot
