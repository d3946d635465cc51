//===- Gpu.h - A GPU through the CUDA driver -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_GPU_H
#define CUPILOT_LIB_RUNNER_GPU_H

#include "DriverApi.h"
#include "cupilot/Portable/Failure.h"
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::runner {

struct GpuInfo {
  std::string Name, Uuid;
  int Major = 0, Minor = 0, Multiprocessors = 0, L2Bytes = 0, Driver = 0;
  int SharedPerBlock = 0;
  uint64_t Memory = 0, FreeMemory = 0; ///< Bytes; 0 before use().
  std::string arch() const {
    return "sm_" + std::to_string(Major) + std::to_string(Minor);
  }
};

/// The CUDA driver, loaded when it is first asked for, and one of its devices.
/// All errors of the driver become a Failure.
class Gpu {
public:
  /// Failure: no-driver, no-device.
  Gpu();
  int count() const { return Devices; }
  GpuInfo info(int Ordinal) const;
  /// Makes a context on device \p Ordinal; needed for all that follows.
  void use(int Ordinal);
  const GpuInfo &current() const { return Info; }
  int attribute(DeviceAttribute A) const { return attribute(A, Device); }
  const DriverTable &api() const { return Table; }
  Handle stream() const { return Stream; }

  /// Throws what \p Status stands for unless it is success. \p Doing ends the
  /// sentence "failed while ...".
  void check(DriverStatus Status, const std::string &Doing) const;
  /// Waits for all work; what went wrong in a kernel is thrown here.
  void synchronize(const std::string &Doing) const;
  DeviceAddress allocate(uint64_t Bytes) const;
  uint64_t freeMemory() const;
  Handle loadModule(std::string_view Image) const;
  Handle function(Handle Module, const std::string &Symbol) const;

private:
  int attribute(DeviceAttribute A, int Device) const;

  DriverTable Table;
  int Devices = 0, Device = 0;
  GpuInfo Info;
  Handle Stream = nullptr;
};

/// What the driver's status means. \p Running: of a kernel that had been
/// started.
FailureKind kindOf(DriverStatus Status, bool Running);

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_GPU_H
