//===- FactCollector.h - Reads facts from the code of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_FACTCOLLECTOR_H
#define CUPILOT_LIB_EVALUATION_FACTCOLLECTOR_H

#include "CodeFacts.h"
#include "SymbolicRanges.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"

namespace cupilot {

/// The extent whose last index \p R ends with; itself, where it is exact.
std::optional<Polynomial> extentOf(const SymbolicRange &R);
/// Whether bits are gone after \p I that were there before, and live nowhere
/// else.
bool losesBits(const llvm::TruncInst &I);
/// Bits of the significand of a floating type, the hidden one included.
unsigned significandOf(const llvm::Type *T);

/// Notes that rests of \p Extent by \p Modulus may matter, each once: what is
/// added to it turns the rests around, and tells no other sizes apart.
void noteModulus(CodeFacts &Found, const std::optional<Polynomial> &Extent,
                 int64_t Modulus, std::string Where);

/// Adds what one kernel does to the facts of all.
class FactCollector {
public:
  FactCollector(const Dependence &Of, CodeFacts &Found);
  void run();

private:
  using Values = llvm::DenseSet<const llvm::Value *>;

  ValueUse &floatUse(const FloatRef &Number);
  void mark(const Sources &S, bool ValueUse::*How);
  void addModulus(const std::optional<Polynomial> &Extent, int64_t Modulus,
                  const llvm::Instruction &At);
  void addThreshold(const std::optional<Polynomial> &E, int64_t Value,
                    const llvm::Instruction &At);
  void addProducts(const SymbolicRange &R);
  void compare(const llvm::Value &L, const llvm::Value &R,
               const llvm::Instruction &At);
  void compareFloats(const llvm::Value &L, const llvm::Value &R,
                     const llvm::Instruction &At);
  void compareAny(const llvm::Value &L, const llvm::Value &R,
                  const llvm::Instruction &At);
  void divide(const llvm::BinaryOperator &I);
  void visitUses(const llvm::Instruction &I);
  void visitLoop(const llvm::PHINode &Phi);

  // Narrowings.cpp.
  void findNarrowings();
  /// What leads to an index into global memory, a branch or an integer result.
  Values reaching() const;
  void addNarrowing(const llvm::Value &From, NarrowingFact N,
                    const llvm::Instruction &At);
  void addKnownTerms(const llvm::Instruction &Sum, const NarrowingFact &N);
  void countedInFloat(const llvm::CastInst &I);

  const Dependence &Of;
  SymbolicRanges Ranges;
  CodeFacts &Found;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_FACTCOLLECTOR_H
