//===- DeviceReferences.h - Results of another device -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_DEVICEREFERENCES_H
#define CUPILOT_LIB_EVALUATION_DEVICEREFERENCES_H

#include "Original.h"

namespace cupilot {

/// The float64 runs that results of other devices are compared with; each is
/// made once.
class DeviceReferences {
public:
  llvm::Expected<ReferenceVerdict> judge(OriginalRuns &O, size_t Index,
                                         const DeviceResults &Original,
                                         const DeviceResults &Variant);

private:
  /// By workload; null: there is none.
  std::map<size_t, std::unique_ptr<JudgedCase>> Known;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_DEVICEREFERENCES_H
