//===- Nvml.h - Clocks and temperature of a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_NVML_H
#define CUPILOT_LIB_RUNNER_NVML_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cupilot::runner {

/// Clocks in MHz, temperature, power and what holds the clocks down, as NVML
/// says; null where there is no NVML. It reads, and never sets anything. Called
/// in the runner, which has no context on the GPU.
nlohmann::json readClocks(const std::string &Uuid);

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_NVML_H
