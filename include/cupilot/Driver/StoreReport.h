//===- StoreReport.h - A store as the report shows it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DRIVER_STOREREPORT_H
#define CUPILOT_DRIVER_STOREREPORT_H

#include "cupilot/Driver/GpuFacts.h"
#include "cupilot/Report/Report.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

struct ReportRequest {
  std::string Store;              ///< Folder.
  std::string Only;               ///< Kernels whose names hold it; "": all.
  std::vector<std::string> Flags; ///< Clang's.
  GpuFacts Gpu;
};

/// For renderReport.
struct StoreReport {
  std::vector<ReportKernel> Kernels; ///< The largest share first.
  ReportProgram Program;
};

/// The variants of the store and all candidates of the searches in its journal;
/// kernels of which nothing was kept, too, if a search of them ended. That a
/// kernel's work cannot be counted is said in \p Log. That there is none to
/// show is a finding.
llvm::Expected<StoreReport> reportOf(const ReportRequest &R,
                                     llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_STOREREPORT_H
