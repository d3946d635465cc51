//===- CodeFacts.h - What device code does with its input -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read from the IR as clang emits it, before anything is optimised or turned
// into selects: which integers decide something and which are only data, what
// the code divides by and compares with, and what it squeezes into fewer bits.
// The gate chooses cases by it, and draws a domain's boxes.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_CODEFACTS_H
#define CUPILOT_LIB_EVALUATION_CODEFACTS_H

#include "cupilot/Model/Domain.h"
#include "cupilot/Model/Kernel.h"

namespace cupilot {

/// Where a value that a kernel gets goes, directly or through arithmetic.
struct ValueUse {
  bool Used = false;
  bool Decides = false;   ///< A branch, select, switch, or number of turns.
  bool Addresses = false; ///< An address, or an index into memory.
  bool Narrowed = false;  ///< Fewer bits than it has, or a floating type.
  /// Nothing but numbers that are computed with and stored: seeds, steps.
  bool isData() const { return Used && !Decides && !Addresses && !Narrowed; }
};

/// The code distinguishes values of \p E by their rest: a remainder, a mask, a
/// division, a shift, a tile.
struct ModulusFact {
  Expr E;
  int64_t Modulus = 1;
  std::string Location; ///< "k.cu:12:3", where known.
};

/// The code compares \p E with a constant.
struct ThresholdFact {
  Expr E;
  int64_t Value = 0;
  std::string Location;
};

/// The code compares a number that it gets with a constant.
struct FloatThresholdFact {
  FloatRef Number;
  double Value = 0;
  std::string Location;
};

/// An integer that ends in an index or a result goes through fewer bits.
struct NarrowingFact {
  /// What is narrowed, where it is an expression of launch and arguments: with
  /// thread and block indices at their largest.
  std::optional<Expr> Most;
  unsigned Bits = 32; ///< That are left; of the significand for floats.
  bool Signed = true;
  bool IsFloat = false;
  bool FromMemory = false; ///< It hangs on loaded integers, too.
  std::string What;        ///< "trunc i64 to i32".
  std::string Location;
};

/// What the code of some kernels does with the arguments of the original's
/// signature and with the launch.
struct CodeFacts {
  std::vector<ValueUse> Scalars;  ///< Beside Kernel::Scalars.
  std::vector<ValueUse> Pointers; ///< Beside Kernel::Pointers.
  /// Floating arguments and fields that the code reads.
  std::vector<std::pair<FloatRef, ValueUse>> Floats;
  std::array<ValueUse, NumLaunchDims> Dims;
  /// Products of two or more of scalars and launch dimensions that the code
  /// forms, each once; thread and block indices count as their dimension.
  std::vector<Expr> Products;
  std::vector<ModulusFact> Moduli;
  std::vector<ThresholdFact> Thresholds;
  std::vector<FloatThresholdFact> FloatThresholds;
  std::vector<NarrowingFact> Narrowings;
};

/// Reads the kernels \p Symbols of \p Bitcode, as clang wrote it for the gate.
/// Their first parameters are those of \p K. In kernels of a plan, launch
/// dimensions are the plan's own and say nothing of the original's; only
/// \p OwnLaunch makes them facts.
llvm::Expected<CodeFacts> factsOf(const Kernel &K, llvm::StringRef Bitcode,
                                  llvm::ArrayRef<std::string> Symbols,
                                  bool OwnLaunch);

/// The same of the kernels of a plan, each in terms of the original's launch:
/// where the plan's grid is an expression of a scalar, the scalar decides.
llvm::Expected<CodeFacts> factsOf(const Kernel &K, llvm::StringRef Bitcode,
                                  const LaunchPlan &Plan);

/// The variant's narrowings that the original lacks: its own go through at
/// least as many bits, or hold smaller numbers. For each a domain needs
/// fits(), or, FromMemory, nothing can be written that would bound it. A bound
/// that recorded launches break is none: such arithmetic wraps on purpose.
std::vector<NarrowingFact> narrowerThan(const CodeFacts &Original,
                                        const CodeFacts &Variant);

/// Where nothing is lost: N.Most at most the largest number of the type (all
/// integers up to which a floating type has). Nothing without a Most.
std::optional<RangeClause> fits(const NarrowingFact &N);

/// The constants by which what is \p Built tells launches apart, and \p Sources
/// do not. Those of tiles that an optimiser makes by itself are left out.
CodeFacts onlyInBuilt(const CodeFacts &Built, const CodeFacts &Sources);

/// What either code does.
CodeFacts both(CodeFacts A, const CodeFacts &B);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_CODEFACTS_H
