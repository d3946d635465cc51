//===- Cupti.h - CUPTI, found at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_CUPTI_H
#define CUPILOT_TOOLS_CAPTURE_CUPTI_H

#include "Driver.h"
#include <cupti.h>

namespace cupilot::capture {

#define CUPILOT_CUPTI_FUNCTIONS(F)                                             \
  F(cuptiGetVersion)                                                           \
  F(cuptiGetResultString)                                                      \
  F(cuptiSubscribe)                                                            \
  F(cuptiEnableCallback)                                                       \
  F(cuptiActivityRegisterCallbacks)                                            \
  F(cuptiActivityEnable)                                                       \
  F(cuptiActivityFlushAll)                                                     \
  F(cuptiActivityGetNextRecord)                                                \
  F(cuptiActivityGetNumDroppedRecords)

struct Cupti {
#define F(NAME) decltype(&::NAME) NAME = nullptr;
  CUPILOT_CUPTI_FUNCTIONS(F)
#undef F
  /// Loads \p Path, or looks for the library where toolkits have it.
  Obstacle load(const std::string &Path);
  std::string errorText(CUptiResult Code) const;
};

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_CUPTI_H
