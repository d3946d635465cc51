//===- Reach.h - What a name of a PTX module stands on ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_REACH_H
#define CUPILOT_PTX_REACH_H

#include "cupilot/Ptx/Module.h"

namespace cupilot::ptx {

/// The functions and variables of the module that \p Name names, directly or by
/// others, itself first; nothing for an unknown name.
std::vector<std::string_view> reachOf(const Module &M, std::string_view Name);

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_REACH_H
