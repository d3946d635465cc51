//===- Functions.cpp - Functions that are not inlined -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recursive functions and those whose address is taken stay functions. They get
// the thread's context as their first argument, and from then on are lowered as
// entries are. A pointer to such a function is its address on the host; a call
// through a pointer asks the run time first whether a function of that type
// lies there.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace cupilot {

/// \p Type with the context as first parameter.
static FunctionType *withContext(FunctionType *Type) {
  SmallVector<llvm::Type *> Params = {PointerType::get(Type->getContext(), 0)};
  append_range(Params, Type->params());
  return FunctionType::get(Type->getReturnType(), Params, Type->isVarArg());
}

/// The attributes that decide how arguments are passed, for one more argument
/// before them. Nothing else holds: functions will use the context.
static AttributeList passing(LLVMContext &C, AttributeList Old,
                             unsigned NumArgs, unsigned Shift) {
  auto Kept = [&](AttributeSet Set) {
    AttrBuilder Result(C);
    for (Attribute A : Set)
      if (A.hasAttribute(Attribute::ByVal) ||
          A.hasAttribute(Attribute::StructRet) ||
          A.hasAttribute(Attribute::Alignment) ||
          A.hasAttribute(Attribute::SExt) || A.hasAttribute(Attribute::ZExt))
        Result.addAttribute(A);
    return AttributeSet::get(C, Result);
  };
  SmallVector<AttributeSet> Params(Shift);
  for (unsigned I = 0; I < NumArgs; ++I)
    Params.push_back(Kept(Old.getParamAttrs(I)));
  return AttributeList::get(C, AttributeSet(), Kept(Old.getRetAttrs()), Params);
}

static bool isIndirect(const CallInst &Call) {
  return !Call.isInlineAsm() &&
         !isa<Function>(Call.getCalledOperand()->stripPointerCasts());
}

/// Puts the context before the arguments of \p Call.
static void passContext(CallInst &Call) {
  Function *Caller = Call.getFunction();
  SmallVector<Value *> Args = {Caller->getArg(0)};
  append_range(Args, Call.args());
  auto *New =
      CallInst::Create(withContext(Call.getFunctionType()),
                       Call.getCalledOperand(), Args, "", Call.getIterator());
  New->setAttributes(
      passing(Call.getContext(), Call.getAttributes(), Call.arg_size(), 1));
  New->setDebugLoc(Call.getDebugLoc());
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

std::vector<Function *> keepFunctions(Module &M, ArrayRef<Function *> Entries) {
  std::vector<Function *> Old, New;
  for (Function &F : M)
    if (!F.isDeclaration() && !is_contained(Entries, &F))
      Old.push_back(&F);
  SmallPtrSet<const Value *, 16> Known;
  for (Function *F : Old) {
    auto *N = Function::Create(withContext(F->getFunctionType()),
                               GlobalValue::ExternalLinkage, "", M);
    N->takeName(F);
    N->setAttributes(passing(M.getContext(), F->getAttributes(), F->arg_size(),
                             /*Shift=*/1));
    N->setSubprogram(F->getSubprogram());
    F->setSubprogram(nullptr);
    N->splice(N->begin(), F);
    for (auto [From, To] : zip(F->args(), drop_begin(N->args()))) {
      From.replaceAllUsesWith(&To);
      To.takeName(&From);
    }
    F->replaceAllUsesWith(N);
    Known.insert(N);
    New.push_back(N);
  }
  for (Function *F : Old)
    F->eraseFromParent();
  for (ArrayRef<Function *> List : {ArrayRef(New), Entries})
    for (Function *F : List)
      for (Instruction &I : make_early_inc_range(instructions(F)))
        if (auto *Call = dyn_cast<CallInst>(&I))
          if (isIndirect(*Call) ||
              Known.contains(Call->getCalledOperand()->stripPointerCasts()))
            passContext(*Call);
  return New;
}

/// A number for the functions that a call of this type may reach.
static uint32_t typeNumber(LoweredModule &Tables, const FunctionType *Type) {
  std::string Text;
  raw_string_ostream(Text) << *Type;
  return Tables.CallTypes.try_emplace(Text, Tables.CallTypes.size())
      .first->second;
}

uint64_t frameSize(const Function &F) {
  const DataLayout &DL = F.getParent()->getDataLayout();
  uint64_t Size = 0;
  for (const Instruction &I : instructions(F))
    if (auto *A = dyn_cast<AllocaInst>(&I); A && A->isStaticAlloca())
      if (auto Bytes = A->getAllocationSize(DL))
        Size = alignTo(Size, A->getAlign()) + Bytes->getFixedValue();
  return Size;
}

/// Leaves by the run time's function \p Name where \p Bad holds.
static void leaveIf(IRBuilder<> &B, Value *Bad, StringRef Name,
                    ArrayRef<Value *> Args) {
  MDNode *Weights = MDBuilder(B.getContext()).createUnlikelyBranchWeights();
  Instruction *Cold = SplitBlockAndInsertIfThen(Bad, B.GetInsertPoint(),
                                                /*Unreachable=*/false, Weights);
  SmallVector<Type *> Types;
  for (Value *Arg : Args)
    Types.push_back(Arg->getType());
  IRBuilder<> Out(Cold);
  Out.CreateCall(Cold->getModule()->getOrInsertFunction(
                     Name, FunctionType::get(Out.getVoidTy(), Types, false)),
                 Args);
}

/// Whether what is left of the stack below \p Here is less than \p Need.
static Value *tooDeep(IRBuilder<> &B, Function &F, Value *Here, Value *Need) {
  Type *I64 = B.getInt64Ty();
  Value *Limit =
      B.CreateLoad(I64, contextField(B, F, FieldStackLimit), "stack.limit");
  return B.CreateICmpSLT(B.CreateSub(B.CreatePtrToInt(Here, I64), Limit), Need);
}

void forgetInferred(Function &F) {
  F.setAttributes(passing(F.getContext(), F.getAttributes(), F.arg_size(), 0));
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || Call->isInlineAsm())
      continue;
    const Function *Callee = Call->getCalledFunction();
    if (!Callee || !Callee->isDeclaration())
      Call->setAttributes(
          passing(F.getContext(), Call->getAttributes(), Call->arg_size(), 0));
  }
}

void reportEnds(Function &F, LoweredModule &Tables) {
  constexpr StringLiteral Name = "cupilot_rt_unreachable";
  SmallVector<UnreachableInst *> Ends;
  for (BasicBlock &BB : F) {
    auto *End = dyn_cast<UnreachableInst>(BB.getTerminator());
    const auto *Last =
        End ? dyn_cast_or_null<CallInst>(End->getPrevNode()) : nullptr;
    const Function *Callee = Last ? Last->getCalledFunction() : nullptr;
    if (End && !(Callee && Callee->getName() == Name))
      Ends.push_back(End);
  }
  for (UnreachableInst *End : Ends) {
    IRBuilder<> B(End);
    B.CreateCall(
        F.getParent()->getOrInsertFunction(Name, B.getVoidTy(), B.getPtrTy(),
                                           B.getInt32Ty()),
        {F.getArg(0), B.getInt32(addPlace(Tables, End->getDebugLoc()))});
  }
}

void guardCalls(Function &F, LoweredModule &Tables, bool IsEntry) {
  SmallVector<CallInst *> Indirect;
  SmallVector<AllocaInst *> Dynamic;
  for (Instruction &I : instructions(F)) {
    if (auto *Call = dyn_cast<CallInst>(&I); Call && isIndirect(*Call))
      Indirect.push_back(Call);
    else if (auto *A = dyn_cast<AllocaInst>(&I); A && !A->isStaticAlloca())
      Dynamic.push_back(A);
  }
  Value *Context = F.getArg(0);
  for (CallInst *Call : Indirect) {
    IRBuilder<> B(Call);
    Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty();
    FunctionCallee Check = F.getParent()->getOrInsertFunction(
        "cupilot_rt_callee", Ptr, Ptr, Ptr, I32, I32);
    Call->setCalledOperand(B.CreateCall(
        Check, {Context, Call->getCalledOperand(),
                B.getInt32(typeNumber(Tables, Call->getFunctionType())),
                B.getInt32(addPlace(Tables, Call->getDebugLoc()))}));
  }
  reportEnds(F, Tables);
  for (AllocaInst *A : Dynamic) {
    IRBuilder<> B(A);
    uint64_t Each =
        F.getParent()->getDataLayout().getTypeAllocSize(A->getAllocatedType());
    Value *Count = B.CreateZExtOrTrunc(A->getArraySize(), B.getInt64Ty());
    // Counts that would overflow are too many in any case.
    Count = B.CreateBinaryIntrinsic(Intrinsic::umin, Count,
                                    B.getInt64(uint64_t(1) << 32));
    Value *Need = B.CreateAdd(B.CreateMul(Count, B.getInt64(Each)),
                              B.getInt64(A->getAlign().value() + 64));
    leaveIf(B, tooDeep(B, F, B.CreateStackSave(), Need), "cupilot_rt_stack",
            {Context, B.getInt32(addPlace(Tables, A->getDebugLoc()))});
  }
  if (IsEntry)
    return;
  IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  if (DISubprogram *Sub = F.getSubprogram())
    B.SetCurrentDebugLocation(
        DILocation::get(F.getContext(), Sub->getLine(), 0, Sub));
  Value *Frame = B.CreateIntrinsic(Intrinsic::frameaddress, {B.getPtrTy()},
                                   {B.getInt32(0)});
  leaveIf(B, tooDeep(B, F, Frame, B.getInt64(frameSize(F) + 512)),
          "cupilot_rt_stack",
          {Context, B.getInt32(addPlace(Tables, B.getCurrentDebugLocation()))});
}

void addFunction(Function &F, LoweredModule &Tables, StringRef Unsupported) {
  LoweredModule::DeviceFunction D;
  D.Symbol = F.getName().str();
  D.Type = typeNumber(Tables, F.getFunctionType());
  D.Unsupported = Unsupported.str();
  D.ByPointer = F.hasAddressTaken();
  Tables.Functions.push_back(std::move(D));
}

void refuseFunction(Function &F, LoweredModule &Tables) {
  F.deleteBody();
  IRBuilder<> B(BasicBlock::Create(F.getContext(), "entry", &F));
  B.CreateCall(F.getParent()->getOrInsertFunction("cupilot_rt_unsupported",
                                                  B.getVoidTy(), B.getPtrTy(),
                                                  B.getInt32Ty()),
               {F.getArg(0), B.getInt32(Tables.Functions.size() - 1)});
  B.CreateUnreachable();
}

std::string reachedUnsupported(Function &Entry, const LoweredModule &Tables,
                               bool &CallsAny) {
  std::string Found;
  SmallPtrSet<Function *, 16> Seen = {&Entry};
  SmallVector<Function *> Work = {&Entry};
  while (!Work.empty()) {
    Function *F = Work.pop_back_val();
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallInst>(&I);
      if (!Call || Call->isInlineAsm())
        continue;
      Function *Callee = Call->getCalledFunction();
      CallsAny |= !Callee || !Callee->isDeclaration();
      if (!Callee || Callee->isDeclaration() || !Seen.insert(Callee).second)
        continue;
      Work.push_back(Callee);
      for (const LoweredModule::DeviceFunction &D : Tables.Functions)
        if (D.Symbol == Callee->getName() && !D.Unsupported.empty())
          Found = D.Unsupported;
    }
  }
  return Found;
}

uint64_t entryStack(const Function &Entry, bool Calls) {
  uint64_t Size = 4096 + StackReserve + frameSize(Entry);
  if (Calls)
    Size += CallStack;
  return alignTo(std::max<uint64_t>(Size, 256 * 1024), 4096);
}

} // namespace cupilot
