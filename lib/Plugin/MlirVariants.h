//===- MlirVariants.h - Variants in mlir-opt -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_PLUGIN_MLIRVARIANTS_H
#define CUPILOT_LIB_PLUGIN_MLIRVARIANTS_H

#include "cupilot/Model/BuildRecord.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"

namespace cupilot {

/// The variant's module in the kernel's context, and the kernels in it that its
/// plan launches, in the order of LaunchPlan::symbols().
struct VariantModule {
  mlir::OwningOpRef<mlir::ModuleOp> M;
  std::vector<mlir::Operation *> Kernels;
  std::string Canonical; ///< What evidence names, as digestOfPlan has it.
};

/// What names of copied symbols begin with.
inline constexpr llvm::StringLiteral AddedPrefix = "__cupilot_";

/// Reads the .mlir file \p Path and finds \p Symbols in it, kernels. What does
/// not parse, and a file without them, is a finding.
llvm::Expected<VariantModule>
readMlirVariant(mlir::MLIRContext &C, llvm::StringRef Path,
                llvm::ArrayRef<std::string> Symbols);

/// The same for a .cu file of kernels with the lowered parameters, as clang
/// with \p Flags makes it for \p Arch. What the admission refuses, or clang
/// does not compile, is a finding.
llvm::Expected<VariantModule>
readCudaVariant(mlir::MLIRContext &C, llvm::StringRef Path,
                llvm::ArrayRef<std::string> Symbols, llvm::StringRef Arch,
                llvm::ArrayRef<std::string> Flags);

/// Puts \p Variant in place of \p Kernel under its name, with all that it
/// reaches under names of their own. Device variables are bound to those of the
/// kernel's module. What does not fit is a finding and changes nothing.
llvm::Error replaceKernel(mlir::Operation *Kernel, mlir::Operation *Variant,
                          llvm::StringRef Name);

/// Copies \p Variant, with all that it reaches, to before \p Kernel under names
/// of their own. A lowered function may stand in for one that is not lowered.
/// Behind the kernel's parameters it has \p Extra pointers. What does not fit
/// is a finding and changes nothing.
llvm::Expected<mlir::Operation *> addBeside(mlir::Operation *Kernel,
                                            mlir::Operation *Variant,
                                            llvm::StringRef Name,
                                            unsigned Extra);

/// Makes \p Kernel begin with a choice: where guard and domain of \p V hold,
/// the body of \p Variant, else its own. The plan is one launch of the
/// original's shape. What does not fit is a finding and changes nothing.
llvm::Error branchInKernel(mlir::Operation *Kernel, mlir::Operation *Variant,
                           const BuildVariant &V,
                           llvm::ArrayRef<ScalarRef> Scalars);

/// Prepares \p R for contexts that read and write LLVM IR.
void registerLlvmTranslations(mlir::DialectRegistry &R);

/// The variant \p V of \p R, which clang made, for the llvm.func \p Kernel. The
/// store's original must become the proved code by clang with \p Flags, its
/// import must be the kernel, and the variant must become its proved code;
/// else a finding says which does not hold.
llvm::Expected<VariantModule> clangVariant(mlir::Operation *Kernel,
                                           const BuildRecord &R,
                                           const BuildVariant &V,
                                           llvm::StringRef Source,
                                           llvm::ArrayRef<std::string> Flags);

/// Registers cupilot-add-variant.
void registerAddVariantPass();

} // namespace cupilot

#endif // CUPILOT_LIB_PLUGIN_MLIRVARIANTS_H
