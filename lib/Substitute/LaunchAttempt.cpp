//===- LaunchAttempt.cpp - One variant at a launch
//-------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchAttempt.h"

using namespace llvm;

namespace cupilot {

/// A launch that fails after another of its plan was made could leave half of
/// a result. So what the first would find out is asked for the others before.
Value *LaunchAttempt::laterLaunchesFit(Value *Device) {
  Value *Fit = B.getTrue();
  for (auto [Each, Shape] :
       drop_begin(zip_equal(L.V.Plan.Launches, Plan.Launches))) {
    Value *Threads = B.CreateMul(B.CreateMul(Shape.Block[0], Shape.Block[1]),
                                 Shape.Block[2]);
    Fit =
        B.CreateAnd(Fit, Runtime.emitFits(B, L.Handles[L.V.Plan.indexOf(Each)],
                                          Device, Threads, Shape.Shared));
  }
  return Fit;
}

/// Tensor maps, then one allocation for all scratch buffers.
void LaunchAttempt::allocate(Value *Device, BasicBlock *After) {
  for (auto [Map, Numbers] : zip_equal(L.V.Plan.TensorMaps, Plan.TensorMaps)) {
    Maps.push_back(Runtime.emitTensorMap(B, Map, Numbers));
    unless(B.CreateIsNotNull(Maps.back()), After, "mapped");
  }
  if (Plan.Scratch.empty())
    return;
  Value *Total = B.getInt64(0);
  for (Value *Bytes : Plan.Scratch)
    Total = B.CreateAdd(
        Total, B.CreateAnd(B.CreateAdd(Bytes, B.getInt64(ScratchAlignment - 1)),
                           B.getInt64(-int64_t(ScratchAlignment))));
  Scratch =
      Runtime.emitAllocate(B, Total, Code.stream(), Device, Code.suffix());
  unless(B.CreateIsNotNull(Scratch), After, "allocated");
}

/// The argument array of the variant's kernels.
Value *LaunchAttempt::arguments() {
  unsigned Own = L.Params, Extra = L.V.Plan.extraParams(), I = 0;
  if (!Extra)
    return Values.Args;
  Value *Array = Code.local(8 * (Own + Extra));
  auto Slot = [&](unsigned Index) { return Code.at(Array, 8 * Index); };
  B.CreateMemCpy(Array, Align(8), Values.Args, Align(8), 8 * Own);
  Value *Next = Scratch;
  for (Value *Bytes : Plan.Scratch) {
    Value *Pointer = Code.local(8);
    B.CreateStore(Next, Pointer);
    B.CreateStore(Pointer, Slot(Own + I++));
    Value *Size =
        B.CreateAnd(B.CreateAdd(Bytes, B.getInt64(ScratchAlignment - 1)),
                    B.getInt64(-int64_t(ScratchAlignment)));
    Next = B.CreateInBoundsGEP(B.getInt8Ty(), Next, Size);
  }
  for (Value *Map : Maps)
    B.CreateStore(Map, Slot(Own + I++));
  return Array;
}

void LaunchAttempt::emit(Value *Device, BasicBlock *Original,
                         BasicBlock *After) {
  unless(emitGuard(B, L.V.When, L.V.Plan, L.Scalars, Values, Plan), After,
         "admitted");
  unless(Runtime.emitReady(B, L.State, L.Handles, Device), After, "ready");
  if (Plan.Launches.size() > 1)
    unless(laterLaunchesFit(Device), After, "fits");
  unless(B.CreateNot(Runtime.emitCapturing(B, Code.stream(), Code.suffix())),
         Original, "free");
  allocate(Device, After);
  Value *Args = arguments();
  auto Give = [&] {
    if (Scratch)
      Runtime.emitFree(B, Scratch, Code.stream(), Code.suffix());
  };
  BasicBlock *Broken = nullptr;
  PHINode *Error = nullptr;
  for (auto [Index, Each] : enumerate(L.V.Plan.Launches)) {
    const HandleState &H = L.Handles[L.V.Plan.indexOf(Each)];
    CallInst *Status = Code.launch(H.Handle, Plan.Launches[Index], Args);
    Value *Ok = B.CreateICmpEQ(Status, B.getInt32(0));
    if (Index == 0) {
      BasicBlock *Failed = Code.block("failed");
      unless(Ok, Failed, "launched");
      // A variant that cannot be launched leaves no trace.
      IRBuilder<>::InsertPointGuard Guard(B);
      B.SetInsertPoint(Failed);
      Runtime.emitClearError(B);
      Give();
      B.CreateBr(After);
      continue;
    }
    if (!Broken) {
      // What the others have done is done: the error is the program's.
      Broken = Code.block("broken");
      IRBuilder<>::InsertPointGuard Guard(B);
      B.SetInsertPoint(Broken);
      Error = B.CreatePHI(B.getInt32Ty(), 1);
      Give();
      B.CreateRet(Error);
    }
    Error->addIncoming(Status, B.GetInsertBlock());
    unless(Ok, Broken, "launched");
  }
  Give();
  Runtime.emitCount(B, L.State.Count);
  B.CreateRet(B.getInt32(0));
}

} // namespace cupilot
