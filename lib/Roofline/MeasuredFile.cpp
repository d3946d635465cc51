//===- MeasuredFile.cpp - Measured launches from a file -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/MeasuredFile.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

const MeasuredLaunch *MeasuredFile::find(StringRef Symbol, StringRef Name,
                                         ArrayRef<std::string> Workload,
                                         StringRef Variant) const {
  for (const Entry &E : Entries)
    if ((E.Kernel == Symbol || E.Kernel == Name) &&
        (E.Workload.empty() || is_contained(Workload, E.Workload)) &&
        E.Variant == Variant)
      return &E.Launch;
  return nullptr;
}

Expected<MeasuredFile> loadMeasured(StringRef Path) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Expected<json::Value> V = json::parse(*Text);
  if (!V)
    return usageError("'" + Path +
                      "' is not valid JSON: " + toString(V.takeError()));
  auto Broken = [&](const Twine &Why) {
    return usageError("'" + Path + "' contains no measured launches: " + Why,
                      "docs/Roofline.md describes the file");
  };
  const json::Object *O = V->getAsObject();
  const json::Array *List = O ? O->getArray("launches") : nullptr;
  if (!List)
    return Broken("there is no list 'launches'");
  MeasuredFile F;
  F.Gpu = O->getString("card").value_or("").str();
  for (auto [I, Each] : enumerate(*List)) {
    const json::Object *L = Each.getAsObject();
    MeasuredFile::Entry E;
    if (!L || !L->getString("kernel") || !L->getNumber("microseconds"))
      return Broken("launch " + Twine(I) +
                    " has no 'kernel' or 'microseconds'");
    E.Kernel = L->getString("kernel")->str();
    E.Workload = L->getString("workload").value_or("").str();
    E.Variant = L->getString("variant").value_or("").str();
    E.Launch.Microseconds = *L->getNumber("microseconds");
    if (!(E.Launch.Microseconds > 0))
      return Broken("launch " + Twine(I) + " took no time");
    E.Launch.NoMetrics = L->getString("reason").value_or("").str();
    if (const json::Object *Metrics = L->getObject("metrics"))
      for (const auto &[Key, Value] : *Metrics)
        if (std::optional<double> Number = Value.getAsNumber())
          E.Launch.Metrics[Key.str()] = *Number;
    F.Entries.push_back(std::move(E));
  }
  return F;
}

std::string measuredText(const MeasuredFile &F) {
  json::Array Launches;
  for (const MeasuredFile::Entry &E : F.Entries) {
    json::Object O{{"kernel", E.Kernel},
                   {"workload", E.Workload},
                   {"microseconds", E.Launch.Microseconds}};
    if (!E.Variant.empty())
      O["variant"] = E.Variant;
    if (!E.Launch.NoMetrics.empty())
      O["reason"] = E.Launch.NoMetrics;
    json::Object Metrics;
    for (const auto &[Key, Value] : E.Launch.Metrics)
      Metrics[Key] = Value;
    if (!Metrics.empty())
      O["metrics"] = std::move(Metrics);
    Launches.push_back(std::move(O));
  }
  return formatv("{0:2}\n",
                 json::Value(json::Object{{"card", F.Gpu},
                                          {"launches", std::move(Launches)}}))
      .str();
}

Expected<MeasuredFile> storedMeasurements(StringRef Root, StringRef Gpu) {
  Expected<std::vector<std::string>> Paths =
      filesIn((Root + "/measured").str(), ".json");
  if (!Paths)
    return Paths.takeError();
  if (std::string Old = (Root + "/measured.json").str(); sys::fs::exists(Old))
    Paths->insert(Paths->begin(), std::move(Old));
  MeasuredFile All;
  All.Gpu = Gpu.str();
  for (const std::string &Path : *Paths) {
    Expected<MeasuredFile> F = loadMeasured(Path);
    if (!F)
      return F.takeError();
    if (F->Gpu.empty() || F->Gpu == Gpu)
      append_range(All.Entries, std::move(F->Entries));
  }
  return All;
}

} // namespace cupilot
