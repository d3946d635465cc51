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
#include <limits>

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
  // Measured with the kernels of benchmarks/calibration that are there to fix
  // the model.
  G.BlockStartNs = 0.614;
  G.BlockTurnoverNs = 500;
  G.HotAtomicNs = 0.73;
  G.L2StoreCost = 2;
  G.TensorPerCycle = 4096; // H100 whitepaper: 1024 FMA for each of four cores.
  return G;
}

unsigned residentBlocks(const GpuDescription &Gpu, const KernelResources &R,
                        const LaunchShape &Shape) {
  uint64_t Threads = Shape.Block[0] * Shape.Block[1] * Shape.Block[2];
  uint64_t SharedBytes = R.StaticShared + Shape.Shared;
  if (Threads == 0 || Threads > 1024 || R.Registers > 255 ||
      SharedBytes > Gpu.SharedPerBlock)
    return 0;
  uint64_t Warps = divideCeil(Threads, 32);
  uint64_t Blocks =
      std::min<uint64_t>(Gpu.MaxBlocksPerSM, Gpu.MaxThreadsPerSM / 32 / Warps);
  // A warp's registers come in units of 256 from its own quarter of the
  // multiprocessor; a launch is checked as if all quarters took the same.
  if (uint64_t Registers = alignTo(uint64_t(R.Registers) * 32, 256)) {
    if (Registers * alignTo(Warps, 4) > Gpu.RegistersPerSM)
      return 0;
    uint64_t MostWarps = Gpu.RegistersPerSM / 4 / Registers * 4;
    Blocks = std::min(Blocks, MostWarps / Warps);
  }
  // A block also takes 1 KiB of shared memory for the system.
  return std::min(Blocks, Gpu.SharedPerSM / (alignTo(SharedBytes, 128) + 1024));
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
  double Resident = residentBlocks(Gpu, R, Shape);
  T.Occupancy = occupancy(Gpu, R, Shape);
  T.Launch = Gpu.LaunchMicroseconds;
  if (Blocks == 0 || Resident == 0) {
    T.Microseconds =
        Blocks == 0 ? T.Launch : std::numeric_limits<double>::infinity();
    T.Class = Bottleneck::Latency;
    return T;
  }
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
  // What is read comes from DRAM and what is written goes there, once each;
  // what is touched again is mostly still in a cache, also of large data:
  // neighbours of a point, sectors that a block writes in parts.
  double Once = double(C.ReadSectors + C.WrittenSectors);
  double Footprint = Unique * 32;
  double Refetch = Footprint > Gpu.L2Bytes ? 0.05 * (Sectors - Once) : 0;
  double DramBytes = (Once + std::max(Refetch, 0.0)) * 32;
  // Bandwidth needs bytes in flight (Little's law): warps times the bytes that
  // each keeps outstanding. Scattered accesses bring along sectors that nobody
  // asked for: those keep no useful bytes in flight.
  double Accesses = double(C.GlobalLoads + C.GlobalStores);
  double Coalesced = 4 * Accesses; // Sectors of accesses to 128 bytes in a row.
  double BytesPerAccess =
      Accesses > 0
          ? std::min(Sectors, std::max(Once, Coalesced)) * 32 / Accesses
          : 0;
  double InFlight = Used * WarpsPerSM * std::min(BytesPerAccess * 2, 1024.0);
  double Reachable = InFlight / Gpu.DramLatencyNs; // GB/s.
  T.Dram = DramBytes / (std::min(Gpu.DramGBs, std::max(Reachable, 1.0)) * 1e3);
  // The L1 serves most of what a multiprocessor reads again; it passes all
  // stores on.
  double Read = double(C.ReadSectors), Loaded = double(C.GlobalLoadSectors);
  // Stores take it longer: a scattered one writes a part of each sector.
  double L2Sectors = Read + 0.1 * std::max(Loaded - Read, 0.0) +
                     Gpu.L2StoreCost * double(C.GlobalStoreSectors);
  T.L2 = L2Sectors * 32 /
         (std::min(Gpu.L2GBs, std::max(Reachable * 3, 1.0)) * 1e3);

  double Cycle = 1e-3 / Gpu.ClockGHz; // Microseconds.
  double PerSM = Cycle / (SMs * Balance);
  double Wavefronts = double(std::max(C.SharedWavefronts, C.SharedAccesses));
  T.Shared = Wavefronts * PerSM;
  // Four schedulers issue one warp instruction per cycle each; a memory
  // instruction goes through the one load-store unit, which moves four sectors
  // or one wavefront per cycle.
  double Issue = double(C.WarpInstructions) / 4;
  double LoadStore =
      std::max(Accesses, Sectors / 4) + Wavefronts + double(C.LocalAccesses);
  T.Issue = std::max(Issue, LoadStore) * PerSM;
  double Float = double(C.Fp32) / 128 + double(C.Fp64) / 64 +
                 double(C.Fp16) / 256 + double(C.Special + C.Conversion) / 16 +
                 double(C.Shuffle) / 32 + double(C.Integer) / 64;
  T.Fp = Float * PerSM;
  double Warps = std::max(double(C.Warps), 1.0);
  // What one warp waits for when nothing else runs: its chain of accesses and
  // barriers, hidden by the other warps of its scheduler.
  // A first touch waits for DRAM, a second one for the L1; the compiler keeps
  // about four accesses of a warp in flight. An access waits for its slowest
  // sector: scattering it over more of them does not make it faster.
  double Spread = std::min(Sectors, Coalesced);
  double FirstTouch = Spread > 0 ? std::min(1.0, Unique / Spread) : 0;
  double AccessLatency =
      FirstTouch * Gpu.DramLatencyNs * 1e-3 + (1 - FirstTouch) * 35 * Cycle;
  double Chain = Accesses / Warps * AccessLatency / 4 +
                 (double(C.SharedAccesses) * 29 + Wavefronts) / Warps * Cycle +
                 double(C.Barriers) / Warps * 40 * Cycle +
                 double(C.WarpInstructions) / Warps * 4 * Cycle;
  double Waves = std::ceil(BlocksOnBusiest / Resident);
  T.Latency = Waves * Chain + double(C.AtomicOps) / (Used * 32) * Cycle +
              double(C.HotAtomics) * Gpu.HotAtomicNs * 1e-3;
  // One unit starts all blocks of the card, one after the other.
  double Dispatch = double(Blocks) * Gpu.BlockStartNs * 1e-3;
  // The room of a block is free again when its last warp has ended: the larger
  // its share of the multiprocessor, the more of that stands idle.
  double Turnover =
      BlocksOnBusiest / Resident / Resident * Gpu.BlockTurnoverNs * 1e-3;

  double Memory = std::max(T.Dram, T.L2),
         Compute = std::max({T.Issue, T.Fp, T.Shared});
  double Throughput = std::max({Memory, Compute, Dispatch});
  // The terms overlap, though never fully.
  T.Microseconds = T.Launch + std::max(Throughput + Turnover, T.Latency) +
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
