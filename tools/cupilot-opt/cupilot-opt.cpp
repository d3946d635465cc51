//===- cupilot-opt.cpp - mlir-opt with the cupilot dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Plugin/MlirPasses.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int Argc, char **Argv) {
  mlir::DialectRegistry Registry;
  mlir::registerAllDialects(Registry);
  mlir::registerAllExtensions(Registry);
  mlir::registerAllGPUToLLVMIRTranslations(Registry);
  Registry.insert<cupilot::CupilotDialect>();
  mlir::registerAllPasses();
  cupilot::registerCupilotPasses();
  cupilot::registerMlirVariantPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      Argc, Argv, "cuPilot's modules: verify, print, transform\n", Registry));
}
