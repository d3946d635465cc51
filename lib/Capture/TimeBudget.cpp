//===- TimeBudget.cpp - What keeping launches may take -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/TimeBudget.h"

namespace cupilot::capture {

std::optional<std::string> TimeBudget::refuses(bool First) const {
  const int64_t Most = static_cast<int64_t>(Seconds) * 1000000;
  if (!Seconds || Spent < Most / 2 || (First && Spent < Most))
    return std::nullopt;
  std::string Limit = std::to_string(Seconds) + " s that --max-seconds allows";
  if (Spent >= Most)
    return "only counted: keeping launches had taken the " + Limit;
  return "only counted: keeping launches had taken half of the " + Limit +
         "; the other half is for the first launch of each kernel";
}

} // namespace cupilot::capture
