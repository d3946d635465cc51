//===- DecisionReader.h - Reads the decisions of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_DECISIONREADER_H
#define CUPILOT_LIB_EVALUATION_DECISIONREADER_H

#include "DecisionCode.h"
#include "FoldedDecisions.h"
#include "llvm/IR/Instructions.h"
#include <map>

namespace cupilot {

/// Reads one kernel as one launch of a plan runs it.
class DecisionReader {
public:
  DecisionReader(const Dependence &Of, const FoldedDecisions &Folded,
                 DecisionCode &Code, bool IsBuilt)
      : Of(Of), Folded(Folded), Code(Code), IsBuilt(IsBuilt) {}
  void run();

private:
  /// Conditions on the way to a decision that are looked at.
  static constexpr unsigned MostSteps = 64;

  void visit(const llvm::Instruction &I, unsigned Site);
  void visitBuilt(const llvm::Instruction &I, unsigned Site);
  void visitSwitch(const llvm::SwitchInst &Switch, unsigned Site);
  void visitTable(const llvm::GetElementPtrInst &G, unsigned Site);
  void visitLoop(const llvm::Loop &L, unsigned Site);
  SiteFacts::Side &side(unsigned Site, unsigned Number, bool AtLeast = false);
  bool matters(llvm::ArrayRef<const llvm::Value *> Operands, unsigned Site,
               bool IsFloat = false);
  void addCompare(const llvm::CmpInst &Cmp, unsigned Site);
  SideCondition compared(llvm::CmpInst::Predicate P, const llvm::Value &L,
                         const llvm::Value &R, const llvm::BasicBlock &At);
  /// As \p BB sees values. What begins a loop also sees how it ends.
  SymbolicRanges &rangesAt(const llvm::BasicBlock &BB);
  /// What must hold for \p Cmp to be \p Taken.
  SideCondition sideOf(const llvm::CmpInst &Cmp, bool Taken);
  SideCondition sideOfFloats(llvm::CmpInst::Predicate P, const llvm::Value &L,
                             const llvm::Value &R);
  /// What must hold for the comparison that \p I comes to.
  SideCondition sideOfFolded(const llvm::Instruction &I, bool Taken);
  void addNumber(const llvm::Instruction &I, unsigned Site);
  void addWayTo(const llvm::BasicBlock &BB, SideCondition &C);
  /// What is known on the way whatever the signs of extents are.
  void addExactWayTo(const llvm::BasicBlock &BB, SideCondition &C);
  void addExact(const llvm::Value &Condition, bool Taken,
                const llvm::BasicBlock &At, SideCondition &C);
  void addTruth(const llvm::Value &Condition, const llvm::BasicBlock &BB,
                unsigned Site);
  SideCondition turns(const llvm::Loop &L, unsigned Turns, bool AtLeast);
  std::string text(const SymbolicRange &R, const llvm::Value &V) const;
  bool waits(const llvm::Value &Condition) const;
  int64_t ringOf(const llvm::Loop &L);
  bool onlyTraps(const llvm::BasicBlock *From,
                 const llvm::BasicBlock *To) const;
  void addService(const llvm::Instruction &Call, unsigned Site);
  /// Which results of \p Condition lead to nothing but a trap.
  std::array<bool, 2> trapping(const llvm::Value &Condition) const;

  const Dependence &Of;
  const FoldedDecisions &Folded;
  /// By the innermost loop whose body sees them.
  std::map<const llvm::Loop *, SymbolicRanges> Ranges;
  DecisionCode &Code;
  const bool IsBuilt;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_DECISIONREADER_H
