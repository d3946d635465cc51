//===- MlirBranch.cpp - Kernels that choose variants ------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where no host code is at hand, the kernel itself chooses: all threads of a
// launch see the same numbers, so that they go the same way.
//
//===----------------------------------------------------------------------===//

#include "MlirConditions.h"
#include "MlirVariants.h"
#include "cupilot/Support/Error.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace cupilot {

namespace {
/// A launch as its own threads see it.
class DeviceNumbers final : public LaunchNumbers {
public:
  explicit DeviceNumbers(FunctionOpInterface Kernel)
      : Kernel(Kernel), Arguments(launchArguments(Kernel.getArgumentTypes())) {}

  Value dim(ImplicitLocOpBuilder &B, LaunchDim D) const override {
    Value V;
    if (D == SharedBytes)
      V = NVVM::DynamicSmemSize::create(B, B.getI32Type());
    else if (isa<gpu::GPUFuncOp>(Kernel.getOperation()))
      V = fromGpu(B, D);
    else
      V = fromNvvm(B, D);
    if (V.getType().isIndex())
      return arith::IndexCastOp::create(B, B.getI64Type(), V);
    return arith::ExtUIOp::create(B, B.getI64Type(), V);
  }
  Value argument(ImplicitLocOpBuilder &B, unsigned Param) const override {
    return emitArgument(B, Arguments[Param], Kernel.getArguments());
  }

private:
  static Value fromGpu(ImplicitLocOpBuilder &B, LaunchDim D) {
    const gpu::Dimension Axes[] = {gpu::Dimension::x, gpu::Dimension::y,
                                   gpu::Dimension::z};
    if (D < BlockX)
      return gpu::GridDimOp::create(B, Axes[D - GridX]);
    return gpu::BlockDimOp::create(B, Axes[D - BlockX]);
  }
  static Value fromNvvm(ImplicitLocOpBuilder &B, LaunchDim D) {
    Type T = B.getI32Type();
    switch (D) {
    case GridX:
      return NVVM::GridDimXOp::create(B, T);
    case GridY:
      return NVVM::GridDimYOp::create(B, T);
    case GridZ:
      return NVVM::GridDimZOp::create(B, T);
    case BlockX:
      return NVVM::BlockDimXOp::create(B, T);
    case BlockY:
      return NVVM::BlockDimYOp::create(B, T);
    default:
      return NVVM::BlockDimZOp::create(B, T);
    }
  }

  mutable FunctionOpInterface Kernel;
  std::vector<LaunchArgument> Arguments;
};
} // namespace

/// Attributes that say how a function is launched and compiled are of both
/// bodies then.
static bool haveSameAttributes(Operation *A, Operation *B) {
  auto Rest = [](Operation *Op) {
    NamedAttrList All(Op->getAttrDictionary());
    for (StringRef Own : {"sym_name", "function_type", "arg_attrs", "res_attrs",
                          "linkage", "sym_visibility", "visibility_",
                          "dso_local", "comdat", "workgroup_attributions",
                          "workgroup_attrib_attrs", "private_attrib_attrs"})
      All.erase(Own);
    return All.getDictionary(Op->getContext());
  };
  return Rest(A) == Rest(B);
}

/// Stack memory of fixed size is the function's where it stands in its first
/// block: elsewhere it would be allocated anew.
static void hoistAllocas(Block &From, Block &To) {
  for (Operation &Op : llvm::make_early_inc_range(From)) {
    auto Memory = dyn_cast<LLVM::AllocaOp>(Op);
    Operation *Size = Memory ? Memory.getArraySize().getDefiningOp() : nullptr;
    if (Size && matchPattern(Size, m_Constant()))
      Size->moveBefore(&To, To.end());
    else if (!isa<memref::AllocaOp>(Op) || Op.getNumOperands())
      continue;
    Op.moveBefore(&To, To.end());
  }
}

/// Turns the choice in \p Kernel, which is lowered, into its dialect.
static llvm::Error lowerChoice(LLVM::LLVMFuncOp Kernel) {
  MLIRContext *C = Kernel.getContext();
  LLVMTypeConverter Types(C);
  RewritePatternSet Patterns(C);
  populateSCFToControlFlowConversionPatterns(Patterns);
  arith::populateArithToLLVMConversionPatterns(Types, Patterns);
  cf::populateControlFlowToLLVMConversionPatterns(Types, Patterns);
  ConversionTarget Target(*C);
  Target.addIllegalDialect<arith::ArithDialect, scf::SCFDialect,
                           cf::ControlFlowDialect>();
  Target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(Kernel, Target, std::move(Patterns))))
    return findingError("its conditions cannot be lowered");
  return llvm::Error::success();
}

llvm::Error branchInKernel(Operation *Kernel, Operation *Variant,
                           const BuildVariant &V, ArrayRef<ScalarRef> Scalars) {
  auto Original = cast<FunctionOpInterface>(Kernel);
  if (Kernel->getName() != Variant->getName())
    return findingError("it is compiled from CUDA C++, and the kernel is not "
                        "lowered: without a launch in the module, run "
                        "cupilot-apply behind convert-gpu-to-nvvm");
  if (llvm::Error E = checkConditions(V, Scalars, Original.getArgumentTypes()))
    return E;
  if (!haveSameAttributes(Kernel, Variant))
    return findingError("its attributes differ from the kernel's, and both are "
                        "one function without a launch in the module");
  llvm::Expected<Operation *> Added =
      addBeside(Kernel, Variant, V.Name, /*Extra=*/0);
  if (!Added)
    return Added.takeError();
  auto Copy = cast<FunctionOpInterface>(*Added);
  Region &Body = Original.getFunctionBody(), &Other = Copy.getFunctionBody();
  Block &Entry = Body.front(), &Theirs = Other.front();
  Block *Ours = Entry.splitBlock(Entry.begin());
  std::vector<Value> Values(Original.getArguments().begin(),
                            Original.getArguments().end());
  if (auto From = dyn_cast<gpu::GPUFuncOp>(*Added)) {
    auto To = cast<gpu::GPUFuncOp>(Kernel);
    for (BlockArgument A : From.getWorkgroupAttributions())
      Values.push_back(To.addWorkgroupAttribution(A.getType(), A.getLoc()));
    for (BlockArgument A : From.getPrivateAttributions())
      Values.push_back(To.addPrivateAttribution(A.getType(), A.getLoc()));
  }
  for (auto [Old, New] : llvm::zip_equal(Theirs.getArguments(), Values))
    Old.replaceAllUsesWith(New);
  Theirs.eraseArguments(0, Theirs.getNumArguments());
  Body.getBlocks().splice(Body.end(), Other.getBlocks());
  hoistAllocas(*Ours, Entry);
  hoistAllocas(Theirs, Entry);
  ImplicitLocOpBuilder B(Kernel->getLoc(), Kernel->getContext());
  B.setInsertionPointToEnd(&Entry);
  // The launch is there: it was legal.
  BuildVariant Conditions = V;
  Conditions.Plan.Launches.clear();
  Value Admitted =
      emitConditions(B, Conditions, Scalars, DeviceNumbers(Original)).Admitted;
  (*Added)->erase();
  auto Lowered = dyn_cast<LLVM::LLVMFuncOp>(Kernel);
  if (!Lowered) {
    cf::CondBranchOp::create(B, Admitted, &Theirs, ValueRange(), Ours,
                             ValueRange());
    return llvm::Error::success();
  }
  LLVM::CondBrOp::create(B, Admitted, &Theirs, ValueRange(), Ours,
                         ValueRange());
  return lowerChoice(Lowered);
}

} // namespace cupilot
