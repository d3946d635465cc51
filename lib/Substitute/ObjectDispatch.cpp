//===- ObjectDispatch.cpp - Dispatch for objects of other compilers -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/ObjectDispatch.h"
#include "AttributeDispatch.h"
#include "HostRuntime.h"
#include "LaunchDispatch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace cupilot {

namespace {
/// What is known of a kernel of the object when the program runs.
struct KernelState {
  const ObjectKernel *K = nullptr;
  Function *Key = nullptr;          ///< Stands for it in LaunchableKernels.
  GlobalVariable *Host = nullptr;   ///< ptr: the host function registered.
  GlobalVariable *Kernel = nullptr; ///< ptr: its cudaKernel_t, once asked for.
};

class ObjectDispatch {
public:
  ObjectDispatch(Module &M, ArrayRef<ObjectKernel> Kernels);
  void emit(ArrayRef<std::string> Entries);

private:
  void addVariant(KernelState &S, const CompiledVariant &V);
  GlobalVariable *pointer(const Twine &Name);
  GlobalVariable *text(StringRef Content, const Twine &Name);
  Function *standIn(StringRef Entry, FunctionType *Type);
  void emitRegister();
  void emitGetKernel();
  void emitLaunch(StringRef Entry);
  void emitAttribute(StringRef Entry);
  void emitConstructor();

  Module &M;
  LLVMContext &C;
  Type *Void, *I32, *I64, *Ptr;
  HostRuntime Runtime;
  LaunchableKernels Launchables;
  LaunchDispatch Dispatch{Runtime, Launchables};
  std::vector<KernelState> States;
  /// Fat binary (its wrapper) and handle, of each variant.
  struct Registration {
    GlobalVariable *Wrapper, *Handle, *Name;
  };
  std::vector<Registration> Registrations;
};
} // namespace

/// Of crt/host_runtime.h: the mark of a fat binary's wrapper.
static constexpr uint32_t WrapperMagic = 0x466243b1;

ArrayRef<StringRef> redirectedEntries() {
  static const StringRef Entries[] = {
      "__cudaRegisterFunction", "__cudaGetKernel",
      "__cudaLaunchKernel",     "__cudaLaunchKernel_ptsz",
      "cudaLaunchKernel",       "cudaLaunchKernel_ptsz",
      "cudaLaunchKernelExC",    "cudaLaunchKernelExC_ptsz",
      "cudaFuncSetAttribute",   "cudaFuncSetCacheConfig"};
  return Entries;
}

std::string standInName(StringRef Entry) {
  return ("__cupilot_for_" + Entry).str();
}

ObjectDispatch::ObjectDispatch(Module &M, ArrayRef<ObjectKernel> Kernels)
    : M(M), C(M.getContext()), Void(Type::getVoidTy(C)),
      I32(Type::getInt32Ty(C)), I64(Type::getInt64Ty(C)),
      Ptr(PointerType::get(C, 0)), Runtime(M) {
  for (const ObjectKernel &K : Kernels) {
    KernelState S;
    S.K = &K;
    // Never defined and never used: only a name for the launch dispatch.
    S.Key = Function::Create(FunctionType::get(Void, false),
                             GlobalValue::ExternalLinkage, K.Symbol, M);
    S.Host = pointer("__cupilot_host_" + K.Symbol);
    S.Kernel = pointer("__cupilot_kernel_" + K.Symbol);
    for (const CompiledVariant &V : K.Variants)
      addVariant(S, V);
    States.push_back(S);
  }
}

GlobalVariable *ObjectDispatch::pointer(const Twine &Name) {
  return new GlobalVariable(M, Ptr, false, GlobalValue::InternalLinkage,
                            Constant::getNullValue(Ptr), Name);
}

GlobalVariable *ObjectDispatch::text(StringRef Content, const Twine &Name) {
  Constant *Bytes = ConstantDataArray::getString(C, Content);
  auto *G = new GlobalVariable(M, Bytes->getType(), true,
                               GlobalValue::PrivateLinkage, Bytes, Name);
  G->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return G;
}

void ObjectDispatch::addVariant(KernelState &S, const CompiledVariant &V) {
  // Sections and alignment as nvcc has them (crt/host_runtime.h).
  Constant *Bytes =
      ConstantDataArray::getString(C, V.Fatbin, /*AddNull=*/false);
  auto *Data = new GlobalVariable(M, Bytes->getType(), true,
                                  GlobalValue::InternalLinkage, Bytes,
                                  V.Symbol + "_fatbin");
  Data->setSection(".nv_fatbin");
  Data->setAlignment(Align(8));
  Constant *Wrapped = ConstantStruct::getAnon(
      {ConstantInt::get(I32, WrapperMagic), ConstantInt::get(I32, 1), Data,
       Constant::getNullValue(Ptr)});
  auto *Wrapper = new GlobalVariable(M, Wrapped->getType(), false,
                                     GlobalValue::InternalLinkage, Wrapped,
                                     V.Symbol + "_wrapper");
  Wrapper->setSection(".nvFatBinSegment");
  Wrapper->setAlignment(Align(8));
  Type *I8 = Type::getInt8Ty(C);
  auto *Handle =
      new GlobalVariable(M, I8, false, GlobalValue::InternalLinkage,
                         ConstantInt::get(I8, 0), V.Symbol + "_handle");
  Registrations.push_back(
      {Wrapper, Handle, text(V.Symbol, V.Symbol + "_name")});
  Launchable L;
  L.Kernel = S.K->Symbol;
  L.V = V.V;
  L.Scalars = V.Scalars;
  L.Handle = Handle;
  L.State = Runtime.createState(
      V.Symbol, demangle(S.K->Symbol) + " " + V.V.Name, V.V.When.Arch);
  Launchables[S.Key].push_back(std::move(L));
}

Function *ObjectDispatch::standIn(StringRef Entry, FunctionType *Type) {
  Function *F = Runtime.createFunction(standInName(Entry), Type);
  F->setLinkage(GlobalValue::ExternalLinkage);
  F->setVisibility(GlobalValue::HiddenVisibility);
  return F;
}

/// Notes which host functions stand for the kernels, and goes on.
void ObjectDispatch::emitRegister() {
  auto *Type = FunctionType::get(
      Void, {Ptr, Ptr, Ptr, Ptr, I32, Ptr, Ptr, Ptr, Ptr, Ptr}, false);
  Function *F = standIn("__cudaRegisterFunction", Type);
  IRBuilder<> B(&F->getEntryBlock());
  FunctionCallee Compare = M.getOrInsertFunction(
      "strcmp", FunctionType::get(I32, {Ptr, Ptr}, false));
  for (const KernelState &S : States) {
    auto *Hit = BasicBlock::Create(C, "hit", F),
         *Next = BasicBlock::Create(C, "next", F);
    Value *Equal = B.CreateICmpEQ(
        B.CreateCall(Compare,
                     {F->getArg(3), text(S.K->Symbol, "__cupilot_name")}),
        B.getInt32(0));
    B.CreateCondBr(Equal, Hit, Next);
    B.SetInsertPoint(Hit);
    StoreInst *Note = B.CreateAlignedStore(F->getArg(1), S.Host, Align(8));
    Note->setAtomic(AtomicOrdering::Release);
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
  }
  SmallVector<Value *> Args;
  for (Argument &A : F->args())
    Args.push_back(&A);
  B.CreateCall(M.getOrInsertFunction("__cudaRegisterFunction", Type), Args);
  B.CreateRetVoid();
}

/// Notes the cudaKernel_t of the kernels when their stubs ask for it.
void ObjectDispatch::emitGetKernel() {
  auto *Type = FunctionType::get(I32, {Ptr, Ptr}, false);
  Function *F = standIn("__cudaGetKernel", Type);
  IRBuilder<> B(&F->getEntryBlock());
  Value *Status = B.CreateCall(M.getOrInsertFunction("__cudaGetKernel", Type),
                               {F->getArg(0), F->getArg(1)});
  auto *Known = BasicBlock::Create(C, "known", F),
       *Return = BasicBlock::Create(C, "return", F);
  B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Known, Return);
  B.SetInsertPoint(Known);
  for (const KernelState &S : States) {
    auto *Hit = BasicBlock::Create(C, "hit", F),
         *Next = BasicBlock::Create(C, "next", F);
    LoadInst *Host = B.CreateAlignedLoad(Ptr, S.Host, Align(8));
    Host->setAtomic(AtomicOrdering::Acquire);
    B.CreateCondBr(B.CreateICmpEQ(Host, F->getArg(1)), Hit, Next);
    B.SetInsertPoint(Hit);
    StoreInst *Note = B.CreateAlignedStore(B.CreateLoad(Ptr, F->getArg(0)),
                                           S.Kernel, Align(8));
    Note->setAtomic(AtomicOrdering::Release);
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
  }
  B.CreateBr(Return);
  B.SetInsertPoint(Return);
  B.CreateRet(Status);
}

void ObjectDispatch::emitLaunch(StringRef Entry) {
  bool Config = Entry.starts_with("cudaLaunchKernelExC");
  auto *Type =
      Config ? FunctionType::get(I32, {Ptr, Ptr, Ptr}, false)
             : FunctionType::get(I32, {Ptr, I64, I32, I64, I32, Ptr, I64, Ptr},
                                 false);
  auto *Real = cast<Function>(M.getOrInsertFunction(Entry, Type).getCallee());
  Function *F = standIn(Entry, Type);
  IRBuilder<> B(&F->getEntryBlock());
  SmallVector<Value *> Args;
  for (Argument &A : F->args())
    Args.push_back(&A);
  Value *Kernel = F->getArg(Config ? 1 : 0);
  for (const KernelState &S : States) {
    auto *Hit = BasicBlock::Create(C, "hit", F),
         *Next = BasicBlock::Create(C, "next", F);
    LoadInst *Own = B.CreateAlignedLoad(
        Ptr, Entry.starts_with("__") ? S.Kernel : S.Host, Align(8));
    Own->setAtomic(AtomicOrdering::Acquire);
    B.CreateCondBr(
        B.CreateAnd(B.CreateICmpEQ(Kernel, Own), B.CreateIsNotNull(Kernel)),
        Hit, Next);
    B.SetInsertPoint(Hit);
    B.CreateRet(B.CreateCall(Dispatch.standIn(*Real, S.Key), Args));
    B.SetInsertPoint(Next);
  }
  B.CreateRet(B.CreateCall(Real, Args));
}

void ObjectDispatch::emitAttribute(StringRef Entry) {
  SmallVector<Type *> Params = {Ptr, I32};
  if (Entry == "cudaFuncSetAttribute")
    Params.push_back(I32);
  auto *Type = FunctionType::get(I32, Params, false);
  auto *Real = cast<Function>(M.getOrInsertFunction(Entry, Type).getCallee());
  emitAttributeDispatch(
      Runtime, *standIn(Entry, Type), *Real, Launchables,
      [&](IRBuilderBase &B, Function *Key) -> Value * {
        const KernelState &S = *find_if(
            States, [&](const KernelState &Each) { return Each.Key == Key; });
        LoadInst *Host = B.CreateAlignedLoad(Ptr, S.Host, Align(8));
        Host->setAtomic(AtomicOrdering::Acquire);
        return Host;
      });
}

/// Registers the fat binaries, as nvcc's own code does for the unit's.
void ObjectDispatch::emitConstructor() {
  auto *Plain = FunctionType::get(Void, false);
  Function *Leave = Runtime.createFunction("__cupilot_unregister", Plain),
           *Enter = Runtime.createFunction("__cupilot_register", Plain);
  IRBuilder<> B(&Enter->getEntryBlock()), E(&Leave->getEntryBlock());
  auto *OfHandle = FunctionType::get(Void, {Ptr}, false);
  FunctionCallee
      Begin = M.getOrInsertFunction("__cudaRegisterFatBinary",
                                    FunctionType::get(Ptr, {Ptr}, false)),
      End = M.getOrInsertFunction("__cudaRegisterFatBinaryEnd", OfHandle),
      Undo = M.getOrInsertFunction("__cudaUnregisterFatBinary", OfHandle),
      Add = M.getOrInsertFunction(
          "__cudaRegisterFunction",
          FunctionType::get(
              Void, {Ptr, Ptr, Ptr, Ptr, I32, Ptr, Ptr, Ptr, Ptr, Ptr}, false));
  Constant *Null = Constant::getNullValue(Ptr);
  for (const Registration &R : Registrations) {
    Value *Binary = B.CreateCall(Begin, {R.Wrapper});
    GlobalVariable *Keep = pointer(R.Wrapper->getName() + "_binary");
    B.CreateStore(Binary, Keep);
    B.CreateCall(Add, {Binary, R.Handle, R.Name, R.Name,
                       B.getInt32(static_cast<uint32_t>(-1)), Null, Null, Null,
                       Null, Null});
    B.CreateCall(End, {Binary});
    E.CreateCall(Undo, {E.CreateLoad(Ptr, Keep)});
  }
  E.CreateRetVoid();
  B.CreateCall(
      M.getOrInsertFunction("atexit", FunctionType::get(I32, {Ptr}, false)),
      {Leave});
  B.CreateRetVoid();
  appendToGlobalCtors(M, Enter, /*Priority=*/65535);
}

void ObjectDispatch::emit(ArrayRef<std::string> Entries) {
  for (StringRef Entry : Entries) {
    if (Entry == "__cudaRegisterFunction")
      emitRegister();
    else if (Entry == "__cudaGetKernel")
      emitGetKernel();
    else if (Entry.starts_with("cudaFuncSet"))
      emitAttribute(Entry);
    else
      emitLaunch(Entry);
  }
  emitConstructor();
  Runtime.finish();
}

std::unique_ptr<Module> createObjectDispatch(LLVMContext &Context,
                                             const Triple &Target,
                                             ArrayRef<std::string> Entries,
                                             ArrayRef<ObjectKernel> Kernels) {
  auto M = std::make_unique<Module>("cupilot-dispatch", Context);
  M->setTargetTriple(Target);
  // Position independent, with unwind tables: it goes where the object goes.
  M->setPICLevel(PICLevel::BigPIC);
  M->setUwtable(UWTableKind::Async);
  // The object may be marked so: what is merged in must be too.
  M->addModuleFlag(Module::Min, "cf-protection-branch", 1);
  M->addModuleFlag(Module::Min, "cf-protection-return", 1);
  ObjectDispatch(*M, Kernels).emit(Entries);
  return M;
}

} // namespace cupilot
