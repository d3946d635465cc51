//===- MlirRewrite.h - A kernel while rules rewrite it ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_DRIVER_MLIRREWRITE_H
#define CUPILOT_LIB_DRIVER_MLIRREWRITE_H

#include "cupilot/Model/Genome.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace cupilot {

/// A gpu.func that rules rewrite, with the plan and the guard that result.
class MlirRewrite {
public:
  MlirRewrite(const Kernel &K, llvm::ArrayRef<Workload> Launches,
              mlir::gpu::GPUFuncOp F)
      : K(K), Launches(Launches), F(F) {
    L.Symbol = K.Symbol;
  }

  const Kernel &K;
  llvm::ArrayRef<Workload> Launches;
  mlir::gpu::GPUFuncOp F;
  Launch L;
  Guard When;

  void require(Expr Zero);                     ///< \p Zero == 0.
  void requireAtLeast(Expr Large, Expr Small); ///< \p Large >= \p Small.
  void requireMultiple(Expr Of, int64_t By);
  /// The integer argument that launches call \p Name, "arg0.size1"; nothing
  /// where there is none.
  std::optional<Expr> scalar(const llvm::Twine &Name) const;
  std::optional<PointerRef> pointer(const llvm::Twine &Name) const;
  /// \p V as what launches pass: an index argument, the size of a memref
  /// argument, or a constant.
  std::optional<Expr> scalar(mlir::Value V) const;
  /// Whether \p V is an argument of the kernel.
  bool isArgument(mlir::Value V) const;
  /// The number that \p V is: a constant, or an argument that all recorded
  /// launches that count have in common.
  std::optional<int64_t> known(mlir::Value V) const;
  /// Makes \p V, which is known to be \p Number, a constant; the guard asks for
  /// it.
  mlir::Value fix(mlir::Value V, int64_t Number);
  /// The threads of the original's blocks in \p Dim, likewise.
  std::optional<int64_t> knownBlock(unsigned Dim) const;
  void fixBlock(unsigned Dim, int64_t Number);
  /// Where the kernel says which blocks it has (known_block_size), others have
  /// no meaning: the guard asks for them.
  void keepKnownBlock();
  /// What the kernel says of its own blocks, where the sizes change.
  void shapeBlocks(std::array<std::optional<int64_t>, 3> Sizes);
  /// The index of the function's argument \p V that is a memref in device
  /// memory with rows one behind the other; nothing for other values.
  std::optional<unsigned> memrefArgument(mlir::Value V) const;
  /// At the begin of the kernel.
  mlir::OpBuilder atBegin();
  mlir::Value constant(int64_t Value);
  /// Reads of \p Dim of the index that \p OpT reads, which have uses.
  template <typename OpT>
  llvm::SmallVector<OpT> reads(mlir::gpu::Dimension Dim) {
    llvm::SmallVector<OpT> All;
    F.walk([&](OpT Op) {
      if (Op.getDimension() == Dim && !Op->use_empty())
        All.push_back(Op);
    });
    return All;
  }
  /// Takes out what computes without effect and is not used.
  void dropUnused();

private:
  std::optional<std::array<int64_t, 3>> OwnBlock;
  bool agrees(const Expr &E, int64_t &Value) const;
};

using MlirRule = llvm::Error (*)(MlirRewrite &, const Gene &);

llvm::Error unrollMlirLoops(MlirRewrite &R, const Gene &G);
llvm::Error separateMlirArrays(MlirRewrite &R, const Gene &G);
llvm::Error widenMlirAccesses(MlirRewrite &R, const Gene &G);
llvm::Error resizeMlirBlocks(MlirRewrite &R, const Gene &G);
llvm::Error putMlirRowsTogether(MlirRewrite &R, const Gene &G);

/// A finding of the rule for \p G.
llvm::Error refuseMlir(const Gene &G, const llvm::Twine &Why);
/// The value of \p G's parameter; 0 without.
int64_t geneNumber(const Gene &G, llvm::StringRef Param);

} // namespace cupilot

#endif // CUPILOT_LIB_DRIVER_MLIRREWRITE_H
