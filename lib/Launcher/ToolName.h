//===- ToolName.h - What messages begin with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_LAUNCHER_TOOLNAME_H
#define CUPILOT_LIB_LAUNCHER_TOOLNAME_H

namespace cupilot {

inline constexpr char LauncherName[] = "cupilot-launch";

} // namespace cupilot

#endif // CUPILOT_LIB_LAUNCHER_TOOLNAME_H
