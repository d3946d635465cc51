//===- RecordedWorkloads.h - Workloads of a recording -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_RECORDEDWORKLOADS_H
#define CUPILOT_DRIVER_RECORDEDWORKLOADS_H

#include "cupilot/Capture/Record.h"
#include "cupilot/Model/Workload.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// The error that \p F stands for.
llvm::Error asError(const Failure &F);

/// Makes workloads of the kept launches in \p R, whose contents lie in
/// \p From, and puts the contents that they need into \p DataFolder, as they
/// are. Of described contents that is their bytes, where \p From has them and
/// \p WithDescribed asks for them. Launches that a replay could not repeat are
/// left out; \p LeftOut says which, and why.
llvm::Expected<std::vector<Workload>>
recordedWorkloads(const capture::Record &R, llvm::StringRef From,
                  llvm::StringRef DataFolder, bool WithDescribed,
                  std::vector<std::string> &LeftOut);

} // namespace cupilot

#endif // CUPILOT_DRIVER_RECORDEDWORKLOADS_H
