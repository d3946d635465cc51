//===- SearchTable.cpp - The kernels of a program by their time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/SearchTable.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace llvm;

namespace cupilot {

std::vector<LaunchedKernel> launchedKernels(const WorkloadSet &Recorded) {
  std::vector<LaunchedKernel> Kernels;
  std::map<StringRef, size_t> Known;
  for (const Workload &W : Recorded.All) {
    auto [It, New] = Known.try_emplace(W.Symbol, Kernels.size());
    if (New)
      Kernels.push_back({W.Symbol});
    if (W.isTimed())
      Kernels[It->second].Share += W.Weight;
  }
  llvm::sort(Kernels, [&](const LaunchedKernel &A, const LaunchedKernel &B) {
    return std::pair(-A.Share, Known[A.Symbol]) <
           std::pair(-B.Share, Known[B.Symbol]);
  });
  return Kernels;
}

Error ShareChoice::check() const {
  if (Top && *Top == 0)
    return usageError("--top=0 searches no kernel", "give 1 or more");
  if (!(Least >= 0 && Least <= 1))
    return usageError("--share is out of range",
                      "give a percentage from 0 to 100: --share=0.5");
  return Error::success();
}

double SearchTable::expected() const {
  double Known = 0, Gone = 0;
  for (const SearchRow &R : Rows) {
    Known += R.Share;
    if (R.Ratio > 0)
      Gone += R.Share - R.Share / R.Ratio;
  }
  return Known + UnchosenShare > 0 && Gone < 1 ? 1 / (1 - Gone) : 0;
}

Basis SearchTable::expectedBasis() const {
  bool Modelled = any_of(Rows, [](const SearchRow &R) {
    return R.Ratio > 0 && R.RatioBasis != Basis::Measured;
  });
  return Modelled ? Basis::Modelled : ShareBasis;
}

void SearchTable::print(raw_ostream &OS) const {
  const bool Shares = UnchosenShare > 0 || any_of(Rows, [](const SearchRow &R) {
                        return R.Share > 0;
                      });
  auto Share = [&](double Part) {
    if (Shares)
      OS << format("%6.1f%%", Part * 100);
    else
      OS << format("%7s", "-");
  };
  OS << format("%7s  %6s  %-12s  %-8s  %s\n", "share", "ratio", "interval",
               "basis", "kernel");
  for (const SearchRow &R : Rows) {
    Share(R.Share);
    const std::string Interval = intervalText(R.Low, R.High);
    if (R.Ratio > 0)
      OS << format("  %5.2fx  %-12s  %-8s  ", R.Ratio,
                   Interval.empty() ? "-" : Interval.c_str(),
                   wordOf(R.RatioBasis).str().c_str());
    else
      OS << format("  %6s  %-12s  %-8s  ", "-", "-", "-");
    OS << R.Kernel;
    if (!R.Why.empty())
      OS << ": " << R.Why;
    OS << "\n";
  }
  if (Unchosen) {
    Share(UnchosenShare);
    OS << format("  %6s  %-12s  %-8s  ", "-", "-", "-") << Unchosen
       << " more: left out by --only, --share or --top\n";
  }
  if (double Whole = expected(); Whole > 0)
    OS << format("expected by Amdahl's law: all kernels together %.2fx (%s)\n",
                 Whole, wordOf(expectedBasis()).str().c_str());
}

json::Object SearchTable::toJSON() const {
  const bool Shares = UnchosenShare > 0 || any_of(Rows, [](const SearchRow &R) {
                        return R.Share > 0;
                      });
  json::Array Kernels;
  for (const SearchRow &R : Rows) {
    json::Object K{{"kernel", R.Kernel}};
    if (Shares)
      K["share"] = R.Share;
    if (R.Ratio > 0) {
      K["ratio"] = R.Ratio;
      if (R.Low < R.High) {
        K["low"] = R.Low;
        K["high"] = R.High;
      }
      K["basis"] = wordOf(R.RatioBasis);
    }
    if (!R.Why.empty())
      K["why"] = R.Why;
    Kernels.push_back(std::move(K));
  }
  json::Object O{{"version", 1}, {"kernels", std::move(Kernels)}};
  if (Shares)
    O["shareBasis"] = wordOf(ShareBasis);
  if (Unchosen) {
    json::Object Left{{"kernels", Unchosen}};
    if (Shares)
      Left["share"] = UnchosenShare;
    O["unchosen"] = std::move(Left);
  }
  if (double Whole = expected(); Whole > 0)
    O["expected"] =
        json::Object{{"ratio", Whole}, {"basis", wordOf(expectedBasis())}};
  return O;
}

} // namespace cupilot
