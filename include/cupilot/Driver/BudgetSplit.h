//===- BudgetSplit.h - What each kernel may spend ---*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_BUDGETSPLIT_H
#define CUPILOT_DRIVER_BUDGETSPLIT_H

#include <cstddef>
#include <vector>

namespace cupilot {

/// A run's budget, a number of candidates or calls, for kernels that are
/// searched one after the other. Each gets its share of the kernel time: no
/// more than that can be won there (Amdahl's law). What one does not spend is
/// for those behind it.
class BudgetSplit {
public:
  /// \p Shares: of the kernels in their order, the largest first; if none is
  /// known (all 0), all are alike. Kernels at the end get nothing, so that each
  /// of the others gets \p Least.
  BudgetSplit(unsigned All, std::vector<double> Shares, unsigned Least);
  /// What the next kernel may spend; 0 for those at the end.
  unsigned next() const;
  /// The next kernel spent \p Number; the one behind it is the next.
  void spend(unsigned Number);

private:
  double rest(size_t End) const; ///< Of the shares, before \p End.
  unsigned Left;
  std::vector<double> Shares;
  size_t At = 0;
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_BUDGETSPLIT_H
