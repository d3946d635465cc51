//===- LoadedIntegers.h - Integers in memory that decide --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A guard sees arguments, not what lies in memory. So integers that a kernel
// loads, and that decide how often it turns, which way it goes or where it
// looks, are tried over lengths of all kinds; and a bound that a variant has
// for them, and the original does not, is found in the code.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_LOADEDINTEGERS_H
#define CUPILOT_LIB_EVALUATION_LOADEDINTEGERS_H

#include "Cases.h"

namespace cupilot {

/// What becomes of the integers behind a pointer.
struct LoadedIntegers {
  PointerRef Pointer;
  bool Turns = false;     ///< They end loops ...
  bool Begins = false;    ///< ... and begin them: offsets of rows.
  bool Decides = false;   ///< Branches, selects and switches of other kinds.
  bool Addresses = false; ///< They are, or lead to, indices.
};

/// Of the kernels \p Symbols of \p Bitcode, as clang wrote it for the gate, by
/// pointer. What does not decide anything is left out.
llvm::Expected<std::vector<LoadedIntegers>>
loadedIntegersOf(llvm::StringRef Bitcode, llvm::ArrayRef<std::string> Symbols);

/// A bound for loaded integers in the code.
struct LoadedBound {
  /// Whether buffers of \p C hold integers behind Pointer that go beyond it.
  bool isPassedIn(const GateCase &C) const;
  enum class Kind {
    FixedArray,    ///< An array of fixed size that they index.
    ConstantTurns, ///< A loop over them that also ends after a fixed number.
    NarrowType,    ///< A type of fewer bits than they have.
    NarrowFloat,   ///< A float that holds fewer of their bits.
  };
  Kind K = Kind::FixedArray;
  PointerRef Pointer;
  uint64_t Bound = 0;   ///< Elements, turns or bits.
  std::string Location; ///< "k.cu:12:3"; "" where that is not known.
  /// For people: "an array of 64 elements is indexed by what buffer ...".
  std::string str() const;
};

/// The bounds that the kernels \p Symbols of \p Variant have for integers which
/// the kernel \p OriginalSymbol of \p Original takes as they come. Pointers are
/// those of the original's parameters, with which the variant's begin.
llvm::Expected<std::vector<LoadedBound>>
boundsOnLoaded(llvm::StringRef Original, llvm::StringRef OriginalSymbol,
               llvm::StringRef Variant, llvm::ArrayRef<std::string> Symbols);

/// Lengths and offsets of all kinds, with buffers that bear them.
void addLengthCases(const GateCase &Base, llvm::ArrayRef<LoadedIntegers> Loaded,
                    CaseMakers &Makers);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_LOADEDINTEGERS_H
