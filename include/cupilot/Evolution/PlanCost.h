//===- PlanCost.h - The modelled time of a plan -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_PLANCOST_H
#define CUPILOT_EVOLUTION_PLANCOST_H

#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Roofline/CostModel.h"
#include <map>

namespace cupilot {

/// Registers and shared memory of the kernel \p Symbol of \p Ptx; usual ones
/// where no ptxas is found.
llvm::Expected<KernelResources>
planResources(llvm::StringRef Ptx, llvm::StringRef Symbol, llvm::StringRef Arch,
              llvm::ArrayRef<std::string> Flags);

/// What the launches of a plan cost on a GPU, by the cost model. What it
/// refers to must outlive it.
class PlanCost {
public:
  PlanCost(const GpuDescription &Gpu, llvm::StringRef Ptx, llvm::StringRef Arch,
           llvm::ArrayRef<std::string> Flags)
      : Gpu(Gpu), Ptx(Ptx), Arch(Arch), Flags(Flags) {}
  /// The launches one after the other; infinite where the GPU cannot do one.
  llvm::Expected<double> microseconds(llvm::ArrayRef<CountedLaunch> Launches);

private:
  const GpuDescription &Gpu;
  llvm::StringRef Ptx, Arch;
  llvm::ArrayRef<std::string> Flags;
  std::map<std::string, KernelResources> Known;
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_PLANCOST_H
