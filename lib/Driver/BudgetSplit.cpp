//===- BudgetSplit.cpp - What each kernel may spend ---*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/BudgetSplit.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace cupilot {

double BudgetSplit::rest(size_t End) const {
  return std::accumulate(Shares.begin() + long(std::min(At, End)),
                         Shares.begin() + long(End), 0.0);
}

BudgetSplit::BudgetSplit(unsigned All, std::vector<double> Known,
                         unsigned Least)
    : Left(All), Shares(std::move(Known)) {
  if (std::ranges::all_of(Shares, [](double S) { return !(S > 0); }))
    std::ranges::fill(Shares, 1);
  while (Shares.size() > 1 && All * Shares.back() < Least * rest(Shares.size()))
    Shares.pop_back();
}

unsigned BudgetSplit::next() const {
  if (At >= Shares.size())
    return 0;
  return unsigned(std::lround(Left * Shares[At] / rest(Shares.size())));
}

void BudgetSplit::spend(unsigned Number) {
  Left -= std::min(Left, Number);
  ++At;
}

} // namespace cupilot
