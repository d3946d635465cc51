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

/// The variant's module in the kernel's context, and the kernel in it.
struct VariantModule {
  mlir::OwningOpRef<mlir::ModuleOp> M;
  mlir::Operation *Kernel = nullptr;
};

/// Reads the .mlir file \p Path and finds \p Symbol in it, a kernel. What does
/// not parse, and a file without it, is a finding.
llvm::Expected<VariantModule> readMlirVariant(mlir::MLIRContext &C,
                                              llvm::StringRef Path,
                                              llvm::StringRef Symbol);

/// Puts \p Variant in place of \p Kernel under its name, with all that it
/// reaches under names of their own. Device variables are bound to those of the
/// kernel's module. What does not fit is a finding and changes nothing.
llvm::Error replaceKernel(mlir::Operation *Kernel, mlir::Operation *Variant,
                          llvm::StringRef Name);

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
