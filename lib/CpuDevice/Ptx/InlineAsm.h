//===- InlineAsm.h - Inline PTX as plain IR ---------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_INLINEASM_H
#define CUPILOT_LIB_CPUDEVICE_PTX_INLINEASM_H

#include "PtxAsm.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <optional>

namespace cupilot {

class AsmLowering;

/// Emits a statement that another table knows. Nothing when it knows it not;
/// false when the operands are wrong.
using ForeignStatement = llvm::function_ref<std::optional<bool>(
    AsmLowering &, const PtxStatement &)>;

/// Translates one asm statement into a function of its own, which is inlined
/// where the statement stood. Each register is a variable there, each label a
/// block.
class AsmLowering {
public:
  AsmLowering(llvm::CallInst &Call, const PtxProgram &Program,
              ForeignStatement Foreign);
  /// Replaces the statement; else an error says what is not known of it, and
  /// nothing has changed.
  llvm::Error run();

  // For the rules of the table. They return false for a form they do not know.

  llvm::IRBuilder<> B;
  llvm::Module &M;
  /// The statement is volatile: what it reads may change between executions.
  bool IsVolatile;

  /// An operand (register, special register or number) as an integer of
  /// \p Bits; null when there is no such thing.
  llvm::Value *read(llvm::StringRef Name, unsigned Bits);
  /// The same as a value of \p T, of any first-class type.
  llvm::Value *readAs(llvm::StringRef Name, llvm::Type *T);
  /// Writes a register ("_" is none); one that is wider gets zeros or signs.
  bool write(llvm::StringRef Name, llvm::Value *V, bool Signed = false);
  bool write(const PtxStatement &S, llvm::Value *V, bool Signed = false);
  /// The place that "[register+number]" names, as a pointer of \p Space:
  /// "shared", "global", "local", "const" or "" (generic).
  llvm::Value *address(llvm::StringRef Operand, llvm::StringRef Space);
  /// An address in shared memory, of which 32 bits are enough, as a pointer.
  llvm::Value *sharedPointer(llvm::Value *Address);
  /// A call that only IntrinsicLowering knows ("__cupilot_ptx_" + Name).
  llvm::CallInst *call(llvm::StringRef Name, llvm::Type *Result,
                       llvm::ArrayRef<llvm::Value *> Args, bool Pure);
  /// A call of llvm.nvvm.\p Name, which must be one of LLVM's. The modifiers of
  /// PTX make up its name.
  llvm::CallInst *nvvm(const llvm::Twine &Name,
                       llvm::ArrayRef<llvm::Value *> Args);
  /// The type that a suffix names: floating point or a vector of them, else an
  /// integer; null for none.
  llvm::Type *type(llvm::StringRef Suffix);
  /// The carry flag; null when nothing in this statement has set it.
  llvm::Value *carry();
  void setCarry(llvm::Value *V);

private:
  llvm::Error emit();
  bool bindOperands();
  bool emitStatement(const PtxStatement &S);
  bool finish();
  llvm::AllocaInst *variable(llvm::StringRef Name, unsigned Bits);

  llvm::CallInst &Call;
  const PtxProgram &Program;
  ForeignStatement Foreign;
  llvm::Function *Body = nullptr;
  llvm::StringMap<llvm::AllocaInst *> Registers;
  llvm::StringMap<llvm::BasicBlock *> Labels;
  llvm::AllocaInst *Carry = nullptr;
  unsigned Outputs = 0;
};

/// One row of the table of known instructions: a pattern and what emits it.
/// A pattern is the instruction's first part, then groups of modifiers in any
/// order: "[a b]" is at most one of them, "(a b)" is exactly one, a bare word
/// is that one. Operands are the rule's matter.
struct PtxRule {
  const char *Pattern;
  bool (*Emit)(AsmLowering &, const PtxStatement &);
};

/// All rows, in the files' order.
llvm::ArrayRef<PtxRule> ptxRules();
/// The first row whose pattern fits; null for none.
const PtxRule *findPtxRule(const PtxStatement &S);
bool matchesPtxPattern(llvm::StringRef Pattern, const PtxStatement &S);

/// Emits a statement that another table knows. Nothing when it knows it not;
/// false when the operands are wrong.
using ForeignStatement = llvm::function_ref<std::optional<bool>(
    AsmLowering &, const PtxStatement &)>;

/// Turns inline PTX that is understood into plain IR; leaves the rest. A
/// statement is offered to \p Foreign first.
void lowerInlineAsm(llvm::Module &M, ForeignStatement Foreign);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_INLINEASM_H
