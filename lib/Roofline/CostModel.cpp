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
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Roofline/Prophet.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace cupilot {

unsigned residentBlocks(const GpuDescription &Gpu, const KernelResources &R,
                        const LaunchShape &Shape) {
  uint64_t Threads = Shape.Block[0] * Shape.Block[1] * Shape.Block[2];
  uint64_t SharedBytes = R.StaticShared + Shape.Shared;
  if (Threads == 0 || Threads > MaxBlockThreads || R.Registers > 255 ||
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
  double Warps = std::max(double(C.Warps), 1.0);

  double Sectors = double(C.GlobalLoadSectors + C.GlobalStoreSectors);
  // What is read comes from DRAM and what is written goes there, once each;
  // what is touched again is mostly still in a cache, also of large data:
  // neighbours of a point, sectors that a block writes in parts.
  double Once = double(C.ReadSectors + C.WrittenSectors);
  double Footprint = double(C.UniqueSectors) * 32;
  double Refetch = Footprint > Gpu.L2Bytes ? 0.05 * (Sectors - Once) : 0;
  double DramBytes = (Once + std::max(Refetch, 0.0)) * 32;
  T.Dram = DramBytes / (Gpu.DramGBs * 1e3);
  // The L1 serves most of what a multiprocessor reads again; it passes all
  // stores on. Those take longer: a scattered one writes a part of each sector.
  double Read = double(C.ReadSectors), Loaded = double(C.GlobalLoadSectors);
  double L2Sectors = Read + 0.1 * std::max(Loaded - Read, 0.0) +
                     Gpu.L2StoreCost * double(C.GlobalStoreSectors);
  T.L2 = L2Sectors * 32 / (Gpu.L2GBs * 1e3);

  double Cycle = 1e-3 / Gpu.ClockGHz; // Microseconds.
  double PerSM = Cycle / (SMs * Balance);
  double Wavefronts = double(std::max(C.SharedWavefronts, C.SharedAccesses));
  T.Shared = Wavefronts * PerSM;
  // Four schedulers issue one warp instruction per cycle each.
  T.Issue = double(C.WarpInstructions) / 4 * PerSM;
  // The one load-store unit moves four sectors or one wavefront per cycle.
  double Accesses = double(C.GlobalLoads + C.GlobalStores);
  double LoadStore =
      std::max(Accesses, Sectors / 4) + Wavefronts + double(C.LocalAccesses);
  // The units work side by side. Three of four integer operations share one,
  // the others have the multipliers'.
  T.Fp =
      std::max({double(C.Fp32) / Gpu.Fp32PerCycle,
                double(C.Fp64) / Gpu.Fp64PerCycle,
                double(C.Fp16) / Gpu.Fp16PerCycle,
                double(C.Special) / Gpu.SpecialPerCycle, double(C.Shuffle) / 32,
                double(C.Integer + C.Conversion) * 0.75 / Gpu.IntegerPerCycle,
                double(C.Tensor) / Gpu.TensorPerCycle}) *
      PerSM;
  // What one warp waits for when nothing else runs: global memory, as often as
  // it needs it before it can go on, and the chain of its instructions. A first
  // touch, of 128 bytes, waits for DRAM.
  double Waits = double(C.Waits);
  double DramWaits = std::min(Waits, double(C.ReadSectors) / 4);
  double Alone = (DramWaits * Gpu.DramLatencyNs +
                  (Waits - DramWaits) * Gpu.NearLatencyNs) *
                     1e-3 / Warps +
                 (double(C.ChainCycles) + Wavefronts) / Warps * Cycle +
                 double(C.Barriers) / Warps * 40 * Cycle;
  // The warps of a multiprocessor wait together, those that find no room
  // after them. The room of a block is free again when its last warp has ended:
  // the larger its share of the multiprocessor, the more of that stands idle.
  double Waves = std::max(BlocksOnBusiest / Resident, 1.0);
  double Turnover =
      BlocksOnBusiest / Resident / Resident * Gpu.BlockTurnoverNs * 1e-3;
  T.Latency = Waves * Alone + Turnover +
              double(C.AtomicOps) / (Used * 32) * Cycle +
              double(C.HotAtomics) * Gpu.HotAtomicNs * 1e-3;
  // One unit starts all blocks of the GPU, one after the other.
  double Dispatch = double(Blocks) * Gpu.BlockStartNs * 1e-3;

  // Issuing and the busiest unit get in each other's way: so much that products
  // of float32, which keep both busy all the time, reach what was measured.
  double Power = 1 / std::log2(Gpu.fp32Peak() / Gpu.Fp32Tflops);
  double Unit = std::max(T.Fp, LoadStore * PerSM);
  double Compute =
      std::pow(std::pow(T.Issue, Power) + std::pow(Unit, Power), 1 / Power);
  double Memory = std::max(T.Dram, T.L2);
  // Memory, computing and waiting hide each other unless they take equally
  // long. Nothing hides a part of what the first and the last warps wait.
  double Overlapped = std::sqrt(
      std::hypot(Memory * Memory, Compute * Compute, T.Latency * T.Latency));
  T.Microseconds = T.Launch + std::max(Overlapped + 0.25 * Alone, Dispatch);
  T.Intensity =
      DramBytes > 0 ? double(C.Fp32 + C.Fp64 + C.Fp16) / DramBytes : 0;
  T.Class = classify(Memory / T.Microseconds, Compute / T.Microseconds);
  return T;
}

json::Object toJSON(const ModelledTime &T) {
  json::Value Time = nullptr;
  if (std::isfinite(T.Microseconds))
    Time = T.Microseconds;
  return json::Object{{"microseconds", Time},
                      {"dram", T.Dram},
                      {"l2", T.L2},
                      {"shared", T.Shared},
                      {"issue", T.Issue},
                      {"arithmetic", T.Fp},
                      {"latency", T.Latency},
                      {"launch", T.Launch},
                      {"occupancy", T.Occupancy},
                      {"intensity", T.Intensity},
                      {"class", toString(T.Class)}};
}

} // namespace cupilot
