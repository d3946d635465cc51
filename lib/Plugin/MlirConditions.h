//===- MlirConditions.h - Guards, domains and plans in MLIR -----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_PLUGIN_MLIRCONDITIONS_H
#define CUPILOT_LIB_PLUGIN_MLIRCONDITIONS_H

#include "cupilot/Model/BuildRecord.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cupilot {

/// The numbers of one launch, made where the builder stands.
class LaunchNumbers {
public:
  virtual ~LaunchNumbers() = default;
  /// A dimension of the original launch, or its dynamic shared memory, as i64.
  virtual mlir::Value dim(mlir::ImplicitLocOpBuilder &B, LaunchDim D) const = 0;
  /// A parameter of the launch, as describeGpuKernel counts them: an integer of
  /// its own width, a pointer or an index as i64, or a floating-point number.
  virtual mlir::Value argument(mlir::ImplicitLocOpBuilder &B,
                               unsigned Param) const = 0;
};

/// What a launch of a kernel passes for one parameter of its function.
struct LaunchArgument {
  enum class Part { Whole, Allocated, Aligned, Offset, Size, Stride };
  unsigned Operand = 0; ///< Of the function, or of gpu.launch_func.
  Part Of = Part::Whole;
  unsigned Dim = 0; ///< Of a size or a stride.
};
/// The parameters of launches for values of these types, in the order of
/// describeGpuKernel: a memref is its pointers, offset, sizes and strides.
std::vector<LaunchArgument> launchArguments(mlir::TypeRange Types);
/// \p A of \p Values, as LaunchNumbers::argument has it. Not of Allocated,
/// which no operation gives.
mlir::Value emitArgument(mlir::ImplicitLocOpBuilder &B, const LaunchArgument &A,
                         mlir::ValueRange Values);

/// A finding where guard, domain or plan of \p V ask for what launches with
/// values of these types do not tell: a part of an argument, or the allocated
/// pointer of a memref.
llvm::Error checkConditions(const BuildVariant &V,
                            llvm::ArrayRef<ScalarRef> Scalars,
                            mlir::TypeRange Types);

/// A launch of a plan in numbers: i64.
struct EmittedLaunch {
  std::array<mlir::Value, 3> Grid, Block;
  std::optional<std::array<mlir::Value, 3>> Cluster;
  mlir::Value Shared;
};
/// A plan in numbers, which are right where Admitted (i1) holds.
struct EmittedConditions {
  mlir::Value Admitted;
  std::vector<EmittedLaunch> Launches;
  std::vector<mlir::Value> Scratch; ///< Bytes of each buffer, i64.
};

/// Emits as arith and scf whether the launch \p From lies in guard and domain
/// of \p V, which passes checkConditions, and gives a legal plan; decided as
/// admits(), contains() and planShape() decide it. The architecture is not
/// looked at.
EmittedConditions emitConditions(mlir::ImplicitLocOpBuilder &B,
                                 const BuildVariant &V,
                                 llvm::ArrayRef<ScalarRef> Scalars,
                                 const LaunchNumbers &From);

} // namespace cupilot

#endif // CUPILOT_LIB_PLUGIN_MLIRCONDITIONS_H
