//===- CeilingCache.cpp - Ceilings once per GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Child.h"
#include "DeviceTurn.h"
#include "Evaluator.h"
#include "Nvml.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Runner.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace cupilot::runner {

/// A new way to measure makes old numbers useless.
static constexpr int CeilingVersion = 3;

json deviceCeilings(const std::string &Executable, int Device, bool Anew) {
  ScratchFolder Scratch;
  json Info;
  {
    Child Asked(Executable, -1, Scratch.path() + "/stderr");
    const json &All = Asked.greeting().at("devices");
    if (Device < 0 || size_t(Device) >= All.size())
      throw Failure(FailureKind::NoDevice,
                    "there is no device " + std::to_string(Device));
    Info = All[size_t(Device)];
  }
  const auto Uuid = Info.at("uuid").get<std::string>();
  std::string Folder = cacheFolder(), Path;
  if (!Folder.empty())
    Path = Folder + "/ceilings/" + Uuid + ".json";
  if (!Anew && !Path.empty() && exists(Path)) {
    json Known = json::parse(readWhole(Path), nullptr, false);
    if (Known.is_object() &&
        Known.value("ceilings_version", 0) == CeilingVersion &&
        Known.value("device", json()) == Info)
      return Known;
  }
  Child W(Executable, Device, Scratch.path() + "/stderr");
  json Clocks = readClocks(Uuid);
  json Result = W.ask({{"do", "ceilings"}}, 120000);
  Result.erase("ok");
  Result["ceilings_version"] = CeilingVersion;
  Result["device"] = Info;
  Result["clocks_before"] = std::move(Clocks);
  Result["clocks_after"] = readClocks(Uuid);
  if (!Path.empty()) {
    makeFolder(Folder + "/ceilings");
    writeWhole(Path, Result.dump(1) + "\n");
  }
  return Result;
}

json Evaluator::ceilings(const Request &R) {
  // Other processes of this runner hold memory there.
  Candidate.reset();
  Original.reset();
  return deviceCeilings(Executable, Device, false);
}

} // namespace cupilot::runner
