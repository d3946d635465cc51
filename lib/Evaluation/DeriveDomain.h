//===- DeriveDomain.h - Boxes around the launches that were tried -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the launches on which a variant was right, and those on which it was
// not, to the domain in which it may run. Launches that agree in their flags,
// null pointers and equal pointers share a box; a box is the hull of its right
// launches in every integer, launch dimension and product that the codes form,
// cut back until no wrong launch lies in it.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_DERIVEDOMAIN_H
#define CUPILOT_LIB_EVALUATION_DERIVEDOMAIN_H

#include "CodeFacts.h"
#include "cupilot/Evaluation/GateCase.h"

namespace cupilot {

/// A launch on which a variant ran.
struct TriedLaunch {
  std::string Case; ///< "w0 n=1021".
  Bindings B;
  std::vector<std::vector<uint8_t>> Args; ///< With addresses.
  /// Why it was wrong; nothing: it was right.
  std::optional<GateReason> Wrong;
  std::string Evidence;    ///< In a sentence, where it was wrong.
  bool Recorded = false;   ///< As it was captured, or what stands for it.
  uint64_t Misaligned = 0; ///< Bytes that all buffers are off by.
  llvm::SmallVector<unsigned, 3> Crowded; ///< As GateCase's.
  bool Roomy = false;                     ///< Likewise.
  /// Beside Kernel::Pointers, bytes among which are all that the original
  /// touched behind each. Nothing where it touched none, or that is not known.
  std::vector<std::optional<Interval>> Touched;
};

/// \p C as a domain sees it: buffers lie far apart.
TriedLaunch triedLaunch(const Kernel &K, const GateCase &C);

/// The arguments of \p W, with addresses of buffers that lie far apart.
std::vector<std::vector<uint8_t>> placedArguments(const Workload &W);

/// What a domain's clauses are about.
struct DomainFrame {
  const Kernel *K = nullptr;
  CodeFacts Facts; ///< Of both codes.
  /// Scalars that are told apart by value: indices into Kernel::Scalars.
  std::vector<unsigned> Flags;
  /// Pointers that a launch may hand in equal, of which one is written: indices
  /// into Kernel::Pointers.
  std::vector<std::pair<unsigned, unsigned>> Pairs;
  /// Blocks beyond those that cover a size. They bound a box only where more of
  /// them are wrong.
  std::vector<Expr> Surplus;
  /// Beside Kernel::Pointers: the bytes that the original touches behind each,
  /// as far as they follow a polynomial near the recorded sizes, ...
  std::vector<std::optional<Extents>> Touched;
  /// ... and what its type asks of an address, in bytes.
  std::vector<unsigned> Natural;
};

/// A launch, and whether bounds are to be near to what was touched in it.
struct KnownTouch {
  const TriedLaunch *L = nullptr;
  bool IsAnchor = false;
};

/// Bytes among which are all that the original touched behind pointer \p P in
/// each launch of \p Known: the polynomial of \p F where it holds on all of
/// them, else multiples of products of \p Variables.
Extents touchedIn(const DomainFrame &F, unsigned P,
                  llvm::ArrayRef<KnownTouch> Known,
                  llvm::ArrayRef<Expr> Variables);

/// What \p E can be in \p Box, by interval arithmetic; nothing where that is
/// not bounded.
std::optional<Interval> rangeIn(const Expr &E, const DomainBox &Box);

/// Derives the domain. No boxes where no launch was right. \p Ends gets why
/// boxes are no larger.
Domain deriveDomain(const DomainFrame &F, llvm::ArrayRef<TriedLaunch> Tried,
                    std::vector<DomainEnd> &Ends);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_DERIVEDOMAIN_H
