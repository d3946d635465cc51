//===- Ceilings.h - What a GPU can do at most -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ROOFLINE_CEILINGS_H
#define CUPILOT_ROOFLINE_CEILINGS_H

#include "cupilot/Roofline/CostModel.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// The rates of one GPU. Operations are instructions of threads: a fused
/// multiplication and addition is one. Those of matrix instructions count as
/// in ExecutionCounts::Tensor.
struct Ceilings {
  std::string Gpu;    ///< "NVIDIA H200".
  std::string Origin; ///< "described", or the file they were measured into.
  double DramGBs = 0, L2GBs = 0, SharedGBs = 0;
  double Fp32Gops = 0, Fp64Gops = 0, Fp16Gops = 0, IntegerGops = 0,
         SpecialGops = 0, TensorGops = 0;
  double IssueGops = 0; ///< Instructions of warps.
  uint64_t L2Bytes = 0;
  double L2StoreCost = 1; ///< A sector stored, in sectors read.
};

/// The ceilings that follow from a description.
Ceilings ceilingsOf(const GpuDescription &Gpu);

/// \p C with what \p Measured says, as `cupilot-runner --ceilings` writes it:
/// {"copy": {"value": 4.3e12, "unit": "B/s"}, "fp32": {... "FLOP/s"}}. Rates
/// that it lacks stay. A broken one is a usage error that names \p File.
llvm::Error addMeasured(Ceilings &C, const llvm::json::Value &Measured,
                        llvm::StringRef File);

/// The ceilings of \p Gpu: those in \p File; without one, the newest in the
/// machine cache (\p Cache/ceilings) that were measured on such a GPU; else
/// the described ones.
llvm::Expected<Ceilings> loadCeilings(const GpuDescription &Gpu,
                                      llvm::StringRef File,
                                      llvm::StringRef Cache);

llvm::json::Object toJSON(const Ceilings &C);

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_CEILINGS_H
