//===- LaneStride.h - How values follow from the thread -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_ROOFLINE_LANESTRIDE_H
#define CUPILOT_LIB_ROOFLINE_LANESTRIDE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/Value.h"

namespace cupilot {

/// How a value differs between neighbouring threads of a warp.
struct Lane {
  enum class Kind { Grid, Block, Linear, Irregular };
  /// Grid: the same in all threads; Block: in those of a warp; Linear: grows
  /// by Stride from thread to thread; Irregular: data decides.
  Kind K = Kind::Grid;
  int64_t Stride = 0;
  bool operator==(const Lane &) const = default;
  bool isUniform() const { return K == Kind::Grid || K == Kind::Block; }
};

/// Finds that out for the values of one function, along their operands. What
/// wraps around in narrow integers is taken not to.
class LaneStrides {
public:
  explicit LaneStrides(const llvm::DataLayout &Layout) : Layout(Layout) {}
  Lane of(const llvm::Value *V);

private:
  Lane compute(const llvm::Value *V);
  Lane ofAddress(const llvm::GEPOperator &Gep);
  Lane ofCall(const llvm::Value *V);

  const llvm::DataLayout &Layout;
  llvm::DenseMap<const llvm::Value *, Lane> Known;
  llvm::SmallVector<const llvm::Value *> Order; ///< In which they were found.
};

/// Bytes of device memory that a warp's access of \p Size bytes at such
/// addresses moves, in whole sectors; what the whole grid reads lies in caches.
double warpBytes(Lane Address, uint64_t Size);

} // namespace cupilot

#endif // CUPILOT_LIB_ROOFLINE_LANESTRIDE_H
