//===- HostSubstitution.cpp - Variants into host modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches go through one call of the CUDA run time, in the kernel's stub or
// direct. At that call: if the run time takes the variant's image, and the
// guard holds, launch the variant; else, or when that launch fails, the
// original.
//
//===----------------------------------------------------------------------===//

#include "HostRuntime.h"
#include "cupilot/Substitute/EmitGuard.h"
#include "cupilot/Substitute/GpuBinary.h"
#include "cupilot/Substitute/Names.h"
#include "cupilot/Substitute/Substitute.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Regex.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace cupilot {

namespace {
/// A variant that can be launched from this module.
struct Launchable {
  BuildVariant V;
  std::vector<ScalarRef> Scalars;
  GlobalVariable *Handle = nullptr;
  VariantState State;
};

class HostSubstitution {
public:
  HostSubstitution(Module &M, const SubstitutionOptions &Options)
      : M(M), Options(Options), Runtime(M) {}
  Expected<std::vector<SubstitutionOutcome>> run();

private:
  void findKernels();
  Expected<bool> readBinary();
  Error findVariants();
  void registerHandle(Launchable &L, CallInst *Registration, StringRef Name);
  void dispatch(CallInst *Launch, MutableArrayRef<Launchable> Variants);
  bool isLaunch(const CallInst &Call) const;

  Module &M;
  const SubstitutionOptions &Options;
  HostRuntime Runtime;
  GpuBinary Binary;
  /// Stub to the call that registers it.
  MapVector<Function *, CallInst *> Registrations;
  MapVector<Function *, std::vector<Launchable>> Variants;
  std::vector<SubstitutionOutcome> Outcomes;
};
} // namespace

static StringRef stringOf(const Value *V) {
  auto *G = dyn_cast<GlobalVariable>(V->stripPointerCasts());
  auto *Data = G && G->hasInitializer()
                   ? dyn_cast<ConstantDataSequential>(G->getInitializer())
                   : nullptr;
  return Data && Data->isCString() ? Data->getAsCString() : StringRef();
}

void HostSubstitution::findKernels() {
  Function *Register = M.getFunction("__cudaRegisterFunction");
  if (!Register)
    return;
  for (User *U : Register->users())
    if (auto *Call = dyn_cast<CallInst>(U);
        Call && Call->getCalledFunction() == Register)
      if (auto *Stub =
              dyn_cast<Function>(Call->getArgOperand(1)->stripPointerCasts()))
        Registrations[Stub] = Call;
}

Expected<bool> HostSubstitution::readBinary() {
  for (GlobalVariable &G : M.globals()) {
    if (!G.hasInitializer() || G.getSection() != ".nv_fatbin")
      continue;
    auto *Data = dyn_cast<ConstantDataSequential>(G.getInitializer());
    if (!Data)
      continue;
    Expected<GpuBinary> Parsed = GpuBinary::parse(Data->getRawDataValues());
    if (!Parsed)
      return Parsed.takeError();
    Binary = std::move(*Parsed);
    return true;
  }
  return false;
}

Error HostSubstitution::findVariants() {
  for (auto &[Stub, Registration] : Registrations) {
    StringRef Name = stringOf(Registration->getArgOperand(2));
    Expected<std::vector<BuildRecord>> Records =
        Options.Store->recordsFor(Name);
    if (!Records)
      return Records.takeError();
    for (BuildRecord &R : *Records)
      for (BuildVariant &V : R.Variants) {
        std::string Symbol = variantSymbol(Name, V);
        if (V.Plan.Launches.size() != 1 || !Binary.allHold(Symbol))
          continue;
        Launchable L;
        L.V = V;
        L.Scalars = R.Scalars;
        registerHandle(L, Registration, Symbol);
        L.State = Runtime.createState(Symbol, demangle(Name) + " " + V.Name,
                                      L.V.When.Arch);
        Outcomes.push_back({Name.str(), "VariantApplied",
                            "variant " + V.Name + ": " + V.Genome + " (for " +
                                V.When.Arch + ")",
                            true});
        Variants[Stub].push_back(std::move(L));
      }
  }
  return Error::success();
}

void HostSubstitution::registerHandle(Launchable &L, CallInst *Registration,
                                      StringRef Name) {
  LLVMContext &C = M.getContext();
  L.Handle = new GlobalVariable(
      M, Type::getInt8Ty(C), /*isConstant=*/false, GlobalValue::InternalLinkage,
      ConstantInt::get(Type::getInt8Ty(C), 0), Name + "_handle");
  IRBuilder<> B(Registration->getNextNode());
  Value *Text = B.CreateGlobalString(Name, Name + "_name");
  auto *Call = cast<CallInst>(Registration->clone());
  Call->setArgOperand(1, L.Handle);
  Call->setArgOperand(2, Text);
  Call->setArgOperand(3, Text);
  B.Insert(Call);
}

bool HostSubstitution::isLaunch(const CallInst &Call) const {
  const Function *Callee = Call.getCalledFunction();
  // Stub, grid as i64 and i32, block as i64 and i32, arguments, shared, stream.
  return Callee && Call.arg_size() == 8 &&
         (Callee->getName() == "cudaLaunchKernel" ||
          Callee->getName() == "cudaLaunchKernel_ptsz");
}

/// Replaces \p Launch by a choice between it and the variants.
void HostSubstitution::dispatch(CallInst *Launch,
                                MutableArrayRef<Launchable> List) {
  BasicBlock *Head = Launch->getParent();
  BasicBlock *Original = Head->splitBasicBlock(Launch, "cupilot.original");
  BasicBlock *Done =
      Original->splitBasicBlock(Launch->getNextNode(), "cupilot.done");
  Head->getTerminator()->eraseFromParent();
  IRBuilder<> B(Head);
  B.SetCurrentDebugLocation(Launch->getDebugLoc());
  Type *I64 = B.getInt64Ty(), *I32 = B.getInt32Ty();
  auto Low = [&](Value *V) { return B.CreateAnd(V, 0xffffffffull); };
  auto High = [&](Value *V) { return B.CreateLShr(V, 32); };
  LaunchValues Values;
  Value *GridXY = Launch->getArgOperand(1), *BlockXY = Launch->getArgOperand(3);
  Values.Dims = {Low(GridXY),
                 High(GridXY),
                 B.CreateZExt(Launch->getArgOperand(2), I64),
                 Low(BlockXY),
                 High(BlockXY),
                 B.CreateZExt(Launch->getArgOperand(4), I64),
                 Launch->getArgOperand(6)};
  Values.Args = Launch->getArgOperand(5);

  PHINode *Status =
      PHINode::Create(Launch->getType(), List.size() + 1, "cupilot.status");
  Function *F = Head->getParent();
  for (Launchable &L : List) {
    BasicBlock *Guarded =
        BasicBlock::Create(M.getContext(), "cupilot.guard", F, Original);
    BasicBlock *Try =
        BasicBlock::Create(M.getContext(), "cupilot.variant", F, Original);
    BasicBlock *Failed =
        BasicBlock::Create(M.getContext(), "cupilot.failed", F, Original);
    BasicBlock *Next =
        BasicBlock::Create(M.getContext(), "cupilot.next", F, Original);
    B.CreateCondBr(Runtime.emitReady(B, L.State, L.Handle), Guarded, Next);
    B.SetInsertPoint(Guarded);
    EmittedShape Shape;
    Value *Holds = emitGuard(B, L.V.When, L.V.Plan.Launches.front(), L.Scalars,
                             Values, Shape);
    B.CreateCondBr(Holds, Try, Next);
    B.SetInsertPoint(Try);
    auto Pack = [&](Value *X, Value *Y) {
      return B.CreateOr(X, B.CreateShl(Y, 32));
    };
    auto *Call = cast<CallInst>(Launch->clone());
    Call->setArgOperand(0, L.Handle);
    Call->setArgOperand(1, Pack(Shape.Grid[0], Shape.Grid[1]));
    Call->setArgOperand(2, B.CreateTrunc(Shape.Grid[2], I32));
    Call->setArgOperand(3, Pack(Shape.Block[0], Shape.Block[1]));
    Call->setArgOperand(4, B.CreateTrunc(Shape.Block[2], I32));
    Call->setArgOperand(6, Shape.Shared);
    B.Insert(Call);
    Runtime.emitCount(B, L.State);
    Status->addIncoming(Call, Try);
    B.CreateCondBr(B.CreateICmpEQ(Call, ConstantInt::get(Call->getType(), 0)),
                   Done, Failed);
    // A variant that cannot be launched leaves no trace.
    B.SetInsertPoint(Failed);
    Runtime.emitClearError(B);
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
  }
  Runtime.emitFallback(B);
  B.CreateBr(Original);
  Launch->replaceUsesWithIf(Status,
                            [&](Use &U) { return U.getUser() != Status; });
  Status->addIncoming(Launch, Original);
  Status->insertBefore(Done->begin());
}

Expected<std::vector<SubstitutionOutcome>> HostSubstitution::run() {
  findKernels();
  if (Registrations.empty())
    return std::move(Outcomes);
  Expected<bool> Found = readBinary();
  if (!Found)
    return Found.takeError();
  if (!*Found || Options.CheckOnly)
    return std::move(Outcomes);
  if (Error E = findVariants())
    return std::move(E);
  // Stubs that other units may have too stay as they are: this unit's own calls
  // go to a copy, so that link order decides nothing.
  for (auto &[Stub, List] : Variants) {
    if (!Stub->hasLinkOnceLinkage() && !Stub->hasWeakLinkage())
      continue;
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(Stub, Map);
    Copy->setName(Stub->getName() + ".cupilot");
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setComdat(nullptr);
    for (User *U : make_early_inc_range(Stub->users()))
      if (auto *Call = dyn_cast<CallBase>(U);
          Call && Call->getCalledOperand() == Stub)
        Call->setCalledOperand(Copy);
  }
  SmallVector<std::pair<CallInst *, Function *>> Launches;
  for (Function &F : M) {
    bool SharedStub =
        Variants.contains(&F) && (F.hasLinkOnceLinkage() || F.hasWeakLinkage());
    if (SharedStub)
      continue;
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *Call = dyn_cast<CallInst>(&I); Call && isLaunch(*Call))
          if (auto *Stub = dyn_cast<Function>(
                  Call->getArgOperand(0)->stripPointerCasts());
              Stub && Variants.contains(Stub))
            Launches.push_back({Call, Stub});
  }
  for (auto [Call, Stub] : Launches)
    dispatch(Call, Variants[Stub]);
  Runtime.finish();
  return std::move(Outcomes);
}

Expected<std::vector<SubstitutionOutcome>>
substituteHost(Module &M, const SubstitutionOptions &Options) {
  return HostSubstitution(M, Options).run();
}

} // namespace cupilot
