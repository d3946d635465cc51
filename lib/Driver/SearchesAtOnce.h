//===- SearchesAtOnce.h - Searches of several kernels at a time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_DRIVER_SEARCHESATONCE_H
#define CUPILOT_LIB_DRIVER_SEARCHESATONCE_H

#include "cupilot/Driver/SearchPlan.h"

namespace cupilot {

/// What the searches of a run have in common when they end.
struct SearchTotals {
  unsigned Accepted = 0;
  std::string OthersFailed; ///< As KernelSearches has it.
};

/// Searches the kernels of \p Items that there are, R.AtOnce at a time, each in
/// a process of its own. What the run may spend is split by their shares before
/// anything is asked. \p Experience: as KernelSearches has it. Errors as of
/// KernelSearches::evolveKernel, the first of \p Items; the others are told.
llvm::Error searchAtOnce(const EvolveRequest &R, llvm::StringRef Root,
                         llvm::StringRef Experience,
                         const WorkloadSet &Recorded,
                         llvm::MutableArrayRef<SearchItem> Items,
                         SearchTotals &Totals, llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_LIB_DRIVER_SEARCHESATONCE_H
