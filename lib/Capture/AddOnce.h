//===- AddOnce.h - Texts without repetition -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CAPTURE_ADDONCE_H
#define CUPILOT_LIB_CAPTURE_ADDONCE_H

#include <algorithm>
#include <string>
#include <vector>

namespace cupilot::capture {

/// Appends \p Text unless \p List has it.
inline void addOnce(std::vector<std::string> &List, const std::string &Text) {
  if (std::ranges::find(List, Text) == List.end())
    List.push_back(Text);
}

} // namespace cupilot::capture

#endif // CUPILOT_LIB_CAPTURE_ADDONCE_H
