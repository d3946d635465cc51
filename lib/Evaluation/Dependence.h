//===- Dependence.h - What values hang on -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_DEPENDENCE_H
#define CUPILOT_LIB_EVALUATION_DEPENDENCE_H

#include "Polynomial.h"
#include "PreparedCode.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace cupilot {

/// The original's launch in terms of which a kernel's own is written; nothing
/// for a dimension that is not known.
using LaunchTerms = std::array<std::optional<Polynomial>, NumLaunchDims>;
/// A kernel that is launched as the original is.
LaunchTerms ownLaunch();
/// A kernel that a plan launches as \p L.
LaunchTerms termsOf(const Launch &L);

/// A set of what a kernel gets.
class Sources {
public:
  enum Kind : unsigned { LaunchBit = NumLaunchDims, Ints, Floats, NumKinds };
  bool dim(unsigned I) const { return has(I); }
  /// Anything of the launch, also of a plan's own.
  bool launch() const { return has(LaunchBit); }
  bool ints() const { return has(Ints); }     ///< Integers in memory.
  bool floats() const { return has(Floats); } ///< Floats in memory.
  bool has(unsigned Bit) const { return Bit < Bits.size() && Bits[Bit]; }
  void set(unsigned Bit) {
    if (Bit >= Bits.size())
      Bits.resize(Bit + 1);
    Bits.set(Bit);
  }
  /// True when that changed it.
  bool add(const Sources &Other) {
    llvm::BitVector Before = Bits;
    Bits |= Other.Bits;
    return Before != Bits;
  }
  bool none() const { return Bits.none(); }
  llvm::iterator_range<llvm::BitVector::const_set_bits_iterator> all() const {
    return Bits.set_bits();
  }

private:
  llvm::BitVector Bits;
};

/// Follows a kernel's arguments and launch through its code.
class Dependence {
public:
  Dependence(llvm::Function &F, const Kernel &K, const LaunchTerms &Terms);

  /// What \p V is computed from.
  const Sources &data(const llvm::Value &V) const { return of(Data, V); }
  /// That, and what decided which way led to it.
  const Sources &all(const llvm::Value &V) const { return of(All, V); }
  /// Floating numbers that the kernel gets, in the order of their bits.
  llvm::ArrayRef<FloatRef> floats() const { return Numbers; }
  unsigned scalarBit(unsigned I) const { return Sources::NumKinds + I; }
  unsigned pointerBit(unsigned I) const {
    return scalarBit(static_cast<unsigned>(K.Scalars.size())) + I;
  }
  unsigned floatBit(unsigned I) const {
    return pointerBit(static_cast<unsigned>(K.Pointers.size())) + I;
  }
  /// Whether it is anything but numbers that came from floats in memory: the
  /// launch, an argument, an integer or a pointer.
  bool decidesByMoreThanFloats(const Sources &S) const;
  /// Whether it is numbers that the kernel gets, and nothing else: the same for
  /// all threads.
  bool isOfArguments(const Sources &S) const;

  llvm::Function &function() const { return F; }
  const Kernel &kernel() const { return K; }
  const LaunchTerms &terms() const { return Terms; }
  const llvm::LoopInfo &loops() const { return Loops; }
  const llvm::DominatorTree &dominators() const { return Dominators; }

private:
  using Map = llvm::DenseMap<const llvm::Value *, Sources>;
  static const Sources &of(const Map &In, const llvm::Value &V);
  bool visit(const llvm::Instruction &I, Map &In, bool Control);
  void solve(Map &In, bool Control);
  Sources sourcesOf(const Leaf &L) const;
  Sources read(const llvm::Value &Pointer, const llvm::Type *T, Map &In) const;
  Sources unknown(const llvm::Type *T) const;
  void addControl(const llvm::PHINode &Phi, Sources &To, const Map &In) const;

  llvm::Function &F;
  const Kernel &K;
  const LaunchTerms &Terms;
  llvm::DominatorTree Dominators;
  llvm::LoopInfo Loops;
  std::vector<FloatRef> Numbers;
  Map Data, All; ///< Memory of threads and blocks, too, by its object.
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_DEPENDENCE_H
