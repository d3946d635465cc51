//===- HostMemory.cpp - Scratch memory and tensor maps at run time --------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostRuntime.h"

using namespace llvm;

namespace cupilot {

/// cudaMemPoolAttrReleaseThreshold.
static constexpr unsigned ReleaseThreshold = 4;
/// What a device's pool may keep when the program waits for the device. With
/// nothing, the run time's default, each launch after that maps its memory
/// anew, which was measured to take longer than many kernels.
static constexpr uint64_t KeptScratch = uint64_t(64) << 20;

/// void keep(i32 device): has its pool keep memory, where the program has not
/// said what it is to keep.
Function *HostRuntime::keepFunction() {
  if (Function *F = M.getFunction("__cupilot_keep"))
    return F;
  IRBuilder<> B(M.getContext());
  Type *I64 = B.getInt64Ty(), *Ptr = B.getPtrTy();
  Function *F =
      createFunction("__cupilot_keep",
                     FunctionType::get(B.getVoidTy(), {B.getInt32Ty()}, false));
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(M.getContext(), Name, F);
  };
  BasicBlock *Failed = Block("failed"), *Done = Block("done");
  B.SetInsertPoint(&F->getEntryBlock());
  Value *Pool = B.CreateAlloca(Ptr), *Bytes = B.CreateAlloca(I64);
  auto Check = [&](Value *Good, const char *Name, BasicBlock *Else) {
    BasicBlock *Next = Block(Name);
    B.CreateCondBr(Good, Next, Else);
    B.SetInsertPoint(Next);
  };
  auto Call = [&](StringRef Name, ArrayRef<Value *> Args, const char *Then) {
    Value *Status = emitStatusCall(B, Name, Args);
    Check(B.CreateICmpEQ(Status, B.getInt32(0)), Then, Failed);
  };
  Call("cudaDeviceGetMemPool", {Pool, F->getArg(0)}, "pool");
  Value *Of = B.CreateLoad(Ptr, Pool);
  Call("cudaMemPoolGetAttribute", {Of, B.getInt32(ReleaseThreshold), Bytes},
       "told");
  Check(B.CreateICmpEQ(B.CreateLoad(I64, Bytes), B.getInt64(0)), "default",
        Done);
  B.CreateStore(B.getInt64(KeptScratch), Bytes);
  Call("cudaMemPoolSetAttribute", {Of, B.getInt32(ReleaseThreshold), Bytes},
       "set");
  B.CreateBr(Done);
  B.SetInsertPoint(Failed);
  emitClearError(B);
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
  B.CreateRetVoid();
  return F;
}

/// ptr allocate(i64 bytes, ptr stream, i32 device).
Value *HostRuntime::emitAllocate(IRBuilderBase &Caller, Value *Bytes,
                                 Value *Stream, Value *Device,
                                 StringRef Suffix) {
  std::string Name = ("__cupilot_allocate" + Suffix).str();
  Function *F = M.getFunction(Name);
  if (!F) {
    IRBuilder<> B(M.getContext());
    Type *Ptr = B.getPtrTy(), *I8 = B.getInt8Ty();
    Constant *Null = ConstantPointerNull::get(B.getPtrTy());
    Function *Keep = keepFunction();
    F = createFunction(
        Name,
        FunctionType::get(Ptr, {B.getInt64Ty(), Ptr, B.getInt32Ty()}, false));
    Type *Flags = ArrayType::get(I8, MaxDevices);
    auto *Kept = new GlobalVariable(
        M, Flags, false, GlobalValue::InternalLinkage,
        ConstantAggregateZero::get(Flags), "__cupilot_kept" + Suffix);
    auto Block = [&](const char *Label) {
      return BasicBlock::Create(M.getContext(), Label, F);
    };
    BasicBlock *First = Block("first"), *Ask = Block("ask"),
               *Got = Block("got"), *None = Block("none");
    B.SetInsertPoint(&F->getEntryBlock());
    Value *Slot = B.CreateAlloca(Ptr);
    Value *Flag = B.CreateInBoundsGEP(
        I8, Kept, B.CreateZExt(F->getArg(2), B.getInt64Ty()));
    LoadInst *Known = B.CreateAlignedLoad(I8, Flag, Align(1));
    Known->setAtomic(AtomicOrdering::Monotonic);
    B.CreateCondBr(B.CreateIsNull(Known), First, Ask);
    B.SetInsertPoint(First);
    B.CreateCall(Keep, {F->getArg(2)});
    StoreInst *Once = B.CreateAlignedStore(B.getInt8(1), Flag, Align(1));
    Once->setAtomic(AtomicOrdering::Monotonic);
    B.CreateBr(Ask);
    B.SetInsertPoint(Ask);
    B.CreateStore(Null, Slot);
    Value *Status = emitStatusCall(B, ("cudaMallocAsync" + Suffix).str(),
                                   {Slot, F->getArg(0), F->getArg(1)});
    B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Got, None);
    B.SetInsertPoint(Got);
    B.CreateRet(B.CreateLoad(Ptr, Slot));
    B.SetInsertPoint(None);
    emitClearError(B);
    B.CreateRet(Null);
  }
  return Caller.CreateCall(F, {Bytes, Stream, Device});
}

void HostRuntime::emitFree(IRBuilderBase &B, Value *Pointer, Value *Stream,
                           StringRef Suffix) {
  // What makes this fail is an error of the program, which it shall see.
  emitStatusCall(B, ("cudaFreeAsync" + Suffix).str(), {Pointer, Stream});
}

/// Where the driver's function cannot be had.
static constexpr uint64_t NoEncoder = 1;

/// ptr encoder(): cuTensorMapEncodeTiled, or the address NoEncoder. Asked for
/// once. The run time's functions came and went with its versions: those that
/// a program's does not have are null.
Function *HostRuntime::encoderFunction() {
  if (Function *F = M.getFunction("__cupilot_encoder"))
    return F;
  IRBuilder<> B(M.getContext());
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty(), *Ptr = B.getPtrTy();
  Constant *Null = ConstantPointerNull::get(B.getPtrTy());
  Function *F =
      createFunction("__cupilot_encoder", FunctionType::get(Ptr, false));
  auto *Cached = new GlobalVariable(M, Ptr, false, GlobalValue::InternalLinkage,
                                    Null, "__cupilot_encoder_cache");
  auto Weak = [&](StringRef Name, ArrayRef<Type *> Types) {
    Function *Entry = M.getFunction(Name);
    if (!Entry)
      Entry = Function::Create(FunctionType::get(I32, Types, false),
                               GlobalValue::ExternalWeakLinkage, Name, M);
    return FunctionCallee(FunctionType::get(I32, Types, false), Entry);
  };
  FunctionCallee New = Weak("cudaGetDriverEntryPointByVersion",
                            {Ptr, Ptr, I32, I64, Ptr}),
                 Old = Weak("cudaGetDriverEntryPoint", {Ptr, Ptr, I64, Ptr});
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(M.getContext(), Name, F);
  };
  BasicBlock *Known = Block("known"), *Ask = Block("ask"),
             *AskNew = Block("new"), *TryOld = Block("try"),
             *AskOld = Block("old"), *Told = Block("told"),
             *Clear = Block("clear"), *Keep = Block("keep");
  B.SetInsertPoint(&F->getEntryBlock());
  Value *Slot = B.CreateAlloca(Ptr), *Result = B.CreateAlloca(I32);
  LoadInst *Have = B.CreateAlignedLoad(Ptr, Cached, Align(8));
  Have->setAtomic(AtomicOrdering::Acquire);
  B.CreateCondBr(B.CreateIsNull(Have), Ask, Known);
  B.SetInsertPoint(Known);
  B.CreateRet(Have);
  B.SetInsertPoint(Ask);
  B.CreateStore(Null, Slot);
  B.CreateStore(B.getInt32(0), Result);
  Value *Name = B.CreateGlobalString("cuTensorMapEncodeTiled");
  B.CreateCondBr(B.CreateIsNull(New.getCallee()), TryOld, AskNew);
  B.SetInsertPoint(AskNew);
  // Of CUDA 12.0, which brought it; 0 is cudaEnableDefault.
  Value *FromNew =
      B.CreateCall(New, {Name, Slot, B.getInt32(12000), B.getInt64(0), Result});
  B.CreateBr(Told);
  B.SetInsertPoint(TryOld);
  B.CreateCondBr(B.CreateIsNull(Old.getCallee()), Keep, AskOld);
  B.SetInsertPoint(AskOld);
  Value *FromOld = B.CreateCall(Old, {Name, Slot, B.getInt64(0), Result});
  B.CreateBr(Told);
  B.SetInsertPoint(Told);
  PHINode *Status = B.CreatePHI(I32, 2);
  Status->addIncoming(FromNew, AskNew);
  Status->addIncoming(FromOld, AskOld);
  B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Keep, Clear);
  B.SetInsertPoint(Clear);
  emitClearError(B);
  B.CreateStore(Null, Slot);
  B.CreateBr(Keep);
  B.SetInsertPoint(Keep);
  Value *Got = B.CreateLoad(Ptr, Slot);
  Value *Usable =
      B.CreateAnd(B.CreateIsNotNull(Got),
                  B.CreateICmpEQ(B.CreateLoad(I32, Result), B.getInt32(0)));
  Value *Final = B.CreateSelect(
      Usable, Got,
      ConstantExpr::getIntToPtr(ConstantInt::get(I64, NoEncoder), Ptr));
  StoreInst *Store = B.CreateAlignedStore(Final, Cached, Align(8));
  Store->setAtomic(AtomicOrdering::Release);
  B.CreateRet(Final);
  return F;
}

/// The tensor maps that a thread keeps of one plan, and what they are for.
namespace cache {
constexpr unsigned Entries = 4, MapBytes = 128, KeyWords = 16;
constexpr unsigned EntryBytes = MapBytes + 8 * KeyWords;
} // namespace cache

/// ptr map(ptr cache, ptr key, ptr constants): the map for the key (address,
/// extents, strides), made by the driver where the cache has none. The cache is
/// the calling thread's: an i64 with the place of the next new map, at 64 the
/// maps. The constants are type, rank, swizzle, promotion, fill, box, steps.
Function *HostRuntime::tensorMapFunction() {
  if (Function *F = M.getFunction("__cupilot_tensor_map"))
    return F;
  IRBuilder<> B(M.getContext());
  Type *I8 = B.getInt8Ty(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty(),
       *Ptr = B.getPtrTy();
  Constant *Null = ConstantPointerNull::get(B.getPtrTy());
  Function *Encoder = encoderFunction(),
           *F = createFunction("__cupilot_tensor_map",
                               FunctionType::get(Ptr, {Ptr, Ptr, Ptr}, false));
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(M.getContext(), Name, F);
  };
  BasicBlock *Entry = &F->getEntryBlock(), *Loop = Block("loop"),
             *Hit = Block("hit"), *Next = Block("next"), *Miss = Block("miss"),
             *Encode = Block("encode"), *Made = Block("made"),
             *No = Block("no");
  Value *Cache = F->getArg(0), *Key = F->getArg(1), *Plan = F->getArg(2);
  auto At = [&](Value *From, uint64_t Offset) {
    return B.CreateConstInBoundsGEP1_64(I8, From, Offset);
  };
  auto EntryAt = [&](Value *Index) {
    return B.CreateInBoundsGEP(
        I8, At(Cache, 64), B.CreateMul(Index, B.getInt64(cache::EntryBytes)));
  };
  Value *KeyBytes = B.getInt64(8 * cache::KeyWords);
  B.SetInsertPoint(Entry);
  B.CreateBr(Loop);
  B.SetInsertPoint(Loop);
  PHINode *I = B.CreatePHI(I64, 2);
  I->addIncoming(B.getInt64(0), Entry);
  Value *Each = EntryAt(I);
  Value *Differs =
      emitStatusCall(B, "memcmp", {At(Each, cache::MapBytes), Key, KeyBytes});
  B.CreateCondBr(B.CreateICmpEQ(Differs, B.getInt32(0)), Hit, Next);
  B.SetInsertPoint(Hit);
  B.CreateRet(Each);
  B.SetInsertPoint(Next);
  Value *Further = B.CreateAdd(I, B.getInt64(1));
  I->addIncoming(Further, Next);
  B.CreateCondBr(B.CreateICmpULT(Further, B.getInt64(cache::Entries)), Loop,
                 Miss);
  B.SetInsertPoint(Miss);
  Value *Function = B.CreateCall(Encoder);
  B.CreateCondBr(
      B.CreateICmpEQ(B.CreatePtrToInt(Function, I64), B.getInt64(NoEncoder)),
      No, Encode);
  B.SetInsertPoint(Encode);
  Value *Place = B.CreateLoad(I64, Cache);
  Value *New = EntryAt(Place);
  auto Word = [&](unsigned Index) {
    return B.CreateLoad(I32, At(Plan, 4 * Index));
  };
  Value *Base = B.CreateLoad(Ptr, Key);
  SmallVector<Value *> Args = {
      New,
      Word(0), // Element type.
      Word(1), // Rank.
      Base,
      At(Key, 8),                                // Extents.
      At(Key, 8 + 8 * TensorMapPlan::MaxRank),   // Strides.
      At(Plan, 20),                              // Box.
      At(Plan, 20 + 4 * TensorMapPlan::MaxRank), // Steps.
      B.getInt32(0),                             // No interleave.
      Word(2),
      Word(3),
      Word(4)};
  SmallVector<Type *> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  // No extent is 0, so an entry that is half written is none.
  B.CreateStore(B.getInt64(0), At(New, cache::MapBytes + 8));
  Value *Status =
      B.CreateCall(FunctionType::get(I32, Types, false), Function, Args);
  B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Made, No);
  B.SetInsertPoint(Made);
  B.CreateMemCpy(At(New, cache::MapBytes), Align(8), Key, Align(8), KeyBytes);
  B.CreateStore(B.CreateURem(B.CreateAdd(Place, B.getInt64(1)),
                             B.getInt64(cache::Entries)),
                Cache);
  B.CreateRet(New);
  B.SetInsertPoint(No);
  B.CreateRet(Null);
  return F;
}

Value *HostRuntime::emitTensorMap(IRBuilderBase &B, const TensorMapPlan &Plan,
                                  const EmittedTensorMap &Map) {
  LLVMContext &C = M.getContext();
  Type *I64 = B.getInt64Ty();
  constexpr unsigned MaxRank = TensorMapPlan::MaxRank;
  // The driver wants tensor maps at multiples of 64. A thread's own cache needs
  // no lock, and its maps stay as they are while a launch reads them.
  Type *Bytes =
      ArrayType::get(B.getInt8Ty(), 64 + cache::Entries * cache::EntryBytes);
  auto *Cache = new GlobalVariable(
      M, Bytes, false, GlobalValue::InternalLinkage,
      ConstantAggregateZero::get(Bytes), "__cupilot_tensor_maps", nullptr,
      GlobalValue::GeneralDynamicTLSModel);
  Cache->setAlignment(Align(64));
  SmallVector<uint32_t> Words = {Plan.Type, Plan.rank(), Plan.Swizzle,
                                 Plan.Promotion, Plan.FillNan};
  for (unsigned I = 0; I < MaxRank; ++I)
    Words.push_back(I < Plan.rank() ? Plan.Box[I] : 1);
  for (unsigned I = 0; I < MaxRank; ++I)
    Words.push_back(I < Plan.rank() ? Plan.step(I) : 1);
  Constant *Numbers = ConstantDataArray::get(C, Words);
  auto *Constants = new GlobalVariable(M, Numbers->getType(), true,
                                       GlobalValue::PrivateLinkage, Numbers,
                                       "__cupilot_tensor_plan");
  Function *Self = B.GetInsertBlock()->getParent();
  IRBuilder<> Entry(&Self->getEntryBlock(), Self->getEntryBlock().begin());
  auto *Key =
      Entry.CreateAlloca(I64, Entry.getInt64(cache::KeyWords), "tensor_key");
  Key->setAlignment(Align(8));
  SmallVector<Value *> Numbered(cache::KeyWords, B.getInt64(0));
  Numbered[0] = Map.Base;
  for (auto [I, V] : enumerate(Map.Extents))
    Numbered[1 + I] = V;
  for (auto [I, V] : enumerate(Map.Strides))
    Numbered[1 + MaxRank + I] = V;
  for (auto [I, V] : enumerate(Numbered))
    B.CreateStore(V, B.CreateConstInBoundsGEP1_64(I64, Key, I));
  // Two plans' maps are never looked up in one cache.
  return B.CreateCall(tensorMapFunction(),
                      {B.CreateThreadLocalAddress(Cache), Key, Constants});
}

} // namespace cupilot
