//===- StaticFigures.cpp - What code alone says of its bounds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/StaticFigures.h"
#include "LaneStride.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/DeviceCost.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <set>

using namespace llvm;

namespace cupilot {

std::optional<double> LoopFigures::intensity() const {
  if (!(Bytes > 0))
    return std::nullopt;
  return (Fp32 + Fp64 + Fp16) / Bytes;
}

namespace {
/// NVPTX: "Address Spaces".
enum : unsigned { SharedSpace = 3, ConstantSpace = 4, LocalSpace = 5 };

class Reader {
public:
  Reader(Function &F)
      : F(F), Dominators(F), Loops(Dominators), Assumptions(F),
        LibraryImpl(F.getParent()->getTargetTriple()), Library(LibraryImpl),
        Evolution(F, Library, Assumptions, Dominators, Loops),
        Strides(F.getDataLayout()) {}
  StaticFigures run();

private:
  void visit(Instruction &I, const Loop *L, LoopFigures &To);
  void visitCall(CallBase &Call, LoopFigures &To);
  void addCost(const Instruction &I, LoopFigures &To);
  void access(Instruction &I, const Value *Pointer, Type *T, const Loop *L,
              LoopFigures &To);
  bool isOrdered(const Loop &L) const;

  Function &F;
  DominatorTree Dominators;
  LoopInfo Loops;
  AssumptionCache Assumptions;
  TargetLibraryInfoImpl LibraryImpl;
  TargetLibraryInfo Library;
  ScalarEvolution Evolution;
  LaneStrides Strides;
  /// Arrays that a loop has touched with a stride: neighbours of a point share
  /// their sectors.
  std::set<std::tuple<const LoopFigures *, const Value *, bool, int, int64_t>>
      Seen;
  std::set<std::string> Unknown;
};
} // namespace

/// Whether all arithmetic of the loop is one chain: each turn waits for it.
bool Reader::isOrdered(const Loop &L) const {
  unsigned Chains = 0;
  for (const PHINode &Phi : L.getHeader()->phis())
    Chains += Phi.getType()->isFloatingPointTy();
  return Chains == 1;
}

void Reader::access(Instruction &I, const Value *Pointer, Type *T,
                    const Loop *L, LoopFigures &To) {
  const Value *Base = getUnderlyingObject(Pointer, 32);
  unsigned Space = Pointer->getType()->getPointerAddressSpace();
  if (const auto *G = dyn_cast<GlobalVariable>(Base))
    Space = G->getAddressSpace();
  uint64_t Size = F.getDataLayout().getTypeStoreSize(T).getFixedValue();
  if (Space == LocalSpace || isa<AllocaInst>(Base) || Space == ConstantSpace)
    return;
  if (Space == SharedSpace) {
    To.SharedBytes += 32.0 * double(Size);
    return;
  }
  Lane Address = Strides.of(Pointer);
  bool Store = I.mayWriteToMemory();
  if (Store && Address.K == Lane::Kind::Grid)
    Address.K = Lane::Kind::Block;
  if (Address.K == Lane::Kind::Irregular) {
    ++To.Scattered;
    Unknown.insert("where data decides the address: counted as scattered");
  }
  if (Address.K == Lane::Kind::Grid)
    Unknown.insert("what all threads read alike: counted as cached");
  double Bytes = warpBytes(Address, Size);
  // A thread that walks along memory uses each sector several times.
  if (L && Address.K == Lane::Kind::Linear)
    if (const auto *Step = dyn_cast<SCEVAddRecExpr>(
            Evolution.getSCEV(const_cast<Value *>(Pointer)));
        Step && Step->getLoop() == L)
      if (const auto *C =
              dyn_cast<SCEVConstant>(Step->getStepRecurrence(Evolution)))
        Bytes = std::min(
            Bytes,
            32 * std::max(double(Size),
                          std::abs(double(C->getAPInt().getSExtValue()))));
  if (Address.K == Lane::Kind::Linear &&
      !Seen.insert({&To, Base, Store, int(Address.K), Address.Stride}).second)
    return;
  To.Bytes += Bytes;
}

void Reader::visitCall(CallBase &Call, LoopFigures &To) {
  const Function *Callee = Call.getCalledFunction();
  StringRef Name = Callee ? Callee->getName() : "";
  if (Name.contains("barrier")) {
    ++To.Barriers;
  } else if (Name.contains("mma")) {
    // m16n16k16 and the like: a few thousand operations a warp.
    unsigned M = 0, N = 0, K = 0;
    StringRef Rest = Name.substr(Name.find(".m") + 2);
    if (!Rest.consumeInteger(10, M) && Rest.consume_front("n") &&
        !Rest.consumeInteger(10, N) && Rest.consume_front("k") &&
        !Rest.consumeInteger(10, K) && Name.contains(".mma"))
      To.Tensor += 2.0 * M * N * K;
  } else if (Call.isInlineAsm()) {
    Unknown.insert("inline assembly");
  } else {
    if (!Name.starts_with("llvm."))
      Unknown.insert("calls that stay calls");
    return addCost(Call, To);
  }
  ++To.Instructions;
}

void Reader::addCost(const Instruction &I, LoopFigures &To) {
  DeviceCost Cost = deviceCost(I);
  To.Fp32 += 32.0 * Cost.Fp32;
  To.Fp64 += 32.0 * Cost.Fp64;
  To.Fp16 += 32.0 * Cost.Fp16;
  // Conversions are as fast as operations on integers.
  To.Integer += 32.0 * (Cost.Integer + Cost.Conversion);
  To.Special += 32.0 * Cost.Special;
  To.Instructions += Cost.total();
}

void Reader::visit(Instruction &I, const Loop *L, LoopFigures &To) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return visitCall(*Call, To);
  addCost(I, To);
  if (isa<LoadInst>(I)) {
    To.DependentLoads += followsItself(I);
    access(I, getLoadStorePointerOperand(&I), I.getType(), L, To);
  } else if (isa<StoreInst>(I)) {
    access(I, getLoadStorePointerOperand(&I), I.getOperand(0)->getType(), L,
           To);
  } else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I)) {
    const Value *Pointer = I.getOperand(0);
    ++To.Atomics;
    To.HotAtomics += Strides.of(Pointer).K == Lane::Kind::Grid;
    access(I, Pointer, I.getOperand(1)->getType(), L, To);
  }
}

StaticFigures Reader::run() {
  StaticFigures Result;
  SmallVector<Loop *> Order = Loops.getLoopsInPreorder();
  Result.Loops.resize(Order.size() + 1);
  Result.Loops.front().Where = "outside of loops";
  DenseMap<const Loop *, size_t> Place;
  for (auto [I, L] : enumerate(Order)) {
    LoopFigures &Figures = Result.Loops[I + 1];
    Place[L] = I + 1;
    Figures.Depth = L->getLoopDepth();
    Figures.Where = "loop " + std::to_string(I + 1);
    if (DebugLoc Loc = L->getStartLoc())
      Figures.Where += " (line " + std::to_string(Loc.getLine()) + ")";
    if (unsigned Turns = Evolution.getSmallConstantTripCount(L))
      Figures.Turns = Turns;
    else
      Unknown.insert("how often loops turn");
    Figures.Ordered = isOrdered(*L);
  }
  for (BasicBlock &BB : F) {
    const Loop *L = Loops.getLoopFor(&BB);
    for (Instruction &I : BB)
      visit(I, L, Result.Loops[L ? Place[L] : 0]);
  }
  Result.Unknown.assign(Unknown.begin(), Unknown.end());
  return Result;
}

Expected<StaticFigures> staticFigures(StringRef Bitcode, StringRef Symbol) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  Function *F = (*M)->getFunction(Symbol);
  if (!F || F->isDeclaration())
    return usageError("the device code has no kernel '" + Symbol + "'");
  PipelineTuningOptions Tuning;
  // One turn of a loop is what is looked at.
  Tuning.LoopUnrolling = Tuning.LoopVectorization = Tuning.SLPVectorization =
      false;
  Pipeline Optimizer(nullptr, Tuning);
  Optimizer.run(Optimizer.level(OptimizationLevel::O2), **M);
  return Reader(*F).run();
}

} // namespace cupilot
