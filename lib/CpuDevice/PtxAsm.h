//===- PtxAsm.h - Inline PTX as statements ----------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTXASM_H
#define CUPILOT_LIB_CPUDEVICE_PTXASM_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// One PTX instruction as it stands in an asm statement.
struct PtxStatement {
  std::string Guard; ///< The predicate's name; "" when there is none.
  bool GuardNegated = false;
  std::vector<std::string> Op; ///< "fma.rn.f16x2", split at the points.
  /// Operands in order; {a, b} is one operand with two parts, [a+4] one whose
  /// text keeps the brackets.
  std::vector<std::vector<std::string>> Operands;

  llvm::StringRef base() const { return Op.front(); }
  llvm::StringRef type() const { return Op.back(); }
  bool has(llvm::StringRef Modifier) const;
};

/// Splits \p Text (with $0 for its operands) into instructions; declarations
/// of registers are left out. Nothing when it is not understood.
std::optional<std::vector<PtxStatement>> parsePtx(llvm::StringRef Text);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTXASM_H
