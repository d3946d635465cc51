//===- GpuAdmission.cpp - What a variant in MLIR may hold -------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/GpuAdmission.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::StringRef;

namespace cupilot {

/// Of dialects whose operations compute and no more.
static bool isOfWholeDialect(Operation *Op) {
  static const llvm::StringSet<> Names = {"affine", "arith", "index", "math",
                                          "nvgpu",  "scf",   "ub",    "vector"};
  return Names.contains(Op->getName().getDialectNamespace()) &&
         !isa<vector::PrintOp>(Op);
}

/// Of other dialects, those that are admitted.
static const llvm::StringSet<> &listed() {
  static const llvm::StringSet<> Names = {
      "builtin.module", "builtin.unrealized_conversion_cast", "cf.br",
      "cf.cond_br", "cf.switch", "func.func", "func.call", "func.return",
      // What a thread knows, and what threads do together.
      "gpu.module", "gpu.func", "gpu.return", "gpu.yield", "gpu.thread_id",
      "gpu.block_id", "gpu.block_dim", "gpu.grid_dim", "gpu.global_id",
      "gpu.lane_id", "gpu.subgroup_id", "gpu.subgroup_size",
      "gpu.num_subgroups", "gpu.cluster_id", "gpu.cluster_dim",
      "gpu.cluster_dim_blocks", "gpu.cluster_block_id", "gpu.barrier",
      "gpu.shuffle", "gpu.rotate", "gpu.all_reduce", "gpu.subgroup_reduce",
      "gpu.subgroup_broadcast", "gpu.ballot", "gpu.dynamic_shared_memory",
      "gpu.subgroup_mma_load_matrix", "gpu.subgroup_mma_store_matrix",
      "gpu.subgroup_mma_compute", "gpu.subgroup_mma_constant_matrix",
      "gpu.subgroup_mma_elementwise", "gpu.subgroup_mma_extract_thread_local",
      "gpu.subgroup_mma_insert_thread_local",
      // No memory of the heap.
      "memref.alloca", "memref.alloca_scope", "memref.alloca_scope.return",
      "memref.assume_alignment", "memref.atomic_rmw", "memref.atomic_yield",
      "memref.cast", "memref.collapse_shape", "memref.copy", "memref.dim",
      "memref.distinct_objects", "memref.expand_shape",
      "memref.extract_aligned_pointer_as_index",
      "memref.extract_strided_metadata", "memref.generic_atomic_rmw",
      "memref.get_global", "memref.global", "memref.load",
      "memref.memory_space_cast", "memref.prefetch", "memref.rank",
      "memref.reinterpret_cast", "memref.store", "memref.subview",
      "memref.transpose", "memref.view"};
  return Names;
}

/// Instructions, but no text of assembly.
static bool isNvvmInstruction(Operation *Op) {
  return Op->getName().getDialectNamespace() == "nvvm" &&
         !isa<NVVM::InlinePtxOp>(Op);
}

/// Why \p Op is refused; "" if it is not.
static std::string refusalOf(Operation *Op) {
  StringRef Name = Op->getName().getStringRef();
  if (!isOfWholeDialect(Op) && !listed().contains(Name) &&
      !isNvvmInstruction(Op))
    return "'" + Name.str() + "' is not among the operations of variants";
  if (isa<ModuleOp>(Op) && Op->getParentOp())
    return "a module in the module";
  if (isa<ModuleOp>(Op->getParentOp() ? Op->getParentOp() : Op) &&
      !isa<gpu::GPUModuleOp, ModuleOp>(Op))
    return "'" + Name.str() + "' stands outside of the gpu.module";
  if (auto Module = dyn_cast<gpu::GPUModuleOp>(Op))
    for (Attribute Target : Module.getTargetsAttr()
                                ? Module.getTargetsAttr().getValue()
                                : ArrayRef<Attribute>())
      if (auto Nvvm = dyn_cast<NVVM::NVVMTargetAttr>(Target);
          !Nvvm || Nvvm.getLink() || Nvvm.getFlags())
        return "a target with files to link, or with flags";
  return "";
}

std::vector<Inadmissible> admitGpuText(ModuleOp M) {
  std::vector<Inadmissible> Findings;
  unsigned Modules = 0;
  M.walk<WalkOrder::PreOrder>([&](Operation *Op) {
    Modules += isa<gpu::GPUModuleOp>(Op);
    if (std::string Why = refusalOf(Op); !Why.empty())
      Findings.push_back({Op, std::move(Why)});
  });
  if (Modules != 1)
    Findings.push_back(
        {nullptr, "it has " + std::to_string(Modules) +
                      " gpu.modules; the kernels of a variant are in one"});
  return Findings;
}

} // namespace cupilot
