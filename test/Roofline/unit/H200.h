//===- H200.h - The GPU that the tests ask about -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_ROOFLINE_UNIT_H200_H
#define CUPILOT_TEST_ROOFLINE_UNIT_H200_H

#include "cupilot/Roofline/Ceilings.h"
#include "cupilot/Roofline/CostModel.h"

namespace cupilot {

inline const GpuDescription H200 = llvm::cantFail(describeGpu("H200"));
inline const Ceilings H200Ceilings = ceilingsOf(H200);

} // namespace cupilot

#endif // CUPILOT_TEST_ROOFLINE_UNIT_H200_H
