//===- CostModel.h - Modelled time on a described GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ROOFLINE_COSTMODEL_H
#define CUPILOT_ROOFLINE_COSTMODEL_H

#include "cupilot/CpuDevice/CpuDevice.h"

namespace cupilot {

/// What the cost model must know of a GPU. Figures come from a table per GPU;
/// the H200's are measured ones.
struct GpuDescription {
  std::string Name, Arch;
  unsigned Multiprocessors = 0, MaxThreadsPerSM = 0, MaxBlocksPerSM = 0,
           RegistersPerSM = 0;
  uint64_t SharedPerSM = 0, SharedPerBlock = 0, L2Bytes = 0;
  double ClockGHz = 0;
  double DramGBs = 0, L2GBs = 0;
  double Fp32Tflops = 0, Fp64Tflops = 0, Fp16Tflops = 0;
  double LaunchMicroseconds = 0;
  double DramLatencyNs = 0;
  double NearLatencyNs = 0; ///< Of memory that was touched before.
  double BlockStartNs = 0;  ///< Between the starts of two blocks.
  double BlockTurnoverNs =
      0;                     ///< From a block's first warp's end to its last's.
  double HotAtomicNs = 0;    ///< Between two atomics on one place.
  double L2StoreCost = 1;    ///< A sector stored, in sectors read.
  double TensorPerCycle = 0; ///< Operations of f16 on matrices, for each
                             ///< multiprocessor; dense.
};

/// The description of \p Name ("H200"); a usage error lists the known ones.
llvm::Expected<GpuDescription> describeGpu(llvm::StringRef Name);

/// What ptxas says of a kernel.
struct KernelResources {
  unsigned Registers = 0;    ///< Per thread.
  uint64_t StaticShared = 0; ///< Bytes.
  uint64_t StackBytes = 0, SpillBytes = 0;
};

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

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_COSTMODEL_H
