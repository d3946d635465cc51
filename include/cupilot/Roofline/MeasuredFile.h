//===- MeasuredFile.h - Measured launches from a file -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   {"card": "NVIDIA H200", "launches": [
//     {"kernel": "_Z4stepPf", "workload": "w0", "variant": "v_1a2b3c4d",
//      "microseconds": 12.3, "metrics": {"dramThroughput": 81.2},
//      "reason": "no rights: ..."}]}
//
// "variant" is left out for the original, "workload" for a kernel's only one.
// A store's own files name workloads as the store does. Metrics go by the keys
// of Profile/Metrics.def.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ROOFLINE_MEASUREDFILE_H
#define CUPILOT_ROOFLINE_MEASUREDFILE_H

#include "cupilot/Roofline/Prophet.h"

namespace cupilot {

/// What a file of measured launches holds.
struct MeasuredFile {
  struct Entry {
    std::string Kernel, Workload, Variant;
    MeasuredLaunch Launch;
  };
  std::string Gpu;
  std::vector<Entry> Entries;
  /// The launch of a kernel (by symbol or name) on the workload of one of the
  /// names \p Workload; null when it was not measured. An entry that names no
  /// workload is of all.
  const MeasuredLaunch *find(llvm::StringRef Symbol, llvm::StringRef Name,
                             llvm::ArrayRef<std::string> Workload,
                             llvm::StringRef Variant) const;
};

/// A file that is not like that is a usage error.
llvm::Expected<MeasuredFile> loadMeasured(llvm::StringRef Path);

/// The text of such a file.
std::string measuredText(const MeasuredFile &F);

/// What the searches of the store \p Root measured on \p Gpu: a file
/// measured/SEARCH.json each; in stores of formats before 6, measured.json. Of
/// a launch that several measured, the first file's stands.
llvm::Expected<MeasuredFile> storedMeasurements(llvm::StringRef Root,
                                                llvm::StringRef Gpu);

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_MEASUREDFILE_H
