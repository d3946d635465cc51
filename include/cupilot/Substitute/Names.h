//===- Names.h - Names of substituted kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_NAMES_H
#define CUPILOT_SUBSTITUTE_NAMES_H

#include "cupilot/Model/BuildRecord.h"

namespace cupilot {

/// What the names of variants begin with.
inline constexpr llvm::StringLiteral VariantPrefix = "__cupilot_";

/// The name under which variant \p V of the kernel \p Original lies in a GPU
/// binary. Device and host half of a compilation agree by it.
std::string variantSymbol(llvm::StringRef Original, const BuildVariant &V);

/// The names of all kernels that its plan launches, in the order of the plan's
/// symbols(); the first is variantSymbol's.
std::vector<std::string> variantSymbols(llvm::StringRef Original,
                                        const BuildVariant &V);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_NAMES_H
