//===- PtxStatement.h - PTX instructions for the table ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_PTXSTATEMENT_H
#define CUPILOT_LIB_CPUDEVICE_PTX_PTXSTATEMENT_H

#include "cupilot/CpuDevice/InlinePtx.h"
#include "cupilot/Ptx/Module.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace cupilot {

/// An instruction as the rules of the table look at it. It must outlive this.
class PtxStatement {
public:
  explicit PtxStatement(const ptx::Instruction &I)
      : Operands(I.Operands), I(I) {}
  const std::vector<ptx::Operand> &Operands;

  llvm::StringRef base() const { return I.Opcode; } ///< "fma".
  llvm::ArrayRef<std::string_view> modifiers() const { return I.Modifiers; }
  /// The last part: mostly the type. "" when there is one part only.
  llvm::StringRef type() const;
  bool has(llvm::StringRef Modifier) const { return I.has(Modifier); }
  /// The modifiers that name types, in order: two of a conversion.
  llvm::SmallVector<llvm::StringRef, 3> types() const;
  /// The opcode and its modifiers.
  llvm::SmallVector<llvm::StringRef, 8> parts() const;
  /// The operand; one that nothing can read or write when there are not so
  /// many. {a} is a.
  const ptx::Operand &operand(unsigned N) const;

private:
  const ptx::Instruction &I;
};

/// The parts of a vector; any other operand is one part.
llvm::ArrayRef<ptx::Operand> partsOf(const ptx::Operand &O);
/// The first and the second part of "a|b"; null for the second of others.
std::pair<const ptx::Operand *, const ptx::Operand *>
pairOf(const ptx::Operand &O);

/// The text at \p At without comments, each white space one blank, without the
/// semicolon.
std::string plainText(std::string_view Text, ptx::Place At);

/// Bits of a value of the type that a suffix names ("f16x2": 32, "pred": 1); 0
/// when it names no type.
unsigned ptxTypeBits(llvm::StringRef Suffix);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_PTXSTATEMENT_H
