//===- GpuOptions.h - The GPU that times are compared with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CUPILOT_GPUOPTIONS_H
#define CUPILOT_TOOLS_CUPILOT_GPUOPTIONS_H

#include "Command.h"
#include "cupilot/Roofline/MeasuredFile.h"

namespace cupilot {

/// A GPU, what it can do, and what was measured on it.
struct GpuFacts {
  GpuDescription Gpu;
  Ceilings C;
  MeasuredFile Measured;
};

/// --gpu, --ceilings and --measured.
class GpuOptions {
public:
  explicit GpuOptions(llvm::cl::SubCommand &Sub);
  /// An unknown GPU, a file that cannot be read, and times of another GPU
  /// are usage errors. Without --measured, what \p Known holds of the GPU is
  /// taken, if that file is there.
  llvm::Expected<GpuFacts> load(llvm::StringRef Known = "") const;

private:
  llvm::cl::opt<std::string> Measured, Ceilings, Gpu;
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_GPUOPTIONS_H
