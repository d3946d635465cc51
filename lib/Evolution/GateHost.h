//===- GateHost.h - What the gate's verdicts depend on -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_GATEHOST_H
#define CUPILOT_LIB_EVOLUTION_GATEHOST_H

#include "cupilot/Launcher/NvccUse.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// Versions of cuPilot and compilers here, and a digest of what this host's
/// mathematical functions compute, which the cpu device calls: glibc chooses
/// among several by the processor. \p Nvcc is the one that builds, if any.
llvm::Expected<llvm::json::Object> gateHost(llvm::ArrayRef<std::string> Flags,
                                            const std::optional<NvccUse> &Nvcc);

/// Where \p There differs from \p Here: "ptxas is 'X', not 'Y'"; "" where
/// verdicts are the same.
std::string differenceOf(const llvm::json::Object &There,
                         const llvm::json::Object &Here);

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_GATEHOST_H
