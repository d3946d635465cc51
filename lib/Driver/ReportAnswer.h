//===- ReportAnswer.h - What was won, for the report -------------*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_DRIVER_REPORTANSWER_H
#define CUPILOT_LIB_DRIVER_REPORTANSWER_H

#include "cupilot/Report/Report.h"
#include "cupilot/Store/ProjectStore.h"

namespace cupilot {

/// Fills in the share of \p K, which \p S is, where a recording says it.
void addShare(const StoredKernel &S, ReportKernel &K);

/// For each compiler and architecture the variant that builds prefer, with the
/// times of \p Rooflines on the GPU \p Gpu, one for each workload of \p S in
/// this order, where they are of the same code and GPU.
std::vector<ReportBest> bestOf(const StoredKernel &S, llvm::StringRef Gpu,
                               llvm::ArrayRef<ReportRoofline> Rooflines);

/// Sorts \p Kernels by share and says what they win together. Shares that do
/// not belong together are taken away. \p IsWhole: these are all of a store.
ReportProgram answerFor(std::vector<ReportKernel> &Kernels, bool IsWhole);

} // namespace cupilot

#endif // CUPILOT_LIB_DRIVER_REPORTANSWER_H
