//===- MlirLaunchRules.cpp - Rules for blocks of MLIR kernels ---*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of another size run the original's threads: each works out which
// thread of which block it was. LLVM folds that away where the kernel joins
// both to an index of its own.
//
//===----------------------------------------------------------------------===//

#include "MlirRewrite.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using llvm::StringRef;

namespace cupilot {

static const gpu::Dimension Dims[] = {gpu::Dimension::x, gpu::Dimension::y,
                                      gpu::Dimension::z};

namespace {
/// What a kernel does with the other threads of its block.
struct TeamWork {
  Operation *Lanes = nullptr;  ///< Of its warp.
  Operation *Block = nullptr;  ///< Barriers, or work of the whole block.
  Operation *Inner = nullptr;  ///< A barrier that is not at the top level.
  Operation *Shared = nullptr; ///< Dynamic shared memory.
  Operation *Other = nullptr;  ///< Clusters, and what nobody knows.
};
} // namespace

static TeamWork teamWork(gpu::GPUFuncOp F) {
  TeamWork T;
  F.walk([&](Operation *Op) {
    if (isa<gpu::BarrierOp>(Op)) {
      T.Block = Op;
      if (Op->getParentOp() != F)
        T.Inner = Op;
    } else if (isa<gpu::AllReduceOp, gpu::SubgroupIdOp, gpu::NumSubgroupsOp>(
                   Op)) {
      T.Block = T.Inner = Op;
    } else if (isa<gpu::ShuffleOp, gpu::RotateOp, gpu::LaneIdOp,
                   gpu::SubgroupSizeOp, gpu::SubgroupReduceOp>(Op)) {
      T.Lanes = Op;
    } else if (isa<gpu::DynamicSharedMemoryOp>(Op)) {
      T.Shared = Op;
    } else if (isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::BlockDimOp,
                   gpu::GridDimOp, gpu::GlobalIdOp, gpu::ReturnOp>(Op)) {
      // Their use is what rules rewrite.
    } else if (StringRef Dialect = Op->getName().getDialectNamespace();
               Dialect != "arith" && Dialect != "math" && Dialect != "memref" &&
               Dialect != "scf" && Dialect != "vector" && Op != F) {
      T.Other = Op;
    }
  });
  return T;
}

static std::string nameOf(Operation *Op) {
  return "'" + Op->getName().getStringRef().str() + "'";
}

/// Sizes that a gene names; nothing for dimensions that stay.
static std::array<std::optional<int64_t>, 3> sizesOf(const Gene &G) {
  std::array<std::optional<int64_t>, 3> Sizes;
  if (int64_t Size = geneNumber(G, "x"))
    Sizes[0] = Size;
  if (int64_t Size = geneNumber(G, "y"))
    Sizes[1] = Size;
  return Sizes;
}

/// Gives the reads of dimension \p Dim, where blocks of \p Old threads become
/// such of \p New, their meaning.
static void renumber(MlirRewrite &R, unsigned Dim, int64_t Old, int64_t New) {
  const gpu::Dimension D = Dims[Dim];
  auto Blocks = R.reads<gpu::BlockIdOp>(D);
  auto Threads = R.reads<gpu::ThreadIdOp>(D);
  auto Sizes = R.reads<gpu::BlockDimOp>(D);
  auto Grids = R.reads<gpu::GridDimOp>(D);
  OpBuilder B = R.atBegin();
  Location At = R.F.getLoc();
  auto Constant = [&](int64_t Number) -> Value {
    return arith::ConstantIndexOp::create(B, At, Number);
  };
  Value Global = arith::AddIOp::create(
      B, At,
      arith::MulIOp::create(B, At, gpu::BlockIdOp::create(B, At, D),
                            Constant(New)),
      gpu::ThreadIdOp::create(B, At, D));
  Value OldBlock = arith::DivUIOp::create(B, At, Global, Constant(Old));
  Value OldThread = arith::RemUIOp::create(B, At, Global, Constant(Old));
  Value OldGrid = arith::DivUIOp::create(
      B, At,
      arith::MulIOp::create(B, At, gpu::GridDimOp::create(B, At, D),
                            Constant(New)),
      Constant(Old));
  for (auto Op : Blocks)
    Op.replaceAllUsesWith(OldBlock);
  for (auto Op : Threads)
    Op.replaceAllUsesWith(OldThread);
  for (auto Op : Sizes)
    Op.replaceAllUsesWith(Constant(Old));
  for (auto Op : Grids)
    Op.replaceAllUsesWith(OldGrid);
}

llvm::Error resizeMlirBlocks(MlirRewrite &R, const Gene &G) {
  const auto Sizes = sizesOf(G);
  const int64_t Threads = Sizes[0].value_or(1) * Sizes[1].value_or(1);
  if (!Sizes[0] || Threads > MaxBlockThreads)
    return refuseMlir(G, "a block has 1 to 1024 threads");
  const TeamWork T = teamWork(R.F);
  if (Operation *Op = T.Block ? T.Block : T.Shared ? T.Shared : T.Other)
    return refuseMlir(G, "the threads of a block work together: " + nameOf(Op));
  if (!R.F.getWorkgroupAttributions().empty())
    return refuseMlir(G, "the threads of a block share memory");
  bool Changes = false, WholeWarps = !Sizes[1];
  for (auto [Dim, Size] : llvm::enumerate(Sizes)) {
    if (!Size)
      continue;
    std::optional<int64_t> Old = R.knownBlock(unsigned(Dim));
    if (!Old)
      return refuseMlir(G, "recorded launches have blocks of several sizes");
    Changes |= *Old != *Size;
    WholeWarps &= *Old % 32 == 0 && *Size % 32 == 0;
  }
  if (!Changes)
    return refuseMlir(G, "the launches have such blocks already");
  if (T.Lanes && !WholeWarps)
    return refuseMlir(G,
                      "the lanes of a warp work together: " + nameOf(T.Lanes));
  for (auto [Dim, Size] : llvm::enumerate(Sizes)) {
    if (!Size)
      continue;
    const int64_t Old = *R.knownBlock(unsigned(Dim));
    R.fixBlock(unsigned(Dim), Old);
    if (Old == *Size)
      continue;
    Expr All = Expr::binary(Expr::Kind::Mul, Expr::dim(GridX + unsigned(Dim)),
                            Expr::constant(Old));
    R.requireMultiple(All, *Size);
    renumber(R, unsigned(Dim), Old, *Size);
    R.L.Grid[Dim] = Expr::binary(Expr::Kind::FloorDiv, std::move(All),
                                 Expr::constant(*Size));
    R.L.Block[Dim] = Expr::constant(*Size);
  }
  R.shapeBlocks(Sizes);
  return llvm::Error::success();
}

/// Gives each of \p Rows rows of a block its part of the shared arrays.
static llvm::Error splitShared(MlirRewrite &R, const Gene &G, int64_t Rows,
                               Value Row) {
  llvm::SmallVector<BlockArgument> Arrays(R.F.getWorkgroupAttributions());
  int64_t Bytes = 0;
  for (BlockArgument Array : Arrays) {
    auto Type = cast<MemRefType>(Array.getType());
    if (!Type.hasStaticShape() || !Type.getLayout().isIdentity() ||
        !Type.getElementType().isIntOrFloat())
      return refuseMlir(G, "a shared array has no plain shape");
    Bytes += Type.getNumElements() *
             llvm::divideCeil(Type.getElementTypeBitWidth(), 8) * Rows;
  }
  if (Bytes > int64_t(UnrequestedShared))
    return refuseMlir(G, "the shared arrays of so many rows take " +
                             llvm::Twine(Bytes) + " bytes");
  for (BlockArgument Array : Arrays) {
    auto Type = cast<MemRefType>(Array.getType());
    llvm::SmallVector<int64_t> Shape(Type.getShape());
    Shape.insert(Shape.begin(), Rows);
    Array.setType(MemRefType::get(Shape, Type.getElementType(),
                                  MemRefLayoutAttrInterface(),
                                  Type.getMemorySpace()));
    // Accesses name their row; all else would need an array of another type.
    for (Operation *User : llvm::make_early_inc_range(Array.getUsers())) {
      if (auto Load = dyn_cast<memref::LoadOp>(User))
        Load.getIndicesMutable().assign([&] {
          llvm::SmallVector<Value> Indices{Row};
          llvm::append_range(Indices, Load.getIndices());
          return Indices;
        }());
      else if (auto Store = dyn_cast<memref::StoreOp>(User);
               Store && Store.getMemRef() == Array)
        Store.getIndicesMutable().assign([&] {
          llvm::SmallVector<Value> Indices{Row};
          llvm::append_range(Indices, Store.getIndices());
          return Indices;
        }());
      else
        return refuseMlir(G, "a shared array is used by " + nameOf(User));
    }
  }
  return llvm::Error::success();
}

llvm::Error putMlirRowsTogether(MlirRewrite &R, const Gene &G) {
  const int64_t Rows = geneNumber(G, "rows");
  if (Rows < 2 || Rows > 32)
    return refuseMlir(G, "a block takes 2 to 32 rows");
  const TeamWork T = teamWork(R.F);
  if (Operation *Op = T.Inner ? T.Inner : T.Shared ? T.Shared : T.Other)
    return refuseMlir(G, "the rows of a block would meet at " + nameOf(Op));
  if (!R.reads<gpu::GridDimOp>(gpu::Dimension::x).empty())
    return refuseMlir(G, "the kernel uses the number of rows, gpu.grid_dim x");
  if (!R.reads<gpu::GlobalIdOp>(gpu::Dimension::x).empty() ||
      !R.reads<gpu::GlobalIdOp>(gpu::Dimension::y).empty())
    return refuseMlir(G, "the kernel knows global indices, no rows");
  for (gpu::Dimension D : {gpu::Dimension::y, gpu::Dimension::z})
    if (!R.reads<gpu::ThreadIdOp>(D).empty() ||
        !R.reads<gpu::BlockDimOp>(D).empty())
      return refuseMlir(G, "blocks have a y or z of their own");
  auto Blocks = R.reads<gpu::BlockIdOp>(gpu::Dimension::x);
  if (Blocks.empty())
    return refuseMlir(G, "the kernel does not use gpu.block_id x");
  const std::optional<int64_t> Width = R.knownBlock(0);
  if (!Width || R.knownBlock(1) != 1 || R.knownBlock(2) != 1)
    return refuseMlir(G, "recorded launches have blocks of several sizes, or "
                         "of several dimensions");
  if (T.Lanes && *Width % 32 != 0)
    return refuseMlir(G, "blocks are no whole warps, whose lanes work "
                         "together: " +
                             nameOf(T.Lanes));
  if (*Width * Rows > MaxBlockThreads)
    return refuseMlir(G, "a block has at most 1024 threads");
  OpBuilder B = R.atBegin();
  Location At = R.F.getLoc();
  Value Row = gpu::ThreadIdOp::create(B, At, gpu::Dimension::y);
  Value First = arith::MulIOp::create(
      B, At, gpu::BlockIdOp::create(B, At, gpu::Dimension::x),
      arith::ConstantIndexOp::create(B, At, Rows));
  Value Block = arith::AddIOp::create(B, At, First, Row);
  for (gpu::BlockIdOp Op : Blocks)
    Op.replaceAllUsesWith(Block);
  if (llvm::Error E = splitShared(R, G, Rows, Row))
    return E;
  R.fixBlock(0, *Width);
  R.fixBlock(1, 1);
  R.fixBlock(2, 1);
  R.requireMultiple(Expr::dim(GridX), Rows);
  R.L.Grid[0] = Expr::binary(Expr::Kind::FloorDiv, Expr::dim(GridX),
                             Expr::constant(Rows));
  R.L.Block[1] = Expr::constant(Rows);
  R.shapeBlocks({std::nullopt, Rows, std::nullopt});
  return llvm::Error::success();
}

} // namespace cupilot
