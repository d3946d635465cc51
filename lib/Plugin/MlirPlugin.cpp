//===- MlirPlugin.cpp - The dialect and its passes in mlir-opt -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Plugin/MlirPasses.h"
#include "cupilot/Support/Config.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK
    __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo
    mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "cupilot", CUPILOT_VERSION,
          [](mlir::DialectRegistry *Registry) {
            Registry->insert<cupilot::CupilotDialect>();
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK
    __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo
    mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "cupilot", CUPILOT_VERSION, [] {
            cupilot::registerCupilotPasses();
            cupilot::registerMlirVariantPasses();
          }};
}
