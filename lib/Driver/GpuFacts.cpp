//===- GpuFacts.cpp - The GPU that times are compared with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/GpuFacts.h"
#include "cupilot/Evolution/Prophecy.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/MachineCache.h"

using namespace llvm;

namespace cupilot {

Expected<GpuFacts> GpuFacts::load(const GpuRequest &R, StringRef Store) {
  GpuFacts Facts;
  Expected<GpuDescription> Described = describeGpu(R.Name);
  if (!Described)
    return Described.takeError();
  Facts.Gpu = std::move(*Described);
  Expected<Ceilings> C =
      loadCeilings(Facts.Gpu, R.Ceilings, machineCacheDirectory());
  if (!C)
    return C.takeError();
  Facts.C = std::move(*C);
  if (R.Measured.empty() && Store.empty())
    return Facts;
  Expected<MeasuredFile> Loaded = R.Measured.empty()
                                      ? storedMeasurements(Store, Facts.C.Gpu)
                                      : loadMeasured(R.Measured);
  if (!Loaded)
    return Loaded.takeError();
  if (Loaded->Gpu.empty() || Loaded->Gpu == Facts.C.Gpu)
    Facts.Measured = std::move(*Loaded);
  else
    return usageError("'" + R.Measured + "' was measured on the " +
                          Loaded->Gpu + ", not on the " + Facts.C.Gpu,
                      "name the GPU with --gpu");
  return Facts;
}

const MeasuredLaunch *measuredOn(const MeasuredFile &Measured, const Kernel &K,
                                 const Workload &W, StringRef V) {
  return Measured.find(K.Symbol, K.Name, {W.Name, caseName(W)}, V);
}

} // namespace cupilot
