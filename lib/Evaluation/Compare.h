//===- Compare.h - A variant's results next to the original's -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_COMPARE_H
#define CUPILOT_LIB_EVALUATION_COMPARE_H

#include "Runner.h"

namespace cupilot {

/// A case with the original's results.
struct JudgedCase {
  GateCase Case;
  RunResult Original;
  /// Buffers after the float64 run. Of a far case they are the original's
  /// until a comparison asks for more.
  mutable std::vector<Bytes> Reference;
  mutable bool HasReference = true;
  /// Reference is the original's own, for want of a float64 run.
  bool OwnPrecision = false;
  uint8_t Fill = Poison;                ///< What pure outputs hold before.
  std::vector<BufferCoverage> Coverage; ///< Of the original, when Thorough.
  double Cost = 0;       ///< By OriginalRuns::estimate(); 0 where nobody asked.
  bool AnyOrder = false; ///< The contract holds for the original, last thread
                         ///< first.
  bool SameBits = false; ///< It then even has the same bits.
  llvm::BitVector Decided; ///< Sides that the original took.
  /// What it touches behind each pointer, as touchedBytes() says; once it is
  /// asked for.
  mutable std::optional<std::vector<std::optional<Interval>>> Touched;
  /// How far each number moves, by its byte, when the inputs move by a unit in
  /// the last place. Empty until a comparison fails without it.
  mutable std::vector<std::vector<double>> Sensitivity;
  /// How far each double is off by the original's own roundings, by its byte
  /// (Shaken.cpp); empty where nobody asked, or nothing is a double.
  mutable std::vector<std::vector<double>> Shaken;
  /// Under a relaxed contract: rounding the operands of products as it allows
  /// changes nothing, so that a variant may have the errors of "same".
  bool AsExact = false;
  /// How far the errors of each buffer may lean to one side, as Rounding.cpp
  /// says; empty when that is not asked.
  std::vector<double> Lean;
  /// The same with another fill, where the original's results look unwritten.
  std::unique_ptr<JudgedCase> Refilled;
};

/// The largest errors that a comparison saw.
struct ErrorRange {
  double Mine = 0, Own = 0;
};

/// What is wrong with \p Got; nothing when the contract holds.
std::optional<GateFinding> compareRuns(const JudgedCase &J,
                                       const RunResult &Got,
                                       const PrecisionContract &Contract,
                                       ErrorRange &Errors);

/// What \p Got takes of the heap beyond its budget; nothing when it does not.
std::optional<GateFinding> compareMemory(const JudgedCase &J,
                                         const RunResult &Got);
/// What scratch memory of \p Run is beyond the budget.
std::optional<GateFinding> compareScratch(const JudgedCase &J,
                                          const PlannedRun &Run);

/// The same for the local memory of the launches of \p Plan.
llvm::Expected<std::optional<GateFinding>>
compareLocalMemory(const LoadedKernel &Original, llvm::StringRef OriginalSymbol,
                   const LoadedKernel &Variant, const LaunchPlan &Plan);

/// What \p L is under \p B, where planShape() says that it is no launch.
std::string describeIllegal(const Launch &L, const Bindings &B);
/// The same of scratch memory, and of a tensor map over the address \p Base.
std::string describeIllegal(const Expr &Scratch, const Bindings &B);
std::string describeIllegal(const TensorMapPlan &Map, const Bindings &B,
                            uint64_t Base);

/// The fault in words, without its address where that is chance: shared memory
/// and the heap lie elsewhere in every process.
std::string evidenceOf(DeviceFault F);

GateFinding makeFinding(GateReason Reason, llvm::StringRef Workload,
                        const llvm::Twine &Evidence);
/// What \p E says against the variant; \p Usage is the reason for a wrong use.
/// A fault of this machine says nothing of it, and is returned.
llvm::Expected<GateFinding> findingOf(llvm::Error E, llvm::StringRef Workload,
                                      GateReason Usage = GateReason::CannotRun);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_COMPARE_H
