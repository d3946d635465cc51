//===- MlirAdmission.cpp - What a variant in MLIR may hold ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirAdmission.h"
#include "MlirPipeline.h"
#include "cupilot/Dialect/GpuAdmission.h"

using namespace mlir;

namespace cupilot {

std::vector<GateFinding> admitMlir(ModuleOp M) {
  std::vector<GateFinding> Findings;
  for (const Inadmissible &I : admitGpuText(M))
    Findings.push_back({GateReason::Inadmissible, "",
                        (I.At ? mlirPlaceOf(I.At) : std::string()) + I.Why});
  return Findings;
}

} // namespace cupilot
