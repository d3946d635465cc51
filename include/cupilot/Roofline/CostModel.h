//===- CostModel.h - Modelled time on a described GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ROOFLINE_COSTMODEL_H
#define CUPILOT_ROOFLINE_COSTMODEL_H

#include "cupilot/Model/ExecutionCounts.h"
#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Model/KernelResources.h"
#include "cupilot/Model/LaunchPlan.h"

namespace cupilot {

/// The resources of the kernel \p Symbol in \p Ptx, from `ptxas -v`. Without
/// a ptxas: a resource error.
llvm::Expected<KernelResources>
kernelResources(llvm::StringRef Ptx, llvm::StringRef Symbol,
                llvm::StringRef Arch, llvm::ArrayRef<std::string> Flags);

/// Blocks that a multiprocessor holds at once, as NVIDIA's occupancy calculator
/// has it; 0: the launch fails on this GPU.
unsigned residentBlocks(const GpuDescription &Gpu, const KernelResources &R,
                        const LaunchShape &Shape);

/// Resident warps over the maximum, 0 to 1.
double occupancy(const GpuDescription &Gpu, const KernelResources &R,
                 const LaunchShape &Shape);

enum class Bottleneck { Compute, Memory, Latency, Middle };
llvm::StringRef toString(Bottleneck B);

/// A modelled, never a measured, time.
struct ModelledTime {
  double Microseconds = 0;
  // The terms, in microseconds; the time is made of them.
  double Dram = 0, L2 = 0, Shared = 0, Issue = 0, Fp = 0, Latency = 0,
         Launch = 0;
  double Occupancy = 0;
  double Intensity = 0; ///< Floating-point operations per DRAM byte.
  Bottleneck Class = Bottleneck::Middle;
};

/// A launch that the GPU cannot hold has an infinite time; one of no blocks
/// does nothing but the launch.
ModelledTime modelTime(const GpuDescription &Gpu, const ExecutionCounts &Counts,
                       const KernelResources &R, const LaunchShape &Shape);

/// Microseconds by term; an infinite time is null.
llvm::json::Object toJSON(const ModelledTime &T);

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_COSTMODEL_H
