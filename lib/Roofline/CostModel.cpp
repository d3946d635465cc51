//===- CostModel.cpp - Modelled time on a described GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/CostModel.md explains the terms.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

Expected<GpuDescription> describeGpu(StringRef Name) {
  if (Name != "H200" && Name != "NVIDIA H200")
    return usageError("no description of the GPU '" + Name + "'",
                      "known: H200");
  GpuDescription G;
  G.Name = "NVIDIA H200";
  G.Arch = "sm_90";
  // CUDA C++ Programming Guide, compute capability 9.0.
  G.Multiprocessors = 132;
  G.MaxThreadsPerSM = 2048;
  G.MaxBlocksPerSM = 32;
  G.RegistersPerSM = 65536;
  G.SharedPerSM = 228 * 1024;
  G.SharedPerBlock = 227 * 1024;
  G.L2Bytes = 60ull << 20;
  G.ClockGHz = 1.98;
  // Measured on one H200 (benchmarks/README.md): copies at 4.30 TB/s, float32
  // products at 51.3 and float64 (tensor) products at 59.8 TFLOP/s.
  G.DramGBs = 4300;
  G.L2GBs = 7000;
  G.Fp32Tflops = 51.3;
  G.Fp64Tflops = 30;
  G.Fp16Tflops = 100;
  G.LaunchMicroseconds = 2.0;
  G.DramLatencyNs = 600;
  return G;
}

static unsigned residentBlocks(const GpuDescription &Gpu,
                               const KernelResources &R,
                               const LaunchShape &Shape) {
  uint64_t Threads = Shape.Block[0] * Shape.Block[1] * Shape.Block[2];
  uint64_t Warps = divideCeil(Threads, 32);
  uint64_t Blocks =
      std::min<uint64_t>(Gpu.MaxBlocksPerSM, Gpu.MaxThreadsPerSM / 32 / Warps);
  // Registers are given to warps in units of 256; a block also takes 1 KiB of
  // shared memory for the system.
  uint64_t Registers =
      alignTo(uint64_t(std::max(R.Registers, 16u)) * 32, 256) * Warps;
  Blocks = std::min<uint64_t>(Blocks, Gpu.RegistersPerSM / Registers);
  uint64_t Shared = alignTo(R.StaticShared + Shape.Shared, 128) + 1024;
  return std::min<uint64_t>(Blocks, Gpu.SharedPerSM / Shared);
}

double occupancy(const GpuDescription &Gpu, const KernelResources &R,
                 const LaunchShape &Shape) {
  uint64_t Threads = Shape.Block[0] * Shape.Block[1] * Shape.Block[2];
  return double(residentBlocks(Gpu, R, Shape)) * divideCeil(Threads, 32) * 32 /
         Gpu.MaxThreadsPerSM;
}

StringRef toString(Bottleneck B) {
  switch (B) {
  case Bottleneck::Compute:
    return "compute";
  case Bottleneck::Memory:
    return "memory";
  case Bottleneck::Latency:
    return "latency";
  case Bottleneck::Middle:
    return "middle";
  }
  return "";
}

ModelledTime modelTime(const GpuDescription &Gpu, const ExecutionCounts &C,
                       const KernelResources &R, const LaunchShape &Shape) {
  ModelledTime T;
  uint64_t Blocks = Shape.Grid[0] * Shape.Grid[1] * Shape.Grid[2];
  double Threads = double(Shape.Block[0] * Shape.Block[1] * Shape.Block[2]);
  double Resident = std::max(residentBlocks(Gpu, R, Shape), 1u);
  T.Occupancy = occupancy(Gpu, R, Shape);
  // A wave is as many blocks as fit at once. The last one may leave
  // multiprocessors idle: the busiest one decides.
  double SMs = Gpu.Multiprocessors;
  double BlocksOnBusiest = std::ceil(double(Blocks) / SMs);
  double Used = std::min(double(Blocks), SMs);
  double Balance = double(Blocks) /
                   (BlocksOnBusiest * SMs); // Work per SM over the busiest's.
  double WarpsPerSM =
      std::min(BlocksOnBusiest, Resident) * std::ceil(Threads / 32);

  double Sectors = double(C.GlobalLoadSectors + C.GlobalStoreSectors);
  double Unique = double(C.UniqueSectors);
  // What is touched again comes from the L2 as long as the whole fits there.
  double Footprint = Unique * 32;
  double Refetch = Footprint > Gpu.L2Bytes ? 0.5 * (Sectors - Unique) : 0;
  double DramBytes = (Unique + std::max(Refetch, 0.0)) * 32;
  // Bandwidth needs bytes in flight (Little's law): warps times the bytes that
  // each keeps outstanding.
  double Accesses = double(C.GlobalLoads + C.GlobalStores);
  double BytesPerAccess = Accesses > 0 ? Sectors * 32 / Accesses : 0;
  double InFlight = Used * WarpsPerSM * std::min(BytesPerAccess * 2, 1024.0);
  double Reachable = InFlight / Gpu.DramLatencyNs; // GB/s.
  T.Dram = DramBytes / (std::min(Gpu.DramGBs, std::max(Reachable, 1.0)) * 1e3);
  // The L1 serves most of what a multiprocessor touches again.
  double L2Sectors = Unique + 0.1 * std::max(Sectors - Unique, 0.0);
  T.L2 = L2Sectors * 32 /
         (std::min(Gpu.L2GBs, std::max(Reachable * 3, 1.0)) * 1e3);

  double Cycle = 1e-3 / Gpu.ClockGHz; // Microseconds.
  double PerSM = Cycle / (SMs * Balance);
  T.Shared = double(C.SharedWavefronts) * PerSM;
  // Four schedulers issue one warp instruction per cycle each; a memory
  // instruction goes through the one load-store unit.
  double Issue = double(C.WarpInstructions) / 4;
  double LoadStore = Accesses + double(C.SharedAccesses + C.LocalAccesses);
  T.Issue = std::max(Issue, LoadStore) * PerSM;
  double Float = double(C.Fp32) / 128 + double(C.Fp64) / 64 +
                 double(C.Fp16) / 256 + double(C.Special + C.Conversion) / 16 +
                 double(C.Shuffle) / 32 + double(C.Integer) / 64;
  T.Fp = Float * PerSM;
  // What one warp waits for when nothing else runs: its chain of accesses and
  // barriers, hidden by the other warps of its scheduler.
  double Warps = std::max(double(C.Warps), 1.0);
  // A first touch waits for DRAM, a second one for the L1; the compiler keeps
  // about four accesses of a warp in flight.
  double FirstTouch = Sectors > 0 ? std::min(1.0, Unique / Sectors) : 0;
  double AccessLatency =
      FirstTouch * Gpu.DramLatencyNs * 1e-3 + (1 - FirstTouch) * 35 * Cycle;
  double Chain = Accesses / Warps * AccessLatency / 4 +
                 double(C.SharedAccesses) / Warps * 30 * Cycle +
                 double(C.Barriers) / Warps * 40 * Cycle +
                 double(C.WarpInstructions) / Warps * 4 * Cycle;
  double Waves = std::ceil(BlocksOnBusiest / Resident);
  T.Latency = Waves * Chain + double(C.AtomicOps) / (Used * 32) * Cycle;
  T.Launch = Gpu.LaunchMicroseconds + BlocksOnBusiest * 0.3 * Cycle * 100;

  double Memory = std::max(T.Dram, T.L2),
         Compute = std::max({T.Issue, T.Fp, T.Shared});
  double Throughput = std::max(Memory, Compute);
  // The terms overlap, though never fully.
  T.Microseconds = T.Launch + std::max(Throughput, T.Latency) +
                   0.15 * (Memory + Compute + T.Latency -
                           std::max({Memory, Compute, T.Latency}));
  T.Intensity =
      DramBytes > 0 ? double(C.Fp32 + C.Fp64 + C.Fp16) / DramBytes : 0;
  if (T.Latency > 1.2 * Throughput)
    T.Class = Bottleneck::Latency;
  else if (Memory > 1.2 * Compute)
    T.Class = Bottleneck::Memory;
  else if (Compute > 1.2 * Memory)
    T.Class = Bottleneck::Compute;
  return T;
}

} // namespace cupilot
