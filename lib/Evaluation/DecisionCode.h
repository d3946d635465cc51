//===- DecisionCode.h - When code takes the sides of its decisions -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_DECISIONCODE_H
#define CUPILOT_LIB_EVALUATION_DECISIONCODE_H

#include "SymbolicRanges.h"
#include "cupilot/CpuDevice/Decisions.h"

namespace cupilot {

/// A side of a decision, in terms of the original's launch: what must hold for
/// a thread to take it. What is not known is left out.
struct SideCondition {
  /// Each at least 0. A thread takes the side only if all are; whether one
  /// does, they do not say.
  std::vector<Polynomial> Needs;
  bool Known = false; ///< Something is said here at all.
  bool Exact = false; ///< It is the same for all threads.
  /// It holds for negative extents, too.
  bool AnySign = false;
  /// What is compared, and the type in which: what is too large for it wraps,
  /// and nothing is said.
  struct Fit {
    Polynomial Value;
    unsigned Bits = 32;
    bool Signed = true;
  };
  std::vector<Fit> Fits;
  /// A floating argument is compared with a number: true is FCmp's predicate.
  struct FloatTest {
    FloatRef Number;
    unsigned Predicate = 0;
    double Value = 0;
  };
  std::optional<FloatTest> Float;
  /// A pointer is null, or is not.
  std::optional<NullClause> Null;
  /// The low bits of pointers are compared with 0.
  struct AlignmentTest {
    std::vector<PointerRef> Pointers;
    uint64_t Bytes = 1;
    bool Aligned = false;
  };
  std::optional<AlignmentTest> Alignment;
  /// A loop that halves: its turns are the times that Start can lose Shift
  /// bits and stay above Bound.
  struct HalvingTest {
    SymbolicRange Start, Bound;
    unsigned Shift = 1;
    unsigned Turns = 0;
    bool AtLeast = false;
  };
  std::optional<HalvingTest> Halving;
  /// For people: "n > 16000". Empty where nothing can be said.
  std::string Text;
};

/// What is known of one site, over all launches of a plan and all places where
/// its function was inlined.
struct SiteFacts {
  bool Matters = false; ///< It hangs on launch, arguments or loaded integers.
  bool HangsOnMemory = false;
  /// What is compared follows from arguments alone.
  bool HangsOnArguments = false;
  std::vector<FloatRef> Numbers; ///< The floating ones among these.
  /// Sides that must be taken: by their number, for each place one condition.
  struct Side {
    unsigned Number = 0;
    bool AtLeast = false; ///< Turns: or more.
    std::vector<SideCondition> Places;
  };
  std::vector<Side> Sides;
};

/// The decisions of the kernels of a plan.
struct DecisionCode {
  std::vector<DecisionSite> Sites;
  std::vector<SiteFacts> Facts; ///< Beside Sites.
};
/// \p IsBuilt: an optimiser has been at the code, and inlined what is nobody's
/// decision. Only comparisons, minima and switches of integers count of which
/// launch and arguments say when they go which way.
llvm::Expected<DecisionCode> decisionsOf(const Kernel &K,
                                         llvm::StringRef Bitcode,
                                         const LaunchPlan &Plan,
                                         bool IsBuilt = false);

/// "n", "gx", "p.8": with the names of \p K's parameters.
std::string textOf(const Expr &E, const Kernel &K);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_DECISIONCODE_H
