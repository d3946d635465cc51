//===- ImpulseProbes.h - Impulses at every place -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_IMPULSEPROBES_H
#define CUPILOT_LIB_EVALUATION_IMPULSEPROBES_H

#include "Compare.h"
#include "Impulses.h"

namespace cupilot {

class OriginalRuns;

/// Launches in which one number of each window of a buffer stands out, at
/// another place in each window and launch. Windows are as long as it takes
/// for the original's results to show each of the numbers by itself.
struct ImpulseSweep {
  size_t Buffer = 0;
  bool Negative = false;
  uint64_t Window = 1;           ///< Length, in numbers.
  std::vector<uint64_t> Windows; ///< Those that the original reads.
  uint64_t Step = 1;  ///< By so much the place moves from window to window;
                      ///< after so many launches each place had one in some.
  uint64_t Count = 0; ///< Launches; after Window each number had one.
  double Effect = 0;  ///< Numbers of the results that a launch changes much.
};

/// The impulses of a base case, and what the original makes of them.
class ImpulseProbes {
public:
  /// Tries on the original what windows there are. \p Cost is that of a run, in
  /// instructions of all threads.
  static llvm::Expected<std::unique_ptr<ImpulseProbes>>
  plan(OriginalRuns &O, const JudgedCase &Base, double Cost);

  size_t count() const;
  std::vector<Impulse> impulses(size_t Launch) const;
  /// What the original leaves behind; null where it faults.
  llvm::Expected<std::shared_ptr<const RunResult>> original(size_t Launch);
  const JudgedCase &base() const { return Base; }
  /// Where impulses are, for the verdict: "buffer 0: 4096 numbers ...".
  llvm::ArrayRef<std::string> choices() const { return Choices; }

private:
  ImpulseProbes(OriginalRuns &O, const JudgedCase &Base) : O(O), Base(Base) {}
  struct Trial {
    double Overlap = 0; ///< Share of results that two halves both change.
    double Effect = 0;
    bool Adds = false; ///< What both halves change, they change together by
                       ///< the sum.
  };
  bool isRead(size_t Buffer, uint64_t Index) const;
  std::vector<uint64_t> candidates(size_t Buffer) const;
  ImpulseSweep sweepOf(size_t Buffer, bool Negative, uint64_t Window) const;
  std::vector<Impulse> impulses(const ImpulseSweep &S, uint64_t Launch) const;
  llvm::Expected<std::optional<Trial>> attempt(const ImpulseSweep &S,
                                               unsigned Round);
  llvm::Expected<std::optional<ImpulseSweep>> findSweep(size_t Buffer,
                                                        bool Negative);
  void allot(double Cost);

  OriginalRuns &O;
  const JudgedCase &Base;
  std::vector<ImpulseSweep> Sweeps;
  std::vector<std::string> Choices;
  std::vector<std::shared_ptr<const RunResult>> Kept;
  std::vector<bool> Ran;
  uint64_t KeptBytes = 0;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_IMPULSEPROBES_H
