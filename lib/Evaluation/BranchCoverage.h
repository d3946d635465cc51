//===- BranchCoverage.h - Which sides of a variant's code ran -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_BRANCHCOVERAGE_H
#define CUPILOT_LIB_EVALUATION_BRANCHCOVERAGE_H

#include "DecisionCode.h"

namespace cupilot {

/// A side of a decision that no case took.
struct MissingSide {
  unsigned Site = 0, Side = 0;
  bool AtLeast = false; ///< Of a loop: so many turns, or more.
  DecisionKind Kind = DecisionKind::Compare;
  std::string Location;
  bool HangsOnMemory = false;    ///< On loaded integers, too.
  bool HangsOnArguments = false; ///< On arguments alone.
  std::vector<FloatRef> Numbers; ///< The floating ones among these.
  /// When it is taken: one for each place where its function was inlined.
  std::vector<SideCondition> Places;
  /// Whether anything is known of when it is taken.
  bool isKnown() const {
    return llvm::any_of(Places, [](const SideCondition &C) { return C.Known; });
  }
  /// Whether launch and arguments alone say when, in all places.
  bool isExact() const {
    return llvm::all_of(
        Places, [](const SideCondition &C) { return C.Known && C.Exact; });
  }
};

/// A launch that may take a missing side: scalars and dimensions, or, beside
/// them, a number or a pointer to change.
struct SideProposal {
  Bindings Launch;
  std::optional<std::pair<FloatRef, double>> Number;
  std::optional<NullClause> Null;
  std::optional<PointerRef> Misaligned; ///< Or aligned, if it is not.
};

/// The decisions of a variant, and what its runs took. Comparisons of floats in
/// memory are data and do not count; nor do sides that only trap, and
/// conditions of loops that wait for other threads.
class BranchCoverage {
public:
  /// Reads the kernels of \p Plan from \p Bitcode, and what of their decisions
  /// is seen in \p Built, which another compiler made of the same text (or
  /// nothing).
  static llvm::Expected<BranchCoverage> create(const Kernel &K,
                                               llvm::StringRef Bitcode,
                                               const LaunchPlan &Plan,
                                               llvm::StringRef Built = {});

  /// What CpuDeviceOptions::OnlyDecisions must be for this bitcode.
  const llvm::BitVector &wanted() const { return Wanted; }
  /// The same for what was built; empty where nothing of it counts.
  const llvm::BitVector &wantedOfBuilt() const { return WantedOfBuilt; }
  /// Adds what a run decided: CpuModule::decided().
  void add(const llvm::BitVector &Decided) { addAt(0, Decided); }
  /// The same of a run of what was built.
  void addOfBuilt(const llvm::BitVector &Decided) {
    addAt(FirstSideOfBuilt, Decided);
  }
  /// Sides that no run took. In functions that \p Original has as well,
  /// instruction by instruction, what its own runs on the same cases did not
  /// take either is left out: there the original proves nothing more.
  std::vector<MissingSide>
  missing(const BranchCoverage *Original = nullptr) const;

  /// Launches near \p Base that would take the side, nearest first; the
  /// original may not bear them.
  std::vector<SideProposal> proposals(const MissingSide &M,
                                      const Bindings &Base) const;
  /// Whether no launch in \p Box takes it. False where that is not known.
  bool cannotHappenIn(const MissingSide &M, const DomainBox &Box) const;
  /// "k.cu:12:7: no case takes the branch when n > 16000".
  std::string text(const MissingSide &M) const;

private:
  BranchCoverage(const Kernel &K, DecisionCode Code);
  bool isTaken(unsigned Site, unsigned Side, bool AtLeast) const;
  bool missesToo(const DecisionSite &S, unsigned Side, bool AtLeast) const;
  void addBuilt(DecisionCode Built);
  void addAt(unsigned First, const llvm::BitVector &Decided);

  const Kernel *K;
  DecisionCode Code; ///< Those of what was built are the last.
  unsigned FirstOfBuilt = 0, FirstSideOfBuilt = 0;
  llvm::BitVector Wanted, WantedOfBuilt, Taken;
};

/// Whether some launch in \p Box may meet \p C. True where that is not known.
bool mayHold(const SideCondition &C, const DomainBox &Box, const Kernel &K);

/// Whether the launch \p B, with whatever floats and pointers, may meet \p C.
bool mayHold(const SideCondition &C, const Bindings &B);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_BRANCHCOVERAGE_H
