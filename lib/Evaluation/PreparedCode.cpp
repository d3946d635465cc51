//===- PreparedCode.cpp - Device code whose values can be followed -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PreparedCode.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/SROA.h"

using namespace llvm;

namespace cupilot {

Expected<Function *> PreparedCode::kernel(StringRef Symbol) const {
  Function *F = M->getFunction(Symbol);
  if (!F || F->isDeclaration())
    return usageError("the device code has no kernel '" + Symbol + "'");
  return F;
}

/// libdevice's mathematics have branches of their own, which nobody wrote. Its
/// small integer functions are instructions in disguise.
static bool staysCall(const Function &F) {
  return F.getName().starts_with("__nv_") &&
         (F.size() > 1 || F.front().size() > 4);
}

Expected<PreparedCode> prepareCode(StringRef Bitcode,
                                   function_ref<void(Module &)> Before) {
  PreparedCode Code;
  Code.Context = std::make_unique<LLVMContext>();
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, *Code.Context);
  if (!M)
    return M.takeError();
  Code.M = std::move(*M);
  expandInlinePtx(*Code.M);
  if (Before)
    Before(*Code.M);
  for (Function &F : *Code.M) {
    if (F.isDeclaration())
      continue;
    for (Attribute::AttrKind Kind :
         {Attribute::NoInline, Attribute::OptimizeNone,
          Attribute::AlwaysInline})
      F.removeFnAttr(Kind);
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *Call = dyn_cast<CallBase>(&I))
          Call->removeFnAttr(Attribute::NoInline);
    if (F.getCallingConv() == CallingConv::PTX_Kernel)
      continue;
    F.setLinkage(GlobalValue::InternalLinkage);
    F.addFnAttr(staysCall(F) ? Attribute::NoInline : Attribute::AlwaysInline);
  }
  ModulePassManager Passes;
  Passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  Passes.addPass(GlobalDCEPass());
  FunctionPassManager Each;
  Each.addPass(SROAPass(SROAOptions::PreserveCFG));
  if (!Before)
    Each.addPass(InstSimplifyPass());
  Each.addPass(DCEPass());
  Passes.addPass(createModuleToFunctionPassAdaptor(std::move(Each)));
  Pipeline().run(std::move(Passes), *Code.M);
  return Code;
}

/// The by-value argument that \p Pointer points into, and where.
static const Argument *argumentAt(const Value *Pointer, int64_t &Offset,
                                  const DataLayout &DL) {
  APInt Bytes(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
  const Value *Base =
      Pointer->stripAndAccumulateConstantOffsets(DL, Bytes, true);
  // Copies of such an argument in parameter space are the argument.
  const auto *A = dyn_cast<Argument>(Base);
  if (!A || !A->hasByValAttr())
    return nullptr;
  Offset = Bytes.getSExtValue();
  return A;
}

static std::optional<FloatRef::Format> leafFormat(const Type *T) {
  if (T->isFloatTy())
    return FloatRef::Format::Float;
  if (T->isDoubleTy())
    return FloatRef::Format::Double;
  if (T->isHalfTy())
    return FloatRef::Format::Half;
  if (T->isBFloatTy())
    return FloatRef::Format::BFloat;
  return std::nullopt;
}

static Leaf argumentLeaf(unsigned Param, unsigned Offset, const Type *T,
                         const Kernel &K) {
  if (std::optional<FloatRef::Format> Format = leafFormat(T))
    return {Leaf::Kind::Float, 0, {Param, Offset, *Format}};
  if (T->isPointerTy())
    for (unsigned I = 0; I < K.Pointers.size(); ++I)
      if (K.Pointers[I] == PointerRef{Param, Offset})
        return {Leaf::Kind::Pointer, I};
  if (T->isIntegerTy())
    for (unsigned I = 0; I < K.Scalars.size(); ++I)
      if (const ScalarRef &S = K.Scalars[I];
          S.Param == Param && S.Offset == Offset &&
          (T->getIntegerBitWidth() == S.Bits || T->isIntegerTy(1)))
        return {Leaf::Kind::Scalar, I};
  return {Leaf::Kind::Argument, Param};
}

static std::optional<Leaf> registerLeaf(const CallBase &Call) {
  auto Dim = [](unsigned D) { return Leaf{Leaf::Kind::Dim, D}; };
  auto Index = [](unsigned D) { return Leaf{Leaf::Kind::Index, D}; };
  switch (Call.getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    return Index(BlockX);
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    return Index(BlockY);
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    return Index(BlockZ);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    return Index(GridX);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    return Index(GridY);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    return Index(GridZ);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
    return Dim(BlockX);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
    return Dim(BlockY);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
    return Dim(BlockZ);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    return Dim(GridX);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    return Dim(GridY);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    return Dim(GridZ);
  case Intrinsic::nvvm_read_ptx_sreg_dynamic_smem_size:
    return Dim(SharedBytes);
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return Leaf{Leaf::Kind::Lane};
  default:
    break;
  }
  const Function *Callee = Call.getCalledFunction();
  if (Callee && Callee->getName().starts_with("llvm.nvvm.read.ptx.sreg."))
    return Leaf{Leaf::Kind::Thread};
  return std::nullopt;
}

std::optional<Leaf> leafOf(const Value &V, const Kernel &K) {
  if (const auto *A = dyn_cast<Argument>(&V)) {
    if (A->hasByValAttr() || A->getArgNo() >= K.Params.size())
      return std::nullopt;
    return argumentLeaf(A->getArgNo(), 0, A->getType(), K);
  }
  if (const auto *Call = dyn_cast<CallBase>(&V))
    return registerLeaf(*Call);
  const auto *Load = dyn_cast<LoadInst>(&V);
  if (!Load)
    return std::nullopt;
  int64_t Offset = 0;
  const Argument *A = argumentAt(Load->getPointerOperand(), Offset,
                                 Load->getModule()->getDataLayout());
  if (!A || Offset < 0 || A->getArgNo() >= K.Params.size())
    return std::nullopt;
  return argumentLeaf(A->getArgNo(), static_cast<unsigned>(Offset),
                      Load->getType(), K);
}

MemoryObject objectOf(const Value *Pointer) {
  const Value *Base = getUnderlyingObject(Pointer, /*MaxLookup=*/64);
  if (isa<AllocaInst>(Base))
    return {MemoryObject::Kind::Local, Base};
  if (const auto *A = dyn_cast<Argument>(Base))
    return {A->hasByValAttr() ? MemoryObject::Kind::Argument
                              : MemoryObject::Kind::Global,
            Base};
  if (const auto *G = dyn_cast<GlobalVariable>(Base)) {
    if (G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
      return {MemoryObject::Kind::Shared, Base};
    if (G->isConstant() && G->hasInitializer() && !G->isExternallyInitialized())
      return {MemoryObject::Kind::Table, Base};
  }
  if (Base->getType()->isPointerTy() &&
      Base->getType()->getPointerAddressSpace() ==
          NVPTXAS::ADDRESS_SPACE_SHARED)
    return {MemoryObject::Kind::Shared, Base};
  return {MemoryObject::Kind::Global, Base};
}

const Value *addressIn(const Value &Argument) {
  if (Argument.getType()->isPointerTy())
    return &Argument;
  const auto *Number = dyn_cast<PtrToIntOperator>(&Argument);
  return Number ? Number->getPointerOperand() : nullptr;
}

MathCall mathCallOf(const Value &V) {
  const auto *Call = dyn_cast<CallBase>(&V);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee)
    return MathCall::None;
  switch (Callee->getIntrinsicID()) {
  case Intrinsic::smin:
  case Intrinsic::umin:
  case Intrinsic::minnum:
  case Intrinsic::nvvm_fmin_f:
  case Intrinsic::nvvm_fmin_ftz_f:
  case Intrinsic::nvvm_fmin_d:
    return MathCall::Min;
  case Intrinsic::smax:
  case Intrinsic::umax:
  case Intrinsic::maxnum:
  case Intrinsic::nvvm_fmax_f:
  case Intrinsic::nvvm_fmax_ftz_f:
  case Intrinsic::nvvm_fmax_d:
    return MathCall::Max;
  case Intrinsic::fabs:
  case Intrinsic::nvvm_fabs:
  case Intrinsic::abs:
    return MathCall::Abs;
  default:
    break;
  }
  return StringSwitch<MathCall>(Callee->getName())
      .Cases({"__nv_fabsf", "__nv_fabs", "__nv_abs", "__nv_llabs"},
             MathCall::Abs)
      .Cases({"__nv_fminf", "__nv_fmin", "__nv_min", "__nv_umin", "__nv_llmin",
              "__nv_ullmin"},
             MathCall::Min)
      .Cases({"__nv_fmaxf", "__nv_fmax", "__nv_max", "__nv_umax", "__nv_llmax",
              "__nv_ullmax"},
             MathCall::Max)
      .Default(MathCall::None);
}

std::string sourceOf(const Instruction &I) {
  const DILocation *At = I.getDebugLoc().get();
  const DISubprogram *Own = I.getFunction()->getSubprogram();
  const DILocation *Best = nullptr;
  for (; At; At = At->getInlinedAt()) {
    if (!At->getLine())
      continue;
    Best = At;
    // Code of the toolkit's headers stands for the line that uses it.
    if (!Own || At->getFilename() == Own->getFilename())
      break;
  }
  if (!Best)
    return "";
  return (sys::path::filename(Best->getFilename()) + ":" +
          Twine(Best->getLine()) + ":" + Twine(Best->getColumn()))
      .str();
}

} // namespace cupilot
