//===- Ceilings.cpp - What a GPU can do at most -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/Ceilings.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

Ceilings ceilingsOf(const GpuDescription &Gpu) {
  Ceilings C;
  C.Gpu = Gpu.Name;
  C.Origin = "described";
  C.DramGBs = Gpu.DramGBs;
  C.L2GBs = Gpu.L2GBs;
  C.L2Bytes = Gpu.L2Bytes;
  C.L2StoreCost = Gpu.L2StoreCost;
  double PerCycle = Gpu.Multiprocessors * Gpu.ClockGHz;
  C.SharedGBs = PerCycle * 128; // Bytes.
  C.Fp32Gops = PerCycle * Gpu.Fp32PerCycle;
  C.Fp64Gops = PerCycle * Gpu.Fp64PerCycle;
  C.Fp16Gops = PerCycle * Gpu.Fp16PerCycle;
  C.IntegerGops = PerCycle * Gpu.IntegerPerCycle;
  C.SpecialGops = PerCycle * Gpu.SpecialPerCycle;
  C.IssueGops = PerCycle * 4; // One for each scheduler.
  C.TensorGops = PerCycle * Gpu.TensorPerCycle;
  return C;
}

namespace {
/// A rate of the runner's and what it is here: FLOP count an FMA as two.
struct MeasuredRate {
  const char *Name;
  double Ceilings::*Field;
  double Scale;
};
} // namespace

static constexpr MeasuredRate Rates[] = {
    {"copy", &Ceilings::DramGBs, 1e-9},
    {"read", &Ceilings::DramGBs, 1e-9},
    {"l2", &Ceilings::L2GBs, 1e-9},
    {"shared", &Ceilings::SharedGBs, 1e-9},
    {"fp32", &Ceilings::Fp32Gops, 0.5e-9},
    {"fp64", &Ceilings::Fp64Gops, 0.5e-9},
    {"fp16", &Ceilings::TensorGops, 1e-9},
    {"bf16", &Ceilings::TensorGops, 1e-9},
};

Error addMeasured(Ceilings &C, const json::Value &Measured, StringRef File) {
  const json::Object *All = Measured.getAsObject();
  if (All && All->getObject("ceilings"))
    All = All->getObject("ceilings");
  if (!All)
    return usageError("'" + File + "' contains no ceilings",
                      "cupilot-runner --ceilings writes them");
  bool Any = false;
  std::vector<double Ceilings::*> Done;
  for (const MeasuredRate &R : Rates) {
    const json::Value *V = All->get(R.Name);
    if (!V)
      continue;
    std::optional<double> Value = V->getAsNumber();
    if (const json::Object *O = V->getAsObject())
      Value = O->getNumber("value");
    if (!Value || !(*Value > 0))
      return usageError("'" + File + "' has no value for the ceiling '" +
                        R.Name + "'");
    // Of several ways to reach a limit, the best one is the ceiling.
    double New = *Value * R.Scale;
    double &Field = C.*R.Field;
    Field = is_contained(Done, R.Field) ? std::max(Field, New) : New;
    Done.push_back(R.Field);
    Any = true;
  }
  if (!Any)
    return usageError("'" + File + "' contains no ceilings",
                      "cupilot-runner --ceilings writes them");
  C.Origin = File.str();
  return Error::success();
}

/// The GPU that \p Measured was measured on; "" when it does not say.
static StringRef gpuOf(const json::Value &Measured) {
  const json::Object *All = Measured.getAsObject();
  const json::Object *Device = All ? All->getObject("device") : nullptr;
  return Device ? Device->getString("name").value_or("") : "";
}

Expected<Ceilings> loadCeilings(const GpuDescription &Gpu, StringRef File,
                                StringRef Cache) {
  Ceilings C = ceilingsOf(Gpu);
  std::string Path = File.str();
  if (File.empty()) {
    // A GPU whose name is another one's says nothing of this one.
    sys::TimePoint<> Newest;
    std::error_code EC;
    for (sys::fs::directory_iterator At(Cache + "/ceilings", EC), End;
         !EC && At != End; At.increment(EC)) {
      sys::fs::file_status Status;
      if (sys::path::extension(At->path()) != ".json" ||
          sys::fs::status(At->path(), Status) ||
          (!Path.empty() && Status.getLastModificationTime() <= Newest))
        continue;
      Expected<std::string> Text = readFile(At->path());
      if (!Text) {
        consumeError(Text.takeError());
        continue;
      }
      Expected<json::Value> V = json::parse(*Text);
      if (!V) {
        consumeError(V.takeError());
        continue;
      }
      if (!Gpu.isNamed(gpuOf(*V)))
        continue;
      Path = At->path();
      Newest = Status.getLastModificationTime();
    }
  }
  if (Path.empty())
    return C;
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Expected<json::Value> V = json::parse(*Text);
  if (!V)
    return usageError("'" + Path +
                      "' is not valid JSON: " + toString(V.takeError()));
  StringRef Measured = gpuOf(*V);
  if (!Measured.empty() && !Gpu.isNamed(Measured))
    return usageError("'" + Path + "' was measured on another GPU: " + Measured,
                      "measure them on the " + Gpu.Name +
                          ": cupilot-runner --ceilings");
  if (Error E = addMeasured(C, *V, Path))
    return std::move(E);
  return C;
}

json::Object toJSON(const Ceilings &C) {
  return json::Object{{"card", C.Gpu},
                      {"origin", C.Origin},
                      {"dramGBs", C.DramGBs},
                      {"l2GBs", C.L2GBs},
                      {"sharedGBs", C.SharedGBs},
                      {"fp32Gops", C.Fp32Gops},
                      {"fp64Gops", C.Fp64Gops},
                      {"fp16Gops", C.Fp16Gops},
                      {"integerGops", C.IntegerGops},
                      {"specialGops", C.SpecialGops},
                      {"tensorGops", C.TensorGops},
                      {"issueGops", C.IssueGops}};
}

} // namespace cupilot
