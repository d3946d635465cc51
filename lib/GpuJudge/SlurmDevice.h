//===- SlurmDevice.h - The GPUs of a Slurm cluster -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_GPUJUDGE_SLURMDEVICE_H
#define CUPILOT_LIB_GPUJUDGE_SLURMDEVICE_H

#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Slurm/SlurmOptions.h"

namespace cupilot {

/// The options \p Given, those of the file cupilot.slurm beside \p Store where
/// they say nothing, and a folder for batches in the store where none does.
llvm::Expected<SlurmOptions> slurmOptionsFor(llvm::StringRef Given,
                                             llvm::StringRef Store);

/// Each group of a batch is a task of a job array.
llvm::Expected<std::unique_ptr<GpuDevice>> makeSlurmDevice(SlurmOptions O);

} // namespace cupilot

#endif // CUPILOT_LIB_GPUJUDGE_SLURMDEVICE_H
