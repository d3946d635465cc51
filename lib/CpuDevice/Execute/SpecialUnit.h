//===- SpecialUnit.h - Approximate instructions of a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The approximate instructions (PTX ISA, "Floating Point Instructions"), with
// all bits as an H200 answers them
// (benchmarks/results/2026-11-23-device-answers.md). Nothing here depends on
// the host.
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_SPECIALUNIT_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_SPECIALUNIT_H

#include "Abi/ThreadContext.h"
#include <cstdint>

namespace cupilot {

/// What \p Op answers to \p X, or to \p X and \p Y.
float specialUnit(UnitOp Op, UnitForm Form, float X, float Y = 0);
/// rcp and rsqrt with .approx.ftz.f64: of the upper halves of the bits.
double specialUnit(UnitOp Op, double X);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_SPECIALUNIT_H
