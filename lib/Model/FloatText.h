//===- FloatText.h - Classes of floating-point numbers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MODEL_FLOATTEXT_H
#define CUPILOT_LIB_MODEL_FLOATTEXT_H

#include "cupilot/Model/Domain.h"

namespace cupilot {

/// What \p C asks of the number called \p Name: "1 <= |x| <= 2", "x == -0".
/// "<" in "0<..5" is an end that is left out.
std::string floatClassText(const FloatClause &C, const std::string &Name);

} // namespace cupilot

#endif // CUPILOT_LIB_MODEL_FLOATTEXT_H
