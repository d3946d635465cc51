//===- Ceilings.h - What a GPU can do at most -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_CEILINGS_H
#define CUPILOT_LIB_RUNNER_CEILINGS_H

#include "Gpu.h"
#include <nlohmann/json_fwd.hpp>

namespace cupilot::runner {

/// Bandwidths and rates of the current device, each the best of several ways
/// and repetitions: {"copy": {"value": 4.3e12, "unit": "B/s", "ways": ...}}.
/// What a GPU or driver lacks is named under "missing". Beside them a
/// description of the GPU (GpuDescription.h), which --gpu reads.
nlohmann::json measureCeilings(const Gpu &G);

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_CEILINGS_H
