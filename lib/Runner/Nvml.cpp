//===- Nvml.cpp - Clocks and temperature of a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nvml.h"
#include <dlfcn.h>
#include <mutex>
#include <nlohmann/json.hpp>

namespace cupilot::runner {

namespace {
using NvmlDevice = void *;

/// The functions of libnvidia-ml (NVML API Reference); null where it is not.
struct NvmlTable {
  int (*Init)() = nullptr;
  int (*DeviceByUuid)(const char *, NvmlDevice *) = nullptr;
  int (*Clock)(NvmlDevice, int, unsigned *) = nullptr;
  int (*Temperature)(NvmlDevice, int, unsigned *) = nullptr;
  int (*Power)(NvmlDevice, unsigned *) = nullptr;
  int (*Reasons)(NvmlDevice, unsigned long long *) = nullptr;
  bool Works = false;
  NvmlTable();
};
} // namespace

NvmlTable::NvmlTable() {
  void *Library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    return;
  bool All = true;
  auto Find = [&](auto &Member, const char *Name) {
    Member = reinterpret_cast<std::remove_reference_t<decltype(Member)>>(
        ::dlsym(Library, Name));
    All &= Member != nullptr;
  };
  Find(Init, "nvmlInit_v2");
  Find(DeviceByUuid, "nvmlDeviceGetHandleByUUID");
  Find(Clock, "nvmlDeviceGetClockInfo");
  Find(Temperature, "nvmlDeviceGetTemperature");
  Find(Power, "nvmlDeviceGetPowerUsage");
  Find(Reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  Works = All && Init() == 0;
}

nlohmann::json readClocks(const std::string &Uuid) {
  static std::mutex Lock;
  std::lock_guard<std::mutex> Guard(Lock);
  static NvmlTable Table;
  NvmlDevice Device = nullptr;
  if (!Table.Works || Table.DeviceByUuid(Uuid.c_str(), &Device) != 0)
    return nullptr;
  nlohmann::json Result = nlohmann::json::object();
  constexpr int Multiprocessors = 1, Memory = 2, Sensor = 0;
  unsigned Value = 0;
  unsigned long long Reasons = 0;
  if (Table.Clock(Device, Multiprocessors, &Value) == 0)
    Result["sm_mhz"] = Value;
  if (Table.Clock(Device, Memory, &Value) == 0)
    Result["memory_mhz"] = Value;
  if (Table.Temperature(Device, Sensor, &Value) == 0)
    Result["celsius"] = Value;
  if (Table.Power(Device, &Value) == 0)
    Result["milliwatts"] = Value;
  if (Table.Reasons(Device, &Reasons) == 0)
    Result["held_down_by"] = Reasons;
  return Result;
}

} // namespace cupilot::runner
