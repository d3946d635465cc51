//===- Cupilot.h - The cupilot dialect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DIALECT_CUPILOT_H
#define CUPILOT_DIALECT_CUPILOT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

#include "cupilot/Dialect/CupilotDialect.h.inc"
#include "cupilot/Dialect/CupilotEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "cupilot/Dialect/CupilotAttributes.h.inc"

#define GET_OP_CLASSES
#include "cupilot/Dialect/CupilotOps.h.inc"

namespace cupilot {

/// Symbols that a map or set of a kernel with \p Scalars must have: one for
/// each, behind the launch where that is given by symbols (\p Dims is 0). The
/// error names \p What.
llvm::LogicalResult
verifyMapShape(llvm::function_ref<mlir::InFlightDiagnostic()> EmitError,
               llvm::StringRef What, unsigned Dims, unsigned Symbols,
               unsigned Scalars);

/// Checks \p Genome against the strategies that \p Library defines: domains,
/// requires, conflicts, least architecture \p Arch (e.g. 90; 0: not looked at).
llvm::LogicalResult
verifyGenome(llvm::function_ref<mlir::InFlightDiagnostic()> EmitError,
             GenomeAttr Genome, mlir::Operation *Library, unsigned Arch);

} // namespace cupilot

#endif // CUPILOT_DIALECT_CUPILOT_H
