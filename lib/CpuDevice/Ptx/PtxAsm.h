//===- PtxAsm.h - Inline PTX as statements ----------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_PTXASM_H
#define CUPILOT_LIB_CPUDEVICE_PTX_PTXASM_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// One PTX instruction or label as it stands in an asm statement. Registers
/// and labels carry the number of the scope that declares them ("p#2").
struct PtxStatement {
  std::string Label; ///< Not empty: a label, nothing else.
  std::string Guard; ///< The predicate's name; "" when there is none.
  bool GuardNegated = false;
  std::string Text;            ///< The instruction as it was written.
  std::vector<std::string> Op; ///< "fma.rn.f16x2", split at the points.
  /// Operands in order; {a, b} is one operand with two parts, [a+4] one whose
  /// text keeps the brackets, a|b one whose text keeps the bar.
  std::vector<std::vector<std::string>> Operands;

  llvm::StringRef base() const { return Op.front(); }
  llvm::StringRef type() const { return Op.back(); }
  bool has(llvm::StringRef Modifier) const;
  /// The modifiers that name types, in order: two of a conversion.
  llvm::SmallVector<llvm::StringRef, 3> types() const;
  /// The whole of an operand that has one part; "" for another.
  llvm::StringRef operand(unsigned I) const;
};

/// An asm statement's text, with $0 for its operands.
struct PtxProgram {
  std::vector<PtxStatement> Statements;
  llvm::StringMap<unsigned> Registers; ///< Declared ones: their bits.
};

/// Splits \p Text into instructions, resolves scopes, labels and declarations
/// (PTX ISA, "Syntax" and "State Spaces, Types, and Variables"). An error says
/// what is not understood.
llvm::Expected<PtxProgram> parsePtx(llvm::StringRef Text);

/// Bits of a value of the type that a suffix names ("f16x2": 32, "pred": 1); 0
/// when it names no type.
unsigned ptxTypeBits(llvm::StringRef Suffix);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_PTXASM_H
