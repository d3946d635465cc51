//===- MlirPasses.h - What mlir-opt does with the store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PLUGIN_MLIRPASSES_H
#define CUPILOT_PLUGIN_MLIRPASSES_H

namespace cupilot {

/// Registers cupilot-apply and cupilot-add-variant (docs/MlirOpt.md).
void registerMlirVariantPasses();

} // namespace cupilot

#endif // CUPILOT_PLUGIN_MLIRPASSES_H
