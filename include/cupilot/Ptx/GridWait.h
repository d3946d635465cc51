//===- GridWait.h - Kernels that wait for the launch before theirs -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_GRIDWAIT_H
#define CUPILOT_PTX_GRIDWAIT_H

#include "cupilot/Ptx/Module.h"

namespace cupilot::ptx {

/// Does each thread of \p Kernel wait (griddepcontrol.wait) before it does
/// anything but arithmetic on parameters, or end? Then it may be launched so
/// that it begins before the launch before it is done. False where that does
/// not show.
bool waitsFirst(const Function &Kernel);

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_GRIDWAIT_H
