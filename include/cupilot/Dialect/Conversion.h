//===- Conversion.h - Between plain data and the dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DIALECT_CONVERSION_H
#define CUPILOT_DIALECT_CONVERSION_H

#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Model/Variant.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cupilot {

PlanAttr toAttr(mlir::MLIRContext &C, const LaunchPlan &Plan,
                unsigned NumScalars);
GuardAttr toAttr(mlir::MLIRContext &C, const Guard &G, unsigned NumScalars);
DomainAttr toAttr(mlir::MLIRContext &C, const Domain &D, unsigned NumScalars);
GenomeAttr toAttr(mlir::MLIRContext &C, const Genome &G);
LaunchPlan fromAttr(PlanAttr Plan);
Guard fromAttr(GuardAttr G);
Domain fromAttr(DomainAttr D);
/// \p D as it is read back from a module: MLIR simplifies expressions.
Domain canonical(const Domain &D, unsigned NumScalars);
Genome fromAttr(GenomeAttr G);

/// Adds \p K as a cupilot.kernel; \p Source names its slice's file ("" if
/// none).
KernelOp addKernel(mlir::OpBuilder &B, const Kernel &K, llvm::StringRef Source,
                   llvm::ArrayRef<BuildEntry> Builds = {});
/// The kernel without its slice's text.
Kernel toKernel(KernelOp Op);
std::vector<BuildEntry> buildsOf(KernelOp Op);
WorkloadOp addWorkload(mlir::OpBuilder &B, const Workload &W);
Workload toWorkload(WorkloadOp Op);
VariantOp addVariant(mlir::OpBuilder &B, const Variant &V, unsigned NumScalars);
Variant toVariant(VariantOp Op);
/// All strategies that \p Library defines, in order.
std::vector<StrategyInfo> strategiesOf(mlir::Operation *Library);

/// Prepares \p C for cupilot modules.
void loadDialect(mlir::MLIRContext &C);
/// Reads and verifies the module in \p Path. Text that does not parse or
/// verify, or that a newer version wrote, is a usage error with the
/// diagnostics.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
loadModule(mlir::MLIRContext &C, llvm::StringRef Path);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseModule(mlir::MLIRContext &C, llvm::StringRef Text, llvm::StringRef Name);
/// An empty module that carries the format's version.
mlir::OwningOpRef<mlir::ModuleOp> createModule(mlir::MLIRContext &C);
/// The format that \p M says it has; 0 where it says nothing.
int64_t formatOf(mlir::ModuleOp M);
/// What verification of \p Op says, as a usage error that names \p Name.
llvm::Error verifyModule(mlir::Operation *Op, llvm::StringRef Name);
std::string printModule(mlir::ModuleOp M);
/// The strategy library: all *.mlir of \p Folder in one module.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
loadLibrary(mlir::MLIRContext &C, llvm::StringRef Folder);

} // namespace cupilot

#endif // CUPILOT_DIALECT_CONVERSION_H
