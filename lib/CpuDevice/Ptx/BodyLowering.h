//===- BodyLowering.h - Bodies of PTX as plain IR ---------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_BODYLOWERING_H
#define CUPILOT_LIB_CPUDEVICE_PTX_BODYLOWERING_H

#include "PtxStatement.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <optional>

namespace cupilot {

class BodyLowering;

/// Emits a statement that another table knows. Nothing when it knows it not;
/// false when the operands are wrong.
using ForeignStatement = llvm::function_ref<std::optional<bool>(
    BodyLowering &, const PtxStatement &)>;

/// Translates statements of PTX into a function: each register is a variable
/// there, each label a block. What stands around them is the matter of two
/// hosts: an asm statement, and a function of a module.
class BodyLowering {
public:
  BodyLowering(llvm::Module &M, bool IsVolatile, ForeignStatement Foreign)
      : B(M.getContext()), M(M), IsVolatile(IsVolatile), Foreign(Foreign) {}
  BodyLowering(const BodyLowering &) = delete;
  BodyLowering &operator=(const BodyLowering &) = delete;
  virtual ~BodyLowering();

  // For the rules of the table. They return false for a form they do not know.

  llvm::IRBuilder<> B;
  llvm::Module &M;
  /// What is read may change between executions: a volatile asm statement.
  bool IsVolatile;
  /// What the code means is asked, not what a GPU makes of it: single numbers
  /// below the least normal one are not flushed.
  bool AsSource = false;

  /// An operand (register, special register, address or number) as an integer
  /// of \p Bits; null when there is no such thing.
  llvm::Value *read(const ptx::Operand &O, unsigned Bits);
  /// The same as a value of \p T, of any first-class type.
  llvm::Value *readAs(const ptx::Operand &O, llvm::Type *T);
  /// Writes a register ("_" is none); one that is wider gets zeros or signs.
  bool write(const ptx::Operand &O, llvm::Value *V, bool Signed = false);
  bool write(const PtxStatement &S, llvm::Value *V, bool Signed = false);
  /// The place that "[register+number]" names, as a pointer of \p Space:
  /// "shared", "global", "local", "const", "param" or "" (generic).
  llvm::Value *address(const ptx::Operand &O, llvm::StringRef Space);
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
  /// Notes that \p V stands in the text: it is no matter of how an instruction
  /// works. Returns it.
  llvm::Value *written(llvm::Value *V);
  /// The same for those instructions that \p Emit emits and \p Which says.
  /// Returns what Emit does.
  llvm::Value *
  written(llvm::function_ref<llvm::Value *()> Emit,
          llvm::function_ref<bool(const llvm::Instruction &)> Which);
  /// The carry flag; null when nothing in this body has set it.
  llvm::Value *carry();
  void setCarry(llvm::Value *V);

protected:
  /// Emits \p Statements, which stand in \p Text, behind the builder's place in
  /// Body. An error says what is not known.
  llvm::Error emitStatements(llvm::ArrayRef<ptx::Statement> Statements,
                             std::string_view Text);
  llvm::AllocaInst *variable(unsigned Bits);
  /// Makes \p Name a register of the scope that is open.
  void declare(llvm::StringRef Name, llvm::AllocaInst *Register);
  /// The register of that name in the scopes that are open; null for none.
  llvm::AllocaInst *find(llvm::StringRef Name);
  /// The block of the label of that name in the scopes that are open.
  llvm::BasicBlock *label(llvm::StringRef Name) const;

  // What a host knows.

  /// The address that a name stands for which is no register; null for none.
  virtual llvm::Value *symbol(llvm::StringRef) { return nullptr; }
  /// Declares a variable that is no register. False when there can be none.
  virtual bool declareVariable(const ptx::Variable &) { return false; }
  /// Takes a statement that is neither an instruction, a label, a scope nor a
  /// declaration. False when it must not stand here.
  virtual bool directive(const ptx::Statement &) { return false; }
  /// An instruction that only this host can emit, as ForeignStatement.
  virtual std::optional<bool> ownInstruction(const ptx::Instruction &) {
    return std::nullopt;
  }
  /// Hears that \p What, at \p S, is not known. An error ends it.
  virtual llvm::Error refuse(const ptx::Statement &S, const std::string &What);
  virtual void opened() {} ///< A scope was opened.
  virtual void closed() {} ///< The innermost scope was closed.

  llvm::Function *Body = nullptr;
  llvm::SmallPtrSet<const llvm::Value *, 8> Written; ///< By written().

private:
  struct Range {
    unsigned Count = 0, Bits = 0;
  };
  struct Scope {
    llvm::StringMap<llvm::AllocaInst *> Registers;
    llvm::StringMap<Range> Ranges; ///< "%r<5>", of which few may be used.
    llvm::StringMap<llvm::BasicBlock *> Labels;
  };
  llvm::Error collectLabels(llvm::ArrayRef<ptx::Statement> Statements);
  bool emitDeclaration(const ptx::Declaration &D);
  bool emitInstruction(const ptx::Instruction &I);
  void enter(bool Opens);

  ForeignStatement Foreign;
  std::vector<Scope> Scopes = std::vector<Scope>(1);
  llvm::SmallVector<unsigned> Open = {0}; ///< Numbers of scopes.
  unsigned LastScope = 0;
  llvm::AllocaInst *Carry = nullptr;
};

/// Gives what may decide something in \p F the mark of isImplied(), but for
/// what is \p Written.
void markImplied(llvm::Function &F,
                 const llvm::SmallPtrSetImpl<const llvm::Value *> &Written);

/// One row of the table of known instructions: a pattern and what emits it.
/// A pattern is the instruction's first part, then groups of modifiers in any
/// order: "[a b]" is at most one of them, "(a b)" is exactly one, a bare word
/// is that one. Operands are the rule's matter.
struct PtxRule {
  const char *Pattern;
  bool (*Emit)(BodyLowering &, const PtxStatement &);
};

/// All rows, in the files' order.
llvm::ArrayRef<PtxRule> ptxRules();
/// The first row whose pattern fits; null for none.
const PtxRule *findPtxRule(const PtxStatement &S);
bool matchesPtxPattern(llvm::StringRef Pattern, const PtxStatement &S);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_BODYLOWERING_H
