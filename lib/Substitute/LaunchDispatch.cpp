//===- LaunchDispatch.cpp - Choosing between kernels at a launch ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchDispatch.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Substitute/EmitGuard.h"
#include "cupilot/Substitute/Names.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace cupilot {

Value *launchedKernel(const CallBase &Call) {
  const Function *Entry = Call.getCalledFunction();
  if (!Entry || Call.getFunctionType() != Entry->getFunctionType())
    return nullptr;
  switch (launchFormOf(*Entry)) {
  case LaunchForm::Unknown:
    return nullptr;
  case LaunchForm::Words:
  case LaunchForm::Arrays:
    return Call.getArgOperand(0)->stripPointerCasts();
  case LaunchForm::Config:
    return Call.getArgOperand(1)->stripPointerCasts();
  }
  return nullptr;
}

bool setsAttribute(const Function &Entry) {
  StringRef Name = Entry.getName();
  FunctionType *T = Entry.getFunctionType();
  return Entry.isDeclaration() && T->getReturnType()->isIntegerTy(32) &&
         ((Name == "cudaFuncSetAttribute" && T->getNumParams() == 3) ||
          (Name == "cudaFuncSetCacheConfig" && T->getNumParams() == 2)) &&
         T->getParamType(0)->isPointerTy();
}

/// The plan chooses the shared memory of its kernel \p Index.
static bool choosesShared(const LaunchPlan &Plan, size_t Index) {
  return Plan.Launches.size() > 1 ||
         any_of(Plan.Launches, [&](const Launch &L) {
           return Plan.indexOf(L) == Index &&
                  L.Shared != Expr::dim(SharedBytes) &&
                  L.Shared != Expr::constant(0);
         });
}

static Value *at(IRBuilder<> &B, Value *From, uint64_t Place) {
  return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), From, Place);
}

/// What the CupilotLaunch \p Launch says.
static LaunchValues valuesOf(IRBuilder<> &B, Value *Launch) {
  LaunchValues Values;
  for (unsigned I = 0; I < 3; ++I)
    for (auto [Dim, Place] :
         {std::pair(GridX, offsetof(CupilotLaunch, grid)),
          std::pair(BlockX, offsetof(CupilotLaunch, block))})
      Values.Dims[Dim + I] = B.CreateZExt(
          B.CreateAlignedLoad(B.getInt32Ty(), at(B, Launch, Place + 4 * I),
                              Align(4)),
          B.getInt64Ty());
  Values.Dims[SharedBytes] = B.CreateLoad(
      B.getInt64Ty(), at(B, Launch, offsetof(CupilotLaunch, shared)));
  Values.Args =
      B.CreateLoad(B.getPtrTy(), at(B, Launch, offsetof(CupilotLaunch, args)));
  return Values;
}

/// int outside(const CupilotLaunch *): the clause of the domain of \p L that a
/// refused launch fails; -1 where it is the guard, or the plan.
Function *LaunchDispatch::outside(const Launchable &L) {
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::get(C, 0), *I32 = Type::getInt32Ty(C);
  Function *F = Runtime.createFunction("__cupilot_outside_" +
                                           L.Handles.front()->getName(),
                                       FunctionType::get(I32, {Ptr}, false));
  F->addFnAttr(Attribute::NoInline);
  F->addFnAttr(Attribute::Cold);
  IRBuilder<> B(&F->getEntryBlock());
  LaunchValues Values = valuesOf(B, F->getArg(0));
  EmittedPlan Plan;
  Value *Ok = emitGuard(B, L.V.When, /*Where=*/nullptr, L.V.Plan,
                        L.Names.Scalars, Values, Plan);
  B.CreateRet(B.CreateSelect(
      Ok, emitOutside(B, *L.V.Where, L.Names.Scalars, Values), B.getInt32(-1)));
  return F;
}

/// A counter for each clause of the domain of \p L; reported by their texts,
/// each once.
Constant *LaunchDispatch::outsideCounts(const Launchable &L) {
  StringRef Name = L.Handles.front()->getName();
  std::vector<std::string> Texts;
  for (const DomainBox &Box : L.V.Where->Boxes)
    for (size_t I = 0; I < Box.size(); ++I)
      Texts.push_back(clauseText(Box, I, L.Names));
  Type *I64 = Type::getInt64Ty(M.getContext());
  GlobalVariable *Counts =
      Runtime.state(ArrayType::get(I64, Texts.size()), Name + "_outside");
  for (auto [I, Text] : enumerate(Texts))
    Runtime.report(
        ConstantExpr::getInBoundsGetElementPtr(
            I64, Counts, ArrayRef<Constant *>(ConstantInt::get(I64, I))),
        {.Kind = LaunchCountKind::Outside,
         .Kernel = demangle(withoutUnitName(L.Kernel)),
         .Symbol = L.Kernel,
         .Variant = L.V.Name,
         .Clause = Text});
  return Counts;
}

/// int plan(const CupilotLaunch *, CupilotValues *): guard and domain of \p L,
/// and the numbers that its plan comes to.
Function *LaunchDispatch::plan(const Launchable &L) {
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::get(C, 0), *I32 = Type::getInt32Ty(C),
       *I64 = Type::getInt64Ty(C);
  Function *F =
      Runtime.createFunction("__cupilot_plan_" + L.Handles.front()->getName(),
                             FunctionType::get(I32, {Ptr, Ptr}, false));
  F->addFnAttr(Attribute::AlwaysInline);
  IRBuilder<> B(&F->getEntryBlock());
  auto At = [&](Value *From, uint64_t Place) { return at(B, From, Place); };
  auto Store = [&](Value *V, Value *To, uint64_t Place, Type *T) {
    B.CreateAlignedStore(B.CreateZExtOrTrunc(V, T), At(To, Place), Align(4));
  };
  LaunchValues Values = valuesOf(B, F->getArg(0));
  EmittedPlan Plan;
  Value *Ok = emitGuard(B, L.V.When, L.V.Where ? &*L.V.Where : nullptr,
                        L.V.Plan, L.Names.Scalars, Values, Plan);
  auto *Admitted = BasicBlock::Create(C, "admitted", F),
       *Refused = BasicBlock::Create(C, "refused", F);
  B.CreateCondBr(Ok, Admitted, Refused);
  B.SetInsertPoint(Refused);
  B.CreateRet(B.getInt32(0));
  B.SetInsertPoint(Admitted);
  auto Array = [&](size_t Place) {
    return B.CreateLoad(Ptr, At(F->getArg(1), Place));
  };
  Value *Shapes = Array(offsetof(CupilotValues, shapes));
  for (auto [Index, Shape] : enumerate(Plan.Launches)) {
    Value *To = At(Shapes, Index * sizeof(CupilotShape));
    for (unsigned I = 0; I < 3; ++I) {
      Store(Shape.Grid[I], To, offsetof(CupilotShape, grid) + 4 * I, I32);
      Store(Shape.Block[I], To, offsetof(CupilotShape, block) + 4 * I, I32);
      Store(Shape.Cluster[I] ? Shape.Cluster[I] : B.getInt32(0), To,
            offsetof(CupilotShape, cluster) + 4 * I, I32);
    }
    Store(Shape.Shared, To, offsetof(CupilotShape, shared), I64);
  }
  Value *Scratch =
      Plan.Scratch.empty() ? nullptr : Array(offsetof(CupilotValues, scratch));
  for (auto [Index, Bytes] : enumerate(Plan.Scratch))
    Store(Bytes, Scratch, 8 * Index, I64);
  Value *Maps =
      Plan.TensorMaps.empty() ? nullptr : Array(offsetof(CupilotValues, maps));
  for (auto [Index, Map] : enumerate(Plan.TensorMaps)) {
    constexpr size_t Key = offsetof(CupilotMapRequest, key);
    Value *To = At(Maps, Index * sizeof(CupilotMapRequest));
    B.CreateMemSet(To, B.getInt8(0), sizeof(CupilotMapRequest), Align(8));
    Store(Map.Base, To, Key + offsetof(CupilotMapKey, base), I64);
    for (auto [I, V] : enumerate(Map.Extents))
      Store(V, To, Key + offsetof(CupilotMapKey, extents) + 8 * I, I64);
    for (auto [I, V] : enumerate(Map.Strides))
      Store(V, To, Key + offsetof(CupilotMapKey, strides) + 8 * I, I64);
    // A thread's own cache needs no lock, and its maps stay as they are while a
    // launch reads them. Two plans' maps are never looked up in one cache.
    GlobalVariable *Cache =
        Runtime.state(ArrayType::get(B.getInt8Ty(), sizeof(CupilotMapCache)),
                      "__cupilot_tensor_maps");
    Cache->setThreadLocalMode(GlobalValue::GeneralDynamicTLSModel);
    Cache->setAlignment(Align(alignof(CupilotMapCache)));
    B.CreateStore(B.CreateThreadLocalAddress(Cache),
                  At(To, offsetof(CupilotMapRequest, cache)));
  }
  B.CreateRet(B.getInt32(1));
  return F;
}

/// A CupilotVariant.
Constant *LaunchDispatch::variant(const Launchable &L) {
  LLVMContext &C = M.getContext();
  const LaunchPlan &Plan = L.V.Plan;
  StringRef Name = L.Handles.front()->getName();
  SmallVector<Constant *> Kernels, Launches, Maps;
  for (auto [I, Handle] : enumerate(L.Handles))
    Kernels.push_back(Runtime.structure(
        sizeof(CupilotKernel),
        {{offsetof(CupilotKernel, address), Handle},
         {offsetof(CupilotKernel, facts),
          Runtime.state(ArrayType::get(Type::getInt64Ty(C), CupilotDevices),
                        Handle->getName() + "_facts")},
         // An image's version says no more.
         {offsetof(CupilotKernel, arch),
          Runtime.number(capabilityNumber(L.V.When.Arch))},
         {offsetof(CupilotKernel, raise),
          Runtime.number(choosesShared(Plan, I))}}));
  Constant *Table = Runtime.table(Kernels, Name + "_kernels");
  for (const Launch &Each : Plan.Launches)
    Launches.push_back(ConstantExpr::getInBoundsGetElementPtr(
        Type::getInt8Ty(C), Table,
        ArrayRef<Constant *>(ConstantInt::get(
            Type::getInt64Ty(C), Plan.indexOf(Each) * sizeof(CupilotKernel)))));
  for (const TensorMapPlan &Map : Plan.TensorMaps) {
    SmallVector<uint32_t> Box(CupilotMaxRank, 1), Steps(CupilotMaxRank, 1);
    for (unsigned I = 0; I < Map.rank(); ++I) {
      Box[I] = Map.Box[I];
      Steps[I] = Map.step(I);
    }
    Maps.push_back(Runtime.structure(
        sizeof(CupilotMapPlan),
        {{offsetof(CupilotMapPlan, type), Runtime.number(Map.Type)},
         {offsetof(CupilotMapPlan, swizzle), Runtime.number(Map.Swizzle)},
         {offsetof(CupilotMapPlan, promotion), Runtime.number(Map.Promotion)},
         {offsetof(CupilotMapPlan, fill), Runtime.number(Map.FillNan)},
         {offsetof(CupilotMapPlan, rank), Runtime.number(Map.rank())},
         {offsetof(CupilotMapPlan, box), ConstantDataArray::get(C, Box)},
         {offsetof(CupilotMapPlan, steps), ConstantDataArray::get(C, Steps)}}));
  }
  GlobalVariable *Count = Runtime.createCounter(Name + "_launches");
  Runtime.report(Count, {.Kind = LaunchCountKind::Variant,
                         .Kernel = demangle(withoutUnitName(L.Kernel)),
                         .Symbol = L.Kernel,
                         .Variant = L.V.Name,
                         .VariantSymbols = variantSymbols(L.Kernel, L.V)});
  Constant *Null = ConstantPointerNull::get(PointerType::get(C, 0));
  // Everything has no outside.
  bool Bounded = L.V.Where && all_of(L.V.Where->Boxes, [](const DomainBox &B) {
                   return B.size() > 0;
                 });
  return Runtime.structure(
      sizeof(CupilotVariant),
      {{offsetof(CupilotVariant, plan), plan(L)},
       {offsetof(CupilotVariant, kernels), Table},
       {offsetof(CupilotVariant, launches),
        Runtime.table(Launches, Name + "_order")},
       {offsetof(CupilotVariant, maps), Runtime.table(Maps, Name + "_maps")},
       {offsetof(CupilotVariant, count), Count},
       {offsetof(CupilotVariant, outside),
        Bounded ? cast<Constant>(outside(L)) : Null},
       {offsetof(CupilotVariant, outsideCounts),
        Bounded ? outsideCounts(L) : Null},
       {offsetof(CupilotVariant, numKernels), Runtime.number(Kernels.size())},
       {offsetof(CupilotVariant, numLaunches), Runtime.number(Launches.size())},
       {offsetof(CupilotVariant, numScratch),
        Runtime.number(Plan.Scratch.size())},
       {offsetof(CupilotVariant, numMaps), Runtime.number(Maps.size())},
       {offsetof(CupilotVariant, params), Runtime.number(L.Params)},
       {offsetof(CupilotVariant, waits), Runtime.number(L.WaitsFirst)},
       {offsetof(CupilotVariant, clusters),
        Runtime.number(any_of(Plan.Launches, [](const Launch &Each) {
          return Each.Cluster.has_value();
        }))}});
}

GlobalVariable *LaunchDispatch::choices() {
  if (Choices)
    return Choices;
  SmallVector<Constant *> All;
  for (const auto &[Stub, Variants] : Kernels) {
    StringRef Kernel = Variants.front().Kernel;
    SmallVector<Constant *> Each;
    for (const Launchable &L : Variants)
      Each.push_back(variant(L));
    Tables[Stub] = Runtime.table(Each, "__cupilot_variants_" + Kernel);
    KernelAddresses &Known = Addresses[Stub];
    if (!Known.Host) {
      Known.Host = Runtime.state(Stub->getType(), "__cupilot_host_" + Kernel);
      Known.Host->setInitializer(Stub);
      Known.Host->setConstant(true);
    }
    GlobalVariable *&Counter = Originals[Stub];
    Counter = Runtime.createCounter("__cupilot_fallbacks_" + Kernel);
    All.push_back(Runtime.structure(
        sizeof(CupilotChoice),
        {{offsetof(CupilotChoice, host), Known.Host},
         {offsetof(CupilotChoice, handle),
          Known.Handle ? Known.Handle : Known.Host},
         {offsetof(CupilotChoice, name), Runtime.text(Kernel)},
         {offsetof(CupilotChoice, variants), Tables[Stub]},
         {offsetof(CupilotChoice, numVariants), Runtime.number(Each.size())},
         {offsetof(CupilotChoice, originals), Counter}}));
  }
  Choices = Runtime.define("choices", All);
  return Choices;
}

/// A CupilotLaunch::with that launches by \p Entry.
Function *LaunchDispatch::with(Function &Entry) {
  std::string Name = ("__cupilot_with_" + Entry.getName()).str();
  Function *F = M.getFunction(Name);
  if (!F) {
    F = Runtime.createFunction(Name, variantLaunchType(M.getContext()));
    F->addFnAttr(Attribute::AlwaysInline);
    emitVariantLaunch(*F, Entry);
  }
  return F;
}

/// A CupilotValues with room for each of \p Variants.
Value *LaunchDispatch::values(LaunchBody &Code, ArrayRef<Launchable> Variants) {
  size_t Launches = 0, Scratch = 0, Maps = 0, Args = 0;
  for (const Launchable &L : Variants) {
    const LaunchPlan &Plan = L.V.Plan;
    Launches = std::max(Launches, Plan.Launches.size());
    Scratch = std::max(Scratch, Plan.Scratch.size());
    Maps = std::max(Maps, Plan.TensorMaps.size());
    if (unsigned Extra = Plan.extraParams())
      Args = std::max<size_t>(Args, L.Params + Extra);
  }
  Value *Values = Code.local(sizeof(CupilotValues));
  for (auto [Place, Bytes] :
       {std::pair(offsetof(CupilotValues, shapes),
                  Launches * sizeof(CupilotShape)),
        std::pair(offsetof(CupilotValues, scratch), Scratch * 8),
        std::pair(offsetof(CupilotValues, maps),
                  Maps * sizeof(CupilotMapRequest)),
        std::pair(offsetof(CupilotValues, args), Args * 8),
        std::pair(offsetof(CupilotValues, buffers), Scratch * 8)})
    Code.store(Code.local(Bytes), Values, Place);
  return Values;
}

Function *LaunchDispatch::forKernel(Function &Entry, Function &Stub) {
  const std::vector<Launchable> &Variants = Kernels.find(&Stub)->second;
  StringRef Kernel = Variants.front().Kernel;
  choices();
  if (Reported.insert(&Stub).second)
    Runtime.report(Originals[&Stub],
                   {.Kind = LaunchCountKind::Original,
                    .Kernel = demangle(withoutUnitName(Kernel)),
                    .Symbol = Kernel.str()});
  Function *F = Runtime.createFunction("__cupilot_launch_" + Entry.getName() +
                                           "_" + Stub.getName(),
                                       Entry.getFunctionType());
  F->setCallingConv(Entry.getCallingConv());
  LaunchBody Code(*F, Entry);
  IRBuilder<> &B = Code.B;
  Value *Launch = Code.local(sizeof(CupilotLaunch)),
        *Values = values(Code, Variants);
  Code.describe(Launch, with(Entry));
  Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty();
  auto Call = [&](const char *Name, ArrayRef<Type *> Types,
                  ArrayRef<Value *> Args) {
    return B.CreateCall(Runtime.function((Name + Code.suffix()).str(),
                                         FunctionType::get(I32, Types, false)),
                        Args);
  };
  BasicBlock *Original = Code.block("original"), *Done = Code.block("done"),
             *Next = Code.block("next");
  Value *Device = Call("__cupilot_begin", {Ptr}, {Launch});
  B.CreateCondBr(B.CreateICmpSGE(Device, B.getInt32(0)), Next, Original);
  B.SetInsertPoint(Done);
  PHINode *Status = B.CreatePHI(I32, Variants.size());
  B.CreateRet(Status);
  // One call each, and no loop: an attempt is expanded here, and what is known
  // of its variant folds.
  for (size_t I = 0; I < Variants.size(); ++I) {
    B.SetInsertPoint(Next);
    Value *Attempt =
        Call("__cupilot_attempt", {Ptr, Ptr, Ptr, I32},
             {B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Tables[&Stub],
                                           I * sizeof(CupilotVariant)),
              Launch, Values, Device});
    Next = Code.block("next");
    SwitchInst *Switch = B.CreateSwitch(Attempt, Done, 2);
    Switch->addCase(B.getInt32(static_cast<uint32_t>(CupilotNext)), Next);
    Switch->addCase(B.getInt32(static_cast<uint32_t>(CupilotOriginal)),
                    Original);
    Status->addIncoming(Attempt, B.GetInsertBlock());
  }
  B.SetInsertPoint(Next);
  B.CreateBr(Original);
  B.SetInsertPoint(Original);
  B.CreateCall(Runtime.function("__cupilot_count",
                                FunctionType::get(B.getVoidTy(), {Ptr}, false)),
               {Originals[&Stub]});
  Code.returnOriginal();
  return F;
}

void LaunchDispatch::emitForAny(Function &F, Function &Entry) {
  choices();
  LaunchBody Code(F, Entry);
  IRBuilder<> &B = Code.B;
  SmallVector<Value *> Args;
  for (Argument &A : F.args())
    Args.push_back(&A);
  for (const auto &[Stub, Variants] : Kernels) {
    BasicBlock *Hit = Code.block("hit"), *Next = Code.block("next");
    const KernelAddresses &Known = Addresses[Stub];
    // nvcc's stubs launch what they were given for the kernel.
    LoadInst *Own = B.CreateAlignedLoad(
        B.getPtrTy(),
        Entry.getName().starts_with("__") ? Known.Handle : Known.Host,
        Align(8));
    Own->setAtomic(AtomicOrdering::Acquire);
    B.CreateCondBr(B.CreateAnd(B.CreateICmpEQ(Code.kernel(), Own),
                               B.CreateIsNotNull(Code.kernel())),
                   Hit, Next);
    B.SetInsertPoint(Hit);
    B.CreateRet(B.CreateCall(standIn(Entry, Stub), Args));
    B.SetInsertPoint(Next);
  }
  Code.returnOriginal();
}

Function *LaunchDispatch::standIn(Function &Entry, Function *Stub) {
  if (Function *Known = Made.lookup({&Entry, Stub}))
    return Known;
  Function *F = nullptr;
  if (Stub) {
    F = forKernel(Entry, *Stub);
  } else {
    F = Runtime.createFunction("__cupilot_launch_" + Entry.getName(),
                               Entry.getFunctionType());
    F->setCallingConv(Entry.getCallingConv());
    emitForAny(*F, Entry);
  }
  Made[{&Entry, Stub}] = F;
  return F;
}

Function *LaunchDispatch::attributeStandIn(const Function &Entry) {
  choices();
  return Runtime.function(("__cupilot_" + Entry.getName()).str(),
                          Entry.getFunctionType());
}

} // namespace cupilot
