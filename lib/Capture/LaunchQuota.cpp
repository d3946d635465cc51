//===- LaunchQuota.cpp - Which launches of a program run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/LaunchQuota.h"

namespace cupilot::capture {

LaunchQuota::Verdict LaunchQuota::next(const std::string &Kernel) {
  if (Most == 0 || ++Count[Kernel] <= Most) {
    foundNew();
    return Verdict::Run;
  }
  if (What == Then::Skip)
    return Verdict::Skip;
  // An inner loop runs some kernels often before others have their turn.
  constexpr uint64_t Patience = 2;
  if (What == Then::Stop && ++InVain > Patience * Most * Count.size())
    return Verdict::Stop;
  return Verdict::Run;
}

} // namespace cupilot::capture
