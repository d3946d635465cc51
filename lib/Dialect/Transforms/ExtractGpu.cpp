//===- ExtractGpu.cpp - GPU kernels of MLIR modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Dialect/GpuSlice.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace cupilot {
#define GEN_PASS_DEF_EXTRACTGPUPASS
#include "cupilot/Dialect/Transforms/Passes.h.inc"
} // namespace cupilot

using namespace mlir;
using namespace cupilot;
using llvm::StringRef;

static unsigned bytesOf(Type T) {
  if (auto Vector = dyn_cast<VectorType>(T))
    return bytesOf(Vector.getElementType()) * Vector.getNumElements();
  return T.isIntOrFloat() ? (T.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

/// Counts as the text has it: loops count once, so the class is a first guess.
static RooflineAttr classify(Operation *Kernel) {
  uint64_t Operations = 0, Bytes = 0, Barriers = 0, Total = 0;
  Kernel->walk([&](Operation *Op) {
    ++Total;
    StringRef Name = Op->getName().getStringRef().split('.').second;
    bool Float =
        Op->getNumResults() == 1 &&
        isa<FloatType>(getElementTypeOrSelf(Op->getResult(0).getType()));
    if (Name == "load" && Op->getNumResults() == 1)
      Bytes += bytesOf(Op->getResult(0).getType());
    else if (Name == "store" && Op->getNumOperands() > 0)
      Bytes += bytesOf(Op->getOperand(0).getType());
    else if (Name.contains("barrier"))
      ++Barriers;
    else if (Name.contains("fma") || Name.contains("mma"))
      Operations += 2;
    else if (Float && (Name.starts_with("fadd") || Name.starts_with("fsub") ||
                       Name.starts_with("fmul") || Name.starts_with("fdiv") ||
                       Name.starts_with("add") || Name.starts_with("mul") ||
                       Name.starts_with("sub") || Name.starts_with("div") ||
                       Name.starts_with("exp") || Name.starts_with("call")))
      ++Operations;
  });
  double Intensity = Bytes ? double(Operations) / Bytes : double(Operations);
  // An H200 has 12 float32 operations for each byte from DRAM; where a kernel
  // lies within a factor of two of that, nothing static can decide.
  BottleneckKind Kind = BottleneckKind::Middle;
  if (Operations + Bytes == 0 || (Barriers * 8 > Total))
    Kind = BottleneckKind::Latency;
  else if (Intensity < 6)
    Kind = BottleneckKind::Memory;
  else if (Intensity > 24)
    Kind = BottleneckKind::Compute;
  Builder B(Kernel->getContext());
  return RooflineAttr::get(Kernel->getContext(), Kind, BasisKind::Static,
                           B.getF64FloatAttr(Intensity));
}

namespace {
struct ExtractGpu : cupilot::impl::ExtractGpuPassBase<ExtractGpu> {
  void runOnOperation() override {
    OpBuilder B(&getContext());
    B.setInsertionPointToEnd(getOperation().getBody());
    for (const auto &[Op, K] : describeGpuKernels(getOperation()))
      addKernel(B, K, "").setRooflineAttr(classify(Op));
  }
};
} // namespace
