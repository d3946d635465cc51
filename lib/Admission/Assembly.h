//===- Assembly.h - What inline PTX may hold --------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_ADMISSION_ASSEMBLY_H
#define CUPILOT_LIB_ADMISSION_ASSEMBLY_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace cupilot {

/// Why an asm statement is not admitted.
struct AssemblyFinding {
  std::string Rule; ///< "asm" or "timing".
  std::string What; ///< "the directive '.global'".
};

/// Looks at the text of an asm statement as it is written, with %0 for operands
/// and %% for %. Admitted are declarations of registers, labels, scopes, and
/// instructions that the cpu device can check, on operands, registers of their
/// own, numbers and special registers (PTX ISA, "Syntax", "Directives").
std::optional<AssemblyFinding> checkAssembly(llvm::StringRef Text);

/// Whether \p Word is the first part of an instruction that may be used.
bool isAdmittedInstruction(llvm::StringRef Word);
/// How many such words there are.
unsigned admittedInstructions();

/// Whether the special register \p Name, without its %, says when or where a
/// thread runs: %clock, %globaltimer, %smid, %warpid ...
bool isMachineRegister(llvm::StringRef Name);

} // namespace cupilot

#endif // CUPILOT_LIB_ADMISSION_ASSEMBLY_H
