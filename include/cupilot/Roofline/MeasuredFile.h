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
// "variant" is left out for the original; metrics go by the keys of
// Profile/Metrics.def.
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
  /// The launch of \p Kernel (by symbol or name); null when it was not
  /// measured.
  const MeasuredLaunch *find(llvm::StringRef Symbol, llvm::StringRef Name,
                             llvm::StringRef Workload,
                             llvm::StringRef Variant) const;
};

/// A file that is not like that is a usage error.
llvm::Expected<MeasuredFile> loadMeasured(llvm::StringRef Path);

/// Puts the launches of \p New into the file \p Path, in the place of those of
/// the same kernels; of another GPU's nothing stays. Without launches nothing
/// is done.
llvm::Error addMeasured(llvm::StringRef Path, const MeasuredFile &New);

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_MEASUREDFILE_H
