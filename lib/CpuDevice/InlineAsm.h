//===- InlineAsm.h - Inline PTX as plain IR ---------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_INLINEASM_H
#define CUPILOT_LIB_CPUDEVICE_INLINEASM_H

#include "PtxAsm.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"

namespace cupilot {

/// Translates one asm statement. Registers are integers of their size, or i1.
class AsmLowering {
public:
  AsmLowering(llvm::CallInst &Call, llvm::ArrayRef<PtxStatement> Statements);
  /// False when an instruction is not known; nothing has changed then.
  bool run();

private:
  bool emit();
  bool bindOperands();
  bool lower(const PtxStatement &S);
  llvm::Value *compute(const PtxStatement &S);
  llvm::Value *computeFloat(const PtxStatement &S, llvm::Type *T);
  llvm::Value *computeInteger(const PtxStatement &S, unsigned Bits);
  llvm::Value *convert(const PtxStatement &S);
  llvm::Value *compare(const PtxStatement &S, llvm::Type *T);
  bool access(const PtxStatement &S);
  bool shuffle(const PtxStatement &S);

  /// An operand as an integer of \p Bits; null when there is no such thing.
  llvm::Value *read(llvm::StringRef Name, unsigned Bits);
  llvm::Value *readAs(llvm::StringRef Name, llvm::Type *T);
  void write(llvm::StringRef Name, llvm::Value *V, const PtxStatement &S);
  llvm::Value *asBits(llvm::Value *V);
  /// The floating-point type that a suffix names; null for another one.
  llvm::Type *floatType(llvm::StringRef Suffix);
  static unsigned bitsOf(llvm::StringRef Suffix);

  llvm::CallInst &Call;
  llvm::ArrayRef<PtxStatement> Statements;
  llvm::IRBuilder<> B;
  llvm::StringMap<llvm::Value *> Registers;
  unsigned Outputs = 0;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_INLINEASM_H
