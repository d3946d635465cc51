//===- Chart.h - The drawing of a roofline -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_REPORT_CHART_H
#define CUPILOT_LIB_REPORT_CHART_H

#include "cupilot/Report/Report.h"

namespace cupilot {

/// Lines, marks and points in the coordinates of the template's SVG: "width",
/// "height", "roofs", "ticks", "points".
llvm::json::Object drawRoofline(const Ceilings &C, const ReportRoofline &R);

} // namespace cupilot

#endif // CUPILOT_LIB_REPORT_CHART_H
