//===- GpuDescription.h - What is known of a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_GPUDESCRIPTION_H
#define CUPILOT_MODEL_GPUDESCRIPTION_H

#include <cstdint>
#include <string>

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

} // namespace cupilot

#endif // CUPILOT_MODEL_GPUDESCRIPTION_H
