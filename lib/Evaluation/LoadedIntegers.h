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

namespace llvm {
class DataLayout;
class Type;
} // namespace llvm

namespace cupilot {

/// Where loaded integers lie: behind a pointer of the kernel, or in a device
/// variable that a program can set.
struct LoadedFrom {
  PointerRef Pointer;     ///< Unless there is a variable.
  std::string Variable{}; ///< The symbol of a device variable.
  uint64_t First = 0;     ///< In it: the byte where the first one begins ...
  uint64_t Step = 0;      ///< ... the bytes to the next (0: there is none) ...
  unsigned Size = 0;      ///< ... and the bytes of each.
  bool operator==(const LoadedFrom &) const = default;
  /// Whether all integers of \p Other are among these.
  bool holds(const LoadedFrom &Other) const;
};

/// What becomes of the integers of one place.
struct LoadedIntegers {
  LoadedFrom From;
  bool Turns = false;     ///< They end loops ...
  bool Begins = false;    ///< ... and begin them: offsets of rows.
  bool Decides = false;   ///< Branches, selects and switches of other kinds.
  bool Addresses = false; ///< They are, or lead to, indices.
  bool Boolean = false;   ///< Only their lowest bit decides.
  bool Changed = false;   ///< The kernel stores to the variable.
  std::vector<int64_t> Constants{}; ///< That they are compared with.
};

/// The integers in device variables that a load of \p T from \p Address may
/// read: one entry for each element of a vector; none for other memory, and for
/// variables that never change.
std::vector<LoadedFrom> variablesAt(const llvm::Value &Address,
                                    const llvm::Type &T,
                                    const llvm::DataLayout &DL);
/// The integers at \p From in \p Content of its variable, sign-extended.
std::vector<int64_t> integersAt(const LoadedFrom &From,
                                llvm::ArrayRef<uint8_t> Content);
/// Puts \p Values there, cut to the integers' size.
void setIntegersAt(const LoadedFrom &From, llvm::ArrayRef<int64_t> Values,
                   llvm::MutableArrayRef<uint8_t> Content);

/// Of the kernels \p Symbols of \p Bitcode, as clang wrote it for the gate, by
/// place. What does not decide anything is left out.
llvm::Expected<std::vector<LoadedIntegers>>
loadedIntegersOf(llvm::StringRef Bitcode, llvm::ArrayRef<std::string> Symbols);

/// A bound for loaded integers in the code.
struct LoadedBound {
  /// Whether \p C has integers there that go beyond it.
  bool isPassedIn(const GateCase &C) const;
  enum class Kind {
    FixedArray,    ///< An array of fixed size that they index.
    ConstantTurns, ///< A loop over them that also ends after a fixed number.
    NarrowType,    ///< A type of fewer bits than they have.
    NarrowFloat,   ///< A float that holds fewer of their bits.
    NarrowSum,     ///< They are added or multiplied in fewer bits.
  };
  Kind K = Kind::FixedArray;
  LoadedFrom From;
  uint64_t Bound = 0;   ///< Elements, turns or bits.
  std::string Location; ///< "k.cu:12:3"; "" where that is not known.
  /// For people: "an array of 64 elements is indexed by what buffer ...".
  std::string str() const;
};

/// The bounds that the kernels \p Symbols of \p Variant have for integers which
/// the kernel \p OriginalSymbol of \p Original takes as they come. Pointers are
/// those of the original's parameters, with which the variant's begin;
/// variables those that the original's module has.
llvm::Expected<std::vector<LoadedBound>>
boundsOnLoaded(llvm::StringRef Original, llvm::StringRef OriginalSymbol,
               llvm::StringRef Variant, llvm::ArrayRef<std::string> Symbols);

/// Lengths and offsets of all kinds, with buffers that bear them. Device
/// variables that \p Base does not set start as \p Variables say; the launch
/// \p Base takes \p Cost instructions.
void addLengthCases(const GateCase &Base, llvm::ArrayRef<LoadedIntegers> Loaded,
                    llvm::ArrayRef<std::pair<std::string, Bytes>> Variables,
                    double Cost, CaseMakers &Makers);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_LOADEDINTEGERS_H
