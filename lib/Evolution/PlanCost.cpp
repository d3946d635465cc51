//===- PlanCost.cpp - The modelled time of a plan -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/PlanCost.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

Expected<KernelResources> planResources(StringRef Ptx, StringRef Symbol,
                                        StringRef Arch,
                                        ArrayRef<std::string> Flags) {
  Expected<KernelResources> R = kernelResources(Ptx, Symbol, Arch, Flags);
  if (R)
    return *R;
  bool Missing = false;
  Error Rest =
      handleErrors(R.takeError(), [&](std::unique_ptr<ToolError> E) -> Error {
        Missing = E->code() == ExitCode::Resource;
        return Missing ? Error::success() : Error(std::move(E));
      });
  if (Rest)
    return std::move(Rest);
  KernelResources Usual;
  Usual.Registers = 32;
  return Usual;
}

Expected<double> PlanCost::microseconds(ArrayRef<CountedLaunch> Launches) {
  double Total = 0;
  for (const CountedLaunch &L : Launches) {
    auto At = Known.find(L.Symbol);
    if (At == Known.end()) {
      // The driver compiles PTX for older ones as ptxas does.
      Expected<KernelResources> R = planResources(
          Ptx, L.Symbol,
          capabilityNumber(Arch) < Gpu.capability() ? StringRef(Gpu.Arch)
                                                    : Arch,
          Flags);
      if (!R)
        return R.takeError();
      At = Known.emplace(L.Symbol, *R).first;
    }
    Total += modelTime(Gpu, L.Counts, At->second, L.Shape).Microseconds;
  }
  return Total;
}

} // namespace cupilot
