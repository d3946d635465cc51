//===- PtxSource.cpp - What PTX says of its source --------------- -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who only has PTX knows of its arguments how many bytes they have. What is an
// address, and what is a float, the code shows: an argument that accesses to
// memory start from without a factor, and one that only floats are made of.
//
// A float64 run of such code is a reference as long as bits of floats are only
// moved. A compiler that has put in its mathematical functions takes numbers
// apart by their bits, and adds constants that only round in float32.
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/PtxSource.h"
#include "PtxModule.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "cupilot/Ptx/Reach.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "cupilot/Support/ReadPtx.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

//===----------------------------------------------------------------------===//
// Types of arguments
//===----------------------------------------------------------------------===//

/// Adds to \p Found the arguments that the address \p V is made of, each as it
/// is: an offset has been multiplied.
static void collectTerms(Value *V, SmallPtrSetImpl<Argument *> &Found) {
  SmallVector<Value *> Work = {V};
  SmallPtrSet<Value *, 16> Seen;
  while (!Work.empty()) {
    Value *Each = Work.pop_back_val();
    if (!Seen.insert(Each).second)
      continue;
    if (auto *A = dyn_cast<Argument>(Each)) {
      Found.insert(A);
      continue;
    }
    auto *I = dyn_cast<Instruction>(Each);
    if (!I)
      continue;
    switch (I->getOpcode()) {
    case Instruction::Add:
    case Instruction::PHI:
      append_range(Work, I->operands());
      break;
    case Instruction::Select:
      Work.push_back(I->getOperand(1));
      Work.push_back(I->getOperand(2));
      break;
    case Instruction::Sub:
    case Instruction::IntToPtr:
    case Instruction::PtrToInt:
    case Instruction::AddrSpaceCast:
    case Instruction::GetElementPtr:
      Work.push_back(I->getOperand(0));
      break;
    case Instruction::Or: // A sum whose terms have no bit in common.
      if (cast<PossiblyDisjointInst>(I)->isDisjoint())
        append_range(Work, I->operands());
      break;
    default:
      break;
    }
  }
}

/// The arguments of 64 bits that are pointers.
static SmallPtrSet<Argument *, 8> pointersOf(Function &F) {
  SmallPtrSet<Argument *, 8> Pointers;
  auto Add = [&](Value *Address) {
    SmallPtrSet<Argument *, 8> Terms;
    collectTerms(Address, Terms);
    Terms.remove_if([](Argument *A) {
      return A->getType()->isPointerTy() || !A->getType()->isIntegerTy(64);
    });
    // Of two, one is an offset.
    if (Terms.size() == 1)
      Pointers.insert(*Terms.begin());
  };
  for (Instruction &I : instructions(F)) {
    if (isa<IntToPtrInst>(I))
      Add(I.getOperand(0));
    if (auto *Call = dyn_cast<CallBase>(&I); Call && isDeviceOp(*Call))
      for (Value *Operand : Call->args())
        if (Operand->getType()->isIntegerTy(64))
          Add(Operand);
  }
  return Pointers;
}

/// The float that all uses of \p A make of its bits; null for none.
static Type *floatOf(const Argument &A) {
  Type *Found = nullptr;
  for (const User *U : A.users()) {
    const auto *Cast = dyn_cast<BitCastInst>(U);
    if (!Cast || !Cast->getType()->isFloatingPointTy() ||
        (Found && Found != Cast->getType()))
      return nullptr;
    Found = Cast->getType();
  }
  return Found;
}

/// \p F with arguments of the types that its code shows.
static Function *withTypes(Function &F) {
  SmallPtrSet<Argument *, 8> Pointers = pointersOf(F);
  SmallVector<Type *> Types;
  for (Argument &A : F.args()) {
    Type *Float = A.getType()->isIntegerTy() ? floatOf(A) : nullptr;
    Types.push_back(Pointers.contains(&A) ? PointerType::get(F.getContext(), 0)
                    : Float               ? Float
                                          : A.getType());
  }
  auto *G = Function::Create(FunctionType::get(F.getReturnType(), Types, false),
                             F.getLinkage(), "", F.getParent());
  G->takeName(&F);
  G->copyAttributesFrom(&F);
  G->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  G->splice(G->begin(), &F);
  IRBuilder<> B(&G->getEntryBlock(), G->getEntryBlock().begin());
  for (auto [Old, New] : zip(F.args(), G->args())) {
    Value *Bits = &New;
    if (New.getType() != Old.getType())
      Bits = New.getType()->isPointerTy()
                 ? B.CreatePtrToInt(&New, Old.getType())
                 : B.CreateBitCast(&New, Old.getType());
    Old.replaceAllUsesWith(Bits);
  }
  F.eraseFromParent();
  return G;
}

//===----------------------------------------------------------------------===//
// Bits of floats
//===----------------------------------------------------------------------===//

static bool isShortFloat(const Type *T) {
  const Type *Scalar = T->getScalarType();
  return Scalar->isFloatTy() || Scalar->isHalfTy() || Scalar->isBFloatTy();
}

/// Whether \p I hands the bits of a float on, whole.
static bool movesBits(const Instruction &I) {
  const APInt *By = nullptr;
  if (isa<CastInst, PHINode, SelectInst, FreezeInst, StoreInst, ReturnInst,
          ExtractElementInst, InsertElementInst, ShuffleVectorInst,
          ExtractValueInst, InsertValueInst, AtomicRMWInst>(I))
    return !isa<SIToFPInst, UIToFPInst, IntToPtrInst>(I);
  if (match(&I, m_Shift(m_Value(), m_APInt(By))))
    return By->urem(8) == 0;
  // Two of 16 bits in a word.
  if (match(&I, m_And(m_Value(), m_APInt(By))))
    return *By == 0xffff || *By == 0xffff0000u;
  if (const auto *Sum = dyn_cast<PossiblyDisjointInst>(&I))
    return Sum->isDisjoint();
  // Shuffles and products of matrices; numbers are not counted there.
  const auto *Call = dyn_cast<CallInst>(&I);
  return Call && !isa<MinMaxIntrinsic>(I);
}

/// The instruction that computes with the bits of a float narrower than
/// float64, if there is one.
static const Instruction *computesWithBits(const Function &F) {
  SmallVector<const Instruction *> Work;
  SmallPtrSet<const Instruction *, 32> Seen;
  for (const Instruction &I : instructions(F))
    if (isa<BitCastInst>(I) && isShortFloat(I.getOperand(0)->getType()) &&
        !isShortFloat(I.getType()))
      Work.push_back(&I);
  while (!Work.empty()) {
    const Instruction *I = Work.pop_back_val();
    if (!Seen.insert(I).second)
      continue;
    for (const User *U : I->users()) {
      const auto *Use = cast<Instruction>(U);
      if (!movesBits(*Use))
        return Use;
      // What a call makes of them is its own.
      if (!Use->getType()->isFPOrFPVectorTy() && !isa<CallInst>(Use))
        Work.push_back(Use);
    }
  }
  return nullptr;
}

static std::string noFloat64(const Function &F) {
  const Instruction *I = computesWithBits(F);
  if (!I)
    return "";
  std::string Place;
  if (const DebugLoc &At = I->getDebugLoc(); At && At.getLine())
    Place = ", at " + At->getFilename().str() + ":" + utostr(At.getLine());
  return "its PTX computes with the bits of floats" + Place;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static void inlineCalls(Module &M) {
  for (Function &F : M)
    if (!F.isDeclaration() && F.getCallingConv() != CallingConv::PTX_Kernel) {
      F.setLinkage(GlobalValue::InternalLinkage);
      F.addFnAttr(Attribute::AlwaysInline);
    }
  ModulePassManager Passes;
  Passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  Passes.addPass(GlobalDCEPass());
  FunctionPassManager Each;
  Each.addPass(SROAPass(SROAOptions::PreserveCFG));
  Passes.addPass(createModuleToFunctionPassAdaptor(std::move(Each)));
  Pipeline().run(std::move(Passes), M);
}

/// What joins registers of which one holds a float becomes a float, so that
/// the float64 run follows it around loops.
static void typePhis(Function &F) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Phi = dyn_cast<PHINode>(&I);
      if (!Phi || !Phi->getType()->isIntegerTy())
        continue;
      Type *Float = nullptr;
      for (Value *V : Phi->incoming_values())
        if (auto *Cast = dyn_cast<BitCastInst>(V);
            Cast && isShortFloat(Cast->getSrcTy()))
          Float = Cast->getSrcTy();
      if (!Float)
        continue;
      IRBuilder<> B(Phi);
      PHINode *Typed = B.CreatePHI(Float, Phi->getNumIncomingValues());
      for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks())) {
        B.SetInsertPoint(From->getTerminator());
        Typed->addIncoming(B.CreateBitCast(V, Float), From);
      }
      B.SetInsertPoint(Phi->getParent(),
                       Phi->getParent()->getFirstInsertionPt());
      Phi->replaceAllUsesWith(B.CreateBitCast(Typed, Phi->getType()));
      Phi->eraseFromParent();
      Changed = true;
    }
  }
}

/// Registers that hold floats alone become floats.
static void combineTypes(Module &M) {
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(InstCombinePass()));
  Pipeline().run(std::move(Passes), M);
}

Expected<PtxSource> sourceOfPtx(StringRef Ptx, StringRef Kernel) {
  Expected<ptx::Module> Read = readPtx(Ptx.str());
  if (!Read)
    return Read.takeError();
  const ptx::Function *Is = Read->function(std::string_view(Kernel));
  if (!Is || !Is->IsKernel || !Is->HasBody)
    return usageError("the PTX has no kernel '" + Kernel + "'",
                      "'cupilot ptx' lists those of a file");
  std::vector<std::string_view> Reached = ptx::reachOf(*Read, Is->Name);
  std::unordered_set<std::string_view> Only(Reached.begin(), Reached.end());
  LLVMContext Context;
  std::vector<PtxLack> Lacks;
  Expected<std::unique_ptr<Module>> Made =
      loweredPtx(*Read, Context, Lacks, &Only, /*AsSource=*/true);
  if (!Made)
    return Made.takeError();
  Module &M = **Made;
  if (!Lacks.empty())
    return findingError("the cpu device cannot run '" + Kernel + "': it has " +
                            Lacks.front().What + " at line " +
                            Twine(Lacks.front().Line) + " of the PTX",
                        "docs/CpuDevice.md lists what it knows");
  inlineCalls(M);
  Function *F = withTypes(*M.getFunction(Kernel));
  recoverPointers(*F, /*OfArguments=*/true);
  typePhis(*F);
  combineTypes(M);
  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(M, &OS))
    return createStringError(
        "the types of PTX are broken, which is a fault of cupilot: " + Broken);
  PtxSource Result;
  Result.NoFloat64 = noFloat64(*F);
  raw_string_ostream Bytes(Result.Bitcode);
  WriteBitcodeToFile(M, Bytes);
  return Result;
}

} // namespace cupilot
