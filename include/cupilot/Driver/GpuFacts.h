//===- GpuFacts.h - The GPU that times are compared with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DRIVER_GPUFACTS_H
#define CUPILOT_DRIVER_GPUFACTS_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"
#include "cupilot/Roofline/MeasuredFile.h"

namespace cupilot {

/// A GPU's name, and files about it; "": none.
struct GpuRequest {
  std::string Name = "H200";
  std::string Ceilings, Measured;
};

/// A GPU, what it can do, and what was measured on it.
struct GpuFacts {
  GpuDescription Gpu;
  Ceilings C;
  MeasuredFile Measured;

  /// An unknown GPU, a file that cannot be read, and times of another GPU are
  /// usage errors. Where no times are named, those are taken that the searches
  /// of \p Store measured on it.
  static llvm::Expected<GpuFacts> load(const GpuRequest &R,
                                       llvm::StringRef Store = "");
};

/// What \p Measured says of \p V, a variant, or "" for the original, on \p W,
/// which it may call as the capture did or as stores do (caseName()); null if
/// nothing.
const MeasuredLaunch *measuredOn(const MeasuredFile &Measured, const Kernel &K,
                                 const Workload &W, llvm::StringRef V);

} // namespace cupilot

#endif // CUPILOT_DRIVER_GPUFACTS_H
