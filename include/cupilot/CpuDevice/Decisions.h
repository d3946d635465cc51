//===- Decisions.h - What device code decides, and what it decided -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUDEVICE_DECISIONS_H
#define CUPILOT_CPUDEVICE_DECISIONS_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Instruction;
class Module;
class Value;
} // namespace llvm

namespace cupilot {

enum class DecisionKind {
  Compare,     ///< A comparison, whatever becomes of it: it was false, or true.
  Boolean,     ///< Any other condition, or a byte that is read as one.
  Switch,      ///< A side for each block that it leads to.
  MinMax,      ///< Of integers: the first is not smaller, or it is.
  Table,       ///< An index into a constant array, or one that the kernel may
               ///< fill with constants: a side for each element.
  Loop,        ///< Turns before it is left: a side for each number of them.
  Number,      ///< Shifts and divisions of integers: it is 0, or it is not.
  FloatMinMax, ///< Of floats: the first is not smaller, or it is, or a NaN.
  Service      ///< A call that may allocate memory or print. One side: it ran.
};

/// A place where code decides something. Its number is its place in the list,
/// which is the same whenever the same bitcode is read.
struct DecisionSite {
  DecisionKind Kind = DecisionKind::Compare;
  std::string Function; ///< Mangled; as written, before anything is inlined.
  uint64_t Body = 0;    ///< The same in functions with the same instructions.
  unsigned InBody = 0;  ///< Its number in there.
  std::string Location; ///< "k.cu:12:3"; "" without line tables.
  unsigned First = 0;   ///< Of its sides among those of all sites.
  unsigned Sides = 2;
  /// A loop that is left where it begins, so that it may take no turn; else
  /// its body runs once more than it turns.
  bool MayTurnNever = false;
};

/// Turns that are told apart; the last side stands for more.
inline constexpr unsigned MostTurns = 63;
/// Elements of a constant array that is a table of decisions.
inline constexpr unsigned MostTableEntries = 4096;

/// Finds the decisions of \p M, device code as clang wrote it, in functions of
/// its main file (those of the toolkit's headers are nobody's). Each
/// instruction gets its number as metadata; a loop the branches that turn it.
/// Calls of min() and max() become the instructions that they are. Before a
/// call that may come to malloc or printf, and before a minimum of floats,
/// there is one of llvm.sideeffect, which has the number and stays where the
/// call is inlined.
std::vector<DecisionSite> markDecisions(llvm::Module &M);

/// What such a call compares, for a minimum or maximum of floats; else null.
std::pair<const llvm::Value *, const llvm::Value *>
comparedIn(const llvm::Instruction &I);

/// The number that markDecisions() gave to \p I, or to the loop that it turns.
std::optional<unsigned> decisionOf(const llvm::Instruction &I);
std::optional<unsigned> turnedLoopOf(const llvm::Instruction &I);

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_DECISIONS_H
