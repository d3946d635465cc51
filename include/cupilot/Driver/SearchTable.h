//===- SearchTable.h - The kernels of a program by their time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_SEARCHTABLE_H
#define CUPILOT_DRIVER_SEARCHTABLE_H

#include "cupilot/Driver/Choice.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// A kernel of a recording and what its launches take.
struct LaunchedKernel {
  std::string Symbol;
  double Share = 0; ///< Of the program's kernel time, 0 to 1.
};

/// The kernels of \p Recorded, those with the largest share first, equal ones
/// in the order of the recording. What the gate alone uses has no time.
std::vector<LaunchedKernel> launchedKernels(const WorkloadSet &Recorded);

/// Which kernels of a recording are worth a search.
struct ShareChoice {
  std::optional<unsigned> Top; ///< So many with the largest shares.
  double Least = 0;            ///< Share that a kernel must have, 0 to 1.

  /// Numbers out of range are usage errors.
  llvm::Error check() const;
};

/// What became of a kernel.
struct SearchRow {
  std::string Kernel;       ///< Its name.
  double Share = 0;         ///< Of the program's kernel time.
  double Ratio = 0;         ///< Of its best variant; 0: none.
  double Low = 0, High = 0; ///< Its interval; Low is High if none is known.
  Basis RatioBasis = Basis::Modelled;
  std::string Why = {}; ///< Why there is no variant, in one line.

  /// The first line of \p Reason is why.
  void leaveOut(llvm::StringRef Reason) {
    Why = Reason.split('\n').first.str();
  }
};

/// What a run ends with.
struct SearchTable {
  std::vector<SearchRow> Rows; ///< In the order of the searches.
  Basis ShareBasis = Basis::Modelled;
  unsigned Unchosen = 0; ///< Kernels that the user did not want.
  double UnchosenShare = 0;

  /// How many times as fast all launches together are when those with a
  /// variant take it: Amdahl's law. 0 where no share is known.
  double expected() const;
  /// Measured, if every number that it stands on is.
  Basis expectedBasis() const;
  void print(llvm::raw_ostream &OS) const;
  /// The same for programs; docs/Evolution.md says what the keys mean.
  llvm::json::Object toJSON() const;
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_SEARCHTABLE_H
