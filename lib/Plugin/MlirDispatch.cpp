//===- MlirDispatch.cpp - Launches that choose variants ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gpu.launch_func becomes a chain of scf.if: a variant where the device is
// the one that it was proved for and guard and domain hold, else the next, else
// the original.
//
// Tokens do not pass through regions: gpu-to-llvm takes what comes out of
// control flow for an event, while the token of a launch is a stream. All
// launches of a dispatch therefore go into the stream of one token before it.
// What waits for the dispatch waits for a copy of no bytes behind it in that
// stream; the copy keeps canonicalisation from taking the wait for one of
// nothing.
//
//===----------------------------------------------------------------------===//

#include "MlirDispatch.h"
#include "MlirConditions.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Support/Error.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace cupilot {

static constexpr llvm::StringLiteral HelperName = "__cupilot_capability";
static constexpr llvm::StringLiteral NothingName = "__cupilot_nothing";
/// Of launches that a dispatch holds already.
static constexpr llvm::StringLiteral OriginalAttr = "cupilot.original";

/// Programs may run with either run time, and a missing symbol ends JITs: the
/// functions are asked for by name. Upstream's library tells neither which of
/// several devices it uses nor its capability, but with it the driver's
/// functions are there: all devices must be alike.
static constexpr llvm::StringLiteral HelperText = R"mlir(
llvm.mlir.global internal constant @__cupilot_name_ask("cupilotComputeCapability\00")
llvm.mlir.global internal constant @__cupilot_name_init("cuInit\00")
llvm.mlir.global internal constant @__cupilot_name_count("cuDeviceGetCount\00")
llvm.mlir.global internal constant @__cupilot_name_attribute("cuDeviceGetAttribute\00")
llvm.mlir.global internal @__cupilot_ask() : !llvm.ptr {
  %0 = llvm.mlir.zero : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
llvm.mlir.global internal @__cupilot_alike(-1 : i32) : i32
llvm.func @dlsym(!llvm.ptr, !llvm.ptr) -> !llvm.ptr
// Of all devices, where they have the same; else 0.
llvm.func internal @__cupilot_capability_of_all() -> i32 attributes {no_inline} {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %ten = llvm.mlir.constant(10 : i32) : i32
  %major = llvm.mlir.constant(75 : i32) : i32
  %minor = llvm.mlir.constant(76 : i32) : i32
  %name0 = llvm.mlir.addressof @__cupilot_name_init : !llvm.ptr
  %init = llvm.call @dlsym(%null, %name0) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  %name1 = llvm.mlir.addressof @__cupilot_name_count : !llvm.ptr
  %count = llvm.call @dlsym(%null, %name1) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  %name2 = llvm.mlir.addressof @__cupilot_name_attribute : !llvm.ptr
  %attribute = llvm.call @dlsym(%null, %name2) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  %out = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %zero, %out : i32, !llvm.ptr
  %no0 = llvm.icmp "eq" %init, %null : !llvm.ptr
  %no1 = llvm.icmp "eq" %count, %null : !llvm.ptr
  %no2 = llvm.icmp "eq" %attribute, %null : !llvm.ptr
  %no3 = llvm.or %no0, %no1 : i1
  %no4 = llvm.or %no3, %no2 : i1
  llvm.cond_br %no4, ^unknown, ^begin
^begin:
  %e0 = llvm.call %init(%zero) : !llvm.ptr, (i32) -> i32
  %e1 = llvm.call %count(%out) : !llvm.ptr, (!llvm.ptr) -> i32
  %devices = llvm.load %out : !llvm.ptr -> i32
  llvm.br ^device(%zero, %zero : i32, i32)
^device(%i: i32, %same: i32):
  %more = llvm.icmp "slt" %i, %devices : i32
  llvm.cond_br %more, ^ask, ^done(%same : i32)
^ask:
  %e2 = llvm.call %attribute(%out, %major, %i) : !llvm.ptr, (!llvm.ptr, i32, i32) -> i32
  %high = llvm.load %out : !llvm.ptr -> i32
  %e3 = llvm.call %attribute(%out, %minor, %i) : !llvm.ptr, (!llvm.ptr, i32, i32) -> i32
  %low = llvm.load %out : !llvm.ptr -> i32
  %e4 = llvm.or %e0, %e1 : i32
  %e5 = llvm.or %e2, %e3 : i32
  %e = llvm.or %e4, %e5 : i32
  %tens = llvm.mul %high, %ten : i32
  %this = llvm.add %tens, %low : i32
  %first = llvm.icmp "eq" %i, %zero : i32
  %equal = llvm.icmp "eq" %this, %same : i32
  %fits = llvm.or %first, %equal : i1
  %right = llvm.icmp "eq" %e, %zero : i32
  %fine = llvm.and %fits, %right : i1
  %next = llvm.add %i, %one : i32
  llvm.cond_br %fine, ^device(%next, %this : i32, i32), ^unknown
^unknown:
  llvm.br ^done(%zero : i32)
^done(%result: i32):
  llvm.return %result : i32
}
// The compute capability of the device that launches go to, 90 for 9.0; 0 where
// nobody tells.
llvm.func internal @__cupilot_capability() -> i32 attributes {no_inline} {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %cell = llvm.mlir.addressof @__cupilot_ask : !llvm.ptr
  %alike = llvm.mlir.addressof @__cupilot_alike : !llvm.ptr
  %known = llvm.load %cell atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %have = llvm.icmp "ne" %known, %null : !llvm.ptr
  llvm.cond_br %have, ^call(%known : !llvm.ptr), ^upstream
^upstream:
  %number = llvm.load %alike atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %asked = llvm.icmp "sge" %number, %zero : i32
  llvm.cond_br %asked, ^done(%number : i32), ^find
^find:
  %name = llvm.mlir.addressof @__cupilot_name_ask : !llvm.ptr
  %found = llvm.call @dlsym(%null, %name) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.store %found, %cell atomic monotonic {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  %own = llvm.icmp "ne" %found, %null : !llvm.ptr
  llvm.cond_br %own, ^call(%found : !llvm.ptr), ^all
^all:
  %of = llvm.call @__cupilot_capability_of_all() : () -> i32
  llvm.store %of, %alike atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^done(%of : i32)
^call(%function: !llvm.ptr):
  %told = llvm.call %function() : !llvm.ptr, () -> i32
  llvm.br ^done(%told : i32)
^done(%result: i32):
  llvm.return %result : i32
}
)mlir";

namespace {
/// A launch of the host, in numbers.
class HostNumbers final : public LaunchNumbers {
public:
  explicit HostNumbers(gpu::LaunchFuncOp Launch)
      : Launch(Launch),
        Arguments(launchArguments(Launch.getKernelOperands().getTypes())) {}

  Value dim(ImplicitLocOpBuilder &B, LaunchDim D) const override;
  Value argument(ImplicitLocOpBuilder &B, unsigned Param) const override {
    return emitArgument(B, Arguments[Param], Launch.getKernelOperands());
  }

private:
  mutable gpu::LaunchFuncOp Launch;
  std::vector<LaunchArgument> Arguments;
};
} // namespace

Value HostNumbers::dim(ImplicitLocOpBuilder &B, LaunchDim D) const {
  gpu::KernelDim3 Grid = Launch.getGridSizeOperandValues(),
                  Block = Launch.getBlockSizeOperandValues();
  const std::array<Value, NumLaunchDims> All = {
      Grid.x,
      Grid.y,
      Grid.z,
      Block.x,
      Block.y,
      Block.z,
      Launch.getDynamicSharedMemorySize()};
  Value V = All[D];
  if (!V)
    return arith::ConstantOp::create(B, B.getI64IntegerAttr(0));
  if (V.getType().isIndex())
    return arith::IndexCastOp::create(B, B.getI64Type(), V);
  if (V.getType().isInteger(64))
    return V;
  return arith::ExtSIOp::create(B, B.getI64Type(), V);
}

bool isDispatched(gpu::LaunchFuncOp Launch) {
  return Launch->hasAttr(OriginalAttr);
}

static ModuleOp hostOf(gpu::LaunchFuncOp Launch) {
  return Launch->getParentOfType<ModuleOp>();
}

llvm::Error checkDispatch(gpu::LaunchFuncOp Launch) {
  if (Launch.hasClusterSize())
    return findingError("launches with clusters run the original");
  if (Launch.getAsyncObject())
    return findingError("it is lowered already: run cupilot-apply before "
                        "gpu-to-llvm");
  if (Launch->getParentOfType<LLVM::LLVMFuncOp>())
    return findingError("its host function is lowered already: run "
                        "cupilot-apply before convert-func-to-llvm");
  if (DataLayout::closest(Launch).getTypeSizeInBits(
          IndexType::get(Launch.getContext())) != 64)
    return findingError("'index' has not 64 bits on this host");
  SymbolTable Table(hostOf(Launch));
  Operation *Loader = Table.lookup("dlsym");
  auto Function = dyn_cast_or_null<LLVM::LLVMFuncOp>(Loader);
  if (Loader && (!Function || Function.getNumArguments() != 2))
    return findingError("the module has a symbol 'dlsym' of its own");
  return llvm::Error::success();
}

/// The function that tells the device's capability, made where the module has
/// none.
static LLVM::LLVMFuncOp helperIn(ModuleOp Host) {
  SymbolTable Table(Host);
  if (auto Known = Table.lookup<LLVM::LLVMFuncOp>(HelperName))
    return Known;
  MLIRContext *C = Host.getContext();
  OwningOpRef<ModuleOp> Text = parseSourceString<ModuleOp>(HelperText, C);
  // What is the same for all launches stands at the end.
  for (Operation &Op : llvm::make_early_inc_range(*Text->getBody())) {
    if (Table.lookup(SymbolTable::getSymbolName(&Op)))
      continue; // dlsym, which the program calls, too.
    Op.walk([&](Operation *Inner) { Inner->setLoc(UnknownLoc::get(C)); });
    Op.moveBefore(Host.getBody(), Host.getBody()->end());
  }
  return SymbolTable(Host).lookup<LLVM::LLVMFuncOp>(HelperName);
}

/// A token behind all that is in the stream of \p Token.
static Value behind(ImplicitLocOpBuilder &B, Value Token, ModuleOp Host) {
  auto Type = MemRefType::get({0}, B.getI8Type());
  if (!SymbolTable(Host).lookup(NothingName)) {
    OpBuilder AtEnd = OpBuilder::atBlockEnd(Host.getBody());
    memref::GlobalOp::create(AtEnd, UnknownLoc::get(B.getContext()),
                             NothingName, AtEnd.getStringAttr("private"), Type,
                             AtEnd.getUnitAttr(),
                             /*constant=*/false, /*alignment=*/IntegerAttr());
  }
  Value Nothing = memref::GetGlobalOp::create(B, Type, NothingName);
  return gpu::MemcpyOp::create(B, Token.getType(), ValueRange{Token}, Nothing,
                               Nothing)
      .getAsyncToken();
}

/// The launches of \p V in place of \p Launch, into the stream of \p Before if
/// it is not null.
static void emitLaunches(ImplicitLocOpBuilder &B, gpu::LaunchFuncOp Launch,
                         const AppliedVariant &A, const EmittedConditions &C,
                         Value Before) {
  const LaunchPlan &Plan = A.V->Plan;
  auto TokenType = gpu::AsyncTokenType::get(B.getContext());
  auto Index = [&](Value V) -> Value {
    return arith::IndexCastOp::create(B, B.getIndexType(), V);
  };
  auto Dim3 = [&](const std::array<Value, 3> &V) {
    return gpu::KernelDim3{Index(V[0]), Index(V[1]), Index(V[2])};
  };
  SmallVector<Value> Operands(Launch.getKernelOperands());
  Value Token = Before;
  // Device memory is allocated in a stream.
  const bool OwnStream = !Token && !C.Scratch.empty();
  if (OwnStream)
    Token = gpu::WaitOp::create(B, TokenType, ValueRange()).getAsyncToken();
  SmallVector<Value> Buffers;
  for (Value Bytes : C.Scratch) {
    auto Buffer = gpu::AllocOp::create(
        B, MemRefType::get({ShapedType::kDynamic}, B.getI8Type()), TokenType,
        ValueRange{Token}, ValueRange{Index(Bytes)}, ValueRange());
    Token = Buffer.getAsyncToken();
    Buffers.push_back(Buffer.getMemref());
    Value Address = arith::IndexCastOp::create(
        B, B.getI64Type(),
        memref::ExtractAlignedPointerAsIndexOp::create(B, Buffer.getMemref()));
    Operands.push_back(LLVM::IntToPtrOp::create(
        B, LLVM::LLVMPointerType::get(B.getContext()), Address));
  }
  for (auto [L, E] : llvm::zip_equal(Plan.Launches, C.Launches)) {
    Value Shared;
    if (!(L.Shared == Expr::constant(0)) &&
        (Launch.getDynamicSharedMemorySize() ||
         !(L.Shared == Expr::dim(SharedBytes))))
      Shared = arith::TruncIOp::create(B, B.getI32Type(), E.Shared);
    std::optional<gpu::KernelDim3> Cluster;
    if (E.Cluster)
      Cluster = Dim3(*E.Cluster);
    auto Name =
        SymbolRefAttr::get(Launch.getKernelModuleName(),
                           FlatSymbolRefAttr::get(SymbolTable::getSymbolName(
                               A.Kernels[Plan.indexOf(L)])));
    auto New = gpu::LaunchFuncOp::create(
        B, Name, Dim3(E.Grid), Dim3(E.Block), Shared, Operands,
        Token ? Type(TokenType) : Type(),
        Token ? ValueRange{Token} : ValueRange(), Cluster);
    if (Token)
      Token = New.getAsyncToken();
  }
  for (Value Buffer : Buffers)
    Token = gpu::DeallocOp::create(B, TokenType, ValueRange{Token}, Buffer)
                .getAsyncToken();
  if (OwnStream)
    gpu::WaitOp::create(B, Type(), ValueRange{Token});
}

void dispatch(gpu::LaunchFuncOp Launch, ArrayRef<AppliedVariant> Variants,
              ArrayRef<ScalarRef> Scalars) {
  ModuleOp Host = hostOf(Launch);
  LLVM::LLVMFuncOp Helper = helperIn(Host);
  ImplicitLocOpBuilder B(Launch.getLoc(), Launch);
  Value Before;
  if (Launch.getAsyncToken()) {
    ValueRange Waits = Launch.getAsyncDependencies();
    Before =
        Waits.size() == 1
            ? Waits.front()
            : gpu::WaitOp::create(B, Launch.getAsyncToken().getType(), Waits)
                  .getAsyncToken();
    Launch.getAsyncDependenciesMutable().assign(Before);
  } else if (!Launch.getAsyncDependencies().empty()) {
    gpu::WaitOp::create(B, Type(), Launch.getAsyncDependencies());
    Launch.getAsyncDependenciesMutable().clear();
  }
  Value Capability = LLVM::CallOp::create(B, Helper, ValueRange()).getResult();
  HostNumbers From(Launch);
  scf::IfOp Outermost;
  for (const AppliedVariant &A : Variants) {
    Value Same = arith::CmpIOp::create(
        B, arith::CmpIPredicate::eq, Capability,
        arith::ConstantOp::create(B, B.getI32IntegerAttr(static_cast<int32_t>(
                                         capabilityNumber(A.V->When.Arch)))));
    EmittedConditions C = emitConditions(B, *A.V, Scalars, From);
    auto If = scf::IfOp::create(
        B, arith::AndIOp::create(B, Same, C.Admitted).getResult(),
        /*withElseRegion=*/true);
    if (!Outermost)
      Outermost = If;
    B.setInsertionPointToStart(If.thenBlock());
    emitLaunches(B, Launch, A, C, Before);
    B.setInsertionPointToStart(If.elseBlock());
  }
  if (Before) {
    ImplicitLocOpBuilder After(Launch.getLoc(), B.getContext());
    After.setInsertionPointAfter(Outermost);
    Launch.getAsyncToken().replaceAllUsesWith(behind(After, Before, Host));
  }
  Launch->setAttr(OriginalAttr, B.getUnitAttr());
  Launch->moveBefore(B.getInsertionBlock(), B.getInsertionPoint());
}

} // namespace cupilot
