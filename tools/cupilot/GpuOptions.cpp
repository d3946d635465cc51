//===- GpuOptions.cpp - The GPU that times are compared with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuOptions.h"
#include "cupilot/Evolution/Prophecy.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/MachineCache.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace cupilot {

GpuOptions::GpuOptions(cl::SubCommand &Sub)
    : Measured("measured", cl::sub(Sub), cl::value_desc("M.json"),
               cl::desc("Times and counters that were measured")),
      Ceilings("ceilings", cl::sub(Sub), cl::value_desc("C.json"),
               cl::desc("What cupilot-runner --ceilings wrote (default: "
                        "the machine cache, else the GPU's description)")),
      Gpu("gpu", cl::sub(Sub), cl::init("H200"), cl::value_desc("NAME"),
          cl::desc("The GPU (default H200)")) {}

Expected<GpuFacts> GpuOptions::load(StringRef Known) const {
  GpuFacts Facts;
  Expected<GpuDescription> Described = describeGpu(Gpu);
  if (!Described)
    return Described.takeError();
  Facts.Gpu = std::move(*Described);
  Expected<cupilot::Ceilings> C =
      loadCeilings(Facts.Gpu, Ceilings, machineCacheDirectory());
  if (!C)
    return C.takeError();
  Facts.C = std::move(*C);
  StringRef Path = Measured.empty() ? Known : StringRef(Measured);
  if (Path.empty() || (Measured.empty() && !sys::fs::exists(Path)))
    return Facts;
  Expected<MeasuredFile> Loaded = loadMeasured(Path);
  if (!Loaded)
    return Loaded.takeError();
  if (Loaded->Gpu.empty() || Loaded->Gpu == Facts.C.Gpu)
    Facts.Measured = std::move(*Loaded);
  else if (!Measured.empty())
    return usageError("'" + Path + "' was measured on the " + Loaded->Gpu +
                          ", not on the " + Facts.C.Gpu,
                      "name the GPU with --gpu");
  return Facts;
}

} // namespace cupilot
