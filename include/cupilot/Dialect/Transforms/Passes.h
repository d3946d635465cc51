//===- Passes.h - Passes over cupilot modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DIALECT_TRANSFORMS_PASSES_H
#define CUPILOT_DIALECT_TRANSFORMS_PASSES_H

#include "cupilot/Dialect/Cupilot.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cupilot {

#define GEN_PASS_DECL
#include "cupilot/Dialect/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "cupilot/Dialect/Transforms/Passes.h.inc"

} // namespace cupilot

#endif // CUPILOT_DIALECT_TRANSFORMS_PASSES_H
