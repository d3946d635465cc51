//===- VariantCompiler.h - Variants compiled as the unit is -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_PLUGIN_VARIANTCOMPILER_H
#define CUPILOT_LIB_PLUGIN_VARIANTCOMPILER_H

#include "cupilot/Admission/CompileText.h"
#include "cupilot/Store/BuildStore.h"

namespace clang {
class CompilerInstance;
} // namespace clang

namespace cupilot {

/// The bitcode, before optimisation, that the compilation \p Unit, whose device
/// code is \p Original, would make of variant \p V, whose source is \p Path.
/// Kept in the machine cache. Text that is not admitted, does not compile, or
/// is not what the store says is a finding.
llvm::Expected<std::string> compileVariant(clang::CompilerInstance &Unit,
                                           const OriginalCode &Original,
                                           const BuildVariant &V,
                                           llvm::StringRef Path);

} // namespace cupilot

#endif // CUPILOT_LIB_PLUGIN_VARIANTCOMPILER_H
