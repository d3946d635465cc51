//===- LaunchForms.h - Launches that stay the originals' -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_LAUNCHFORMS_H
#define CUPILOT_SUBSTITUTE_LAUNCHFORMS_H

#include "cupilot/Substitute/BuildReason.h"

namespace cupilot {

/// Why a launch by \p Function, of the run time or the driver, or a node of a
/// graph that it makes, runs the original; nothing for other functions.
std::optional<BuildReason> keptLaunchForm(llvm::StringRef Function);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_LAUNCHFORMS_H
